/* Solutions by the factors of limbs.h, and what is made of them: what is below the cutoff, what misfits are felt as. */
#if LIMBS > 0 && SUPPLE_LANES == 1
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

SUPPLE_INLINE double six(const double *l, const double *a)
{
    return (l[0] * a[0] + l[1] * a[1]) + (l[2] * a[2] + l[3] * a[3]) + (l[4] * a[4] + l[5] * a[5]);
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

/* Forces on the elastic coordinates of a limb, whose columns have few numbers, go on and are divided by their pivots */
SUPPLE_INLINE void elastic_down(int planes, int j, const double *m, const double *packed, Forced *f)
{
    const Limb *limb = LIMB + j;
    const int wide = COLUMN(limb), *end = LIMB_COLUMN + LIMB_FIRST[j];
    const double *pivot = m + LIMB_STORE[j];
    double *re = (double *)f, *im = (double *)(f + planes - 1); /* all of a plane: PACKED_TO counts from its start */
    if (limb->light >= 0) {
        for (int k = 0; k < limb->elastic; k++)
            for (int p = 0; p < planes; p++)
                f[p].loops[limb->light + k] += f[p].f[limb->e + k];
        return;
    }
    for (int k = 0; k < limb->elastic; k++, pivot += wide) {
        double x[2] = {re[limb->e + k], planes > 1 ? im[limb->e + k] : 0.0};
        for (int t = end[k]; t < end[k + 1]; t++) {
            const int to = PACKED_TO[t];
            if (planes == 1)
                re[to] -= packed[t] * x[0];
            else {
                const double lr = packed[2 * t], li = packed[2 * t + 1];
                re[to] -= lr * x[0] - li * x[1];
                im[to] -= lr * x[1] + li * x[0];
            }
        }
        const double p[2] = {pivot[0], planes > 1 ? pivot[LIMB_SIZE] : 0.0}, kept[2] = {x[0], x[1]};
        ratio(planes, kept[0], kept[1], p, x);
        re[limb->e + k] = x[0];
        if (planes > 1)
            im[limb->e + k] = x[1];
    }
}

/* Motions of the elastic coordinates of a limb, by those of its twist and the forces in loops */
SUPPLE_INLINE void elastic_up(int planes, int j, const double *packed, Forced *f)
{
    const Limb *limb = LIMB + j;
    const int *end = LIMB_COLUMN + LIMB_FIRST[j];
    double *re = (double *)f, *im = (double *)(f + planes - 1);
    for (int k = limb->elastic - 1; k >= 0; k--) {
        if (limb->light >= 0) {
            for (int p = 0; p < planes; p++)
                f[p].f[limb->e + k] = f[p].loops[limb->light + k];
            continue;
        }
        double x = 0.0, y = 0.0, x2 = 0.0, y2 = 0.0; /* sums that need not wait for each other */
        int t = end[k];
        for (; planes == 1 && t + 1 < end[k + 1]; t += 2) {
            x += packed[t] * re[PACKED_TO[t]];
            x2 += packed[t + 1] * re[PACKED_TO[t + 1]];
        }
        for (; t < end[k + 1]; t++) {
            const int from = PACKED_TO[t];
            if (planes == 1)
                x += packed[t] * re[from];
            else {
                const double lr = packed[2 * t], li = packed[2 * t + 1];
                x += lr * re[from];
                y += lr * im[from];
                x2 -= li * im[from];
                y2 += li * re[from];
            }
        }
        re[limb->e + k] -= x + x2;
        if (planes > 1)
            im[limb->e + k] -= y + y2;
    }
}

SUPPLE_INLINE void forces_down(const double *reach, int planes, int j, const double *m, const double *packed, Forced *f)
{
    const Limb *limb = LIMB + j;
    const double *a = m + LIMB_STORE[j] + limb->elastic * COLUMN(limb), *T = reach + LIMB_REACH[j];
    elastic_down(planes, j, m, packed, f);
    for (int k = 0; k < limb->dofs; k++, a += DOF(limb)) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        double x[2] = {0};
        for (int p = 0; p < planes; p++) {
            x[p] = f[p].f[limb->q + k] + six(axis, f[p].V[j]);
            if (limb->light >= 0)
                f[p].loops[limb->light + limb->elastic + k] += x[p];
        }
        if (limb->light >= 0)
            continue;
        pass_on(planes, limb, j, a + 1, a, x, f);
        for (int p = 0; p < planes; p++)
            f[p].f[limb->q + k] = x[p];
    }
    for (int p = 0; p < planes && limb->parent >= 0; p++) {
        const double *V = f[p].V[j];
        const double x[6] = {V[0], V[1], V[2], V[3], V[4], V[5]};
        double *twist = f[p].V[limb->parent], *own = f[p].f + LIMB[limb->parent].e + limb->mark;
        for (int k = 0; k < 6; k++)
            twist[k] += six(T + 6 * k, x);
        for (int k = 0; k < limb->marked; k++)
            own[k] += six(T + 36 + 6 * k, x);
    }
}

