/* The functions of FMI 3.0 for model exchange and co-simulation, around robot.h.
 * The only file to compile: cc -std=c99 -O2 -ffp-contract=off -shared -fPIC fmi3.c -lm
 */
#include "model.h"
#include "stepping.h"
#include "robot.h"
#include "fmi3.h"

typedef struct {
    Robot robot;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
    int talks;
} Instance;

static fmi3Status complain(Instance *i, fmi3Status status, const char *message)
{
    if (i && i->talks && i->log)
        i->log(i->environment, status, status == fmi3Discard ? "logStatusDiscard" : "logStatusError", message);
    return status;
}

static fmi3Status open_loops(Instance *i, fmi3Status status)
{
    return complain(i, status, "the loops cannot close, or the pose is singular, at the present states");
}

static fmi3Status absent(Instance *i) { return complain(i, fmi3Error, "this FMU does not provide the function"); }

/* Common ----------------------------------------------------------------------------------------------------------- */

FMI3_EXPORT const char *FMI3_NAME(fmi3GetVersion)(void) { return "3.0"; }

FMI3_STATUS(fmi3SetDebugLogging)(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    (void)count; (void)categories;
    ((Instance *)c)->talks = on != 0;
    return fmi3OK;
}

static Instance *instantiate(fmi3String token, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    Instance *made;
    if (!token || strcmp(token, MODEL_TOKEN) || !(made = calloc(1, sizeof *made)))
        return NULL;
    made->environment = environment;
    made->log = log;
    made->talks = 1; /* of errors only */
    start(&made->robot);
    return made;
}

FMI3_EXPORT fmi3Instance FMI3_NAME(fmi3InstantiateModelExchange)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name; (void)resources; (void)visible; (void)logging;
    return instantiate(token, environment, log);
}

FMI3_EXPORT fmi3Instance FMI3_NAME(fmi3InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean event_mode, fmi3Boolean early_return, const fmi3ValueReference intermediate[], size_t n_intermediate,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)name; (void)resources; (void)visible; (void)logging; (void)early_return; (void)intermediate;
    (void)n_intermediate; (void)update;
    return event_mode ? NULL : instantiate(token, environment, log);
}

FMI3_EXPORT fmi3Instance FMI3_NAME(fmi3InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
    fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log;
    (void)update; (void)lock; (void)unlock;
    return NULL;
}

FMI3_EXPORT void FMI3_NAME(fmi3FreeInstance)(fmi3Instance c) { free(c); }

FMI3_STATUS(fmi3EnterInitializationMode)(
    fmi3Instance c, fmi3Boolean tolerance_given, fmi3Float64 tolerance, fmi3Float64 from, fmi3Boolean to_given,
    fmi3Float64 to)
{
    Robot *r = &((Instance *)c)->robot;
    (void)to_given; (void)to;
    if (!set_up(r, tolerance_given, tolerance, from))
        return complain(c, fmi3Error, "the tolerance or the time is not a finite number");
    return fmi3OK;
}

FMI3_STATUS(fmi3ExitInitializationMode)(fmi3Instance c)
{
    return accelerate(&((Instance *)c)->robot) ? fmi3OK : open_loops(c, fmi3Error);
}

#define NOTHING_TO_DO(name) FMI3_STATUS(name)(fmi3Instance c) { (void)c; return fmi3OK; }
NOTHING_TO_DO(fmi3EnterEventMode)
NOTHING_TO_DO(fmi3Terminate)
NOTHING_TO_DO(fmi3EnterContinuousTimeMode)
NOTHING_TO_DO(fmi3EnterStepMode)
NOTHING_TO_DO(fmi3EvaluateDiscreteStates)
FMI3_STATUS(fmi3EnterConfigurationMode)(fmi3Instance c) { return absent(c); }
FMI3_STATUS(fmi3ExitConfigurationMode)(fmi3Instance c) { return absent(c); }

FMI3_STATUS(fmi3Reset)(fmi3Instance c)
{
    start(&((Instance *)c)->robot);
    return fmi3OK;
}

/* Values: all are Float64 ---------------------------------------------------------------------------------------------- */

FMI3_STATUS(fmi3GetFloat64)(
    fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 value[], size_t n_values)
{
    if (n_values != n)
        return complain(c, fmi3Error, "as many values as references are needed");
    for (size_t k = 0; k < n; k++)
        if (!read_value(&((Instance *)c)->robot, vr[k], value + k))
            return vr[k] < VALUES ? open_loops(c, fmi3Discard) : complain(c, fmi3Error, "no variable has this reference");
    return fmi3OK;
}

