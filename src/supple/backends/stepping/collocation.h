/* Collocation with three or four stages: Radau IIA (order five or seven, stiff motions die away) and Gauss (order six or eight,
 * symmetric in time).
 *
 * Unknowns are the accelerations F of the stages; positions are s = c h v + h^2 A A F, rates v + h A F. Newton's method is
 * simplified: one Jacobian for all stages, and A brought to blocks by T, so that I - h A Fv - h^2 A A Fx falls into matrices
 * of the size of F itself: a real one, if stages are odd, and a complex one for every pair of eigenvalues.
 */
#define MOST_ITERATIONS 10
#define OFTEN (2 + N_FREE / 2) /* solutions by the same factors, as dear as the inverse */
#define UNSEEN 0.1 /* of a first correction is left at least, as far as one knows before the second */
#define FORESEEN 15.0 /* so from one new start to the next, where steps are alike: times as much as was left of the last one */
#define SLOW 0.15 /* of the first correction is left after two more: body by body, new derivatives are due */
#define LIMB_ENOUGH 1e-4 /* tolerance of Newton's method body by body, where steps are many radians of vibrations */
#define DAMPED 10.0 /* times that tolerance: smaller corrections change the forces of damping between bodies by less than it */
#define NOISY 10.0 /* times the noise of the accelerations: below, corrections that do not shrink any more are rounding */
#define STALLED 1e-5 /* so of many corrections that do not shrink: equations near a pivot that vanishes are less exact */
#define SAME 1e-9 /* of a step: no other length, for its matrix */
#define SURE 1e-3 /* of the tolerance, times how well posed loops are: a smaller error of free coordinates is enough to know */
#define PASSED 0.5 /* of the scale of accelerations: so far off the start, a step has left out what is faster than it */
#define AT_REST 1e-3 /* s: accelerations times this make the least rates, these the least displacements, errors count by */

/* What all stages have, f0 f1 ..., and sums of that by weights w0 w1 ..., in one go through the coordinates */
#if STAGES == 3
#define ROWS(f, of) const real *restrict f##0 = (of)[0], *restrict f##1 = (of)[1], *restrict f##2 = (of)[2]
#define WEIGHTS(w, of) const double w##0 = (of)[0], w##1 = (of)[1], w##2 = (of)[2]
#define WEIGHED(w, f, i) (w##0 * f##0[i] + w##1 * f##1[i] + w##2 * f##2[i])
#else
#define ROWS(f, of) \
    const real *restrict f##0 = (of)[0], *restrict f##1 = (of)[1], *restrict f##2 = (of)[2], *restrict f##3 = (of)[3]
#define WEIGHTS(w, of) const double w##0 = (of)[0], w##1 = (of)[1], w##2 = (of)[2], w##3 = (of)[3]
#define WEIGHED(w, f, i) (w##0 * f##0[i] + w##1 * f##1[i] + w##2 * f##2[i] + w##3 * f##3[i])
#endif

SUPPLE_LOCAL const Collocation *table_of(const Sim *z) { return z->settings.method == GAUSS ? &GAUSS_TABLE : &RADAU_TABLE; }

/* I - h w Fv - h^2 w^2 Fx for the real eigenvalue w of A and for a - ib of every pair, factorised or inverted */
static int collocation_matrix(Sim *z, const Collocation *c, double h)
{
    const double own = h * c->own;
    z->factors_used = 0;
    z->factorised_step = h;
    z->factorised_method = (int)z->settings.method;
    z->n_broyden = 0;
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z))
        return limb_matrix(z, c, h);
