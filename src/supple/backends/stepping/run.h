/* From one step to a whole simulation: step sizes and events. */
#define FORGOTTEN 0.1 /* of the worst error, after a vibration: collocation */
#define MEMORY 0.9 /* of the worst error, from step to step: other methods */
#define EVENED 20 /* steps to the next sample of a controller are made equally long if they are fewer */
#define NEARLY_LOST 4.0 /* times the least conditioning of the loops: steps that end below it are not made from here */
#define CALM 3 /* steps after a rejected one before steps may grow */

#ifdef DENSE
#define NEEDS_LOOPS 1 /* accelerations come with them */
#else
#define NEEDS_LOOPS 0
#endif

SUPPLE_LOCAL double most_growth(const Sim *z) { return collocates(z) ? 4.0 : 2.0; }

/* Where nothing jumps, what is above the cutoff goes on as it was: positions are balanced to a tolerance only, of which the
 * stiffest vibrations make large accelerations */
static void go_on(Sim *z, const Posture *from)
{
    real jump[AT_LEAST_ONE(N_FREE)];
    for (int i = 0; i < N_FREE; i++)
        jump[i] = z->now.free_a[i] - from->free_a[i];
    sift(z, jump);
    if (!(measure(z, jump) < z->settings.tolerance))
        return;
    for (int i = 0; i < N_FREE; i++)
        z->now.free_a[i] = from->free_a[i] + jump[i];
}

/* Accelerations at z->t, where the posture is as it was but for forces */
static int pushed_anew(Sim *z, const Drive *d)
{
    real x[AT_LEAST_ONE(N_GIVEN)], xd[AT_LEAST_ONE(N_GIVEN)], xdd[AT_LEAST_ONE(N_GIVEN)], a[AT_LEAST_ONE(N_V)];
    signals_in(&d->given, fill(z->t), z->look, N_GIVEN, x, xd, xdd);
    memset(a, 0, sizeof a);
    for (int i = 0; i < N_GIVEN; i++)
        a[GIVEN_V[i]] = xdd[i];
    z->evaluations++;
    control(z, d, fill(z->t), &z->now, z->now.effort);
    return respond(z, d, fill(z->t), &z->now, a, loops_room());
}

/* Accelerations at z->t, of a posture that may change there */
static int placed_anew(Sim *z, const Drive *d, const Posture *from)
{
    real s[AT_LEAST_ONE(N_FREE)], u[AT_LEAST_ONE(N_FREE)];
    stay(z, s, u);
    return evaluate(z, d, fill(z->t), from->q, s, u, &z->now);
}

/* How well the free coordinates hold the others where a step starts */
SUPPLE_LOCAL void note_hold(Sim *z)
{
    z->start_conditioning = z->conditioning;
    z->start_side = z->side;
}

/* Whether they lose hold of them by the end of a step tried, or lost it on the way */
SUPPLE_LOCAL int loses_hold(const Sim *z)
{
    return z->conditioning < z->least_conditioning || z->side != z->start_side;
}

/* From here on step sizes and stages are not those of the steps before */
SUPPLE_LOCAL void forget(Sim *z)
{
    z->starts_anew = 1;
    z->has_stages = 0;
    z->error_of_late = 0.0;
}

/* Starts anew at z->t: accelerations as they are just after it; `forces`: nothing else has changed */
static int restart(Sim *z, const Drive *d, int forces)
{
    static SUPPLE_THREAD Posture from;
    from = z->now;
    z->look = 1e-11 * (1.0 + fabs(z->t));
    int outcome = forces && !NEEDS_LOOPS ? pushed_anew(z, d) : placed_anew(z, d, &from);
    if (outcome == FINE && !collocates(z)) {
        outcome = accelerations(z, d, z->t, &z->now, z->a);
        z->power = power_of(z, d, z->t, &z->now);
    }
    if (outcome == FINE && collocates(z) && z->settings.cutoff > 0.0 && !z->has_jacobian)
        outcome = differentiate(z, d); /* what is above the cutoff is no scale */
    if (outcome == FINE && by_balance(z) && z->steps > 0)
        go_on(z, &from);
    note_scale(z, d, z->t, &z->now);
    note_hold(z);
    forget(z);
    z->is_rough = 0;
    if (!forces) {
        z->sees_free = sees_free(z);
        z->kept_error = 0.0;
    }
    return outcome;
}

