/* Forces of the actuators that are not prescribed: signals, and controllers that see positions and rates. */

#if N_CQ > 0
#if N_CDEP > 0
static const Tree RIGID = {
    N_CQ, N_CV, N_CDEP, N_CROW, N_CALIGNED, N_CBALLS, CMULTIPLIED, 0, rigid_loops, rigid_rates, rigid_square,
    rigid_resolved,
};
static const Choice RIGID_CHOICE = {CROW, CDEP_V, CDEP_Q, CBALLS};
#endif

/* Forces of the rigid robot for accelerations of its actuators, at their measured positions and rates; 0: no posture */
static int rigid_forces(Sim *z, const Drive *d, const real *x, const real *u, const real *a, real *tau)
{
    static SUPPLE_THREAD Loops loops;
    real q[N_CQ], v[N_CV], g[3];
    memcpy(q, z->rigid_q, sizeof q);
    memset(v, 0, sizeof v);
#if N_CDEP > 0
    if (d->sample_time > 0.0) /* samples come one after the other: the last one's rates go on */
        move_dependent(&RIGID, &RIGID_CHOICE, q, z->rigid_rate, z->rigid_t - z->t);
#endif
    for (int k = 0; k < N_DRIVES; k++) {
        q[DRIVE_Q[k]] = x[k];
        v[DRIVE_V[k]] = u[k];
    }
    for (int i = 0; i < 3; i++)
        g[i] = fill(d->gravity[i]);
#if N_CDEP > 0
    if (close_loops(&RIGID, &RIGID_CHOICE, z->parameters, z->live, q, &loops) != FINE)
        return 0;
    if (!(follow(&RIGID, &RIGID_CHOICE, z->parameters, z->live, q, v, &loops) > 0.0))
        return 0;
    memcpy(z->rigid_q, q, sizeof q);
    for (int i = 0; i < N_CDEP; i++)
        z->rigid_rate[i] = v[CDEP_V[i]];
    z->rigid_t = z->t;
#endif
    (void)loops;
    rigid_inverse(q, v, a, g, z->parameters, tau);
    return 1;
}
#endif

/* Adds to signals at z->t, and to their rates, what was learnt of parameters changes in them */
static void amend(const Sim *z, const Drive *d, const Signals *by, real *x, real *xd, real *xdd)
{
    double more[3][MOST_LEARNT * AT_LEAST_ONE(N_TAU)];
    const long long n = d->learnt.parameters;
    if (!n)
        return;
    signals_at(by, z->t, z->look, more[0], more[1], more[2]);
    for (long long k = 0; k < n; k++)
        for (int i = 0; i < N_TAU; i++) {
            x[i] += z->law_state[n + k] * more[0][k * N_TAU + i];
            if (xd)
                xd[i] += z->law_state[n + k] * more[1][k * N_TAU + i];
            if (xdd)
                xdd[i] += z->law_state[n + k] * more[2][k * N_TAU + i];
        }
}

/* The controller's forces for what is measured in p */
static void controlled(Sim *z, const Drive *d, real t, const Posture *p, real *effort)
{
    real x[AT_LEAST_ONE(N_TAU)] = {0}, xd[AT_LEAST_ONE(N_TAU)] = {0}, xdd[AT_LEAST_ONE(N_TAU)] = {0};
    real later[AT_LEAST_ONE(N_TAU)];
    signals_in(&d->reference, t, z->look, N_TAU, x, xd, d->sample_time > 0.0 ? NULL : xdd);
    if (d->sample_time > 0.0) /* forces are held: accelerations are those of the middle of that time */
        signals_in(&d->reference, t + (d->delay + 0.5 * d->sample_time), z->look, N_TAU, later, NULL, xdd);
    amend(z, d, &d->learnt.path, x, xd, xdd);
    for (int i = 0; i < N_TAU; i++) {
        const double *gain = d->gains + 4 * i;
        effort[i] = gain[0] * (x[i] - p->q[TAU_Q[i]]) + gain[1] * (xd[i] - p->v[TAU_V[i]]) + gain[2] * z->error_integral[i];
    }
#if N_CQ > 0
    if (d->controller == COMPUTED_TORQUE) {
        real measured[N_DRIVES], rate[N_DRIVES], a[N_DRIVES], tau[N_DRIVES];
        real place[AT_LEAST_ONE(N_GIVEN)], speed[AT_LEAST_ONE(N_GIVEN)], given[AT_LEAST_ONE(N_GIVEN)];
        signals_in(&d->given, t, z->look, N_GIVEN, place, speed, given);
        for (int k = 0; k < N_DRIVES; k++) {
            measured[k] = p->q[MEASURED_Q[k]];
            rate[k] = p->v[MEASURED_V[k]];
            a[k] = DRIVE_TAU[k] >= 0 ? xdd[DRIVE_TAU[k]] + effort[DRIVE_TAU[k]]
                : DRIVE_GIVEN[k] >= 0 ? given[DRIVE_GIVEN[k]] : fill(0);
        }
        const int known = rigid_forces(z, d, measured, rate, a, tau);
        for (int k = 0; k < N_DRIVES; k++) /* without a posture of the rigid robot the last forces stay */
            if (DRIVE_TAU[k] >= 0)
                effort[DRIVE_TAU[k]] = known ? tau[k] : z->held_effort[DRIVE_TAU[k]];
    }
#endif
    amend(z, d, &d->learnt.forces, effort, NULL, NULL);
    for (int i = 0; i < N_TAU; i++)
        for (int l = 0; l < SUPPLE_LANES; l++) {
            const double limit = d->gains[4 * i + 3];
            const double wanted = SUPPLE_LANE(effort[i], l);
            if (limit > 0.0 && fabs(wanted) > limit)
                SUPPLE_LANE(effort[i], l) = wanted > 0.0 ? limit : -limit;
        }
}

