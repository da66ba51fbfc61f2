/* @NOTICE@
 * robot: @ROBOT@
 *
 * @ABOUT@
 * Call @NAME@_step every @SAMPLE@ s, just before forces change; they shall act @DELAY@ s later. Nothing is allocated.
 * readings (SI): @READINGS@
 * forces: @FORCES@
 */
#ifndef @MACRO@_H
#define @MACRO@_H

#define @MACRO@_SAMPLE @SAMPLE@
#define @MACRO@_READINGS @N_READINGS@
#define @MACRO@_FORCES @N_FORCES@

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double x[@PARTS@][@ROOM@];
    long long ticks;
} @NAME@;

void @NAME@_init(@NAME@ *controller);

/* Forces for what the sensors read; the path goes on by a sample */
void @NAME@_step(@NAME@ *controller, const double *readings, double *forces);

#ifdef __cplusplus
}
#endif

#endif
