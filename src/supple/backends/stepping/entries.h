/* What is called from outside besides supple_run. */

/* Derivatives, stages, samples and what follows from the free coordinates by a library with more lanes from now on */
SUPPLE_EXPORT void supple_widen(Columns *columns, States *states, Samples *samples, Followers *followers)
{
    at_once = columns;
    all_at_once = states;
    samples_at_once = samples;
    followers_at_once = followers;
}

SUPPLE_EXPORT long long supple_size(void) { return (long long)sizeof(Sim); }

/* Closes the loops at the time and state of z and starts there */
SUPPLE_EXPORT int supple_start(Sim *z, const Drive *d)
{
    z->next_tick = z->begin;
    z->contraction = 1.0;
    memcpy(z->start_q, z->now.q, sizeof z->start_q);
    memcpy(z->peak, z->scale, sizeof z->peak);
    int outcome = restart(z, d, 0);
    if (outcome == FINE && act(z, d))
        outcome = restart(z, d, 0);
    return outcome;
}

/* Restarts after a change of tables or settings */
SUPPLE_EXPORT int supple_again(Sim *z, const Drive *d)
{
    z->has_jacobian = z->has_mass = 0;
    z->factorised_step = 0.0;
    z->contraction = 1.0; /* other coordinates: not known before the second iteration */
    return restart(z, d, 0);
}

/* One sample of every lane: q, v, a, not numbers where loops do not close */
static int observe_one(Sim *z, const Drive *d, const double *in, double *out)
{
    real from[AT_LEAST_ONE(N_Q)], u[AT_LEAST_ONE(N_FREE)], a[AT_LEAST_ONE(N_V)];
    Posture *p = sample_room();
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const double *x = in + l * ROW;
        for (int i = 0; i < N_Q; i++)
            SUPPLE_LANE(from[i], l) = x[SAMPLE_Q + i];
        for (int i = 0; i < N_FREE; i++) {
            SUPPLE_LANE(u[i], l) = x[SAMPLE_V + z->chosen.free_v[i]];
            SUPPLE_LANE(p->free_a[i], l) = x[SAMPLE_FREE_A + i];
        }
    }
    const int outcome = closed_sample(z, d, fill(in[SAMPLE_T]), from, u, p, a, loops_room());
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const int known = outcome == FINE && z->live[l];
        for (int i = 0; i < N_Q; i++)
            *out++ = known ? SUPPLE_LANE(p->q[i], l) : NAN;
        for (int i = 0; i < N_V; i++)
            *out++ = known ? SUPPLE_LANE(p->v[i], l) : NAN;
        for (int i = 0; i < N_V; i++)
            *out++ = known ? SUPPLE_LANE(a[i], l) : NAN;
    }
    return outcome;
}

/* Closed postures of recorded samples (count x lanes rows of ROW numbers), with the accelerations of all coordinates:
 * q, v, a; those of one run several at once where they are of the same side */
SUPPLE_EXPORT int supple_observe(Sim *z, const Drive *d, long long count, const double *in, const double *sides, double *out)
{
    const int wide = (N_Q + 2 * N_V) * SUPPLE_LANES;
    int worst = FINE;
    for (long long n = 0, done = 1; n < count; n += done, in += done * ROW * SUPPLE_LANES, out += done * wide, done = 1) {
        z->look = sides[n] * 1e-11 * (1.0 + fabs(in[SAMPLE_T]));
#if SUPPLE_LANES == 1
        if (samples_at_once && n + SIDE_BY_SIDE <= count && sides[n + SIDE_BY_SIDE - 1] == sides[n]) {
            const Moment at = moment(z);
            done = samples_at_once(&at, d, in, out) == FINE ? SIDE_BY_SIDE : 1;
        }
#endif
        const int outcome = done > 1 ? FINE : observe_one(z, d, in, out);
        if (outcome != FINE)
            worst = outcome;
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
