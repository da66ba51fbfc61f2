/* Everything that a block of poses needs while it is worked on. */

typedef struct {
    int entries;
    const short *row, *column;
} Pattern;

typedef struct {
    entry d[MOST_FREE], e[MOST_FREE], u[MOST_FREE], p[MOST_FREE];
    short place[MOST_FREE * SUPPLE_LANES];
} Pencil;

typedef struct {
    /* asked for */
    entry q_seed[N_Q + 1], p_seed[N_P + 1], shift[N_Q + 1], lam_seed[N_C + 1], given[N_GIVEN + 1], p_asked[N_P + 1];
    entry load[N_W + 1];
    /* where it is */
    entry q[N_Q + 1], q_kept[N_Q + 1], p[N_P + 1], lam[N_C + 1];
    entry f[N_V + 1], gap[N_C + 1], aligned[N_ALIGNED + 1], weight;
    mask poor; /* poses for which the choice of dependent coordinates is poor */
    /* entries of matrices, and a column of them */
    entry J[MOST_J], K[MOST_K], M[MOST_M], D[MOST_D], direction[N_V + 1], column[N_COLUMN];
    /* solved loops, and matrices on the motions that keep them closed */
    entry lu[MOST_ROWS * MOST_ROWS], S[MOST_ROWS * MOST_FREE], W[MOST_ROWS * MOST_FREE], open[(N_C + 1) * MOST_FREE];
    entry Kr[MOST_FREE * MOST_FREE], Mr[MOST_FREE * MOST_FREE], Dr[MOST_FREE * MOST_FREE];
    entry rhs[MOST_ROWS], y[MOST_FREE], step[N_V + 1], sums[N_V + 1];
    /* modes */
    entry mu[MOST_FREE], x[MOST_FREE * MOST_FREE], shapes[N_V * MOST_FREE + 1], rows[(N_W + N_C) * N_V + 1];
    Pencil pencil;
} Work;

SUPPLE_LOCAL entry smallest_alignment(const Work *w)
{
    entry least = fill(1);
    for (int k = 0; k < N_ALIGNED; k++)
        least = smaller(w->aligned[k], least);
    return least;
}
