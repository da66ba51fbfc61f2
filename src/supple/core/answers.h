/* Batches of poses: each block of lanes goes from its seeds to closed postures, equilibria, linear models and modes. */

enum { ANSWERED, NOT_REACHED, POOR_CHOICE, NO_REST, NO_MODES }; /* what stands in `status` */
enum { IN_SEED, IN_SEED_P, IN_SHIFT, IN_GIVEN, IN_P, IN_LOAD, INS };
enum { WALKED, CARRIED_OVER, CLOSED_NEAR }; /* how a pose is reached from its seed */
enum {
    OUT_STATUS, OUT_SHARE, OUT_POSTURE, OUT_PLACES, OUT_J, OUT_STRAIGHT_POINTS, OUT_Q, OUT_LAM, OUT_TAU, OUT_BENT_PLACES, OUT_MU,
    OUT_SHAPES, OUT_M, OUT_K, OUT_D, OUT_H, OUT_S, OUT_POINTS
};
static const int IN_SIZE[INS] = {N_Q, N_P, N_Q, N_GIVEN, N_P, N_W};

/* n numbers of each pose to rows of a table, `step` rows apart */
SUPPLE_LOCAL void put_apart(double *const *out, int which, long long at, long long step, const entry *from, int n, int live)
{
    if (out[which])
        for (int lane = 0; lane < live; lane++)
            for (int k = 0; k < n; k++)
                out[which][(at + lane * step) * n + k] = SUPPLE_LANE(from[k], lane);
}

SUPPLE_LOCAL void put(double *const *out, int which, long long first, const entry *from, int n, int live)
{
    put_apart(out, which, first, 1, from, n, live);
}

SUPPLE_LOCAL void tell(entry *status, mask which, int what)
{
    *status = pick(which & SUPPLE_MASK(*status == fill(ANSWERED)), fill(what), *status);
}

/* tree shapes of unit modal mass from mu and y: frequencies are 1 / sqrt(mu), or sqrt(-mu) where M was inverted */
static void spread(Work *w, int count)
{
    const int n = LINEAR.free;
    for (int c = 0; c < count; c++) {
        const entry scale = INVERTED ? num(1) / supple_sqrt(w->mu[c]) : fill(1);
        for (int i = 0; i < N_V; i++) {
            const int place = LINEAR.column_place[i];
            entry sum = fill(0);
            if (place >= n)
                for (int k = 0; k < n; k++)
                    sum += w->S[(place - n) * n + k] * w->x[c * n + k];
            else if (place >= 0)
                sum = w->x[c * n + place];
            w->shapes[i * count + c] = scale * sum;
        }
    }
}

/* K on the independent motions, servos included */
static void reduced_stiffness(Work *w)
{
    const int n = LINEAR.free;
    project(&LINEAR, w->K, &STIFFNESS, w->S, w->W, w->Kr);
    servo(w->p, w->step);
    for (int i = 0; !FREE && i < N_V; i++)
        if (LINEAR.column_place[i] >= 0 && LINEAR.column_place[i] < n)
            w->Kr[LINEAR.column_place[i] * (n + 1)] += w->step[i];
}

/* the whole pencil for poses in which a few modes were not found on their own */
static mask whole(Work *w, int count, mask asked)
{
    const int n = LINEAR.free;
    entry *mu = w->lowest.mu, *x = w->lowest.V;
    reduced_stiffness(w);
    symmetrise(w->Kr, n);
    const mask bad = pencil(w->Mr, w->Kr, n, count, mu, x, &w->pencil);
    for (int c = 0; c < count; c++) {
        w->mu[c] = pick(asked, mu[c], w->mu[c]);
        for (int i = 0; i < n; i++)
            w->x[c * n + i] = pick(asked, x[c * n + i], w->x[c * n + i]);
    }
    return asked & bad;
}

static mask modes_of(Work *w, int count)
{
    const int n = LINEAR.free;
    mask bad;
    if (N_LARGE && 2 * count + 48 <= MOST_BASIS) {
        for (int k = 0; k < n * n; k++)
            w->Dr[k] = w->Kr[k];
        bad = cholesky(w->Kr, n);
        const mask left = lowest(&w->lowest, w->Kr, w->Dr, w->Mr, n, count, w->mu, w->x) & ~bad;
        if (some(left))
            bad |= whole(w, count, left);
    } else if (INVERTED)
        bad = pencil(w->Mr, w->Kr, n, count, w->mu, w->x, &w->pencil);
    else {
        for (int k = 0; k < n * n; k++)
            w->Kr[k] = -w->Kr[k];
        bad = pencil(w->Kr, w->Mr, n, count, w->mu, w->x, &w->pencil);
    }
    spread(w, count);
    return bad;
}

static void matrix(Work *w, double *const *out, int which, const entry *A, const Pattern *pattern, long long first, int live)
{
    if (!out[which])
        return;
    project(&LINEAR, A, pattern, w->S, w->W, w->Dr);
    put(out, which, first, w->Dr, LINEAR.free * LINEAR.free, live);
}

/* velocities of the named points for unit rates of all coordinates */
static void point_rows(Work *w, double *const *out, int which, long long first, int live)
{
    if (!out[which])
        return;
    point_entries(w);
    clear(w->rows, N_W * N_V);
    for (int k = 0; k < POINTS.entries; k++)
        w->rows[POINTS.row[k] * N_V + POINTS.column[k]] = w->D[k];
    put(out, which, first, w->rows, N_W * N_V, live);
}

