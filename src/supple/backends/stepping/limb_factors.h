/* Factors of limbs.h, of real numbers and of those of a step: NUMBER, and OF(a function's name) for these. */
#if LIMBS > 0 && SUPPLE_LANES == 1
/* Work of a factorisation: what is left on twists, itself and with forces in loops */
typedef struct {
    NUMBER inertia[LIMBS][TWISTS * TWISTS], pull[AT_LEAST_ONE(PULL_SIZE)];
} OF(Left);

/* t -= l a, n numbers */
SUPPLE_INLINE void OF(less_row)(int n, NUMBER l, const NUMBER *a, NUMBER *restrict t)
{
    for (int i = 0; i < n; i++)
        t[i] = OF(less)(t[i], l, a[i]);
}

/* What stretches of bent beams add to v D + x K in the columns of a body */
static void OF(stretch_out)(const double *reach, int j, NUMBER v, NUMBER x, NUMBER *m)
{
    const Limb *limb = LIMB + j;
    const double *g = reach + LIMB_BENT[j] + TWISTS * (TWISTS + limb->elastic);
    for (const Window *at = WINDOWS + limb->stretch; at < WINDOWS + limb->stretch + limb->stretches; g += at++->wide) {
        const int n = at->wide;
        const double *pulled = LIMB_NUMBERS + at->numbers + n * n, *damped = pulled + n, *whole = damped + n;
        NUMBER *column = m + LIMB_STORE[j] + at->first * COLUMN(limb);
        for (int k = 0; k < n; k++, column += COLUMN(limb))
            for (int i = k; i < n; i++) {
                column[i - k] = OF(more)(column[i - k], pulled[k] * g[i] + g[k] * pulled[i] + whole[0] * g[k] * g[i], x);
                column[i - k] = OF(more)(column[i - k], damped[k] * g[i] + g[k] * damped[i] + whole[1] * g[k] * g[i], v);
            }
    }
}

/* v D + x K of the bodies as bent, in columns that are zero elsewhere; and as factors what is not zero of it, if that is asked for */
static SUPPLE_WIDE void OF(stiffness)(const double *reach, NUMBER v, NUMBER x, NUMBER *m, NUMBER *stiff)
{
    memset(m, 0, LIMB_SIZE * sizeof *m);
    for (int j = 0; j < LIMBS; j++) {
        const Limb *limb = LIMB + j;
        const double *K = LIMB_NUMBERS + limb->stiff, *D = LIMB_NUMBERS + limb->damped;
        NUMBER *column = m + LIMB_STORE[j];
        for (int k = 0; k < limb->elastic; k++, column += COLUMN(limb))
            for (int i = 0; i <= limb->band; i++, K++, D++)
                column[i] = OF(more)(OF(more)(column[i], *K, x), *D, v);
        OF(stretch_out)(reach, j, v, x, m);
    }
    for (int t = 0; t < STIFF_ENTRIES && stiff; t++)
        stiff[t] = OF(factor)(m[STIFF_FROM[t]]);
}

/* Masses of bodies by themselves, and the anchors of loops on them */
static void OF(set_out)(const double *reach, NUMBER *m, OF(Left) *left)
{
    memset(left, 0, sizeof *left);
    for (int j = 0; j < LIMBS; j++) {
        const Limb *limb = LIMB + j;
        const double *inertia = reach + LIMB_BENT[j], *coupled = inertia + TWISTS * TWISTS, *M = LIMB_NUMBERS + limb->mass;
        NUMBER *column = m + LIMB_STORE[j];
        for (int i = 0; i < TWISTS * TWISTS; i++)
            left->inertia[j][i] = OF(number)(inertia[i]);
        for (int k = 0; k < limb->elastic; k++, column += COLUMN(limb)) {
            for (int i = 0; i <= limb->band; i++, M++)
                column[i] = OF(sum)(column[i], OF(number)(*M));
            for (int i = 0; i < TWISTS; i++, coupled++)
                column[1 + limb->band + i] = OF(number)(*coupled);
        }
    }
    for (int n = 0; n < N_TIES; n++) {
        const Tie *tie = TIES + n;
        const Limb *limb = LIMB + tie->frame;
        const int rows[6] = {tie->x, tie->y, tie->z, tie->rx, tie->ry, tie->rz}, wide = limb->last - limb->first;
        for (int k = 0; k < TWISTS + tie->marked; k++)
            for (int i = 0; i < 6; i++)
                if (rows[i] >= 0) {
                    NUMBER *to = tie->hosted ? m + LIMB_HELD + TWISTS * rows[i] + k
                        : k < TWISTS ? left->pull + LIMB_PULL[tie->frame] + k * wide + rows[i] - limb->first
                                     : m + LIMB_STORE[tie->frame] + (tie->mark + k - TWISTS) * COLUMN(limb) + limb->band + 1
                            + TWISTS + rows[i] - limb->first;
                    *to = OF(sum)(*to, OF(number)(reach[TIE_REACH[n] + 6 * k + i]));
                }
    }
}

