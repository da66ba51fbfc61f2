/* A robot in motion: loops closed, rates, accelerations, and what is observed. Needs model.h before it.
 *
 * The states are the independent coordinates and their rates. The others follow from the loops: positions by Newton's
 * method from the last closed posture, rates from J v = 0, accelerations from J a + b = 0.
 */
#include <float.h>
#include <stdlib.h>

#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)
#define N_STATES (2 * N_INDEPENDENT)
#define SOLVED 1e-10  /* m or rad: loops are closed */
#define NEAR 1e-9     /* one more step of Newton's method from here reaches rounding */
#define REACH 0.6     /* m or rad: longest step of Newton's method */
#define SINGULAR 1e-13

enum { STALE, MOVING, OBSERVED };

typedef struct {
    double value[VALUES]; /* by value reference; the first is time */
    double q[AT_LEAST_ONE(N_Q)], v[AT_LEAST_ONE(N_V)], a[AT_LEAST_ONE(N_V)];
    double jacobian[AT_LEAST_ONE(N_DEPENDENT * N_DEPENDENT)]; /* factorised */
    int pivot[AT_LEAST_ONE(N_DEPENDENT)];
    double held[AT_LEAST_ONE(N_INPUTS)], slope[AT_LEAST_ONE(N_INPUTS)], since; /* inputs of one step */
    double tolerance, step;
    int known; /* STALE, MOVING (derivatives) or OBSERVED (outputs, too) */
} Robot;

/* Dense algebra -------------------------------------------------------------------------------------------------- */

/* m (n x n, row by row) becomes its LU factors; 0 if it is singular or not finite */
static int factorise(double *m, int *pivot, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n * n; i++) {
        if (!(fabs(m[i]) <= DBL_MAX))
            return 0;
        largest = fmax(largest, fabs(m[i]));
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[best * n + k]))
                best = i;
        pivot[k] = best;
        if (!(fabs(m[best * n + k]) > SINGULAR * largest))
            return 0;
        for (int j = 0; best != k && j < n; j++) {
            const double kept = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = kept;
        }
        for (int i = k + 1; i < n; i++) {
            const double factor = m[i * n + k] /= m[k * n + k];
            for (int j = k + 1; factor != 0.0 && j < n; j++)
                m[i * n + j] -= factor * m[k * n + j];
        }
    }
    return 1;
}

