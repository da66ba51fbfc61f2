/* Solutions by the factors of limbs.h, and what is made of them: what is below the cutoff, what misfits are felt as. */
#if LIMBS > 0 && SUPPLE_LANES == 1
/* Forces f on all coordinates and loops, twists V: imaginary parts in a second plane */
typedef struct {
    double f[N_V], loops[AT_LEAST_ONE(N_LOOPED)], V[LIMBS][6];
} Forced;

/* Sum of products, four by four: they need not wait for each other */
SUPPLE_INLINE double dot(int n, const double *l, const double *a)
{
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += l[i + k] * a[i + k];
    for (; i < n; i++)
        sum[0] += l[i] * a[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* x less the products of l and a */
SUPPLE_INLINE void less_products(int planes, int n, const double *l, const double *a, long apart, double *x)
{
    x[0] -= dot(n, l, a);
    if (planes == 1)
        return;
    x[0] += dot(n, l + LIMB_SIZE, a + apart);
    x[1] -= dot(n, l, a + apart) + dot(n, l + LIMB_SIZE, a);
}

/* A force on a coordinate whose column begins at l goes on to the twist and the loops, and is divided by its pivot at p */
SUPPLE_INLINE void pass_on(int planes, const Limb *limb, int j, const double *l, const double *p, double *x, Forced *f)
{
    const long apart = sizeof(Forced) / sizeof(double);
    less(planes, 6, x, l, LIMB_SIZE, f[0].V[j], apart);
    less(planes, limb->last - limb->first, x, l + 6, LIMB_SIZE, f[0].loops + limb->first, apart);
    const double pivot[2] = {p[0], planes > 1 ? p[LIMB_SIZE] : 0.0}, kept[2] = {x[0], x[1]};
    ratio(planes, kept[0], kept[1], pivot, x);
}

SUPPLE_INLINE void forces_down(const double *reach, int planes, int j, const double *m, Forced *f)
{
    const Limb *limb = LIMB + j;
    const long apart = sizeof(Forced) / sizeof(double);
    const int wide = COLUMN(limb);
    const double *a = m + LIMB_STORE[j], *T = reach + LIMB_REACH[j];
    for (int k = 0; k < limb->elastic; k++, a += wide) {
        double *own = f[0].f + limb->e + k, x[2] = {own[0], planes > 1 ? own[apart] : 0.0};
        for (int p = 0; p < planes && limb->light >= 0; p++)
            f[p].loops[limb->light + k] += x[p];
        if (limb->light >= 0)
            continue;
        const int near = limb->elastic - 1 - k < limb->band ? limb->elastic - 1 - k : limb->band;
        less(planes, near, x, a + 1, LIMB_SIZE, own + 1, apart);
        pass_on(planes, limb, j, a + 1 + limb->band, a, x, f);
        for (int p = 0; p < planes; p++)
            own[p * apart] = x[p];
    }
    for (int k = 0; k < limb->dofs; k++, a += DOF(limb)) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        double x[2] = {0};
        for (int p = 0; p < planes; p++) {
            x[p] = f[p].f[limb->q + k];
            for (int i = 0; i < 6; i++)
                x[p] += axis[i] * f[p].V[j][i];
            if (limb->light >= 0)
                f[p].loops[limb->light + limb->elastic + k] += x[p];
        }
        if (limb->light >= 0)
            continue;
        pass_on(planes, limb, j, a + 1, a, x, f);
        for (int p = 0; p < planes; p++)
            f[p].f[limb->q + k] = x[p];
    }
    for (int p = 0; p < planes && limb->parent >= 0; p++)
        for (int k = 0; k < 6 + limb->marked; k++) {
            double *to = k < 6 ? f[p].V[limb->parent] + k : f[p].f + LIMB[limb->parent].e + limb->mark + k - 6;
            for (int i = 0; i < 6; i++)
                *to += T[6 * k + i] * f[p].V[j][i];
        }
}

SUPPLE_INLINE void motions_up(const double *reach, int planes, int j, const double *m, Forced *f)
{
    const Limb *limb = LIMB + j;
    const long apart = sizeof(Forced) / sizeof(double);
    const int wide = COLUMN(limb), forces = limb->last - limb->first;
    const double *T = reach + LIMB_REACH[j], *own = m + LIMB_STORE[j];
    for (int p = 0; p < planes; p++) {
        memset(f[p].V[j], 0, sizeof f[p].V[j]);
        for (int k = 0; k < 6 + limb->marked && limb->parent >= 0; k++) {
            const double x = k < 6 ? f[p].V[limb->parent][k] : f[p].f[LIMB[limb->parent].e + limb->mark + k - 6];
            for (int i = 0; i < 6; i++)
                f[p].V[j][i] += T[6 * k + i] * x;
        }
    }
    for (int k = limb->dofs - 1; k >= 0; k--) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k, *a = own + limb->elastic * wide + k * DOF(limb);
        double x[2] = {f[0].f[limb->q + k], planes > 1 ? f[1].f[limb->q + k] : 0.0};
        if (limb->light < 0) {
            less_products(planes, 6, a + 1, f[0].V[j], apart, x);
            less_products(planes, forces, a + 7, f[0].loops + limb->first, apart, x);
        }
        for (int p = 0; p < planes; p++) {
            x[p] = limb->light < 0 ? x[p] : f[p].loops[limb->light + limb->elastic + k];
            f[p].f[limb->q + k] = x[p];
            for (int i = 0; i < 6; i++)
                f[p].V[j][i] += axis[i] * x[p];
        }
    }
    for (int k = limb->elastic - 1; k >= 0; k--) {
        const double *a = own + k * wide;
        double *at = f[0].f + limb->e + k, x[2] = {at[0], planes > 1 ? at[apart] : 0.0};
        const int near = limb->elastic - 1 - k < limb->band ? limb->elastic - 1 - k : limb->band;
        if (limb->light < 0) {
            less_products(planes, near, a + 1, at + 1, apart, x);
            less_products(planes, 6, a + 1 + limb->band, f[0].V[j], apart, x);
            less_products(planes, forces, a + 7 + limb->band, f[0].loops + limb->first, apart, x);
        }
        for (int p = 0; p < planes; p++)
            at[p * apart] = limb->light < 0 ? x[p] : f[p].loops[limb->light + k];
    }
}

