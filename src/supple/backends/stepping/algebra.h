/* Small dense linear algebra, all lanes side by side; matrices column by column; pivots are shared by the lanes. */
#include <float.h>

#define SINGULAR 1e-13
#define PANEL 4 /* columns that are eliminated together */
#define SHORT 24 /* columns that are too short for that */

/* functions of a few instructions, also within those that are compiled with other options */
#if defined(__GNUC__)
#define SUPPLE_INLINE static inline __attribute__((always_inline, unused))
#else
#define SUPPLE_INLINE static inline
#endif

/* whole matrices, many rows at a time; hardly ever made where matrices are eliminated body by body, so not compiled for long */
#if LIMBS > 0
#define SUPPLE_DENSE
#else
#define SUPPLE_DENSE SUPPLE_WIDE
#endif

SUPPLE_INLINE double larger(double x, double y) { return x > y ? x : y; } /* y if x is not a number */
SUPPLE_INLINE double smaller(double x, double y) { return x < y ? x : y; }

/* the largest |x| of the live lanes; infinity where one is not a number */
SUPPLE_INLINE double size_of(real x, const int *live)
{
    double largest = 0.0;
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (live[l]) {
            const double size = fabs(SUPPLE_LANE(x, l));
            largest = size <= DBL_MAX ? larger(largest, size) : HUGE_VAL;
        }
    return largest;
}

/* |x|, lane by lane, and the larger and the smaller of two numbers; y where x is not a number */
#if SUPPLE_LANES == 1
SUPPLE_INLINE real magnitude(real x) { return fabs(x); }
SUPPLE_INLINE real upper(real x, real y) { return x > y ? x : y; }
SUPPLE_INLINE real lower(real x, real y) { return x < y ? x : y; }
#else
SUPPLE_INLINE real magnitude(real x) { return supple_from_bits(supple_to_bits(x) & ~SUPPLE_SIGN_BIT); }
SUPPLE_INLINE real chosen(supple_bits mask, real x, real y)
{
    return supple_from_bits((supple_to_bits(x) & mask) | (supple_to_bits(y) & ~mask));
}
SUPPLE_INLINE real upper(real x, real y) { return chosen(SUPPLE_MASK(x > y), x, y); }
SUPPLE_INLINE real lower(real x, real y) { return chosen(SUPPLE_MASK(x < y), x, y); }
#endif

/* the same of n numbers, without branches: x - x is zero but where x is no finite number */
SUPPLE_LOCAL double size_of_all(const real *x, int n, const int *live)
{
    real largest = fill(0), lost = fill(0);
    for (int i = 0; i < n; i++) {
        largest = upper(magnitude(x[i]), largest);
        lost += x[i] - x[i];
    }
    return size_of(lost + largest, live);
}

/* a weight for choosing pivots: the smallest |x| of the live lanes, so that no lane divides by little */
SUPPLE_INLINE double weight_of(real x, const int *live)
{
#if SUPPLE_LANES == 1
    (void)live;
    return fabs(x);
#else
    double smallest = HUGE_VAL, sum = 0.0;
    for (int l = 0; l < SUPPLE_LANES; l++) { /* without branches */
        const double size = fabs(x[l]);
        smallest = live[l] ? smaller(smallest, size) : smallest;
        sum += live[l] ? size : 0.0;
    }
    return smallest + 1e-3 * sum;
#endif
}

SUPPLE_INLINE int is_zero(real x)
{
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (SUPPLE_LANE(x, l) != 0.0)
            return 0;
    return 1;
}

SUPPLE_INLINE void swap(real *x, int i, int j)
{
    const real kept = x[i];
    x[i] = x[j];
    x[j] = kept;
}

