/* @NOTICE@
 * robot: @ROBOT@
 *
 * The plant held by a stiff spring and a damper at each actuator, at 1 kHz and at 10 kHz, and how long its steps take here.
 * A robot at rest that stays where it is: PASS. With arguments: ./plant HERTZ STEPS, and ./plant HERTZ STEPS clock to begin every
 * step when the clock says so.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "@NAME@.h"

static @NAME@ robot;

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_until(double when)
{
    const double left = when - seconds(CLOCK_MONOTONIC);
    struct timespec pause;
    pause.tv_sec = (time_t)(left > 0.0 ? left : 0.0);
    pause.tv_nsec = (long)(1e9 * (left > 0.0 ? left - (double)pause.tv_sec : 0.0));
    if (left > 0.0)
        nanosleep(&pause, NULL);
}

static int run(double hertz, long steps, int by_clock)
{
    static const double hold[] = {@HOLD@};
    double q[@MACRO@_TAU + 1], v[@MACRO@_TAU + 1], start[@MACRO@_TAU + 1], tau[@MACRO@_TAU + 1];
    double longest = 0.0, total = 0.0, moved = 0.0, latest = 0.0;
    long late = 0, missed = 0, k;
    int i, outcome = @NAME@_init(&robot, 1.0 / hertz);
    const double begin = seconds(CLOCK_MONOTONIC);
    const long long before_all = @NAME@_evaluations(&robot);
    @NAME@_actuators(&robot, start, v);
    for (k = 0; k < steps && !outcome; k++) {
        @NAME@_actuators(&robot, q, v);
        for (i = 0; i < @MACRO@_TAU; i++) {
            moved = fmax(moved, fabs(q[i] - start[i]));
            tau[i] = hold[i] - 10.0 * (q[i] - start[i]) - 1.0 * v[i] + (k < 20 ? 1e-3 * fabs(hold[i]) + 1e-3 : 0.0);
        }
        if (by_clock)
            wait_until(begin + (double)k / hertz);
        const double before = seconds(CLOCK_PROCESS_CPUTIME_ID); /* of the processor: others on the machine do not count */
        outcome = @NAME@_step(&robot, tau, 1.0 / hertz);
        const double took = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        const double over = seconds(CLOCK_MONOTONIC) - begin - (double)(k + 1) / hertz;
        missed += over > 0.0;
        latest = fmax(latest, over);
        total += took;
        longest = fmax(longest, took);
        late += took > 1.0 / hertz;
    }
    printf("%g Hz: %ld steps, mean %.1f us, longest %.1f us, %ld longer than a step; actuators moved %.2g\n", hertz, k,
           1e6 * total / (double)(k ? k : 1), 1e6 * longest, late, moved);
    const double each = total / (double)(1 + @NAME@_evaluations(&robot) - before_all);
    printf("    a step makes at most %lld evaluations, which take about %.3g ms here\n", @NAME@_most_evaluations(),
           1e3 * each * (double)@NAME@_most_evaluations());
    if (by_clock)
        printf("    by the clock %ld of them ended after the next was due, by %.1f us at most\n", missed, 1e6 * latest);
    if (outcome)
        printf("FAIL @NAME@: step %ld ended with %d\n", k, outcome);
    return outcome || !(moved < 0.1);
}

int main(int count, char **words)
{
    const int failed = count > 2 ? run(atof(words[1]), atol(words[2]), count > 3) : run(1e3, 1000, 0) | run(1e4, 2000, 0);
    puts(failed ? "FAIL @NAME@" : "PASS @NAME@");
    return failed;
}
