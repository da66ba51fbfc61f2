/* Equilibrium under weight and loads, near a posture with closed loops. */

#define MOST_RESTING 40    /* steps to equilibrium */
#define QUICK 0.1          /* what a step may leave of the forces for the next one to be made with the same stiffness */
#define BALANCED 1e-12     /* of the largest force, or of 1 N where that is less */

/* what forces of a size and stiff bodies leave unbalanced by rounding alone */
static entry balance(const Work *w, const entry *K)
{
    entry most = larger(w->weight, fill(1)) * num(BALANCED);
    entry *sums = (entry *)w->sums;
    clear(sums, N_V);
    for (int k = 0; k < STIFFNESS.entries; k++)
        if (ELASTIC[STIFFNESS.column[k]])
            sums[STIFFNESS.row[k]] += size(K[k] * w->q[PLACE[STIFFNESS.column[k]]]);
    return larger(most, num(64 * DBL_EPSILON) * largest(sums, N_V));
}

/* forces of the tree less reactions of the loops, which are made to balance the dependent coordinates (and kept as they are
 * in poses that do not move any more) */
static mask react(Work *w, const Way *way, mask moving)
{
    forces(w->q, w->p, w->lam, w->load, w->f);
    loop_entries(w);
    const mask poor = solvable(way, w->J, &LOOPS, w->lu);
    for (int i = 0; i < N_V; i++)
        if (way->column_place[i] >= way->free)
            w->rhs[way->column_place[i] - way->free] = w->f[i];
    solve_columns(w->lu, way->rows, w->rhs);
    for (int k = 0; k < LOOPS.entries; k++) {
        const int row = way->row_place[LOOPS.row[k]];
        if (row >= 0)
            w->f[LOOPS.column[k]] -= w->J[k] * w->rhs[row];
    }
    for (int c = 0; c < N_C; c++)
        if (way->row_place[c] >= 0)
            w->lam[c] = pick(moving, w->lam[c] + w->rhs[way->row_place[c]], w->lam[c]);
    return poor;
}

static void restore(entry *made, const entry *kept, mask stale, int n)
{
    for (int k = 0; k < n; k++)
        made[k] = pick(stale, kept[k], made[k]);
}

static void keep(entry *kept, const entry *from, int n)
{
    for (int k = 0; k < n; k++)
        kept[k] = from[k];
}

/* motions S and Cholesky's factor of the stiffness on them, anew in the poses of `fresh`; returns those of them in which it is
 * not positive definite */
static mask stiffen(Work *w, const Way *way, mask fresh)
{
    const int n = way->free, others = some(~fresh);
    if (others) {
        keep(w->K_kept, w->K, STIFFNESS.entries);
        keep(w->S_kept, w->S, way->rows * n);
        keep(w->Mr, w->Kr, n * n);
    }
    stiffness_entries(w);
    followed(way, w->J, &LOOPS, w->lu, w->S);
    project(way, w->K, &STIFFNESS, w->S, w->W, w->Kr);
    symmetrise(w->Kr, n);
    const mask bad = cholesky(w->Kr, n) & fresh;
    if (others) {
        restore(w->K, w->K_kept, ~fresh, STIFFNESS.entries);
        restore(w->S, w->S_kept, ~fresh, way->rows * n);
        restore(w->Kr, w->Mr, ~fresh, n * n);
    }
    return bad;
}

/* w->step of Newton's method with the stiffness that was made last */
static void downhill(Work *w, const Way *way)
{
    const int n = way->free;
    clear(w->step, N_V);
    for (int c = 0; c < N_C; c++)
        if (way->row_place[c] >= 0)
            w->rhs[way->row_place[c]] = -w->gap[c];
    solve_rows(w->lu, way->rows, w->rhs, 1);
    for (int k = 0; k < STIFFNESS.entries; k++) { /* f + K of the step that closes the loops */
        const int column = way->column_place[STIFFNESS.column[k]] - n;
        if (column >= 0)
            w->f[STIFFNESS.row[k]] += w->K[k] * w->rhs[column];
    }
    for (int i = 0; i < N_V; i++) {
        const int place = way->column_place[i];
        if (place >= 0 && place < n)
            w->y[place] = -w->f[i];
    }
    for (int i = 0; i < N_V; i++) {
        const int d = way->column_place[i] - n;
        if (d >= 0)
            for (int k = 0; k < n; k++)
                w->y[k] -= w->S[d * n + k] * w->f[i];
    }
    cholesky_solve(w->Kr, n, w->y, 1);
    for (int i = 0; i < N_V; i++) {
        const int place = way->column_place[i];
        if (place < 0)
            continue;
        w->step[i] = place < n ? w->y[place] : w->rhs[place - n];
        for (int k = 0; place >= n && k < n; k++)
            w->step[i] += w->S[(place - n) * n + k] * w->y[k];
    }
}

/* the bending of the seed, for a start */
static void bend(Work *w, mask asked)
{
    for (int k = 0; k < N_Q; k++)
        w->q[k] = pick(asked, w->q[k] + w->shift[k], w->q[k]);
}

/* forces that the coordinates which may move leave unbalanced */
static entry unbalanced(const Work *w, const Way *way)
{
    entry left = fill(0);
    for (int i = 0; i < N_V; i++)
        if (way->column_place[i] >= 0)
            left = larger(size(w->f[i]), left);
    return left;
}

/* equilibrium near w->q with actuators held, in the poses of `asked`; returns those that found it. Others may be unstable */
static mask rest(Work *w, mask asked)
{
    mask open = asked, found = NO_POSE;
    entry farthest = fill(FARTHEST), before = fill(DBL_MAX);
    clear(w->lam, N_C);
    forces(w->q, w->p, w->lam, w->load, w->f);
    w->weight = largest(w->f, N_V);
    bend(w, asked);
    for (int round = 0; round < MOST_RESTING; round++) {
        w->poor |= open & react(w, &HELD, open);
        gaps(w->q, w->p, w->gap, w->aligned);
        const entry left = unbalanced(w, &HELD);
        mask bad = round == 0 ? stiffen(w, &HELD, EVERY_POSE) : NO_POSE;
        const mask calm = below(left, balance(w, w->K)) & below(largest(w->gap, N_C), fill(1e-10));
        found |= open & calm;
        open &= ~calm & ~w->poor & SUPPLE_MASK(left == left);
        const mask fresh = ~open | not_below(left, num(QUICK) * before);
        if (round && some(open & fresh))
            bad = stiffen(w, &HELD, fresh);
        open &= ~bad;
        if (!some(open))
            break;
        downhill(w, &HELD);
        farthest = pick(below(before, left), num(0.5) * farthest, smaller(num(1.5) * farthest, fill(FARTHEST)));
        before = left;
        const entry scale = smaller(fill(1), farthest / larger(largest(w->step, N_V), fill(1e-30)));
        for (int i = 0; i < N_V; i++)
            w->step[i] *= scale;
        retract(w->q, w->step, open);
    }
    react(w, &HELD, NO_POSE);
    return found & ~w->poor;
}