/* Forces in loops that meet: solved but for their host's twist, and then with it */
SUPPLE_INLINE void meet_forces(int planes, const Meeting *at, const int *pivot, const double *m, Forced *f)
{
    const int n = at->last - at->first;
    const double *square = m + LIMB_LOOPS + at->first * N_LOOPED, *held = m + LIMB_HELD + 6 * at->first;
    if (planes == 1)
        solve(square, pivot + at->first, n, f[0].loops + at->first);
    else
        solve_complex(square, square + LIMB_SIZE, pivot + at->first, n, f[0].loops + at->first, f[1].loops + at->first);
    for (int p = 0; p < planes && at->host >= 0; p++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 6; k++)
                f[p].V[at->host][k] -= held[6 * i + k] * f[p].loops[at->first + i];
}

SUPPLE_INLINE void follow_host(int planes, const Meeting *at, const double *m, Forced *f)
{
    const long apart = sizeof(Forced) / sizeof(double);
    for (int i = at->first; i < at->last && at->host >= 0; i++) {
        double x[2] = {f[0].loops[i], planes > 1 ? f[1].loops[i] : 0.0};
        less_products(planes, 6, m + LIMB_SOLVED + 6 * i, f[0].V[at->host], apart, x);
        for (int p = 0; p < planes; p++)
            f[p].loops[i] = x[p];
    }
}

/* Forces f become accelerations, and `loops` the forces in loops, against what they are counted as; V is made here */
SUPPLE_INLINE void limb_solve(Sim *z, int which, int planes, Forced *f)
{
    const double *m = factor_of(z, which), *reach = reach_of(z, which);
    const int *pivot = z->limb_pivot[which];
    for (int p = 0; p < planes; p++) {
        memset(f[p].V, 0, sizeof f[p].V);
        memset(f[p].loops, 0, sizeof f[p].loops);
    }
    for (int n = 0; n < LIMBS; n++) {
        for (int k = 0; k < N_MEETINGS && n == LIMBS_BEFORE; k++)
            if (MEETINGS[k].host >= 0)
                meet_forces(planes, MEETINGS + k, pivot, m, f);
        forces_down(reach, planes, LIMB_ORDER[n], m, f);
    }
    for (int k = 0; k < N_MEETINGS; k++)
        if (MEETINGS[k].host < 0)
            meet_forces(planes, MEETINGS + k, pivot, m, f);
    for (int n = LIMBS - 1; n >= 0; n--) {
        motions_up(reach, planes, LIMB_ORDER[n], m, f);
        for (int k = 0; k < N_MEETINGS && n == LIMBS_BEFORE; k++)
            follow_host(planes, MEETINGS + k, m, f);
    }
}

/* The same with the number of planes known to the compiler */
static SUPPLE_WIDE int limb_real_factors(Sim *z, int which, double v, double x) { return limb_factors(z, which, 1, &v, &x); }

static SUPPLE_WIDE int limb_pair_factors(Sim *z, const double *v, const double *x)
{
    return limb_factors(z, LIMB_PAIR, 2, v, x);
}

static SUPPLE_WIDE void limb_real_solve(Sim *z, int which, Forced *f) { limb_solve(z, which, 1, f); }
static SUPPLE_WIDE void limb_pair_solve(Sim *z, Forced *f) { limb_solve(z, LIMB_PAIR, 2, f); }

