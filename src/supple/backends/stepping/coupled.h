/* Robots of which all coordinates are integrated, coupled by the forces of their loops.
 *
 * Nothing depends here (N_DEP is 0): the loops are equations between accelerations, J a + b = 0. What integration leaves of
 * gaps is pulled together by them (Baumgarte, GAIN), put right after every step (MENDS), or stays.
 */
#if N_LOOP > 0

/* 1 / sqrt(x), 1 where there is nothing: rows and columns of about the same size have better pivots */
SUPPLE_LOCAL real unit_of(real x)
{
    for (int l = 0; l < SUPPLE_LANES; l++)
        SUPPLE_LANE(x, l) = SUPPLE_LANE(x, l) > 0.0 ? 1.0 / sqrt(SUPPLE_LANE(x, l)) : 1.0;
    return x;
}

/* J (column by column), and what it has to make of the accelerations that are not given */
SUPPLE_LOCAL void ask(const Sim *z, const Posture *p, const real *given, real *J, real *wanted)
{
    real velocity[N_ROW], bias[N_ROW];
    model_rates(p->q, p->v, z->parameters, velocity, J);
    model_drift(p->q, p->v, given, z->parameters, bias);
    for (int i = 0; i < N_LOOP; i++)
        wanted[i] = -bias[LOOP_ROW[i]];
#ifdef GAIN
    real gap[N_ROW];
    model_gap(p->q, z->parameters, gap);
    for (int i = 0; i < N_LOOP; i++)
        wanted[i] -= 2.0 * GAIN * velocity[LOOP_ROW[i]] + GAIN * GAIN * gap[LOOP_ROW[i]];
#endif
}
#endif

#ifdef MENDS

/* The smallest step of the coordinates that may move which changes the loops' equations by `all`; 0: none does */
static int nearest(const Sim *z, const real *J, const real *all, real *step)
{
    static SUPPLE_THREAD real square[N_LOOP * N_LOOP];
    int order[N_LOOP];
    real x[N_LOOP];
    for (int i = 0; i < N_LOOP; i++) {
        x[i] = all[LOOP_ROW[i]];
        for (int j = 0; j <= i; j++) {
            real sum = fill(0);
            for (int k = 0; k < N_MOVED; k++)
                sum += J[MOVED_V[k] * N_ROW + LOOP_ROW[i]] * J[MOVED_V[k] * N_ROW + LOOP_ROW[j]];
            square[i * N_LOOP + j] = square[j * N_LOOP + i] = sum;
        }
    }
    if (!(factorise(square, order, N_LOOP, z->live) > 0.0))
        return 0;
    solve(square, order, N_LOOP, x);
    for (int k = 0; k < N_MOVED; k++) {
        step[k] = fill(0);
        for (int i = 0; i < N_LOOP; i++)
            step[k] += J[MOVED_V[k] * N_ROW + LOOP_ROW[i]] * x[i];
    }
    return 1;
}

/* Closes the loops of a posture, positions first, then rates. Bodies are not bent for it if joints can do it: what moves
 * is soft, so that no spring answers with a blow */
static int mend(Sim *z, Posture *p)
{
    static SUPPLE_THREAD real J[N_V * N_ROW];
    real all[N_ROW], alignment[AT_LEAST_ONE(N_ALIGNED)], step[N_MOVED];
    for (int iteration = 0;; iteration++) {
        model_loops(p->q, z->parameters, all, J, alignment);
        const double gap = size_of_all(all, N_ROW, z->live);
        if (!(gap < NEAR) && iteration > 4)
            return OPEN_LOOPS;
        if (gap < CLOSED || iteration > 4)
            break;
        if (!nearest(z, J, all, step))
            return ILL_POSED;
        for (int k = 0; k < N_MOVED; k++)
            if (MOVED_Q[k] >= 0)
                p->q[MOVED_Q[k]] -= step[k];
        for (int k = 0; k < N_MOVED_BALLS; k++) {
            const real *s = step + MOVED_BALLS[k].dependent, back[3] = {-s[0], -s[1], -s[2]};
            real turned[4];
            turn(turned, p->q + MOVED_BALLS[k].q, back);
            memcpy(p->q + MOVED_BALLS[k].q, turned, sizeof turned);
        }
    }
    model_rates(p->q, p->v, z->parameters, all, J);
    if (!nearest(z, J, all, step))
        return ILL_POSED;
    for (int k = 0; k < N_MOVED; k++)
        p->v[MOVED_V[k]] -= step[k];
    return FINE;
}
#else
SUPPLE_LOCAL int mend(Sim *z, Posture *p)
{
    (void)z, (void)p;
    return FINE;
}
#endif
