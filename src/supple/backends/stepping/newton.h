/* What the methods share: the scale of errors, derivatives of the accelerations by differences, power. */

#define POWERED const real *restrict q, const real *restrict v, const real *restrict tau, const real *restrict w, \
                const real *restrict p, real *restrict power
#define FADING 0.98 /* of the scales of accelerations and rates, from step to step */
#define FLOOR 0.03  /* least scale, relative to the peak so far */

/* x becomes the solution of the sieve's matrix */
SUPPLE_LOCAL void sieve_once(const Sim *z, real *x)
{
#if N_FREE <= SMALL
    multiply(z->sieve, x);
#else
    solve(z->sieve, z->sieve_pivot, N_FREE, x);
#endif
}

/* x without what is faster than the cutoff: a vibration f times as fast keeps 1 / (1 + f^2)^2 of it */
SUPPLE_LOCAL void sift(Sim *z, real *x)
{
    const int known = z->has_jacobian || z->factorised_step > 0.0; /* those that are due to be renewed still serve */
    if (!(z->settings.cutoff > 0.0) || !known || N_FREE == 0)
        return;
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z)) {
        limb_sift(z, x);
        return;
    }
#endif
    for (int k = 0; k < 2; k++)
        sieve_once(z, x);
}

/* lengths and angles as they show at the end of an arm: the larger of the two counts for both */
SUPPLE_LOCAL void even_out(const Sim *z, double *x)
{
    x[0] = larger(x[0], z->reach * x[1]);
    x[1] = x[0] / z->reach;
}

/* The largest of the free accelerations f, of lengths and of angles */
SUPPLE_LOCAL void largest_of(const Sim *z, const real *f, double *now)
{
    now[0] = now[1] = 0.0;
    for (int i = 0; i < N_FREE; i++)
        now[z->chosen.free_unit[i]] = larger(now[z->chosen.free_unit[i]], size_of(f[i], z->live));
    even_out(z, now);
}

/* What errors are relative to, of lengths and of angles: accelerations, rates and displacements of free and given
 * coordinates. Accelerations and rates are those of late, which fade; without what is above the cutoff. */
static void note_scale(Sim *z, const Drive *d, double t, const Posture *p)
{
    double x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)], now[2], rate[2] = {0};
    largest_of(z, p->free_a, now);
    if (collocates(z) && (now[0] > FADING * z->scale[0] || now[1] > FADING * z->scale[1])) { /* else it does not matter */
        real f[AT_LEAST_ONE(N_FREE)];
        memcpy(f, p->free_a, sizeof f);
        sift(z, f);
        largest_of(z, f, now);
    }
    for (int i = 0; i < N_FREE; i++) {
        const int unit = z->chosen.free_unit[i], k = z->chosen.free_q[i];
        rate[unit] = larger(rate[unit], size_of(p->v[z->chosen.free_v[i]], z->live));
        if (k >= 0)
            z->travel[unit] = larger(z->travel[unit], size_of(p->q[k] - z->start_q[k], z->live));
    }
    signals_at(&d->given, t, z->look, x, xd, xdd);
    for (int i = 0; i < N_GIVEN; i++) {
        const int unit = GIVEN_UNIT[i];
        now[unit] = larger(now[unit], fabs(xdd[i]));
        rate[unit] = larger(rate[unit], fabs(xd[i]));
        z->travel[unit] = larger(z->travel[unit], size_of(fill(x[i]) - z->start_q[GIVEN_Q[i]], z->live));
    }
    even_out(z, now);
    even_out(z, rate);
    even_out(z, z->travel);
    for (int unit = 0; unit < 2; unit++) {
        z->peak[unit] = larger(z->peak[unit], now[unit]);
        z->rate_scale[unit] = larger(rate[unit], FADING * z->rate_scale[unit]);
        const double least = larger(FLOOR * z->peak[unit], z->rounding[unit]);
        z->scale[unit] = larger(larger(now[unit], least), (collocates(z) ? FADING : 1.0) * z->scale[unit]);
    }
}

