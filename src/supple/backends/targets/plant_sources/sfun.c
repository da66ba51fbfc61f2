/* @NOTICE@
 * robot: @ROBOT@
 *
 * The plant as a block with states. Parameter: the step in s. Input: forces (@FORCES@). Outputs: places and rates of the
 * actuators, then places and velocities of the points (@POINTS@).
 *
 * in MATLAB:
 *   mex @NAME@_sfun.c @NAME@.c
 */
#define S_FUNCTION_NAME @NAME@_sfun
#define S_FUNCTION_LEVEL 2
#include "simstruc.h"
#include "@NAME@.h"

#define STEP(S) (*mxGetPr(ssGetSFcnParam(S, 0)))
#define WORDS ((int)(sizeof(@NAME@) / sizeof(double)))

static void mdlInitializeSizes(SimStruct *S)
{
    static const int widths[4] = {@MACRO@_TAU, @MACRO@_TAU, 3 * @MACRO@_POINTS, 3 * @MACRO@_POINTS};
    int port;
    ssSetNumSFcnParams(S, 1);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S))
        return;
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, WORDS); /* the whole state of the plant, so that Simulink can keep and restore it */
    if (!ssSetNumInputPorts(S, 1) || !ssSetNumOutputPorts(S, @MACRO@_POINTS ? 4 : 2))
        return;
    ssSetInputPortWidth(S, 0, @MACRO@_TAU);
    ssSetInputPortDataType(S, 0, SS_DOUBLE);
    ssSetInputPortRequiredContiguous(S, 0, 1);
    ssSetInputPortDirectFeedThrough(S, 0, 0);
    for (port = 0; port < (@MACRO@_POINTS ? 4 : 2); port++) {
        ssSetOutputPortWidth(S, port, widths[port]);
        ssSetOutputPortDataType(S, port, SS_DOUBLE);
    }
    ssSetNumSampleTimes(S, 1);
    ssSetOptions(S, SS_OPTION_EXCEPTION_FREE_CODE);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, STEP(S));
    ssSetOffsetTime(S, 0, 0.0);
}

#define MDL_INITIALIZE_CONDITIONS
static void mdlInitializeConditions(SimStruct *S)
{
    if (@NAME@_init((@NAME@ *)(void *)ssGetRealDiscStates(S), STEP(S)))
        ssSetErrorStatus(S, "@NAME@: the plant cannot start with this step");
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
    const @NAME@ *plant = (const @NAME@ *)(const void *)ssGetRealDiscStates(S);
    (void)tid;
    @NAME@_actuators(plant, ssGetOutputPortRealSignal(S, 0), ssGetOutputPortRealSignal(S, 1));
#if @MACRO@_POINTS > 0
    @NAME@_points(plant, ssGetOutputPortRealSignal(S, 2), ssGetOutputPortRealSignal(S, 3));
#endif
}

#define MDL_UPDATE
static void mdlUpdate(SimStruct *S, int_T tid)
{
    (void)tid;
    if (@NAME@_step((@NAME@ *)(void *)ssGetRealDiscStates(S), (const real_T *)ssGetInputPortSignal(S, 0), STEP(S)))
        ssSetErrorStatus(S, "@NAME@: a step failed; take a smaller one");
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
