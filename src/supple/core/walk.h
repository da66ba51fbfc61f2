/* From a closed posture straight to a pose, in steps that are certain to stay on one branch of the loops: Krawczyk's test on
 * the way, as model/continuation.py describes it. */

#define ARRIVED 1e-13   /* m or rad, of what is given */
#define SHORTEST 3e-5   /* of the whole way: a step that has to be shorter stands before a singular posture */
#define MOST_STEPS 400
#define MOST_BOXES 4    /* sizes of a box that are tried */

/* the rotation vector, in the axes of p, that turns p into r */
static void ball_between(const entry *p, const entry *r, entry *made)
{
    entry real_part = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3], v[3];
    v[0] = p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2];
    v[1] = p[0] * r[2] + p[1] * r[3] - p[2] * r[0] - p[3] * r[1];
    v[2] = p[0] * r[3] - p[1] * r[2] + p[2] * r[1] - p[3] * r[0];
    const entry sign = pick(below(real_part, fill(0)), fill(-1), fill(1));
    const entry sine = supple_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    entry times = fill(2);
    real_part *= sign;
    for (int lane = 0; lane < SUPPLE_LANES; lane++)
        if (SUPPLE_LANE(sine, lane) > 1e-12)
            SUPPLE_LANE(times, lane) = 2 * atan2(SUPPLE_LANE(sine, lane), SUPPLE_LANE(real_part, lane)) / SUPPLE_LANE(sine, lane);
    for (int k = 0; k < 3; k++)
        made[k] = sign * times * v[k];
}

/* what is left of the way, one number per rigid coordinate; returns the largest */
static entry remaining(const Work *w, entry *way)
{
    clear(way, N_RIGID);
    for (int k = 0; k < N_PLAIN; k++)
        way[PLAIN_COLUMN[k]] = w->given[PLAIN_GIVEN[k]] - w->q[GIVEN[PLAIN_GIVEN[k]]];
    for (int k = 0; k < N_TURNED; k++)
        ball_between(w->q + GIVEN[TURNED_GIVEN[k]], w->given + TURNED_GIVEN[k], way + TURNED_COLUMN[k]);
    return largest(way, N_RIGID);
}

/* w->J as a table of the rows that are solved and all rigid coordinates */
static void tabulate(const Work *w, entry *J)
{
    clear(J, CLOSING.rows * N_RIGID);
    for (int k = 0; k < OPENING.entries; k++) {
        const int row = CLOSING.row_place[OPENING.row[k]], place = RIGID[OPENING.column[k]];
        if (row >= 0 && place >= 0)
            J[row * N_RIGID + place] = w->J[k];
    }
}

/* those of its columns that follow, as a square table */
static void following(const entry *J, entry *made)
{
    for (int r = 0; r < CLOSING.rows; r++)
        for (int k = 0; k < CLOSING.rows; k++)
            made[r * CLOSING.rows + k] = J[r * N_RIGID + FOLLOWS[k]];
}

/* equations at a closed posture: J, A, levers, and lengths of the rows of A */
static void tangent(Work *w, Walk *o)
{
    const int n = CLOSING.rows;
    open_entries(w);
    tabulate(w, o->J);
    following(o->J, o->lu);
    o->poor = eliminate(o->lu, n);
    clear(o->A, n * n);
    for (int r = 0; r < n; r++)
        o->A[r * (n + 1)] = fill(1);
    solve_rows(o->lu, n, o->A, n);
    find_levers(w->J, o->lever);
    clear(o->lengths, 2 * n * N_CHAINS);
    for (int c = 0; c < N_C; c++) {
        const int column = CLOSING.row_place[c];
        for (int r = 0; column >= 0 && r < n; r++)
            o->lengths[2 * (r * N_CHAINS + ROW_CHAIN[c]) + ROW_TURNS[c]] += o->A[r * n + column] * o->A[r * n + column];
    }
    for (int k = 0; k < 2 * n * N_CHAINS; k++)
        o->lengths[k] = supple_sqrt(o->lengths[k]);
}

