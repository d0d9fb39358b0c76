/* Devices from the host's point of view: memory, launches, measured bandwidths, the registry. Implemented by
   gpu/device.c, gpu/dev_host.c, gpu/emu/ and gpu/cuda/. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct device;
struct err;
struct seat;
struct watch;

/* DEV_RANKS: processes of another program (src/ranks); such a device is not in the registry, and has no ops. */
enum device_kind { DEV_CPU, DEV_EMU, DEV_CUDA, DEV_RANKS };

/* Measured once per device by device_ceilings; 0 = not measured. */
struct ceilings {
    bool measured;
    double read_gbs, copy_gbs; /* streaming over vectors far larger than the cache */
    double cache_gbs;          /* reading a vector that fits in the last-level cache */
    int64_t cache_bytes;       /* size of the last-level cache */
    double gather_gps;         /* random 8-byte gathers from a vector larger than the cache, in 10^9 per second */
    double gather_cache_gps;   /* the same from a vector that fits in the cache */
    double launch_us;          /* time of one empty launch */
    /* GPUs only; 0 on the host */
    double l1_gbs;      /* reading a few kB again and again from the L1 caches of all multiprocessors */
    double fp64_gflops; /* additions and multiplications in registers; one fused operation counts as two */
    double fp32_gflops;
};

/* The cost of an exchange between member 0 of a device and another member; of several other members, the slowest.
   Measured by device_links (split.h). */
struct link_ceilings {
    bool measured;
    bool one_gpu;           /* members are the same GPU, so this is its own memory, not a link */
    double copy_us;         /* a copy of 8 bytes between two members, after the copy before it */
    double mb_gbs, far_gbs; /* copies of 1 MiB and of 256 MiB, one way */
    double flag_us;         /* a flag there and back, set by launches in each other's memory; NaN: no such access */
};

/* The parts of a GPU, by its specification; zeros: not known. */
struct gpu_facts {
    int capability;      /* 10 * major + minor of the compute capability */
    double clock_ghz;    /* of the multiprocessors, boosted */
    int threads, blocks; /* that a multiprocessor holds at the same time */
    int registers;       /* of a multiprocessor, of 32 bits each */
    double shared_kb;    /* shared memory of a multiprocessor that blocks can use */
    double l1_kb;        /* L1 cache and shared memory of a multiprocessor together */
    double l2_mb;
    int l2_copies;     /* 2: each half of the L2 cache keeps a copy of data that the multiprocessors of both read */
    double memory_gbs; /* bandwidth of the memory */
    double fp64_gflops, fp32_gflops; /* without tensor cores */
};

/* Bytes copied between the host and the memory of a device, and the time that the copies took. */
struct copied {
    int64_t bytes;
    double us;
};

enum { DEVICE_ALIGN = 256 };                        /* bytes */
static inline int64_t device_rounded(int64_t bytes) /* up to a multiple of DEVICE_ALIGN */
{
    return (bytes + DEVICE_ALIGN - 1) / DEVICE_ALIGN * DEVICE_ALIGN;
}

