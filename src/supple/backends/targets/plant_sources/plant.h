/* @NOTICE@
 * robot: @ROBOT@
 *
 * The robot as a plant: its loops, its vibrations and the integrator (Radau, order 5) are inside.
 *
 *     @NAME@ robot;
 *     @NAME@_init(&robot, 1e-3);
 *     for (;;)
 *         @NAME@_step(&robot, tau, 1e-3);
 *
 * tau: @FORCES@; held during a step. Nothing is allocated. A step is one attempt as a rule: at most ten iterations of Newton's method on
 * three stages, loops closed by at most 25 iterations each. Where it does not converge it is tried again with new derivatives (two
 * evaluations for each free coordinate), then in parts: at most 64, none shorter than a 1024th. _most_evaluations says how many
 * evaluations that is, the self-test how long they take; -DPARTS=1 makes them fewer, and steps that need more end with 6. Scratch
 * memory is shared by the plants of a thread.
 *
 * self-test and longest step on a machine: cc -std=c99 -O2 -ffp-contract=off main.c @NAME@.c -lm -o plant && ./plant
 */
#ifndef @MACRO@_H
#define @MACRO@_H

@DEFINES@

#ifdef __cplusplus
extern "C" {
#endif

/* The state of one robot; copy it to keep it, put it back to go on from there */
typedef union {
    double aligned;
    unsigned char bytes[@MACRO@_BYTES];
} @NAME@;

/* The robot at rest, held by its actuators; dt: the step to come (s). 0, or why it cannot be */
int @NAME@_init(@NAME@ *plant, double dt);

/* One step of dt seconds. 0; else it ends where _time says: 4 loops cannot close, 5 the posture is singular, 6 no convergence (take a
 * smaller dt), 7 a force is not a number, 8 dt is not between 0 and 1 s */
int @NAME@_step(@NAME@ *plant, const double *tau, double dt);

double @NAME@_time(const @NAME@ *plant); /* s */

/* Evaluations of the equations of motion: since init, and in a step at most, whatever happens in it */
long long @NAME@_evaluations(const @NAME@ *plant);
long long @NAME@_most_evaluations(void);

/* Force and moment (N, N m; base axes) at each point from now on: @POINTS@ */
void @NAME@_load(@NAME@ *plant, const double *wrenches);

/* All coordinates and rates */
void @NAME@_state(const @NAME@ *plant, double *q, double *v);

/* Places and rates of the actuators, as encoders see them */
void @NAME@_actuators(const @NAME@ *plant, double *q, double *v);

/* Places and velocities of the points, three numbers each */
void @NAME@_points(const @NAME@ *plant, double *position, double *velocity);

#ifdef __cplusplus
}
#endif

#endif