/* Everything at z->t made exact, where only free and given coordinates are */
static int settle_start(Sim *z, const Drive *d)
{
    static SUPPLE_THREAD Posture from;
    if (!z->is_rough)
        return FINE;
    from = z->now;
    z->is_rough = 0;
    z->look = 1e-11 * (1.0 + fabs(z->t));
    const int outcome = placed_anew(z, d, &from);
    note_hold(z);
    return outcome;
}

/* the next time at which a signal changes, or infinity */
static double next_break(const Sim *z, const Drive *d)
{
    long long low = 0, high = d->n_breaks;
    const double now = z->t + 1e-10 * (1.0 + fabs(z->t));
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (d->breaks[middle] > now)
            high = middle;
        else
            low = middle + 1;
    }
    return low < d->n_breaks ? d->breaks[low] : HUGE_VAL;
}

/* Whether a step may leave at its end, the next sample of a controller, what that does not ask for: the coordinates that depend
 * on the free ones, and accelerations, which the next step computes with its stages */
SUPPLE_LOCAL int may_end_roughly(const Sim *z, const Drive *d, double sample, double until)
{
    if (N_LOOP > 0 || z->settings.method != RADAU || STAGES >= SIDE_BY_SIDE || by_balance(z) || !z->sees_free)
        return 0;
    if (d->controller == STATE_SPACE || d->learnt.parameters)
        return 0;
    const double slack = 1e-9 * (1.0 + fabs(sample));
    return sample + slack < until && sample + slack < next_break(z, d);
}

/* the next time at which something changes and the step has to end */
static double next_corner(const Sim *z, const Drive *d, double until)
{
    return smaller(smaller(until, next_action(z, d)), next_break(z, d));
}

static int one_step(Sim *z, const Drive *d, double h, Posture *end, double *error)
{
    *error = 0.0;
    switch (z->settings.method) {
    case RADAU:
    case GAUSS:
        return collocation_step(z, d, h, end, error);
    case DORMAND_PRINCE:
        return dormand_prince_step(z, d, h, end, error);
    case QUASI_STATIC:
        return quasi_static_step(z, d, h, end);
    default:
        return alpha_step(z, d, h, end, error);
    }
}

static double order_of(const Sim *z)
{
    return z->settings.method == GAUSS ? 6.0 : z->settings.method == GENERALISED_ALPHA ? 2.0 : 5.0;
}

/* What is left of an error after a step. Errors swing with the vibration that makes them, by x radians in a step: the
 * tolerance is about x^5 / 7200 (Radau), x^6 / 100800 (Gauss) */
static double remembered(const Sim *z)
{
    const double share = z->settings.method == GAUSS ? 100800.0 : 7200.0;
    return collocates(z) ? pow(FORGOTTEN, pow(share * z->settings.tolerance, 1.0 / order_of(z)) / 6.28) : MEMORY;
}

/* By which share of it a step that failed is shortened. Errors of what is stiff fall with a lower power of the step than the
 * method's: the power is that of the last two trials, whose steps and errors are in `tried` */
static double shortened(const Sim *z, double h, double error, double (*tried)[2])
{
    const double order = order_of(z), excess = z->settings.tolerance / error;
    double power = order, least = 0.2;
    memcpy(tried[0], tried[1], sizeof tried[0]);
    tried[1][0] = h;
    tried[1][1] = error;
    if (tried[0][0] > h && tried[0][1] > error) {
        power = smaller(order, larger(1.0, log(tried[0][1] / error) / log(tried[0][0] / h)));
        least = 0.02;
    }
    return smaller(0.8, larger(least, 0.9 * pow(excess, 1.0 / power)));
}

/* Whether an error would reach the tolerance in a step so many times as long, less a tenth */
SUPPLE_LOCAL int stands(const Sim *z, double error, double longer)
{
    double grown = larger(error, 1e-30);
    for (int k = 0; k < (int)order_of(z); k++)
        grown *= longer / 0.9;
    return grown <= z->settings.tolerance;
}

/* The step to try after one that was accepted, which was to be `wanted` long */
static double next_step(Sim *z, double h, double wanted, double error)
{
    if (z->kept_error == 0.0)
        z->kept_error = remembered(z);
    const double late = larger(error, z->kept_error * z->error_of_late);
    z->error_of_late = z->starts_anew ? 0.0 : late; /* what is stiff dies away in the first step */
    if (!stands(z, error, 1.0))
        return h; /* nearly too long: a new size, and so a new factorisation, is not worth it */
    if (h < wanted)
        return wanted; /* it was cut short by an event, not by its error */
    if (z->steps_since_rejection <= CALM || !stands(z, late, 1.4))
        return h;
    return smaller(0.9 * pow(z->settings.tolerance / larger(late, 1e-30), 1.0 / order_of(z)), most_growth(z)) * h;
}

