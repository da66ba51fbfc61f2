/* Small dense linear algebra, all lanes side by side; pivots are shared by the lanes. */
#include <float.h>

#define SINGULAR 1e-13

SUPPLE_LOCAL double larger(double x, double y) { return x > y ? x : y; } /* y if x is not a number */
SUPPLE_LOCAL double smaller(double x, double y) { return x < y ? x : y; }

/* the largest |x| of the live lanes; infinity where one is not a number */
SUPPLE_LOCAL double size_of(real x, const int *live)
{
    double largest = 0.0;
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (live[l]) {
            const double size = fabs(SUPPLE_LANE(x, l));
            largest = size <= DBL_MAX ? larger(largest, size) : HUGE_VAL;
        }
    return largest;
}

SUPPLE_LOCAL double size_of_all(const real *x, int n, const int *live)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        largest = larger(largest, size_of(x[i], live));
    return largest;
}

/* a weight for choosing pivots: the smallest |x| of the live lanes, so that no lane divides by little */
SUPPLE_LOCAL double weight_of(real x, const int *live)
{
#if SUPPLE_LANES == 1
    (void)live;
    return fabs(x);
#else
    double smallest = HUGE_VAL, sum = 0.0;
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (live[l]) {
            smallest = smaller(smallest, fabs(x[l]));
            sum += fabs(x[l]);
        }
    return smallest + 1e-3 * sum;
#endif
}

/* m (n x n, row by row) becomes its LU factors, diagonal inverted; returns smallest / largest pivot, 0 if singular */
static double factorise(real *m, int *pivot, int n, const int *live)
{
    double smallest = HUGE_VAL, largest = 0.0;
    for (int k = 0; k < n; k++) {
        int best = k;
        double top = weight_of(m[k * n + k], live);
        for (int i = k + 1; i < n; i++) {
            const double w = weight_of(m[i * n + k], live);
            if (w > top) {
                best = i;
                top = w;
            }
        }
        pivot[k] = best;
        largest = larger(largest, top);
        smallest = smaller(smallest, top);
        if (!(top > SINGULAR * largest) || !(top <= DBL_MAX))
            return 0.0;
        for (int j = 0; best != k && j < n; j++) {
            const real kept = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = kept;
        }
        const real inverse = num(1) / m[k * n + k];
        m[k * n + k] = inverse;
        for (int i = k + 1; i < n; i++) {
            const real factor = m[i * n + k] * inverse;
            m[i * n + k] = factor;
            for (int j = k + 1; j < n; j++)
                m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return n ? smallest / largest : 1.0;
}

/* b becomes the solution of m x = b */
static void solve(const real *m, const int *pivot, int n, real *b)
{
    for (int k = 0; k < n; k++) {
        const real kept = b[pivot[k]];
        b[pivot[k]] = b[k];
        b[k] = kept;
    }
    for (int i = 1; i < n; i++) {
        real sum = b[i];
        for (int j = 0; j < i; j++)
            sum -= m[i * n + j] * b[j];
        b[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        real sum = b[i];
        for (int j = i + 1; j < n; j++)
            sum -= m[i * n + j] * b[j];
        b[i] = sum * m[i * n + i];
    }
}
