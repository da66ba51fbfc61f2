/* Derivatives of equilibria and linear models along directions of the pose and the parameters: everything is differentiated
 * exactly, matrix by matrix, and equilibrium shifts as its own equations say. */

enum { AT_POSTURE, AT_REST, AT_LAM, AT_P, AT_LOAD, ATS }; /* one row a pose */
enum { BY_GIVEN, BY_P, BYS };                             /* one row a pose and direction */
enum { D_Q, D_LAM, D_TAU, D_PLACES, D_BENT_PLACES, D_M, D_K, D_D, D_H, D_S, D_POINTS };
static const int AT_SIZE[ATS] = {N_Q, N_Q, N_C, N_P, N_W}, BY_SIZE[BYS] = {N_CHOSEN, N_P};

typedef struct {
    entry straight[N_Q + 1], by_given[N_CHOSEN + 1], f[N_V + 1], g[N_V + 1], gap[N_C + 1];
    entry opened_straight[MOST_J], opened[MOST_J], H[MOST_D];
    entry straight_lu[MOST_ROWS * MOST_ROWS], open_lu[MOST_ROWS * MOST_ROWS], held_lu[MOST_ROWS * MOST_ROWS];
    entry linear_lu[MOST_ROWS * MOST_ROWS], held_S[MOST_ROWS * MOST_FREE], S[MOST_ROWS * MOST_FREE];
    entry dS[MOST_ROWS * MOST_FREE], left[MOST_ROWS * MOST_FREE], right[MOST_ROWS * MOST_FREE];
} Tangent;

static void copy(entry *to, const entry *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}

/* all that does not depend on the direction; returns poses for which there are no derivatives */
static mask prepare(Work *w, Tangent *t)
{
    mask bad;
    copy(t->straight, w->q_seed, N_Q);
    copy(w->q, t->straight, N_Q);
    open_entries(w);
    copy(t->opened_straight, w->J, OPENING.entries);
    bad = follow(&CLOSING, w->J, &OPENING, t->straight_lu, t->S);
    copy(w->q, w->q_kept, N_Q);
    open_entries(w);
    copy(t->opened, w->J, OPENING.entries);
    bad |= follow(&HELD, w->J, &OPENING, t->open_lu, t->held_S);
    loop_entries(w);
    bad |= follow(&HELD, w->J, &LOOPS, t->held_lu, t->held_S);
    bad |= follow(&LINEAR, w->J, &LOOPS, t->linear_lu, t->S);
    stiffness_entries(w);
    inertia_entries(w);
    loss_entries(w);
    copy(t->H, w->D, LOSS.entries);
    damping_entries(w);
    project(&HELD, w->K, &STIFFNESS, t->held_S, w->W, w->Kr);
    symmetrise(w->Kr, HELD.free);
    return bad | cholesky(w->Kr, HELD.free);
}

/* dependent coordinates of dq such that loops stay closed, the others being what they are */
static void keep_closed(const Way *way, const entry *lu, const entry *J, const entry *gap, entry *rhs, entry *dq)
{
    for (int c = 0; c < N_C; c++)
        if (way->row_place[c] >= 0)
            rhs[way->row_place[c]] = -gap[c];
    for (int k = 0; k < OPENING.entries; k++) {
        const int row = way->row_place[OPENING.row[k]], column = OPENING.column[k];
        if (row >= 0 && way->column_place[column] < way->free)
            rhs[row] -= J[k] * dq[column];
    }
    solve_rows(lu, way->rows, rhs, 1);
    for (int i = 0; i < N_V; i++)
        if (way->column_place[i] >= way->free)
            dq[i] = rhs[way->column_place[i] - way->free];
}

/* g = f + K dq */
static void pulled(const Work *w, Tangent *t)
{
    copy(t->g, t->f, N_V);
    for (int k = 0; k < STIFFNESS.entries; k++)
        t->g[STIFFNESS.row[k]] += w->K[k] * w->dq[STIFFNESS.column[k]];
}

/* w->dq of the undeformed posture */
static void shift_straight(Work *w, Tangent *t)
{
    clear(w->dq, N_V);
    for (int k = 0; k < N_CHOSEN; k++)
        w->dq[CHOSEN_V[k]] = t->by_given[k];
    gaps_by_p(t->straight, w->p, w->dp, t->gap);
    keep_closed(&CLOSING, t->straight_lu, t->opened_straight, t->gap, w->rhs, w->dq);
}