FMI3_STATUS(fmi3SetFloat64)(
    fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 value[], size_t n_values)
{
    if (n_values != n)
        return complain(c, fmi3Error, "as many values as references are needed");
    for (size_t k = 0; k < n; k++)
        if (!assign(&((Instance *)c)->robot, vr[k], value[k]))
            return complain(c, fmi3Error, "only inputs, parameters and states can be set, to numbers that the robot file takes; the method is 0 to 3");
    return fmi3OK;
}

#define NONE_OF(type) \
    FMI3_STATUS(fmi3Get##type)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type value[], size_t m) \
    { \
        (void)vr; (void)value; (void)m; \
        return n ? complain(c, fmi3Error, "all variables of this FMU are Float64") : fmi3OK; \
    } \
    FMI3_STATUS(fmi3Set##type)(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type value[], size_t m) \
    { \
        (void)vr; (void)value; (void)m; \
        return n ? complain(c, fmi3Error, "all variables of this FMU are Float64") : fmi3OK; \
    }
NONE_OF(Float32)
NONE_OF(Int8)
NONE_OF(UInt8)
NONE_OF(Int16)
NONE_OF(UInt16)
NONE_OF(Int32)
NONE_OF(UInt32)
NONE_OF(Int64)
NONE_OF(UInt64)
NONE_OF(Boolean)
NONE_OF(String)

/* a function that this FMU does not provide, with whatever arguments */
#define ABSENT(name, ...) FMI3_STATUS(name)(fmi3Instance c, __VA_ARGS__) { return absent(c); }
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define REFERENCES const fmi3ValueReference vr[], size_t n
ABSENT(fmi3GetBinary, REFERENCES, size_t sizes[], fmi3Binary value[], size_t m)
ABSENT(fmi3SetBinary, REFERENCES, const size_t sizes[], const fmi3Binary value[], size_t m)
ABSENT(fmi3GetClock, REFERENCES, fmi3Clock value[])
ABSENT(fmi3SetClock, REFERENCES, const fmi3Clock value[])
ABSENT(fmi3GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t *n)
ABSENT(fmi3GetVariableDependencies, fmi3ValueReference vr, size_t elements[], fmi3ValueReference independents[],
       size_t others[], fmi3DependencyKind kinds[], size_t n)
ABSENT(fmi3GetDirectionalDerivative, REFERENCES, const fmi3ValueReference known[], size_t n_known,
       const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
ABSENT(fmi3GetAdjointDerivative, REFERENCES, const fmi3ValueReference known[], size_t n_known,
       const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
ABSENT(fmi3GetIntervalDecimal, REFERENCES, fmi3Float64 interval[], fmi3IntervalQualifier qualifier[])
ABSENT(fmi3GetIntervalFraction, REFERENCES, fmi3UInt64 counter[], fmi3UInt64 unit[], fmi3IntervalQualifier qualifier[])
ABSENT(fmi3GetShiftDecimal, REFERENCES, fmi3Float64 shift[])
ABSENT(fmi3GetShiftFraction, REFERENCES, fmi3UInt64 counter[], fmi3UInt64 unit[])
ABSENT(fmi3SetIntervalDecimal, REFERENCES, const fmi3Float64 interval[])
ABSENT(fmi3SetIntervalFraction, REFERENCES, const fmi3UInt64 counter[], const fmi3UInt64 unit[])
ABSENT(fmi3SetShiftDecimal, REFERENCES, const fmi3Float64 shift[])
ABSENT(fmi3SetShiftFraction, REFERENCES, const fmi3UInt64 counter[], const fmi3UInt64 unit[])
ABSENT(fmi3GetOutputDerivatives, REFERENCES, const fmi3Int32 order[], fmi3Float64 value[], size_t m)
ABSENT(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)

/* The state of the FMU is a Robot -------------------------------------------------------------------------------------- */

FMI3_STATUS(fmi3GetFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state && !(*state = malloc(sizeof(Robot))))
        return complain(c, fmi3Error, "no memory is left");
    memcpy(*state, &((Instance *)c)->robot, sizeof(Robot));
    return fmi3OK;
}

FMI3_STATUS(fmi3SetFMUState)(fmi3Instance c, fmi3FMUState state)
{
    if (!state)
        return complain(c, fmi3Error, "there is no state to set");
    memcpy(&((Instance *)c)->robot, state, sizeof(Robot));
    return fmi3OK;
}

FMI3_STATUS(fmi3FreeFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

FMI3_STATUS(fmi3SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    (void)c; (void)state;
    *size = sizeof(Robot);
    return fmi3OK;
}

FMI3_STATUS(fmi3SerializeFMUState)(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (!state || size < sizeof(Robot))
        return complain(c, fmi3Error, "the state does not fit");
    memcpy(bytes, state, sizeof(Robot));
    return fmi3OK;
}

FMI3_STATUS(fmi3DeserializeFMUState)(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(Robot) || (!*state && !(*state = malloc(sizeof(Robot)))))
        return complain(c, fmi3Error, "the bytes are not a state of this FMU");
    memcpy(*state, bytes, sizeof(Robot));
    return fmi3OK;
}

/* Model exchange -------------------------------------------------------------------------------------------------------- */

FMI3_STATUS(fmi3UpdateDiscreteStates)(
    fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *values,
    fmi3Boolean *timed, fmi3Float64 *next)
{
    (void)c;
    *again = *terminate = *nominals = *values = *timed = false;
    *next = 0.0;
    return fmi3OK;
}

FMI3_STATUS(fmi3CompletedIntegratorStep)(fmi3Instance c, fmi3Boolean no_set, fmi3Boolean *event, fmi3Boolean *terminate)
{
    (void)c; (void)no_set;
    *event = *terminate = false;
    return fmi3OK;
}

FMI3_STATUS(fmi3SetTime)(fmi3Instance c, fmi3Float64 time)
{
    if (!is_finite(time))
        return complain(c, fmi3Error, "the time is not a finite number");
    ((Instance *)c)->robot.value[0] = time;
    return fmi3OK;
}

FMI3_STATUS(fmi3SetContinuousStates)(fmi3Instance c, const fmi3Float64 x[], size_t n)
{
    Robot *r = &((Instance *)c)->robot;
    if (n != N_STATES)
        return complain(c, fmi3Error, "wrong number of states");
    memcpy(r->value + AT_STATES, x, n * sizeof(double));
    r->known = STALE;
    r->told = ELSEWHERE;
    return fmi3OK;
}

FMI3_STATUS(fmi3GetContinuousStateDerivatives)(fmi3Instance c, fmi3Float64 derivatives[], size_t n)
{
    Robot *r = &((Instance *)c)->robot;
    if (n != N_STATES)
        return complain(c, fmi3Error, "wrong number of states");
    if (!accelerate(r))
        return open_loops(c, fmi3Discard);
    memcpy(derivatives, r->value + AT_DERIVATIVES, n * sizeof(double));
    return fmi3OK;
}

FMI3_STATUS(fmi3GetEventIndicators)(fmi3Instance c, fmi3Float64 indicators[], size_t n)
{
    (void)indicators;
    return n ? complain(c, fmi3Error, "there are no event indicators") : fmi3OK;
}

FMI3_STATUS(fmi3GetContinuousStates)(fmi3Instance c, fmi3Float64 x[], size_t n)
{
    if (n != N_STATES)
        return complain(c, fmi3Error, "wrong number of states");
    memcpy(x, ((Instance *)c)->robot.value + AT_STATES, n * sizeof(double));
    return fmi3OK;
}

FMI3_STATUS(fmi3GetNominalsOfContinuousStates)(fmi3Instance c, fmi3Float64 nominal[], size_t n)
{
    if (n != N_STATES)
        return complain(c, fmi3Error, "wrong number of states");
    memcpy(nominal, MODEL_NOMINAL, n * sizeof(double));
    return fmi3OK;
}

FMI3_STATUS(fmi3GetNumberOfEventIndicators)(fmi3Instance c, size_t *n) { (void)c; *n = 0; return fmi3OK; }
FMI3_STATUS(fmi3GetNumberOfContinuousStates)(fmi3Instance c, size_t *n) { (void)c; *n = N_STATES; return fmi3OK; }

/* Co-simulation ----------------------------------------------------------------------------------------------------------- */

FMI3_STATUS(fmi3DoStep)(
    fmi3Instance c, fmi3Float64 from, fmi3Float64 step, fmi3Boolean no_set, fmi3Boolean *event, fmi3Boolean *terminate,
    fmi3Boolean *early, fmi3Float64 *last)
{
    Instance *i = c;
    (void)no_set;
    *event = *terminate = *early = false;
    *last = from;
    if (!step_makes_sense(from, step))
        return complain(i, fmi3Error, "time and step must be finite, and the step not below zero");
    i->robot.value[0] = from;
    *last = from + step;
    if (integrate(&i->robot, step))
        return fmi3OK;
    *last = from;
    return complain(i, fmi3Error, "the step failed: the loops cannot close, the pose is singular, or the motion too fast");
}
