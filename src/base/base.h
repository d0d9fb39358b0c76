/* Common macros: the version, the number of elements of an array, an attribute that makes the compiler check
   printf-like arguments, and the declarations between C_BEGIN and C_END as those of C functions in C++. */
#ifndef BASE_H
#define BASE_H

#define WARPSPY_VERSION "0.1.0"
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

#ifdef __cplusplus
#define C_BEGIN extern "C" {
#define C_END }
#else
#define C_BEGIN
#define C_END
#endif

#endif
