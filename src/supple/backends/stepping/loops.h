/* Loops closed by the coordinates that depend on the others: Newton's method on positions, and rates. */
#define CLOSED 1e-11 /* m or rad: loops are closed */
#define NEAR 1e-6    /* one more step of Newton's method from here reaches rounding */
#define STRIDE 0.6   /* m or rad: longest step of Newton's method */
#define SAME_PIVOTS 0.01  /* m or rad: pivots of a posture as near as this serve */

/* What closes the loops of one tree: the robot's, or that of the rigid robot a controller computes with.
 * Blocks: rows and columns of the square Jacobian in an order that leaves most of it empty, as that of legs on a platform.
 * Place i has a dependent coordinate and a chosen equation; its column is empty outside the rows from begin to end, and its
 * factors above the row start. Without blocks the functions give all columns and equations, of which some are chosen. */
typedef struct {
    int nq, nv, dependent, rows, aligned, n_balls;
    const Block *blocks;
    void (*loops)(const real *q, const real *p, real *residual, real *gradient, real *alignment);
    void (*rates)(const real *q, const real *v, const real *p, real *velocity, real *jacobian);
} Tree;

typedef struct {
    real wide[AT_LEAST_ONE(MOST_WIDE)], square[AT_LEAST_ONE(MOST_DEP * MOST_DEP)]; /* J; the chosen part, then its factors */
    int pivot[AT_LEAST_ONE(MOST_DEP)];
} Loops;

/* Which equations and coordinates: as many independent rows as there are dependent coordinates */
typedef struct {
    const int *closure_row, *dependent_v, *dependent_q;
    const Ball *balls;
} Choice;

/* whether the square Jacobian is one block, in the order of the coordinates and equations */
SUPPLE_LOCAL int is_whole(const Tree *tree) { return !tree->blocks || tree->blocks[0].end == tree->dependent; }

/* where the functions of a tree put the Jacobian */
SUPPLE_LOCAL real *jacobian_of(const Tree *tree, Loops *work) { return tree->blocks ? work->square : work->wide; }

/* The square Jacobian becomes its LU factors; returns what `factorise` does. Rows that a block leaves over go to the range
 * of a later one, where its columns are empty; factors found before do not go with them. `near`: that of a posture nearby
 * was factorised last, whose pivots serve */
SUPPLE_LOCAL double factorise_loops(const Tree *tree, const Choice *by, const int *live, int near, Loops *work)
{
    const int n = tree->dependent;
    const Block *block = tree->blocks;
    real *m = work->square;
    double smallest = HUGE_VAL, largest = 0.0;
    for (int j = 0; j < n && !block; j++)
        for (int i = 0; i < n; i++)
            m[j * n + i] = work->wide[by->dependent_v[j] * tree->rows + by->closure_row[i]];
    if (is_whole(tree))
        return factorise(m, work->pivot, n, live);
    for (int k = 0; k < n; k++) {
        real *restrict x = m + k * n;
        const int last = block[k].end, below = block[k].begin > k;
        const int first = below ? block[k].begin : k, next = below ? first : k + 1;
        double top = near ? weight_of(x[work->pivot[k]], live) : 0.0;
        const int best = work->pivot[k] = near ? work->pivot[k] : weightiest(x, first, last, live, &top);
        largest = larger(largest, top);
        smallest = smaller(smallest, top);
        if (!(top > SINGULAR * largest) || !(top <= DBL_MAX))
            return 0.0;
        swap(x, k, best);
        const real inverse = num(1) / x[k];
        x[k] = inverse;
        for (int i = next; i < last; i++)
            x[i] *= inverse;
        for (int j = k + 1; j < n; j++)
            if (block[j].start <= k) {
                real *restrict y = m + j * n;
                const real u = y[best];
                y[best] = y[k];
                y[k] = u;
                for (int i = next; i < last; i++)
                    y[i] -= x[i] * u;
            }
    }
    return n ? smallest / largest : 1.0;
}

