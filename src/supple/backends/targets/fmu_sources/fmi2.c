/* The functions of FMI 2.0 for model exchange and co-simulation, around robot.h.
 * The only file to compile: cc -std=c99 -O2 -ffp-contract=off -shared -fPIC fmi2.c -lm
 */
#include "model.h"
#include "stepping.h"
#include "robot.h"
#include "fmi2.h"

typedef struct {
    Robot robot;
    const fmi2CallbackFunctions *callbacks;
    int talks;
    char name[256];
} Instance;

static fmi2Status complain(Instance *i, fmi2Status status, const char *message)
{
    if (i && i->talks && i->callbacks && i->callbacks->logger)
        i->callbacks->logger(
            i->callbacks->componentEnvironment, i->name, status,
            status == fmi2Discard ? "logStatusDiscard" : "logStatusError", message);
    return status;
}

static fmi2Status open_loops(Instance *i, fmi2Status status)
{
    return complain(i, status, "the loops cannot close, or the pose is singular, at the present states");
}

/* Common ----------------------------------------------------------------------------------------------------------- */

FMI2_EXPORT const char *FMI2_NAME(fmi2GetTypesPlatform)(void) { return "default"; }
FMI2_EXPORT const char *FMI2_NAME(fmi2GetVersion)(void) { return "2.0"; }

