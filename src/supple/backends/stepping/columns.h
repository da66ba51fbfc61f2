/* Accelerations of states beside the present one, for derivatives by differences.
 *
 * The same text is compiled a second time with more lanes and without integrators (STAGES 0): that library computes as many
 * columns at once, for the one with a single lane.
 */
#define STEP_X 1e-7
#define STEP_V 1e-5
#define NUDGE 1e-12 /* forth and back; what accelerations then do not return by is their rounding */
#define NUDGES 2

/* What such a library is told: a moment of a simulation */
typedef struct {
    double t, look;
    const Chosen *chosen;
    const double *q, *v, *parameters, *effort, *integral, *control_q;
} Moment;

typedef int Columns(const Moment *at, const Drive *d, long long first, double *found);

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
    return evaluate(z, d, z->t, z->now.q, s, u, p);
}

#if STAGES == 0
SUPPLE_EXPORT Columns supple_columns;

SUPPLE_LOCAL void spread_out(real *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = fill(from[i]);
}

/* Accelerations (SUPPLE_LANES x N_FREE) of the columns from `first` on; -1 and any beyond the last: the moment itself */
int supple_columns(const Moment *at, const Drive *d, long long first, double *found)
{
    static SUPPLE_THREAD Sim z;
    static SUPPLE_THREAD Posture p;
    int column[SUPPLE_LANES];
    z.chosen = *at->chosen;
    z.t = at->t;
    z.look = at->look;
    spread_out(z.now.q, at->q, N_Q);
    spread_out(z.now.v, at->v, N_V);
    spread_out(z.parameters, at->parameters, N_P);
    spread_out(z.held_effort, at->effort, N_TAU);
    spread_out(z.error_integral, at->integral, N_TAU);
    spread_out(z.rigid_q, at->control_q, N_CQ);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        z.live[l] = 1;
        column[l] = first + l < 2 * N_FREE + NUDGES ? (int)first + l : -1;
    }
    const int outcome = beside(&z, d, column, &p);
    for (int l = 0; l < SUPPLE_LANES; l++)
        for (int i = 0; i < N_FREE; i++)
            found[l * N_FREE + i] = SUPPLE_LANE(p.free_a[i], l);
    return outcome;
}
#else
static Columns *at_once; /* its function, if there is one */

/* Accelerations of the columns from `first` on, -1 is the present; how many they are goes to *count */
static int some_columns(Sim *z, const Drive *d, int first, real (*found)[AT_LEAST_ONE(N_FREE)], int *count)
{
#if SUPPLE_LANES == 1
    if (at_once) {
        const Moment at = {
            z->t, z->look, &z->chosen, z->now.q, z->now.v, z->parameters, z->held_effort, z->error_integral, z->rigid_q,
        };
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
#endif
