/* Accelerations of several states at once: those beside the present one, for derivatives by differences, and those of the
 * stages of a step.
 *
 * The same text is compiled a second time with more lanes and without integrators (STAGES 0): that library computes for the
 * one with a single lane.
 */
#define STEP_X 1e-7
#define STEP_V 1e-5
#define NUDGE 1e-12 /* forth and back; what accelerations then do not return by is their rounding */
#define NUDGES 2

/* What such a library is told: a moment of a simulation */
typedef struct {
    double t, look;
    const Chosen *chosen;
    const double *q, *v, *parameters, *effort, *push, *integral, *control_q;
} Moment;

typedef int Columns(const Moment *at, const Drive *d, long long first, double *found);

/* A state to be evaluated: when, displacement off the moment's q, rates; and its posture, where q holds a guess */
typedef struct {
    double t;
    const double *s, *u;
    double *q, *v, *free_a, *free_rate, *given_effort, *effort;
    const double *loop_forces; /* with those, what is out of balance for the accelerations is asked for instead of these */
    double *balance;
} Beside;

/* side: as `side_of` says, of the state `ended`; NULL: not asked for */
typedef int States(const Moment *at, const Drive *d, long long count, const Beside *state, double *conditioning, int ended,
                   int *side);

/* Closed postures of samples, as `supple_observe` says: of as many as there are lanes */
typedef int Samples(const Moment *at, const Drive *d, const double *in, double *out);

/* Rates of the dependent coordinates (lanes x N_DEP) by those of the free ones (count x N_FREE), given ones at rest */
typedef int Followers(const Moment *at, int count, const double *rate, double *found);

/* q, v and a of a sample (one in each lane): loops closed, and accelerations of the coordinates that follow */
static int closed_sample(Sim *z, const Drive *d, real t, const real *from, const real *u, Posture *p, real *a, Loops *loops)
{
    real s[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++)
        s[i] = fill(0);
    memcpy(p->q, from, N_Q * sizeof(real));
    int outcome = place(z, d, t, from, s, u, p, a, loops);
    if (outcome == FINE)
        outcome = mend(z, p);
    for (int i = 0; i < N_FREE; i++)
        a[z->chosen.free_v[i]] = p->free_a[i];
    if (outcome == FINE)
        follow_on(z, p, a, loops);
    return outcome;
}

#ifdef LIMB_BALANCE
/* What is out of balance in a posture on every coordinate, for accelerations of the free ones and forces in the loops, but for
 * further damping */
static int weigh(Sim *z, const Drive *d, real t, const real *s, const real *u, const real *free_a, const real *loop_forces,
                 Posture *p, real *balance)
{
    static SUPPLE_THREAD Loops loops;
    real a[N_V], wrench[AT_LEAST_ONE(N_W)], g[3], lam[N_EQUATIONS];
    z->evaluations++;
    const int placed = place(z, d, t, z->now.q, s, u, p, a, &loops);
    if (placed != FINE)
        return placed;
    control(z, d, t, p, p->effort);
    for (int i = 0; i < N_FREE; i++)
        a[z->chosen.free_v[i]] = free_a[i];
    follow_on(z, p, a, &loops);
    wrench_at(z, d, t, wrench);
    for (int i = 0; i < 3; i++)
        g[i] = fill(d->gravity[i]);
    for (int i = 0; i < N_EQUATIONS; i++)
        lam[i] = fill(0);
    for (int i = 0; i < N_LOOPED; i++)
        if (LOOPED_ROW[i] >= 0)
            lam[LOOPED_ROW[i]] = loop_forces[i];
    model_balance(p->q, p->v, a, g, lam, wrench, z->parameters, balance);
    for (int i = 0; i < N_TAU; i++)
        balance[TAU_V[i]] -= p->effort[i];
    for (int i = 0; i < N_GIVEN; i++)
        p->given_effort[i] = balance[GIVEN_V[i]];
    return size_of_all(balance, N_V, z->live) < HUGE_VAL ? FINE : NOT_A_NUMBER;
}
#endif

/* Accelerations at z->now, free displacement or rate j changed in lane l where j = first[l]; j < 0: none; the last two: all
 * displacements nudged forth, and back */
