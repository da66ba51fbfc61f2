/* @NOTICE@
 * robot: @ROBOT@
 *
 * @ABOUT@
 * Call @NAME@_step every @SAMPLE@ s. actuators: @FORCES@. Nothing is allocated; delays are those of the loop it runs in.
 */
#ifndef @MACRO@_H
#define @MACRO@_H

#define @MACRO@_SAMPLE @SAMPLE@
#define @MACRO@_TAU @TAU@

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double integral[@TAU@];
    long long ticks;
} @NAME@;

void @NAME@_init(@NAME@ *controller);

/* Forces for what the encoders say of places and rates; the path goes on by a sample */
void @NAME@_step(@NAME@ *controller, const double *q, const double *v, double *tau);

#ifdef __cplusplus
}
#endif

#endif
