/* Many small systems of equations, one after the other: a call of a library for each takes longer than they do. */

#include <math.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* A (n x n, rows) and x (n x k), which holds the right sides: eliminated with the largest pivots of columns; 0: singular */
static int eliminate(long long n, long long k, double *restrict A, double *restrict x)
{
    for (long long i = 0; i < n; i++) {
        long long best = i;
        for (long long r = i + 1; r < n; r++)
            best = fabs(A[r * n + i]) > fabs(A[best * n + i]) ? r : best;
        for (long long c = i; c < n && best != i; c++) {
            const double kept = A[i * n + c];
            A[i * n + c] = A[best * n + c];
            A[best * n + c] = kept;
        }
        for (long long c = 0; c < k && best != i; c++) {
            const double kept = x[i * k + c];
            x[i * k + c] = x[best * k + c];
            x[best * k + c] = kept;
        }
        if (!(fabs(A[i * n + i]) > 0.0))
            return 0;
        const double inverse = 1.0 / A[i * n + i];
        for (long long r = i + 1; r < n; r++) {
            const double share = A[r * n + i] * inverse;
            for (long long c = i + 1; c < n && share != 0.0; c++)
                A[r * n + c] -= share * A[i * n + c];
            for (long long c = 0; c < k; c++)
                x[r * k + c] -= share * x[i * k + c];
        }
    }
    for (long long i = n - 1; i >= 0; i--)
        for (long long c = 0; c < k; c++) {
            double sum = x[i * k + c];
            for (long long j = i + 1; j < n; j++)
                sum -= A[i * n + j] * x[j * k + c];
            x[i * k + c] = sum / A[i * n + i];
        }
    return 1;
}

static double largest(const double *x, long long n)
{
    double most = 0.0;
    for (long long i = 0; i < n; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* x of A x = b for `count` systems, b with k columns; room: n x n. Returns the most that is left of any equation, relative
 * to max |A| max |x| + max |b|; below zero: a system is singular */
EXPORT double supple_eliminate(long long count, long long n, long long k, const double *A, const double *b, double *x,
                               double *room)
{
    double worst = 0.0;
    memcpy(x, b, sizeof(double) * (size_t)(count * n * k));
    for (long long s = 0; s < count; s++, A += n * n, b += n * k, x += n * k) {
        memcpy(room, A, sizeof(double) * (size_t)(n * n));
        if (!eliminate(n, k, room, x))
            return -1.0;
        const double size = largest(A, n * n) * largest(x, n * k) + largest(b, n * k);
        for (long long i = 0; i < n; i++)
            for (long long c = 0; c < k; c++) {
                double left = -b[i * k + c];
                for (long long j = 0; j < n; j++)
                    left += A[i * n + j] * x[j * k + c];
                if (!(fabs(left) <= worst * size))
                    worst = fabs(left) / size;
            }
    }
    return worst;
}
