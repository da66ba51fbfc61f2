/* Postures in motion: where all coordinates are, how fast, and the accelerations of the free ones. */

#if N_DEP > 0
static const Tree ROBOT = {
    N_Q, N_V, N_DEP, N_ROW, N_ALIGNED, N_BALLS, MULTIPLIED, ODD, model_loops, model_rates, SQUARE, RESOLVED,
};
#endif

SUPPLE_LOCAL Choice choice_of(const Sim *z)
{
    return (Choice){z->chosen.closure_row, z->chosen.dependent_v, z->chosen.dependent_q, z->chosen.balls};
}

#if N_LOOP > 0
static int coupled(Sim *z, Posture *p, const real *given, const real *g, const real *wrench);
#elif defined(DENSE)
static int dense(Sim *z, Posture *p, const real *given, const real *g, const real *wrench, Loops *loops);
#endif

static void control(Sim *z, const Drive *d, real t, const Posture *p, real *effort);

/* The free coordinates of p->q: those of `from` displaced by s */
SUPPLE_LOCAL void displace(const Sim *z, const real *from, const real *s, Posture *p)
{
    for (int i = 0; i < N_FREE; i++)
        if (z->chosen.free_q[i] >= 0)
            p->q[z->chosen.free_q[i]] = from[z->chosen.free_q[i]] + s[i];
    for (int k = 0; k < N_BALLS; k++)
        if (z->chosen.balls[k].free >= 0)
            turn(p->q + z->chosen.balls[k].q, from + z->chosen.balls[k].q, s + z->chosen.balls[k].free);
}

/* q and v of the tree from a displacement s of the free coordinates off `from`, their rates u, and the motion at t, whose
 * accelerations go to a. p->q holds a guess of the dependent ones. */
static int place(Sim *z, const Drive *d, real t, const real *from, const real *s, const real *u, Posture *p, real *a,
                 Loops *loops)
{
    real x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)];
    signals_in(&d->given, t, z->look, N_GIVEN, x, xd, xdd);
    displace(z, from, s, p);
    for (int i = 0; i < N_GIVEN; i++)
        p->q[GIVEN_Q[i]] = x[i];
#if N_DEP > 0
    const Choice by = choice_of(z);
    const int closed = close_loops(&ROBOT, &by, z->parameters, z->live, p->q, loops);
    if (closed != FINE)
        return closed;
#endif
    memset(p->v, 0, sizeof p->v);
    memset(a, 0, N_V * sizeof(real));
    for (int i = 0; i < N_FREE; i++)
        p->v[z->chosen.free_v[i]] = p->free_rate[i] = u[i];
    for (int k = 0; k < N_BALLS; k++)
        if (z->chosen.balls[k].free >= 0)
            rotation_rate(s + z->chosen.balls[k].free, u + z->chosen.balls[k].free, p->free_rate + z->chosen.balls[k].free);
    for (int i = 0; i < N_GIVEN; i++) {
        p->v[GIVEN_V[i]] = xd[i];
        a[GIVEN_V[i]] = xdd[i];
    }
#if N_DEP > 0
    z->conditioning = follow(&ROBOT, &by, z->parameters, z->live, p->q, p->v, loops);
    if (!(z->conditioning > 0.0))
        return ILL_POSED;
    if (z->least_conditioning > 0.0)
        z->side = side_of(&ROBOT, z->live, loops);
#endif
    (void)loops;
    return FINE;
}

/* Wrenches at the named points at time t: signals, and what a controller pushes with */
static void wrench_at(const Sim *z, const Drive *d, real t, real *wrench)
{
    for (int i = 0; i < N_W; i++)
        wrench[i] = fill(0);
    signals_in(&d->load, t, z->look, N_W, wrench, NULL, NULL);
    for (int k = 0; k < d->law.pushes; k++)
        for (int i = 0; i < N_W; i++)
            wrench[i] += d->law.pushed[i * d->law.pushes + k] * z->held_push[k];
}

