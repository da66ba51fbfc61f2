/* From a posture to a nearby pose and design with closed loops, and on to equilibrium under weight and loads. */

#define CLOSED 1e-12       /* m or rad */
#define MOST_CLOSING 12    /* Newton steps of one stage of the way to a pose */
#define MOST_STAGES 64
#define MOST_RESTING 30    /* Newton steps to equilibrium */
#define FARTHEST 0.3       /* m or rad, of one step to equilibrium */
#define BALANCED 1e-10     /* of the largest force, or of 1 N where that is less */

/* q moved by a generalised displacement, in the poses of `moving` */
static void retract(entry *q, const entry *step, mask moving)
{
    for (int i = 0; i < N_V; i++)
        if (PLACE[i] >= 0)
            q[PLACE[i]] = pick(moving, q[PLACE[i]] + step[i], q[PLACE[i]]);
    for (int b = 0; b < N_BALLS; b++) {
        entry *t = q + BALL_Q[b], half[3], was[4], now[4];
        const entry *r = step + BALL_V[b];
        for (int k = 0; k < 3; k++)
            half[k] = num(0.5) * r[k];
        const entry angle = supple_sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
        entry sine, cosine;
        supple_sincos(angle, &sine, &cosine);
        const entry ratio = pick(below(angle, fill(1e-9)), fill(1), sine / pick(below(angle, fill(1e-9)), fill(1), angle));
        for (int k = 0; k < 4; k++)
            was[k] = t[k];
        const entry x = half[0] * ratio, y = half[1] * ratio, z = half[2] * ratio;
        now[0] = was[0] * cosine - was[1] * x - was[2] * y - was[3] * z;
        now[1] = was[0] * x + was[1] * cosine + was[2] * z - was[3] * y;
        now[2] = was[0] * y - was[1] * z + was[2] * cosine + was[3] * x;
        now[3] = was[0] * z + was[1] * y - was[2] * x + was[3] * cosine;
        const entry norm = supple_sqrt(now[0] * now[0] + now[1] * now[1] + now[2] * now[2] + now[3] * now[3]);
        for (int k = 0; k < 4; k++)
            t[k] = pick(moving, now[k] / norm, was[k]);
    }
}

/* Newton's method on the loops from where it stands; returns the poses that closed, quickly enough to have stayed on their
 * branch. `slow`: how much of its first step the second one was, at most */
static mask closed(Work *w, mask asked, double slow)
{
    entry first = fill(0);
    mask good = asked, done = ~asked;
    for (int round = 0; round < MOST_CLOSING; round++) {
        gaps(w->q, w->p, w->gap, w->aligned);
        done |= below(largest(w->gap, N_C), fill(CLOSED)) & good;
        if (!some(good & ~done))
            break;
        open_entries(w);
        const mask poor = follow(&CLOSING, w->J, &OPENING, w->lu, w->S);
        w->poor |= poor & ~done;
        clear(w->step, N_V);
        for (int c = 0; c < N_C; c++)
            if (CLOSING.row_place[c] >= 0)
                w->rhs[CLOSING.row_place[c]] = -w->gap[c];
        solve_rows(w->lu, CLOSING.rows, w->rhs, 1);
        for (int i = 0; i < N_V; i++)
            if (CLOSING.column_place[i] >= CLOSING.free)
                w->step[i] = w->rhs[CLOSING.column_place[i] - CLOSING.free];
        const entry length = largest(w->step, N_V);
        good &= ~poor & below(length, fill(FARTHEST));
        if (round == 0)
            first = length;
        else
            good &= below(length, num(slow) * first + num(1e-9)) | done;
        retract(w->q, w->step, good & ~done);
    }
    return good & done & below(fill(0), smallest_alignment(w));
}

/* given positions and parameters, a part of the way from where the seed has them to where they are asked for */
static void along(Work *w, entry part, mask moving)
{
    for (int k = 0; k < N_GIVEN; k++)
        w->q[GIVEN[k]] = pick(moving, w->q_seed[GIVEN[k]] + part * (w->given[k] - w->q_seed[GIVEN[k]]), w->q[GIVEN[k]]);
    for (int b = 0; b < N_BALLS; b++) {
        entry *t = w->q + BALL_Q[b];
        const entry norm = supple_sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + t[3] * t[3]);
        for (int k = 0; k < 4; k++)
            t[k] /= norm;
    }
    for (int k = 0; k < N_P; k++)
        w->p[k] = pick(moving, w->p_seed[k] + part * (w->p_asked[k] - w->p_seed[k]), w->p[k]);
}

/* the posture asked for, in stages each of which Newton's method closes quickly; returns the poses that were reached */
static mask reach(Work *w)
{
    entry done = fill(0), stage = fill(1);
    mask lost = NO_POSE;
    for (int k = 0; k < N_Q; k++)
        w->q[k] = w->q_kept[k] = w->q_seed[k];
    for (int round = 0; round < MOST_STAGES; round++) {
        const mask moving = below(done, fill(1)) & ~lost;
        if (!some(moving))
            break;
        const entry next = smaller(done + stage, fill(1));
        along(w, next, moving);
        const mask good = closed(w, moving, 0.25);
        const mask back = moving & ~good;
        for (int k = 0; k < N_Q; k++) {
            w->q[k] = pick(back, w->q_kept[k], w->q[k]);
            w->q_kept[k] = w->q[k];
        }
        done = pick(good, next, done);
        stage = pick(good, num(1.5) * stage, pick(back, num(0.35) * stage, stage));
        lost |= below(stage, fill(1e-3));
    }
    along(w, fill(1), NO_POSE);
    for (int k = 0; k < N_P; k++)
        w->p[k] = w->p_asked[k];
    return ~below(done, fill(1));
}

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
    const mask poor = follow(way, w->J, &LOOPS, w->lu, w->S);
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

/* w->step of Newton's method; returns the poses in which the stiffness is not positive definite */
static mask downhill(Work *w, const Way *way)
{
    const int n = way->free;
    project(way, w->K, &STIFFNESS, w->S, w->W, w->Kr);
    symmetrise(w->Kr, n);
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
    const mask bad = cholesky(w->Kr, n);
    cholesky_solve(w->Kr, n, w->y);
    for (int i = 0; i < N_V; i++) {
        const int place = way->column_place[i];
        if (place < 0)
            continue;
        w->step[i] = place < n ? w->y[place] : w->rhs[place - n];
        for (int k = 0; place >= n && k < n; k++)
            w->step[i] += w->S[(place - n) * n + k] * w->y[k];
    }
    return bad;
}

/* the bending and the reactions of the seed, for a start */
static void bend(Work *w, mask asked)
{
    for (int k = 0; k < N_Q; k++)
        w->q[k] = pick(asked, w->q[k] + w->shift[k], w->q[k]);
    for (int c = 0; c < N_C; c++)
        w->lam[c] = pick(asked, w->lam_seed[c], fill(0));
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
        stiffness_entries(w);
        const entry left = unbalanced(w, &HELD);
        const mask calm = below(left, balance(w, w->K)) & below(largest(w->gap, N_C), fill(1e-10));
        found |= open & calm;
        open &= ~calm & ~w->poor & SUPPLE_MASK(left == left);
        if (!some(open))
            break;
        open &= ~downhill(w, &HELD);
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
