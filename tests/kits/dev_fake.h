/* A device for tests: the cpu or the emulator behind a byte budget, with calls that fail when told to. */
#ifndef DEV_FAKE_H
#define DEV_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/device.h"

struct err;

enum fake_call { FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC, FAKE_TIME, FAKE_CALLS };
enum { FAKE_BLOCKS = 512 };

struct fake {
    struct device dev; /* registered under its name until devices_close */
    struct device *base;
    int64_t budget, used;        /* bytes */
    int64_t fail_in[FAKE_CALLS]; /* the nth call from now fails; 0 = none does */
    int64_t corrupt_in;          /* the nth get from now brings wrong numbers */
    bool sticky;                 /* a failing call loses the device, until a reset */
    bool refuse_reset;
    int resets;
    int nblocks; /* allocations alive */
    struct {
        void *p;
        int64_t bytes;
    } block[FAKE_BLOCKS];
};

/* Open `base` and register f in front of it. */
bool fake_open(struct fake *f, const char *name, const char *base, int64_t budget, struct err *e);

#endif
