/* What is recorded: states at steps, and between them. */

/* n numbers of lane l, not numbers where it holds no run */
SUPPLE_LOCAL void note(const Sim *z, int l, const real *x, int n, double *to)
{
#if SUPPLE_LANES == 1
    memcpy(to, x, n * sizeof(double));
#else
    for (int i = 0; i < n; i++)
        to[i] = SUPPLE_LANE(x[i], l);
#endif
    for (int i = 0; i < n && !z->live[l]; i++)
        to[i] = NAN;
}

static void record(const Sim *z, double t, const real *q, const real *v, const real *effort, const real *free_a, double *to)
{
    for (int l = 0; l < SUPPLE_LANES; l++, to += ROW) {
        to[SAMPLE_T] = t;
        note(z, l, q, N_Q, to + SAMPLE_Q);
        note(z, l, v, N_V, to + SAMPLE_V);
        note(z, l, effort, N_TAU, to + SAMPLE_EFFORT);
        note(z, l, free_a, N_FREE, to + SAMPLE_FREE_A);
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

/* s: the rotation vector, of its own axes, that turns the quaternion p into r */
SUPPLE_LOCAL void rotation_between(const real *p, const real *r, real *s)
{
    const real together = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3];
    const real b[3] = {p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2],
                       p[0] * r[2] - p[2] * r[0] - p[3] * r[1] + p[1] * r[3],
                       p[0] * r[3] - p[3] * r[0] - p[1] * r[2] + p[2] * r[1]};
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const double sine = sqrt(SUPPLE_LANE(b[0], l) * SUPPLE_LANE(b[0], l) + SUPPLE_LANE(b[1], l) * SUPPLE_LANE(b[1], l)
                                 + SUPPLE_LANE(b[2], l) * SUPPLE_LANE(b[2], l));
        const double flip = SUPPLE_LANE(together, l) < 0.0 ? -1.0 : 1.0;
        const double factor = flip * (sine < 1e-9 ? 2.0 : 2.0 * atan2(sine, flip * SUPPLE_LANE(together, l)) / sine);
        for (int i = 0; i < 3; i++)
            SUPPLE_LANE(s[i], l) = factor * SUPPLE_LANE(b[i], l);
    }
}

/* Hermite's cubic at a share of the step: weights of what is moved in all, and of the rates at both ends */
typedef struct {
    double place[3], rate[3];
} Cubic;

SUPPLE_LOCAL Cubic cubic_at(double x)
{
    const double x2 = x * x, x3 = x2 * x;
    return (Cubic){{3.0 * x2 - 2.0 * x3, x - 2.0 * x2 + x3, x3 - x2},
                   {6.0 * (x - x2), 1.0 - 4.0 * x + 3.0 * x2, 3.0 * x2 - 2.0 * x}};
}

/* q and v at a share x of the step: cubic in the dependent coordinates but ball joints */
static void dependent_between(const Sim *z, double h, double x, const Posture *end, real *q, real *v)
{
    const Cubic c = cubic_at(x);
    for (int i = 0; i < N_DEP; i++)
        if (z->chosen.dependent_q[i] >= 0) {
            const int k = z->chosen.dependent_q[i], w = z->chosen.dependent_v[i];
            const real moved = end->q[k] - z->now.q[k];
            q[k] = z->now.q[k] + c.place[0] * moved + h * (c.place[1] * z->now.v[w] + c.place[2] * end->v[w]);
            v[w] = c.rate[0] / h * moved + c.rate[1] * z->now.v[w] + c.rate[2] * end->v[w];
        }
}

/* The same of the free coordinates: quintic */
static void free_between(const Sim *z, double h, double x, const Posture *end, real *q, real *v)
{
    for (int i = 0; i < N_FREE; i++)
        if (z->chosen.free_q[i] >= 0) {
            const int k = z->chosen.free_q[i], w = z->chosen.free_v[i];
            const real moved = end->q[k] - z->now.q[k];
            q[k] = z->now.q[k] + quintic_place(x, h, moved, z->now.v[w], end->v[w], z->now.free_a[i], end->free_a[i]);
            v[w] = quintic_rate(x, h, moved, z->now.v[w], end->v[w], z->now.free_a[i], end->free_a[i]);
            if (z->settings.method == QUASI_STATIC) { /* rates are left out, not zero */
                q[k] = z->now.q[k] + x * moved;
                v[w] = fill(0);
            }
        }
}

/* What is too stiff for the step goes straight from end to end */
static void straighten(const Sim *z, double x, const Posture *end, real *q, real *v)
{
    real bent[AT_LEAST_ONE(N_FREE)], rate[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        const int k = z->chosen.free_q[i], w = z->chosen.free_v[i];
        bent[i] = k >= 0 ? q[k] - z->now.q[k] - x * (end->q[k] - z->now.q[k]) : fill(0);
        rate[i] = k >= 0 ? v[w] - z->now.v[w] - x * (end->v[w] - z->now.v[w]) : fill(0);
    }
    alpha_solve(z, bent);
    alpha_solve(z, rate);
    for (int i = 0; i < N_FREE; i++)
        if (z->chosen.free_q[i] >= 0) {
            const int k = z->chosen.free_q[i], w = z->chosen.free_v[i];
            q[k] = z->now.q[k] + x * (end->q[k] - z->now.q[k]) + bent[i];
            v[w] = z->now.v[w] + x * (end->v[w] - z->now.v[w]) + rate[i];
        }
}

