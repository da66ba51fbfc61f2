/* RODAS, a stiffly accurate, L-stable Rosenbrock method of order 4 (Hairer & Wanner, Solving Ordinary Differential
 * Equations II, section IV.7), for y = (x, v) with x' = v and v' = f(t, x, v). Needs robot.h before it.
 *
 * With 1/(h gamma) = c, A = df/dx and B = df/dv, each stage solves (c I - B - A/c) u_v = r_v + A r_x / c, of half the size.
 */
#define GAMMA 0.25
#define SMALLEST_STEP 1e-12 /* s */
#define MOST_STEPS 2000000  /* in one call */

typedef struct {
    double A[AT_LEAST_ONE(N_INDEPENDENT * N_INDEPENDENT)], B[AT_LEAST_ONE(N_INDEPENDENT * N_INDEPENDENT)];
    double lu[AT_LEAST_ONE(N_INDEPENDENT * N_INDEPENDENT)];
    int pivot[AT_LEAST_ONE(N_INDEPENDENT)];
    double u[6][AT_LEAST_ONE(N_STATES)];
} Workspace;

static const double RODAS_A[5][4] = {
    {0.0}, {1.544}, {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950}};
static const double RODAS_C[6][5] = {
    {0.0}, {-5.6688}, {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
static const double RODAS_TIME[6] = {0.0, 0.386, 0.21, 0.63, 1.0, 1.0};
static const double RODAS_D[6] = {0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0};

/* f(t, y): accelerations of the independent coordinates */
static int slope_of(Robot *r, double t, const double *y, double *f)
{
    for (int i = 0; i < N_INPUTS; i++)
        r->value[AT_INPUTS + i] = r->held[i] + r->slope[i] * (t - r->since);
    memcpy(r->value + AT_STATES, y, N_STATES * sizeof(double));
    r->value[0] = t;
    r->known = STALE;
    if (!accelerate(r))
        return 0;
    memcpy(f, r->value + AT_DERIVATIVES + N_INDEPENDENT, N_INDEPENDENT * sizeof(double));
    return 1;
}

/* A and B by differences, and df/dt, about y, where f is known */
static int linearise(Robot *r, Workspace *w, double t, double h, const double *y, const double *f, double *f_t)
{
    double moved[AT_LEAST_ONE(N_STATES)], near[AT_LEAST_ONE(N_INDEPENDENT)];
    int driven = 0;
    memcpy(moved, y, sizeof moved);
    for (int j = 0; j < N_STATES; j++) {
        double *m = j < N_INDEPENDENT ? w->A + j : w->B + (j - N_INDEPENDENT);
        const double wanted = sqrt(DBL_EPSILON) * fmax(fabs(y[j]), MODEL_NOMINAL[j]);
        volatile double there = y[j] + wanted;
        const double delta = there - y[j];
        moved[j] = there;
        if (!slope_of(r, t, moved, near))
            return 0;
        moved[j] = y[j];
        for (int i = 0; i < N_INDEPENDENT; i++)
            m[i * N_INDEPENDENT] = (near[i] - f[i]) / delta;
    }
    memset(f_t, 0, N_INDEPENDENT * sizeof(double));
    for (int i = 0; i < N_INPUTS; i++)
        driven |= r->slope[i] != 0.0;
    if (!driven)
        return 1;
    if (!slope_of(r, t + h, y, near)) /* forces enter linearly */
        return 0;
    for (int i = 0; i < N_INDEPENDENT; i++)
        f_t[i] = (near[i] - f[i]) / h;
    return 1;
}

/* u of (c I - J) u = (x, v) */
static void solve_stage(const Workspace *w, double c, double *x, double *v)
{
    for (int i = 0; i < N_INDEPENDENT; i++)
        for (int j = 0; j < N_INDEPENDENT; j++)
            v[i] += w->A[i * N_INDEPENDENT + j] * x[j] / c;
    solve(w->lu, w->pivot, N_INDEPENDENT, v);
    for (int i = 0; i < N_INDEPENDENT; i++)
        x[i] = (x[i] + v[i]) / c;
}

/* The error of a step of h from y to made, 1 being the tolerance; negative if the step cannot be made */
static double attempt(Robot *r, Workspace *w, double t, double h, const double *y, const double *f, const double *f_t,
                      double *made)
{
    const int n = N_INDEPENDENT;
    const double c = 1.0 / (h * GAMMA);
    double now[AT_LEAST_ONE(N_INDEPENDENT)], worst = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w->lu[i * n + j] = (i == j ? c : 0.0) - w->B[i * n + j] - w->A[i * n + j] / c;
    if (!factorise(w->lu, w->pivot, n))
        return -1.0;
    for (int stage = 0; stage < 6; stage++) {
        double *u = w->u[stage];
        if (stage < 5) {
            memcpy(made, y, N_STATES * sizeof(double));
            for (int k = 0; k < stage; k++)
                for (int i = 0; i < N_STATES; i++)
                    made[i] += RODAS_A[stage][k] * w->u[k][i];
        } else
            for (int i = 0; i < N_STATES; i++)
                made[i] += w->u[4][i];
        if (stage == 0)
            memcpy(now, f, sizeof now);
        else if (!slope_of(r, t + RODAS_TIME[stage] * h, made, now))
            return -1.0;
        for (int i = 0; i < n; i++) {
            u[i] = made[n + i];
            u[n + i] = now[i] + h * RODAS_D[stage] * f_t[i];
        }
        for (int k = 0; k < stage; k++)
            for (int i = 0; i < N_STATES; i++)
                u[i] += RODAS_C[stage][k] / h * w->u[k][i];
        solve_stage(w, c, u, u + n);
    }
    for (int i = 0; i < N_STATES; i++) {
        const double size = fmax(MODEL_NOMINAL[i], fmax(fabs(y[i]), fabs(made[i] + w->u[5][i])));
        made[i] += w->u[5][i];
        worst = fmax(worst, fabs(w->u[5][i]) / (r->tolerance * size));
        if (!(fabs(made[i]) <= DBL_MAX))
            return -1.0;
    }
    return worst;
}

/* The states at time `until`, from those now; 0 if the step became too small */
static int integrate(Robot *r, Workspace *w, double until)
{
    double y[AT_LEAST_ONE(N_STATES)], made[AT_LEAST_ONE(N_STATES)];
    double f[AT_LEAST_ONE(N_INDEPENDENT)], f_t[AT_LEAST_ONE(N_INDEPENDENT)];
    double t = r->value[0];
    long steps = 0;
    r->since = t;
    memcpy(r->held, r->value + AT_INPUTS, N_INPUTS * sizeof(double));
    memcpy(y, r->value + AT_STATES, N_STATES * sizeof(double));
    if (!(r->step > 0.0))
        r->step = 1e-5;
    while (until - t > 1e-14 * fmax(1.0, fabs(until))) {
        double h = r->step;
        if (!slope_of(r, t, y, f) || !linearise(r, w, t, fmin(h, until - t), y, f, f_t))
            return 0;
        for (;;) {
            const int whole = h < until - t;
            const double taken = whole ? (2.0 * h > until - t ? 0.5 * (until - t) : h) : until - t;
            const double error = attempt(r, w, t, taken, y, f, f_t, made);
            double factor = error < 0.0 ? 0.25 : 0.9 / sqrt(sqrt(fmax(error, 1e-10)));
            factor = fmin(5.0, fmax(0.17, factor));
            if (++steps > MOST_STEPS || taken < SMALLEST_STEP)
                return 0;
            if (error >= 0.0 && error <= 1.0) {
                t = whole ? t + taken : until;
                /* a step cut by the end of the interval says little about the next */
                r->step = taken < 0.5 * h ? fmax(r->step, taken * factor) : taken * factor;
                break;
            }
            h = taken * fmin(factor, 0.9);
        }
        memcpy(y, made, sizeof y);
    }
    for (int i = 0; i < N_INPUTS; i++)
        r->value[AT_INPUTS + i] = r->held[i] + r->slope[i] * (until - r->since);
    memset(r->slope, 0, sizeof r->slope); /* said anew for every step */
    memcpy(r->value + AT_STATES, y, N_STATES * sizeof(double));
    r->value[0] = until;
    r->known = STALE;
    return accelerate(r);
}