static int beside(Sim *z, const Drive *d, const int *first, Posture *p)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++) {
        s[i] = fill(0);
        u[i] = z->now.v[z->chosen.free_v[i]];
    }
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (first[l] >= 0 && first[l] < N_FREE)
            SUPPLE_LANE(s[first[l]], l) += STEP_X;
        else if (first[l] >= N_FREE && first[l] < 2 * N_FREE)
            SUPPLE_LANE(u[first[l] - N_FREE], l) += STEP_V;
        else if (first[l] >= 0)
            for (int i = 0; i < N_FREE; i++)
                SUPPLE_LANE(s[i], l) += (first[l] + i) % 2 ? NUDGE : -NUDGE;
    *p = z->now;
    return evaluate(z, d, fill(z->t), z->now.q, s, u, p);
}

#if STAGES == 0
SUPPLE_EXPORT Columns supple_columns;
SUPPLE_EXPORT States supple_states;
SUPPLE_EXPORT Samples supple_samples;
SUPPLE_EXPORT Followers supple_followers;

SUPPLE_LOCAL void spread_out(real *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = fill(from[i]);
}

/* lane l of n numbers, in and out */
SUPPLE_LOCAL void into_lane(real *to, const double *from, int n, int l)
{
    for (int i = 0; i < n; i++)
        SUPPLE_LANE(to[i], l) = from[i];
}

/* all lanes of n numbers, number by number */
SUPPLE_LOCAL void into_lanes(real *to, const double *const *from, int n)
{
#if SUPPLE_LANES == 4 && defined(__GNUC__)
    const double *a = from[0], *b = from[1], *c = from[2], *d = from[3];
    for (int i = 0; i < n; i++)
        to[i] = (real){a[i], b[i], c[i], d[i]};
#else
    for (int l = 0; l < SUPPLE_LANES; l++)
        into_lane(to, from[l], n, l);
#endif
}

SUPPLE_LOCAL void out_of_lane(double *to, const real *from, int n, int l)
{
    for (int i = 0; i < n; i++)
        to[i] = SUPPLE_LANE(from[i], l);
}

/* Posture and choice of coordinates of a moment, in all lanes */
SUPPLE_LOCAL void place_at(Sim *z, const Moment *at)
{
    z->chosen = *at->chosen;
    spread_out(z->now.q, at->q, N_Q);
    spread_out(z->parameters, at->parameters, N_P);
    for (int l = 0; l < SUPPLE_LANES; l++)
        z->live[l] = 1;
}

SUPPLE_LOCAL void settle(Sim *z, const Moment *at, const Drive *d)
{
    place_at(z, at);
    z->t = at->t;
    z->look = at->look;
    spread_out(z->held_effort, at->effort, N_TAU);
    spread_out(z->held_push, at->push, (int)d->law.pushes);
    if (d->sample_time == 0.0) { /* of a controller that acts at every moment */
        spread_out(z->error_integral, at->integral, N_TAU);
        spread_out(z->rigid_q, at->control_q, N_CQ);
    }
}

typedef struct {
    Sim z;
    Posture p;
} Lane;

SUPPLE_ROOM(Lane, lane_room)

/* Accelerations (SUPPLE_LANES x N_FREE) of the columns from `first` on; -1 and any beyond the last: the moment itself */
int supple_columns(const Moment *at, const Drive *d, long long first, double *found)
{
    Lane *lane = lane_room();
    int column[SUPPLE_LANES];
    settle(&lane->z, at, d);
    spread_out(lane->z.now.v, at->v, N_V);
    for (int l = 0; l < SUPPLE_LANES; l++)
        column[l] = first + l < 2 * N_FREE + NUDGES ? (int)first + l : -1;
    const int outcome = beside(&lane->z, d, column, &lane->p);
    for (int l = 0; l < SUPPLE_LANES; l++)
        out_of_lane(found + l * N_FREE, lane->p.free_a, N_FREE, l);
    return outcome;
}

/* Postures and accelerations of up to SUPPLE_LANES states */
int supple_states(const Moment *at, const Drive *d, long long count, const Beside *state, double *conditioning, int ended,
                  int *side)
{
    Sim *z = &lane_room()->z;
    Posture *p = &lane_room()->p;
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)], t;
#ifdef LIMB_BALANCE
    static SUPPLE_THREAD real a[N_FREE], forces[AT_LEAST_ONE(N_LOOPED)], balance[N_V];