/* One accepted step; its size in *taken */
static int advance(Sim *z, const Drive *d, double until, Posture *end, double *taken)
{
    const double event = next_corner(z, d, until);
    const int sampled = next_action(z, d) <= event;
    double tried[2][2] = {{0}};
    for (int trial = 0; trial < 60; trial++) {
        const double left = event - z->t;
        double h = smaller(z->step, z->settings.largest_step), error;
        if (z->settings.fixed_step > 0.0)
            h = trial ? z->step : z->settings.fixed_step;
        const double count = ceil((1.0 - 1e-4) * left / h);
        if (sampled && count > 1.0 && count < EVENED && z->settings.fixed_step == 0.0)
            h = left / count; /* the next sample asks for the same length again, and so for the same matrix */
        const double wanted = h;
        if (h > left * (1.0 - 1e-4))
            h = left;
        else if (2.0 * h > left && z->settings.fixed_step == 0.0)
            h = 0.5 * left;
        z->look = -smaller(1e-11 * (1.0 + fabs(z->t)), 1e-3 * h); /* short steps begin behind a jump */
        z->jacobian_is_fresh = 0;
        z->ends_roughly = sampled && h == left && may_end_roughly(z, d, event, until);
        int outcome = one_step(z, d, h, end, &error);
        if (outcome == FINE && loses_hold(z)) {
            if (z->start_conditioning < NEARLY_LOST * z->least_conditioning)
                return ILL_POSED; /* before the step: others are to take over where these still hold */
            outcome = ILL_POSED;
        }
        if (outcome == FINE && (error <= z->settings.tolerance || z->settings.fixed_step > 0.0)) {
            z->steps_since_rejection++;
            z->tried_new_jacobian = 0;
            z->step = next_step(z, h, wanted, error);
            *taken = h;
            return FINE;
        }
        z->rejected++;
        z->steps_since_rejection = z->starts_anew ? CALM : 0; /* the first step of a new start is a guess */
        z->has_stages = 0;
        if (outcome == DIVERGED && !z->jacobian_is_fresh && z->tried_new_jacobian < 1) {
            z->has_jacobian = 0; /* once more with new derivatives */
            z->tried_new_jacobian = 1;
            continue;
        }
        z->tried_new_jacobian = 0;
        if (outcome == DIVERGED)
            note_trouble(z, trial);
        if (z->settings.method == GENERALISED_ALPHA && z->has_last_step == 0)
            z->starts_anew = 1;
        z->step = h * (outcome == FINE ? shortened(z, h, error, tried) : 0.25);
        if (z->step < z->settings.smallest_step)
            return outcome == FINE ? TOO_SMALL : outcome;
    }
    return TOO_SMALL;
}

SUPPLE_LOCAL int by_ends(const Sim *z)
{
    return z->settings.method == GENERALISED_ALPHA || z->settings.method == QUASI_STATIC;
}

/* Work of a step from the power at its ends, bent as the parabola through them and the one before; the step before is made
 * good by what is known now of its other side, so that the sum is of the fourth order */
static real work_by_ends(Sim *z, double h, real power)
{
    const real straight = num(0.5) * h * (z->power + power);
    if (z->settings.method == GENERALISED_ALPHA ? !z->has_last_step : z->starts_anew) {
        z->has_power_bend = 0;
        return straight;
    }
    const double before = z->last_step;
    const real bend = ((power - z->power) / h - (z->power - z->last_power) / before) / (h + before);
    const real late = z->has_power_bend ? num(0.5) * (bend - z->power_bend) : bend;
    z->power_bend = bend;
    z->has_power_bend = 1;
    return straight - h * h * h / 6.0 * bend - before * before * before / 6.0 * late;
}

/* Samples to integrate signals by: in the middles of fifths of equal stretches of a step, none longer than `longest` */
static int record_within(Sim *z, const Drive *d, double h, double longest, const Posture *end, double *out, long long rows,
                         long long *written)
{
    const int count = 5 * (int)ceil(h / longest);
    Turn turns[AT_LEAST_ONE(N_BALLS)];
    if (*written + count > rows)
        return FULL;
    turns_of(z, end, turns);
    for (int k = 0; k < count; k++, ++*written, ++z->samples)
        interpolate(z, d, h, (k + 0.5) / count, end, turns, out + *written * ROW * SUPPLE_LANES);
    return FINE;
}

