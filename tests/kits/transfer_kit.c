/* Copies on the host that imitate copies to a GPU. */
#include "transfer_kit.h"
#include "base/err.h"
#include "base/mem.h"

#include <string.h>

struct transfer_kit transfer_kit;

void transfer_kit_reset(void)
{
    transfer_kit = (struct transfer_kit){0};
}

static bool passes(const char *what, struct err *e)
{
    if (!transfer_kit.fail_in || --transfer_kit.fail_in) return true;
    return fail(e, E_DEVICE, "%s fails, as the test requested", what);
}

static void *pin(struct device *d, int64_t bytes, struct err *e)
{
    void *p = passes("pin", e) ? mem_new(bytes, 1, "page-locked memory", e) : NULL;
    transfer_kit.pins += p != NULL;
    return p;
}

static void unpin(struct device *d, void *p)
{
    transfer_kit.pins--;
    mem_free(p);
}

/* A stream is a pointer to its count of copies. */
static void *stream(struct device *d, struct err *e)
{
    return passes("stream", e) ? &transfer_kit.used[transfer_kit.streams++] : NULL;
}

static void close_stream(struct device *d, void *s)
{
    transfer_kit.streams--;
}

static bool copy(struct device *d, void *s, void *to, const void *from, int64_t bytes, bool back, struct err *e)
{
    if (!passes("copy", e)) return false;
    memcpy(to, from, (size_t)bytes);
    if (transfer_kit.corrupt_in && !--transfer_kit.corrupt_in) ((char *)to)[bytes / 2] ^= 1;
    transfer_kit.copies++;
    transfer_kit.bytes += bytes;
    ++*(int64_t *)s;
    return true;
}

static bool wait(struct device *d, void *s, struct err *e)
{
    transfer_kit.waits++;
    return passes("wait", e);
}

const struct transfer_ops host_transfer = {
    .pin = pin,
    .unpin = unpin,
    .stream = stream,
    .close = close_stream,
    .copy = copy,
    .wait = wait,
};
