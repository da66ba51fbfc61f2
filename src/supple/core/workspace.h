/* Everything that a block of poses needs while it is worked on. */

typedef struct {
    int entries;
    const short *row, *column;
} Pattern;

typedef struct {
    entry d[MOST_FREE], e[MOST_FREE], u[MOST_FREE], p[MOST_FREE];
    short place[MOST_FREE * SUPPLE_LANES];
} Pencil;

#define MOST_BASIS (N_LARGE ? 96 : 2)
#define ANY_BASIS (N_LARGE ? N_LARGE : 1)

/* A basis of the lowest modes of a large pencil */
typedef struct {
    entry V[MOST_BASIS * ANY_BASIS], MV[MOST_BASIS * ANY_BASIS], T[MOST_BASIS * MOST_BASIS], Z[MOST_BASIS * MOST_BASIS];
    entry d[MOST_BASIS], e[MOST_BASIS], u[MOST_BASIS], p[MOST_BASIS], mu[MOST_BASIS], lengths[2];
    short place[MOST_BASIS * SUPPLE_LANES];
} Lowest;

/* Bounds of a derivative of all loops: of every column of every chain, and of the turn of its end */
typedef struct {
    entry column[N_LINKS], turn[N_CHAINS];
} Bound;

/* A step of the way from posture to posture */
typedef struct {
    entry A[MOST_ROWS * MOST_ROWS], J[MOST_ROWS * N_RIGID], end[MOST_ROWS * N_RIGID], D[MOST_ROWS * MOST_ROWS], lu[MOST_ROWS * MOST_ROWS];
    entry lengths[2 * MOST_ROWS * N_CHAINS], lever[N_LINKS], most[N_LINKS];
    entry way[N_RIGID], step[N_RIGID], ahead[N_RIGID], around[N_RIGID], x[N_RIGID], box[MOST_ROWS], error[MOST_ROWS];
    entry turned[MOST_ROWS], vector[MOST_ROWS], q[N_Q + 1], h;
    Bound bound;
    mask live, poor;
} Walk;

typedef struct {
    /* asked for */
    entry q_seed[N_Q + 1], p_seed[N_P + 1], shift[N_Q + 1], given[N_GIVEN + 1], p_asked[N_P + 1];
    entry load[N_W + 1];
    /* where it is */
    entry q[N_Q + 1], q_kept[N_Q + 1], p[N_P + 1], lam[N_C + 1], lengths[N_LINKS];
    entry f[N_V + 1], gap[N_C + 1], aligned[N_ALIGNED + 1], weight;
    mask poor; /* poses for which the choice of dependent coordinates is poor */
    /* entries of matrices, and a column of them */
    entry J[MOST_J], K[MOST_K], M[MOST_M], D[MOST_D], direction[N_V + 1], column[N_COLUMN];
    /* a direction in which all is differentiated, and derivatives of the entries of a matrix */
    entry dq[N_V + 1], dp[N_P + 1], dlam[N_C + 1], dA[MOST_A];
    /* solved loops, and matrices on the motions that keep them closed */
    entry lu[MOST_ROWS * MOST_ROWS], S[MOST_ROWS * MOST_FREE], W[MOST_ROWS * MOST_FREE], open[(N_C + 1) * MOST_FREE];
    entry Kr[MOST_FREE * MOST_FREE], Mr[MOST_FREE * MOST_FREE], Dr[MOST_FREE * MOST_FREE];
    entry rhs[MOST_ROWS], y[MOST_FREE], step[N_V + 1], sums[N_V + 1];
    /* modes */
    entry mu[MOST_FREE], x[MOST_FREE * MOST_FREE], shapes[N_V * MOST_FREE + 1], rows[(N_W + N_C) * N_V + 1];
    /* what was known of the stiffness before it was renewed */
    entry K_kept[MOST_K], S_kept[MOST_ROWS * MOST_FREE];
#ifdef DIRECTIONS
    wide wide_q[N_Q + 1], wide_p[N_P + 1], wide_lam[N_C + 1], wide_load[N_W + 1], wide_direction[N_V + 1], wide_column[N_COLUMN];
    wide wide_dq[N_V + 1], wide_dp[N_P + 1], wide_dlam[N_C + 1];
#endif
    Pencil pencil;
    Walk walk;
    Lowest lowest;
} Work;

SUPPLE_LOCAL entry smallest_alignment(const Work *w)
{
    entry least = fill(1);
    for (int k = 0; k < N_ALIGNED; k++)
        least = smaller(w->aligned[k], least);
    return least;
}

#ifdef DIRECTIONS
/* a number of the one pose in all directions */
SUPPLE_LOCAL void widen(wide *to, const entry *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i] - (wide){0};
}

/* unit directions of the columns of one colour each, from colour c on */
SUPPLE_LOCAL void choose(wide *direction, const short *colour, int c)
{
    for (int j = 0; j < N_V; j++)
        for (int d = 0; d < DIRECTIONS; d++)
            direction[j][d] = colour[j] == c + d;
}
#endif
