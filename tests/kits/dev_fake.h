/* A device for tests: the cpu or the emulator with a limited number of bytes, and calls that fail on demand. */
#ifndef DEV_FAKE_H
#define DEV_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/device.h"

struct err;

enum fake_call { FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC, FAKE_TIME, FAKE_CALLS };
enum { FAKE_BLOCKS = 512 };

struct fake {
    struct device dev; /* the device is registered under dev.name until devices_close */
    struct device *base;
    int64_t budget, used;        /* in bytes */
    int64_t most;                /* the peak of `used` */
    int64_t fail_in[FAKE_CALLS]; /* the nth call from now fails; 0: no call fails */
    int64_t corrupt_in;          /* the nth copy to the host from now returns wrong values */
    double launch_us;            /* the time that each launch seems to take; 0: the measured time */
    int64_t launches;            /* launches that were timed */
    bool sticky;                 /* after a failing call, the device is lost until a reset */
    bool refuse_reset;
    int resets;
    int nblocks; /* live allocations */
    struct {
        void *p;
        int64_t bytes;
    } block[FAKE_BLOCKS];
};

/* Open `base` and register f, which passes calls on to it. */
bool fake_open(struct fake *f, const char *name, const char *base, int64_t budget, struct err *e);

#endif
