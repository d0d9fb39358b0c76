/* The levels of multigrid, made in the memory of a device from a matrix that is there. */
#ifndef AMG_DEVICE_H
#define AMG_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "amg.h"
#include "amg_factor.h"
#include "base/array.h"

struct device;
struct err;

enum { AMG_CHUNKS = 24 };
/* Memory on a device, handed out piece by piece: one large allocation takes less time than many small ones. */
struct amg_memory {
    struct device *dev;
    void *chunk[AMG_CHUNKS];
    int64_t size[AMG_CHUNKS], bytes; /* bytes: of all chunks */
    int n;
    int64_t used; /* bytes of the last chunk */
};

/* As struct amg_level, in the memory of the device. The factors are A, P and R with their kernels. */
struct amg_device_level {
    struct amg_csr A, P, R;
    struct amg_factor on_A, on_P, on_R;
    void *dinv;
    double bound;
};

struct amg_device {
    enum type real;
    int n;
    double sign;
    struct amg_device_level level[AMG_LEVELS];
    double *inverse; /* as in struct amg; on the host */
    int64_t dropped;
    struct amg_memory kept, work;
};

/* Can the levels be made on this device? */
bool amg_device_has(const struct device *d, enum type real);
/* Make the hierarchy of A, a symmetric matrix in CSR in the memory of d that outlives it. *made receives false if a row
   has more entries than the kernels take; the host must then make the hierarchy. */
bool amg_device_make(struct amg_device *g, struct device *d, const struct amg_factor *A, bool *made, struct err *e);
void amg_device_free(struct amg_device *g);

#endif
