/* The robot as a system of second order in its free coordinates: loops closed, rates, accelerations.
 *
 * Coordinates of the tree are given (prescribed by a motion), free (integrated) or dependent (they follow from the
 * loops). Spherical joints are free or dependent as a whole; their displacements are rotation vectors.
 */
#ifdef __GNUC__
#define SUPPLE_THREAD __thread
#else
#define SUPPLE_THREAD _Thread_local
#endif
#ifdef SUPPLE_EXPORT /* chosen by whoever includes this */
#elif defined(_WIN32)
#define SUPPLE_EXPORT __declspec(dllexport)
#else
#define SUPPLE_EXPORT __attribute__((visibility("default")))
#endif
/* A thread's own room, asked for once a call: compilers look for what is thread-local again and again, in loops too */
#define SUPPLE_ROOM(type, name) \
    SUPPLE_APART type *name(void) \
    { \
        static SUPPLE_THREAD type room; \
        return &room; \
    }
#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

#define N_UNKNOWN (STAGES ? AT_LEAST_ONE(N_FREE) : 1) /* of Newton's method, if there are integrators */

/* What sensors read of a state (q, v, a, gravity), as numbered operations; 0: no memory. See tape.c */
typedef int (*Sense)(const void *tape, const double *const *in, const long long *step, double *out, long long first,
                     long long count);
