/* Loops closed by the coordinates that depend on the others: Newton's method on positions, and rates. */
#define CLOSED 1e-11 /* m or rad: loops are closed */
#define NEAR 1e-6    /* one more step of Newton's method from here reaches rounding */
#define STRIDE 0.6   /* m or rad: longest step of Newton's method */
#define MOST_MULTIPLIED 100.0 /* multipliers of a fixed order together: beyond, pivots are chosen anew */

/* What closes the loops of one tree: the robot's, or that of the rigid robot a controller computes with.
 * With a fixed order its functions give factors of the square Jacobian: as many inverse pivots as there are dependent
 * coordinates, then the multipliers, then the rest, which `resolved` knows how to use; `square` gives the matrices themselves;
 * odd: an odd number of swaps makes that order of theirs.
 * Without one (resolved: NULL) they give all columns and equations, of which some are chosen. */
typedef struct {
    int nq, nv, dependent, rows, aligned, n_balls, multipliers, odd;
    void (*loops)(const real *q, const real *p, real *residual, real *gradient, real *alignment);
    void (*rates)(const real *q, const real *v, const real *p, real *velocity, real *jacobian);
    void (*square)(const real *q, const real *p, real *gradient, real *jacobian);
    void (*resolved)(const real *factors, const real *all, const real *p, real *to);
} Tree;

typedef struct {
    real wide[AT_LEAST_ONE(MOST_WIDE)]; /* J, or its factors in a fixed order */
    real square[AT_LEAST_ONE(MOST_DEP * MOST_DEP)]; /* the chosen part of J, then its factors */
    int pivot[AT_LEAST_ONE(MOST_DEP)], fixed;
} Loops;

enum { GRADIENT, JACOBIAN };

/* Which equations and coordinates: as many independent rows as there are dependent coordinates */
typedef struct {
    const int *closure_row, *dependent_v, *dependent_q;
    const Ball *balls;
} Choice;

/* How well posed factors in a fixed order are, smallest by largest pivot; 0 where multipliers have grown too large */
SUPPLE_LOCAL double fixed_conditioning(const Tree *tree, const int *live, const real *factors)
{
    const int n = tree->dependent;
    real square = fill(0), small = magnitude(factors[0]), large = small, lost = fill(0);
    for (int i = n; i < n + tree->multipliers; i++)
        square += factors[i] * factors[i];
    if (!(size_of(square, live) < MOST_MULTIPLIED * MOST_MULTIPLIED))
        return 0.0;
    for (int i = 0; i < n; i++) {
        small = lower(magnitude(factors[i]), small);
        large = upper(magnitude(factors[i]), large);
        lost += factors[i] - factors[i]; /* zero but where one is no finite number */
    }
    double smallest = HUGE_VAL;
    for (int l = 0; l < SUPPLE_LANES; l++)
        smallest = live[l] ? smaller(SUPPLE_LANE(small, l), smallest) : smallest;
    const double largest = size_of(large + lost, live);
    return largest < HUGE_VAL && smallest > SINGULAR * largest ? smallest / largest : 0.0;
}

/* The Jacobian that a tree's functions left in `work` for a posture q becomes its factors; returns what `factorise` does */
SUPPLE_LOCAL double factorise_loops(const Tree *tree, const Choice *by, const real *parameters, const int *live, const real *q,
                                    int which, Loops *work)
{
    const int n = tree->dependent;
    if (tree->resolved) {
        const double conditioning = fixed_conditioning(tree, live, work->wide);
        work->fixed = conditioning > 0.0;
        if (work->fixed)
            return conditioning;
        real other[AT_LEAST_ONE(MOST_DEP * MOST_DEP)];
        tree->square(q, parameters, which == GRADIENT ? work->square : other, which == JACOBIAN ? work->square : other);
    }
    for (int j = 0; j < n && !tree->resolved; j++)
        for (int i = 0; i < n; i++)
            work->square[j * n + i] = work->wide[by->dependent_v[j] * tree->rows + by->closure_row[i]];
    return factorise(work->square, work->pivot, n, live);
}

/* The sign of the determinant of factors, a bit for each lane that it is below zero in: it changes where they are singular */
SUPPLE_LOCAL int side_of(const Tree *tree, const int *live, const Loops *work)
{
    const int n = tree->dependent, fixed = tree->resolved && work->fixed;
    int side = 0;
    for (int l = 0; l < SUPPLE_LANES; l++) {
        int below = fixed && tree->odd;
        for (int k = 0; k < n && live[l]; k++)
            below ^= fixed ? SUPPLE_LANE(work->wide[k], l) < 0.0
                           : (work->pivot[k] != k) ^ (SUPPLE_LANE(work->square[k * (n + 1)], l) < 0.0);
        side |= (live[l] && below) << l;
    }
    return side;
}

/* What moves the dependent coordinates so that the equations change by `all` */
SUPPLE_LOCAL void solve_loops(const Tree *tree, const Choice *by, const real *parameters, const Loops *work, const real *all,
                              real *to)
{
    if (tree->resolved && work->fixed) {
        tree->resolved(work->wide, all, parameters, to);
        return;
    }
    for (int i = 0; i < tree->dependent; i++)
        to[i] = all[by->closure_row[i]];
    solve(work->square, work->pivot, tree->dependent, to);
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
    tree->loops(q, parameters, residual, work->wide, alignment);
    double error = size_of_all(residual, tree->rows, live);
    for (int iteration = 0; iteration < 25; iteration++) {
        if (!(error < HUGE_VAL))
            return OPEN_LOOPS;
        if (error < CLOSED && iteration > 0)
            break;
        if (!(factorise_loops(tree, by, parameters, live, q, GRADIENT, work) > 0.0))
            return OPEN_LOOPS;
        solve_loops(tree, by, parameters, work, residual, step);
        const double longest = size_of_all(step, tree->dependent, live);
        double share = longest > STRIDE ? STRIDE / longest : 1.0, trial = HUGE_VAL;
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

/* Rates of the dependent coordinates in v, where they are zero before; how well posed they are. Loops were closed before */
SUPPLE_LOCAL double follow(const Tree *tree, const Choice *by, const real *parameters, const int *live, const real *q,
                           real *v, Loops *work)
{
    real all[AT_LEAST_ONE(MOST_ROWS)], velocity[AT_LEAST_ONE(MOST_DEP)];
    tree->rates(q, v, parameters, all, work->wide);
    const double conditioning = factorise_loops(tree, by, parameters, live, q, JACOBIAN, work);
    if (conditioning > 0.0) {
        solve_loops(tree, by, parameters, work, all, velocity);
        for (int i = 0; i < tree->dependent; i++)
            v[by->dependent_v[i]] = -velocity[i];
    }
    return conditioning;
}