#endif
    if (N_FREE == 0)
        return 1;
    for (int i = 0; i < N_FREE * N_FREE && STAGES % 2; i++)
        z->newton_matrix[i] = fill(i % (N_FREE + 1) == 0) - own * z->a_by_v[i] - own * own * z->a_by_x[i];
    if (STAGES % 2 && !(factorise(z->newton_matrix, z->newton_pivot, N_FREE, z->live) > 0.0))
        return 0;
    for (int k = 0; k < PAIRS; k++) {
        const double vr = h * c->re[k], vi = -h * c->im[k], xr = vr * vr - vi * vi, xi = 2.0 * vr * vi;
        real *re = z->complex_matrix[k][0], *im = z->complex_matrix[k][1];
        for (int i = 0; i < N_FREE * N_FREE; i++) {
            re[i] = fill(i % (N_FREE + 1) == 0) - vr * z->a_by_v[i] - xr * z->a_by_x[i];
            im[i] = -vi * z->a_by_v[i] - xi * z->a_by_x[i];
        }
        if (!factorise_complex(re, im, z->complex_pivot + k * N_FREE, N_FREE, z->live))
            return 0;
    }
    return 1;
}

static void solve_one(Sim *z, real *x, int inverse)
{
#if N_FREE <= SMALL
    if (inverse && z->factors_used == OFTEN)
        invert(z->newton_matrix, z->newton_pivot);
    if (inverse) {
        multiply(z->newton_matrix, x);
        return;
    }
#endif
    (void)inverse;
    solve(z->newton_matrix, z->newton_pivot, N_FREE, x);
}

static void solve_pair(Sim *z, int k, real *x, real *y, int inverse)
{
    real *re = z->complex_matrix[k][0], *im = z->complex_matrix[k][1];
    const int *pivot = z->complex_pivot + k * N_FREE;
#if N_FREE <= SMALL
    if (inverse && z->factors_used == OFTEN)
        invert_complex(re, im, pivot);
    if (inverse) {
        multiply_complex(re, im, x, y);
        return;
    }
#endif
    (void)inverse;
    solve_complex(re, im, pivot, N_FREE, x, y);
}

/* w: right sides of the real matrix and of the pairs' become the solutions. Factors used often become inverse matrices */
static void solve_all(Sim *z, real (*w)[AT_LEAST_ONE(N_FREE)])
{
    const int inverse = N_FREE <= SMALL && ++z->factors_used >= OFTEN;
    if (STAGES % 2)
        solve_one(z, w[0], inverse);
    for (int k = 0; k < PAIRS; k++)
        solve_pair(z, k, w[STAGES % 2 + 2 * k], w[STAGES % 2 + 2 * k + 1], inverse);
}

/* to = a from, for each of the free coordinates */
static SUPPLE_WIDE void mix(const double (*a)[STAGES], real (*from)[AT_LEAST_ONE(N_FREE)], real (*to)[AT_LEAST_ONE(N_FREE)])
{
    ROWS(x, from);
    for (int p = 0; p < STAGES; p++) {
        real *restrict sum = to[p];
        WEIGHTS(w, a[p]);
        for (int i = 0; i < N_FREE; i++)
            sum[i] = WEIGHED(w, x, i);
    }
}

/* r (stages, free): residuals become the corrections of the stages */
static SUPPLE_WIDE void collocation_solve(Sim *z, const Collocation *c, real (*r)[AT_LEAST_ONE(N_FREE)])
{
    real w[STAGES][AT_LEAST_ONE(N_FREE)];
    mix(c->back, r, w);
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z))
        limb_correct(z, c, w);
    else
#endif
        solve_all(z, w);
    mix(c->T, w, r);
}

/* the polynomial through the stages, at x steps from the start: weight of stage j */
static double stage_weight(const Collocation *c, int j, double x)
{
    double product = 1.0;
    for (int k = 0; k < STAGES; k++)
        if (k != j)
            product *= (x - c->c[k]) / (c->c[j] - c->c[k]);
    return product;
}