/* the largest of n accelerations, relative to their scale */
static double measure(const Sim *z, const real *x)
{
    const double by[2] = {1.0 / z->scale[0], 1.0 / z->scale[1]};
    double largest = 0.0;
    for (int i = 0; i < N_FREE; i++)
        largest = larger(largest, size_of(x[i], z->live) * by[z->chosen.free_unit[i]]);
    return largest;
}

#define ROUNDING 30.0
#define ELSEWHERE_BY 0.1 /* rad, m: derivatives are taken anew */
#define ROUNDED_OFF 0.3
#define LIMB_DEAR 4
#define ROUNDED 1e-7 /* corrections below this that no longer shrink are rounding */

/* The first columns of Fx and Fv at the start of a step; beyond them, what nudges forth and back leave is added to `left` */
static int derive(Sim *z, const Drive *d, int columns, real *left)
{
    static SUPPLE_THREAD real found[SIDE_BY_SIDE][AT_LEAST_ONE(N_FREE)], here[AT_LEAST_ONE(N_FREE)];
    const double kept = z->look;
    z->look = 1e-11 * (1.0 + fabs(z->t));
    int outcome = FINE, count;
    for (int first = -1; first < columns && outcome == FINE; first += count) {
        outcome = some_columns(z, d, first, found, &count);
        if (first < 0) /* those of the model: the ones of a step are balanced to a tolerance only */
            memcpy(here, found[0], sizeof here);
        for (int k = first < 0; k < count && first + k < columns; k++) {
            const int j = first + k;
            real *column = j < N_FREE ? z->a_by_x + j * N_FREE : z->a_by_v + (j - N_FREE) * N_FREE;
            for (int i = 0; i < N_FREE && j < 2 * N_FREE; i++)
                column[i] = (found[k][i] - here[i]) / (j < N_FREE ? STEP_X : STEP_V);
            for (int i = 0; i < N_FREE && j >= 2 * N_FREE; i++)
                left[i] += found[k][i] - here[i];
        }
    }
    z->look = kept;
    if (outcome == FINE) {
        memcpy(z->jacobian_q, z->now.q, sizeof z->jacobian_q);
        z->jacobians++;
        z->has_jacobian = z->jacobian_is_fresh = 1;
    }
    return outcome;
}

#if LIMBS > 0 && SUPPLE_LANES == 1
/* What errors and corrections that are rounding are told by: sizes of the accelerations' rounding */
static int limb_noise(Sim *z, const Drive *d)
{
    static SUPPLE_THREAD real found[SIDE_BY_SIDE + NUDGES][N_FREE];
    Forced_real f;
    double turns[N_V];
    int count = 0, outcome = FINE;
    for (int k = 0; k <= NUDGES && outcome == FINE; k += count) /* nudged forth and back, and the present */
        outcome = some_columns(z, d, k < NUDGES ? 2 * N_FREE + k : -1, found + k, &count);
    z->noise[0] = z->noise[1] = 0.0;
    for (int i = 0; i < N_FREE && outcome == FINE; i++) {
        double *noise = z->noise + z->chosen.free_unit[i];
        *noise = larger(*noise, fabs(found[0][i] + found[1][i] - 2.0 * found[2][i]));
    }
    memset(turns, 0, sizeof turns);
    memset(f.f, 0, sizeof f.f);
    for (int i = 0; i < N_FREE; i++)
        if (z->chosen.free_q[i] >= 0)
            turns[z->chosen.free_v[i]] = DBL_EPSILON * fabs(z->now.q[z->chosen.free_q[i]]);
    less_stiffness_real(z->limb_stiff, turns, f.f);
    limb_solve_real(z, LIMB_MASS, &f);
    for (int i = 0; i < N_FREE; i++) {
        double *least = z->rounding + z->chosen.free_unit[i], *scale = z->scale + z->chosen.free_unit[i];
        *least = larger(*least, ROUNDED_OFF * fabs(f.f[z->chosen.free_v[i]]) / z->settings.tolerance);
        *scale = larger(*scale, *least);
    }
    return outcome;
}

/* What a controller that acts at every moment makes of joints: springs and dampers, where its forces have no limit or are
 * below it */
