/* Solutions by the factors of limbs.h, of real numbers and of those of a step, as in limb_factors.h. */
#if LIMBS > 0 && SUPPLE_LANES == 1
/* Forces f on all coordinates and loops, twists V of frames: as limb_teams.h reads them, too */
typedef struct {
    NUMBER f[N_V], loops[AT_LEAST_ONE(N_LOOPED)], V[LIMBS][TWISTS];
} OF(Forced);

/* Sum of n products of factors and numbers */
SUPPLE_INLINE NUMBER OF(less_products)(int n, const NUMBER *l, const NUMBER *a, NUMBER x)
{
    NUMBER other = OF(number)(0.0);
    int i = 0;
    for (; i + 1 < n; i += 2) {
        x = OF(less)(x, l[i], a[i]);
        other = OF(less)(other, l[i + 1], a[i + 1]);
    }
    return OF(sum)(i < n ? OF(less)(x, l[i], a[i]) : x, other);
}

/* Forces on the elastic coordinates of a limb, whose columns have few numbers, go on and are divided by their pivots */
SUPPLE_INLINE void OF(elastic_down)(int j, const NUMBER *m, const NUMBER *packed, OF(Forced) *f)
{
    const Limb *limb = LIMB + j;
    const int *end = LIMB_COLUMN + LIMB_FIRST[j];
    const NUMBER *pivot = m + LIMB_STORE[j];
    NUMBER *all = (NUMBER *)f, *own = f->f + limb->e; /* PACKED_TO counts from the start */
    for (int k = 0; k < limb->elastic; k++, pivot += COLUMN(limb)) {
        if (limb->light >= 0) {
            f->loops[limb->light + k] = OF(sum)(f->loops[limb->light + k], own[k]);
            continue;
        }
        for (int t = end[k]; t < end[k + 1]; t++)
            all[PACKED_TO[t]] = OF(less)(all[PACKED_TO[t]], packed[t], own[k]);
        own[k] = OF(times)(*pivot, own[k]);
    }
}

/* Motions of the elastic coordinates of a limb, by those of its twist and the forces in loops */
SUPPLE_INLINE void OF(elastic_up)(int j, const NUMBER *packed, OF(Forced) *f)
{
    const Limb *limb = LIMB + j;
    const int *end = LIMB_COLUMN + LIMB_FIRST[j];
    const NUMBER *all = (const NUMBER *)f;
    for (int k = limb->elastic - 1; k >= 0; k--) {
        NUMBER x = limb->light < 0 ? f->f[limb->e + k] : f->loops[limb->light + k], other = OF(number)(0.0);
        int t = end[k];
        for (; limb->light < 0 && t + 1 < end[k + 1]; t += 2) { /* two sums that need not wait for each other */
            x = OF(less)(x, packed[t], all[PACKED_TO[t]]);
            other = OF(less)(other, packed[t + 1], all[PACKED_TO[t + 1]]);
        }
        if (limb->light < 0 && t < end[k + 1])
            x = OF(less)(x, packed[t], all[PACKED_TO[t]]);
        f->f[limb->e + k] = OF(sum)(x, other);
    }
}

SUPPLE_INLINE void OF(forces_down)(const double *reach, int j, const NUMBER *m, const NUMBER *packed, OF(Forced) *f)
{
    const Limb *limb = LIMB + j;
    const NUMBER *a = m + LIMB_STORE[j] + limb->elastic * COLUMN(limb);
    const double *T = reach + LIMB_REACH[j];
    NUMBER *V = f->V[j];
    OF(elastic_down)(j, m, packed, f);
    for (int k = 0; k < limb->dofs; k++, a += DOF(limb)) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        NUMBER *x = f->f + limb->q + k;
        for (int i = 0; i < TWISTS; i++)
            *x = OF(more)(*x, axis[i], V[i]);
        if (limb->light >= 0) {
            NUMBER *lent = f->loops + limb->light + limb->elastic + k;
            *lent = OF(sum)(*lent, *x);
            continue;
        }
        for (int i = 0; i < TWISTS; i++)
            V[i] = OF(less)(V[i], a[1 + i], *x);
        for (int i = limb->first; i < limb->last; i++)
            f->loops[i] = OF(less)(f->loops[i], a[1 + TWISTS + i - limb->first], *x);
        *x = OF(times)(a[0], *x);
    }
    for (int k = 0; k < TWISTS + limb->marked && limb->parent >= 0; k++, T += TWISTS) {
        NUMBER *to = k < TWISTS ? f->V[limb->parent] + k : f->f + LIMB[limb->parent].e + limb->mark + k - TWISTS;
        for (int i = 0; i < TWISTS; i++)
            *to = OF(more)(*to, T[i], V[i]);
    }
}