/* displacement and rates of a stage, or of the end of the step with its weights; v: rates of the start */
static SUPPLE_WIDE void stage_at(const Sim *z, double h, double c, const double *by_v, const double *by_x, const real *v,
                                 real (*F)[AT_LEAST_ONE(N_FREE)], real (*extra)[AT_LEAST_ONE(N_FREE)], real *restrict s,
                                 real *restrict u)
{
    const double far = c * h;
    ROWS(f, F);
    WEIGHTS(x, by_x);
    WEIGHTS(w, by_v);
    for (int i = 0; i < N_FREE; i++) {
        s[i] = far * v[i] + h * h * WEIGHED(x, f, i);
        u[i] = v[i] + h * WEIGHED(w, f, i);
    }
    for (int k = 0; k < N_BALLS; k++) /* where rates are not those of the displacements */
        for (int j = z->chosen.balls[k].free; j >= 0 && j < z->chosen.balls[k].free + 3; j++)
            s[j] += h * (by_v[0] * extra[0][j] + by_v[1] * extra[1][j] + by_v[2] * extra[2][j]);
}

/* displacement and rates of the start */
SUPPLE_LOCAL void stay(const Sim *z, real *s, real *u)
{
    for (int i = 0; i < N_FREE; i++) {
        s[i] = fill(0);
        u[i] = z->now.v[z->chosen.free_v[i]];
    }
}

/* how far a rotation's rate changed since the last iteration, as accelerations relative to their scale */
SUPPLE_LOCAL double turned_since(const Sim *z, double h, const Posture *at, real (*extra)[AT_LEAST_ONE(N_FREE)])
{
    double largest = 0.0;
    for (int k = 0; k < N_BALLS; k++)
        for (int j = z->chosen.balls[k].free; j >= 0 && j < z->chosen.balls[k].free + 3; j++)
            for (int p = 0; p < STAGES; p++) {
                const real now = at[p].free_rate[j] - at[p].v[z->chosen.free_v[j]];
                largest = larger(largest, size_of(now - extra[p][j], z->live) / (h * z->scale[z->chosen.free_unit[j]]));
                extra[p][j] = now;
            }
    return largest;
}

/* What misfits of accelerations are multiplied with, of lengths and of angles: by what they make of rates and positions, and
 * by the accelerations they are `felt` as, relative to their scales */
typedef struct {
    double slow[2], felt[2];
} Weights;

SUPPLE_LOCAL Weights weights_of(const Sim *z, double h)
{
    Weights w;
    for (int unit = 0; unit < 2; unit++) {
        const double rate = larger(z->rate_scale[unit], AT_REST * z->scale[unit]);
        w.slow[unit] = larger(h / rate, h * h / larger(z->travel[unit], AT_REST * rate));
        w.felt[unit] = 1.0 / z->scale[unit];
    }
    return w;
}

SUPPLE_LOCAL double weighed(const Sim *z, const Weights *w, int unit, real misfit, real felt)
{
    return larger(size_of(felt, z->live) * w->felt[unit], size_of(misfit, z->live) * w->slow[unit]);
}

/* to = v Fv x + p Fx x */
static SUPPLE_WIDE void felt(const Sim *z, double v, double p, const real *x, real *to)
{
    real pulled[AT_LEAST_ONE(N_FREE)];
    memset(pulled, 0, sizeof pulled);
    for (int j = 0; j < N_FREE; j++) {
        const real by_x = p * x[j], by_v = v * x[j];
        const real *restrict Fx = z->a_by_x + j * N_FREE, *restrict Fv = z->a_by_v + j * N_FREE;
        for (int i = 0; i < N_FREE; i++)
            pulled[i] += Fx[i] * by_x + Fv[i] * by_v;
    }
    memcpy(to, pulled, sizeof pulled);
}

/* What a misfit of the accelerations, x[0], makes within a radian of a vibration. It has the power of the step that the
 * method has less two; what it does to positions changes accelerations by Fx and Fv, which goes to x[1] */
static double effect_of(const Sim *z, double h, real (*x)[AT_LEAST_ONE(N_FREE)])
{
    const Weights w = weights_of(z, h);
    double largest = 0.0;
    felt(z, h, h * h, x[0], x[1]);
    for (int i = 0; i < N_FREE; i++)
        largest = larger(largest, weighed(z, &w, z->chosen.free_unit[i], x[0][i], x[1][i]));
    return largest;
}