/* Takes a coordinate off the inertia on its twist and off the forces in loops: its column on them, a, becomes a / pivot */
static void OF(take_off)(const Limb *limb, int j, NUMBER p, NUMBER *a, NUMBER *m, OF(Left) *left)
{
    const int forces = limb->last - limb->first;
    NUMBER *inertia = left->inertia[j], *pull = left->pull + LIMB_PULL[j], *loops = m + LIMB_LOOPS;
    for (int r = 0; r < TWISTS; r++) {
        const NUMBER l = OF(factor)(OF(times)(p, a[r]));
        if (OF(is_none)(l))
            continue;
        OF(less_row)(TWISTS, l, a, inertia + TWISTS * r);
        OF(less_row)(forces, l, a + TWISTS, pull + r * forces);
    }
    for (int r = 0; r < forces; r++) {
        const NUMBER l = OF(factor)(OF(times)(p, a[TWISTS + r]));
        if (!OF(is_none)(l))
            OF(less_row)(forces, l, a + TWISTS, loops + (limb->first + r) * N_LOOPED + limb->first);
    }
    for (int r = 0; r < TWISTS + forces; r++)
        a[r] = OF(factor)(OF(times)(p, a[r]));
}

/* A coordinate that moves no mass goes to the forces in loops, at a place i: its column a on them and on the twist */
static void OF(lend)(const Limb *limb, int j, int i, const NUMBER *a, NUMBER *m, OF(Left) *left)
{
    const int forces = limb->last - limb->first;
    NUMBER *loops = m + LIMB_LOOPS, *pull = left->pull + LIMB_PULL[j] + i - limb->first;
    for (int r = 0; r < TWISTS; r++)
        pull[r * forces] = OF(sum)(pull[r * forces], a[r]);
    for (int r = 0; r < forces; r++) {
        NUMBER *row = loops + i * N_LOOPED + limb->first + r, *column = loops + (limb->first + r) * N_LOOPED + i;
        *row = OF(sum)(*row, a[TWISTS + r]);
        *column = OF(sum)(*column, a[TWISTS + r]);
    }
}

static void OF(lend_elastic)(const Limb *limb, int j, NUMBER *m, OF(Left) *left)
{
    NUMBER *loops = m + LIMB_LOOPS;
    for (int k = 0; k < limb->elastic; k++) {
        const NUMBER *a = m + LIMB_STORE[j] + k * COLUMN(limb);
        OF(lend)(limb, j, limb->light + k, a + 1 + limb->band, m, left);
        for (int i = 0; i <= limb->band && k + i < limb->elastic; i++) {
            NUMBER *row = loops + (limb->light + k) * N_LOOPED + limb->light + k + i;
            NUMBER *column = loops + (limb->light + k + i) * N_LOOPED + limb->light + k;
            *row = OF(sum)(*row, a[i]);
            if (i)
                *column = OF(sum)(*column, a[i]);
        }
    }
}

