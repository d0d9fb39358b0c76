/* Common macros: the version, the number of elements of an array, and an attribute that makes the compiler check
   printf-like arguments. */
#ifndef BASE_H
#define BASE_H

#define WARPSPY_VERSION "0.1.0"
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

#endif