#if LIMBS > 0 && SUPPLE_LANES == 1
/* The same for a misfit of all coordinates, those that depend on the free ones included */
static double limb_effect(Sim *z, double h, const double *x)
{
    const Weights w = weights_of(z, h);
    double felt[N_V], largest = 0.0;
    feel(z, h * h, x, felt);
    for (int i = 0; i < N_FREE; i++) {
        const int k = z->chosen.free_v[i];
        largest = larger(largest, weighed(z, &w, z->chosen.free_unit[i], x[k], felt[k]));
    }
    for (int i = 0; i < N_DEP; i++) {
        const int k = z->chosen.dependent_v[i];
        largest = larger(largest, weighed(z, &w, z->chosen.dependent_unit[i], x[k], felt[k]));
    }
    return largest;
}

/* The same as `collocation_error`, body by body */
static double limb_error(Sim *z, const Collocation *c, double h, const double *misfit)
{
    double slow[N_V], fast[N_V], sifted[N_FREE];
    z->step_cut_off = 0.0;
    if (!take_mass(z) || !spread_out_free(z, 1, misfit, slow))
        return HUGE_VAL;
    if (z->settings.cutoff > 0.0) {
        memcpy(fast, slow, sizeof fast);
        sift_all(z, slow);
        for (int i = 0; i < N_V; i++)
            fast[i] -= slow[i];
        for (int i = 0; i < N_FREE; i++)
            sifted[i] = fast[z->chosen.free_v[i]];
        const double cut = measure(z, sifted) / c->misfit;
        if (cut > z->most_cut_off && limb_effect(z, h, fast) > z->settings.tolerance)
            z->step_cut_off = cut;
    }
    return limb_effect(z, h, slow);
}
#endif

/* The error of the free coordinates in a step. What is above the cutoff is sieved out, by its frequency and not by the step;
 * noted if it counts. slow: what is left of the misfit, and as `effect_of` leaves it */
static double free_error(Sim *z, const Collocation *c, double h, const real *misfit, real (*slow)[AT_LEAST_ONE(N_FREE)])
{
    real fast[2][AT_LEAST_ONE(N_FREE)];
    memcpy(slow[0], misfit, sizeof slow[0]);
    sift(z, slow[0]);
    for (int i = 0; i < N_FREE; i++)
        fast[0][i] = misfit[i] - slow[0][i];
    const double cut = z->settings.cutoff > 0.0 ? measure(z, fast[0]) / c->misfit : 0.0;
    z->step_cut_off = cut > z->most_cut_off && effect_of(z, h, fast) > z->settings.tolerance ? cut : 0.0;
    return effect_of(z, h, slow);
}

/* Whether that says enough */
SUPPLE_LOCAL int is_sure(const Sim *z, double error) { return error < SURE * z->conditioning * z->settings.tolerance; }

/* The error of a step that ends at q. Coordinates that depend on the free ones count as these do: near a singular pose they
 * move much farther */
static double collocation_error(Sim *z, const Collocation *c, double h, const real *q, const Loops *loops, const real *misfit)
{
    real slow[2][AT_LEAST_ONE(N_FREE)], dependent[2][AT_LEAST_ONE(N_DEP)];
    (void)q, (void)loops;
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z))
        return limb_error(z, c, h, misfit);
#endif
    double largest = free_error(z, c, h, misfit, slow);
    if (is_sure(z, largest))
        return largest;
    carry(z, q, loops, slow, dependent);
    const Weights w = weights_of(z, h);
    for (int i = 0; i < N_DEP; i++)
        largest = larger(largest, weighed(z, &w, z->chosen.dependent_unit[i], dependent[0][i], dependent[1][i]));
    return largest;
}