SUPPLE_INLINE void OF(motions_up)(const double *reach, int j, const NUMBER *m, const NUMBER *packed, OF(Forced) *f)
{
    const Limb *limb = LIMB + j;
    const double *T = reach + LIMB_REACH[j];
    NUMBER *V = f->V[j];
    for (int i = 0; i < TWISTS; i++)
        V[i] = OF(number)(0.0);
    for (int k = 0; k < TWISTS + limb->marked && limb->parent >= 0; k++, T += TWISTS) {
        const NUMBER from = k < TWISTS ? f->V[limb->parent][k] : f->f[LIMB[limb->parent].e + limb->mark + k - TWISTS];
        for (int i = 0; i < TWISTS; i++)
            V[i] = OF(more)(V[i], T[i], from);
    }
    for (int k = limb->dofs - 1; k >= 0; k--) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        const NUMBER *a = m + LIMB_STORE[j] + limb->elastic * COLUMN(limb) + k * DOF(limb);
        NUMBER *x = f->f + limb->q + k;
        if (limb->light < 0) {
            *x = OF(less_products)(TWISTS, a + 1, V, *x);
            *x = OF(less_products)(limb->last - limb->first, a + 1 + TWISTS, f->loops + limb->first, *x);
        } else
            *x = f->loops[limb->light + limb->elastic + k];
        for (int i = 0; i < TWISTS; i++)
            V[i] = OF(more)(V[i], axis[i], *x);
    }
    OF(elastic_up)(j, packed, f);
}

/* Forces in loops that meet: solved but for their host's twist, and then with it */
SUPPLE_INLINE void OF(meet_forces)(Sim *z, int which, const Meeting *at, const NUMBER *m, OF(Forced) *f)
{
    const int n = at->last - at->first;
    int *const pivot[2] = {z->limb_pivot[which] + at->first, z->limb_pivot[LIMB_PAIR] + at->first};
    const NUMBER *held = m + LIMB_HELD + TWISTS * at->first;
    OF(solve_loops)(n, OF(loops_of)(z, which) + OF(PARTS_OF) * at->first * N_LOOPED, pivot, f->loops + at->first);
    for (int i = 0; i < n && at->host >= 0; i++)
        for (int k = 0; k < TWISTS; k++)
            f->V[at->host][k] = OF(less)(f->V[at->host][k], OF(factor)(held[TWISTS * i + k]), f->loops[at->first + i]);
}

SUPPLE_INLINE void OF(follow_host)(const Meeting *at, const NUMBER *m, OF(Forced) *f)
{
    for (int i = at->first; i < at->last && at->host >= 0; i++)
        f->loops[i] = OF(less_products)(TWISTS, m + LIMB_SOLVED + TWISTS * i, f->V[at->host], f->loops[i]);
}

/* Forces f become accelerations, and `loops` the forces in loops, against what they are counted as; V is made here */
SUPPLE_APART SUPPLE_WIDE void OF(limb_solve)(Sim *z, int which, OF(Forced) *f)
{
    const NUMBER *m = OF(columns_of)(z, which), *packed = OF(packed_of)(z, which);
    const double *reach = reach_of(z, which);
    memset(f->loops, 0, sizeof f->loops + sizeof f->V);
    OF(teams_down)(z, which, (double *)f);
    for (int n = 0; n < LIMBS_LEFT; n++) {
        for (int k = 0; k < N_MEETINGS && n == LEFT_BEFORE; k++)
            if (MEETINGS[k].host >= 0 && !IN_TEAM[k])
                OF(meet_forces)(z, which, MEETINGS + k, m, f);
        OF(forces_down)(reach, LIMB_LEFT[n], m, packed, f);
    }
    for (int k = 0; k < N_MEETINGS; k++)
        if (MEETINGS[k].host < 0)
            OF(meet_forces)(z, which, MEETINGS + k, m, f);
    for (int n = LIMBS_LEFT - 1; n >= 0; n--) {
        OF(motions_up)(reach, LIMB_LEFT[n], m, packed, f);
        for (int k = 0; k < N_MEETINGS && n == LEFT_BEFORE; k++)
            if (!IN_TEAM[k])
                OF(follow_host)(MEETINGS + k, m, f);
    }
    OF(teams_up)(z, which, (double *)f);
}

/* to -= what stiffness and damping make of motions r */
static SUPPLE_WIDE void OF(less_stiffness)(const NUMBER *stiff, const NUMBER *restrict r, NUMBER *restrict to)
{
    for (int t = 0; t < STIFF_ENTRIES;) {
        const int k = STIFF_COLUMN[t];
        const NUMBER own = r[k];
        NUMBER sum = OF(less)(to[k], stiff[t], own); /* the diagonal stands first */
        for (t++; t < STIFF_ENTRIES && STIFF_COLUMN[t] == k; t++) {
            const int i = STIFF_ROW[t];
            to[i] = OF(less)(to[i], stiff[t], own);
            sum = OF(less)(sum, stiff[t], r[i]);
        }
        to[k] = sum;
    }
}

/* the same files for the numbers of a step */
#undef NUMBER
#undef OF
#define NUMBER Step
#define OF(name) name##_step
#endif