#endif
    const double *off[SUPPLE_LANES], *rate[SUPPLE_LANES], *guess[SUPPLE_LANES];
    settle(z, at, d);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        const Beside *x = state + (l < count ? l : count - 1);
        SUPPLE_LANE(t, l) = x->t;
        off[l] = x->s;
        rate[l] = x->u;
        guess[l] = x->q;
#ifdef LIMB_BALANCE
        if (x->balance) {
            into_lane(a, x->free_a, N_FREE, l);
            into_lane(forces, x->loop_forces, N_LOOPED, l);
        }
#endif
    }
    into_lanes(s, off, N_FREE);
    into_lanes(u, rate, N_FREE);
    into_lanes(p->q, guess, N_Q);
#ifdef LIMB_BALANCE
    const int outcome = state->balance ? weigh(z, d, t, s, u, a, forces, p, balance) : evaluate(z, d, t, z->now.q, s, u, p);
    for (int l = 0; l < count && outcome == FINE && state->balance; l++)
        out_of_lane(state[l].balance, balance, N_V, l);
#else
    const int outcome = evaluate(z, d, t, z->now.q, s, u, p);
#endif
    *conditioning = z->conditioning;
#if N_DEP > 0
    if (side && outcome == FINE) {
        int only[MOST_LANES] = {0};
        only[ended] = 1;
        *side = side_of(&ROBOT, only, loops_room()) != 0;
    }
#endif
    (void)ended, (void)side;
    for (int l = 0; l < count && outcome == FINE; l++) {
        out_of_lane(state[l].q, p->q, N_Q, l);
        out_of_lane(state[l].v, p->v, N_V, l);
        if (!state->balance)
            out_of_lane(state[l].free_a, p->free_a, N_FREE, l);
        out_of_lane(state[l].free_rate, p->free_rate, N_FREE, l);
        out_of_lane(state[l].given_effort, p->given_effort, N_GIVEN, l);
        out_of_lane(state[l].effort, p->effort, N_TAU, l);
    }
    return outcome;
}

int supple_samples(const Moment *at, const Drive *d, const double *in, double *out)
{
    Sim *z = &lane_room()->z;
    Posture *p = &lane_room()->p;
    real t, from[AT_LEAST_ONE(N_Q)], u[AT_LEAST_ONE(N_FREE)], a[AT_LEAST_ONE(N_V)];
    settle(z, at, d);
    for (int l = 0; l < SUPPLE_LANES; l++, in += ROW) {
        SUPPLE_LANE(t, l) = in[SAMPLE_T];
        into_lane(from, in + SAMPLE_Q, N_Q, l);
        into_lane(p->free_a, in + SAMPLE_FREE_A, N_FREE, l);
        for (int i = 0; i < N_FREE; i++)
            SUPPLE_LANE(u[i], l) = in[SAMPLE_V + z->chosen.free_v[i]];
    }
    const int outcome = closed_sample(z, d, t, from, u, p, a, loops_room());
    for (int l = 0; l < SUPPLE_LANES && outcome == FINE; l++, out += N_Q + 2 * N_V) {
        out_of_lane(out, p->q, N_Q, l);
        out_of_lane(out + N_Q, p->v, N_V, l);
        out_of_lane(out + N_Q + N_V, a, N_V, l);
    }
    return outcome;
}

int supple_followers(const Moment *at, int count, const double *rate, double *found)
{
    int outcome = FINE;
#if N_DEP > 0
    Sim *z = &lane_room()->z;
    real v[N_V], of_free[AT_LEAST_ONE(N_FREE)];
    place_at(z, at);
    memset(v, 0, sizeof v);
    for (int l = 0; l < SUPPLE_LANES; l++)
        into_lane(of_free, rate + (l < count ? l : count - 1) * N_FREE, N_FREE, l);
    for (int i = 0; i < N_FREE; i++)
        v[z->chosen.free_v[i]] = of_free[i];
    const Choice by = choice_of(z);
    outcome = follow(&ROBOT, &by, z->parameters, z->live, z->now.q, v, loops_room()) > 0.0 ? FINE : ILL_POSED;
    for (int l = 0; l < SUPPLE_LANES; l++)
        for (int i = 0; i < N_DEP; i++)
            found[l * N_DEP + i] = SUPPLE_LANE(v[z->chosen.dependent_v[i]], l);
#endif
    (void)at, (void)count, (void)rate, (void)found;
    return outcome;
}
#else
static Columns *at_once; /* its functions, if there is one */
static States *all_at_once;
static Samples *samples_at_once;
static Followers *followers_at_once;

