/* The C of robots needs nothing of <stdlib.h> but the null pointer. */
#include <stddef.h>
