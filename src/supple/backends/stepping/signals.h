/* Signals over time. */

/* Values, rates and accelerations at t; `look` < 0 sees what holds just before a knot, `look` > 0 just after */
static void signals_at(const Signals *s, double t, double look, double *x, double *xd, double *xdd)
{
    const long long n = s->channels;
    if (n == 0)
        return;
    long long low = 0, high = s->pieces - 1;
    while (low < high) {
        const long long middle = (low + high + 1) / 2;
        if (s->knots[middle] <= t + look)
            low = middle;
        else
            high = middle - 1;
    }
    const double begin = s->knots[0], end = s->knots[s->pieces];
    const double u = (t < begin ? begin : t > end ? end : t) - s->knots[low];
    const double moving = t + look < begin || t + look > end ? 0.0 : 1.0;
    for (long long k = 0; k < n; k++) {
        const double *c = s->coefficients + (low * n + k) * 6;
        x[k] = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))));
        if (xd)
            xd[k] = moving * (c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5]))));
        if (xdd)
            xdd[k] = moving * (2 * c[2] + u * (6 * c[3] + u * (12 * c[4] + u * 20 * c[5])));
    }
}

/* The same in lanes, each of which has a time of its own; NULL: not asked for */
static void signals_in(const Signals *s, real t, double look, int n, real *x, real *xd, real *xdd)
{
    double found[3][AT_LEAST_ONE(MOST_CHANNELS)];
    if (s->channels == 0)
        return;
    for (int l = 0; l < SUPPLE_LANES; l++) {
        if (l == 0 || SUPPLE_LANE(t, l) != SUPPLE_LANE(t, l - 1))
            signals_at(s, SUPPLE_LANE(t, l), look, found[0], xd ? found[1] : NULL, xdd ? found[2] : NULL);
        for (int i = 0; i < n; i++) {
            SUPPLE_LANE(x[i], l) = found[0][i];
            if (xd)
                SUPPLE_LANE(xd[i], l) = found[1][i];
            if (xdd)
                SUPPLE_LANE(xdd[i], l) = found[2][i];
        }
    }
}
