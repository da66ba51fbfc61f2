/* The robot as a system of second order in its free coordinates: loops closed, rates, accelerations.
 *
 * Coordinates of the tree are given (prescribed by a motion), free (integrated) or dependent (they follow from the
 * loops). Spherical joints are free or dependent as a whole; their displacements are rotation vectors.
 */
#ifdef __GNUC__
#define SUPPLE_THREAD __thread
#else
#define SUPPLE_THREAD _Thread_local
#endif
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)
#define CLOSED 1e-11 /* m or rad: loops are closed */
#define NEAR 1e-6    /* one more step of Newton's method from here reaches rounding */
#define REACH 0.6    /* m or rad: longest step of Newton's method */

enum { FINE, DONE, FULL, YIELDED, OPEN_LOOPS, ILL_POSED, DIVERGED, NOT_A_NUMBER, TOO_SMALL, INACCURATE };

/* Signals over time: piecewise quintic polynomials, `channels` of them on common knots */
typedef struct {
    long long pieces, channels;
    const double *knots, *coefficients;
} Signals;

typedef struct {
    Signals given, reference, torque, load;
    const double *gravity;    /* 3 */
    const double *breaks;     /* times at which steps end and start anew */
    long long n_breaks;
    const double *gains;      /* kp, kd, ki, limit of each controlled actuator */
    double sample, delay;     /* of the controller, s; no sample: continuous */
    long long control;        /* 0 none, 1 PID, 2 computed torque */
} Drive;

/* A posture in motion */
typedef struct {
    real q[AT_LEAST_ONE(N_Q)], v[AT_LEAST_ONE(N_V)];
    real f[AT_LEAST_ONE(N_FREE)];     /* accelerations of the free coordinates */
    real rate[AT_LEAST_ONE(N_FREE)];  /* of their displacements: v itself but for spherical joints */
    real tau[AT_LEAST_ONE(N_GIVEN)];  /* forces of prescribed actuators */
    real effort[AT_LEAST_ONE(N_TAU)]; /* forces of the others */
} Posture;

#define PENDING 64 /* torques of a sampled controller that wait for their delay */

typedef struct {
    /* settings */
    int live[8];
    long long method;
    double tolerance, newton, fixed_step, largest_step, smallest_step, rho, every, cutoff;
    /* tables */
    int free_v[AT_LEAST_ONE(N_FREE)], free_q[AT_LEAST_ONE(N_FREE)], dep_v[AT_LEAST_ONE(N_DEP)], dep_q[AT_LEAST_ONE(N_DEP)];
    int free_unit[AT_LEAST_ONE(N_FREE)], row[AT_LEAST_ONE(N_DEP)];
    int turning[AT_LEAST_ONE(N_TURNING)][3]; /* place in q, place among free or -1, place among dependent or -1 */
    /* state */
    double t, h, h_last, look, begin, scale[2], peak;
    long long samples; /* recorded so far */
    int restart, recent, calm, jacobians_tried, guessed;
    long long rows_ahead; /* of the recorder that must be free before a step is tried */
    Posture now, guess;
    real a[AT_LEAST_ONE(N_V)], like[AT_LEAST_ONE(N_FREE)], before[AT_LEAST_ONE(N_FREE)], jerk[AT_LEAST_ONE(N_FREE)];
    real parameters[AT_LEAST_ONE(N_P)];
    real work, power, step_work; /* done on the robot less what it dissipated, J; its rate; that of the step tried */
    /* controller */
    real effort[AT_LEAST_ONE(N_TAU)], integral[AT_LEAST_ONE(N_TAU)], waiting[PENDING][AT_LEAST_ONE(N_TAU)];
    double waiting_until[PENDING], tick;
    long long ticks;
    int n_waiting;
    real control_q[AT_LEAST_ONE(N_CQ)];
    /* Newton's method */
    real Fx[AT_LEAST_ONE(N_FREE * N_FREE)], Fv[AT_LEAST_ONE(N_FREE * N_FREE)];
    int have_jacobian, fresh, wasted;
    real sieve[AT_LEAST_ONE(N_FREE * N_FREE)]; /* I - Fx / cutoff^2, factorised */
    int sieve_pivot[AT_LEAST_ONE(N_FREE)];
    double factorised_for, contraction;
    real stage[AT_LEAST_ONE(STAGES * N_FREE)];
    int have_stages;
    int pivot[AT_LEAST_ONE(STAGES * N_FREE)];
    real matrix[AT_LEAST_ONE(STAGES * N_FREE * STAGES * N_FREE)];
    /* account */
    long long steps, rejected, evaluations, iterations, jacobians;
    double conditioning, worst_conditioning, least_conditioning;
} Sim;

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