/* Forces at time t: signals, and the controller's, now or as it last set them */
static void control(Sim *z, const Drive *d, real t, const Posture *p, real *effort)
{
    real x[AT_LEAST_ONE(N_TAU)] = {0};
    for (int i = 0; i < N_TAU; i++)
        effort[i] = fill(0);
    if (N_TAU > 0 && d->controller && d->sample_time == 0.0)
        controlled(z, d, t, p, effort);
    else if (d->controller)
        for (int i = 0; i < N_TAU; i++)
            effort[i] = z->held_effort[i];
    if (d->torque.channels) {
        signals_in(&d->torque, t, z->look, N_TAU, x, NULL, NULL);
        for (int i = 0; i < N_TAU; i++)
            effort[i] += x[i];
    }
}

/* Adds the error over a time to the integral that ki multiplies */
static void integrate_error(Sim *z, const Drive *d, double t, double over)
{
    double x[AT_LEAST_ONE(N_TAU)] = {0};
    int asked = 0;
    if (!d->controller || d->controller == STATE_SPACE || N_TAU == 0)
        return;
    for (int i = 0; i < N_TAU; i++)
        asked |= d->gains[4 * i + 2] != 0.0;
    if (!asked)
        return;
    signals_at(&d->reference, t, z->look, x, NULL, NULL);
    for (int i = 0; i < N_TAU; i++)
        z->error_integral[i] += over * (x[i] - z->now.q[TAU_Q[i]]);
}

/* Whether all that it measures of actuators is free or given */
SUPPLE_LOCAL int sees_free(const Sim *z)
{
    int seen = 1;
    for (int i = 0; i < N_DEP; i++) {
        for (int k = 0; k < N_TAU; k++)
            seen &= TAU_V[k] != z->chosen.dependent_v[i];
#if N_CQ > 0
        for (int k = 0; k < N_DRIVES; k++)
            seen &= MEASURED_V[k] != z->chosen.dependent_v[i];
#endif
    }
    return seen;
}

/* The next time at which a sampled controller acts, or infinity */
static double next_action(const Sim *z, const Drive *d)
{
    if (!d->controller || d->sample_time == 0.0 || N_TAU + d->law.pushes == 0)
        return HUGE_VAL;
    return z->n_waiting ? smaller(z->next_tick, z->waiting_until[0]) : z->next_tick;
}

/* What a sampled controller does at z->t; 1 if forces changed */
SUPPLE_LOCAL int act(Sim *z, const Drive *d)
{
    const double slack = 1e-9 * d->sample_time;
    int changed = 0;
    if (next_action(z, d) > z->t + slack)
        return 0;
    if (z->next_tick <= z->t + slack && z->n_waiting < MOST_WAITING) {
        if (d->controller == STATE_SPACE)
            state_space(z, d, z->waiting_effort[z->n_waiting], z->waiting_push[z->n_waiting]);
        else {
            if (d->learnt.parameters)
                learn(z, d);
            controlled(z, d, fill(z->t), &z->now, z->waiting_effort[z->n_waiting]);
        }
        z->waiting_until[z->n_waiting++] = z->next_tick + d->delay;
        integrate_error(z, d, z->t, d->sample_time);
        z->next_tick = z->begin + (double)++z->ticks * d->sample_time;
    }
    while (z->n_waiting && z->waiting_until[0] <= z->t + slack) {
        memcpy(z->held_effort, z->waiting_effort[0], sizeof z->held_effort);
        memcpy(z->held_push, z->waiting_push[0], sizeof z->held_push);
        memmove(z->waiting_effort, z->waiting_effort + 1, --z->n_waiting * sizeof z->waiting_effort[0]);
        memmove(z->waiting_push, z->waiting_push + 1, z->n_waiting * sizeof z->waiting_push[0]);
        memmove(z->waiting_until, z->waiting_until + 1, z->n_waiting * sizeof(double));
        changed = 1;
    }
    return changed;
}
