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
#define SUPPLE_NEAR_BITS 0x47c35000u /* 1e5 */
#else
typedef double supple_scalar;
typedef uint64_t supple_word;
#define SUPPLE_TOP_BIT 63
#define SUPPLE_ONE_BITS 0x3ff0000000000000u
#define SUPPLE_SIGN_BIT 0x8000000000000000u
#define SUPPLE_NEAR_BITS 0x40f86a0000000000u /* 1e5 */
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

#if SUPPLE_LANES > 1 && defined(__GNUC__) && !defined(__clang__) && (defined(SUPPLE_QUICKLY) || __GNUC__ < 12)
#define SUPPLE_AT_ONCE __attribute__((optimize("O3", "tree-vectorize"))) /* loops over lanes become one instruction */
#else
#define SUPPLE_AT_ONCE
#endif
#ifdef SUPPLE_SINGLE
#define SUPPLE_C(function) function##f
#else
#define SUPPLE_C(function) function
#endif
#if defined(__GNUC__) && (defined(__FMA__) || defined(__aarch64__)) && !defined(SUPPLE_NOT_FUSED)
#define SUPPLE_FUSED /* a b + c rounded once is one instruction */
#endif

#if defined(__AVX512F__)
#define SUPPLE_WIDTH 64 /* bytes of a register */
#elif defined(__AVX__)
#define SUPPLE_WIDTH 32
#else
#define SUPPLE_WIDTH 16
#endif

#if SUPPLE_LANES == 1
SUPPLE_LOCAL real supple_sqrt(real x) { return SUPPLE_C(sqrt)(x); }
#ifdef SUPPLE_FUSED
SUPPLE_LOCAL real supple_fused(real a, real b, real c) { return SUPPLE_C(fma)(a, b, c); }
#endif
#elif defined(__clang__) && __clang_major__ >= 17
#define supple_sqrt(x) __builtin_elementwise_sqrt(x)
#define supple_fused(a, b, c) __builtin_elementwise_fma(a, b, c)
#else
/* a piece is what one instruction computes */
typedef supple_scalar supple_piece __attribute__((vector_size(sizeof(real) < SUPPLE_WIDTH ? sizeof(real) : SUPPLE_WIDTH)));
#define SUPPLE_PIECE ((int)(sizeof(supple_piece) / sizeof(supple_scalar)))
#define SUPPLE_PIECES (SUPPLE_LANES / SUPPLE_PIECE)

SUPPLE_LOCAL SUPPLE_AT_ONCE real supple_sqrt(real x)
{
    supple_piece parts[SUPPLE_PIECES];
    memcpy(parts, &x, sizeof x);
    for (int k = 0; k < SUPPLE_PIECES; k++)
        for (int i = 0; i < SUPPLE_PIECE; i++)
            parts[k][i] = SUPPLE_C(sqrt)(parts[k][i]);
    memcpy(&x, parts, sizeof x);
    return x;
}

#ifdef SUPPLE_FUSED
SUPPLE_LOCAL SUPPLE_AT_ONCE real supple_fused(real a, real b, real c)
{
    supple_piece x[SUPPLE_PIECES], y[SUPPLE_PIECES], z[SUPPLE_PIECES];
    memcpy(x, &a, sizeof a);
    memcpy(y, &b, sizeof b);
    memcpy(z, &c, sizeof c);
    for (int k = 0; k < SUPPLE_PIECES; k++)
        for (int i = 0; i < SUPPLE_PIECE; i++)
            z[k][i] = SUPPLE_C(fma)(x[k][i], y[k][i], z[k][i]);
    memcpy(&c, z, sizeof c);
    return c;
}
#endif
#endif

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
        if (!(fabs(SUPPLE_LANE(*x, i)) <= 1e5)) {
            SUPPLE_LANE(*sine, i) = (supple_scalar)sin(SUPPLE_LANE(*x, i));
            SUPPLE_LANE(*cosine, i) = (supple_scalar)cos(SUPPLE_LANE(*x, i));
        }
}

/* a b + c, rounded once where the processor can */
#ifdef SUPPLE_FUSED
#define SUPPLE_FMA(a, b, c) supple_fused(a, b, c)
#else
#define SUPPLE_FMA(a, b, c) ((a) * (b) + (c))
#endif

/* sine and cosine of r + rest, |r| <= pi/4, by minimax polynomials, to less than one unit in the last place */
SUPPLE_LOCAL SUPPLE_AT_ONCE void supple_kernel(real r, real rest, real *sine, real *cosine)
{
    const real z = r * r, half = num(0.5) * z, w = num(1) - half;
#ifdef SUPPLE_SINGLE
    real p = SUPPLE_FMA(z, fill(-0.00019517960026860237), fill(0.00833219662308693));
    real q = SUPPLE_FMA(z, fill(2.4431625206489116e-05), fill(-0.0013887308305129409));
    p = SUPPLE_FMA(z, p, fill(-0.16666655242443085));
    q = SUPPLE_FMA(z, q, fill(0.04166664555668831));
#else
    real p = SUPPLE_FMA(z, fill(1.5894206670630894e-10), fill(-2.50507180565639e-08));
    real q = SUPPLE_FMA(z, fill(-1.1359110464670569e-11), fill(2.087571019510117e-09));
    p = SUPPLE_FMA(z, p, fill(2.7557313464695003e-06));
    q = SUPPLE_FMA(z, q, fill(-2.7557314242924436e-07));
    p = SUPPLE_FMA(z, p, fill(-0.00019841269829224916));
    q = SUPPLE_FMA(z, q, fill(2.4801587289076547e-05));
    p = SUPPLE_FMA(z, p, fill(0.008333333333321763));
    q = SUPPLE_FMA(z, q, fill(-0.0013888888888873418));
    p = SUPPLE_FMA(z, p, fill(-0.1666666666666663));
    q = SUPPLE_FMA(z, q, fill(0.041666666666666595));
#endif
    *sine = r + SUPPLE_FMA(r * z, p, rest * w);
    *cosine = w + SUPPLE_FMA(z * z, q, SUPPLE_FMA(-r, rest, (num(1) - w) - half));
}

