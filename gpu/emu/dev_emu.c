/* The device `emu`: runs the GPU kernels on the host, in host memory. The sync of `emu` reports the faults that the
   emulator found. */
#include <stdio.h>

#include "emu.h"
#include "gpu/dev.h"

#include <stdlib.h>

static bool sync_emu(struct device *d, struct err *e)
{
    return emu_sync(e);
}

/* Measures the time of each call of `go` on the host. The time of an emulation says nothing about a GPU. */
static bool time_emu(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                     struct err *e)
{
    return host_ops.time(d, go, ctx, reps, us, e) && emu_sync(e);
}

static void close_emu(struct device *d)
{
    emu_vectors_free();
    emu_close();
}

static bool make(struct device *d, int n, struct err *e)
{
    static struct device_ops ops;
    ops = host_ops;
    ops.sync = sync_emu;
    ops.time = time_emu;
    ops.close = close_emu;
    if (getenv("WARPSPY_RACES")) emu_races(true); /* set by tests, to check every launch for races */
    d->ops = &ops;
    d->units = 1;
    snprintf(d->about, sizeof d->about,
             "SIMT emulator: the GPU's kernels, lane by lane; checks every access, models no time");
    return true;
}

const struct device_maker maker_emu = {
    .name = "emu",
    .kind = DEV_EMU,
    .likely = host_likely,
    .count = host_count,
    .make = make,
    .start = host_start,
};
