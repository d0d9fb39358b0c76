/* Devices as the host sees them: memory, launches, ceilings, the registry. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device;
struct err;
struct watch;

enum device_kind { DEV_CPU, DEV_EMU, DEV_CUDA };

/* Measured once per device by device_ceilings; 0 = not measured. */
struct ceilings {
    bool measured;
    double read_gbs, copy_gbs; /* streaming, far above the cache */
    double cache_gbs;          /* reading what fits the last-level cache */
    double gather_gps;         /* 10^9 random 8-byte gathers a second from a vector beyond the cache */
    double launch_us;          /* one empty launch */
};

struct device_ops {
    /* Device memory, 256-byte aligned. Copies are complete on return. */
    void *(*alloc)(struct device *d, int64_t bytes, const char *what, struct err *e);
    void (*free)(struct device *d, void *p);
    bool (*put)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    bool (*get)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    /* Wait for all launches; reports what went wrong in them (a CUDA error, an emulator finding). */
    bool (*sync)(struct device *d, struct err *e);
    /* us[0..reps-1] = time of each go(ctx), by device events where there are some. */
    bool (*time)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                 struct err *e);
    /* bytes of memory free now and in all */
    bool (*memory)(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e);
    bool (*reset)(struct device *d, struct err *e); /* after loss; all device memory is gone */
    /* Memory of the host, all zeros, that launches write to, at *on_device for them. What a launch wrote is there for
       the host once a later one of the same stream has written. */
    void *(*share)(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e);
    void (*unshare)(struct device *d, void *host);
    bool (*idle)(struct device *d); /* are all launches done? does not wait. NULL: each is done when it returns */
    /* The launches of go(ctx) as a graph, instead of running them: replay runs them all for less than they cost one by
       one. NULL: this device has no graphs. capture gives NULL where it did not work, with no harm done. */
    void *(*capture)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx);
    bool (*replay)(struct device *d, void *graph, struct err *e);
    void (*forget)(struct device *d, void *graph);
    void (*close)(struct device *d);
};

struct device {
    char name[16];   /* cpu, emu, cuda:0 */
    char about[160]; /* model, multiprocessors or threads, memory, driver */
    enum device_kind kind;
    const struct device_ops *ops;
    int units; /* multiprocessors, or threads */
    bool lost; /* a sticky error happened; reset or go on with another */
    struct ceilings ceilings;
    void *impl;
    void *stream; /* cudaStream_t, or NULL */
};

/* The device called `name` ("cpu", "emu", "cuda:N", "cuda" = cuda:0), opened at first use; NULL and an error
   that lists what exists. Devices live until devices_close. */
struct device *device_open(const char *name, struct err *e);
struct device *device_default(void);     /* cuda:0 if there is one, else cpu; cheap until first use */
int device_count(enum device_kind kind); /* without initialising CUDA more than needed */
void devices_close(void);
bool device_ceilings(struct device *d, struct watch *w, struct err *e);
/* Tests: register a device under its name (dev_fake.c). */
bool device_register(struct device *d);

#ifdef __cplusplus
}
#endif
#endif
