/* Kinds of devices: what a file dev_KIND provides to the registry in device.c, and to the measurements in ceilings.c.
 */
#ifndef DEV_H
#define DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "machine/device.h"
#include "machine/mat.h"

C_BEGIN

/* The launches whose time device_ceilings measures; they work on vectors of doubles on the device. n is a power of two,
   and `lanes` is the number of threads that share the work. */
struct ceiling_ops {
    void (*fill)(struct device *d, int64_t n, double value, double *x);
    /* Read every element of x[0..n-1] `passes` times; thread i writes its sum to sums[i], 0 <= i < lanes. */
    void (*read)(struct device *d, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums);
    void (*copy)(struct device *d, int64_t n, const double *x, double *y);
    /* Read `count` elements scattered over x[0..n-1], in an order that no prefetcher can predict. */
    void (*gather)(struct device *d, int64_t n, int64_t count, const double *x, int64_t lanes, double *sums);
    void (*empty)(struct device *d); /* one launch that does nothing */
    /* Each thread block reads x[0..n-1], which fits into an L1 cache, `passes` times. Sets *bytes to the bytes read by
       all blocks. NULL: the device has no L1 caches of this kind. */
    void (*reread)(struct device *d, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums,
                   double *bytes);
    /* Each thread multiplies and adds in registers, in fp64 or fp32. Sets *flops to the operations of all threads. NULL
       if `reread` is NULL. */
    void (*multiply_add)(struct device *d, bool fp32, int64_t lanes, double *sums, double *flops);
};

extern const struct ceiling_ops host_ceilings, emu_kernel_ceilings, cuda_kernel_ceilings; /* k_ceilings.cu */

/* A kind is an entry `maker_ID` at the end of its file and a line in the table of device.c. */
struct device_maker {
    const char *name; /* the name of the devices of this kind; numbered kinds append ":N" */
    enum device_kind kind;
    bool numbered;
    bool (*likely)(void);        /* whether a device is probably present; a cheap test, to choose the default device */
    int (*count)(struct err *e); /* number of devices; if 0, e gives the reason */
    bool (*make)(struct device *d, int n, struct err *e); /* fill d, except the name, without using the hardware */
    bool (*start)(struct device *d, struct err *e); /* called at each device_open; the first call completes `about` */
    int64_t (*cache)(const struct device *d);       /* bytes of the last-level cache; NULL without ceilings */
    const struct ceiling_ops *ceilings;             /* NULL: times on these devices are not meaningful */
};
extern const struct device_maker maker_cpu, maker_emu, maker_cuda;

/* In dev_host.c: functions for cpu and emu, the devices that run on the host. */
extern const struct device_ops host_ops;
bool host_likely(void);
int host_count(struct err *e);
bool host_start(struct device *d, struct err *e);

/* In kernels/kernels.c: the share of A's arrays that can stay in the cache of a GPU from one product to the next: 1 for
   a small matrix, 0 for a matrix of more than `most_times` the size that can stay. */
double share_staying(const struct mat *A, int most_times);

/* In cuda/cusparse_library.cu: discard the libraries' handles for d before a reset. */
void vendor_forget(const struct device *d);

/* In multi/dev_multi.c: does a name list several devices? Open the device that has them as members; the caller closes
   it. */
bool multi_is_name(const char *name);
struct device *multi_make(const char *name, struct err *e);
/* A reset has released the memory of d on this member. */
void multi_member_was_reset(struct device *d, const struct device *member);

/* The kind of d; NULL for a device with members. */
const struct device_maker *device_maker_of(const struct device *d);

C_END
#endif
