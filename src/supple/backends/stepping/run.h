/* From one step to a whole simulation: step sizes, events, what is recorded. */

#if defined(_WIN32)
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif

#define MEMORY 0.9 /* of the worst error, from step to step */
#define MANY 60 /* free coordinates above which a new step size, and so a new factorisation, has to be worth it */
#define CALM 3 /* steps after a rejected one before steps may grow */

enum { GENERALISED_ALPHA, GAUSS, DORMAND_PRINCE, QUASI_STATIC };
#define ROW (1 + N_Q + N_V + N_TAU + N_FREE) /* of one sample: t, q, v, forces of actuators not prescribed, free accelerations */

/* Starts anew at z->t: accelerations as they are just after it */
static int restart(Sim *z, const Drive *d)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    z->look = 1e-11 * (1.0 + fabs(z->t));
    for (int i = 0; i < N_FREE; i++) {
        s[i] = fill(0);
        u[i] = z->now.v[z->free_v[i]];
    }
    static SUPPLE_THREAD Posture from;
    from = z->now;
    int outcome = evaluate(z, d, z->t, from.q, s, u, &z->now);
    if (outcome == FINE)
        outcome = accelerations(z, d, z->t, &z->now, z->a);
    z->power = power_of(z, d, z->t, &z->now);
    note_scale(z, d, z->t, z->now.f);
    z->restart = 1;
    z->have_stages = 0;
    return outcome;
}

static void record(const Sim *z, double t, const real *q, const real *v, const real *effort, const real *f, double *to)
{
    for (int l = 0; l < SUPPLE_LANES; l++, to += ROW) {
        double *x = to;
        *x++ = t;
        for (int i = 0; i < N_Q; i++)
            *x++ = z->live[l] ? SUPPLE_LANE(q[i], l) : NAN;
        for (int i = 0; i < N_V; i++)
            *x++ = z->live[l] ? SUPPLE_LANE(v[i], l) : NAN;
        for (int i = 0; i < N_TAU; i++)
            *x++ = z->live[l] ? SUPPLE_LANE(effort[i], l) : NAN;
        for (int i = 0; i < N_FREE; i++)
            *x++ = z->live[l] ? SUPPLE_LANE(f[i], l) : NAN;
    }
}

/* Hermite's quintic at a share x of the step: moved in all, rates and accelerations at both ends */
SUPPLE_LOCAL real quintic_place(double x, double h, real moved, real v0, real v1, real a0, real a1)
{
    const double x2 = x * x, x3 = x2 * x, x4 = x3 * x, x5 = x4 * x;
    return (10.0 * x3 - 15.0 * x4 + 6.0 * x5) * moved
        + h * ((x - 6.0 * x3 + 8.0 * x4 - 3.0 * x5) * v0 + (-4.0 * x3 + 7.0 * x4 - 3.0 * x5) * v1)
        + 0.5 * h * h * ((x2 - 3.0 * x3 + 3.0 * x4 - x5) * a0 + (x3 - 2.0 * x4 + x5) * a1);
}

SUPPLE_LOCAL real quintic_rate(double x, double h, real moved, real v0, real v1, real a0, real a1)
{
    const double x2 = x * x, x3 = x2 * x, x4 = x3 * x;
    return (30.0 * x2 - 60.0 * x3 + 30.0 * x4) / h * moved
        + (1.0 - 18.0 * x2 + 32.0 * x3 - 15.0 * x4) * v0 + (-12.0 * x2 + 28.0 * x3 - 15.0 * x4) * v1
        + 0.5 * h * ((2.0 * x - 9.0 * x2 + 12.0 * x3 - 5.0 * x4) * a0 + (3.0 * x2 - 8.0 * x3 + 5.0 * x4) * a1);
}

SUPPLE_LOCAL real quintic_curve(double x, double h, real moved, real v0, real v1, real a0, real a1)
{
    const double x2 = x * x, x3 = x2 * x;
    return (60.0 * x - 180.0 * x2 + 120.0 * x3) / (h * h) * moved
        + ((-36.0 * x + 96.0 * x2 - 60.0 * x3) * v0 + (-24.0 * x + 84.0 * x2 - 60.0 * x3) * v1) / h
        + (1.0 - 9.0 * x + 18.0 * x2 - 10.0 * x3) * a0 + (3.0 * x - 12.0 * x2 + 10.0 * x3) * a1;
}