/* the linear model about equilibrium and what was asked of it */
static mask linear_model(Work *w, double *const *out, int count, long long first, int live)
{
    const int n = LINEAR.free;
    loop_entries(w);
    mask bad = follow(&LINEAR, w->J, &LOOPS, w->lu, w->S);
    bad |= left_open(&LINEAR, w->J, &LOOPS, w->S, w->open);
    stiffness_entries(w);
    inertia_entries(w);
    project(&LINEAR, w->M, &INERTIA, w->S, w->W, w->Mr);
    symmetrise(w->Mr, n);
    reduced_stiffness(w);
    put(out, OUT_K, first, w->Kr, n * n, live);
    put(out, OUT_M, first, w->Mr, n * n, live);
    put(out, OUT_S, first, w->S, LINEAR.rows * n, live);
    if (out[OUT_D]) {
        damping_entries(w);
        matrix(w, out, OUT_D, w->D, &DAMPING, first, live);
    }
    if (out[OUT_H]) {
        loss_entries(w);
        matrix(w, out, OUT_H, w->D, &LOSS, first, live);
    }
    point_rows(w, out, OUT_POINTS, first, live);
    if (count) {
        symmetrise(w->Kr, n);
        bad |= modes_of(w, count);
        put(out, OUT_MU, first, w->mu, count, live);
        put(out, OUT_SHAPES, first, w->shapes, N_V * count, live);
    }
    return bad;
}

/* places of the named points where the robot stands now */
static void point_places(Work *w, double *const *out, int which, long long first, int live)
{
    if (!out[which])
        return;
    places(w->q, w->p, w->column);
    put(out, which, first, w->column, N_W / 2, live);
}

/* J of the posture that does not bend yet, whole */
static void jacobian(Work *w, double *const *out, long long first, int live)
{
    if (!out[OUT_J])
        return;
    loop_entries(w);
    clear(w->rows, N_C * N_V);
    for (int k = 0; k < LOOPS.entries; k++)
        w->rows[LOOPS.row[k] * N_V + LOOPS.column[k]] = w->J[k];
    put(out, OUT_J, first, w->rows, N_C * N_V, live);
}

static void block(Work *w, double *const *out, const int *options, long long first, int live)
{
    entry status = fill(ANSWERED);
    entry share = fill(0);
    w->poor = NO_POSE;
    for (int k = 0; k < N_P; k++)
        w->p[k] = w->p_asked[k];
    const mask there = options[2] == WALKED ? walk(w, &share) : options[2] == CARRIED_OVER ? carried(w) : closed_near(w);
    for (int k = 0; k < N_P; k++)
        w->p[k] = w->p_asked[k];
    tell(&status, w->poor & ~there, POOR_CHOICE);
    tell(&status, ~there, NOT_REACHED);
    put(out, OUT_SHARE, first, &share, 1, live);
    put(out, OUT_POSTURE, first, w->q, N_Q, live);
    point_places(w, out, OUT_PLACES, first, live);
    jacobian(w, out, first, live);
    point_rows(w, out, OUT_STRAIGHT_POINTS, first, live);
    if (options[0] > 0 && some(there)) {
        w->poor = NO_POSE;
        const mask found = rest(w, there);
        tell(&status, w->poor, POOR_CHOICE);
        tell(&status, ~found, NO_REST);
        for (int k = 0; k < N_ACTIVE; k++)
            w->step[k] = w->f[ACTIVE[k]];
        put(out, OUT_Q, first, w->q, N_Q, live);
        put(out, OUT_LAM, first, w->lam, N_C, live);
        put(out, OUT_TAU, first, w->step, N_ACTIVE, live);
        point_places(w, out, OUT_BENT_PLACES, first, live);
        if (options[0] > 1 && some(found))
            tell(&status, linear_model(w, out, options[1], first, live), NO_MODES);
    }
    put(out, OUT_STATUS, first, &status, 1, live);
}

SUPPLE_EXPORT long long supple_workspace(void) { return (long long)sizeof(Work); }

/* options: how far to go (0: postures, 1: equilibria, 2: linear models), how many modes, how poses are reached from their
 * seeds; out: null where not asked for.
 * Inputs have one row a pose, or one row for all (step 0). stop: set from outside to end early; returns the poses done */
SUPPLE_EXPORT long long supple_core(
    long long count, const double *const *in, const long long *step, double *const *out, const int *options, void *workspace,
    const volatile int *stop)
{
    Work *w = workspace;
    entry *to[INS] = {w->q_seed, w->p_seed, w->shift, w->given, w->p_asked, w->load};
    for (long long first = 0; first < count; first += SUPPLE_LANES) {
        if (*stop)
            return first;
        const int live = count - first < SUPPLE_LANES ? (int)(count - first) : SUPPLE_LANES;
        for (int i = 0; i < INS; i++)
            for (int k = 0; k < IN_SIZE[i]; k++)
                for (int lane = 0; lane < SUPPLE_LANES; lane++)
                    SUPPLE_LANE(to[i][k], lane) = in[i][(first + (lane < live ? lane : live - 1)) * step[i] + k];
        block(w, out, options, first, live);
    }
    return count;
}