SUPPLE_INLINE void motions_up(const double *reach, int planes, int j, const double *m, const double *packed, Forced *f)
{
    const Limb *limb = LIMB + j;
    const long apart = sizeof(Forced) / sizeof(double);
    const int wide = COLUMN(limb), forces = limb->last - limb->first;
    const double *T = reach + LIMB_REACH[j], *own = m + LIMB_STORE[j];
    for (int p = 0; p < planes; p++) {
        double V[6] = {0};
        const double *twist = f[p].V[limb->parent >= 0 ? limb->parent : 0];
        for (int k = 0; k < 6 && limb->parent >= 0; k++)
            for (int i = 0; i < 6; i++)
                V[i] += T[6 * k + i] * twist[k];
        for (int k = 0; k < limb->marked && limb->parent >= 0; k++)
            for (int i = 0; i < 6; i++)
                V[i] += T[36 + 6 * k + i] * f[p].f[LIMB[limb->parent].e + limb->mark + k];
        memcpy(f[p].V[j], V, sizeof V);
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
    elastic_up(planes, j, packed, f);
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
    const double *m = factor_of(z, which), *reach = reach_of(z, which), *packed = z->limb_packed[which];
    const int *pivot = z->limb_pivot[which];
    for (int p = 0; p < planes; p++) {
        memset(f[p].V, 0, sizeof f[p].V);
        memset(f[p].loops, 0, sizeof f[p].loops);
    }
    teams_down(z, which, planes, f);
    for (int n = 0; n < LIMBS_LEFT; n++) {
        for (int k = 0; k < N_MEETINGS && n == LEFT_BEFORE; k++)
            if (MEETINGS[k].host >= 0 && !IN_TEAM[k])
                meet_forces(planes, MEETINGS + k, pivot, m, f);
        forces_down(reach, planes, LIMB_LEFT[n], m, packed, f);
    }
    for (int k = 0; k < N_MEETINGS; k++)
        if (MEETINGS[k].host < 0)
            meet_forces(planes, MEETINGS + k, pivot, m, f);
    for (int n = LIMBS_LEFT - 1; n >= 0; n--) {
        motions_up(reach, planes, LIMB_LEFT[n], m, packed, f);
        for (int k = 0; k < N_MEETINGS && n == LEFT_BEFORE; k++)
            if (!IN_TEAM[k])
                follow_host(planes, MEETINGS + k, m, f);
    }
    teams_up(z, which, planes, f);
}

/* What is not zero of the elastic columns, one after the other; parts of a complex number side by side */
SUPPLE_INLINE int pack(Sim *z, int which, int planes)
{
    const double *m = factor_of(z, which);
    double *to = z->limb_packed[which];
    for (int t = 0; t < PACKED_SIZE; t++)
        for (int p = 0; p < planes; p++)
            *to++ = m[p * LIMB_SIZE + PACKED_FROM[t]];
    pack_teams(z, which, planes);
    return 1;
}

/* The same with the number of planes known to the compiler */
static SUPPLE_WIDE int limb_real_factors(Sim *z, int which, double v, double x) 
{
    return limb_factors(z, which, 1, &v, &x) && pack(z, which, 1);
}

static SUPPLE_WIDE int limb_pair_factors(Sim *z, const double *v, const double *x)
{
    return limb_factors(z, LIMB_PAIR, 2, v, x) && pack(z, LIMB_PAIR, 2);
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
    for (int t = 0; t < STIFF_ENTRIES; t++) {
        const int i = STIFF_ROW[t], j = STIFF_COLUMN[t];
        to[i] += k * STIFF[t] * r[j];
        to[j] += i == j ? 0.0 : k * STIFF[t] * r[i];
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
            v[p][i] = at[p].v[ELASTIC_V[DAMPED_AT[i]]];
            x[p][i] = again ? 0.0 : x[p][i];
        }
    for (int d = 0; d < DAMPED_BLOCKS && again; d++) {
        const int first = DAMPED[d][0], n = DAMPED[d][1];
        double *restrict x0 = x[0] + first, *restrict x1 = x[1] + first, *restrict x2 = x[2] + first;
        const double *v0 = v[0] + first, *v1 = v[1] + first, *v2 = v[2] + first;
        for (int k = 0; k < n; k += 2) { /* a row of zeros may follow the last */
            const double *restrict a = DAMPING + DAMPED[d][2] + k * n, *restrict b = a + n;
            const double a0 = v0[k], a1 = v1[k], a2 = v2[k], b0 = v0[k + 1], b1 = v1[k + 1], b2 = v2[k + 1];
            for (int i = 0; i < n; i++) {
                x0[i] += a[i] * a0 + b[i] * b0;
                x1[i] += a[i] * a1 + b[i] * b1;
                x2[i] += a[i] * a2 + b[i] * b2;
            }
        }
    }
    for (int p = 0; p < STAGES; p++) {
        lost[p] = 0.0;
        for (int i = 0; i < LIMB_DAMPING; i++) {
            balance[p][ELASTIC_V[DAMPED_AT[i]]] += x[p][i];
            lost[p] += x[p][i] * v[p][i];
        }
    }
}
#endif
#endif