/* q and v at a share x of the step: quintic in the free coordinates, cubic in the dependent ones */
static void interpolate(Sim *z, const Drive *d, double h, double x, const Posture *end, double *to)
{
    real q[AT_LEAST_ONE(N_Q)], v[AT_LEAST_ONE(N_V)], effort[AT_LEAST_ONE(N_TAU)], f[AT_LEAST_ONE(N_FREE)];
    const double x2 = x * x, x3 = x2 * x;
    const double c0 = 3.0 * x2 - 2.0 * x3, c1 = x - 2.0 * x2 + x3, c2 = x3 - x2;
    const double r0 = 6.0 * (x - x2), r1 = 1.0 - 4.0 * x + 3.0 * x2, r2 = 3.0 * x2 - 2.0 * x;
    for (int i = 0; i < N_Q; i++)
        q[i] = end->q[i] + (c0 - 1.0) * (end->q[i] - z->now.q[i]); /* quaternions: near enough to be turned below */
    for (int i = 0; i < N_V; i++)
        v[i] = z->now.v[i] + x * (end->v[i] - z->now.v[i]);
    for (int i = 0; i < N_DEP; i++)
        if (z->dep_q[i] >= 0) {
            const int k = z->dep_q[i], w = z->dep_v[i];
            const real moved = end->q[k] - z->now.q[k];
            q[k] = z->now.q[k] + c0 * moved + h * (c1 * z->now.v[w] + c2 * end->v[w]);
            v[w] = r0 / h * moved + r1 * z->now.v[w] + r2 * end->v[w];
        }
    for (int i = 0; i < N_FREE; i++)
        if (z->free_q[i] >= 0) {
            const int k = z->free_q[i], w = z->free_v[i];
            const real moved = end->q[k] - z->now.q[k];
            q[k] = z->now.q[k] + quintic_place(x, h, moved, z->now.v[w], end->v[w], z->now.f[i], end->f[i]);
            v[w] = quintic_rate(x, h, moved, z->now.v[w], end->v[w], z->now.f[i], end->f[i]);
        }
    if (z->method == GENERALISED_ALPHA && z->factorised_for == h) { /* what is stiff goes straight from end to end */
        real bent[AT_LEAST_ONE(N_FREE)], rate[AT_LEAST_ONE(N_FREE)];
        for (int i = 0; i < N_FREE; i++) {
            const int k = z->free_q[i], w = z->free_v[i];
            bent[i] = k >= 0 ? q[k] - z->now.q[k] - x * (end->q[k] - z->now.q[k]) : fill(0);
            rate[i] = k >= 0 ? v[w] - z->now.v[w] - x * (end->v[w] - z->now.v[w]) : fill(0);
        }
        alpha_solve(z, bent);
        alpha_solve(z, rate);
        for (int i = 0; i < N_FREE; i++)
            if (z->free_q[i] >= 0) {
                const int k = z->free_q[i], w = z->free_v[i];
                q[k] = z->now.q[k] + x * (end->q[k] - z->now.q[k]) + bent[i];
                v[w] = z->now.v[w] + x * (end->v[w] - z->now.v[w]) + rate[i];
            }
    }
    /* Accelerations are interpolated themselves: those of an interpolated posture would magnify what is stiff */
    const double bend = z->recent ? x * (x - 1.0) * h / (h + z->h_last) : x * (x - 1.0);
    for (int i = 0; i < N_FREE; i++) {
        f[i] = z->now.f[i] + x * (end->f[i] - z->now.f[i]);
        if (z->method == GENERALISED_ALPHA)
            f[i] += bend * (end->f[i] - z->now.f[i] - h * z->jerk[i]);
        else if (z->method == DORMAND_PRINCE && z->free_q[i] >= 0)
            f[i] = quintic_curve(x, h, end->q[z->free_q[i]] - z->now.q[z->free_q[i]], z->now.v[z->free_v[i]],
                                 end->v[z->free_v[i]], z->now.f[i], end->f[i]);
    }
#if STAGES == 3
    if (z->method == GAUSS) { /* the stages know better */
        real place[AT_LEAST_ONE(N_FREE)], rate[AT_LEAST_ONE(N_FREE)];
        gauss_between(z, h, x, end, place, rate, f);
        for (int i = 0; i < N_FREE; i++)
            if (z->free_q[i] >= 0) {
                q[z->free_q[i]] = z->now.q[z->free_q[i]] + place[i];
                v[z->free_v[i]] = rate[i];
            }
    }
#endif
    for (int k = 0; k < N_TURNING; k++) { /* in the rotation vector from the start of the step: quintic if free, else cubic */
        const int at = z->turning[k][0];
        const int *index = z->turning[k][1] >= 0 ? z->free_v + z->turning[k][1] : z->dep_v + z->turning[k][2];
        const real *p = z->now.q + at, *r = end->q + at;
        const real together = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3];
        const real b[3] = {p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2],
                           p[0] * r[2] - p[2] * r[0] - p[3] * r[1] + p[1] * r[3],
                           p[0] * r[3] - p[3] * r[0] - p[1] * r[2] + p[2] * r[1]};
        real s[3], end_rate[3], u[3];
        for (int l = 0; l < SUPPLE_LANES; l++) {
            const double sine = sqrt(SUPPLE_LANE(b[0], l) * SUPPLE_LANE(b[0], l) + SUPPLE_LANE(b[1], l) * SUPPLE_LANE(b[1], l)
                                     + SUPPLE_LANE(b[2], l) * SUPPLE_LANE(b[2], l));
            const double flip = SUPPLE_LANE(together, l) < 0.0 ? -1.0 : 1.0;
            const double factor = flip * (sine < 1e-9 ? 2.0 : 2.0 * atan2(sine, flip * SUPPLE_LANE(together, l)) / sine);
            for (int i = 0; i < 3; i++)
                SUPPLE_LANE(s[i], l) = factor * SUPPLE_LANE(b[i], l);
        }
        for (int i = 0; i < 3; i++)
            u[i] = end->v[index[i]];
        rotation_rate(s, u, end_rate);
        real moved[3], rate[3];
        for (int i = 0; i < 3; i++) {
            moved[i] = c0 * s[i] + h * (c1 * z->now.v[index[i]] + c2 * end_rate[i]);
            rate[i] = r0 / h * s[i] + r1 * z->now.v[index[i]] + r2 * end_rate[i];
        }
        if (z->turning[k][1] >= 0) {
            const int free = z->turning[k][1];
            real on[3], on_u[3], later[3], curve[3];
            const double ahead = 1e-6 * h;
            for (int i = 0; i < 3; i++) {
                on[i] = s[i] + ahead * end_rate[i];
                on_u[i] = u[i] + ahead * end->f[free + i];
            }
            rotation_rate(on, on_u, later);
            for (int i = 0; i < 3; i++) {
                curve[i] = (later[i] - end_rate[i]) / ahead;
                moved[i] = quintic_place(x, h, s[i], z->now.v[index[i]], end_rate[i], z->now.f[free + i], curve[i]);
                rate[i] = quintic_rate(x, h, s[i], z->now.v[index[i]], end_rate[i], z->now.f[free + i], curve[i]);
            }
        }
        turn(q + at, p, moved);
        real w[3];
        angular_velocity(moved, rate, w);
        for (int i = 0; i < 3; i++)
            v[index[i]] = w[i];
    }
    double g[AT_LEAST_ONE(N_GIVEN)], gd[AT_LEAST_ONE(N_GIVEN)];
    const double t = z->t + x * h;
    signals_at(&d->given, t, z->look, g, gd, NULL);
    for (int i = 0; i < N_GIVEN; i++) {
        q[GIVEN_Q[i]] = fill(g[i]);
        v[GIVEN_V[i]] = fill(gd[i]);
    }
    static SUPPLE_THREAD Posture here;
    memcpy(here.q, q, sizeof here.q);
    memcpy(here.v, v, sizeof here.v);
    control(z, d, t, &here, effort);
    record(z, t, q, v, effort, f, to);
}