/* x -= the PANEL columns at c (n apart) times u, in rows from `from` to `to` */
SUPPLE_LOCAL SUPPLE_DENSE void subtract(const real *c, int n, const real *u, int from, int to, real *restrict x)
{
    const real u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
    const real *restrict c0 = c, *restrict c1 = c + n, *restrict c2 = c + 2 * n, *restrict c3 = c + 3 * n;
    for (int i = from; i < to; i++)
        x[i] = x[i] - c0[i] * u0 - c1[i] * u1 - c2[i] * u2 - c3[i] * u3;
}

/* x -= L x for the columns from k on of the unit lower triangle, PANEL of them */
SUPPLE_LOCAL SUPPLE_DENSE void forward(const real *m, int n, int k, real *x)
{
    const real *c = m + k * n;
    real u[PANEL];
    for (int j = 0; j < PANEL; j++) {
        u[j] = x[k + j];
        for (int l = 0; l < j; l++)
            u[j] -= c[l * n + k + j] * u[l];
    }
    int empty = 1;
    for (int j = 0; j < PANEL; j++) {
        x[k + j] = u[j];
        empty &= is_zero(u[j]);
    }
    if (!empty)
        subtract(c, n, u, k + PANEL, n, x);
}

/* The place of the weightiest of x[first] to x[last - 1], whose weight goes to *top */
SUPPLE_LOCAL int weightiest(const real *x, int first, int last, const int *live, double *top)
{
    int best = first;
    *top = weight_of(x[first], live);
    for (int i = first + 1; i < last; i++) {
        const double w = weight_of(x[i], live);
        best = w > *top ? i : best;
        *top = w > *top ? w : *top;
    }
    return best;
}

/* m (n x n) becomes its LU factors, diagonal inverted; returns smallest / largest pivot, 0 if singular */
static SUPPLE_DENSE double factorise(real *m, int *pivot, int n, const int *live)
{
    const int width = n < SHORT ? n : PANEL;
    double smallest = HUGE_VAL, largest = 0.0;
    for (int first = 0; first < n; first += width) {
        const int last = first + width < n ? first + width : n;
        for (int k = first; k < last; k++) {
            real *restrict x = m + k * n;
            double top;
            const int best = pivot[k] = weightiest(x, k, n, live, &top);
            largest = larger(largest, top);
            smallest = smaller(smallest, top);
            if (!(top > SINGULAR * largest) || !(top <= DBL_MAX))
                return 0.0;
            for (int j = 0; best != k && j < last; j++)
                swap(m + j * n, k, best);
            const real inverse = num(1) / x[k];
            x[k] = inverse;
            for (int i = k + 1; i < n; i++)
                x[i] *= inverse;
            for (int j = k + 1; j < last; j++) {
                real *restrict y = m + j * n;
                const real u = y[k];
                for (int i = k + 1; i < n && !is_zero(u); i++)
                    y[i] -= x[i] * u;
            }
        }
        for (int j = last; j < n; j++) {
            for (int k = first; k < last; k++)
                swap(m + j * n, k, pivot[k]);
            forward(m, n, first, m + j * n);
        }
    }
    return n ? smallest / largest : 1.0;
}

/* b becomes the solution of m x = b */
static SUPPLE_DENSE void solve(const real *m, const int *pivot, int n, real *b)
{
    const int whole = n - n % PANEL;
    for (int k = 0; k < n; k++)
        swap(b, k, pivot[k]);
    for (int k = 0; k < whole; k += PANEL)
        forward(m, n, k, b);
    for (int k = whole; k < n; k++)
        for (int i = k + 1; i < n; i++)
            b[i] -= m[k * n + i] * b[k];
    for (int k = n - 1; k >= whole; k--) {
        b[k] *= m[k * n + k];
        for (int i = 0; i < k; i++)
            b[i] -= m[k * n + i] * b[k];
    }
    for (int k = whole - PANEL; k >= 0; k -= PANEL) {
        for (int j = k + PANEL - 1; j >= k; j--) {
            b[j] *= m[j * n + j];
            for (int i = k; i < j; i++)
                b[i] -= m[j * n + i] * b[j];
        }
        subtract(m + k * n, n, b + k, 0, k, b);
    }
}