/* Rotations ------------------------------------------------------------------------------------------------------- */

/* sin(x/2)/x and cos(x/2) of x^2, x small enough for one step */
SUPPLE_LOCAL void half_angle(real square, real *sine, real *cosine)
{
    const real angle = supple_sqrt(square);
    real s, c;
    supple_sincos(num(0.5) * angle, &s, &c);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const supple_scalar x = SUPPLE_LANE(angle, l);
        SUPPLE_LANE(s, l) = x > 1e-6 ? SUPPLE_LANE(s, l) / x : 0.5 - x * x / 48.0;
    }
    *sine = s;
    *cosine = c;
}

/* to = from turned by a rotation vector of its own axes, of unit length */
static void turn(real *to, const real *from, const real *s)
{
    real f, w;
    half_angle(s[0] * s[0] + s[1] * s[1] + s[2] * s[2], &f, &w);
    const real x = f * s[0], y = f * s[1], z = f * s[2];
    const real a = from[0] * w - from[1] * x - from[2] * y - from[3] * z;
    const real b = from[0] * x + from[1] * w + from[2] * z - from[3] * y;
    const real c = from[0] * y - from[1] * z + from[2] * w + from[3] * x;
    const real d = from[0] * z + from[1] * y - from[2] * x + from[3] * w;
    const real shrink = num(1) / supple_sqrt(a * a + b * b + c * c + d * d);
    to[0] = a * shrink;
    to[1] = b * shrink;
    to[2] = c * shrink;
    to[3] = d * shrink;
}

/* rate of the rotation vector s whose rotation turns with the angular velocity w (of the turned axes) */
static void rotation_rate(const real *s, const real *w, real *rate)
{
    const real square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    real f, c, k;
    half_angle(square, &f, &c);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const supple_scalar x2 = SUPPLE_LANE(square, l);
        SUPPLE_LANE(k, l) = x2 > 1e-4 ? (1.0 - 0.5 * SUPPLE_LANE(c, l) / SUPPLE_LANE(f, l)) / x2 : 1.0 / 12.0 + x2 / 720.0;
    }
    const real cx = s[1] * w[2] - s[2] * w[1], cy = s[2] * w[0] - s[0] * w[2], cz = s[0] * w[1] - s[1] * w[0];
    rate[0] = w[0] + num(0.5) * cx + k * (s[1] * cz - s[2] * cy);
    rate[1] = w[1] + num(0.5) * cy + k * (s[2] * cx - s[0] * cz);
    rate[2] = w[2] + num(0.5) * cz + k * (s[0] * cy - s[1] * cx);
}