/* What moves the dependent coordinates so that the equations change by `all` */
SUPPLE_LOCAL void solve_loops(const Tree *tree, const Choice *by, const Loops *work, const real *all, real *to)
{
    const int n = tree->dependent;
    const Block *block = tree->blocks;
    const real *m = work->square;
    if (is_whole(tree)) {
        for (int i = 0; i < n; i++)
            to[i] = all[by->closure_row[i]];
        solve(m, work->pivot, n, to);
        return;
    }
    real x[AT_LEAST_ONE(MOST_DEP)];
    for (int i = 0; i < n; i++)
        x[i] = all[by->closure_row[block[i].equation]];
    for (int k = 0; k < n; k++) {
        swap(x, k, work->pivot[k]);
        for (int i = block[k].begin > k ? block[k].begin : k + 1; i < block[k].end; i++)
            x[i] -= m[k * n + i] * x[k];
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] *= m[k * n + k];
        for (int i = block[k].start; i < k; i++)
            x[i] -= m[k * n + i] * x[k];
    }
    for (int i = 0; i < n; i++)
        to[block[i].coordinate] = x[i];
}

SUPPLE_LOCAL void move_dependent(const Tree *tree, const Choice *by, real *q, const real *step, double share)
{
    for (int i = 0; i < tree->dependent; i++)
        if (by->dependent_q[i] >= 0)
            q[by->dependent_q[i]] -= share * step[i];
    for (int k = 0; k < tree->n_balls; k++)
        if (by->balls[k].dependent >= 0) {
            const real *s = step + by->balls[k].dependent;
            const real back[3] = {-share * s[0], -share * s[1], -share * s[2]};
            real *p = q + by->balls[k].q, turned[4];
            turn(turned, p, back);
            memcpy(p, turned, sizeof turned);
        }
}

/* Newton's method on the dependent coordinates of q; how it ended */
SUPPLE_LOCAL int close_loops(const Tree *tree, const Choice *by, const real *parameters, const int *live, real *q,
                             Loops *work)
{
    real residual[AT_LEAST_ONE(MOST_ROWS)], alignment[AT_LEAST_ONE(MOST_ALIGNED)], step[AT_LEAST_ONE(MOST_DEP)];
    real before[AT_LEAST_ONE(MOST_Q)];
    tree->loops(q, parameters, residual, jacobian_of(tree, work), alignment);
    double error = size_of_all(residual, tree->rows, live);
    int near = 0;
    for (int iteration = 0; iteration < 25; iteration++) {
        if (!(error < HUGE_VAL))
            return OPEN_LOOPS;
        if (error < CLOSED && iteration > 0)
            break;
        if (!(factorise_loops(tree, by, live, near, work) > 0.0))
            return OPEN_LOOPS;
        solve_loops(tree, by, work, residual, step);
        const double longest = size_of_all(step, tree->dependent, live);
        near = longest < SAME_PIVOTS;
        double share = longest > STRIDE ? STRIDE / longest : 1.0, trial = HUGE_VAL;
        if (error < NEAR && longest < 1e2 * NEAR) {
            move_dependent(tree, by, q, step, 1.0);
            break; /* what is left is the square of that */
        }
        memcpy(before, q, tree->nq * sizeof(real));
        for (int halving = 0; halving < 8 && !(trial < error); halving++, share *= 0.5) {
            memcpy(q, before, tree->nq * sizeof(real));
            move_dependent(tree, by, q, step, share);
            tree->loops(q, parameters, residual, jacobian_of(tree, work), alignment);
            trial = size_of_all(residual, tree->rows, live);
        }
        if (!(trial < error))
            return OPEN_LOOPS;
        error = trial;
    }
    for (int i = 0; i < tree->aligned; i++)
        for (int l = 0; l < SUPPLE_LANES; l++)
            if (live[l] && !(SUPPLE_LANE(alignment[i], l) > 0.0))
                return OPEN_LOOPS;
    return error < NEAR ? FINE : OPEN_LOOPS;
}

/* Rates of the dependent coordinates in v, where they are zero before; how well posed they are. Loops were closed before */
SUPPLE_LOCAL double follow(const Tree *tree, const Choice *by, const real *parameters, const int *live, const real *q,
                           real *v, Loops *work)
{
    real all[AT_LEAST_ONE(MOST_ROWS)], velocity[AT_LEAST_ONE(MOST_DEP)];
    tree->rates(q, v, parameters, all, jacobian_of(tree, work));
    const double conditioning = factorise_loops(tree, by, live, 1, work);
    if (conditioning > 0.0) {
        solve_loops(tree, by, work, all, velocity);
        for (int i = 0; i < tree->dependent; i++)
            v[by->dependent_v[i]] = -velocity[i];
    }
    return conditioning;
}
