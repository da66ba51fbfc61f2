/* A stand-in for the part of Simulink's simstruc.h that generated S-functions use, so that they compile and run. */
#include <stddef.h>

typedef double real_T;
typedef int int_T;

#define STUB_PORTS 16
#define SS_DOUBLE 0
#define SS_OPTION_EXCEPTION_FREE_CODE 1
#define INHERITED_SAMPLE_TIME (-1.0)

typedef struct {
    double states[100000];
    const char *failure;
    double step;
    int inputs, outputs, params, continuous, discrete, sample_times, options;
    int in_width[STUB_PORTS], out_width[STUB_PORTS], contiguous[STUB_PORTS], feedthrough[STUB_PORTS];
    int in_type[STUB_PORTS], out_type[STUB_PORTS];
    double sample_time, offset;
    const double *in[STUB_PORTS];
    double *out[STUB_PORTS];
} SimStruct;

#define ssSetNumSFcnParams(S, n) ((S)->params = (n))
#define ssGetNumSFcnParams(S) ((S)->params)
#ifdef STUB_STATES
#define ssGetSFcnParamsCount(S) ((void)(S), 1)
#else
#define ssGetSFcnParamsCount(S) ((void)(S), 0)
#endif
#define ssSetNumContStates(S, n) ((S)->continuous = (n))
#define ssSetNumDiscStates(S, n) ((S)->discrete = (n))
#define ssSetNumInputPorts(S, n) ((S)->inputs = (n), (n) <= STUB_PORTS)
#define ssSetNumOutputPorts(S, n) ((S)->outputs = (n), (n) <= STUB_PORTS)
#define ssSetInputPortWidth(S, port, n) ((S)->in_width[port] = (n))
#define ssSetOutputPortWidth(S, port, n) ((S)->out_width[port] = (n))
#define ssSetInputPortDataType(S, port, type) ((S)->in_type[port] = (type))
#define ssSetOutputPortDataType(S, port, type) ((S)->out_type[port] = (type))
#define ssSetInputPortRequiredContiguous(S, port, flag) ((S)->contiguous[port] = (flag))
#define ssSetInputPortDirectFeedThrough(S, port, flag) ((S)->feedthrough[port] = (flag))
#define ssSetNumSampleTimes(S, n) ((S)->sample_times = (n))
#define ssSetOptions(S, flags) ((S)->options = (flags))
#define ssSetSampleTime(S, i, t) ((void)(i), (S)->sample_time = (t))
#define ssSetOffsetTime(S, i, t) ((void)(i), (S)->offset = (t))
#define ssSetModelReferenceSampleTimeDefaultInheritance(S) ((void)(S))
#define ssGetInputPortSignal(S, port) ((const void *)(S)->in[port])
#define ssGetOutputPortRealSignal(S, port) ((S)->out[port])
#define ssGetRealDiscStates(S) ((S)->states)
#define ssSetErrorStatus(S, words) ((S)->failure = (words))
#define ssGetSFcnParam(S, i) ((void)(i), &(S)->step)
#define mxGetPr(parameter) (parameter)
