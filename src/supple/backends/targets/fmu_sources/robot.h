/* A robot as an FMU has it: values by reference, derivatives of the states, outputs, steps in time. Needs model.h and
 * stepping.h, the integrators of `supple simulate`, before it.
 *
 * The states are the free coordinates and their rates; those of a free ball joint are the rotation vector from its start.
 */
#define N_STATES (2 * N_FREE)
#define FIRST_STEP 1e-4    /* s */
#define MOST_STEPS 2000000 /* in one call */
#define LEAST_SHARE 1e-3   /* of the way, in one attempt */
#define NEARBY 1e-2        /* m or rad */
#define FARTHEST 0.25        /* m or rad: longest way in one attempt, for loops to close as they did */

enum { STALE, MOVING, OBSERVED };
enum { ELSEWHERE, PUSHED, GOING_ON };

typedef struct {
    double value[VALUES]; /* by value reference; the first is time */
    double slope[AT_LEAST_ONE(N_INPUTS)]; /* of the inputs, over the next step */
    double tolerance; /* 0: what suits the method */
    int known;        /* of the present states: STALE nothing, MOVING derivatives, OBSERVED outputs, too */
    int told;         /* new to the integrator: ELSEWHERE states or parameters, PUSHED inputs, GOING_ON nothing */
    Posture at, from; /* of the last states whose loops closed; one nearby, where closing them begins: integrators take
                       * differences of derivatives, which may not depend on what was asked before */
    Sim sim;
} Robot;

/* Inputs over the time from zero, for the integrators: straight lines */
typedef struct {
    Drive drive;
    double knots[2], torque[6 * AT_LEAST_ONE(N_TAU)], load[6 * AT_LEAST_ONE(N_W)];
} Inputs;

static void tell_inputs(Robot *r, double over, Inputs *in)
{
    memset(in, 0, sizeof *in);
    in->knots[1] = over;
    for (int i = 0; i < N_INPUTS; i++) {
        double *c = i < N_TAU ? in->torque + 6 * i : in->load + 6 * MODEL_LOAD[i - N_TAU];
        c[0] = r->value[AT_INPUTS + i];
        c[1] = r->slope[i];
    }
    in->drive.torque = (Signals){1, N_TAU, in->knots, in->torque};
    in->drive.load = (Signals){1, N_W, in->knots, in->load};
    in->drive.gravity = r->value + AT_GRAVITY;
    memcpy(r->sim.parameters, r->value + AT_PARAMETERS, N_P * sizeof(double));
}

static void states_of(const Sim *z, const Posture *p, double *x)
{
    for (int i = 0; i < N_FREE; i++) {
        x[i] = z->chosen.free_q[i] >= 0 ? p->q[z->chosen.free_q[i]] : 0.0;
        x[N_FREE + i] = p->v[z->chosen.free_v[i]];
    }
    for (int k = 0; k < N_BALLS; k++)
        if (z->chosen.balls[k].free >= 0)
            rotation_between(MODEL_ORIGIN + z->chosen.balls[k].q, p->q + z->chosen.balls[k].q, x + z->chosen.balls[k].free);
}

/* Derivatives of the states, reached at once or in steps from a posture nearby; 0 if the loops cannot follow */
static int accelerate(Robot *r)
{
    const double *x = r->value + AT_STATES;
    double *derivative = r->value + AT_DERIVATIVES, last[AT_LEAST_ONE(N_STATES)];
    double s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], way = 0.0;
    Posture reached = r->from, tried;
    Inputs in;
    if (r->known != STALE)
        return 1;
    for (int i = 0; i < N_STATES; i++)
        if (!(fabs(x[i]) <= DBL_MAX))
            return 0;
    tell_inputs(r, 1.0, &in);
    states_of(&r->sim, &reached, last);
    for (int i = 0; i < N_FREE; i++)
        way = larger(way, fabs(x[i] - last[i]));
    const double most = way > FARTHEST && N_DEP > 0 ? larger(FARTHEST / way, LEAST_SHARE) : 1.0;
    for (double done = 0.0, step = most; done < 1.0;) {
        const double share = smaller(1.0, done + step);
        for (int i = 0; i < N_FREE; i++) {
            s[i] = share == 1.0 ? x[i] : last[i] + share * (x[i] - last[i]);
            u[i] = x[N_FREE + i];
        }
        tried = reached;
        if (evaluate(&r->sim, &in.drive, 0.0, MODEL_ORIGIN, s, u, &tried) == FINE) {
            reached = tried;
            done = share;
            step = smaller(2.0 * step, most);
        } else if ((step *= 0.5) < LEAST_SHARE * most)
            return 0;
    }
    r->at = reached;
    if (way > NEARBY)
        r->from = reached;
    memcpy(derivative, reached.free_rate, N_FREE * sizeof(double));
    memcpy(derivative + N_FREE, reached.free_a, N_FREE * sizeof(double));
    r->known = MOVING;
    return 1;
}

