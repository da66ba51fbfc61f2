/* @NOTICE@
 * robot: @ROBOT@
 *
 * The plant held by a stiff spring and a damper at each actuator, at 1 kHz and at 10 kHz, and how long its steps take here.
 * A robot at rest that stays where it is: PASS. With arguments: ./plant HERTZ STEPS
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "@NAME@.h"

static @NAME@ robot;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* of the processor: others on the machine do not count */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run(double hertz, long steps)
{
    static const double hold[] = {@HOLD@};
    double q[@MACRO@_TAU + 1], v[@MACRO@_TAU + 1], start[@MACRO@_TAU + 1], tau[@MACRO@_TAU + 1];
    double longest = 0.0, total = 0.0, moved = 0.0;
    long late = 0, k;
    int i, outcome = @NAME@_init(&robot, 1.0 / hertz);
    @NAME@_actuators(&robot, start, v);
    for (k = 0; k < steps && !outcome; k++) {
        @NAME@_actuators(&robot, q, v);
        for (i = 0; i < @MACRO@_TAU; i++) {
            moved = fmax(moved, fabs(q[i] - start[i]));
            tau[i] = hold[i] - 10.0 * (q[i] - start[i]) - 1.0 * v[i] + (k < 20 ? 1e-3 * fabs(hold[i]) + 1e-3 : 0.0);
        }
        const double before = seconds();
        outcome = @NAME@_step(&robot, tau, 1.0 / hertz);
        const double took = seconds() - before;
        total += took;
        longest = fmax(longest, took);
        late += took > 1.0 / hertz;
    }
    printf("%g Hz: %ld steps, mean %.1f us, longest %.1f us, %ld longer than a step; actuators moved %.2g\n", hertz, k,
           1e6 * total / (double)(k ? k : 1), 1e6 * longest, late, moved);
    if (outcome)
        printf("FAIL @NAME@: step %ld ended with %d\n", k, outcome);
    return outcome || !(moved < 0.1);
}

int main(int count, char **words)
{
    const int failed = count > 2 ? run(atof(words[1]), atol(words[2])) : run(1e3, 1000) | run(1e4, 2000);
    puts(failed ? "FAIL @NAME@" : "PASS @NAME@");
    return failed;
}
