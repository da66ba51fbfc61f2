/* What is made of the solutions of limbs.h: steps of Newton's method, what is below the cutoff, what misfits are felt as. */
#if LIMBS > 0 && SUPPLE_LANES == 1
/* Factors of the present posture: the mass, and the sieve; 0: there is no mass somewhere */
static int take_mass(Sim *z)
{
    const double cutoff = z->settings.cutoff;
    double moved = 0.0;
    for (int i = 0; i < N_Q && z->has_mass; i++)
        moved = larger(moved, fabs(z->now.q[i] - z->mass_q[i]));
    if (z->has_mass && moved < NEARBY)
        return 1;
    take_posture(z, z->now.q, z->limb_reach[1]);
    stiffness_real(z->limb_reach[1], 0.0, 1.0, z->limb_factor[0], z->limb_stiff);
    memcpy(z->mass_q, z->now.q, sizeof z->mass_q);
    z->has_mass = factors_real(z, LIMB_MASS, 0.0, 0.0, NULL);
    if (z->has_mass && cutoff > 0.0)
        z->has_mass = factors_real(z, LIMB_SIEVE, 0.0, 1.0 / (cutoff * cutoff), NULL);
    return z->has_mass;
}

/* Rows of all coordinates by those of the free ones, given ones at rest; 0: the posture is singular, and others are zero */
static int spread_out_free(const Sim *z, int count, const double *r, double *all)
{
    memset(all, 0, count * N_V * sizeof *all);
    for (int p = 0; p < count; p++)
        for (int i = 0; i < N_FREE; i++)
            all[p * N_V + z->chosen.free_v[i]] = r[p * N_FREE + i];
#if N_DEP > 0
    static SUPPLE_THREAD Loops loops;
    const Choice by = choice_of(z);
    double rate[N_ROW], follow[SIDE_BY_SIDE * N_DEP];
    if (followers_at_once && count > 1) {
        const Moment at = moment(z);
        const int outcome = followers_at_once(&at, count, r, follow);
        for (int p = 0; p < count; p++)
            for (int i = 0; i < N_DEP; i++)
                all[p * N_V + z->chosen.dependent_v[i]] = follow[p * N_DEP + i];
        return outcome == FINE;
    }
    for (int p = 0; p < count; p++, all += N_V) {
        model_rates(z->now.q, all, z->parameters, rate, loops.wide);
        if (p == 0 && !(factorise_loops(&ROBOT, &by, z->parameters, z->live, z->now.q, JACOBIAN, &loops) > 0.0))
            return 0;
        solve_loops(&ROBOT, &by, z->parameters, &loops, rate, follow);
        for (int i = 0; i < N_DEP; i++)
            all[z->chosen.dependent_v[i]] = -follow[i];
    }
#endif
    return 1;
}

/* Whether something stiff follows the free coordinates: what is elastic, or held by a controller */
SUPPLE_LOCAL int stiff_follows(const Sim *z)
{
    int found = 0;
    for (int i = 0; i < N_DEP; i++) {
        const int k = z->chosen.dependent_v[i];
        found |= ELASTIC[k] || z->joint_gain[0][k] != 0.0 || z->joint_gain[1][k] != 0.0;
    }
    return found;
}

/* r of all coordinates becomes what is below the cutoff, (M + k K)^-1 M r twice */
static void sift_all(Sim *z, double *r)
{
    Forced_real f;
    const double k = 1.0 / (z->settings.cutoff * z->settings.cutoff);
    for (int n = 0; n < 2; n++) {
        memset(f.f, 0, sizeof f.f);
        less_stiffness_real(z->limb_stiff, r, f.f);
        for (int i = 0; i < N_V; i++)
            f.f[i] *= k;
        limb_solve_real(z, LIMB_SIEVE, &f);
        for (int i = 0; i < N_V; i++)
            r[i] += f.f[i];
    }
}

static void limb_sift(Sim *z, double *r)
{
    double all[N_V];
    if (!take_mass(z) || !spread_out_free(z, 1, r, all))
        return;
    sift_all(z, all);
    for (int i = 0; i < N_FREE; i++)
        r[i] = all[z->chosen.free_v[i]];
}