FMI2_STATUS(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    (void)count; (void)categories;
    ((Instance *)c)->talks = on != 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Component FMI2_NAME(fmi2Instantiate)(
    fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *callbacks,
    fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *made;
    (void)resources; (void)visible; (void)logging;
    if (type != fmi2ModelExchange && type != fmi2CoSimulation)
        return NULL;
    if (!guid || strcmp(guid, MODEL_TOKEN) || !(made = calloc(1, sizeof *made)))
        return NULL;
    made->callbacks = callbacks;
    made->talks = 1; /* of errors only */
    if (name)
        strncpy(made->name, name, sizeof made->name - 1);
    start(&made->robot);
    return made;
}

FMI2_EXPORT void FMI2_NAME(fmi2FreeInstance)(fmi2Component c) { free(c); }

FMI2_STATUS(fmi2SetupExperiment)(
    fmi2Component c, fmi2Boolean tolerance_given, fmi2Real tolerance, fmi2Real from, fmi2Boolean to_given, fmi2Real to)
{
    Robot *r = &((Instance *)c)->robot;
    (void)to_given; (void)to;
    if (!set_up(r, tolerance_given, tolerance, from))
        return complain(c, fmi2Error, "the tolerance or the time is not a finite number");
    return fmi2OK;
}

FMI2_STATUS(fmi2EnterInitializationMode)(fmi2Component c) { (void)c; return fmi2OK; }

FMI2_STATUS(fmi2ExitInitializationMode)(fmi2Component c)
{
    return accelerate(&((Instance *)c)->robot) ? fmi2OK : open_loops(c, fmi2Error);
}

FMI2_STATUS(fmi2Terminate)(fmi2Component c) { (void)c; return fmi2OK; }

FMI2_STATUS(fmi2Reset)(fmi2Component c)
{
    start(&((Instance *)c)->robot);
    return fmi2OK;
}

/* Values: all are real ------------------------------------------------------------------------------------------------ */

FMI2_STATUS(fmi2GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[])
{
    for (size_t k = 0; k < n; k++)
        if (!read_value(&((Instance *)c)->robot, vr[k], value + k))
            return vr[k] < VALUES ? open_loops(c, fmi2Discard) : complain(c, fmi2Error, "no variable has this reference");
    return fmi2OK;
}

FMI2_STATUS(fmi2SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[])
{
    for (size_t k = 0; k < n; k++)
        if (!assign(&((Instance *)c)->robot, vr[k], value[k]))
            return complain(c, fmi2Error, "only inputs, parameters and states can be set, to numbers that the robot file takes; the method is 0 to 3");
    return fmi2OK;
}

#define NONE_OF(name, type) \
    FMI2_STATUS(name)(fmi2Component c, const fmi2ValueReference vr[], size_t n, type value[]) \
    { \
        (void)vr; (void)value; \
        return n ? complain(c, fmi2Error, "all variables of this FMU are real") : fmi2OK; \
    }
NONE_OF(fmi2GetInteger, fmi2Integer)
NONE_OF(fmi2GetBoolean, fmi2Boolean)
NONE_OF(fmi2GetString, fmi2String)
NONE_OF(fmi2SetInteger, const fmi2Integer)
NONE_OF(fmi2SetBoolean, const fmi2Boolean)
NONE_OF(fmi2SetString, const fmi2String)

/* The state of the FMU is a Robot -------------------------------------------------------------------------------------- */

FMI2_STATUS(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (!*state && !(*state = malloc(sizeof(Robot))))
        return complain(c, fmi2Error, "no memory is left");
    memcpy(*state, &((Instance *)c)->robot, sizeof(Robot));
    return fmi2OK;
}

FMI2_STATUS(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    if (!state)
        return complain(c, fmi2Error, "there is no state to set");
    memcpy(&((Instance *)c)->robot, state, sizeof(Robot));
    return fmi2OK;
}

FMI2_STATUS(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

FMI2_STATUS(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c; (void)state;
    *size = sizeof(Robot);
    return fmi2OK;
}

FMI2_STATUS(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (!state || size < sizeof(Robot))
        return complain(c, fmi2Error, "the state does not fit");
    memcpy(bytes, state, sizeof(Robot));
    return fmi2OK;
}

FMI2_STATUS(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (size != sizeof(Robot) || (!*state && !(*state = malloc(sizeof(Robot)))))
        return complain(c, fmi2Error, "the bytes are not a state of this FMU");
    memcpy(*state, bytes, sizeof(Robot));
    return fmi2OK;
}

FMI2_STATUS(fmi2GetDirectionalDerivative)(
    fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown, const fmi2ValueReference known[], size_t n_known,
    const fmi2Real d_known[], fmi2Real d_unknown[])
{
    (void)unknown; (void)n_unknown; (void)known; (void)n_known; (void)d_known; (void)d_unknown;
    return complain(c, fmi2Error, "directional derivatives are not provided");
}

/* Model exchange -------------------------------------------------------------------------------------------------------- */

FMI2_STATUS(fmi2EnterEventMode)(fmi2Component c) { (void)c; return fmi2OK; }
FMI2_STATUS(fmi2EnterContinuousTimeMode)(fmi2Component c) { (void)c; return fmi2OK; }

FMI2_STATUS(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

FMI2_STATUS(fmi2CompletedIntegratorStep)(
    fmi2Component c, fmi2Boolean no_set, fmi2Boolean *event, fmi2Boolean *terminate)
{
    (void)c; (void)no_set;
    *event = *terminate = 0;
    return fmi2OK;
}

FMI2_STATUS(fmi2SetTime)(fmi2Component c, fmi2Real time)
{
    if (!is_finite(time))
        return complain(c, fmi2Error, "the time is not a finite number");
    ((Instance *)c)->robot.value[0] = time;
    return fmi2OK;
}

FMI2_STATUS(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t n)
{
    Robot *r = &((Instance *)c)->robot;
    if (n != N_STATES)
        return complain(c, fmi2Error, "wrong number of states");
    memcpy(r->value + AT_STATES, x, n * sizeof(double));
    r->known = STALE;
    r->told = ELSEWHERE;
    return fmi2OK;
}

FMI2_STATUS(fmi2GetDerivatives)(fmi2Component c, fmi2Real derivatives[], size_t n)
{
    Robot *r = &((Instance *)c)->robot;
    if (n != N_STATES)
        return complain(c, fmi2Error, "wrong number of states");
    if (!accelerate(r))
        return open_loops(c, fmi2Discard);
    memcpy(derivatives, r->value + AT_DERIVATIVES, n * sizeof(double));
    return fmi2OK;
}

FMI2_STATUS(fmi2GetEventIndicators)(fmi2Component c, fmi2Real indicators[], size_t n)
{
    (void)indicators;
    return n ? complain(c, fmi2Error, "there are no event indicators") : fmi2OK;
}

FMI2_STATUS(fmi2GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t n)
{
    if (n != N_STATES)
        return complain(c, fmi2Error, "wrong number of states");
    memcpy(x, ((Instance *)c)->robot.value + AT_STATES, n * sizeof(double));
    return fmi2OK;
}

FMI2_STATUS(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominal[], size_t n)
{
    if (n != N_STATES)
        return complain(c, fmi2Error, "wrong number of states");
    memcpy(nominal, MODEL_NOMINAL, n * sizeof(double));
    return fmi2OK;
}

/* Co-simulation ----------------------------------------------------------------------------------------------------------- */

FMI2_STATUS(fmi2SetRealInputDerivatives)(
    fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], const fmi2Real value[])
{
    for (size_t k = 0; k < n; k++) {
        if (order[k] != 1 || vr[k] < AT_INPUTS || vr[k] >= AT_INPUTS + N_INPUTS || !is_finite(value[k]))
            return complain(c, fmi2Error, "only first derivatives of inputs can be set, to finite numbers");
        ((Instance *)c)->robot.slope[vr[k] - AT_INPUTS] = value[k];
    }
    return fmi2OK;
}

FMI2_STATUS(fmi2GetRealOutputDerivatives)(
    fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer order[], fmi2Real value[])
{
    (void)vr; (void)n; (void)order; (void)value;
    return complain(c, fmi2Error, "derivatives of outputs are not provided");
}

FMI2_STATUS(fmi2DoStep)(fmi2Component c, fmi2Real from, fmi2Real step, fmi2Boolean no_set)
{
    Instance *i = c;
    (void)no_set;
    if (!step_makes_sense(from, step))
        return complain(i, fmi2Error, "time and step must be finite, and the step not below zero");
    i->robot.value[0] = from;
    if (integrate(&i->robot, step))
        return fmi2OK;
    return complain(i, fmi2Error, "the step failed: the loops cannot close, the pose is singular, or the motion too fast");
}

FMI2_STATUS(fmi2CancelStep)(fmi2Component c) { return complain(c, fmi2Error, "no step is pending"); }

FMI2_STATUS(fmi2GetStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)c; (void)kind;
    *value = fmi2OK;
    return fmi2OK;
}

FMI2_STATUS(fmi2GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime)
        return fmi2Discard;
    *value = ((Instance *)c)->robot.value[0];
    return fmi2OK;
}

FMI2_STATUS(fmi2GetIntegerStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)c; (void)kind; (void)value;
    return fmi2Discard;
}

FMI2_STATUS(fmi2GetBooleanStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)c;
    if (kind != fmi2Terminated)
        return fmi2Discard;
    *value = 0;
    return fmi2OK;
}

FMI2_STATUS(fmi2GetStringStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)c; (void)kind; (void)value;
    return fmi2Discard;
}
