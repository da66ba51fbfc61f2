/* Closing the loops by Newton's method: from a posture near by, or in stages from a posture of another design. */

#define CLOSED 1e-12       /* m or rad */
#define MOST_CLOSING 12    /* Newton steps of one stage of the way to a design */
#define MOST_STAGES 64
#define FARTHEST 0.3       /* m or rad, of one step */

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

/* J_d at w->q, eliminated; returns the poses for which the choice of what follows is poor */
static mask opened(Work *w)
{
    open_entries(w);
    return follow(&CLOSING, w->J, &OPENING, w->lu, w->S);
}

/* w->step that closes w->gap by what was `opened`; returns its size */
static entry newton_step(Work *w)
{
    clear(w->step, N_V);
    for (int c = 0; c < N_C; c++)
        if (CLOSING.row_place[c] >= 0)
            w->rhs[CLOSING.row_place[c]] = -w->gap[c];
    solve_rows(w->lu, CLOSING.rows, w->rhs, 1);
    for (int i = 0; i < N_V; i++)
        if (CLOSING.column_place[i] >= CLOSING.free)
            w->step[i] = w->rhs[CLOSING.column_place[i] - CLOSING.free];
    return largest(w->step, N_V);
}

/* Newton's method on the loops from w->q; returns the poses that closed, no joint upside down. `slow`: how much of its first
 * step a later one may be */
static mask closed(Work *w, mask asked, double slow, int most)
{
    entry first = fill(0);
    mask good = asked, done = ~asked;
    for (int round = 0; round < most; round++) {
        gaps(w->q, w->p, w->gap, w->aligned);
        done |= below(largest(w->gap, N_C), fill(CLOSED)) & good;
        if (!some(good & ~done))
            break;
        const mask poor = opened(w);
        w->poor |= poor & ~done;
        const entry length = newton_step(w), scale = smaller(fill(1), fill(FARTHEST) / larger(length, fill(1e-30)));
        good &= ~poor | done;
        if (round == 0)
            first = length;
        else
            good &= below(length, num(slow) * first + num(1e-9)) | done;
        for (int i = 0; i < N_V; i++)
            w->step[i] *= scale;
        retract(w->q, w->step, good & ~done);
    }
    return good & done & below(fill(0), smallest_alignment(w));
}

/* what is given and the parameters, a part of the way from where the seed has them to where they are asked for */
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

/* the seed carried to another design in stages each of which Newton's method closes quickly; returns those that got there */
static mask carried(Work *w)
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
        const mask good = closed(w, moving, 0.25, MOST_CLOSING), back = moving & ~good;
        for (int k = 0; k < N_Q; k++) {
            w->q[k] = pick(back, w->q_kept[k], w->q[k]);
            w->q_kept[k] = w->q[k];
        }
        done = pick(good, next, done);
        stage = pick(good, num(1.5) * stage, pick(back, num(0.35) * stage, stage));
        lost |= below(stage, fill(1e-3));
    }
    return ~below(done, fill(1));
}

/* the closed posture that Newton's method finds from the seed with what is given in its place */
static mask closed_near(Work *w)
{
    for (int k = 0; k < N_Q; k++)
        w->q[k] = w->q_seed[k];
    for (int k = 0; k < N_GIVEN; k++)
        w->q[GIVEN[k]] = w->given[k];
    return closed(w, EVERY_POSE, 1e300, 60);
}