/* h Fx v: what rates change accelerations by in a step */
SUPPLE_LOCAL void pull_of(Sim *z, double h, real *pull)
{
    real rate[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++)
        rate[i] = z->now.v[z->chosen.free_v[i]];
#if LIMBS > 0 && SUPPLE_LANES == 1
    if (by_limbs(z)) {
        limb_pull(z, h, pull);
        return;
    }
#endif
    felt(z, 0.0, h, rate, pull);
}

/* Stages to begin with: the last step's polynomial goes on. Without one, those of the linear equations of motion, in which
 * what is stiff dies away as it does in the step, or by what is out of balance the accelerations as they are */
static SUPPLE_WIDE void extrapolate(Sim *z, const Collocation *c, double h, real (*F)[AT_LEAST_ONE(N_FREE)])
{
    const int goes_on = z->has_stages && !z->starts_anew, linear = !goes_on && !by_balance(z);
    real pull[AT_LEAST_ONE(N_FREE)];
    memset(pull, 0, sizeof pull);
    if (linear)
        pull_of(z, h, pull);
    ROWS(f, (const real (*)[AT_LEAST_ONE(N_FREE)])z->stages);
    for (int p = 0; p < STAGES; p++) {
        double weight[STAGES];
        for (int q = 0; q < STAGES; q++)
            weight[q] = stage_weight(c, q, 1.0 + c->c[p] * h / larger(z->last_step, 1e-30));
        WEIGHTS(w, weight);
        for (int i = 0; i < N_FREE; i++)
            F[p][i] = goes_on ? WEIGHED(w, f, i) : z->now.free_a[i] + c->c[p] * pull[i];
    }
    if (linear)
        collocation_solve(z, c, F);
}

#ifdef LIMB_BALANCE
SUPPLE_INLINE double of_stage(const Collocation *c, int p, Step x)
{
    double sum = 0.0;
    for (int q = 0; q < STAGES; q++)
        sum += c->T[p][q] * PART(x, q);
    return sum;
}

/* The same by what is out of balance: with every stage's own inertia, so that those of other postures do not spoil it */
static int limb_corrections(Sim *z, const Drive *d, const Collocation *c, const double *time, double (*s)[N_FREE],
                            double (*u)[N_FREE], int again, Posture *at, double (*F)[N_FREE], double (*r)[N_FREE])
{
    static SUPPLE_THREAD double balance[STAGES][N_V];
    static SUPPLE_THREAD Forced_step w;
    const int outcome = several_balances(z, d, STAGES, time, s, u, F, z->loop_forces, at, balance);
    if (outcome != FINE)
        return outcome;
#ifdef LIMB_DAMPING
    damp(at, again, balance, z->stage_lost);
#endif
    for (int i = 0; i < N_V; i++) {
        double x[STEP_LANES] = {0};
        for (int p = 0; p < STAGES; p++)
            for (int q = 0; q < STAGES; q++)
                x[p] -= c->back[p][q] * balance[q][i];
        w.f[i] = step_of(x[0], x[1], x[2], x[3]);
    }
    limb_solve_step(z, LIMB_STEP, &w);
    for (int p = 0; p < STAGES; p++) {
        for (int i = 0; i < N_FREE; i++)
            r[p][i] = of_stage(c, p, w.f[z->chosen.free_v[i]]);
        for (int i = 0; i < N_LOOPED; i++)
            z->loop_forces[p * N_LOOPED + i] -= of_stage(c, p, w.loops[i]);
    }
    return FINE;
}
#endif

/* What the accelerations F of the stages are to be changed by, r, and their postures; again: as `damp` takes it. A rough start
 * is one state more, and exact afterwards */