struct device_ops {
    /* Device memory, aligned to DEVICE_ALIGN. Copies are complete on return. */
    void *(*alloc)(struct device *d, int64_t bytes, const char *what, struct err *e);
    bool plain; /* alloc returns a block of mem_new, which the host may read and keep; free accepts any such block */
    void (*free)(struct device *d, void *p);
    bool (*put)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    bool (*get)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    /* Wait for all launches. Fails if a launch failed (a CUDA error, or an error that the emulator found). */
    bool (*sync)(struct device *d, struct err *e);
    /* us[0..reps-1] = the time of each call go(ctx), measured with device events if the device has events. */
    bool (*time)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                 struct err *e);
    /* memory in bytes: free now, and in total */
    bool (*memory)(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e);
    bool (*reset)(struct device *d, struct err *e); /* restart a lost device; the contents of its memory are lost */
    /* Zeroed host memory that launches can write to at the address *on_device. Once a later launch in the same stream
       has written to this memory, the host sees everything that earlier launches wrote to it. */
    void *(*share)(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e);
    void (*unshare)(struct device *d, void *host);
    /* are all launches done? Does not wait. NULL: every launch finishes before it returns */
    bool (*idle)(struct device *d);
    /* Record the launches of go(ctx) as a graph instead of running them; replay runs all of them faster than separate
       launches. NULL: this device has no graphs. If the launches cannot be recorded, capture returns NULL, and nothing
       has run. */
    void *(*capture)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx);
    bool (*replay)(struct device *d, void *graph, struct err *e);
    void (*forget)(struct device *d, void *graph);
    void (*close)(struct device *d);
    /* ---- for devices that are members of another device; NULL where the host's memory and clock serve ---- */
    bool (*select)(struct device *d, struct err *e); /* launches of this thread go to d from now on */
    /* may launches on d access the memory of `other`? */
    bool (*reach)(struct device *d, struct device *other);
    /* Copy from the memory of `other` after all launches that are queued on it. Later launches on both devices wait for
       the copy. Returns at once. */
    bool (*carry)(struct device *d, void *to, struct device *other, const void *from, int64_t bytes, struct err *e);
    /* Between branch and trunk, launches go to a branch: it begins after the launches that are queued already, and runs
       beside those that follow `trunk`, until `join` makes later launches wait for it. NULL: no branches. */
    bool (*branch)(struct device *d, struct err *e);
    bool (*trunk)(struct device *d, struct err *e);
    bool (*join)(struct device *d, struct err *e);
    /* Keep d busy for `us`, while the host queues later launches. */
    bool (*hold)(struct device *d, double us, struct err *e);
    /* Record moment i (below MARKS) of the launches, and the time between two such moments, after a sync. */
    bool (*mark)(struct device *d, int i, struct err *e);
    double (*between)(struct device *d, int from, int to);
};
enum { MARKS = 64 };

/* Host memory that launches can write to, for sums of thread blocks that the host adds. All solves on a device share
   it, because the host reads the sums before the next launch. */
struct block_sums {
    double *host;
    void *on_device; /* the same memory, as launches address it */
    int64_t room;    /* number of doubles */
    int users;
};

struct device {
    char name[64];   /* cpu, emu, cuda:0, cuda:0+1, emu*3 */
    char about[160]; /* model, multiprocessors or threads, memory, driver */
    enum device_kind kind;
    const struct device_ops *ops;
    int number; /* N of cuda:N; 0 for kinds without numbers */
    int units;  /* multiprocessors, or threads */
    bool lost;  /* a sticky error has occurred: reset the device or use another device */
    struct gpu_facts facts;
    struct ceilings ceilings;
    struct link_ceilings link; /* between its members */
    struct block_sums sums;
    struct copied put, got; /* all copies to and from the device; 0 if the device works in host memory */
    void *impl;
    void *stream; /* cudaStream_t, or NULL */
    /* the devices that share the rows of each matrix on this device; none: an ordinary device (see split.h) */
    struct device **member;
    int members;
    struct seat *seat; /* its place in an operation of the device of which it is a member (gpu/member_place.h) */
};

/* The device called `name` ("cpu", "emu", "cuda:N", "cuda" = cuda:0), opened at first use. Returns NULL if there is no
   such device; the error lists the available devices. Devices live until devices_close. */
struct device *device_open(const char *name, struct err *e);
static inline int multiprocessors_of(const struct device *d) /* 0: d is no GPU */
{
    return d->kind == DEV_CUDA ? d->units : 0;
}
/* Does the text look like the name of a device, with or without a number? The function does not open the device;
   device_open reports why a device cannot be used. */
bool device_is_name(const char *text);
struct device *device_default(void);     /* cuda:0 if there is a GPU, else cpu; does not start CUDA */
int device_count(enum device_kind kind); /* starts only the part of CUDA that counts devices */
void devices_close(void);
bool device_ceilings(struct device *d, struct watch *w, struct err *e);
/* Make room for n doubles in d->sums, which stay allocated until device_sums_give has been called as often as
   device_sums_take has succeeded. device_sums_grow makes more room for a user of d->sums. */
bool device_sums_take(struct device *d, int64_t n, struct err *e);
bool device_sums_grow(struct device *d, int64_t n, struct err *e);
void device_sums_give(struct device *d);
/* The bytes and the time of the copies since a total of the device was `before`. */
struct copied copied_since(const struct copied *total, const struct copied *before);
/* GB/s; NaN if nothing was copied */
double copied_gbs(const struct copied *c);
/* For tests: register a device under its name (dev_fake.c). */
bool device_register(struct device *d);

C_END
#endif