/* Factors of the present posture: the mass, and the sieve; 0: there is no mass somewhere */
static int take_mass(Sim *z)
{
    const double cutoff = z->settings.cutoff;
    double moved = 0.0;
    for (int i = 0; i < N_Q && z->has_mass; i++)
        moved = larger(moved, fabs(z->now.q[i] - z->mass_q[i]));
    if (z->has_mass && moved < NEARBY)
        return 1;
    take_posture(z, z->limb_reach[1]);
    z->has_mass = limb_real_factors(z, LIMB_MASS, 0.0, 0.0);
    memcpy(z->mass_q, z->now.q, sizeof z->mass_q);
    if (z->has_mass && cutoff > 0.0)
        z->has_mass = limb_real_factors(z, LIMB_SIEVE, 0.0, 1.0 / (cutoff * cutoff));
    return z->has_mass;
}

/* to += k K r of all bodies */
static void add_stiffness(double k, const double *r, double *to)
{
    for (int j = 0; j < LIMBS; j++) {
        const int n = LIMB[j].elastic, band = LIMB[j].band + 1, e = LIMB[j].e;
        const double *K = LIMB_NUMBERS + LIMB[j].stiff;
        for (int c = 0; c < n; c++)
            for (int i = 0; i < band && c + i < n; i++) {
                to[e + c + i] += k * K[c * band + i] * r[e + c];
                if (i)
                    to[e + c] += k * K[c * band + i] * r[e + c + i];
            }
    }
}

/* All coordinates by the free ones, given ones at rest; 0: the posture is singular */
static int spread_out_free(const Sim *z, const double *r, double *all)
{
    memset(all, 0, N_V * sizeof *all);
    for (int i = 0; i < N_FREE; i++)
        all[z->chosen.free_v[i]] = r[i];
#if N_DEP > 0
    static SUPPLE_THREAD Loops loops;
    const Choice by = choice_of(z);
    double rate[N_ROW], follow[N_DEP];
    model_rates(z->now.q, all, z->parameters, rate, loops.wide);
    if (!(factorise_loops(&ROBOT, &by, z->parameters, z->live, z->now.q, JACOBIAN, &loops) > 0.0))
        return 0;
    solve_loops(&ROBOT, &by, z->parameters, &loops, rate, follow);
    for (int i = 0; i < N_DEP; i++)
        all[z->chosen.dependent_v[i]] = -follow[i];
#endif
    return 1;
}

/* r of all coordinates becomes what is below the cutoff, (M + k K)^-1 M r twice */
static void sift_all(Sim *z, double *r)
{
    static SUPPLE_THREAD Forced f;
    const double k = 1.0 / (z->settings.cutoff * z->settings.cutoff);
    for (int n = 0; n < 2; n++) {
        memset(f.f, 0, sizeof f.f);
        add_stiffness(k, r, f.f);
        limb_real_solve(z, LIMB_SIEVE, &f);
        for (int i = 0; i < N_V; i++)
            r[i] -= f.f[i];
    }
}

static void limb_sift(Sim *z, double *r)
{
    double all[N_V];
    if (!take_mass(z) || !spread_out_free(z, r, all))
        return;
    sift_all(z, all);
    for (int i = 0; i < N_FREE; i++)
        r[i] = all[z->chosen.free_v[i]];
}

/* felt = -M^-1 k K r of all coordinates: accelerations by displacements k r */
static void feel(Sim *z, double k, const double *r, double *felt)
{
    static SUPPLE_THREAD Forced f;
    memset(f.f, 0, sizeof f.f);
    add_stiffness(-k, r, f.f);
    limb_real_solve(z, LIMB_MASS, &f);
    memcpy(felt, f.f, sizeof f.f);
}

#ifdef LIMB_DAMPING
/* Forces of further damping in the postures of all stages, added to what is out of balance; and the power that they take.
 * again: 0 where those of the last call do, because hardly anything has changed since */
static SUPPLE_WIDE void damp(const Posture *at, int again, double (*balance)[N_V], double *lost)
{
    static SUPPLE_THREAD double v[STAGES][LIMB_DAMPING + 1], x[STAGES][LIMB_DAMPING];
    for (int p = 0; p < STAGES; p++)
        for (int i = 0; i < LIMB_DAMPING; i++) {
            v[p][i] = at[p].v[ELASTIC_V[i]];
            x[p][i] = again ? 0.0 : x[p][i];
        }
    double *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2];
    for (int k = 0; k < LIMB_DAMPING && again; k += 2) { /* a row of zeros may follow the last */
        const double *restrict a = DAMPING[k], *restrict b = DAMPING[k + 1];
        const double a0 = v[0][k], a1 = v[1][k], a2 = v[2][k], b0 = v[0][k + 1], b1 = v[1][k + 1], b2 = v[2][k + 1];
        for (int i = 0; i < LIMB_DAMPING; i++) {
            x0[i] += a[i] * a0 + b[i] * b0;
            x1[i] += a[i] * a1 + b[i] * b1;
            x2[i] += a[i] * a2 + b[i] * b2;
        }
    }
    for (int p = 0; p < STAGES; p++) {
        lost[p] = 0.0;
        for (int i = 0; i < LIMB_DAMPING; i++) {
            balance[p][ELASTIC_V[i]] += x[p][i];
            lost[p] += x[p][i] * v[p][i];
        }
    }
}
#endif
#endif