/* the next time at which something changes and the step has to end */
static double next_corner(const Sim *z, const Drive *d, double until)
{
    double next = smaller(until, next_action(z, d));
    long long low = 0, high = d->n_breaks;
    const double now = z->t + 1e-10 * (1.0 + fabs(z->t));
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (d->breaks[middle] > now)
            high = middle;
        else
            low = middle + 1;
    }
    return low < d->n_breaks ? smaller(next, d->breaks[low]) : next;
}

/* the next time at which a step has to end: Gauss' also ends its steps at samples, which are then as good as they are */
static double next_event(const Sim *z, const Drive *d, double until)
{
    const double corner = next_corner(z, d, until);
    const double sample = z->begin + (double)z->samples * z->every;
    const double apart = 1e-10 * (1.0 + fabs(z->t));
    const int lands = z->method == GAUSS && z->every > 0.0 && sample > z->t + apart && sample < corner - apart;
    return lands ? sample : corner;
}

static int one_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    *error = 0.0;
    switch (z->method) {
#if STAGES == 3
    case GAUSS:
        return gauss_step(z, d, h, end, error);
#endif
    case DORMAND_PRINCE:
        return dormand_prince_step(z, d, h, end, error);
    case QUASI_STATIC:
        return quasi_static_step(z, d, h, end);
    default:
        return alpha_step(z, d, h, end, error);
    }
}

