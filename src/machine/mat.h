/* A stored matrix on a device. Implemented by gpu/mat.c and gpu/kernels/kernels.c. */
#ifndef MAT_H
#define MAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "device.h"
#include "formats/stored.h"

C_BEGIN

struct err;
struct kernel;
struct pieces;

/* Memory that a kernel keeps on a device in addition to a stored matrix, such as counters and tile starts. The memory
   is allocated at the kernel's first launch. */
struct scratch {
    const struct kernel *kernel;
    void *p;
    uint64_t note; /* a value the kernel keeps with this memory, such as a texture handle or a block size */
    double us;     /* time that the preparation of this memory took */
    struct scratch *next;
};

/* A stored matrix on a device: the device copies of its arrays. */
struct mat {
    const struct stored *of; /* not owned; must outlive this struct */
    struct device *dev;
    void *ptr[ARRAYS_MAX]; /* array k on the device; mat_free releases it unless it is lent */
    bool lent[ARRAYS_MAX]; /* array k is the array of the stored matrix, not a copy */
    struct copied copied;  /* the bytes and the time of the copies by mat_put; 0 if the device works in host memory */
    struct scratch **scratch; /* head of a list that launches append to; mat_free releases it */
    int units;                /* multiprocessors that watched launches see; 0: SCOPE_UNITS (microscope.h) */
    struct pieces *pieces;    /* the parts of the members of `dev`, if it has members; then ptr[] is empty (split.h) */
};
/* Copy S to d; fails with E_MEMORY if S does not fit in the device's memory. mat_free releases the arrays and all
   scratch memory. */
bool mat_put(struct mat *M, const struct stored *S, struct device *d, struct err *e);
/* The same for a device that works in host memory, without copies: launches read the arrays of S. */
bool mat_borrow(struct mat *M, const struct stored *S, struct device *d, struct err *e);
void mat_free(struct mat *M);
/* Release only the scratch memory, for matrices whose arrays have a different owner. */
void scratch_free(struct mat *M);
/* Free the scratch memory of kernel k in M; the next launch prepares k again. For launches of which only some blocks
   ran: counters that blocks share may then have any value. */
void scratch_drop(const struct mat *M, const struct kernel *k);

C_END
#endif