/* the inverse: angular velocity of the turned axes from the rate of the rotation vector */
static void angular_velocity(const real *s, const real *rate, real *w)
{
    const real square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    real a, b;
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const double x2 = SUPPLE_LANE(square, l), x = sqrt(x2);
        SUPPLE_LANE(a, l) = x2 > 1e-4 ? (1.0 - cos(x)) / x2 : 0.5 - x2 / 24.0;
        SUPPLE_LANE(b, l) = x2 > 1e-4 ? (x - sin(x)) / (x2 * x) : 1.0 / 6.0 - x2 / 120.0;
    }
    const real cx = s[1] * rate[2] - s[2] * rate[1], cy = s[2] * rate[0] - s[0] * rate[2], cz = s[0] * rate[1] - s[1] * rate[0];
    w[0] = rate[0] - a * cx + b * (s[1] * cz - s[2] * cy);
    w[1] = rate[1] - a * cy + b * (s[2] * cx - s[0] * cz);
    w[2] = rate[2] - a * cz + b * (s[0] * cy - s[1] * cx);
}

/* Loops ----------------------------------------------------------------------------------------------------------- */

/* What closes the loops of one tree: the robot's, or that of the rigid robot a controller computes with */
typedef struct {
    int nq, nv, dependent, rows, columns, aligned, turning; /* columns of the Jacobians: `dependent` or `nv` */
    void (*loops)(const real *q, const real *p, real *residual, real *gradient, real *alignment);
    void (*rates)(const real *q, const real *v, const real *p, real *velocity, real *jacobian);
} Tree;

typedef struct {
    real wide[AT_LEAST_ONE(MOST_ROWS * MOST_COLUMNS)], square[AT_LEAST_ONE(MOST_DEP * MOST_DEP)]; /* J, and its LU factors */
    int pivot[AT_LEAST_ONE(MOST_DEP)];
} Loops;

/* Which equations and coordinates: as many independent rows as there are dependent coordinates */
typedef struct {
    const int *row, *dep_v, *dep_q;
    const int (*turning)[3];
} Choice;

/* the chosen rows of the dependent coordinates' columns */
SUPPLE_LOCAL void pick(const Tree *tree, const Choice *by, const real *wide, real *square)
{
    const int n = tree->dependent;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            square[i * n + j] = wide[by->row[i] * tree->columns + (tree->columns == n ? j : by->dep_v[j])];
}

SUPPLE_LOCAL void move_dependent(const Tree *tree, const Choice *by, real *q, const real *step, double share)
{
    for (int i = 0; i < tree->dependent; i++)
        if (by->dep_q[i] >= 0)
            q[by->dep_q[i]] -= share * step[i];
    for (int k = 0; k < tree->turning; k++)
        if (by->turning[k][2] >= 0) {
            const real *s = step + by->turning[k][2];
            const real back[3] = {-share * s[0], -share * s[1], -share * s[2]};
            real *p = q + by->turning[k][0], turned[4];
            turn(turned, p, back);
            memcpy(p, turned, sizeof turned);
        }
}

/* Newton's method on the dependent coordinates of q; how it ended */
SUPPLE_LOCAL int close_loops(const Tree *tree, const Choice *by, const real *parameters, const int *live, real *q, Loops *work)
{
    const int n = tree->dependent;
    real residual[AT_LEAST_ONE(MOST_ROWS)], alignment[AT_LEAST_ONE(MOST_ALIGNED)], step[AT_LEAST_ONE(MOST_DEP)];
    real before[AT_LEAST_ONE(MOST_Q)];
    tree->loops(q, parameters, residual, work->wide, alignment);
    double error = size_of_all(residual, tree->rows, live);
    for (int iteration = 0; iteration < 25; iteration++) {
        if (!(error < HUGE_VAL))
            return OPEN_LOOPS;
        if (error < CLOSED && iteration > 0)
            break;
        pick(tree, by, work->wide, work->square);
        if (!(factorise(work->square, work->pivot, n, live) > 0.0))
            return OPEN_LOOPS;
        for (int i = 0; i < n; i++)
            step[i] = residual[by->row[i]];
        solve(work->square, work->pivot, n, step);
        const double longest = size_of_all(step, n, live);
        double share = longest > REACH ? REACH / longest : 1.0, trial = HUGE_VAL;
        if (error < NEAR && longest < 1e2 * NEAR) {
            move_dependent(tree, by, q, step, 1.0);
            break; /* what is left is the square of that */
        }
        memcpy(before, q, tree->nq * sizeof(real));
        for (int halving = 0; halving < 8 && !(trial < error); halving++, share *= 0.5) {
            memcpy(q, before, tree->nq * sizeof(real));
            move_dependent(tree, by, q, step, share);
            tree->loops(q, parameters, residual, work->wide, alignment);
            trial = size_of_all(residual, tree->rows, live);
        }
        if (!(trial < error))
            return OPEN_LOOPS;
        error = trial;
    }
    for (int i = 0; i < tree->aligned; i++)
        for (int l = 0; l < SUPPLE_LANES; l++)
            if (live[l] && !(SUPPLE_LANE(alignment[i], l) > 0.0))
                return OPEN_LOOPS;
    return error < NEAR ? FINE : OPEN_LOOPS;
}