static int corrections(Sim *z, const Drive *d, const Collocation *c, const double *time, real (*s)[AT_LEAST_ONE(N_FREE)],
                       real (*u)[AT_LEAST_ONE(N_FREE)], int again, Posture *at, real (*F)[AT_LEAST_ONE(N_FREE)],
                       real (*r)[AT_LEAST_ONE(N_FREE)])
{
#ifdef LIMB_BALANCE
    if (by_balance(z))
        return limb_corrections(z, d, c, time, s, u, again, at, F, r);
#endif
    (void)again;
    const int outcome = several(z, d, STAGES + z->is_rough, time, s, u, at);
    if (outcome == FINE && z->is_rough) {
        z->now = at[STAGES];
        z->is_rough = 0;
    }
    for (int p = 0; p < STAGES && outcome == FINE; p++)
        for (int i = 0; i < N_FREE; i++)
            r[p][i] = at[p].free_a[i] - F[p][i];
    if (outcome == FINE)
        collocation_solve(z, c, r);
    return outcome;
}

/* Newton's method for the stages */
static int solve_stages(Sim *z, const Drive *d, const Collocation *c, double h, Posture *at,
                        real (*F)[AT_LEAST_ONE(N_FREE)], real (*extra)[AT_LEAST_ONE(N_FREE)])
{
    real r[STAGES][AT_LEAST_ONE(N_FREE)], last[STAGES][AT_LEAST_ONE(N_FREE)];
    real s[STAGES + 1][AT_LEAST_ONE(N_FREE)], u[STAGES + 1][AT_LEAST_ONE(N_FREE)];
    double time[STAGES + 1] = {0};
    const double noise = NOISY * larger(z->noise[0] / z->scale[0], z->noise[1] / z->scale[1]);
    const double enough = by_balance(z) ? smaller(z->settings.newton_tolerance, LIMB_ENOUGH) : z->settings.newton_tolerance;
    double size = HUGE_VAL, first = HUGE_VAL;
    int renewed = 0;
    for (int p = 0; p <= STAGES; p++)
        time[p] = p < STAGES ? z->t + c->c[p] * h : z->t;
    z->contraction = pow(z->contraction, z->starts_anew ? 0.98 : 0.8); /* measured again before long */
    stay(z, s[STAGES], u[STAGES]);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        for (int p = 0; p < STAGES; p++)
            stage_at(z, h, c->c[p], c->A[p], c->AA[p], u[STAGES], F, extra, s[p], u[p]);
        const int outcome = corrections(z, d, c, time, s, u, size > DAMPED * enough, at, F, r);
        if (outcome != FINE)
            return outcome;
        z->newton_iterations++;
        const double turned = turned_since(z, h, at, extra), before = size;
        improve(z, STAGES, iteration && !renewed ? last[0] : NULL, r[0]);
        memcpy(last, r, sizeof last);
        size = turned;
        for (int p = 0; p < STAGES; p++) {
            size = larger(size, measure(z, r[p]));
            for (int i = 0; i < N_FREE; i++)
                F[p][i] += r[p][i];
        }
        first = iteration ? first : size;
        if (!(size < HUGE_VAL))
            return DIVERGED;
        if (iteration > 0) {
            z->contraction = larger(size / before, z->starts_anew ? 1e-6 : 1e-3);
            z->contracted_size = before;
        }
        if (iteration > 1 && size > 2.0 * before && size > larger(1e-6, noise))
            return DIVERGED;
        renewed = by_limbs(z) && !z->jacobian_is_fresh && iteration == 2 && size > SLOW * first;
        if (renewed && (differentiate(z, d) != FINE || !collocation_matrix(z, c, h)))
            return DIVERGED; /* else iterations go on with new derivatives, which are cheaper than many of them */
        const double alike = FORESEEN * larger(1.0, size / z->contracted_size) * z->contraction;
        const double seen = iteration ? z->contraction : z->starts_anew ? alike : larger(UNSEEN, z->contraction);
        const double left = smaller(1.0, seen / larger(0.1, 1.0 - seen));
        const double rounded = larger(iteration > 4 ? STALLED : ROUNDED, noise);
        const int rounding = iteration > 2 && size > 0.3 * before && size < rounded;
        if (size * left < enough || rounding) {
            spend(z, STAGES * (iteration - 1));
            return FINE;
        }
    }
    return DIVERGED;
}

