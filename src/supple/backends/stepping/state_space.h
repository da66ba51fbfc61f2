/* A sampled controller in state space: weighted laws u = C x + D y, then x = A x + B y + E u. y: what sensors read off what
 * they should read; u: efforts of the actuators that are not prescribed, then pushes, as they are after their limits. */

/* A normal number for a place in the run: splitmix64 of the place, then Box and Muller; no state to be kept */
static double chance(unsigned long long seed, unsigned long long tick, unsigned long long channel)
{
    double part[2];
    for (unsigned long long k = 0; k < 2; k++) {
        unsigned long long x = seed * 0x9E3779B97F4A7C15ull + tick * 0xD1342543DE82EF95ull + (2 * channel + k + 1);
        for (int n = 0; n < 2; n++) {
            x += 0x9E3779B97F4A7C15ull;
            x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
            x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
            x ^= x >> 31;
        }
        part[k] = ((double)(x >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2.0 * log(part[0])) * cos(6.283185307179586 * part[1]);
}

/* What the sensors read in lane l, with noise and resolution, off what they should read; a: accelerations of all */
static int read_sensors(const Sim *z, const Drive *d, const real *a, int l, double *y)
{
    const Law *law = &d->law;
    double q[AT_LEAST_ONE(N_Q)], v[AT_LEAST_ONE(N_V)], acceleration[AT_LEAST_ONE(N_V)], rest[MOST_SENSORS] = {0};
    const double *const in[] = {q, v, acceleration, d->gravity};
    const long long step[] = {0, 0, 0, 0};
    for (int i = 0; i < N_Q; i++)
        q[i] = SUPPLE_LANE(z->now.q[i], l);
    for (int i = 0; i < N_V; i++) {
        v[i] = SUPPLE_LANE(z->now.v[i], l);
        acceleration[i] = SUPPLE_LANE(a[i], l);
    }
    if (!law->sense(law->tape, in, step, y, 0, 1))
        return 0;
    signals_at(&law->rest, z->t, z->look, rest, NULL, NULL);
    for (int i = 0; i < law->sensors; i++) {
        const double noise = law->rough[2 * i], resolution = law->rough[2 * i + 1];
        if (noise > 0.0)
            y[i] += noise * chance((unsigned long long)law->seed, (unsigned long long)z->ticks,
                                   (unsigned long long)(i + MOST_SENSORS * l));
        if (resolution > 0.0)
            y[i] = resolution * floor(y[i] / resolution + 0.5);
        y[i] -= rest[i];
    }
    return 1;
}

/* What readings tell of parameters: law_state holds sums S y of all samples, then P S y, shares of the parameters' values */
SUPPLE_LOCAL void learn(Sim *z, const Drive *d)
{
    static const real still[AT_LEAST_ONE(N_V)];
    const long long n = d->learnt.parameters, m = d->law.sensors;
    double y[MOST_SENSORS], slopes[MOST_LEARNT * MOST_SENSORS], trust[MOST_LEARNT * MOST_LEARNT];
    signals_at(&d->learnt.slopes, z->t, z->look, slopes, NULL, NULL);
    signals_at(&d->learnt.trust, z->t, z->look, trust, NULL, NULL);
    for (int l = 0; l < SUPPLE_LANES; l++) {
        if (!z->live[l] || !read_sensors(z, d, still, l, y))
            continue;
        for (long long i = 0; i < n; i++)
            for (long long k = 0; k < m; k++)
                SUPPLE_LANE(z->law_state[i], l) += slopes[i * m + k] * y[k];
        for (long long i = 0; i < n; i++) {
            double share = 0.0;
            for (long long k = 0; k < n; k++)
                share += trust[i * n + k] * SUPPLE_LANE(z->law_state[k], l);
            SUPPLE_LANE(z->law_state[n + i], l) = share;
        }
    }
}

/* Limits of efforts and pushes; 0: none */
SUPPLE_LOCAL double limited(double u, double limit)
{
    return limit > 0.0 && fabs(u) > limit ? (u > 0.0 ? limit : -limit) : u;
}

/* C x + D y of one part, whose matrices begin at `at` */
static double told(const Law *law, const double *at, int row, int efforts, const double *x, const double *y)
{
    const long long n = law->states, m = law->sensors;
    const double *C = at + n * (n + m + efforts) + row * n, *D = at + n * (n + m + 2 * efforts) + row * m;
    double u = 0.0;
    for (long long k = 0; k < n; k++)
        u += C[k] * x[k];
    for (long long k = 0; k < m; k++)
        u += D[k] * y[k];
    return u;
}

/* x = A x + B y + E u of one part */
static void move_on(const Law *law, const double *at, int efforts, double *x, const double *y, const double *u)
{
    const long long n = law->states, m = law->sensors;
    const double *A = at, *B = at + n * n, *E = B + n * m;
    double next[MOST_LAW_STATES];
    for (long long i = 0; i < n; i++) {
        next[i] = 0.0;
        for (long long k = 0; k < n; k++)
            next[i] += A[i * n + k] * x[k];
        for (long long k = 0; k < m; k++)
            next[i] += B[i * m + k] * y[k];
        for (int k = 0; k < efforts; k++)
            next[i] += E[i * efforts + k] * u[k];
    }
    memcpy(x, next, (size_t)n * sizeof(double));
}

/* One sample of the law in lane l: efforts and pushes that follow from readings y */
static void law_step(Sim *z, const Drive *d, int l, const double *y, const double *weight, real *effort, real *push)
{
    const Law *law = &d->law;
    const int efforts = N_TAU + (int)law->pushes;
    const long long n = law->states, size = n * (n + law->sensors + 2 * efforts) + efforts * law->sensors;
    double x[MOST_LAW_STATES], u[N_TAU + MOST_PUSHES] = {0};
    for (long long k = 0; k < law->parts * n; k++)
        x[k] = SUPPLE_LANE(z->law_state[k], l);
    for (long long p = 0; p < law->parts; p++)
        for (int i = 0; i < efforts; i++)
            u[i] += weight[p] * told(law, law->matrices + p * size, i, efforts, x + p * n, y);
    for (int i = 0; i < efforts; i++)
        u[i] = limited(u[i], i < N_TAU ? d->gains[4 * i + 3] : law->most[i - N_TAU]);
    for (long long p = 0; p < law->parts; p++)
        move_on(law, law->matrices + p * size, efforts, x + p * n, y, u);
    for (long long k = 0; k < law->parts * n; k++)
        SUPPLE_LANE(z->law_state[k], l) = x[k];
    for (int i = 0; i < efforts; i++) {
        const double noise = law->rough[2 * law->sensors + i];
        if (noise > 0.0) /* which the law does not know of */
            u[i] += noise * chance((unsigned long long)law->seed, (unsigned long long)z->ticks,
                                   (unsigned long long)(i + MOST_SENSORS * (l + MOST_LANES)));
        if (i < N_TAU)
            SUPPLE_LANE(effort[i], l) = u[i];
        else
            SUPPLE_LANE(push[i - N_TAU], l) = u[i];
    }
}

/* Efforts and pushes of all lanes for what is read at z->t */
static void state_space(Sim *z, const Drive *d, real *effort, real *push)
{
    static SUPPLE_THREAD real a[AT_LEAST_ONE(N_V)];
    double y[MOST_SENSORS], weight[MOST_LAW_STATES] = {1.0};
    memcpy(effort, z->held_effort, sizeof z->held_effort);
    memcpy(push, z->held_push, sizeof z->held_push);
    if (accelerations(z, d, z->t, &z->now, a) != FINE)
        return;
    signals_at(&d->law.weights, z->t, z->look, weight, NULL, NULL);
    for (int l = 0; l < SUPPLE_LANES; l++)
        if (z->live[l] && read_sensors(z, d, a, l, y))
            law_step(z, d, l, y, weight, effort, push);
}
