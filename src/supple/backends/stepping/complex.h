/* Dense linear algebra with complex numbers, real and imaginary parts apart; and inverses, quicker to apply where small. */
#define SMALL 40 /* unknowns up to which the inverse matrix is quicker than its factors */

/* re + i im (n x n) becomes its LU factors, diagonal inverted; 0 if singular */
SUPPLE_LOCAL SUPPLE_WIDE int factorise_complex(real *re, real *im, int *pivot, int n, const int *live)
{
    double largest = 0.0;
    for (int k = 0; k < n; k++) {
        real *restrict xr = re + k * n, *restrict xi = im + k * n;
        double top = 0.0;
        int best = k;
        for (int i = k; i < n; i++) {
            const double w = weight_of(xr[i] * xr[i] + xi[i] * xi[i], live);
            best = w > top ? i : best;
            top = larger(w, top);
        }
        largest = larger(largest, top);
        if (!(top > SINGULAR * SINGULAR * largest) || !(top <= DBL_MAX))
            return 0;
        pivot[k] = best;
        for (int j = 0; best != k && j < n; j++) {
            swap(re + j * n, k, best);
            swap(im + j * n, k, best);
        }
        const real square = xr[k] * xr[k] + xi[k] * xi[k], ir = xr[k] / square, ii = -xi[k] / square;
        xr[k] = ir;
        xi[k] = ii;
        for (int i = k + 1; i < n; i++) {
            const real kept = xr[i];
            xr[i] = kept * ir - xi[i] * ii;
            xi[i] = kept * ii + xi[i] * ir;
        }
        for (int j = k + 1; j < n; j++) {
            real *restrict yr = re + j * n, *restrict yi = im + j * n;
            const real ur = yr[k], ui = yi[k];
            if (is_zero(ur) && is_zero(ui))
                continue;
            for (int i = k + 1; i < n; i++) {
                yr[i] -= xr[i] * ur - xi[i] * ui;
                yi[i] -= xr[i] * ui + xi[i] * ur;
            }
        }
    }
    return 1;
}

/* br + i bi becomes the solution */
SUPPLE_LOCAL SUPPLE_WIDE void solve_complex(const real *re, const real *im, const int *pivot, int n, real *br, real *bi)
{
    for (int k = 0; k < n; k++) {
        swap(br, k, pivot[k]);
        swap(bi, k, pivot[k]);
    }
    for (int k = 0; k < n; k++) {
        const real *restrict xr = re + k * n, *restrict xi = im + k * n;
        const real ur = br[k], ui = bi[k];
        for (int i = k + 1; i < n; i++) {
            br[i] -= xr[i] * ur - xi[i] * ui;
            bi[i] -= xr[i] * ui + xi[i] * ur;
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const real *restrict xr = re + k * n, *restrict xi = im + k * n;
        const real kept = br[k];
        const real ur = br[k] = kept * xr[k] - bi[k] * xi[k], ui = bi[k] = kept * xi[k] + bi[k] * xr[k];
        for (int i = 0; i < k; i++) {
            br[i] -= xr[i] * ur - xi[i] * ui;
            bi[i] -= xr[i] * ui + xi[i] * ur;
        }
    }
}

#if N_FREE <= SMALL
/* factors become the inverse, column by column, so that applying it adds whole columns */
SUPPLE_LOCAL void invert(real *m, const int *pivot)
{
    real inverse[AT_LEAST_ONE(N_FREE * N_FREE)];
    for (int j = 0; j < N_FREE; j++) {
        for (int i = 0; i < N_FREE; i++)
            inverse[j * N_FREE + i] = fill(i == j);
        solve(m, pivot, N_FREE, inverse + j * N_FREE);
    }
    memcpy(m, inverse, N_FREE * N_FREE * sizeof(real));
}

SUPPLE_LOCAL void invert_complex(real *re, real *im, const int *pivot)
{
    real r[AT_LEAST_ONE(N_FREE * N_FREE)], m[AT_LEAST_ONE(N_FREE * N_FREE)];
    memset(m, 0, sizeof m);
    for (int j = 0; j < N_FREE; j++) {
        for (int i = 0; i < N_FREE; i++)
            r[j * N_FREE + i] = fill(i == j);
        solve_complex(re, im, pivot, N_FREE, r + j * N_FREE, m + j * N_FREE);
    }
    memcpy(re, r, N_FREE * N_FREE * sizeof(real));
    memcpy(im, m, N_FREE * N_FREE * sizeof(real));
}

/* x becomes m x */
SUPPLE_LOCAL SUPPLE_WIDE void multiply(const real *m, real *x)
{
    real sum[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++)
        sum[i] = fill(0);
    for (int j = 0; j < N_FREE; j++)
        for (int i = 0; i < N_FREE; i++)
            sum[i] += m[j * N_FREE + i] * x[j];
    memcpy(x, sum, N_FREE * sizeof(real));
}

SUPPLE_LOCAL SUPPLE_WIDE void multiply_complex(const real *re, const real *im, real *x, real *y)
{
    real r[AT_LEAST_ONE(N_FREE)], m[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++)
        r[i] = m[i] = fill(0);
    for (int j = 0; j < N_FREE; j++)
        for (int i = 0; i < N_FREE; i++) {
            r[i] += re[j * N_FREE + i] * x[j] - im[j * N_FREE + i] * y[j];
            m[i] += re[j * N_FREE + i] * y[j] + im[j * N_FREE + i] * x[j];
        }
    memcpy(x, r, N_FREE * sizeof(real));
    memcpy(y, m, N_FREE * sizeof(real));
}
#endif