static void take_gains(Sim *z, const Drive *d)
{
    memset(z->joint_gain, 0, sizeof z->joint_gain);
    if (d->controller != PID || d->sample_time > 0.0)
        return;
    for (int i = 0; i < N_TAU; i++) {
        const double *gain = d->gains + 4 * i;
        if (!(gain[3] > 0.0) || fabs(z->now.effort[i]) < gain[3])
            for (int k = 0; k < 2; k++)
                z->joint_gain[k][TAU_V[i]] = gain[k];
    }
}

/* The same as `differentiate`, body by body */
static int limb_differentiate(Sim *z, const Drive *d)
{
    const double kept = z->look;
    take_gains(z, d);
    if (!take_mass(z))
        return ILL_POSED;
    z->look = 1e-11 * (1.0 + fabs(z->t));
    const int outcome = limb_noise(z, d);
    z->look = kept;
    if (outcome != FINE)
        return outcome;
    memcpy(z->jacobian_q, z->now.q, sizeof z->jacobian_q);
    z->jacobians++;
    z->has_jacobian = z->jacobian_is_fresh = 1;
    z->factorised_step = 0.0;
    return FINE;
}
#endif

/* Fx and Fv, and what follows from them */
static int differentiate(Sim *z, const Drive *d)
{
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z))
        return limb_differentiate(z, d);
#endif
    real left[AT_LEAST_ONE(N_FREE)];
    memset(left, 0, sizeof left);
    const int outcome = derive(z, d, 2 * N_FREE + NUDGES, left);
    if (outcome != FINE)
        return outcome;
    z->noise[0] = z->noise[1] = 0.0;
    for (int i = 0; i < N_FREE; i++)
        z->noise[z->chosen.free_unit[i]] = larger(z->noise[z->chosen.free_unit[i]], size_of(left[i], z->live));
    for (int i = 0; i < N_FREE; i++) { /* no error can be smaller than what rounding of positions makes of accelerations */
        double noise = 0.0;
        for (int j = 0; j < N_FREE; j++)
            if (z->chosen.free_q[j] >= 0)
                noise += DBL_EPSILON * size_of(z->a_by_x[j * N_FREE + i] * z->now.q[z->chosen.free_q[j]], z->live);
        double *least = z->rounding + z->chosen.free_unit[i];
        *least = larger(*least, (collocates(z) ? ROUNDED_OFF : ROUNDING) * noise / z->settings.tolerance);
        z->scale[z->chosen.free_unit[i]] = larger(z->scale[z->chosen.free_unit[i]], *least);
    }
    for (int i = 0; z->settings.cutoff > 0.0 && i < N_FREE * N_FREE; i++)
        z->sieve[i] = fill(i % (N_FREE + 1) == 0) - z->a_by_x[i] / (z->settings.cutoff * z->settings.cutoff);
    if (z->settings.cutoff > 0.0 && N_FREE > 0 && !(factorise(z->sieve, z->sieve_pivot, N_FREE, z->live) > 0.0))
        z->settings.cutoff = 0.0;
#if N_FREE <= SMALL
    if (z->settings.cutoff > 0.0 && N_FREE > 0)
        invert(z->sieve, z->sieve_pivot);
#endif
    z->factorised_step = 0.0;
    return FINE;
}

/* sum of products of the accelerations of some stages, relative to their scale */
SUPPLE_LOCAL real product(const Sim *z, int stages, const real *x, const real *y)
{
    const double weight[2] = {1.0 / (z->scale[0] * z->scale[0]), 1.0 / (z->scale[1] * z->scale[1])};
    real sum = fill(0);
    for (int i = 0; i < N_FREE; i++)
        for (int p = 0; p < stages; p++)
            sum += weight[z->chosen.free_unit[i]] * x[p * N_FREE + i] * y[p * N_FREE + i];
    return sum;
}

/* Broyden's method (the good one): what corrections taught of the matrix since it was factorised improves the next ones.
 * x: the correction of some stages that the factors ask for; last: that of the iteration before, or NULL */
