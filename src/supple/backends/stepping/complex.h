/* Dense linear algebra with complex numbers, real and imaginary parts apart; and inverses, quicker to apply where small. */
#define SMALL 60 /* unknowns up to which the inverse matrix is quicker than its factors */

/* x -= the PANEL columns at cr + i ci (n apart) times u, in rows from `from` to `to` */
SUPPLE_LOCAL SUPPLE_DENSE void subtract_complex(const real *cr, const real *ci, int n, const real *ur, const real *ui,
                                               int from, int to, real *restrict xr, real *restrict xi)
{
    const real a0 = ur[0], a1 = ur[1], a2 = ur[2], a3 = ur[3], b0 = ui[0], b1 = ui[1], b2 = ui[2], b3 = ui[3];
    const real *restrict r1 = cr + n, *restrict r2 = cr + 2 * n, *restrict r3 = cr + 3 * n;
    const real *restrict i1 = ci + n, *restrict i2 = ci + 2 * n, *restrict i3 = ci + 3 * n;
    for (int i = from; i < to; i++) {
        xr[i] = xr[i] - (cr[i] * a0 - ci[i] * b0) - (r1[i] * a1 - i1[i] * b1) - (r2[i] * a2 - i2[i] * b2)
            - (r3[i] * a3 - i3[i] * b3);
        xi[i] = xi[i] - (cr[i] * b0 + ci[i] * a0) - (r1[i] * b1 + i1[i] * a1) - (r2[i] * b2 + i2[i] * a2)
            - (r3[i] * b3 + i3[i] * a3);
    }
}

/* x -= L x for the columns from k on of the unit lower triangle, PANEL of them */
SUPPLE_LOCAL SUPPLE_DENSE void forward_complex(const real *re, const real *im, int n, int k, real *xr, real *xi)
{
    const real *cr = re + k * n, *ci = im + k * n;
    for (int j = k + 1; j < k + PANEL; j++)
        for (int l = 0; l < j - k; l++) {
            const real ur = xr[k + l], ui = xi[k + l];
            xr[j] -= cr[l * n + j] * ur - ci[l * n + j] * ui;
            xi[j] -= cr[l * n + j] * ui + ci[l * n + j] * ur;
        }
    subtract_complex(cr, ci, n, xr + k, xi + k, k + PANEL, n, xr, xi);
}

/* Column k, with a pivot in it, divided by that; the columns after it up to `last` less what it takes of them */
SUPPLE_LOCAL SUPPLE_DENSE void eliminate_complex(real *re, real *im, int n, int k, int last)
{
    real *restrict xr = re + k * n, *restrict xi = im + k * n;
    const real square = xr[k] * xr[k] + xi[k] * xi[k], ir = xr[k] / square, ii = -xi[k] / square;
    xr[k] = ir;
    xi[k] = ii;
    for (int i = k + 1; i < n; i++) {
        const real kept = xr[i];
        xr[i] = kept * ir - xi[i] * ii;
        xi[i] = kept * ii + xi[i] * ir;
    }
    for (int j = k + 1; j < last; j++) {
        real *restrict yr = re + j * n, *restrict yi = im + j * n;
        const real ur = yr[k], ui = yi[k];
        for (int i = k + 1; i < n; i++) {
            yr[i] -= xr[i] * ur - xi[i] * ui;
            yi[i] -= xr[i] * ui + xi[i] * ur;
        }
    }
}

/* re + i im (n x n) becomes its LU factors, diagonal inverted; 0 if singular */
SUPPLE_LOCAL SUPPLE_DENSE int factorise_complex(real *re, real *im, int *pivot, int n, const int *live)
{
    const int width = n < SHORT ? n : PANEL;
    double largest = 0.0;
    for (int first = 0; first < n; first += width) {
        const int last = first + width < n ? first + width : n;
        for (int k = first; k < last; k++) {
            const real *xr = re + k * n, *xi = im + k * n;
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
            for (int j = 0; best != k && j < last; j++) {
                swap(re + j * n, k, best);
                swap(im + j * n, k, best);
            }
            eliminate_complex(re, im, n, k, last);
        }
        for (int j = last; j < n; j++) {
            for (int k = first; k < last; k++) {
                swap(re + j * n, k, pivot[k]);
                swap(im + j * n, k, pivot[k]);
            }
            forward_complex(re, im, n, first, re + j * n, im + j * n);
        }
    }
    return 1;
}

