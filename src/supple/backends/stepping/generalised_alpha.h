/* Generalised-alpha of second order (Chung & Hulbert 1993; on the Lie group: Bruels, Cardona & Arnold 2012).
 *
 *     (1 - am) A' + am A = (1 - af) f' + af f,   f' the accelerations at the end of the step
 *     s = h v + h^2 ((1/2 - beta) A + beta A'),  v' = v + h ((1 - gamma) A + gamma A')
 *
 * Newton's method solves for f' with derivatives that are kept as long as it converges well.
 */
#define BALANCED 0.02 /* of the peak acceleration */
#define CURVED 0.1    /* bend of the power in a step, of its peak, over the root of the tolerance */

typedef struct {
    double am, af, beta, gamma;
} Alpha;

static Alpha alpha_of(double rho)
{
    const double am = (2.0 * rho - 1.0) / (rho + 1.0), af = rho / (rho + 1.0), shift = 1.0 - am + af;
    return (Alpha){am, af, 0.25 * shift * shift, 0.5 - am + af};
}

/* I - gamma' h Fv - beta' h^2 Fx, factorised */
static int alpha_matrix(Sim *z, const Alpha *c, double h)
{
    const double share = (1.0 - c->af) / (1.0 - c->am), by_v = share * c->gamma * h, by_x = share * c->beta * h * h;
    for (int i = 0; i < N_FREE * N_FREE; i++)
        z->newton_matrix[i] = -by_v * z->a_by_v[i] - by_x * z->a_by_x[i];
    for (int i = 0; i < N_FREE; i++)
        z->newton_matrix[i * N_FREE + i] += num(1);
    z->factorised_step = h;
    z->n_broyden = 0;
    if (N_FREE > 0 && !(factorise(z->newton_matrix, z->newton_pivot, N_FREE, z->live) > 0.0))
        return 0;
#if N_FREE <= SMALL
    invert(z->newton_matrix, z->newton_pivot);
#endif
    return 1;
}

/* x becomes the solution of the matrix above */
SUPPLE_LOCAL void alpha_solve(const Sim *z, real *x)
{
#if N_FREE <= SMALL
    multiply(z->newton_matrix, x);
#else
    solve(z->newton_matrix, z->newton_pivot, N_FREE, x);
#endif
}

/* s, u and A' of accelerations f at the end */
static void alpha_update(const Sim *z, const Alpha *c, double h, const real *f, real *s, real *u, real *like)
{
    for (int i = 0; i < N_FREE; i++) {
        const real v = z->now.v[z->chosen.free_v[i]], A = z->alpha_a[i];
        like[i] = ((1.0 - c->af) * f[i] + c->af * z->now.free_a[i] - c->am * A) / (1.0 - c->am);
        s[i] = h * v + h * h * ((0.5 - c->beta) * A + c->beta * like[i]);
        u[i] = v + h * ((1.0 - c->gamma) * A + c->gamma * like[i]);
    }
}

/* A of the first step, which lies (am - af) h beside the accelerations, and their rate */
static int alpha_start(Sim *z, const Drive *d, const Alpha *c, double h)
{
    static SUPPLE_THREAD Posture soon;
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    const double ahead = smaller(1e-2 * h, 1e-5);
    for (int i = 0; i < N_FREE; i++) {
        s[i] = ahead * z->now.v[z->chosen.free_v[i]] + 0.5 * ahead * ahead * z->now.free_a[i];
        u[i] = z->now.v[z->chosen.free_v[i]] + ahead * z->now.free_a[i];
    }
    foresee(z, ahead, &soon);
    const int outcome = evaluate(z, d, fill(z->t + ahead), z->now.q, s, u, &soon);
    if (outcome != FINE)
        return outcome;
    for (int i = 0; i < N_FREE; i++)
        z->jerk[i] = (soon.free_a[i] - z->now.free_a[i]) / ahead;
    alpha_solve(z, z->jerk); /* without the motions that are too fast for this step */
    for (int i = 0; i < N_FREE; i++)
        z->alpha_a[i] = z->now.free_a[i] + (c->am - c->af) * h * z->jerk[i];
    z->last_step = h;
    z->starts_anew = 0;
    z->has_last_step = 0;
    memset(z->bend, 0, sizeof z->bend);
    return FINE;
}

/* Accelerations at the end of the step to begin with, and A where the size of the step changed */
static void alpha_predict(Sim *z, const Alpha *c, double h, real *f)
{
    real change[AT_LEAST_ONE(N_FREE)];
    if (fabs(h - z->last_step) > 1e-9 * h) { /* A lies beside f by a share of the step; without motions too fast for it */
        memcpy(change, z->jerk, sizeof change);
        alpha_solve(z, change);
        for (int i = 0; i < N_FREE; i++)
            z->alpha_a[i] = z->now.free_a[i] + (c->am - c->af) * h * change[i];
    }
    for (int i = 0; i < N_FREE; i++) /* accelerations go on as a parabola, what is too fast for this step as a line */
        change[i] = h * (h + z->last_step) * z->bend[i];
    if (z->has_last_step)
        alpha_solve(z, change);
    for (int i = 0; i < N_FREE; i++)
        f[i] = z->now.free_a[i] + h * z->jerk[i] + change[i];
}

