/* What is called from outside besides supple_run. */

/* Derivatives and stages by a library with more lanes from now on */
SUPPLE_EXPORT void supple_widen(Columns *columns, States *states)
{
    at_once = columns;
    all_at_once = states;
}

SUPPLE_EXPORT long long supple_size(void) { return (long long)sizeof(Sim); }

/* Closes the loops at the time and state of z and starts there */
SUPPLE_EXPORT int supple_start(Sim *z, const Drive *d)
{
    z->next_tick = z->begin;
    z->contraction = 1.0;
    memcpy(z->start_q, z->now.q, sizeof z->start_q);
    memcpy(z->peak, z->scale, sizeof z->peak);
    int outcome = restart(z, d);
    if (outcome == FINE && act(z, d))
        outcome = restart(z, d);
    return outcome;
}

/* Restarts after a change of tables or settings */
SUPPLE_EXPORT int supple_again(Sim *z, const Drive *d)
{
    z->has_jacobian = z->has_mass = 0;
    z->factorised_step = 0.0;
    z->contraction = 1.0; /* other coordinates: not known before the second iteration */
    return restart(z, d);
}

/* Closed postures of recorded samples (count x lanes rows of ROW numbers), with the accelerations of all coordinates:
 * q, v, a */
SUPPLE_EXPORT int supple_observe(Sim *z, const Drive *d, long long count, const double *in, const double *sides, double *out)
{
    static SUPPLE_THREAD Posture p;
    static SUPPLE_THREAD Loops loops;
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], from[AT_LEAST_ONE(N_Q)], a[AT_LEAST_ONE(N_V)];
    int worst = FINE;
    for (long long n = 0; n < count; n++, in += ROW * SUPPLE_LANES) {
        const double t = in[SAMPLE_T];
        z->look = sides[n] * 1e-11 * (1.0 + fabs(t));
        for (int l = 0; l < SUPPLE_LANES; l++) {
            const double *x = in + l * ROW;
            for (int i = 0; i < N_Q; i++)
                SUPPLE_LANE(from[i], l) = x[SAMPLE_Q + i];
            for (int i = 0; i < N_FREE; i++) {
                SUPPLE_LANE(u[i], l) = x[SAMPLE_V + z->chosen.free_v[i]];
                SUPPLE_LANE(p.free_a[i], l) = x[SAMPLE_FREE_A + i];
            }
        }
        for (int i = 0; i < N_FREE; i++)
            s[i] = fill(0);
        memcpy(p.q, from, sizeof from);
        int outcome = place(z, d, fill(t), from, s, u, &p, a, &loops);
        if (outcome == FINE)
            outcome = mend(z, &p);
        for (int i = 0; i < N_FREE; i++)
            a[z->chosen.free_v[i]] = p.free_a[i];
        if (outcome == FINE)
            follow_on(z, &p, a, &loops);
        if (outcome != FINE)
            worst = outcome;
        for (int l = 0; l < SUPPLE_LANES; l++) {
            const int known = outcome == FINE && z->live[l];
            for (int i = 0; i < N_Q; i++)
                *out++ = known ? SUPPLE_LANE(p.q[i], l) : NAN;
            for (int i = 0; i < N_V; i++)
                *out++ = known ? SUPPLE_LANE(p.v[i], l) : NAN;
            for (int i = 0; i < N_V; i++)
                *out++ = known ? SUPPLE_LANE(a[i], l) : NAN;
        }
    }
    return worst;
}

/* Derivatives of (displacement from z->now, rates of the free coordinates), for integrators outside */
SUPPLE_EXPORT int supple_rhs(Sim *z, const Drive *d, double t, const double *y, double *yd)
{
    static SUPPLE_THREAD Posture p;
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        s[i] = fill(y[i]);
        u[i] = fill(y[N_FREE + i]);
    }
    p = z->has_guess ? z->guess : z->now;
    z->look = -1e-11 * (1.0 + fabs(t));
    const int outcome = evaluate(z, d, fill(t), z->now.q, s, u, &p);
    if (outcome == FINE) {
        z->guess = p;
        z->has_guess = 1;
    }
    for (int i = 0; i < N_FREE; i++) {
        yd[i] = SUPPLE_LANE(p.free_rate[i], 0);
        yd[N_FREE + i] = SUPPLE_LANE(p.free_a[i], 0);
    }
    return outcome;
}

/* The state moved to a time, a displacement of the free coordinates and their rates */
SUPPLE_EXPORT int supple_move(Sim *z, const Drive *d, double t, const double *y)
{
    static SUPPLE_THREAD Posture p;
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        s[i] = fill(y[i]);
        u[i] = fill(y[N_FREE + i]);
    }
    p = z->now;
    z->look = -1e-11 * (1.0 + fabs(t));
    const int outcome = evaluate(z, d, fill(t), z->now.q, s, u, &p);
    z->now = p;
    z->t = t;
    return outcome;
}
