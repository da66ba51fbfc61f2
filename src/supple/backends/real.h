/* What `real` is, and its sine, cosine, root and sign.
 *
 * SUPPLE_LANES (1, 4, 8 or 16) states are computed side by side; SUPPLE_SINGLE chooses float over double.
 * One lane is plain C99; more lanes use the vector types of GCC and Clang. Every lane count gives the same bits.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the argument reduction of sine and cosine needs IEEE arithmetic: compile without -ffast-math"
#endif
#ifndef SUPPLE_LANES
#define SUPPLE_LANES 1
#endif
#ifdef __GNUC__
#define SUPPLE_LOCAL static inline __attribute__((unused))
#define SUPPLE_APART static __attribute__((noinline, unused))
#define SUPPLE_THREAD_LOCAL static __thread
#else
#define SUPPLE_LOCAL static inline
#define SUPPLE_APART static
#define SUPPLE_THREAD_LOCAL static _Thread_local
#endif

#ifdef SUPPLE_SINGLE
typedef float supple_scalar;
typedef uint32_t supple_word;
#define SUPPLE_TOP_BIT 31
#define SUPPLE_ONE_BITS 0x3f800000u
#define SUPPLE_SIGN_BIT 0x80000000u
#else
typedef double supple_scalar;
typedef uint64_t supple_word;
#define SUPPLE_TOP_BIT 63
#define SUPPLE_ONE_BITS 0x3ff0000000000000u
#define SUPPLE_SIGN_BIT 0x8000000000000000u
#endif

#if SUPPLE_LANES == 1
typedef supple_scalar real;
typedef double supple_wide;
typedef supple_word supple_bits;
typedef uint64_t supple_wide_bits;
#define fill(x) ((supple_scalar)(x))
#define SUPPLE_CONVERT(x, type) ((type)(x))
#define SUPPLE_MASK(comparison) (-(supple_bits)(comparison))
#define SUPPLE_LANE(x, i) (x)
SUPPLE_LOCAL supple_bits supple_to_bits(real x) { supple_bits b; memcpy(&b, &x, sizeof b); return b; }
SUPPLE_LOCAL real supple_from_bits(supple_bits b) { real x; memcpy(&x, &b, sizeof x); return x; }
SUPPLE_LOCAL supple_wide_bits supple_wide_to_bits(supple_wide x) { supple_wide_bits b; memcpy(&b, &x, sizeof b); return b; }
#else
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
typedef supple_scalar real __attribute__((vector_size(SUPPLE_LANES * sizeof(supple_scalar))));
typedef double supple_wide __attribute__((vector_size(SUPPLE_LANES * sizeof(double))));
typedef supple_word supple_bits __attribute__((vector_size(SUPPLE_LANES * sizeof(supple_word))));
typedef uint64_t supple_wide_bits __attribute__((vector_size(SUPPLE_LANES * sizeof(uint64_t))));
/* x - 0 is x for every x, -0.0 included */
#define fill(x) ((supple_scalar)(x) - (real){0})
#define SUPPLE_CONVERT(x, type) __builtin_convertvector(x, type)
#define SUPPLE_MASK(comparison) ((supple_bits)(comparison))
#define SUPPLE_LANE(x, i) ((x)[i])
#define supple_to_bits(x) ((supple_bits)(x))
#define supple_from_bits(b) ((real)(b))
#define supple_wide_to_bits(x) ((supple_wide_bits)(x))
#endif
#define num(x) ((supple_scalar)(x))

#if defined(__GNUC__) && !defined(__clang__) && SUPPLE_LANES > 1
__attribute__((optimize("O3", "tree-vectorize"))) /* all lanes at once, also where the rest is compiled quickly */
#endif
SUPPLE_LOCAL real supple_sqrt(real x)
{
#if SUPPLE_LANES == 1
    return (real)sqrt(x);
#else
    for (int i = 0; i < SUPPLE_LANES; i++)
#ifdef SUPPLE_SINGLE
        x[i] = sqrtf(x[i]);
#else
        x[i] = sqrt(x[i]);
#endif
    return x;
#endif
}

/* -1, 0 or 1; not a number stays not a number */
SUPPLE_LOCAL real supple_sign(real x)
{
    const supple_bits signed_one = (supple_to_bits(x) & SUPPLE_SIGN_BIT) | SUPPLE_ONE_BITS;
    return supple_from_bits((SUPPLE_MASK(x != num(0)) & signed_one) | SUPPLE_MASK(x != x));
}