/* the step of a share h of the way, and w->q moved by it */
static void predict(Work *w, Walk *o)
{
    const int n = CLOSING.rows;
    for (int r = 0; r < n; r++) {
        w->rhs[r] = fill(0);
        for (int k = 0; k < N_RIGID; k++)
            w->rhs[r] -= o->J[r * N_RIGID + k] * o->way[k];
    }
    solve_rows(o->lu, n, w->rhs, 1);
    for (int k = 0; k < N_RIGID; k++)
        o->step[k] = o->h * o->way[k];
    for (int k = 0; k < n; k++)
        o->step[FOLLOWS[k]] = o->h * w->rhs[k];
    clear(w->step, N_V);
    for (int k = 0; k < N_RIGID; k++) {
        w->step[RIGID_V[k]] = o->step[k];
        o->ahead[k] = size(o->step[k]);
    }
    retract(w->q, w->step, o->live);
}

/* columns of J at the end of a step by the rotation vectors of ball joints counted from its beginning */
static void chart(entry *J, const entry *step)
{
    for (int b = 0; b < N_BALLS; b++) {
        const entry *r = step + RIGID[BALL_V[b]];
        const entry f2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], near = smaller(f2, fill(0.1)), far = larger(f2, fill(0.1));
        entry one = fill(0), two = fill(0), power = fill(1), sine, cosine;
        double a = 0.5, b6 = 1.0 / 6;
        for (int k = 0; k < 9; k++, power *= near) {
            one += num(a) * power;
            two += num(b6) * power;
            a /= -(2 * k + 3) * (2 * k + 4);
            b6 /= -(2 * k + 4) * (2 * k + 5);
        }
        const entry f = supple_sqrt(far);
        supple_sincos(f, &sine, &cosine);
        const mask small = below(f2, fill(0.1));
        one = pick(small, one, (num(1) - cosine) / far);
        two = pick(small, two, (f - sine) / (far * f));
        for (int row = 0; row < CLOSING.rows; row++) { /* x T = x - c1 x [r] + c2 x [r] [r] */
            entry *x = J + row * N_RIGID + RIGID[BALL_V[b]];
            const entry y[3] = {x[1] * r[2] - x[2] * r[1], x[2] * r[0] - x[0] * r[2], x[0] * r[1] - x[1] * r[0]};
            const entry z[3] = {y[1] * r[2] - y[2] * r[1], y[2] * r[0] - y[0] * r[2], y[0] * r[1] - y[1] * r[0]};
            for (int k = 0; k < 3; k++)
                x[k] += two * z[k] - one * y[k];
        }
    }
}

/* |A (F_x - F_x(0))| times r: what the ends of the way show, and what the bounds leave open */
static void turning(const Walk *o, const entry *r, entry *made)
{
    const int n = CLOSING.rows;
    entry *x = (entry *)o->x;
    clear(x, N_RIGID);
    for (int k = 0; k < n; k++)
        x[FOLLOWS[k]] = r[k];
    for (int i = 0; i < n; i++) {
        made[i] = fill(0);
        for (int k = 0; k < n; k++)
            made[i] += o->D[i * n + k] * r[k];
    }
    add_bound(&o->bound, o->lengths, x, made);
}

/* bounds that hold within o->box of all places of the way */
static void bound_boxes(const Work *w, Walk *o)
{
    for (int k = 0; k < N_RIGID; k++)
        o->around[k] = o->ahead[k];
    clear(o->x, N_RIGID);
    for (int k = 0; k < CLOSING.rows; k++) {
        o->around[FOLLOWS[k]] += o->box[k];
        o->x[FOLLOWS[k]] = o->box[k];
    }
    levers_within(w, o->q, o->lever, o->around, o->most);
    third_derivative(o->most, o->ahead, 1.0 / 8, &o->bound);
    add_second_derivative(o->most, o->x, &o->bound);
}

