/* A robot that holds still and is hit: the integrators of `supple simulate`, with what a page tells them. */

static Sim SIM;
static Drive DRIVE;
static double HELD_KNOTS[2], HELD[6 * AT_LEAST_ONE(N_GIVEN)];
static long long WRITTEN;

/* At rest at q, actuators held; knots and coefficients (pieces x N_W x 6) of forces at points, and times at which steps end.
 * Returns FINE or why it cannot start */
SUPPLE_EXPORT int hammer_start(const double *q, const double *p, const double *gravity, const double *knots,
    const double *coefficients, int pieces, const double *breaks, int n_breaks, double end, double every)
{
    static const Settings settings = MODEL_SETTINGS;
    static const Chosen chosen = MODEL_CHOSEN;
    memset(&SIM, 0, sizeof SIM);
    memset(&DRIVE, 0, sizeof DRIVE);
    memset(HELD, 0, sizeof HELD);
    HELD_KNOTS[1] = end;
    for (int i = 0; i < N_GIVEN; i++)
        HELD[6 * i] = q[GIVEN_Q[i]];
    DRIVE.given = (Signals){1, N_GIVEN, HELD_KNOTS, HELD};
    DRIVE.load = (Signals){pieces, N_W, knots, coefficients};
    DRIVE.gravity = gravity;
    DRIVE.breaks = breaks;
    DRIVE.n_breaks = n_breaks;
    SIM.live[0] = 1;
    SIM.settings = settings;
    SIM.settings.sample_interval = every;
    SIM.chosen = chosen;
    SIM.reach = MODEL_REACH;
    SIM.step = settings.fixed_step > 0.0 ? settings.fixed_step : 1e-4;
    SIM.rows_ahead = (long long)(settings.largest_step / every) + 3;
    for (int i = 0; i < N_Q; i++)
        SIM.now.q[i] = q[i];
    for (int i = 0; i < N_P; i++)
        SIM.parameters[i] = p[i];
    SIM.samples = 1;
    SIM.scale[0] = SIM.scale[1] = LEAST_SCALE;
    return supple_start(&SIM, &DRIVE);
}

/* Some steps; rows of ROW numbers go to `out`, how many hammer_rows() tells */
SUPPLE_EXPORT int hammer_run(double end, int steps, double *out, int rows)
{
    return supple_run(&SIM, &DRIVE, end, steps, out, rows, &WRITTEN);
}

SUPPLE_EXPORT int hammer_rows(void) { return (int)WRITTEN; }

SUPPLE_EXPORT int hammer_row(void) { return ROW; }

SUPPLE_EXPORT int hammer_rows_ahead(void) { return (int)SIM.rows_ahead; }

/* q, v, a of samples, loops closed */
SUPPLE_EXPORT int hammer_observe(int count, const double *in, const double *sides, double *out)
{
    return supple_observe(&SIM, &DRIVE, count, in, sides, out);
}

/* Forces at all points at a time */
SUPPLE_EXPORT void hammer_load(double t, double *load) { signals_at(&DRIVE.load, t, 0.0, load, NULL, NULL); }

/* D of the damping between bodies, which a page fills for the pose it is in; NULL where there is none */
SUPPLE_EXPORT double *hammer_damping(void) { return DAMPING_OF_POSE; }
