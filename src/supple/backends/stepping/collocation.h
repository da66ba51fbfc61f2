/* Collocation with three stages: Radau IIA (order five, stiff motions die away) and Gauss (order six, symmetric in time).
 *
 * Unknowns are the accelerations F of the stages; positions are s = c h v + h^2 A A F, rates v + h A F. Newton's method is
 * simplified: one Jacobian for all stages, and A brought to blocks by T, so that I - h A Fv - h^2 A A Fx falls into a real
 * and a complex matrix of the size of F itself.
 */
#define MOST_ITERATIONS 10
#define OFTEN (2 + N_FREE / 2) /* solutions by the same factors, as dear as the inverse */
#define SLOW 0.15 /* of the first correction is left after two more: leg by leg, new derivatives are due */
#define NOISY 10.0 /* times the noise of the accelerations: below, corrections that do not shrink any more are rounding */
#define STALLED 1e-5 /* so of many corrections that do not shrink: equations near a pivot that vanishes are less exact */
#define AT_REST 1e-3 /* s: accelerations times this make the least rates, these the least displacements, errors count by */

SUPPLE_LOCAL const Collocation *table_of(const Sim *z) { return z->settings.method == GAUSS ? &GAUSS_TABLE : &RADAU_TABLE; }

/* I - h w Fv - h^2 w^2 Fx for the real eigenvalue w of A and for a - ib of its pair, factorised or inverted */
static int collocation_matrix(Sim *z, const Collocation *c, double h)
{
    const double v = h * c->own, x = v * v, vr = h * c->re, vi = -h * c->im, xr = vr * vr - vi * vi, xi = 2.0 * vr * vi;
    z->factors_used = 0;
    z->factorised_step = h;
    z->factorised_method = (int)z->settings.method;
    z->n_broyden = 0;
#if LEGS > 0 && SUPPLE_LANES == 1
    if (by_legs(z)) {
        const double pair_v[2] = {vr, vi}, pair_x[2] = {xr, xi};
        return leg_factors(z, LEG_REAL, v, x) && leg_pair_factors(z, pair_v, pair_x);
    }
#endif
    for (int i = 0; i < N_FREE * N_FREE; i++) {
        const real one = fill(i % (N_FREE + 1) == 0);
        z->newton_matrix[i] = one - v * z->a_by_v[i] - x * z->a_by_x[i];
        z->complex_matrix[0][i] = one - vr * z->a_by_v[i] - xr * z->a_by_x[i];
        z->complex_matrix[1][i] = -vi * z->a_by_v[i] - xi * z->a_by_x[i];
    }
    if (N_FREE == 0)
        return 1;
    if (!(factorise(z->newton_matrix, z->newton_pivot, N_FREE, z->live) > 0.0))
        return 0;
    if (!factorise_complex(z->complex_matrix[0], z->complex_matrix[1], z->complex_pivot, N_FREE, z->live))
        return 0;
    return 1;
}

/* w: right sides of the real matrix and of the pair's become the solutions. Factors used often become inverse matrices */
static void solve_both(Sim *z, const Collocation *c, real (*w)[AT_LEAST_ONE(N_FREE)])
{
#if LEGS > 0 && SUPPLE_LANES == 1
    if (by_legs(z)) {
        const double h = z->factorised_step, v = h * c->own, vr = h * c->re, vi = -h * c->im;
        const double pair_v[2] = {vr, vi}, pair_x[2] = {vr * vr - vi * vi, 2.0 * vr * vi};
        leg_solve(z, LEG_REAL, v, v * v, w[0]);
        leg_pair_solve(z, pair_v, pair_x, w[1], w[2]);
        return;
    }
#endif
    (void)c;
#if N_FREE <= SMALL
    if (++z->factors_used == OFTEN) {
        invert(z->newton_matrix, z->newton_pivot);
        invert_complex(z->complex_matrix[0], z->complex_matrix[1], z->complex_pivot);
    }
    if (z->factors_used >= OFTEN) {
        multiply(z->newton_matrix, w[0]);
        multiply_complex(z->complex_matrix[0], z->complex_matrix[1], w[1], w[2]);
        return;
    }
#endif
    solve(z->newton_matrix, z->newton_pivot, N_FREE, w[0]);
    solve_complex(z->complex_matrix[0], z->complex_matrix[1], z->complex_pivot, N_FREE, w[1], w[2]);
}