/* |A F| at most on the way, w->gap being that at its end */
static void errors(Work *w, Walk *o)
{
    const int n = CLOSING.rows;
    for (int c = 0; c < N_C; c++)
        if (CLOSING.row_place[c] >= 0)
            w->rhs[CLOSING.row_place[c]] = w->gap[c];
    solve_rows(o->lu, n, w->rhs, 1);
    for (int r = 0; r < n; r++)
        o->error[r] = size(w->rhs[r]);
    levers_within(w, o->q, o->lever, o->ahead, o->most);
    third_derivative(o->most, o->ahead, 2.0 / 81, &o->bound);
    add_bound(&o->bound, o->lengths, o->ahead, o->error);
    const entry most = num(1e-3) * largest(o->error, n) + num(1e-12);
    for (int r = 0; r < n; r++)
        o->error[r] += most;
}

/* spectral radius of the turning, from a few powers of it */
static entry radius(Walk *o)
{
    entry most = fill(0);
    for (int r = 0; r < CLOSING.rows; r++)
        o->vector[r] = fill(1);
    for (int k = 0; k < 5; k++) {
        turning(o, o->vector, o->turned);
        most = largest(o->turned, CLOSING.rows);
        const entry inverse = num(1) / larger(most, fill(1e-300));
        for (int r = 0; r < CLOSING.rows; r++)
            o->vector[r] = o->turned[r] * inverse;
    }
    return most;
}

/* a box that the next test might hold for: r = e + G r, from a few rounds of it, and some room */
static void wider(Walk *o, mask kept)
{
    for (int round = 0; round < 3; round++) {
        for (int r = 0; r < CLOSING.rows; r++)
            o->vector[r] = o->error[r] + o->turned[r];
        turning(o, o->vector, o->turned);
    }
    for (int r = 0; r < CLOSING.rows; r++)
        o->box[r] = pick(kept, o->box[r], num(1.15) * (o->error[r] + o->turned[r]));
}

/* Krawczyk's test: poses for which boxes of half-widths o->box about the way hold one closed posture each; `turn`: how much
 * the equations turn (1: too much) */
static mask certain(const Work *w, Walk *o, entry *turn)
{
    mask holds = NO_POSE;
    for (int r = 0; r < CLOSING.rows; r++)
        o->box[r] = num(1.3) * o->error[r];
    for (int round = 0; round < MOST_BOXES; round++) {
        mask now = EVERY_POSE;
        bound_boxes(w, o);
        if (round == 0)
            *turn = radius(o);
        turning(o, o->box, o->turned);
        for (int r = 0; r < CLOSING.rows; r++)
            now &= below(o->error[r] + o->turned[r], o->box[r]);
        holds |= now;
        if (!some(o->live & ~holds & below(*turn, fill(1))))
            break;
        wider(o, holds);
    }
    return holds;
}

/* Newton's method from w->q, no farther than the boxes are wide, and one step more; returns the poses that closed */
static mask corrected(Work *w, const Walk *o, mask asked)
{
    const entry farthest = num(3) * largest(o->box, CLOSING.rows) + num(1e-9);
    mask good = asked, done = ~asked;
    entry length = fill(1);
    for (int round = 0; round < 15 && some(good & ~done); round++) {
        gaps(w->q, w->p, w->gap, w->aligned);
        const mask near = below(largest(w->gap, N_C), fill(CLOSED)) & good;
        if (some(good & ~done & ~near & below(fill(1e-4), length)))
            good &= ~opened(w) | done | near;
        length = newton_step(w);
        good &= below(length, farthest) | done;
        retract(w->q, w->step, good & ~done);
        done |= near;
    }
    return good & done;
}

