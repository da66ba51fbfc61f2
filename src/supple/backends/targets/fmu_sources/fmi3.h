/* Types of FMI 3.0 (https://fmi-standard.org), as far as this FMU needs them.
 *
 * Functions have no prefix, as in a shared library; to link FMUs statically, compile with
 * -DFMI3_FUNCTION_PREFIX=IDENTIFIER_ where IDENTIFIER is the modelIdentifier.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#define FMI3_JOIN(a, b) a##b
#define FMI3_JOINED(a, b) FMI3_JOIN(a, b)
#ifdef FMI3_FUNCTION_PREFIX
#define FMI3_NAME(name) FMI3_JOINED(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI3_NAME(name) name
#endif

#if defined _WIN32 || defined __CYGWIN__
#define FMI3_EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define FMI3_EXPORT __attribute__((visibility("default")))
#else
#define FMI3_EXPORT
#endif
#define FMI3_STATUS(name) FMI3_EXPORT fmi3Status FMI3_NAME(name)