static double order_of(const Sim *z)
{
    return z->method == GAUSS ? 6.0 : z->method == DORMAND_PRINCE ? 5.0 : 2.0;
}

/* One accepted step; its size in *taken */
static int advance(Sim *z, const Drive *d, double until, Posture *end, double *taken)
{
    const double event = next_event(z, d, until), order = order_of(z);
    for (int trial = 0; trial < 60; trial++) {
        const double left = event - z->t;
        double h = smaller(z->h, z->largest_step), error;
        if (z->fixed_step > 0.0)
            h = trial ? z->h : z->fixed_step;
        const double wanted = h;
        if (h > left * (1.0 - 1e-4))
            h = left;
        else if (2.0 * h > left && z->fixed_step == 0.0)
            h = 0.5 * left;
        z->look = -1e-11 * (1.0 + fabs(z->t));
        z->fresh = 0;
        const int outcome = one_step(z, d, h, end, &error);
        const int accepted = outcome == FINE && (error <= z->tolerance || z->fixed_step > 0.0);
        const double factor = 0.9 * pow(z->tolerance / larger(error, 1e-30), 1.0 / order);
        if (accepted) {
            z->calm++;
            z->peak = larger(error, MEMORY * z->peak); /* errors swing with the vibration: grow by the worst of late */
            const double growth = 0.9 * pow(z->tolerance / larger(z->peak, 1e-30), 1.0 / order);
            if (factor < 1.0)
                z->h = h; /* nearly too long: a new size, and so a new factorisation, is not worth it */
            else if (h < wanted)
                z->h = wanted; /* it was cut short by an event, not by its error */
            else
                z->h = z->calm > CALM && growth > (N_FREE > MANY ? 1.6 : 1.4) ? smaller(growth, 2.0) * h : h;
            *taken = h;
            return FINE;
        }
        z->rejected++;
        z->calm = 0;
        z->have_stages = 0;
        if (outcome == DIVERGED && !z->fresh && z->jacobians_tried < 1) {
            z->have_jacobian = 0; /* once more with new derivatives */
            z->jacobians_tried = 1;
            continue;
        }
        z->jacobians_tried = 0;
        if (z->method == GENERALISED_ALPHA && z->recent == 0)
            z->restart = 1;
        z->h = h * (outcome == FINE ? smaller(0.8, larger(0.2, factor)) : 0.25);
        if (z->h < z->smallest_step)
            return outcome == FINE ? TOO_SMALL : outcome;
    }
    return TOO_SMALL;
}

/* Runs until a time, or until `most` steps or the rows of `out` are used up; says which */
SUPPLE_EXPORT int supple_run(Sim *z, const Drive *d, double until, long long most, double *out, long long rows, long long *written)
{
    static SUPPLE_THREAD Posture end;
    *written = 0;
    while (z->t < until - 1e-10 * (1.0 + fabs(until))) {
        double h = 0.0;
        if (*written + z->rows_ahead > rows)
            return FULL;
        if (most-- <= 0)
            return YIELDED;
        const int outcome = advance(z, d, until, &end, &h);
        if (outcome != FINE)
            return outcome;
        const double event = next_event(z, d, until), corner = next_corner(z, d, until);
        const double after = fabs(z->t + h - event) < 1e-9 * h + 1e-12 ? event : z->t + h;
        if (z->every > 0.0) {
            for (;;) {
                const double t = z->begin + (double)z->samples * z->every;
                if (t > after + 1e-9 * z->every)
                    break;
                if (*written >= rows)
                    return FULL; /* before the step is taken: it is repeated */
                interpolate(z, d, h, smaller(1.0, (t - z->t) / h), &end, out + *written * ROW * SUPPLE_LANES);
                ++*written;
                ++z->samples;
            }
        } else {
            if (*written >= rows)
                return FULL;
            record(z, after, end.q, end.v, end.effort, end.f, out + *written * ROW * SUPPLE_LANES);
            ++*written;
            ++z->samples;
        }
        const real power = power_of(z, d, after, &end);
        z->work += z->method == GENERALISED_ALPHA || z->method == QUASI_STATIC ? num(0.5) * h * (z->power + power) : z->step_work;
        z->power = power;
        for (int i = 0; i < N_DEP; i++)
            z->a[z->dep_v[i]] = (end.v[z->dep_v[i]] - z->now.v[z->dep_v[i]]) / h;
        if (z->method == GENERALISED_ALPHA)
            alpha_accept(z, h, &end);
        z->h_last = h;
        z->have_stages = z->method == GAUSS;
        z->restart = 0;
        z->now = end;
        z->t = after;
        z->steps++;
        note_scale(z, d, z->t, z->now.f);
        const int acted = act(z, d);
        if (acted || (after == corner && corner < until)) {
            const int started = restart(z, d);
            if (started != FINE)
                return started;
        }
        if (z->worst_conditioning > z->conditioning)
            z->worst_conditioning = z->conditioning;
        if (z->conditioning < z->least_conditioning)
            return ILL_POSED;
    }
    return DONE;
}