/* Accelerations are interpolated themselves: those of an interpolated posture would magnify what is stiff */
static void accelerations_between(const Sim *z, double h, double x, const Posture *end, real *f)
{
    const double bend = z->has_last_step ? x * (x - 1.0) * h / (h + z->last_step) : x * (x - 1.0);
    for (int i = 0; i < N_FREE; i++) {
        const int k = z->chosen.free_q[i], w = z->chosen.free_v[i];
        f[i] = z->now.free_a[i] + x * (end->free_a[i] - z->now.free_a[i]);
        if (z->settings.method == GENERALISED_ALPHA)
            f[i] += bend * (end->free_a[i] - z->now.free_a[i] - h * z->jerk[i]);
        else if (z->settings.method == DORMAND_PRINCE && k >= 0)
            f[i] = quintic_curve(x, h, end->q[k] - z->now.q[k], z->now.v[w], end->v[w], z->now.free_a[i], end->free_a[i]);
    }
}

/* The rotation vector of a free ball joint from the start of the step, and its rate: quintic; s, end_rate: those at its end,
 * where the angular velocity is u */
static void free_rotation_between(const Sim *z, double h, double x, const Posture *end, int free, const real *s,
                                  const real *u, const real *end_rate, real *moved, real *rate)
{
    real on[3], on_u[3], later[3], curve[3];
    const double ahead = 1e-6 * h;
    const int *index = z->chosen.free_v + free;
    for (int i = 0; i < 3; i++) {
        on[i] = s[i] + ahead * end_rate[i];
        on_u[i] = u[i] + ahead * end->free_a[free + i];
    }
    rotation_rate(on, on_u, later);
    for (int i = 0; i < 3; i++) {
        curve[i] = (later[i] - end_rate[i]) / ahead;
        moved[i] = quintic_place(x, h, s[i], z->now.v[index[i]], end_rate[i], z->now.free_a[free + i], curve[i]);
        rate[i] = quintic_rate(x, h, s[i], z->now.v[index[i]], end_rate[i], z->now.free_a[free + i], curve[i]);
    }
}

/* How a ball joint turns in a step: its rotation vector, and that vector's rate and the angular velocity at the end */
typedef struct {
    real s[3], rate[3], u[3];
} Turn;

SUPPLE_LOCAL const int *ball_rates(const Sim *z, const Ball *ball)
{
    return ball->free >= 0 ? z->chosen.free_v + ball->free : z->chosen.dependent_v + ball->dependent;
}

static void turns_of(const Sim *z, const Posture *end, Turn *turns)
{
    for (int k = 0; k < N_BALLS; k++) {
        const Ball *ball = z->chosen.balls + k;
        for (int i = 0; i < 3; i++)
            turns[k].u[i] = end->v[ball_rates(z, ball)[i]];
        rotation_between(z->now.q + ball->q, end->q + ball->q, turns[k].s);
        rotation_rate(turns[k].s, turns[k].u, turns[k].rate);
    }
}

/* The ball joint k at a share x of the step, by the rotation vector from its start: quintic if free, else cubic */
static void rotation_at(const Sim *z, int k, double h, double x, const Posture *end, const Turn *by, real *q, real *v)
{
    const Cubic c = cubic_at(x);
    const Ball *ball = z->chosen.balls + k;
    const int *index = ball_rates(z, ball);
    real moved[3], rate[3], w[3];
    if (ball->free >= 0)
        free_rotation_between(z, h, x, end, ball->free, by->s, by->u, by->rate, moved, rate);
    else
        for (int i = 0; i < 3; i++) {
            moved[i] = c.place[0] * by->s[i] + h * (c.place[1] * z->now.v[index[i]] + c.place[2] * by->rate[i]);
            rate[i] = c.rate[0] / h * by->s[i] + c.rate[1] * z->now.v[index[i]] + c.rate[2] * by->rate[i];
        }
    turn(q + ball->q, z->now.q + ball->q, moved);
    angular_velocity(moved, rate, w);
    for (int i = 0; i < 3; i++)
        v[index[i]] = w[i];
}

SUPPLE_ROOM(Posture, sample_room)

/* A sample at a share x of the step */
static void interpolate(Sim *z, const Drive *d, double h, double x, const Posture *end, const Turn *turns, double *to)
{
    Posture *here = sample_room();
    real *q = here->q, *v = here->v, effort[AT_LEAST_ONE(N_TAU)], f[AT_LEAST_ONE(N_FREE)];
    dependent_between(z, h, x, end, q, v);
    if (collocates(z)) {
        real place[AT_LEAST_ONE(N_FREE)], rate[AT_LEAST_ONE(N_FREE)];
        collocation_between(z, h, x, end, place, rate, f);
        for (int i = 0; i < N_FREE; i++)
            if (z->chosen.free_q[i] >= 0) {
                q[z->chosen.free_q[i]] = z->now.q[z->chosen.free_q[i]] + place[i];
                v[z->chosen.free_v[i]] = rate[i];
            }
    } else {
        free_between(z, h, x, end, q, v);
        if (z->settings.method == GENERALISED_ALPHA && z->factorised_step == h)
            straighten(z, x, end, q, v);
        accelerations_between(z, h, x, end, f);
    }
    for (int k = 0; k < N_BALLS; k++)
        rotation_at(z, k, h, x, end, turns + k, q, v);
    double g[AT_LEAST_ONE(N_GIVEN)], gd[AT_LEAST_ONE(N_GIVEN)];
    const double t = z->t + x * h;
    signals_at(&d->given, t, z->look, g, gd, NULL);
    for (int i = 0; i < N_GIVEN; i++) {
        q[GIVEN_Q[i]] = fill(g[i]);
        v[GIVEN_V[i]] = fill(gd[i]);
    }
    control(z, d, fill(t), here, effort);
    record(z, t, q, v, effort, f, to);
}