SUPPLE_LOCAL int some_lanes(void) { return SUPPLE_LANES == 1 && at_once != NULL; }

#if SUPPLE_LANES == 1
SUPPLE_LOCAL Moment moment(const Sim *z)
{
    return (Moment){
        z->t, z->look, &z->chosen, z->now.q, z->now.v, z->parameters, z->held_effort, z->held_push, z->error_integral,
        z->rigid_q,
    };
}
#endif

/* Accelerations of the columns from `first` on, -1 is the present; how many they are goes to *count */
static int some_columns(Sim *z, const Drive *d, int first, real (*found)[AT_LEAST_ONE(N_FREE)], int *count)
{
#if SUPPLE_LANES == 1
    if (at_once) {
        const Moment at = moment(z);
        *count = SIDE_BY_SIDE;
        z->evaluations += SIDE_BY_SIDE;
        return at_once(&at, d, first, found[0]);
    }
#endif
    static SUPPLE_THREAD Posture there;
    int column[SUPPLE_LANES];
    for (int l = 0; l < SUPPLE_LANES; l++)
        column[l] = first;
    const int outcome = beside(z, d, column, &there);
    memcpy(found[0], there.free_a, sizeof there.free_a);
    *count = 1;
    return outcome;
}

/* Postures and accelerations of `count` states at their times, at most SIDE_BY_SIDE: displacements s off the present, rates u.
 * The last one of the stages is what loops are known of afterwards. SCDD as printed asks for one after the other */
static int several(Sim *z, const Drive *d, int count, const double *t, real (*s)[AT_LEAST_ONE(N_FREE)],
                   real (*u)[AT_LEAST_ONE(N_FREE)], Posture *p)
{
#if SUPPLE_LANES == 1 && N_LATE == 0
    if (all_at_once) {
        Beside state[SIDE_BY_SIDE];
        const Moment at = moment(z);
        for (int k = 0; k < count; k++)
            state[k] = (Beside){
                t[k], s[k], u[k], p[k].q, p[k].v, p[k].free_a, p[k].free_rate, p[k].given_effort, p[k].effort, NULL, NULL,
            };
        z->evaluations += count;
        return all_at_once(&at, d, count, state, &z->conditioning, STAGES - 1, z->least_conditioning > 0.0 ? &z->side : NULL);
    }
#endif
    int outcome = FINE;
    for (int n = count - 1; n < count - 1 + count && outcome == FINE; n++) {
        const int k = count > STAGES ? n % count : n - count + 1; /* what is beyond the stages comes first */
        outcome = evaluate(z, d, fill(t[k]), z->now.q, s[k], u[k], &p[k]);
    }
    return outcome;
}

#if defined(LIMB_BALANCE) && SUPPLE_LANES == 1
/* The same for what is out of balance with accelerations F and forces in the loops */
static int several_balances(Sim *z, const Drive *d, int count, const double *t, double (*s)[N_FREE], double (*u)[N_FREE],
                            double (*F)[N_FREE], const double *loop_forces, Posture *p, double (*balance)[N_V])
{
    int outcome = FINE;
    if (all_at_once) {
        Beside state[SIDE_BY_SIDE];
        const Moment at = moment(z);
        for (int k = 0; k < count; k++)
            state[k] = (Beside){
                t[k], s[k], u[k], p[k].q, p[k].v, F[k], p[k].free_rate, p[k].given_effort, p[k].effort,
                loop_forces + k * N_LOOPED, balance[k],
            };
        z->evaluations += count;
        return all_at_once(&at, d, count, state, &z->conditioning, STAGES - 1, NULL);
    }
    for (int k = 0; k < count && outcome == FINE; k++)
        outcome = weigh(z, d, t[k], s[k], u[k], F[k], loop_forces + k * N_LOOPED, &p[k], balance[k]);
    return outcome;
}
#endif
#endif