static SUPPLE_WIDE void improve(Sim *z, int stages, const real *last, real *x)
{
    for (int k = 0; k < z->n_broyden; k++) {
        const real share = product(z, stages, z->broyden[k][0], x);
        for (int i = 0; i < stages * N_FREE; i++)
            x[i] += z->broyden[k][1][i] * share;
    }
    if (!last)
        return;
    const real whole = product(z, stages, last, last), left = product(z, stages, last, x), gone = whole - left;
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (z->live[l] && !(SUPPLE_LANE(gone, l) > 0.05 * SUPPLE_LANE(whole, l)))
            return;
    if (size_of(product(z, stages, x, x) / whole, z->live) < 0.01)
        return; /* nothing to learn */
    if (z->n_broyden == BROYDEN_PAIRS)
        z->n_broyden = 0;
    memcpy(z->broyden[z->n_broyden][0], last, stages * N_FREE * sizeof(real));
    for (int i = 0; i < stages * N_FREE; i++) {
        z->broyden[z->n_broyden][1][i] = x[i] / gone;
        x[i] *= whole / gone;
    }
    z->n_broyden++;
}

/* Evaluations that better derivatives would have saved: once they cost as much as new ones, new ones it is. Lanes do as many
 * columns at once as stages, which other methods do not have */
static void spend(Sim *z, int evaluations)
{
    z->wasted_evaluations = z->jacobian_is_fresh ? 0 : z->wasted_evaluations + (evaluations > 0 ? evaluations : 0);
    const int dear = by_limbs(z) ? LIMB_DEAR : at_once && !collocates(z) ? N_FREE / 4 : N_FREE;
    if (z->wasted_evaluations > dear) {
        z->has_jacobian = 0;
        z->wasted_evaluations = 0;
    }
}

/* Derivatives also say what is above the cutoff: they may not be those of another pose */
SUPPLE_LOCAL void refresh(Sim *z)
{
    for (int i = 0; i < N_Q && z->has_jacobian; i++)
        if (size_of(z->now.q[i] - z->jacobian_q[i], z->live) > ELSEWHERE_BY)
            z->has_jacobian = 0;
}

/* A guess of the dependent coordinates after a time h. Accelerations of a new start may be of what dies away soon */
static void foresee(const Sim *z, double h, Posture *p)
{
    const double bend = collocates(z) && z->starts_anew ? 0.0 : 0.5 * h;
    memcpy(p->q, z->now.q, sizeof p->q);
    for (int i = 0; i < N_DEP; i++) {
        const int k = z->chosen.dependent_q[i], w = z->chosen.dependent_v[i];
        if (k >= 0)
            p->q[k] += h * (z->now.v[w] + bend * z->a[w]);
    }
    for (int k = 0; k < N_BALLS; k++)
        if (z->chosen.balls[k].dependent >= 0) {
            real s[3];
            for (int i = 0; i < 3; i++) {
                const int at = z->chosen.dependent_v[z->chosen.balls[k].dependent + i];
                s[i] = h * (z->now.v[at] + bend * z->a[at]);
            }
            turn(p->q + z->chosen.balls[k].q, z->now.q + z->chosen.balls[k].q, s);
        }
}

/* Power put in by actuators and loads less what is dissipated */
SUPPLE_LOCAL real power_by(void (*power)(POWERED), Sim *z, const Drive *d, double t, const Posture *p)
{
    real tau[AT_LEAST_ONE(N_DRIVEN)], wrench[AT_LEAST_ONE(N_W)], found[1];
    wrench_at(z, d, fill(t), wrench);
    for (int i = 0; i < N_GIVEN; i++)
        tau[i] = p->given_effort[i];
    for (int i = 0; i < N_TAU; i++)
        tau[N_GIVEN + i] = p->effort[i];
    power(p->q, p->v, tau, wrench, z->parameters, found);
    return found[0];
}

SUPPLE_LOCAL real power_of(Sim *z, const Drive *d, double t, const Posture *p) { return power_by(model_power, z, d, t, p); }

#if defined(LIMB_DAMPING) && SUPPLE_LANES == 1
/* The same but for further damping */
SUPPLE_LOCAL real power_but(Sim *z, const Drive *d, double t, const Posture *p)
{
    return power_by(LIMB_POWER, z, d, t, p);
}
#endif