/* poses whose closed posture is in the box about the end of the step */
static mask inside(const Work *w, Walk *o)
{
    mask good = EVERY_POSE;
    for (int k = 0; k < N_RIGID; k++)
        if (PLACE[RIGID_V[k]] >= 0)
            o->x[k] = w->q[PLACE[RIGID_V[k]]] - o->q[PLACE[RIGID_V[k]]];
    for (int b = 0; b < N_BALLS; b++)
        ball_between(o->q + BALL_Q[b], w->q + BALL_Q[b], o->x + RIGID[BALL_V[b]]);
    for (int k = 0; k < CLOSING.rows; k++)
        good &= below(size(o->x[FOLLOWS[k]] - o->step[FOLLOWS[k]]), num(1.01) * o->box[k] + num(1e-9));
    return good;
}

/* one step of the share o->h of the way; returns the poses that took it */
static mask stepped(Work *w, Walk *o, entry *turn)
{
    const int n = CLOSING.rows;
    tangent(w, o);
    o->live &= ~o->poor;
    for (int k = 0; k < N_Q; k++)
        o->q[k] = w->q[k];
    predict(w, o);
    gaps(w->q, w->p, w->gap, w->aligned);
    open_entries(w);
    tabulate(w, o->end);
    chart(o->end, o->step);
    for (int k = 0; k < n * N_RIGID; k++)
        o->end[k] -= o->J[k];
    following(o->end, o->D);
    solve_rows(o->lu, n, o->D, n);
    for (int k = 0; k < n * n; k++)
        o->D[k] = size(o->D[k]);
    errors(w, o);
    mask good = certain(w, o, turn) & o->live;
    if (some(good)) {
        good &= corrected(w, o, good);
        good &= inside(w, o);
    }
    for (int k = 0; k < N_Q; k++)
        w->q[k] = pick(good, w->q[k], o->q[k]);
    return good;
}

/* exactly what was asked for, where it was reached */
static void arrive(Work *w, mask arrived)
{
    for (int k = 0; k < N_PLAIN; k++) {
        entry *q = w->q + GIVEN[PLAIN_GIVEN[k]];
        *q = pick(arrived, w->given[PLAIN_GIVEN[k]], *q);
    }
    for (int k = 0; N_C == 0 && k < N_GIVEN; k++)
        w->q[GIVEN[k]] = w->given[k];
}

/* from the seed to the pose; returns the poses that were reached, and the share of the way that was walked */
static mask walk(Work *w, entry *share)
{
    Walk *o = &w->walk;
    for (int k = 0; k < N_Q; k++)
        w->q[k] = w->q_seed[k];
    const entry whole = remaining(w, o->way);
    entry left = whole, turn = fill(0);
    mask arrived = N_C ? ~below(fill(ARRIVED), left) : EVERY_POSE, stuck = NO_POSE;
    lengths(w->p, w->lengths);
    o->h = fill(1);
    for (int step = 0; step < MOST_STEPS && some(~arrived & ~stuck); step++) {
        o->live = ~arrived & ~stuck;
        const mask good = stepped(w, o, &turn), tried = ~arrived & ~stuck;
        w->poor |= o->poor & tried;
        const entry less = remaining(w, o->way);
        const entry grown = o->h * smaller(fill(4), num(0.6) / larger(turn, fill(0.15)));
        const entry next = smaller(fill(1), grown * left / larger(less, fill(1e-300)));
        const entry shrunk = o->h * smaller(fill(0.7), larger(fill(0.2), num(0.55) / larger(turn, fill(1e-3))));
        o->h = pick(good, next, pick(tried, shrunk, o->h));
        left = pick(good, less, left);
        arrived |= good & ~below(fill(ARRIVED), left);
        stuck |= tried & ~arrived & (o->poor | (not_below(num(SHORTEST) * whole / left, o->h) & SUPPLE_MASK(o->h != fill(1))));
    }
    arrive(w, arrived);
    *share = pick(arrived, fill(1), smaller(num(1) - left / larger(whole, fill(1e-300)), fill(1 - SHORTEST)));
    return arrived;
}
