/* Motions that keep loops closed: the coordinates DEPENDENT follow from the INDEPENDENT ones, v = (y, S y).
 *
 * Which rows and columns of J are solved for, and in which order, was chosen at a typical pose, so that elimination needs no
 * search for pivots; poses for which that choice is poor are marked, and answered elsewhere. */

#define POOR 1e-7 /* of the largest number in its row: a pivot that small is that of a singular pose, or of a poor choice */

/* L U of A (n rows of n), in place, in the order of its rows; returns the poses with a poor pivot */
static mask eliminate(entry *A, int n)
{
    mask poor = NO_POSE;
    for (int k = 0; k < n; k++) {
        entry *pivot_row = A + k * n;
        const entry most = largest(pivot_row + k, n - k);
        poor |= not_below(num(POOR) * most, size(pivot_row[k]));
        const entry inverse = num(1) / pivot_row[k];
        for (int i = k + 1; i < n; i++) {
            entry *row = A + i * n;
            row[k] *= inverse;
            for (int j = k + 1; j < n; j++)
                row[j] -= row[k] * pivot_row[j];
        }
    }
    return poor;
}

/* B (n rows of m) = A^-1 B, of eliminated A */
static void solve_rows(const entry *A, int n, entry *B, int m)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            add_times(B + i * m, -A[i * n + k], B + k * m, m);
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            add_times(B + i * m, -A[i * n + k], B + k * m, m);
        const entry inverse = num(1) / A[i * n + i];
        for (int j = 0; j < m; j++)
            B[i * m + j] *= inverse;
    }
}

/* b = A^-T b, of eliminated A */
static void solve_columns(const entry *A, int n, entry *b)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= A[k * n + i] * b[k];
        b[i] /= A[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++)
            b[i] -= A[k * n + i] * b[k];
}

/* A way to solve the loops: places of rows of J and of coordinates (-1: held) */
typedef struct {
    int rows, free;
    const short *row_place;  /* of every row of J among those that are solved, -1: it follows from them */
    const short *column_place; /* of every coordinate: y first, then its place among the dependent + free; -1: held */
} Way;

/* J_d, eliminated; returns poses for which the choice is poor. lu: rows^2 */
static mask solvable(const Way *way, const entry *J, const Pattern *pattern, entry *lu)
{
    const int r = way->rows, n = way->free;
    clear(lu, r * r);
    for (int k = 0; k < pattern->entries; k++) {
        const int row = way->row_place[pattern->row[k]], column = way->column_place[pattern->column[k]];
        if (row >= 0 && column >= n)
            lu[row * r + column - n] = J[k];
    }
    return eliminate(lu, r);
}

/* S = -J_d^-1 J_i, of eliminated J_d. S: rows x free */
SUPPLE_APART void followed(const Way *way, const entry *J, const Pattern *pattern, const entry *lu, entry *S)
{
    const int r = way->rows, n = way->free;
    clear(S, r * n);
    for (int k = 0; k < pattern->entries; k++) {
        const int row = way->row_place[pattern->row[k]], column = way->column_place[pattern->column[k]];
        if (row >= 0 && column >= 0 && column < n)
            S[row * n + column] = -J[k];
    }
    solve_rows(lu, r, S, n);
}

static mask follow(const Way *way, const entry *J, const Pattern *pattern, entry *lu, entry *S)
{
    const mask poor = solvable(way, J, pattern, lu);
    followed(way, J, pattern, lu, S);
    return poor;
}

/* poses in which rows of J that were left out do not follow from the others */
static mask left_open(const Way *way, const entry *J, const Pattern *pattern, const entry *S, entry *work)
{
    const int n = way->free;
    mask open = NO_POSE;
    if (way->rows == N_C)
        return open;
    clear(work, N_C * n);
    for (int k = 0; k < pattern->entries; k++) {
        const int row = pattern->row[k], column = way->column_place[pattern->column[k]];
        if (way->row_place[row] >= 0 || column < 0)
            continue;
        if (column < n)
            work[row * n + column] += J[k];
        else
            add_times(work + row * n, J[k], S + (column - n) * n, n);
    }
    return not_below(largest(work, N_C * n), fill(1e-6));
}

/* A matrix on the motions y: T^T A T with T = (1; S). W: rows x free */
SUPPLE_APART void project(const Way *way, const entry *A, const Pattern *pattern, const entry *S, entry *W, entry *made)
{
    const int r = way->rows, n = way->free;
    clear(W, r * n);
    clear(made, n * n);
    for (int k = 0; k < pattern->entries; k++) {
        const int row = way->column_place[pattern->row[k]], column = way->column_place[pattern->column[k]];
        if (row < 0 || column < 0)
            continue;
        entry *to = row < n ? made + row * n : W + (row - n) * n;
        if (column < n)
            to[column] += A[k];
        else
            add_times(to, A[k], S + (column - n) * n, n);
    }
    for (int i = 0; i < n; i++)
        add_rows(made + i * n, S + i, n, W, n, r, n);
}

#define TILE 16 /* a side of the squares in which a matrix is mirrored: its columns are far apart */

SUPPLE_APART void symmetrise(entry *A, int n)
{
    for (int top = 0; top < n; top += TILE)
        for (int left = 0; left <= top; left += TILE)
            for (int i = top; i < n && i < top + TILE; i++)
                for (int j = left; j < i && j < left + TILE; j++)
                    A[i * n + j] = A[j * n + i] = num(0.5) * (A[i * n + j] + A[j * n + i]);
}

/* the upper half below the diagonal */
static void mirror(entry *A, int n)
{
    for (int top = 0; top < n; top += TILE)
        for (int left = 0; left <= top; left += TILE)
            for (int i = top; i < n && i < top + TILE; i++)
                for (int j = left; j < i && j < left + TILE; j++)
                    A[i * n + j] = A[j * n + i];
}
