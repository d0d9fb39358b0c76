/* The levels of multigrid, made in the memory of a device from a matrix that is there. */
#ifndef AMG_DEVICE_H
#define AMG_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "amg.h"
#include "base/array.h"
#include "machine/amg_setup_ops.h"

struct device;
struct err;
struct mat;

enum { AMG_CHUNKS = 24 };
/* Memory on a device, handed out piece by piece: one large allocation takes less time than many small ones. */
struct amg_memory {
    struct device *dev;
    void *chunk[AMG_CHUNKS];
    int64_t size[AMG_CHUNKS], bytes; /* bytes: of all chunks */
    int n;
    int64_t used; /* bytes of the last chunk */
};

/* As struct amg_level, in the memory of the device, with the values of the set-up; those of P and R are valid only
   while the next level is made. The cycle uses on_A, on_P, on_R and on_dinv, whose values may have another type. */
struct amg_device_level {
    struct amg_csr A, P, R;
    struct amg_csr on_A, on_P, on_R;
    void *dinv, *on_dinv;
    double bound; /* of a matrix that is inverted: any */
};

struct amg_device {
    enum type real;  /* of the set-up */
    enum type cycle; /* of what the cycle uses: the same, or T_F32 */
    int n;
    double sign;
    struct amg_device_level level[AMG_LEVELS];
    struct amg_csr inverse, on_inverse; /* as in struct amg; rows 0: none */
    struct amg_memory kept, work;
};

/* Can the levels be made on this device? */
bool amg_device_has(const struct device *d, enum type real);
/* Make the hierarchy of A, a symmetric matrix in CSR in the memory of d that outlives it, with factors whose values
   have the type `cycle`; they have the type of A if that is needed for their range. *made receives false if the host
   must make the hierarchy: a row has more entries than the kernels take, or the host must
   report what is wrong with A. */
bool amg_device_make(struct amg_device *g, struct device *d, const struct mat *A, enum type cycle, bool *made,
                     struct err *e);
void amg_device_free(struct amg_device *g);

#endif