/* Elastic coordinates of a limb eliminated; 0: they have no inertia */
static int OF(eliminate_elastic)(const Limb *limb, int j, NUMBER *m, OF(Left) *left)
{
    const int wide = COLUMN(limb), rest = wide - 1 - limb->band;
    int finite;
    if (limb->light >= 0) {
        OF(lend_elastic)(limb, j, m, left);
        return 1;
    }
    for (int k = 0; k < limb->elastic; k++) {
        NUMBER *a = m + LIMB_STORE[j] + k * wide;
        const int near = limb->elastic - 1 - k < limb->band ? limb->elastic - 1 - k : limb->band;
        const NUMBER p = OF(inverse)(a[0], &finite);
        if (!finite)
            return 0;
        for (int i = 1; i <= near; i++) {
            const NUMBER l = OF(factor)(OF(times)(p, a[i]));
            if (OF(is_none)(l))
                continue;
            OF(less_row)(near - i + 1, l, a + i, a + i * wide);
            OF(less_row)(rest, l, a + 1 + limb->band, a + i * wide + 1 + limb->band);
        }
        OF(take_off)(limb, j, p, a + 1 + limb->band, m, left);
        for (int i = 1; i <= near; i++)
            a[i] = OF(factor)(OF(times)(p, a[i]));
        a[0] = p;
    }
    return 1;
}

/* The same of a joint's coordinates, with stiffness and damping of a controller */
static int OF(eliminate_joint)(const Limb *limb, int j, NUMBER v, NUMBER x, const double (*gain)[N_V], NUMBER *m,
                               OF(Left) *left)
{
    const int forces = limb->last - limb->first;
    int finite;
    for (int k = 0; k < limb->dofs; k++) {
        const double *axis = LIMB_NUMBERS + limb->joint + JOINT * k;
        NUMBER *a = m + LIMB_STORE[j] + limb->elastic * COLUMN(limb) + k * DOF(limb), *u = a + 1;
        NUMBER pivot = OF(more)(OF(number)(axis[TWISTS]), axis[TWISTS + 1] + gain[1][limb->q + k], v);
        pivot = OF(more)(pivot, gain[0][limb->q + k], x);
        for (int i = 0; i < TWISTS; i++) {
            const NUMBER *row = left->inertia[j] + TWISTS * i, *pull = left->pull + LIMB_PULL[j] + i * forces;
            for (int r = 0; r < TWISTS; r++)
                u[i] = OF(more)(u[i], axis[r], row[r]);
            for (int r = 0; r < forces; r++)
                u[TWISTS + r] = OF(more)(u[TWISTS + r], axis[i], pull[r]);
        }
        for (int i = 0; i < TWISTS; i++)
            pivot = OF(more)(pivot, axis[i], u[i]);
        if (limb->light >= 0) {
            NUMBER *own = m + LIMB_LOOPS + (limb->light + limb->elastic + k) * (N_LOOPED + 1);
            OF(lend)(limb, j, limb->light + limb->elastic + k, u, m, left);
            *own = OF(sum)(*own, pivot);
            continue;
        }
        a[0] = OF(inverse)(pivot, &finite);
        if (!finite)
            return 0;
        OF(take_off)(limb, j, a[0], u, m, left);
    }
    return 1;
}

/* What is left of a limb becomes a part of the one that it hangs on */
static void OF(hand_down)(const double *reach, int j, NUMBER *m, OF(Left) *left)
{
    const Limb *limb = LIMB + j, *on = LIMB + limb->parent;
    const double *T = reach + LIMB_REACH[j];
    const int columns = TWISTS + limb->marked, forces = limb->last - limb->first, skip = limb->first - on->first;
    const int all = on->last - on->first, wide = COLUMN(on);
    const NUMBER *inertia = left->inertia[j], *pull = left->pull + LIMB_PULL[j];
    NUMBER *to = left->inertia[limb->parent], *pulled = left->pull + LIMB_PULL[limb->parent];
    NUMBER *own = m + LIMB_STORE[limb->parent] + limb->mark * wide;
    for (int k = 0; k < columns; k++) {
        NUMBER x[TWISTS], *twist = k < TWISTS ? to + TWISTS * k : own + (k - TWISTS) * wide + 1 + on->band;
        NUMBER *row = k < TWISTS ? pulled + k * all + skip : twist + TWISTS + skip;
        for (int r = 0; r < TWISTS; r++) {
            x[r] = OF(number)(0.0);
            for (int i = 0; i < TWISTS; i++)
                x[r] = OF(more)(x[r], T[TWISTS * k + i], inertia[TWISTS * i + r]);
        }
        for (int c = 0; c < TWISTS; c++)
            for (int i = 0; i < TWISTS; i++)
                twist[c] = OF(more)(twist[c], T[TWISTS * c + i], x[i]);
        for (int c = k; c < columns && k >= TWISTS; c++)
            for (int i = 0; i < TWISTS; i++) {
                NUMBER *sum = own + (k - TWISTS) * wide + c - k;
                *sum = OF(more)(*sum, T[TWISTS * c + i], x[i]);
            }
        for (int i = 0; i < TWISTS; i++)
            for (int r = 0; r < forces; r++)
                row[r] = OF(more)(row[r], T[TWISTS * k + i], pull[i * forces + r]);
    }
}