/* Power in the posture of a stage, or at the end with the last one's */
SUPPLE_LOCAL real stage_power(Sim *z, const Drive *d, double t, const Posture *p, int stage)
{
#if defined(LIMB_DAMPING) && SUPPLE_LANES == 1
    if (by_limbs(z))
        return power_but(z, d, t, p) - z->stage_lost[stage];
#endif
    (void)stage;
    return power_of(z, d, t, p);
}

typedef struct {
    Posture at[STAGES + 1]; /* and the start */
    Loops end;
} Stages;

SUPPLE_ROOM(Stages, stages_room)

/* The stages solved for, from what the linear equations make of them and what these left out a step before, if that was a new
 * start of the same kind: samples of a controller are alike */
static int find_stages(Sim *z, const Drive *d, const Collocation *c, double h, Posture *at,
                       real (*F)[AT_LEAST_ONE(N_FREE)], real (*extra)[AT_LEAST_ONE(N_FREE)])
{
    real linear[STAGES][AT_LEAST_ONE(N_FREE)];
    const int rough = z->is_rough, same = z->missed_step == z->steps && fabs(z->last_step - h) <= SAME * h;
    const int alike = z->starts_anew && same && z->missed_rough == rough;
    extrapolate(z, c, h, F);
    memcpy(linear, F, sizeof linear);
    for (int p = 0; p < STAGES && alike; p++)
        for (int i = 0; i < N_FREE; i++)
            F[p][i] += z->missed[p * N_FREE + i];
    const int outcome = solve_stages(z, d, c, h, at, F, extra);
    for (int p = 0; p < STAGES && z->starts_anew; p++)
        for (int i = 0; i < N_FREE; i++)
            z->missed[p * N_FREE + i] = F[p][i] - linear[p][i];
    z->missed_step = z->starts_anew && outcome == FINE ? z->steps + 1 : -1;
    z->missed_rough = rough;
    return outcome;
}

/* The end of a step that is its last stage, with free coordinates displaced by s and rates u */
static int last_stage(Sim *z, const Drive *d, double h, const Posture *stage, const real *s, const real *u, const real *f,
                      Posture *end, Loops *loops)
{
    real a[AT_LEAST_ONE(N_V)];
    int outcome = FINE;
    *end = *stage;
    if (z->ends_roughly) {
        displace(z, z->now.q, s, end);
        for (int i = 0; i < N_FREE; i++)
            end->v[z->chosen.free_v[i]] = u[i];
    } else
        outcome = place(z, d, fill(z->t + h), z->now.q, s, u, end, a, loops);
    memcpy(end->free_a, f, sizeof end->free_a);
    return outcome;
}

