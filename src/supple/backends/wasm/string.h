/* What the C of robots needs of <string.h> in a browser: instructions of WebAssembly. */
#ifndef SUPPLE_WASM_STRING
#define SUPPLE_WASM_STRING
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memmove(to, from, n) __builtin_memmove(to, from, n)
#define memset(to, value, n) __builtin_memset(to, value, n)
#endif
