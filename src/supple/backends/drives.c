/* What a tape tells of many states, with forces of actuators in place of what those are made of. To stand behind sampled.c. */

typedef struct {
    long long inputs, kept;                         /* how many the tape has, and results before those of forces */
    long long forces, equations, follow, actuators; /* then: a force of every coordinate, J of joints that follow, of actuators */
    long long given;                                /* actuators whose forces are told */
    const int *follow_at, *given_at, *column;       /* these joints and actuators among the forces, and among the actuators */
    const double *added;                            /* to the forces, rows of `apart` states; or NULL */
    long long apart;
} Drives;

enum { SOME = 4 * MANY }; /* states whose forces are told at once */

static real force_of(const Drives *d, const double *made, long long at, long long state, int k)
{
    real x, more = fill(0);
    memcpy(&x, made + at + SOME * k, sizeof x);
    for (int l = 0; l < FEW && d->added && state + l < d->apart; l++)
        more[l] = d->added[k * d->apart + state + l];
    return d->added ? x + more : x;
}

/* Forces (given) of FEW states, which begin at `at` among what was made and are number `state` and after it of all: by virtual
 * power an actuator moves by itself, and joints follow */
static void drive_few(const Drives *d, const double *made, long long at, long long state, real *A, real *tau,
                      unsigned char *poor)
{
    const long long m = d->equations, n = d->follow, g = d->given;
    const double *passive = made + SOME * d->forces, *active = passive + SOME * m * n;
    real *b = A + m * n;
    for (long long i = 0; i < m * n; i++)
        memcpy(A + i, passive + SOME * i + at, sizeof(real));
    for (long long i = 0; i < m; i++)
        for (long long k = 0; k < g; k++)
            memcpy(b + i * g + k, active + SOME * (i * d->actuators + d->column[k]) + at, sizeof(real));
    if (m >= n) least(m, n, g, A, b, poor);
    else memset(poor, 1, FEW);
    for (long long k = 0; k < g; k++)
        tau[k] = force_of(d, made, at, state, d->given_at[k]);
    for (long long j = 0; j < n && m >= n; j++) {
        const real force = force_of(d, made, at, state, d->follow_at[j]);
        for (long long k = 0; k < g; k++)
            tau[k] -= b[j * g + k] * force;
    }
}

/* What a tape tells of states first .. first + count, a row each, and in place of its last results forces of actuators that
 * make the motion (`tau`: rows), where `poor` is not set. 0: no memory. */
EXPORT int supple_drives(const Drives *d, Machine *machine, const void *tape, const double *const *in, const long long *step,
                         double *const *rows, double *const *tau, long long first, long long count, unsigned char *poor)
{
    const long long m = d->equations, rest = d->forces + m * (d->follow + d->actuators), room = m * (d->follow + d->given);
    void *memory;
    real *A = room_for(room + d->given + rest * (SOME / FEW), &memory), *few = A + room;
    double **to = malloc(sizeof(double *) * (size_t)(d->kept + rest + 1)), *made = (double *)(few + d->given);
    const double **from = malloc(sizeof(double *) * (size_t)(d->inputs + 1));
    int fine = memory && to && from;
    if (fine) memset(made, 0, sizeof(double) * (size_t)(rest * SOME));
    for (long long i = 0; fine && i < rest; i++)
        to[d->kept + i] = made + SOME * i;
    for (long long at = first; fine && at < first + count; at += SOME) {
        const long long left = first + count - at, here = left < SOME ? left : SOME;
        for (long long i = 0; i < d->inputs; i++)
            from[i] = in[i] + at * step[i];
        for (long long i = 0; i < d->kept; i++)
            to[i] = rows[i] + at;
        fine = machine(tape, from, step, to, 0, here);
        for (long long k = 0; fine && k < here; k += FEW) {
            const size_t live = (size_t)(here - k < FEW ? here - k : FEW);
            unsigned char bad[FEW] = {0};
            drive_few(d, made, k, at + k, A, few, bad);
            memcpy(poor + at + k, bad, live);
            for (long long i = 0; i < d->given; i++)
                memcpy(tau[i] + at + k, few + i, sizeof(double) * live);
        }
    }
    free(from);
    free(to);
    free(memory);
    return fine;
}