/* w->dq and w->dlam of the equilibrium, actuators moving as they do in the undeformed posture; t->g are forces then */
static void shift_rest(Work *w, Tangent *t)
{
    const int n = HELD.free;
    for (int i = 0; i < N_V; i++)
        if (HELD.column_place[i] >= 0)
            w->dq[i] = fill(0);
    gaps_by_p(w->q, w->p, w->dp, t->gap);
    forces_by_p(w->q, w->p, w->lam, w->load, w->dp, t->f);
    keep_closed(&HELD, t->open_lu, t->opened, t->gap, w->rhs, w->dq);
    pulled(w, t);
    for (int i = 0; i < N_V; i++)
        if (HELD.column_place[i] >= 0 && HELD.column_place[i] < n)
            w->y[HELD.column_place[i]] = -t->g[i];
    for (int i = 0; i < N_V; i++)
        for (int k = 0, d = HELD.column_place[i] - n; d >= 0 && k < n; k++)
            w->y[k] -= t->held_S[d * n + k] * t->g[i];
    cholesky_solve(w->Kr, n, w->y, 1);
    for (int i = 0; i < N_V; i++) {
        const int place = HELD.column_place[i];
        if (place >= 0 && place < n)
            w->dq[i] += w->y[place];
        for (int k = 0; place >= n && k < n; k++)
            w->dq[i] += t->held_S[(place - n) * n + k] * w->y[k];
    }
    pulled(w, t);
    for (int i = 0; i < N_V; i++)
        if (HELD.column_place[i] >= n)
            w->rhs[HELD.column_place[i] - n] = t->g[i];
    solve_columns(t->held_lu, HELD.rows, w->rhs);
    for (int c = 0; c < N_C; c++)
        w->dlam[c] = HELD.row_place[c] >= 0 ? w->rhs[HELD.row_place[c]] : fill(0);
    for (int k = 0; k < LOOPS.entries; k++)
        t->g[LOOPS.column[k]] -= w->J[k] * w->dlam[LOOPS.row[k]];
}

/* dS = -J_d^-1 (dJ_i + dJ_d S) */
static void shift_motions(Work *w, Tangent *t)
{
    const int n = LINEAR.free;
    loop_tangents(w);
    clear(t->dS, LINEAR.rows * n);
    for (int k = 0; k < LOOPS.entries; k++) {
        const int row = LINEAR.row_place[LOOPS.row[k]], column = LINEAR.column_place[LOOPS.column[k]];
        if (row < 0 || column < 0)
            continue;
        if (column < n)
            t->dS[row * n + column] -= w->dA[k];
        else
            add_times(t->dS + row * n, -w->dA[k], t->S + (column - n) * n, n);
    }
    solve_rows(t->linear_lu, LINEAR.rows, t->dS, n);
}

/* d (T^T A T) = T^T dA T + dT^T A T + T^T A dT with dA in w->dA */
static void project_tangent(Work *w, Tangent *t, const entry *A, const Pattern *pattern)
{
    const int n = LINEAR.free, r = LINEAR.rows;
    project(&LINEAR, w->dA, pattern, t->S, w->W, w->Dr);
    clear(t->left, r * n);
    clear(t->right, r * n);
    for (int k = 0; k < pattern->entries; k++) {
        const int row = LINEAR.column_place[pattern->row[k]], column = LINEAR.column_place[pattern->column[k]];
        if (row < 0 || column < 0)
            continue;
        if (row >= n && column >= n)
            add_times(t->left + (row - n) * n, A[k], t->S + (column - n) * n, n);
        else if (row >= n)
            t->left[(row - n) * n + column] += A[k];
        if (column >= n && row >= n)
            add_times(t->right + (column - n) * n, A[k], t->S + (row - n) * n, n);
        else if (column >= n)
            t->right[(column - n) * n + row] += A[k];
    }
    for (int d = 0; d < r; d++)
        for (int i = 0; i < n; i++) {
            add_times(w->Dr + i * n, t->dS[d * n + i], t->left + d * n, n);
            add_times(w->Dr + i * n, t->right[d * n + i], t->dS + d * n, n);
        }
}