/* Outputs, in the order of the value references; 0 if there are none */
static int observe(Robot *r)
{
    const double *p = r->value + AT_PARAMETERS, *g = r->value + AT_GRAVITY;
    double *out = r->value + AT_OUTPUTS, *last = out + N_OBSERVED + N_DEP + 9 * N_POINTS;
    double a[AT_LEAST_ONE(N_V)];
    Inputs in;
    if (!accelerate(r))
        return 0;
    if (r->known == OBSERVED)
        return 1;
    tell_inputs(r, 1.0, &in);
    if (accelerations(&r->sim, &in.drive, 0.0, &r->at, a) != FINE)
        return 0;
    for (int i = 0; i < N_OBSERVED; i++)
        *out++ = r->at.q[MODEL_OBSERVED_Q[i]];
    for (int i = 0; i < N_DEP; i++)
        *out++ = r->at.v[r->sim.chosen.dependent_v[i]];
    model_points(r->at.q, r->at.v, a, g, p, out, out + 3 * N_POINTS, out + 6 * N_POINTS);
    model_energy(r->at.q, r->at.v, a, g, p, last, last + 1);
    last[2] = 0.0;
#if N_DEP > 0
    static SUPPLE_THREAD Loops loops;
    double residual[N_ROW], alignment[AT_LEAST_ONE(N_ALIGNED)];
    model_loops(r->at.q, p, residual, loops.wide, alignment);
    last[2] = size_of_all(residual, N_ROW, r->sim.live);
#endif
    for (out = r->value + AT_OUTPUTS; out < r->value + VALUES; out++)
        if (!(fabs(*out) <= DBL_MAX))
            return 0;
    r->known = OBSERVED;
    return 1;
}

/* Everything as at the beginning */
static void start(Robot *r)
{
    static const Settings settings = MODEL_SETTINGS;
    static const Chosen chosen = MODEL_CHOSEN;
    Sim *z = &r->sim;
    memset(r, 0, sizeof *r);
    memcpy(r->value, MODEL_START, AT_DERIVATIVES * sizeof(double));
    memcpy(r->from.q, MODEL_START_Q, N_Q * sizeof(double));
    z->live[0] = 1;
    z->chosen = chosen;
    z->reach = MODEL_REACH;
    z->settings = settings;
    z->scale[0] = z->scale[1] = z->peak[0] = z->peak[1] = LEAST_SCALE;
    z->samples = 1;
}

/* The integrator at the present states; 0 if the loops are open there */
static int settle(Robot *r)
{
    static const double usual[] = MODEL_TOLERANCES, newton[] = MODEL_NEWTON; /* by method */
    Sim *z = &r->sim;
    if (!accelerate(r))
        return 0;
    z->settings.method = (long long)r->value[AT_METHOD];
    z->settings.tolerance = r->tolerance > 0.0 ? larger(r->tolerance, TIGHTEST) : usual[z->settings.method];
    z->settings.newton_tolerance = larger(LEAST_NEWTON, newton[z->settings.method] * z->settings.tolerance);
    z->step = FIRST_STEP;
    z->now = r->at;
    memcpy(z->start_q, r->at.q, sizeof z->start_q);
    z->contraction = 1.0;
    z->has_jacobian = 0;
    return 1;
}

SUPPLE_LOCAL int is_finite(double x) { return fabs(x) <= DBL_MAX; }

/* Tolerance (if given) and time at the beginning; 0 if they make no sense */
static int set_up(Robot *r, int given, double tolerance, double from)
{
    if (!is_finite(from) || (given && !(tolerance >= 0.0 && is_finite(tolerance))))
        return 0;
    if (given && tolerance > 0.0)
        r->tolerance = tolerance;
    r->value[0] = from;
    return 1;
}

/* Whether a step can be asked for: both times are finite, and it does not go back */
SUPPLE_LOCAL int step_makes_sense(double from, double step) { return is_finite(from) && step >= 0.0 && is_finite(step); }

/* The states after a time; 0, and nothing is changed, if that fails */
static int integrate(Robot *r, double step)
{
    Sim *z = &r->sim;
    Inputs in;
    long long recorded;
    int driven = 0;
    for (int i = 0; i < N_INPUTS; i++)
        driven |= r->slope[i] != 0.0;
    if (r->told == ELSEWHERE && !settle(r))
        return 0;
    tell_inputs(r, step, &in);
    z->t = 0.0;
    int outcome = r->told != GOING_ON || driven ? restart(z, &in.drive, 0) : FINE;
    if (outcome == FINE)
        outcome = supple_run(z, &in.drive, step, MOST_STEPS, NULL, 0, &recorded);
    if (outcome != DONE) {
        r->told = ELSEWHERE;
        return 0;
    }
    for (int i = 0; i < N_INPUTS; i++)
        r->value[AT_INPUTS + i] += r->slope[i] * step;
    memset(r->slope, 0, sizeof r->slope); /* said anew for every step */
    states_of(z, &z->now, r->value + AT_STATES);
    r->value[0] += step;
    r->from = z->now;
    r->told = driven ? PUSHED : GOING_ON;
    r->known = STALE;
    return 1;
}

/* Whether the robot file lets a parameter be a number: MODEL_SIGN 1 not below zero, 2 above zero */
SUPPLE_LOCAL int may_be(unsigned reference, double value)
{
    if (reference < AT_PARAMETERS || reference >= AT_PARAMETERS + N_P)
        return 1;
    const int sign = MODEL_SIGN[reference - AT_PARAMETERS];
    return sign == 0 || value > 0.0 || (sign == 1 && value == 0.0);
}

/* A value that may be set; 0 if it may not */
static int assign(Robot *r, unsigned reference, double value)
{
    if (reference < AT_INPUTS || reference >= AT_DERIVATIVES || !is_finite(value) || !may_be(reference, value))
        return 0;
    if (reference == AT_METHOD && value != RADAU && value != GAUSS && value != DORMAND_PRINCE && value != GENERALISED_ALPHA)
        return 0;
    if (r->value[reference] != value) {
        r->known = STALE;
        if (reference >= AT_INPUTS + N_INPUTS)
            r->told = ELSEWHERE;
        else if (r->told == GOING_ON)
            r->told = PUSHED;
    }
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
