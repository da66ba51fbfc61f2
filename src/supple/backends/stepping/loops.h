/* Loops closed by the coordinates that depend on the others: Newton's method on positions, and rates. */
#define CLOSED 1e-11 /* m or rad: loops are closed */
#define NEAR 1e-6    /* one more step of Newton's method from here reaches rounding */
#define REACH 0.6    /* m or rad: longest step of Newton's method */

/* What closes the loops of one tree: the robot's, or that of the rigid robot a controller computes with */
typedef struct {
    int nq, nv, dependent, rows, columns, aligned, turning; /* columns of the Jacobians: `dependent` or `nv` */
    void (*loops)(const real *q, const real *p, real *residual, real *gradient, real *alignment);
    void (*rates)(const real *q, const real *v, const real *p, real *velocity, real *jacobian);
} Tree;

typedef struct {
    real wide[AT_LEAST_ONE(MOST_ROWS * MOST_COLUMNS)], square[AT_LEAST_ONE(MOST_DEP * MOST_DEP)]; /* J, and its LU factors */
    int pivot[AT_LEAST_ONE(MOST_DEP)];
} Loops;

/* Which equations and coordinates: as many independent rows as there are dependent coordinates */
typedef struct {
    const int *row, *dep_v, *dep_q;
    const int (*turning)[3];
} Choice;

/* the chosen rows of the dependent coordinates' columns */
SUPPLE_LOCAL void pick(const Tree *tree, const Choice *by, const real *wide, real *square)
{
    const int n = tree->dependent;
    for (int j = 0; j < n; j++) {
        const int column = tree->columns == n ? j : by->dep_v[j];
        for (int i = 0; i < n; i++)
            square[j * n + i] = wide[by->row[i] * tree->columns + column];
    }
}

SUPPLE_LOCAL void move_dependent(const Tree *tree, const Choice *by, real *q, const real *step, double share)
{
    for (int i = 0; i < tree->dependent; i++)
        if (by->dep_q[i] >= 0)
            q[by->dep_q[i]] -= share * step[i];
    for (int k = 0; k < tree->turning; k++)
        if (by->turning[k][2] >= 0) {
            const real *s = step + by->turning[k][2];
            const real back[3] = {-share * s[0], -share * s[1], -share * s[2]};
            real *p = q + by->turning[k][0], turned[4];
            turn(turned, p, back);
            memcpy(p, turned, sizeof turned);
        }
}

/* Newton's method on the dependent coordinates of q; how it ended */
SUPPLE_LOCAL int close_loops(const Tree *tree, const Choice *by, const real *parameters, const int *live, real *q, Loops *work)
{
    const int n = tree->dependent;
    real residual[AT_LEAST_ONE(MOST_ROWS)], alignment[AT_LEAST_ONE(MOST_ALIGNED)], step[AT_LEAST_ONE(MOST_DEP)];
    real before[AT_LEAST_ONE(MOST_Q)];
    tree->loops(q, parameters, residual, work->wide, alignment);
    double error = size_of_all(residual, tree->rows, live);
    for (int iteration = 0; iteration < 25; iteration++) {
        if (!(error < HUGE_VAL))
            return OPEN_LOOPS;
        if (error < CLOSED && iteration > 0)
            break;
        pick(tree, by, work->wide, work->square);
        if (!(factorise(work->square, work->pivot, n, live) > 0.0))
            return OPEN_LOOPS;
        for (int i = 0; i < n; i++)
            step[i] = residual[by->row[i]];
        solve(work->square, work->pivot, n, step);
        const double longest = size_of_all(step, n, live);
        double share = longest > REACH ? REACH / longest : 1.0, trial = HUGE_VAL;
        if (error < NEAR && longest < 1e2 * NEAR) {
            move_dependent(tree, by, q, step, 1.0);
            break; /* what is left is the square of that */
        }
        memcpy(before, q, tree->nq * sizeof(real));
        for (int halving = 0; halving < 8 && !(trial < error); halving++, share *= 0.5) {
            memcpy(q, before, tree->nq * sizeof(real));
            move_dependent(tree, by, q, step, share);
            tree->loops(q, parameters, residual, work->wide, alignment);
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

/* Rates of the dependent coordinates in v, where they are zero before; how well posed they are */
SUPPLE_LOCAL double follow(const Tree *tree, const Choice *by, const real *parameters, const int *live, const real *q, real *v,
                           Loops *work)
{
    real all[AT_LEAST_ONE(MOST_ROWS)], velocity[AT_LEAST_ONE(MOST_DEP)];
    tree->rates(q, v, parameters, all, work->wide);
    for (int i = 0; i < tree->dependent; i++)
        velocity[i] = all[by->row[i]];
    pick(tree, by, work->wide, work->square);
    const double conditioning = factorise(work->square, work->pivot, tree->dependent, live);
    if (conditioning > 0.0) {
        solve(work->square, work->pivot, tree->dependent, velocity);
        for (int i = 0; i < tree->dependent; i++)
            v[by->dep_v[i]] = -velocity[i];
    }
    return conditioning;
}