/* Forces in the loops of some limbs that meet at a frame (or all that are left), and what they leave on its twist */
static int OF(meet_loops)(Sim *z, int which, const Meeting *at, NUMBER *m, OF(Left) *left)
{
    static SUPPLE_THREAD NUMBER square[AT_LEAST_ONE(N_LOOPED * N_LOOPED)];
    const int n = at->last - at->first;
    int *const pivot[2] = {z->limb_pivot[which] + at->first, z->limb_pivot[LIMB_PAIR] + at->first};
    double *factors = OF(loops_of)(z, which) + OF(PARTS_OF) * at->first * N_LOOPED;
    NUMBER *held = m + LIMB_HELD + TWISTS * at->first, *kept = m + LIMB_SOLVED + TWISTS * at->first;
    NUMBER *own = m + LIMB_LOOPS + at->first * N_LOOPED;
    for (int k = 0; k < n; k++)
        memcpy(square + k * n, own + k * N_LOOPED + at->first, n * sizeof *square);
    if (!OF(factorise_loops)(z, n, square, factors, pivot))
        return 0;
    memcpy(own, square, n * n * sizeof *square);
    for (int k = 0; k < TWISTS && at->host >= 0; k++) {
        NUMBER x[AT_LEAST_ONE(N_LOOPED)];
        for (int i = 0; i < n; i++)
            x[i] = held[TWISTS * i + k];
        OF(solve_loops)(n, factors, pivot, x);
        for (int i = 0; i < n; i++) {
            kept[TWISTS * i + k] = OF(factor)(x[i]);
            for (int r = 0; r < TWISTS; r++) {
                NUMBER *inertia = left->inertia[at->host] + TWISTS * r + k;
                *inertia = OF(less)(*inertia, OF(factor)(held[TWISTS * i + r]), x[i]);
            }
        }
    }
    return 1;
}

/* M + v D + x K factorised, v D + x K kept */
static SUPPLE_WIDE int OF(factors)(Sim *z, int which, NUMBER v, NUMBER x, NUMBER *stiff)
{
    static SUPPLE_THREAD OF(Left) left;
    static const double none[2][N_V];
    const double (*gain)[N_V] = which == LIMB_STEP ? (const double (*)[N_V])z->joint_gain : none, *reach = reach_of(z, which);
    NUMBER *m = OF(columns_of)(z, which), *packed = OF(packed_of)(z, which);
    OF(stiffness)(reach, v, x, m, stiff);
    OF(set_out)(reach, m, &left);
    for (int n = 0; n < LIMBS; n++) {
        const int j = LIMB_ORDER[n];
        for (int k = 0; k < N_MEETINGS && n == LIMBS_BEFORE; k++)
            if (MEETINGS[k].host >= 0 && !OF(meet_loops)(z, which, MEETINGS + k, m, &left))
                return 0;
        if (!OF(eliminate_elastic)(LIMB + j, j, m, &left) || !OF(eliminate_joint)(LIMB + j, j, v, x, gain, m, &left))
            return 0;
        if (LIMB[j].parent >= 0)
            OF(hand_down)(reach, j, m, &left);
    }
    for (int k = 0; k < N_MEETINGS; k++)
        if (MEETINGS[k].host < 0 && !OF(meet_loops)(z, which, MEETINGS + k, m, &left))
            return 0;
    for (int t = 0; t < PACKED_SIZE; t++)
        packed[t] = m[PACKED_FROM[t]];
    OF(pack_teams)(z, which);
    return 1;
}
#endif
