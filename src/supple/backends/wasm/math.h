/* What the C of robots needs of <math.h> in a browser: instructions of WebAssembly, and functions of JavaScript's Math. */
#ifndef SUPPLE_WASM_MATH
#define SUPPLE_WASM_MATH
#define OF_JAVASCRIPT(name) __attribute__((import_module("Math"), import_name(#name)))
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define fabs(x) __builtin_fabs(x)
#define sqrt(x) __builtin_sqrt(x)
#define floor(x) __builtin_floor(x)
#define ceil(x) __builtin_ceil(x)
OF_JAVASCRIPT(sin) double sin(double);
OF_JAVASCRIPT(cos) double cos(double);
OF_JAVASCRIPT(atan2) double atan2(double, double);
OF_JAVASCRIPT(pow) double pow(double, double);
OF_JAVASCRIPT(exp) double exp(double);
OF_JAVASCRIPT(log) double log(double);
static inline double fmin(double a, double b) { return a < b || b != b ? a : b; }
static inline double fmax(double a, double b) { return a > b || b != b ? a : b; }
#endif