/* Newton's method for f, with the posture and A' that follow; how many iterations it took goes to *iterations */
static int alpha_balance(Sim *z, const Drive *d, const Alpha *c, double h, real *f, real *like, Posture *end,
                         int *iterations)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], change[AT_LEAST_ONE(N_FREE)], last[AT_LEAST_ONE(N_FREE)];
    double size = HUGE_VAL, largest = 0.0;
    z->contraction = pow(z->contraction, 0.8); /* measured again before long */
    foresee(z, h, end);
    for (int iteration = 0;; iteration++) {
        *iterations = iteration;
        alpha_update(z, c, h, f, s, u, like);
        const int outcome = iteration > 11 ? DIVERGED : evaluate(z, d, fill(z->t + h), z->now.q, s, u, end);
        if (outcome != FINE)
            return outcome;
        z->newton_iterations++;
        for (int i = 0; i < N_FREE; i++)
            change[i] = end->free_a[i] - f[i];
        const double unbalanced = measure(z, change); /* stiff motions: far more than what is left of f */
        alpha_solve(z, change);
        improve(z, 1, iteration ? last : NULL, change);
        memcpy(last, change, sizeof last);
        const double before = size;
        size = measure(z, change);
        for (int i = 0; i < N_FREE; i++)
            f[i] += change[i];
        if (iteration > 0)
            z->contraction = larger(size / before, 0.005);
        if (!(size < HUGE_VAL) || (iteration > 1 && size > 2.0 * largest && size > 1e-6))
            return DIVERGED;
        largest = iteration < 2 ? larger(largest, size) : largest;
        const double left = smaller(1.0, z->contraction);
        const int rounding = iteration > 2 && size > 0.3 * before && size < ROUNDED;
        if ((size * left < z->settings.newton_tolerance && unbalanced * left < BALANCED) || rounding)
            break;
    }
    alpha_update(z, c, h, f, s, u, like); /* positions and rates of the last correction */
    return evaluate(z, d, fill(z->t + h), z->now.q, s, u, end); /* with the forces of prescribed actuators there */
}

/* Where actuators are led, the account of work asks for steps too, though what is free may need none: the share of the
 * parabola in the work of the step, which its sum follows with the square of that share */
SUPPLE_LOCAL double work_error(Sim *z, const Drive *d, double h, const Posture *end)
{
    const real power = power_of(z, d, z->t + h, end);
    const double most = larger(z->most_power, larger(size_of(power, z->live), size_of(z->power, z->live)));
    const real bend = z->has_last_step ? power - z->power - h / z->last_step * (z->power - z->last_power) : fill(0);
    const double share = h / (6.0 * (h + z->last_step)) * size_of(bend, z->live);
    return most > 0.0 ? sqrt(z->settings.tolerance) / CURVED * share / most : 0.0;
}

static int alpha_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    const Alpha c = alpha_of(z->settings.spectral_radius);
    real f[AT_LEAST_ONE(N_FREE)], like[AT_LEAST_ONE(N_FREE)], change[AT_LEAST_ONE(N_FREE)], kept[AT_LEAST_ONE(N_FREE)];
    int outcome = FINE, iterations;
    if (!z->has_jacobian && (outcome = differentiate(z, d)) != FINE)
        return outcome;
    if (z->factorised_step != h && !alpha_matrix(z, &c, h))
        return DIVERGED;
    if (z->starts_anew && (outcome = alpha_start(z, d, &c, h)) != FINE)
        return outcome;
    memcpy(kept, z->alpha_a, sizeof kept);
    alpha_predict(z, &c, h, f);
    outcome = alpha_balance(z, d, &c, h, f, like, end, &iterations);
    memcpy(z->alpha_a, kept, sizeof kept);
    if (outcome != FINE)
        return outcome;
    spend(z, iterations - 1);
    /* makes h^2/12 of the second derivative */
    const double share = z->has_last_step ? h / (6.0 * (h + z->last_step)) : 1.0 / 6.0;
    for (int i = 0; i < N_FREE; i++)
        change[i] = share * (f[i] - z->now.free_a[i] - h * z->jerk[i]);
    if (z->settings.cutoff > 0.0)
        sieve_once(z, change); /* what is faster than the cutoff may die away */
    *error = measure(z, change);
    if (N_GIVEN > 0)
        *error = larger(*error, work_error(z, d, h, end));
    memcpy(z->next_alpha_a, like, sizeof like); /* taken over if the step is accepted */
    memcpy(end->free_a, f, sizeof f);
    return FINE;
}

static void alpha_accept(Sim *z, double h, const Posture *end)
{
    for (int i = 0; i < N_FREE; i++) {
        const real jerk = (end->free_a[i] - z->now.free_a[i]) / h;
        z->bend[i] = z->has_last_step ? (jerk - z->jerk[i]) / (h + z->last_step) : fill(0);
        z->jerk[i] = jerk;
        z->alpha_a[i] = z->next_alpha_a[i];
    }
    z->last_step = h;
    z->has_last_step = 1;
}