/* Rates of the dependent coordinates in v, where they are zero before; how well posed they are */
SUPPLE_LOCAL double follow(const Tree *tree, const Choice *by, const real *parameters, const int *live, const real *q, real *v,
                           Loops *work)
{
    real all[AT_LEAST_ONE(MOST_ROWS)], velocity[AT_LEAST_ONE(MOST_DEP)];
    tree->rates(q, v, parameters, all, work->wide);
    for (int i = 0; i < tree->dependent; i++)
        velocity[i] = all[by->row[i]];
    pick(tree, by, work->wide, work->square);
    const double conditioning = factorise(work->square, work->pivot, tree->dependent, live);
    if (conditioning > 0.0) {
        solve(work->square, work->pivot, tree->dependent, velocity);
        for (int i = 0; i < tree->dependent; i++)
            v[by->dep_v[i]] = -velocity[i];
    }
    return conditioning;
}

#if N_DEP > 0
static const Tree ROBOT = {N_Q, N_V, N_DEP, N_ROW, J_COLUMNS, N_ALIGNED, N_TURNING, model_loops, model_rates};
#endif

SUPPLE_LOCAL Choice choice_of(const Sim *z) { return (Choice){z->row, z->dep_v, z->dep_q, (const int (*)[3])z->turning}; }

#ifdef DENSE
static int dense(Sim *z, Posture *p, const real *given, const real *g, const real *wrench, Loops *loops);
#endif

/* Motion ---------------------------------------------------------------------------------------------------------- */

static void control(Sim *z, const Drive *d, double t, const Posture *p, real *effort);

/* q and v of the tree from a displacement s of the free coordinates off `from`, their rates u, and the motion at t, whose
 * accelerations go to a. p->q holds a guess of the dependent ones. */
static int place(Sim *z, const Drive *d, double t, const real *from, const real *s, const real *u, Posture *p, real *a,
                 Loops *loops)
{
    double x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)];
    signals_at(&d->given, t, z->look, x, xd, xdd);
    for (int i = 0; i < N_FREE; i++)
        if (z->free_q[i] >= 0)
            p->q[z->free_q[i]] = from[z->free_q[i]] + s[i];
    for (int k = 0; k < N_TURNING; k++)
        if (z->turning[k][1] >= 0)
            turn(p->q + z->turning[k][0], from + z->turning[k][0], s + z->turning[k][1]);
    for (int i = 0; i < N_GIVEN; i++)
        p->q[GIVEN_Q[i]] = fill(x[i]);
#if N_DEP > 0
    const Choice by = choice_of(z);
    const int closed = close_loops(&ROBOT, &by, z->parameters, z->live, p->q, loops);
    if (closed != FINE)
        return closed;
