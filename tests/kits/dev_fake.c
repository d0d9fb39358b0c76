/* A device that fails on demand: each call is counted, then passed on to the underlying device. */
#include "dev_fake.h"
#include "base/err.h"

#include <stdio.h>
#include <string.h>

static struct fake *fake_of(struct device *d)
{
    return d->impl;
}

/* Does this call succeed? */
static bool passes(struct device *d, enum fake_call call, struct err *e)
{
    static const char *const name[] = {"alloc", "put", "get", "sync", "time"};
    struct fake *f = fake_of(d);
    if (d->lost) return fail(e, E_DEVICE, "%s is lost", d->name);
    if (!f->fail_in[call] || --f->fail_in[call]) return true;
    d->lost = f->sticky;
    return fail(e, E_DEVICE, "%s: %s fails, as the test requested", d->name, name[call]);
}

static void *fake_alloc(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    struct fake *f = fake_of(d);
    if (!passes(d, FAKE_ALLOC, e)) return NULL;
    if (bytes > f->budget - f->used || f->nblocks == FAKE_BLOCKS) {
        fail(e, E_MEMORY, "%s: out of memory: %s needs %lld B", d->name, what, (long long)bytes);
        return NULL;
    }
    void *p = f->base->ops->alloc(f->base, bytes, what, e);
    if (!p) return NULL;
    f->used += bytes;
    if (f->used > f->most) f->most = f->used;
    f->block[f->nblocks].p = p;
    f->block[f->nblocks++].bytes = bytes;
    return p;
}

/* An unknown block is not freed: a reset has already released it. */
static void fake_free(struct device *d, void *p)
{
    struct fake *f = fake_of(d);
    for (int i = 0; i < f->nblocks; i++) {
        if (f->block[i].p != p) continue;
        f->base->ops->free(f->base, p);
        f->used -= f->block[i].bytes;
        f->block[i] = f->block[--f->nblocks];
        return;
    }
}

/* The fake device copies at 1 GB/s, whatever time the call took. */
static void count_copy(struct copied *total, int64_t bytes)
{
    total->bytes += bytes;
    total->us += (double)bytes / 1000;
}

static bool fake_put(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    struct device *base = fake_of(d)->base;
    if (!passes(d, FAKE_PUT, e) || !base->ops->put(base, to, from, bytes, e)) return false;
    count_copy(&d->put, bytes);
    return true;
}

static bool fake_get(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    struct fake *f = fake_of(d);
    if (!passes(d, FAKE_GET, e) || !f->base->ops->get(f->base, to, from, bytes, e)) return false;
    count_copy(&d->got, bytes);
    if (f->corrupt_in && !--f->corrupt_in && bytes >= 8) memcpy(to, &(double){1e30}, 8);
    return true;
}

static bool fake_sync(struct device *d, struct err *e)
{
    struct device *base = fake_of(d)->base;
    return passes(d, FAKE_SYNC, e) && base->ops->sync(base, e);
}

static bool fake_time(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                      struct err *e)
{
    struct fake *f = fake_of(d);
    if (!passes(d, FAKE_TIME, e) || !f->base->ops->time(f->base, go, ctx, reps, us, e)) return false;
    for (int i = 0; f->launch_us > 0 && i < reps; i++) us[i] = f->launch_us;
    f->launches += reps;
    return true;
}

static bool fake_memory(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e)
{
    struct fake *f = fake_of(d);
    if (d->lost) return fail(e, E_DEVICE, "%s is lost", d->name);
    *free_bytes = f->budget - f->used;
    *total = f->budget;
    return true;
}

static void drop_all(struct fake *f)
{
    while (f->nblocks) fake_free(&f->dev, f->block[0].p);
}

static bool fake_reset(struct device *d, struct err *e)
{
    struct fake *f = fake_of(d);
    f->resets++;
    if (f->refuse_reset) return fail(e, E_DEVICE, "%s: the driver refuses a reset", d->name);
    drop_all(f);
    d->lost = false;
    return true;
}

static void *fake_share(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e)
{
    void *p = *on_device = fake_alloc(d, bytes, what, e);
    return p ? memset(p, 0, (size_t)bytes) : NULL;
}

static void fake_close(struct device *d)
{
    drop_all(fake_of(d));
}

static const struct device_ops fake_ops = {
    .alloc = fake_alloc,
    .free = fake_free,
    .put = fake_put,
    .get = fake_get,
    .sync = fake_sync,
    .time = fake_time,
    .memory = fake_memory,
    .reset = fake_reset,
    .share = fake_share,
    .unshare = fake_free,
    .close = fake_close,
};

bool fake_open(struct fake *f, const char *name, const char *base, int64_t budget, struct err *e)
{
    *f = (struct fake){.base = device_open(base, e), .budget = budget};
    if (!f->base) return false;
    f->dev = (struct device){.kind = f->base->kind, .ops = &fake_ops, .units = f->base->units, .impl = f};
    snprintf(f->dev.name, sizeof f->dev.name, "%s", name);
    snprintf(f->dev.about, sizeof f->dev.about, "a device for tests");
    return device_register(&f->dev) || fail(e, E_DEVICE, "a device called %s is registered already", name);
}