/* felt = -M^-1 k K r of all coordinates: accelerations by displacements k r */
static void feel(Sim *z, double k, const double *r, double *felt)
{
    Forced_real f;
    memset(f.f, 0, sizeof f.f);
    less_stiffness_real(z->limb_stiff, r, f.f);
    limb_solve_real(z, LIMB_MASS, &f);
    for (int i = 0; i < N_V; i++)
        felt[i] = k * f.f[i];
}

/* Numbers of a step of length h: times the eigenvalues of a method, or their squares */
SUPPLE_LOCAL Step step_by(const Collocation *c, double h, int squared)
{
    double x[STEP_LANES] = {squared ? h * h * c->own * c->own : h * c->own};
    for (int k = 0; k < PAIRS; k++) {
        const double re = h * c->re[k], im = -h * c->im[k];
        x[STAGES % 2 + 2 * k] = squared ? re * re - im * im : re;
        x[STAGES % 2 + 2 * k + 1] = squared ? 2.0 * re * im : im;
    }
    return step_of(x[0], x[1], x[2], x[3]);
}

/* h Fx v of the free coordinates; zeros where there is no mass */
static void limb_pull(Sim *z, double h, double *pull)
{
    double found[N_V] = {0};
    if (take_mass(z))
        feel(z, h, z->now.v, found);
    for (int i = 0; i < N_FREE; i++)
        pull[i] = found[z->chosen.free_v[i]];
}

/* M + v D + x K of a step of length h factorised, in the posture amid it */
static int limb_matrix(Sim *z, const Collocation *c, double h)
{
    double q[N_Q];
    memcpy(q, z->now.q, sizeof q);
    for (int i = 0; i < N_FREE; i++)
        if (z->chosen.free_q[i] >= 0)
            q[z->chosen.free_q[i]] += 0.5 * h * z->now.v[z->chosen.free_v[i]];
    for (int i = 0; i < N_DEP; i++)
        if (z->chosen.dependent_q[i] >= 0)
            q[z->chosen.dependent_q[i]] += 0.5 * h * z->now.v[z->chosen.dependent_v[i]];
    for (int i = 0; i < N_GIVEN; i++)
        q[GIVEN_Q[i]] += 0.5 * h * z->now.v[GIVEN_V[i]];
    take_posture(z, q, z->limb_reach[0]);
    return factors_step(z, LIMB_STEP, step_by(c, h, 0), step_by(c, h, 1), (Step *)z->limb_stiff_step);
}

/* w: misfits of accelerations become the corrections of the stages in whose matrices they are seen: with S = v D + x K,
 * (1 + M^-1 S) y = w is y = w - (M + S)^-1 S w, in which masses are of no account but beside S */
static SUPPLE_WIDE void limb_correct(Sim *z, const Collocation *c, double (*w)[AT_LEAST_ONE(N_FREE)])
{
    Forced_step f;
    Step all[N_V];
    const Step v = step_by(c, z->factorised_step, 0), x = step_by(c, z->factorised_step, 1);
    memset(all, 0, sizeof all);
    memset(f.f, 0, sizeof f.f);
    for (int i = 0; i < N_FREE; i++)
        all[z->chosen.free_v[i]] = step_of(w[0][i], w[1][i], w[2][i], STAGES > 3 ? w[STAGES - 1][i] : 0.0);
    if (stiff_follows(z)) { /* else what follows is not seen by S */
        double every[STAGES * N_V];
        spread_out_free(z, STAGES, w[0], every);
        for (int i = 0; i < N_V; i++)
            all[i] = step_of(every[i], every[N_V + i], every[2 * N_V + i], STAGES > 3 ? every[(STAGES - 1) * N_V + i] : 0.0);
    }
    less_stiffness_step((const Step *)z->limb_stiff_step, all, f.f);
    for (int j = 0; j < LIMBS; j++)
        for (int k = 0; k < LIMB[j].dofs; k++) {
            const int i = LIMB[j].q + k;
            const double damping = LIMB_NUMBERS[LIMB[j].joint + JOINT * k + TWISTS + 1] + z->joint_gain[1][i];
            f.f[i] = more_step(f.f[i], -damping, times_step(factor_step(v), all[i]));
            f.f[i] = more_step(f.f[i], -z->joint_gain[0][i], times_step(factor_step(x), all[i]));
        }
    limb_solve_step(z, LIMB_STEP, &f);
    for (int i = 0; i < N_FREE; i++) {
        const Step y = f.f[z->chosen.free_v[i]];
        for (int p = 0; p < STAGES; p++)
            w[p][i] += PART(y, p);
    }
}