static void matrix_tangents(Work *w, Tangent *t, double *const *out, long long at, long long step, int live)
{
    const int n = LINEAR.free;
    if (out[D_M]) {
        inertia_tangents(w);
        project_tangent(w, t, w->M, &INERTIA);
        symmetrise(w->Dr, n);
        put_apart(out, D_M, at, step, w->Dr, n * n, live);
    }
    if (out[D_K]) {
        stiffness_tangents(w);
        project_tangent(w, t, w->K, &STIFFNESS);
        servo_by_p(w->p, w->dp, w->step);
        for (int i = 0; !FREE && i < N_V; i++)
            if (LINEAR.column_place[i] >= 0 && LINEAR.column_place[i] < n)
                w->Dr[LINEAR.column_place[i] * (n + 1)] += w->step[i];
        put_apart(out, D_K, at, step, w->Dr, n * n, live);
    }
    if (out[D_D]) {
        damping_tangents(w);
        project_tangent(w, t, w->D, &DAMPING);
        put_apart(out, D_D, at, step, w->Dr, n * n, live);
    }
    if (out[D_H]) {
        loss_tangents(w);
        project_tangent(w, t, t->H, &LOSS);
        put_apart(out, D_H, at, step, w->Dr, n * n, live);
    }
}

static void place_tangents(Work *w, const entry *q, double *const *out, int which, long long at, long long step, int live)
{
    if (!out[which])
        return;
    places_tangent(q, w->p, w->dq, w->dp, w->column);
    put_apart(out, which, at, step, w->column, N_W / 2, live);
}

/* everything along one direction of a block of poses; `at`, `step`: places of the first pose and of the next ones in `out` */
static void along_direction(Work *w, Tangent *t, double *const *out, long long at, long long step, int live)
{
    shift_straight(w, t);
    place_tangents(w, t->straight, out, D_PLACES, at, step, live);
    shift_rest(w, t);
    put_apart(out, D_Q, at, step, w->dq, N_V, live);
    put_apart(out, D_LAM, at, step, w->dlam, N_C, live);
    for (int k = 0; k < N_ACTIVE; k++)
        w->step[k] = t->g[ACTIVE[k]];
    put_apart(out, D_TAU, at, step, w->step, N_ACTIVE, live);
    place_tangents(w, w->q, out, D_BENT_PLACES, at, step, live);
    shift_motions(w, t);
    put_apart(out, D_S, at, step, t->dS, LINEAR.rows * LINEAR.free, live);
    matrix_tangents(w, t, out, at, step, live);
    if (out[D_POINTS]) {
        point_tangents(w);
        clear(w->rows, N_W * N_V);
        for (int k = 0; k < POINTS.entries; k++)
            w->rows[POINTS.row[k] * N_V + POINTS.column[k]] = w->dA[k];
        put_apart(out, D_POINTS, at, step, w->rows, N_W * N_V, live);
    }
}

static void take(const double *from, long long first, long long step, int size, int live, entry *to)
{
    for (int k = 0; k < size; k++)
        for (int lane = 0; lane < SUPPLE_LANES; lane++)
            SUPPLE_LANE(to[k], lane) = from[(first + (lane < live ? lane : live - 1)) * step + k];
}

SUPPLE_EXPORT long long supple_tangent_workspace(void) { return (long long)(sizeof(Work) + sizeof(Tangent)); }

/* at: tables of one row a pose; by: one row a pose and direction; good: 1 where there are derivatives */
SUPPLE_EXPORT void supple_tangents(
    long long count, int directions, const double *const *at, const double *const *by, double *const *out, double *good,
    void *workspace)
{
    Work *w = workspace;
    Tangent *t = (Tangent *)(w + 1);
    entry *to[ATS] = {w->q_seed, w->q_kept, w->lam, w->p, w->load}, *along[BYS] = {t->by_given, w->dp};
    for (long long first = 0; first < count; first += SUPPLE_LANES) {
        const int live = count - first < SUPPLE_LANES ? (int)(count - first) : SUPPLE_LANES;
        for (int i = 0; i < ATS; i++)
            take(at[i], first, AT_SIZE[i], AT_SIZE[i], live, to[i]);
        const entry fine = pick(prepare(w, t), fill(0), fill(1));
        for (int lane = 0; lane < live; lane++)
            good[first + lane] = SUPPLE_LANE(fine, lane);
        for (int d = 0; d < directions; d++) {
            for (int i = 0; i < BYS; i++)
                take(by[i] + d * BY_SIZE[i], first, (long long)directions * BY_SIZE[i], BY_SIZE[i], live, along[i]);
            along_direction(w, t, out, first * directions + d, directions, live);
        }
    }
}