/* beyond the range of the reduction, lane by lane, so that no state depends on its neighbours */
SUPPLE_APART void supple_sincos_far(const real *x, real *sine, real *cosine)
{
    for (int i = 0; i < SUPPLE_LANES; i++)
        if (!(fabs(SUPPLE_LANE(*x, i)) < 1e5)) {
            SUPPLE_LANE(*sine, i) = (supple_scalar)sin(SUPPLE_LANE(*x, i));
            SUPPLE_LANE(*cosine, i) = (supple_scalar)cos(SUPPLE_LANE(*x, i));
        }
}

/* sine and cosine of r + rest, |r| <= pi/4, by minimax polynomials, to less than one unit in the last place */
SUPPLE_LOCAL void supple_kernel(real r, real rest, real *sine, real *cosine)
{
    const real z = r * r;
    const real half = num(0.5) * z;
    const real w = num(1) - half;
#ifdef SUPPLE_SINGLE
    const real p = num(-0.16666655242443085) + z * (num(0.00833219662308693) + z * num(-0.00019517960026860237));
    const real q = num(0.04166664555668831) + z * (num(-0.0013887308305129409) + z * num(2.4431625206489116e-05));
#else
    const real z2 = z * z;
    const real p = num(-0.1666666666666663) + z * (num(0.008333333333321763) + z * num(-0.00019841269829224916)
        + z2 * (num(2.7557313464695003e-06) + z * num(-2.50507180565639e-08) + z2 * num(1.5894206670630894e-10)));
    const real q = num(0.041666666666666595) + z * (num(-0.0013888888888873418) + z * num(2.4801587289076547e-05)
        + z2 * (num(-2.7557314242924436e-07) + z * num(2.087571019510117e-09) + z2 * num(-1.1359110464670569e-11)));
#endif
    *sine = r + (r * z * p + rest * w);
    *cosine = w + (((num(1) - w) - half) + (z * z * q - r * rest));
}

/* x = k pi/2 + r: pi/2 in parts of 33, 33 and 53 bits (Cody and Waite), so that the products with k are exact */
SUPPLE_LOCAL void supple_sincos(real x, real *sine, real *cosine)
{
    const double magic = 6755399441055744.0; /* 1.5 2^52: adding it rounds to an integer in the low bits */
    const supple_wide wide = SUPPLE_CONVERT(x, supple_wide);
    const supple_wide shifted = wide * 0.6366197723675814 + magic;
    const supple_wide k = shifted - magic;
    const supple_bits quadrant = SUPPLE_CONVERT(supple_wide_to_bits(shifted), supple_bits);
    real s, c;
    const supple_wide a = wide - k * 1.5707963267341256;
#ifdef SUPPLE_SINGLE
    supple_kernel(SUPPLE_CONVERT(a - k * 6.077100506506192e-11, real), fill(0), &s, &c);
#else
    const supple_wide b = k * 6.077100506303966e-11;
    const supple_wide t = a - b;
    const supple_wide back = t - a;
    const supple_wide lost = (a - (t - back)) - (b + back);
    const supple_wide d = k * 2.0222662487959506e-21;
    const supple_wide r = t - d;
    supple_kernel(r, ((t - r) - d) + lost, &s, &c);
#endif
    const supple_bits swap = -(quadrant & 1);
    const supple_bits crossed = (supple_to_bits(s) ^ supple_to_bits(c)) & swap;
    const supple_bits sine_sign = (quadrant << (SUPPLE_TOP_BIT - 1)) & SUPPLE_SIGN_BIT;
    const supple_bits cosine_sign = ((quadrant + 1) << (SUPPLE_TOP_BIT - 1)) & SUPPLE_SIGN_BIT;
    *sine = supple_from_bits(supple_to_bits(s) ^ crossed ^ sine_sign);
    *cosine = supple_from_bits(supple_to_bits(c) ^ crossed ^ cosine_sign);
    const real size = supple_from_bits(supple_to_bits(x) & ~SUPPLE_SIGN_BIT);
    const supple_bits far = ~SUPPLE_MASK(size < num(1e5));
    supple_word any = 0;
    for (int i = 0; i < SUPPLE_LANES; i++)
        any |= SUPPLE_LANE(far, i);
    if (any)
        supple_sincos_far(&x, sine, cosine);
}

SUPPLE_LOCAL real supple_sin(real x)
{
    real s, c;
    supple_sincos(x, &s, &c);
    return s;
}

SUPPLE_LOCAL real supple_cos(real x)
{
    real s, c;
    supple_sincos(x, &s, &c);
    return c;
}