#endif
    memset(p->v, 0, sizeof p->v);
    memset(a, 0, N_V * sizeof(real));
    for (int i = 0; i < N_FREE; i++)
        p->v[z->free_v[i]] = p->rate[i] = u[i];
    for (int k = 0; k < N_TURNING; k++)
        if (z->turning[k][1] >= 0)
            rotation_rate(s + z->turning[k][1], u + z->turning[k][1], p->rate + z->turning[k][1]);
    for (int i = 0; i < N_GIVEN; i++) {
        p->v[GIVEN_V[i]] = fill(xd[i]);
        a[GIVEN_V[i]] = fill(xdd[i]);
    }
#if N_DEP > 0
    z->conditioning = follow(&ROBOT, &by, z->parameters, z->live, p->q, p->v, loops);
    if (!(z->conditioning > 0.0))
        return ILL_POSED;
#endif
    (void)loops;
    return FINE;
}

/* p of a displacement and rates: place, and p->f, p->tau by the equations of motion; a: the given accelerations */
static int respond(Sim *z, const Drive *d, double t, Posture *p, const real *a, Loops *loops)
{
    real given[AT_LEAST_ONE(N_GIVEN)], wrench[AT_LEAST_ONE(N_W)], g[3];
    double load[AT_LEAST_ONE(N_W)];
    for (int i = 0; i < N_GIVEN; i++)
        given[i] = a[GIVEN_V[i]];
    signals_at(&d->load, t, z->look, load, NULL, NULL);
    for (int i = 0; i < N_W; i++)
        wrench[i] = fill(d->load.channels ? load[i] : 0.0);
    for (int i = 0; i < 3; i++)
        g[i] = fill(d->gravity[i]);
    (void)loops;
#ifdef DENSE
    if (!dense(z, p, a, g, wrench, loops))
        return ILL_POSED;
#else
    model_accelerations(p->q, p->v, given, p->effort, g, wrench, z->parameters, p->f, p->tau);
#endif
    return size_of_all(p->f, N_FREE, z->live) < HUGE_VAL ? FINE : NOT_A_NUMBER;
}

static int evaluate(Sim *z, const Drive *d, double t, const real *from, const real *s, const real *u, Posture *p)
{
    static SUPPLE_THREAD Loops loops;
    real a[AT_LEAST_ONE(N_V)];
    z->evaluations++;
    const int placed = place(z, d, t, from, s, u, p, a, &loops);
    if (placed != FINE)
        return placed;
    control(z, d, t, p, p->effort);
    return respond(z, d, t, p, a, &loops);
}

/* Accelerations of all coordinates in a placed posture: a holds given and free ones, loops what place left there */
static void follow_on(const Sim *z, const Posture *p, real *a, const Loops *loops)
{
#if N_DEP > 0
    real all[N_ROW], pull[N_DEP];
    model_drift(p->q, p->v, a, z->parameters, all);
    for (int i = 0; i < N_DEP; i++)
        pull[i] = all[z->row[i]];
    solve(loops->square, loops->pivot, N_DEP, pull);
    for (int i = 0; i < N_DEP; i++)
        a[z->dep_v[i]] = -pull[i];
#endif
    (void)z, (void)p, (void)a, (void)loops;
}

/* The same in any posture, with the free ones of p */
static int accelerations(Sim *z, const Drive *d, double t, const Posture *p, real *a)
{
    static SUPPLE_THREAD Loops loops;
    double x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)];
    signals_at(&d->given, t, z->look, x, xd, xdd);
    memset(a, 0, N_V * sizeof(real));
    for (int i = 0; i < N_GIVEN; i++)
        a[GIVEN_V[i]] = fill(xdd[i]);
#if N_DEP > 0
    const Choice by = choice_of(z);
    real all[N_ROW];
    model_rates(p->q, p->v, z->parameters, all, loops.wide);
    pick(&ROBOT, &by, loops.wide, loops.square);
    if (!(factorise(loops.square, loops.pivot, N_DEP, z->live) > 0.0))
        return ILL_POSED;
#endif
    for (int i = 0; i < N_FREE; i++)
        a[z->free_v[i]] = p->f[i];
    follow_on(z, p, a, &loops);
    return FINE;
}
