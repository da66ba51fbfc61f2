/* SCDD as printed (Stachera & Schumacher 2008, section 5.1): loop forces of the evaluation before.
 *
 * (40) loads at once: branches carry them without work on their passive joints, J_p^T lam = -load_p;
 * (41), (34) accelerations of every chain by itself, with these and with the late forces;
 * (7), (12) positions, rates and accelerations of the passive coordinates from the loops;
 * (35), (39) the virtual torques of the passive joints, and the forces that take their place next time, J_p^T lam = tau_p.
 */
#ifdef PRINTED
static const Tree TIED = {N_Q, N_V, N_LOOP, N_ROW, N_ALIGNED, N_TIED_BALLS, 0, 0, model_loops, model_rates, NULL, NULL};
static const Choice TIED_CHOICE = {LOOP_ROW, TIED_V, TIED_Q, TIED_BALLS};

/* lam of J_p^T lam = tau for the passive coordinates, by the factors of J_p */
SUPPLE_LOCAL void in_place_of(const Loops *loops, const real *tau, real *lam)
{
    memcpy(lam, tau, N_LOOP * sizeof(real));
    solve_transposed(loops->square, loops->pivot, N_LOOP, lam);
}

/* Loop forces that the loads of this moment ask for (40) */
static int carried(const Sim *z, const Posture *p, const Parts *parts, real *lam)
{
    static SUPPLE_THREAD Loops loops;
    real velocity[N_ROW], tau[N_LOOP];
    model_rates(p->q, p->v, z->parameters, velocity, loops.wide);
    if (!(factorise_loops(&TIED, &TIED_CHOICE, z->parameters, z->live, p->q, JACOBIAN, &loops) > 0.0))
        return 0;
    for (int i = 0; i < N_LOOP; i++)
        tau[i] = -parts->load[V_CHAIN[TIED_V[i]]];
    in_place_of(&loops, tau, lam);
    return 1;
}

/* Loop forces of the next evaluation, from accelerations (in the order of the chains) of this one */
static int next_forces(Sim *z, const Posture *p, const real *found, const real *given, const real *g, const real *wrench)
{
    static SUPPLE_THREAD Loops loops;
    static SUPPLE_THREAD Parts parts;
    real q[N_Q], v[N_V], a[N_V], bias[N_ROW], pull[N_LOOP], tau[N_LOOP], ordered[N_V];
    memcpy(q, p->q, sizeof q);
    memcpy(v, p->v, sizeof v);
    memcpy(a, given, sizeof a);
    const int closed = close_loops(&TIED, &TIED_CHOICE, z->parameters, z->live, q, &loops);
    if (closed != FINE)
        return closed;
    for (int i = 0; i < N_V; i++)
        a[CHAIN_V[i]] = found[i];
    for (int i = 0; i < N_LOOP; i++)
        v[TIED_V[i]] = a[TIED_V[i]] = fill(0);
    z->conditioning = follow(&TIED, &TIED_CHOICE, z->parameters, z->live, q, v, &loops);
    if (!(z->conditioning > 0.0))
        return ILL_POSED;
    model_drift(q, v, a, z->parameters, bias);
    solve_loops(&TIED, &TIED_CHOICE, z->parameters, &loops, bias, pull);
    for (int i = 0; i < N_LOOP; i++)
        a[TIED_V[i]] = -pull[i];
    for (int i = 0; i < N_V; i++)
        ordered[i] = a[CHAIN_V[i]];
    chain_models(z, q, v, g, wrench, &parts);
    for (int i = 0; i < N_LOOP; i++) {
        const int at = V_CHAIN[TIED_V[i]];
        int k = 0;
        while (CHAIN_AT[k + 1] <= at)
            k++;
        tau[i] = inertia_of(&parts, k, at, ordered) + parts.c[at];
    }
    in_place_of(&loops, tau, z->late_force);
    return FINE;
}

static int coupled(Sim *z, Posture *p, const real *given, const real *g, const real *wrench)
{
    static SUPPLE_THREAD Parts parts;
    static SUPPLE_THREAD real J[N_V * N_ROW];
    real a[N_V], force[N_V], lam[N_LOOP], wanted[N_LOOP], whole[N_LOOP];
    chain_models(z, p->q, p->v, g, wrench, &parts);
    if (!carried(z, p, &parts, lam))
        return ILL_POSED;
    chain_forces(p, &parts, given, a, force);
    if (!z->has_late_force) { /* there is none before the first: it starts with the right ones */
        real first[N_V];
        memcpy(first, a, sizeof first);
        ask(z, p, given, J, wanted);
        if (!exact_forces(z, &parts, wanted, force, first, whole))
            return ILL_POSED;
        for (int r = 0; r < N_LOOP; r++)
            z->late_force[r] = whole[r] - lam[r];
        z->has_late_force = 1;
    }
    for (int r = 0; r < N_LOOP; r++) {
        lam[r] += z->late_force[r];
        for (int k = 0; k < N_V; k++)
            force[k] += parts.J[k * N_ROW + LOOP_ROW[r]] * lam[r];
    }
    if (!yield_of(z, &parts, force, 1))
        return ILL_POSED;
    for (int k = 0; k < N_V; k++)
        a[k] += force[k];
    chain_results(&parts, a, lam, p);
    return next_forces(z, p, a, given, g, wrench);
}
#endif