/* Accelerations and efforts of a placed posture p by the equations of motion; a: the given accelerations */
static int respond(Sim *z, const Drive *d, real t, Posture *p, const real *a, Loops *loops)
{
    real given[AT_LEAST_ONE(N_GIVEN)], wrench[AT_LEAST_ONE(N_W)], g[3];
    for (int i = 0; i < N_GIVEN; i++)
        given[i] = a[GIVEN_V[i]];
    wrench_at(z, d, t, wrench);
    for (int i = 0; i < 3; i++)
        g[i] = fill(d->gravity[i]);
    (void)given, (void)loops;
#if N_LOOP > 0
    const int solved = coupled(z, p, a, g, wrench);
    if (solved != FINE)
        return solved;
#elif defined(DENSE)
    if (!dense(z, p, a, g, wrench, loops))
        return ILL_POSED;
#else
    model_accelerations(p->q, p->v, given, p->effort, g, wrench, z->parameters, p->free_a, p->given_effort);
#endif
    return size_of_all(p->free_a, N_FREE, z->live) < HUGE_VAL ? FINE : NOT_A_NUMBER;
}

/* A posture and what it responds with; loops: their factors there */
static int evaluate_by(Sim *z, const Drive *d, real t, const real *from, const real *s, const real *u, Posture *p, Loops *loops)
{
    real a[AT_LEAST_ONE(N_V)];
    z->evaluations++;
    const int placed = place(z, d, t, from, s, u, p, a, loops);
    if (placed != FINE)
        return placed;
    control(z, d, t, p, p->effort);
    return respond(z, d, t, p, a, loops);
}

SUPPLE_ROOM(Loops, loops_room)

static int evaluate(Sim *z, const Drive *d, real t, const real *from, const real *s, const real *u, Posture *p)
{
    return evaluate_by(z, d, t, from, s, u, p, loops_room());
}

/* What two small changes x of the free coordinates make of the dependent ones in a posture with these factors of its loops */
SUPPLE_LOCAL void carry(const Sim *z, const real *q, const Loops *loops, real (*x)[AT_LEAST_ONE(N_FREE)],
                        real (*to)[AT_LEAST_ONE(N_DEP)])
{
#if N_DEP > 0
    const Choice by = choice_of(z);
    real all[N_ROW], still[N_V], a[N_V];
    memset(still, 0, sizeof still);
    memset(a, 0, sizeof a);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N_FREE; i++)
            a[z->chosen.free_v[i]] = x[k][i];
        model_drift(q, still, a, z->parameters, all);
        solve_loops(&ROBOT, &by, z->parameters, loops, all, to[k]);
    }
#endif
    (void)z, (void)q, (void)loops, (void)x, (void)to;
}

/* Accelerations of all coordinates in a placed posture: a holds given and free ones, loops what place left there */
static void follow_on(const Sim *z, const Posture *p, real *a, const Loops *loops)
{
#if N_DEP > 0
    const Choice by = choice_of(z);
    real all[N_ROW], pull[N_DEP];
    model_drift(p->q, p->v, a, z->parameters, all);
    solve_loops(&ROBOT, &by, z->parameters, loops, all, pull);
    for (int i = 0; i < N_DEP; i++)
        a[z->chosen.dependent_v[i]] = -pull[i];
#endif
    (void)z, (void)p, (void)a, (void)loops;
}

/* The same in any posture, with the free ones of p */
SUPPLE_LOCAL int accelerations(Sim *z, const Drive *d, double t, const Posture *p, real *a)
{
    static SUPPLE_THREAD Loops loops;
    double x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)];
    signals_at(&d->given, t, z->look, x, xd, xdd);
    memset(a, 0, N_V * sizeof(real));
    for (int i = 0; i < N_GIVEN; i++)
        a[GIVEN_V[i]] = fill(xdd[i]);
#if N_DEP > 0
    const Choice by = choice_of(z);
    real all[N_ROW];
    model_rates(p->q, p->v, z->parameters, all, loops.wide);
    if (!(factorise_loops(&ROBOT, &by, z->parameters, z->live, p->q, JACOBIAN, &loops) > 0.0))
        return ILL_POSED;
#endif
    for (int i = 0; i < N_FREE; i++)
        a[z->chosen.free_v[i]] = p->free_a[i];
    follow_on(z, p, a, &loops);
    return FINE;
}
