/* A stored matrix on a device. */
#ifndef MAT_H
#define MAT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;
struct err;
struct kernel;

/* What kernels keep on a device beside a stored matrix, made at their first launch: counters, tile starts. */
struct scratch {
    const struct kernel *kernel;
    void *p;
    uint64_t note; /* a number to go with it: the handle of a texture, the size of a block */
    double us;     /* it took to make */
    struct scratch *next;
};

/* A stored matrix on a device. */
struct mat {
    const struct stored *of;
    struct device *dev;
    void *ptr[ARRAYS_MAX];
    struct scratch **scratch; /* the head of a list that launches add to */
};
bool mat_put(struct mat *M, const struct stored *S, struct device *d, struct err *e);
void mat_free(struct mat *M);
/* For mat_free. */
void scratch_free(struct mat *M);

#ifdef __cplusplus
}
#endif
#endif