static int collocation_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    Posture *at = stages_room()->at;
    Loops *loops = &stages_room()->end;
    const Collocation *c = table_of(z);
    real F[STAGES][AT_LEAST_ONE(N_FREE)], extra[STAGES][AT_LEAST_ONE(N_FREE)], slow[2][AT_LEAST_ONE(N_FREE)];
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], rate[AT_LEAST_ONE(N_FREE)], misfit[AT_LEAST_ONE(N_FREE)];
    double by_x[STAGES];
    int outcome = FINE;
    refresh(z);
    if (!z->has_jacobian && (outcome = differentiate(z, d)) != FINE)
        return outcome;
    const int other = fabs(z->factorised_step - h) > SAME * h || z->factorised_method != z->settings.method;
    if (other && !collocation_matrix(z, c, h))
        return DIVERGED;
    memset(extra, 0, sizeof extra);
    memcpy(at[STAGES].q, z->now.q, sizeof z->now.q);
    for (int p = 0; p < STAGES; p++) {
        foresee(z, c->c[p] * h, &at[p]);
        by_x[p] = c->b[p] * (1.0 - c->c[p]);
    }
    if ((outcome = find_stages(z, d, c, h, at, F, extra)) != FINE)
        return outcome;
    stay(z, s, rate);
    stage_at(z, h, 1.0, c->b, by_x, rate, F, extra, s, u);
    for (int i = 0; i < N_FREE; i++) {
        misfit[i] = z->now.free_a[i];
        for (int q = 0; q < STAGES; q++) {
            misfit[i] -= c->start[q] * F[q][i];
            z->stages[q * N_FREE + i] = F[q][i];
        }
        misfit[i] *= c->misfit;
    }
    z->start_is_passed = measure(z, misfit) > PASSED * c->misfit;
    if (z->ends_roughly)
        z->ends_roughly = is_sure(z, *error = free_error(z, c, h, misfit, slow));
    if (c->c[STAGES - 1] == 1.0)
        outcome = last_stage(z, d, h, &at[STAGES - 1], s, u, F[STAGES - 1], end, loops);
    else {
        foresee(z, h, end);
        outcome = evaluate_by(z, d, fill(z->t + h), z->now.q, s, u, end, loops);
    }
    if (outcome == FINE && !z->ends_roughly)
        *error = collocation_error(z, c, h, end->q, loops, misfit);
    z->step_work = fill(0);
    for (int q = 0; q < STAGES; q++)
        z->step_work += h * c->b[q] * stage_power(z, d, z->t + c->c[q] * h, &at[q], q);
    z->has_stages = 0; /* until the step is accepted */
    return outcome;
}

#define NODES (STAGES + 2) /* start, stages, end */

/* The accelerations of the nodes by three rows of weights: of all nodes, or without the last */
static SUPPLE_WIDE void weighted(const double *w, int nodes, const real *const *F, real *restrict f, real *restrict rate,
                                 real *restrict place)
{
    const double *v = w + NODES, *x = w + 2 * NODES, a_start = w[0], v_start = v[0], x_start = x[0];
    const real *restrict start = F[0], *restrict end = F[NODES - 1];
    ROWS(at, F + 1);
    WEIGHTS(by, w + 1);
    WEIGHTS(of, v + 1);
    WEIGHTS(to, x + 1);
    for (int i = 0; i < N_FREE; i++) {
        f[i] = a_start * start[i] + WEIGHED(by, at, i);
        rate[i] = v_start * start[i] + WEIGHED(of, at, i);
        place[i] = x_start * start[i] + WEIGHED(to, at, i);
    }
    for (int i = 0; i < N_FREE && nodes == NODES; i++) {
        f[i] += w[NODES - 1] * end[i];
        rate[i] += v[NODES - 1] * end[i];
        place[i] += x[NODES - 1] * end[i];
    }
}

/* displacement, rates and accelerations at a share x of a step: the polynomial through stages and ends, integrated; that of
 * the stages alone where it passes the start by */
static SUPPLE_WIDE void collocation_between(const Sim *z, double h, double x, const Posture *end, real *place, real *rate, real *f)
{
    const double (*by)[3 * NODES] = table_of(z)->between[z->start_is_passed != 0], far = x * h;
    const real *F[NODES] = {z->now.free_a};
    double w[3 * NODES];
    for (int k = 0; k < STAGES; k++)
        F[1 + k] = z->stages + k * N_FREE;
    F[STAGES + 1] = end->free_a;
    for (int k = 0; k < 3 * NODES; k++) {
        w[k] = by[STAGES + 1][k];
        for (int n = STAGES; n >= 0; n--)
            w[k] = by[n][k] + x * w[k];
    }
    weighted(w, z->settings.method == RADAU ? STAGES + 1 : NODES, F, f, rate, place); /* Radau's last stage is the end */
    for (int i = 0; i < N_FREE; i++) {
        const real v = z->now.v[z->chosen.free_v[i]];
        rate[i] = v + far * rate[i];
        place[i] = far * (v + far * place[i]);
    }
}
