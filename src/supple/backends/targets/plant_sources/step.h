/* A robot that goes on by fixed steps under forces that are held meanwhile. Needs the integrators of `supple simulate`. */
#ifndef PARTS
#define PARTS 64     /* of a step, at most, where Newton's method does not reach its end at once */
#endif
#define FINEST 1024.0 /* the shortest of them */
#define TRIALS 12    /* of a part: with its derivatives and with new ones, whole and in quarters down to the shortest */

typedef struct {
    Sim sim;
    double knots[2], torque[6 * AT_LEAST_ONE(N_TAU)], load[6 * AT_LEAST_ONE(N_W)];
    long long steps; /* since the step changed */
} Plant;

typedef char plant_fits_[sizeof(Plant) <= sizeof(PLANT_TYPE) ? 1 : -1];

static Drive plant_drive(Plant *p)
{
    static const double gravity[3] = MODEL_GRAVITY;
    Drive d;
    memset(&d, 0, sizeof d);
    p->knots[1] = 1e300;
    d.torque = (Signals){1, N_TAU, p->knots, p->torque};
    d.load = (Signals){1, N_W, p->knots, p->load};
    d.gravity = gravity;
    return d;
}

static void plant_settings(Settings *s, double dt)
{
    static const Settings usual = MODEL_SETTINGS;
    static const double tolerances[] = MODEL_TOLERANCES, newton[] = MODEL_NEWTON; /* by method */
    *s = usual;
    s->method = RADAU;
    s->tolerance = tolerances[RADAU];
    s->newton_tolerance = larger(LEAST_NEWTON, 0.01 * newton[RADAU] * s->tolerance);
    s->fixed_step = dt;
    s->largest_step = larger(dt, s->largest_step);
    s->smallest_step = dt / FINEST;
}

int PLANT_NAME(init)(PLANT_TYPE *plant, double dt)
{
    static const Chosen chosen = MODEL_CHOSEN;
    static const double start[] = MODEL_START_Q, hold[] = MODEL_HOLD;
    Plant *p = (Plant *)(void *)plant;
    Sim *z = &p->sim;
    if (!(dt > 0.0) || !(dt <= 1.0))
        return TOO_SMALL;
    memset(plant, 0, sizeof *plant);
    z->live[0] = 1;
    z->chosen = chosen;
    z->reach = MODEL_REACH;
    plant_settings(&z->settings, dt);
    z->scale[0] = z->scale[1] = LEAST_SCALE;
    z->worst_conditioning = 1.0;
    z->step = dt;
    z->samples = 1;
    memcpy(z->now.q, start, N_Q * sizeof(double));
    MODEL_SET_PARAMETERS
    for (int i = 0; i < N_TAU; i++)
        p->torque[6 * i] = hold[i];
    const Drive d = plant_drive(p);
    return supple_start(z, &d);
}

int PLANT_NAME(step)(PLANT_TYPE *plant, const double *tau, double dt)
{
    Plant *p = (Plant *)(void *)plant;
    Sim *z = &p->sim;
    long long recorded;
    if (!(dt > 0.0) || !(dt <= 1.0))
        return TOO_SMALL;
    if (dt != z->settings.fixed_step) {
        plant_settings(&z->settings, dt);
        z->begin = z->t;
        p->steps = 0;
    }
    for (int i = 0; i < N_TAU; i++) {
        if (!(fabs(tau[i]) <= DBL_MAX))
            return NOT_A_NUMBER;
        p->torque[6 * i] = tau[i];
    }
    const Drive d = plant_drive(p);
    int outcome = restart(z, &d, 0);
    if (outcome != FINE)
        return outcome;
    z->step = dt;
    outcome = supple_run(z, &d, z->begin + (double)(p->steps + 1) * dt, PARTS, NULL, 0, &recorded);
    if (outcome != DONE)
        return outcome == YIELDED ? DIVERGED : outcome;
    p->steps++;
    return FINE;
}

long long PLANT_NAME(most_evaluations)(void)
{
    return PARTS * (TRIALS * (STAGES * MOST_ITERATIONS + 2LL * N_FREE + NUDGES + SIDE_BY_SIDE) + 4);
}

long long PLANT_NAME(evaluations)(const PLANT_TYPE *plant)
{
    return ((const Plant *)(const void *)plant)->sim.evaluations;
}

double PLANT_NAME(time)(const PLANT_TYPE *plant) { return ((const Plant *)(const void *)plant)->sim.t; }

void PLANT_NAME(load)(PLANT_TYPE *plant, const double *wrenches)
{
    Plant *p = (Plant *)(void *)plant;
    for (int i = 0; i < N_W; i++)
        p->load[6 * i] = wrenches[i];
    (void)p, (void)wrenches;
}

void PLANT_NAME(state)(const PLANT_TYPE *plant, double *q, double *v)
{
    const Sim *z = &((const Plant *)(const void *)plant)->sim;
    memcpy(q, z->now.q, N_Q * sizeof(double));
    memcpy(v, z->now.v, N_V * sizeof(double));
}

void PLANT_NAME(actuators)(const PLANT_TYPE *plant, double *q, double *v)
{
    const Sim *z = &((const Plant *)(const void *)plant)->sim;
    for (int i = 0; i < N_TAU; i++) {
        q[i] = z->now.q[TAU_Q[i]];
        v[i] = z->now.v[TAU_V[i]];
    }
    (void)z, (void)q, (void)v;
}

void PLANT_NAME(points)(const PLANT_TYPE *plant, double *position, double *velocity)
{
    static const double g[3] = MODEL_GRAVITY;
    const Sim *z = &((const Plant *)(const void *)plant)->sim;
    double a[AT_LEAST_ONE(N_V)], unused[AT_LEAST_ONE(3 * N_POINTS)];
    memset(a, 0, sizeof a);
    model_points(z->now.q, z->now.v, a, g, z->parameters, position, velocity, unused);
}