/* x = k pi/2 + r + rest, and k in the low bits of `quadrant`: pi/2 in three parts (Cody and Waite), so that the first is
 * taken away exactly, and what r loses of the second is known (of double it has 36 bits, k no more than 17: either t is the
 * larger, or r is exact); a number of 1.5 2^52 rounds to an integer in the low bits */
SUPPLE_LOCAL SUPPLE_AT_ONCE real supple_reduced(real x, real *rest, supple_bits *quadrant)
{
#ifdef SUPPLE_FUSED
#ifdef SUPPLE_SINGLE
    const supple_scalar magic = 12582912, part[3] = {-1.5707963705062866f, 4.371138828673793e-08f, 1.7151245100058819e-15f};
#else
    const supple_scalar magic = 6755399441055744, part[3] = {-1.5707963267948966, -6.123233995707727e-17, -2.9038559739793605e-28};
#endif
    const real shifted = SUPPLE_FMA(x, fill(0.6366197723675814), fill(magic)), k = shifted - magic;
    *quadrant = supple_to_bits(shifted);
    const real t = SUPPLE_FMA(k, fill(part[0]), x);
#ifdef SUPPLE_SINGLE
    const real b = k * part[1], r = t + b, back = r - t, lost = (t - (r - back)) + (b - back);
    *rest = lost + SUPPLE_FMA(k, fill(part[2]), SUPPLE_FMA(k, fill(part[1]), -b));
#else
    const real r = SUPPLE_FMA(k, fill(part[1]), t);
    *rest = SUPPLE_FMA(k, fill(part[2]), SUPPLE_FMA(k, fill(part[1]), t - r));
#endif
    return r;
#else
    const supple_wide wide = SUPPLE_CONVERT(x, supple_wide);
    const supple_wide shifted = wide * 0.6366197723675814 + 6755399441055744.0, k = shifted - 6755399441055744.0;
    *quadrant = SUPPLE_CONVERT(supple_wide_to_bits(shifted), supple_bits);
    const supple_wide a = wide - k * 1.5707963267341256, b = k * 6.077100506303966e-11; /* 33 bits each: both exact */
    const supple_wide t = a - b, back = t - a, lost = (a - (t - back)) - (b + back);
    const supple_wide d = k * 2.0222662487959506e-21, r = t - d, left = ((t - r) - d) + lost;
#ifdef SUPPLE_SINGLE
    const supple_wide whole = r + left;
    const real near = SUPPLE_CONVERT(whole, real);
    *rest = SUPPLE_CONVERT(whole - SUPPLE_CONVERT(near, supple_wide), real);
    return near;
#else
    *rest = left;
    return r;
#endif
#endif
}

/* sines and cosines of n angles, to less than one unit in the last place */
SUPPLE_APART SUPPLE_AT_ONCE void supple_sincos_of(int n, const real *x, real *sine, real *cosine)
{
    supple_bits far = {0};
    for (int i = 0; i < n; i++) {
        supple_bits quadrant;
        real rest, s, c;
        const real r = supple_reduced(x[i], &rest, &quadrant);
        supple_kernel(r, rest, &s, &c);
        const supple_bits swap = -(quadrant & 1), one = supple_to_bits(s), other = supple_to_bits(c);
        const supple_bits sine_sign = (quadrant << (SUPPLE_TOP_BIT - 1)) & SUPPLE_SIGN_BIT;
        const supple_bits both = (one ^ other) & swap, cosine_sign = sine_sign ^ (swap & SUPPLE_SIGN_BIT);
        sine[i] = supple_from_bits(one ^ both ^ sine_sign);
        cosine[i] = supple_from_bits(other ^ both ^ cosine_sign);
        far |= SUPPLE_NEAR_BITS - (supple_to_bits(x[i]) & ~SUPPLE_SIGN_BIT);
    }
    supple_word any = 0;
    for (int i = 0; i < SUPPLE_LANES; i++)
        any |= SUPPLE_LANE(far, i);
    if (any & SUPPLE_SIGN_BIT)
        for (int i = 0; i < n; i++)
            supple_sincos_far(x + i, sine + i, cosine + i);
}

SUPPLE_LOCAL void supple_sincos(real x, real *sine, real *cosine) { supple_sincos_of(1, &x, sine, cosine); }

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
