/* Kinds of device: what a file dev_KIND gives the registry in device.c, and what a kind gives `ceilings`. */
#ifndef DEV_H
#define DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The launches that device_ceilings times, on vectors of doubles on the device. n, and the length of a vector that
   is read, are powers of two; lanes is the number of threads that share the work. */
struct ceiling_ops {
    void (*fill)(struct device *d, int64_t n, double value, double *x);
    /* Every element of x[0..n-1], n * passes reads in all; what a thread adds up goes to its sums[0..lanes-1]. */
    void (*read)(struct device *d, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums);
    void (*copy)(struct device *d, int64_t n, const double *x, double *y);
    /* `count` reads from all over x[0..n-1], in an order that no cache foresees. */
    void (*gather)(struct device *d, int64_t n, int64_t count, const double *x, int64_t lanes, double *sums);
    void (*empty)(struct device *d); /* one launch that does nothing */
};

extern const struct ceiling_ops host_ceilings, emu_kernel_ceilings, cuda_kernel_ceilings; /* k_ceilings.cu */

/* A kind is an entry `maker_ID` at the end of its file and a line in the table of device.c. */
struct device_maker {
    const char *name; /* what its devices are called; numbered kinds add ":N" */
    enum device_kind kind;
    bool numbered;
    bool (*likely)(void);                                 /* one is probably here: cheap, for the default */
    int (*count)(struct err *e);                          /* how many there are; e says why there are none */
    bool (*make)(struct device *d, int n, struct err *e); /* fill d, name apart, touching no hardware yet */
    bool (*start)(struct device *d, struct err *e);       /* first use: complete `about`; again: nothing */
    int64_t (*cache)(const struct device *d);             /* bytes of the last-level cache; NULL without ceilings */
    const struct ceiling_ops *ceilings;                   /* NULL: its time means nothing */
};
extern const struct device_maker maker_cpu, maker_emu, maker_cuda;

/* dev_host.c: what the devices that are the host itself share, cpu and emu. */
extern const struct device_ops host_ops;
bool host_likely(void);
int host_count(struct err *e);
bool host_start(struct device *d, struct err *e);

/* vendor.cu: what the libraries hold of d is gone with a reset. */
void vendor_forget(const struct device *d);

/* The kind of d. */
const struct device_maker *device_maker_of(const struct device *d);

#ifdef __cplusplus
}
#endif
#endif