/* b becomes the solution of m x = b */
static void solve(const double *m, const int *pivot, int n, double *b)
{
    for (int k = 0; k < n; k++) {
        const double kept = b[pivot[k]];
        b[pivot[k]] = b[k];
        b[k] = kept;
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= m[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= m[i * n + j] * b[j];
        b[i] /= m[i * n + i];
    }
}

/* Loops ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    double residual[AT_LEAST_ONE(N_DEPENDENT)], gradient[AT_LEAST_ONE(N_DEPENDENT * N_DEPENDENT)];
    double alignment[AT_LEAST_ONE(N_ALIGNED)];
} Loops;

/* How far the loops are open; infinity where that is not a number */
static double opening(const Robot *r, Loops *loops)
{
    double largest = 0.0;
    MODEL_LOOPS(r->q, r->value + AT_PARAMETERS, loops->residual, loops->gradient, loops->alignment);
    for (int i = 0; i < N_DEPENDENT; i++)
        largest = fabs(loops->residual[i]) <= DBL_MAX ? fmax(largest, fabs(loops->residual[i])) : HUGE_VAL;
    return largest;
}

/* q moved by a displacement of the dependent coordinates; quaternions are turned and stay of unit length */
static void retract(double *q, const double *step)
{
    for (int i = 0; i < N_DEPENDENT; i++)
        if (MODEL_DEPENDENT_Q[i] >= 0)
            q[MODEL_DEPENDENT_Q[i]] += step[i];
    for (int k = 0; k < N_TURNING; k++) {
        double *p = q + MODEL_TURNING_Q[k];
        const double *s = step + MODEL_TURNING_V[k];
        const double angle = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
        const double w = cos(0.5 * angle), f = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5;
        const double x = f * s[0], y = f * s[1], z = f * s[2];
        const double a = p[0] * w - p[1] * x - p[2] * y - p[3] * z, b = p[0] * x + p[1] * w + p[2] * z - p[3] * y;
        const double c = p[0] * y - p[1] * z + p[2] * w + p[3] * x, d = p[0] * z + p[1] * y - p[2] * x + p[3] * w;
        const double length = sqrt(a * a + b * b + c * c + d * d);
        p[0] = a / length;
        p[1] = b / length;
        p[2] = c / length;
        p[3] = d / length;
    }
}

/* Newton's method on the dependent coordinates; 0 if the loops do not close or a joint is upside down */
static int close_loops(Robot *r)
{
    Loops loops;
    int pivot[AT_LEAST_ONE(N_DEPENDENT)];
    double error = opening(r, &loops);
    for (int iteration = 0, near = N_DEPENDENT == 0; iteration < 40 && !near; iteration++) {
        double before[AT_LEAST_ONE(N_Q)], longest = 0.0, trial = HUGE_VAL;
        if (error == HUGE_VAL || !factorise(loops.gradient, pivot, N_DEPENDENT))
            return 0;
        solve(loops.gradient, pivot, N_DEPENDENT, loops.residual);
        for (int i = 0; i < N_DEPENDENT; i++)
            longest = fmax(longest, fabs(loops.residual[i]));
        double share = longest > REACH ? REACH / longest : 1.0, step[AT_LEAST_ONE(N_DEPENDENT)];
        double whole[AT_LEAST_ONE(N_DEPENDENT)];
        memcpy(before, r->q, sizeof before);
        memcpy(whole, loops.residual, sizeof whole);
        near = error < NEAR;
        for (int halving = 0; halving < 8 && !(trial < error); halving++, share *= 0.5) {
            for (int i = 0; i < N_DEPENDENT; i++)
                step[i] = -share * whole[i];
            memcpy(r->q, before, sizeof before);
            retract(r->q, step);
            trial = opening(r, &loops);
            if (near)
                break; /* nothing but rounding is left to gain */
        }
        if (!near && !(trial < error))
            return 0;
        error = trial;
    }
    for (int i = 0; i < N_ALIGNED; i++)
        if (!(loops.alignment[i] > 0.0))
            return 0;
    return error < SOLVED;
}

static void place(Robot *r, const double *from, double share)
{
    const double *x = r->value + AT_STATES;
    for (int i = 0; i < N_INDEPENDENT; i++) {
        const int k = MODEL_INDEPENDENT_Q[i];
        r->q[k] = share == 1.0 ? x[i] : from[k] + share * (x[i] - from[k]);
    }
}

/* The posture of the states: at once, else in steps from the last closed posture, which stays if there is none */
static int move(Robot *r)
{
    double from[AT_LEAST_ONE(N_Q)], last[AT_LEAST_ONE(N_Q)];
    for (int i = 0; i < N_STATES; i++)
        if (!(fabs(r->value[AT_STATES + i]) <= DBL_MAX))
            return 0;
    memcpy(from, r->q, sizeof from);
    place(r, from, 1.0);
    if (close_loops(r))
        return 1;
    memcpy(r->q, from, sizeof from);
    memcpy(last, from, sizeof from);
    for (double done = 0.0, step = 0.25; done < 1.0;) {
        const double next = done + step < 1.0 ? done + step : 1.0;
        place(r, from, next);
        if (close_loops(r)) {
            memcpy(last, r->q, sizeof last);
            done = next;
            step *= 2.0;
        } else {
            memcpy(r->q, last, sizeof last);
            step *= 0.5;
            if (step < 1e-3) {
                memcpy(r->q, from, sizeof from);
                return 0;
            }
        }
    }
    return 1;
}

/* Motion --------------------------------------------------------------------------------------------------------- */

/* Derivatives of the states; 0 if the loops cannot follow them */
static int accelerate(Robot *r)
{
    const double *p = r->value + AT_PARAMETERS, *g = r->value + AT_GRAVITY, *x = r->value + AT_STATES;
    double *derivative = r->value + AT_DERIVATIVES;
    double rate[AT_LEAST_ONE(N_DEPENDENT)];
    if (r->known != STALE)
        return 1;
    if (!move(r))
        return 0;
    memset(r->v, 0, sizeof r->v);
    memset(r->a, 0, sizeof r->a);
    for (int i = 0; i < N_INDEPENDENT; i++)
        r->v[MODEL_INDEPENDENT_V[i]] = derivative[i] = x[N_INDEPENDENT + i];
    if (N_DEPENDENT > 0) {
        MODEL_RATES(r->q, r->v, r->a, g, p, rate, r->jacobian);
        if (!factorise(r->jacobian, r->pivot, N_DEPENDENT))
            return 0;
        solve(r->jacobian, r->pivot, N_DEPENDENT, rate);
        for (int i = 0; i < N_DEPENDENT; i++)
            r->v[MODEL_DEPENDENT_V[i]] = -rate[i];
    }
    MODEL_FORWARD(r->q, r->v, r->value + AT_INPUTS, g, p, derivative + N_INDEPENDENT);
    for (int i = 0; i < N_INDEPENDENT; i++) {
        r->a[MODEL_INDEPENDENT_V[i]] = derivative[N_INDEPENDENT + i];
        if (!(fabs(derivative[N_INDEPENDENT + i]) <= DBL_MAX))
            return 0;
    }
    r->known = MOVING;
    return 1;
}

/* Outputs, in the order of the value references */
static int observe(Robot *r)
{
    const double *p = r->value + AT_PARAMETERS, *g = r->value + AT_GRAVITY;
    double *out = r->value + AT_OUTPUTS, *last = out + N_OBSERVED + N_DEPENDENT + 9 * N_POINTS;
    double pull[AT_LEAST_ONE(N_DEPENDENT)];
    Loops loops;
    if (!accelerate(r))
        return 0;
    if (r->known == OBSERVED)
        return 1;
    if (N_DEPENDENT > 0) {
        MODEL_DRIFT(r->q, r->v, r->a, g, p, pull);
        solve(r->jacobian, r->pivot, N_DEPENDENT, pull);
        for (int i = 0; i < N_DEPENDENT; i++)
            r->a[MODEL_DEPENDENT_V[i]] = -pull[i];
    }
    for (int i = 0; i < N_OBSERVED; i++)
        *out++ = r->q[MODEL_OBSERVED_Q[i]];
    for (int i = 0; i < N_DEPENDENT; i++)
        *out++ = r->v[MODEL_DEPENDENT_V[i]];
    if (N_POINTS > 0)
        MODEL_POINTS(r->q, r->v, r->a, g, p, out, out + 3 * N_POINTS, out + 6 * N_POINTS);
    MODEL_ENERGY(r->q, r->v, r->a, g, p, last, last + 1);
    last[2] = opening(r, &loops);
    r->known = OBSERVED;
    return 1;
}

static void start(Robot *r)
{
    const double tolerance = r->tolerance;
    memset(r, 0, sizeof *r);
    memcpy(r->q, MODEL_START_Q, N_Q * sizeof(double));
    memcpy(r->value, MODEL_START, AT_DERIVATIVES * sizeof(double));
    r->tolerance = tolerance;
}

/* A value that may be set; 0 if it may not */
static int assign(Robot *r, unsigned reference, double value)
{
    if (reference < AT_INPUTS || reference >= AT_DERIVATIVES)
        return 0;
    if (r->value[reference] != value)
        r->known = STALE;
    r->value[reference] = value;
    return 1;
}

/* A value by its reference; 0 if there is none */
static int read_value(Robot *r, unsigned reference, double *value)
{
    if (reference >= VALUES || (reference >= AT_DERIVATIVES && !(reference < AT_OUTPUTS ? accelerate(r) : observe(r))))
        return 0;
    *value = r->value[reference];
    return 1;
}