/* r (stages, free): residuals become the corrections of the stages */
static void collocation_solve(Sim *z, const Collocation *c, real (*r)[AT_LEAST_ONE(N_FREE)])
{
    real w[STAGES][AT_LEAST_ONE(N_FREE)];
    for (int p = 0; p < STAGES; p++)
        for (int i = 0; i < N_FREE; i++)
            w[p][i] = c->back[p][0] * r[0][i] + c->back[p][1] * r[1][i] + c->back[p][2] * r[2][i];
    solve_both(z, c, w);
    for (int p = 0; p < STAGES; p++)
        for (int i = 0; i < N_FREE; i++)
            r[p][i] = c->T[p][0] * w[0][i] + c->T[p][1] * w[1][i] + c->T[p][2] * w[2][i];
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

/* displacement and rates of a stage, or of the end of the step with its weights */
SUPPLE_LOCAL void stage_at(const Sim *z, double h, double c, const double *by_v, const double *by_x,
                           real (*F)[AT_LEAST_ONE(N_FREE)], real (*extra)[AT_LEAST_ONE(N_FREE)], real *s, real *u)
{
    for (int i = 0; i < N_FREE; i++) {
        const real v = z->now.v[z->chosen.free_v[i]];
        s[i] = c * h * v + h * h * (by_x[0] * F[0][i] + by_x[1] * F[1][i] + by_x[2] * F[2][i]);
        u[i] = v + h * (by_v[0] * F[0][i] + by_v[1] * F[1][i] + by_v[2] * F[2][i]);
    }
    for (int k = 0; k < N_BALLS; k++) /* where rates are not those of the displacements */
        for (int j = z->chosen.balls[k].free; j >= 0 && j < z->chosen.balls[k].free + 3; j++)
            s[j] += h * (by_v[0] * extra[0][j] + by_v[1] * extra[1][j] + by_v[2] * extra[2][j]);
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

/* A misfit of one acceleration by what it makes of rates and positions, and by the acceleration it is `felt` as, relative
 * to their scales */
SUPPLE_LOCAL double weighed(const Sim *z, double h, int unit, real misfit, real felt)
{
    const double rate = larger(z->rate_scale[unit], AT_REST * z->scale[unit]), size = size_of(misfit, z->live);
    const double slow = larger(h * size / rate, h * h * size / larger(z->travel[unit], AT_REST * rate));
    return larger(size_of(felt, z->live) / z->scale[unit], slow);
}

/* What a misfit of the accelerations, x[0], makes within a radian of a vibration. It has the power of the step that the
 * method has less two; what it does to positions changes accelerations by Fx and Fv, which goes to x[1] */
static SUPPLE_WIDE double effect_of(const Sim *z, double h, real (*x)[AT_LEAST_ONE(N_FREE)])
{
    double largest = 0.0;
    for (int i = 0; i < N_FREE; i++)
        x[1][i] = fill(0);
#if LEGS > 0 && SUPPLE_LANES == 1
    if (by_legs(z))
        leg_felt(z, h, h * h, x[0], x[1]);
#endif
    for (int j = 0; j < N_FREE && !by_legs(z); j++) {
        const real by_x = (h * h) * x[0][j], by_v = h * x[0][j];
        for (int i = 0; i < N_FREE; i++)
            x[1][i] += z->a_by_x[j * N_FREE + i] * by_x + z->a_by_v[j * N_FREE + i] * by_v;
    }
    for (int i = 0; i < N_FREE; i++)
        largest = larger(largest, weighed(z, h, z->chosen.free_unit[i], x[0][i], x[1][i]));
    return largest;
}

/* The error of a step that ends at q. What is above the cutoff is sieved out, by its frequency and not by the step; noted if
 * it counts. Coordinates that depend on the free ones count as these do: near a singular pose they move much farther */
static double collocation_error(Sim *z, const Collocation *c, double h, const real *q, const real *misfit)
{
    real slow[2][AT_LEAST_ONE(N_FREE)], fast[2][AT_LEAST_ONE(N_FREE)], dependent[2][AT_LEAST_ONE(N_DEP)];
    memcpy(slow[0], misfit, sizeof slow[0]);
    sift(z, slow[0]);
    for (int i = 0; i < N_FREE; i++)
        fast[0][i] = misfit[i] - slow[0][i];
    const int counts = z->settings.cutoff > 0.0 && effect_of(z, h, fast) > z->settings.tolerance;
    z->step_cut_off = counts ? measure(z, fast[0]) / c->misfit : 0.0;
    double largest = effect_of(z, h, slow);
    if (!carry(z, q, slow, dependent))
        return HUGE_VAL;
    for (int i = 0; i < N_DEP; i++)
        largest = larger(largest, weighed(z, h, z->chosen.dependent_unit[i], dependent[0][i], dependent[1][i]));
    return largest;
}

/* Stages to begin with: the last step's polynomial goes on */
static void extrapolate(const Sim *z, const Collocation *c, double h, real (*F)[AT_LEAST_ONE(N_FREE)])
{
    for (int p = 0; p < STAGES; p++) {
        double weight[STAGES];
        for (int q = 0; q < STAGES; q++)
            weight[q] = stage_weight(c, q, 1.0 + c->c[p] * h / larger(z->last_step, 1e-30));
        for (int i = 0; i < N_FREE; i++) {
            F[p][i] = z->now.free_a[i];
            if (z->has_stages && !z->starts_anew)
                F[p][i] = weight[0] * z->stages[i] + weight[1] * z->stages[N_FREE + i]
                    + weight[2] * z->stages[2 * N_FREE + i];
        }
    }
}

/* Newton's method for the stages */
static int solve_stages(Sim *z, const Drive *d, const Collocation *c, double h, Posture *at,
                        real (*F)[AT_LEAST_ONE(N_FREE)], real (*extra)[AT_LEAST_ONE(N_FREE)])
{
    real r[STAGES][AT_LEAST_ONE(N_FREE)], last[STAGES][AT_LEAST_ONE(N_FREE)];
    real s[STAGES][AT_LEAST_ONE(N_FREE)], u[STAGES][AT_LEAST_ONE(N_FREE)];
    const double time[STAGES] = {z->t + c->c[0] * h, z->t + c->c[1] * h, z->t + c->c[2] * h};
    const double noise = NOISY * larger(z->noise[0] / z->scale[0], z->noise[1] / z->scale[1]);
    double size = HUGE_VAL, first = HUGE_VAL;
    int renewed = 0;
    z->contraction = pow(z->contraction, 0.8); /* measured again before long */
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        for (int p = 0; p < STAGES; p++)
            stage_at(z, h, c->c[p], c->A[p], c->AA[p], F, extra, s[p], u[p]);
        const int outcome = several(z, d, STAGES, time, s, u, at);
        if (outcome != FINE)
            return outcome;
        for (int p = 0; p < STAGES; p++)
            for (int i = 0; i < N_FREE; i++)
                r[p][i] = at[p].free_a[i] - F[p][i];
        z->newton_iterations++;
        const double turned = turned_since(z, h, at, extra), before = size;
        collocation_solve(z, c, r);
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
        if (iteration > 0)
            z->contraction = larger(size / before, 1e-3);
        if (iteration > 1 && size > 2.0 * before && size > larger(1e-6, noise))
            return DIVERGED;
        renewed = by_legs(z) && !z->jacobian_is_fresh && iteration == 2 && size > SLOW * first;
        if (renewed && (differentiate(z, d) != FINE || !collocation_matrix(z, c, h)))
            return DIVERGED; /* else iterations go on with new derivatives, which are cheaper than many of them */
        const double left = smaller(1.0, z->contraction / larger(0.1, 1.0 - z->contraction));
        const double rounded = larger(iteration > 4 ? STALLED : ROUNDED, noise);
        const int rounding = iteration > 2 && size > 0.3 * before && size < rounded;
        if (size * left < z->settings.newton_tolerance || rounding) {
            spend(z, STAGES * (iteration - 1));
            return FINE;
        }
    }
    return DIVERGED;
}

static int collocation_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    static SUPPLE_THREAD Posture at[STAGES];
    static SUPPLE_THREAD Loops loops;
    const Collocation *c = table_of(z);
    real F[STAGES][AT_LEAST_ONE(N_FREE)], extra[STAGES][AT_LEAST_ONE(N_FREE)];
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], misfit[AT_LEAST_ONE(N_FREE)], a[AT_LEAST_ONE(N_V)];
    double by_x[STAGES];
    int outcome = FINE;
    refresh(z);
    if (!z->has_jacobian && (outcome = differentiate(z, d)) != FINE)
        return outcome;
    if ((z->factorised_step != h || z->factorised_method != z->settings.method) && !collocation_matrix(z, c, h))
        return DIVERGED;
    extrapolate(z, c, h, F);
    memset(extra, 0, sizeof extra);
    for (int p = 0; p < STAGES; p++) {
        foresee(z, c->c[p] * h, &at[p]);
        by_x[p] = c->b[p] * (1.0 - c->c[p]);
    }
    if ((outcome = solve_stages(z, d, c, h, at, F, extra)) != FINE)
        return outcome;
    stage_at(z, h, 1.0, c->b, by_x, F, extra, s, u);
    if (c->c[STAGES - 1] == 1.0) { /* the last stage */
        *end = at[STAGES - 1];
        outcome = place(z, d, fill(z->t + h), z->now.q, s, u, end, a, &loops);
        memcpy(end->free_a, F[STAGES - 1], sizeof end->free_a);
    } else {
        foresee(z, h, end);
        outcome = evaluate(z, d, fill(z->t + h), z->now.q, s, u, end);
    }
    for (int i = 0; i < N_FREE; i++) {
        misfit[i] = c->misfit * (z->now.free_a[i] - c->start[0] * F[0][i] - c->start[1] * F[1][i] - c->start[2] * F[2][i]);
        for (int q = 0; q < STAGES; q++)
            z->stages[q * N_FREE + i] = F[q][i];
    }
    if (outcome == FINE)
        *error = collocation_error(z, c, h, end->q, misfit);
    z->step_work = fill(0);
    for (int q = 0; q < STAGES; q++)
        z->step_work += h * c->b[q] * power_of(z, d, z->t + c->c[q] * h, &at[q]);
    z->has_stages = 0; /* until the step is accepted */
    return outcome;
}

