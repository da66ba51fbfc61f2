/* Types of FMI 2.0 (https://fmi-standard.org), as far as this FMU needs them.
 *
 * Functions have no prefix, as in a shared library; to link FMUs statically, compile with
 * -DFMI2_FUNCTION_PREFIX=IDENTIFIER_ where IDENTIFIER is the modelIdentifier.
 */
#include <stddef.h>

typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef char fmi2Char, fmi2Byte;
typedef const fmi2Char *fmi2String;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#define FMI2_JOIN(a, b) a##b
#define FMI2_JOINED(a, b) FMI2_JOIN(a, b)
#ifdef FMI2_FUNCTION_PREFIX
#define FMI2_NAME(name) FMI2_JOINED(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI2_NAME(name) name
#endif

#if defined _WIN32 || defined __CYGWIN__
#define FMI2_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define FMI2_EXPORT __attribute__((visibility("default")))
#else
#define FMI2_EXPORT
#endif
#define FMI2_STATUS(name) FMI2_EXPORT fmi2Status FMI2_NAME(name)