/* x -= the column at cr + i ci times u, in rows from `from` to `to` */
SUPPLE_LOCAL SUPPLE_DENSE void subtract_column(const real *restrict cr, const real *restrict ci, real ur, real ui, int from,
                                              int to, real *restrict xr, real *restrict xi)
{
    for (int i = from; i < to; i++) {
        xr[i] -= cr[i] * ur - ci[i] * ui;
        xi[i] -= cr[i] * ui + ci[i] * ur;
    }
}

/* br + i bi becomes the solution */
SUPPLE_LOCAL SUPPLE_DENSE void solve_complex(const real *re, const real *im, const int *pivot, int n, real *br, real *bi)
{
    for (int k = 0; k < n; k++) {
        swap(br, k, pivot[k]);
        swap(bi, k, pivot[k]);
    }
    const int whole = n - n % PANEL;
    for (int k = 0; k < whole; k += PANEL)
        forward_complex(re, im, n, k, br, bi);
    for (int k = whole; k < n; k++)
        subtract_column(re + k * n, im + k * n, br[k], bi[k], k + 1, n, br, bi);
    for (int k = n - 1; k >= 0; k--) {
        const real kept = br[k], *xr = re + k * n, *xi = im + k * n;
        br[k] = kept * xr[k] - bi[k] * xi[k];
        bi[k] = kept * xi[k] + bi[k] * xr[k];
        subtract_column(xr, xi, br[k], bi[k], k < whole ? k - k % PANEL : 0, k, br, bi);
        if (k < whole && k % PANEL == 0)
            subtract_complex(xr, xi, n, br + k, bi + k, 0, k, br, bi);
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

/* x becomes m x, four columns at a time */
SUPPLE_LOCAL SUPPLE_DENSE void multiply(const real *m, real *x)
{
    real sum[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    memset(sum, 0, sizeof sum);
    for (int j = 0; j < N_FREE; j++)
        u[j] = -x[j];
    const int whole = N_FREE - N_FREE % PANEL;
    for (int j = 0; j < whole; j += PANEL)
        subtract(m + j * N_FREE, N_FREE, u + j, 0, N_FREE, sum);
    for (int j = whole; j < N_FREE; j++)
        for (int i = 0; i < N_FREE; i++)
            sum[i] += m[j * N_FREE + i] * x[j];
    memcpy(x, sum, N_FREE * sizeof(real));
}

SUPPLE_LOCAL SUPPLE_DENSE void multiply_complex(const real *re, const real *im, real *x, real *y)
{
    real r[AT_LEAST_ONE(N_FREE)], m[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], w[AT_LEAST_ONE(N_FREE)];
    memset(r, 0, sizeof r);
    memset(m, 0, sizeof m);
    for (int j = 0; j < N_FREE; j++) {
        u[j] = -x[j];
        w[j] = -y[j];
    }
    const int whole = N_FREE - N_FREE % PANEL;
    for (int j = 0; j < whole; j += PANEL)
        subtract_complex(re + j * N_FREE, im + j * N_FREE, N_FREE, u + j, w + j, 0, N_FREE, r, m);
    for (int j = whole; j < N_FREE; j++)
        subtract_column(re + j * N_FREE, im + j * N_FREE, u[j], w[j], 0, N_FREE, r, m);
    memcpy(x, r, N_FREE * sizeof(real));
    memcpy(y, m, N_FREE * sizeof(real));
}
#endif