#ifdef LIMB_DAMPING
#if defined(__GNUC__)
#define ABREAST (DAMPED_AHEAD / 2)
typedef double Abreast __attribute__((vector_size(ABREAST * sizeof(double)), aligned(sizeof(double)), may_alias));
#else
#define ABREAST 1
typedef double Abreast;
#endif
/* x = D v of three stages, D of a block by its rows, sixteen entries at a time; what x has behind the block is spoilt */
static SUPPLE_WIDE void damped_block(const double *D, int n, const double *const *v, double *const *x)
{
    for (int i = 0; i < n; i += 2 * ABREAST) {
        Abreast a0 = {0}, a1 = {0}, a2 = {0}, b0 = {0}, b1 = {0}, b2 = {0};
        for (int k = 0; k < n; k++) {
            const Abreast a = *(const Abreast *)(D + k * n + i), b = *(const Abreast *)(D + k * n + i + ABREAST);
            a0 += a * v[0][k];
            a1 += a * v[1][k];
            a2 += a * v[2][k];
            b0 += b * v[0][k];
            b1 += b * v[1][k];
            b2 += b * v[2][k];
        }
        *(Abreast *)(x[0] + i) = a0;
        *(Abreast *)(x[1] + i) = a1;
        *(Abreast *)(x[2] + i) = a2;
        *(Abreast *)(x[0] + i + ABREAST) = b0;
        *(Abreast *)(x[1] + i + ABREAST) = b1;
        *(Abreast *)(x[2] + i + ABREAST) = b2;
    }
}

/* Forces of further damping in the postures of all stages, added to what is out of balance; and the power that they take.
 * again: 0 where those of the last call do, because hardly anything has changed since */
static void damp(const Posture *at, int again, double (*balance)[N_V], double *lost)
{
    static SUPPLE_THREAD double v[STAGES][LIMB_DAMPING], x[STAGES][LIMB_DAMPING + 2 * ABREAST];
    static SUPPLE_THREAD double slope[STAGES][BENDING * ALL_STRETCHES];
    for (int p = 0; p < STAGES; p++) {
        for (int i = 0; i < LIMB_DAMPING; i++)
            v[p][i] = at[p].v[DAMPED_AT[i]];
        for (const Damped *d = DAMPED_BLOCK; d < DAMPED_BLOCK + DAMPED_BLOCKS; d++) {
            if (again)
                slopes_of(d, at[p].q, slope[p] + BENDING * d->stretch);
            strain_rates(d, slope[p] + BENDING * d->stretch, at[p].v, v[p] + d->at);
        }
    }
    for (const Damped *d = DAMPED_BLOCK; d < DAMPED_BLOCK + DAMPED_BLOCKS && again; d++) {
        const double *const rate[] = {v[0] + d->at, v[1] + d->at, v[2] + d->at};
        double *const force[] = {x[0] + d->at, x[1] + d->at, x[2] + d->at};
        damped_block(DAMPING + d->D, d->n, rate, force);
    }
    for (int p = 0; p < STAGES; p++) {
        lost[p] = 0.0;
        for (int i = 0; i < LIMB_DAMPING; i++) {
            balance[p][DAMPED_AT[i]] += x[p][i];
            lost[p] += x[p][i] * v[p][i];
        }
        for (const Damped *d = DAMPED_BLOCK; d < DAMPED_BLOCK + DAMPED_BLOCKS; d++)
            strain_forces(d, slope[p] + BENDING * d->stretch, x[p] + d->at, balance[p]);
    }
}
#endif
#endif