/* Samples of a step that ends at `after`; FULL before the step is taken, which is then repeated */
static int record_step(Sim *z, const Drive *d, double h, double after, const Posture *end, double *out, long long rows,
                       long long *written)
{
    if (z->settings.sample_interval < 0.0)
        return record_within(z, d, h, -z->settings.sample_interval, end, out, rows, written);
    if (z->settings.sample_interval == 0.0) {
        if (*written >= rows)
            return FULL;
        record(z, after, end->q, end->v, end->effort, end->free_a, out + *written * ROW * SUPPLE_LANES);
        ++*written;
        ++z->samples;
        return FINE;
    }
    Turn turns[AT_LEAST_ONE(N_BALLS)];
    for (int known = 0;; known = 1) {
        const double t = z->begin + (double)z->samples * z->settings.sample_interval;
        if (t > after + 1e-9 * z->settings.sample_interval)
            return FINE;
        if (!known)
            turns_of(z, end, turns);
        if (*written >= rows)
            return FULL;
        interpolate(z, d, h, smaller(1.0, (t - z->t) / h), end, turns, out + *written * ROW * SUPPLE_LANES);
        ++*written;
        ++z->samples;
    }
}

/* A step that is taken: account of work and of what was cut off, and the state at its end */
static void take_step(Sim *z, const Drive *d, double h, double after, const Posture *end)
{
    const real power = z->settings.method == RADAU ? stage_power(z, d, after, end, STAGES - 1) : power_of(z, d, after, end);
    z->work += by_ends(z) ? work_by_ends(z, h, power) : z->step_work;
    z->last_power = z->power;
    z->power = power;
    z->most_power = larger(z->most_power, size_of(power, z->live));
    for (int i = 0; i < N_DEP; i++)
        z->a[z->chosen.dependent_v[i]] = (end->v[z->chosen.dependent_v[i]] - z->now.v[z->chosen.dependent_v[i]]) / h;
    if (z->settings.method == GENERALISED_ALPHA)
        alpha_accept(z, h, end);
    z->last_step = h;
    z->has_stages = collocates(z) || z->settings.method == QUASI_STATIC;
    z->starts_anew = 0;
    if (collocates(z) && z->step_cut_off > z->most_cut_off) {
        z->most_cut_off = z->step_cut_off;
        z->most_cut_off_time = after;
    }
    z->now = *end;
    z->is_rough = z->ends_roughly;
    z->t = after;
    z->steps++;
    note_scale(z, d, z->t, &z->now);
    note_hold(z);
}

SUPPLE_ROOM(Posture, end_room)

static int run_on(Sim *z, const Drive *d, double until, long long most, double *out, long long rows, long long *written)
{
    Posture *end = end_room();
    *written = 0;
    while (z->t < until - 1e-10 * (1.0 + fabs(until))) {
        double h = 0.0;
        if (*written + z->rows_ahead > rows)
            return FULL;
        if (most-- <= 0)
            return YIELDED;
        int outcome = advance(z, d, until, end, &h);
        if (outcome == FINE)
            outcome = mend(z, end);
        if (outcome != FINE)
            return outcome;
        const double knot = next_break(z, d), corner = next_corner(z, d, until);
        const double after = fabs(z->t + h - corner) < 1e-9 * h + 1e-12 ? corner : z->t + h;
        if (record_step(z, d, h, after, end, out, rows, written) != FINE)
            return FULL;
        take_step(z, d, h, after, end);
        const int acted = act(z, d);
        if (z->is_rough)
            forget(z);
        else if (acted || (after == corner && corner < until)) {
            const int started = restart(z, d, z->t + 1e-10 * (1.0 + fabs(z->t)) < knot);
            if (started != FINE)
                return started;
        }
        if (z->worst_conditioning > z->conditioning)
            z->worst_conditioning = z->conditioning;
    }
    return DONE;
}

/* Runs until a time, or until `most` steps or the rows of `out` are used up; says which */
SUPPLE_EXPORT int supple_run(Sim *z, const Drive *d, double until, long long most, double *out, long long rows,
                             long long *written)
{
    const int outcome = run_on(z, d, until, most, out, rows, written), goes_on = outcome == FULL || outcome == YIELDED;
    const int settled = goes_on ? FINE : settle_start(z, d); /* pieces of a run are to be the same as the whole */
    return settled == FINE ? outcome : settled;
}