SUPPLE_EXPORT long long supple_size(void) { return (long long)sizeof(Sim); }

/* Closes the loops at the time and state of z and starts there */
SUPPLE_EXPORT int supple_start(Sim *z, const Drive *d)
{
    z->tick = z->begin;
    z->contraction = 1.0;
    int outcome = restart(z, d);
    if (outcome == FINE && act(z, d))
        outcome = restart(z, d);
    return outcome;
}

/* Restarts after a change of tables or settings */
SUPPLE_EXPORT int supple_again(Sim *z, const Drive *d)
{
    z->have_jacobian = 0;
    z->factorised_for = 0.0;
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
        const double t = in[0];
        z->look = sides[n] * 1e-11 * (1.0 + fabs(t));
        for (int l = 0; l < SUPPLE_LANES; l++) {
            const double *x = in + l * ROW + 1;
            for (int i = 0; i < N_Q; i++)
                SUPPLE_LANE(from[i], l) = x[i];
            for (int i = 0; i < N_FREE; i++) {
                SUPPLE_LANE(u[i], l) = x[N_Q + z->free_v[i]];
                SUPPLE_LANE(p.f[i], l) = x[N_Q + N_V + N_TAU + i];
            }
        }
        for (int i = 0; i < N_FREE; i++)
            s[i] = fill(0);
        memcpy(p.q, from, sizeof from);
        int outcome = place(z, d, t, from, s, u, &p, a, &loops);
        for (int i = 0; i < N_FREE; i++)
            a[z->free_v[i]] = p.f[i];
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
    p = z->guessed ? z->guess : z->now;
    z->look = -1e-11 * (1.0 + fabs(t));
    const int outcome = evaluate(z, d, t, z->now.q, s, u, &p);
    if (outcome == FINE) {
        z->guess = p;
        z->guessed = 1;
    }
    for (int i = 0; i < N_FREE; i++) {
        yd[i] = SUPPLE_LANE(p.rate[i], 0);
        yd[N_FREE + i] = SUPPLE_LANE(p.f[i], 0);
    }
    return outcome;
}

/* Where a named part of the state is, in bytes, and how long: the order is that of the caller's list */
SUPPLE_EXPORT long long supple_layout(long long part, long long *size)
{
#define PART(first, bytes) *size = (long long)(bytes); return (long long)((char *)&z->first - (char *)z)
    static Sim any;
    const Sim *z = &any;
    switch (part) {
    case 0: PART(live, sizeof z->live);
    case 1: PART(method, sizeof z->method);
    case 2: PART(tolerance, 8 * sizeof(double));
    case 3: PART(free_v, (char *)(z->turning + AT_LEAST_ONE(N_TURNING)) - (char *)z->free_v);
    case 4: PART(t, 5 * sizeof(double));
    case 5: PART(rows_ahead, sizeof z->rows_ahead);
    case 6: PART(now.q, N_Q * sizeof(real));
    case 7: PART(now.v, N_V * sizeof(real));
    case 8: PART(now.f, N_FREE * sizeof(real));
    case 9: PART(samples, sizeof z->samples);
    case 10: PART(control_q, N_CQ * sizeof(real));
    case 11: PART(parameters, N_P * sizeof(real));
    case 12: PART(work, sizeof z->work);
    case 13: PART(steps, 5 * sizeof(long long));
    case 14: PART(conditioning, 3 * sizeof(double));
    case 15: PART(scale, 2 * sizeof(double));
    case 16: PART(now.effort, N_TAU * sizeof(real));
    default: PART(effort, (char *)z->control_q - (char *)z->effort);
    }
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
    const int outcome = evaluate(z, d, t, z->now.q, s, u, &p);
    z->now = p;
    z->t = t;
    return outcome;
}
