/* The robot as a system of second order in its free coordinates: loops closed, rates, accelerations.
 *
 * Coordinates of the tree are given (prescribed by a motion), free (integrated) or dependent (they follow from the
 * loops). Spherical joints are free or dependent as a whole; their displacements are rotation vectors.
 */
#ifdef __GNUC__
#define SUPPLE_THREAD __thread
#else
#define SUPPLE_THREAD _Thread_local
#endif
#ifdef SUPPLE_EXPORT /* chosen by whoever includes this */
#elif defined(_WIN32)
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

enum { RADAU, GAUSS, DORMAND_PRINCE, GENERALISED_ALPHA, QUASI_STATIC };
enum { FINE, DONE, FULL, YIELDED, OPEN_LOOPS, ILL_POSED, DIVERGED, NOT_A_NUMBER, TOO_SMALL, INACCURATE };

/* Signals over time: piecewise quintic polynomials, `channels` of them on common knots */
typedef struct {
    long long pieces, channels;
    const double *knots, *coefficients;
} Signals;

typedef struct {
    Signals given, reference, torque, load;
    const double *gravity;    /* 3 */
    const double *breaks;     /* times at which steps end and start anew */
    long long n_breaks;
    const double *gains;      /* kp, kd, ki, limit of each controlled actuator */
    double sample, delay;     /* of the controller, s; no sample: continuous */
    long long control;        /* 0 none, 1 PID, 2 computed torque */
} Drive;

/* A posture in motion */
typedef struct {
    real q[AT_LEAST_ONE(N_Q)], v[AT_LEAST_ONE(N_V)];
    real f[AT_LEAST_ONE(N_FREE)];     /* accelerations of the free coordinates */
    real rate[AT_LEAST_ONE(N_FREE)];  /* of their displacements: v itself but for spherical joints */
    real tau[AT_LEAST_ONE(N_GIVEN)];  /* forces of prescribed actuators */
    real effort[AT_LEAST_ONE(N_TAU)]; /* forces of the others */
} Posture;

#define N_UNKNOWN (STAGES ? AT_LEAST_ONE(N_FREE) : 1) /* of Newton's method, if there are integrators */
#define PAIRS 30 /* updates of its matrix that are kept */
#define PENDING 64 /* torques of a sampled controller that wait for their delay */

typedef struct {
    /* settings */
    int live[8];
    long long method;
    double tolerance, newton, fixed_step, largest_step, smallest_step, rho, every, cutoff;
    /* tables */
    int free_v[AT_LEAST_ONE(N_FREE)], free_q[AT_LEAST_ONE(N_FREE)], dep_v[AT_LEAST_ONE(N_DEP)], dep_q[AT_LEAST_ONE(N_DEP)];
    int free_unit[AT_LEAST_ONE(N_FREE)], row[AT_LEAST_ONE(N_DEP)];
    int turning[AT_LEAST_ONE(N_TURNING)][3]; /* place in q, place among free or -1, place among dependent or -1 */
    /* state */
    double t, h, h_last, look, begin, scale[2], peak;
    double speed[2], travel[2], most[2], rounding[2]; /* rates, displacements, peaks, rounding of accelerations, by unit */
    double missed, cut_off, cut_off_at; /* accelerations above the cutoff: of the step tried; the most, and when */
    long long samples; /* recorded so far */
    int restart, recent, calm, jacobians_tried, guessed;
    long long rows_ahead; /* of the recorder that must be free before a step is tried */
    Posture now, guess;
    real a[AT_LEAST_ONE(N_V)], like[AT_LEAST_ONE(N_FREE)], before[AT_LEAST_ONE(N_FREE)], jerk[AT_LEAST_ONE(N_FREE)];
    real bend[AT_LEAST_ONE(N_FREE)]; /* second divided difference of the accelerations */
    real parameters[AT_LEAST_ONE(N_P)];
    real first_q[AT_LEAST_ONE(N_Q)], derived_q[AT_LEAST_ONE(N_Q)]; /* where it began, and where derivatives were taken */
    real work, power, power_before, step_work; /* done on the robot less what it dissipated, J; its rate, and that a step before;
                                                 * the work of the step tried */
    /* controller */
    real effort[AT_LEAST_ONE(N_TAU)], integral[AT_LEAST_ONE(N_TAU)], waiting[PENDING][AT_LEAST_ONE(N_TAU)];
    double waiting_until[PENDING], tick;
    long long ticks;
    int n_waiting;
    real control_q[AT_LEAST_ONE(N_CQ)];
    /* loop forces of the evaluation before (SCDD as printed) */
    real late[AT_LEAST_ONE(N_LATE)];
    int have_late;
    /* Newton's method */
    real Fx[N_UNKNOWN * N_UNKNOWN], Fv[N_UNKNOWN * N_UNKNOWN];
    int have_jacobian, fresh, wasted;
    real learnt[PAIRS][2][N_UNKNOWN]; /* Broyden's updates of the factorised matrix */
    int pairs;
    real sieve[N_UNKNOWN * N_UNKNOWN]; /* I - Fx / cutoff^2, factorised */
    int sieve_pivot[AT_LEAST_ONE(N_FREE)];
    double factorised_for, contraction;
    real stage[AT_LEAST_ONE(STAGES * N_FREE)];
    int have_stages, factorised_by;
    int pivot[AT_LEAST_ONE(N_FREE)], turned_pivot[AT_LEAST_ONE(N_FREE)];
    real matrix[N_UNKNOWN * N_UNKNOWN], turned[2][N_UNKNOWN * N_UNKNOWN]; /* real, and complex */
    /* account */
    long long steps, rejected, evaluations, iterations, jacobians;
    double conditioning, worst_conditioning, least_conditioning;
} Sim;

/* Values, rates and accelerations at t; `look` < 0 sees what holds just before a knot, `look` > 0 just after */
static void signals_at(const Signals *s, double t, double look, double *x, double *xd, double *xdd)
{
    const long long n = s->channels;
    if (n == 0)
        return;
    long long low = 0, high = s->pieces - 1;
    while (low < high) {
        const long long middle = (low + high + 1) / 2;
        if (s->knots[middle] <= t + look)
            low = middle;
        else
            high = middle - 1;
    }
    const double begin = s->knots[0], end = s->knots[s->pieces];
    const double u = (t < begin ? begin : t > end ? end : t) - s->knots[low];
    const double moving = t + look < begin || t + look > end ? 0.0 : 1.0;
    for (long long k = 0; k < n; k++) {
        const double *c = s->coefficients + (low * n + k) * 6;
        x[k] = c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))));
        if (xd)
            xd[k] = moving * (c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5]))));
        if (xdd)
            xdd[k] = moving * (2 * c[2] + u * (6 * c[3] + u * (12 * c[4] + u * 20 * c[5])));
    }
}