/* displacement, rates and accelerations at a share x of a step: the polynomial through stages and ends, integrated */
SUPPLE_LOCAL void collocation_between(const Sim *z, double h, double x, const Posture *end, real *place, real *rate, real *f)
{
    const Collocation *c = table_of(z), *gauss = &GAUSS_TABLE;
    const double node[5] = {0.0, c->c[0], c->c[1], c->c[2], 1.0};
    const int nodes = c->c[2] == 1.0 ? 4 : 5;
    double by_rate[5] = {0}, by_place[5] = {0}, here[5];
    for (int j = 0; j < STAGES; j++)
        for (int k = 0; k < nodes; k++) {
            double weight = gauss->b[j];
            for (int l = 0; l < nodes; l++)
                if (l != k)
                    weight *= (x * gauss->c[j] - node[l]) / (node[k] - node[l]);
            by_rate[k] += weight * x * h;
            by_place[k] += weight * x * x * h * h * (1.0 - gauss->c[j]);
        }
    for (int k = 0; k < nodes; k++) {
        here[k] = 1.0;
        for (int l = 0; l < nodes; l++)
            if (l != k)
                here[k] *= (x - node[l]) / (node[k] - node[l]);
    }
    for (int i = 0; i < N_FREE; i++) {
        const real F[5] = {z->now.free_a[i], z->stages[i], z->stages[N_FREE + i], z->stages[2 * N_FREE + i], end->free_a[i]};
        const real v = z->now.v[z->chosen.free_v[i]];
        place[i] = x * h * v;
        rate[i] = v;
        f[i] = fill(0);
        for (int k = 0; k < nodes; k++) {
            f[i] += here[k] * F[k];
            place[i] += by_place[k] * F[k];
            rate[i] += by_rate[k] * F[k];
        }
    }
}
