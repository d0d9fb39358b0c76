/* Copies through page-locked buffers. The host and the device work on different buffers at the same time:

       to the device     host    fill 0   fill 1   fill 0   fill 1
                         device           copy 0   copy 1   copy 0   copy 1          */
#include "staging.h"
#include "base/loop.h"
#include "base/mem.h"
#include "machine/transfer.h"

#include <omp.h>
#include <string.h>

enum {
    THREADS_MAX = 8,     /* more threads do not fill a buffer faster */
    SHARE = 1 << 18,     /* bytes that a thread copies at a time */
    ROOM_FOR_OTHERS = 16 /* page-locked memory is taken only if this many times as much memory is available */
};

static bool page_locked = true;

void transfer_page_locked(bool on)
{
    page_locked = on;
}

/* ---- the buffers ---- */

void staging_free(struct staging *s, struct device *d, const struct transfer_ops *ops)
{
    for (int i = 0; i < STAGING_BUFFERS; i++) {
        if (s->stream[i]) ops->close(d, s->stream[i]);
        if (s->buffer[i]) ops->unpin(d, s->buffer[i]);
    }
    *s = (struct staging){0};
}

static bool has_buffers(struct staging *s, struct device *d, const struct transfer_ops *ops)
{
    if (s->stream[STAGING_BUFFERS - 1]) return true;
    if (s->refused) return false;
    bool ok = mem_available() > (int64_t)ROOM_FOR_OTHERS * STAGING_BUFFERS * STAGING_CHUNK;
    for (int i = 0; i < STAGING_BUFFERS && ok; i++) {
        s->buffer[i] = ops->pin(d, STAGING_CHUNK, NULL);
        s->stream[i] = s->buffer[i] ? ops->stream(d, NULL) : NULL;
        ok = s->stream[i] != NULL;
    }
    if (ok) return true;
    staging_free(s, d, ops);
    s->refused = true;
    return false;
}

static void leave(struct staging *s)
{
    __atomic_store_n(&s->busy, false, __ATOMIC_RELEASE);
}

bool staging_takes(struct staging *s, struct device *d, const struct transfer_ops *ops, int64_t bytes)
{
    if (!page_locked || bytes < STAGED_FROM || __atomic_exchange_n(&s->busy, true, __ATOMIC_ACQUIRE)) return false;
    if (has_buffers(s, d, ops)) return true;
    leave(s);
    return false;
}

/* ---- the copies ---- */

static void copy_by_threads(void *to, const void *from, int64_t bytes)
{
    int threads = omp_get_max_threads() < THREADS_MAX ? omp_get_max_threads() : THREADS_MAX;
#pragma omp parallel for num_threads(threads) if (bytes > SHARE)
    for (int64_t at = 0; at < bytes; at += SHARE)
        memcpy((char *)to + at, (const char *)from + at, (size_t)(bytes - at < SHARE ? bytes - at : SHARE));
}

static int64_t length_of(int64_t at, int64_t bytes)
{
    return bytes - at < STAGING_CHUNK ? bytes - at : STAGING_CHUNK;
}

/* The device may still copy from a buffer: wait before the host fills the buffer again. */
static bool put_all(struct staging *s, struct device *d, const struct transfer_ops *ops, char *to, const char *from,
                    int64_t bytes, struct err *e)
{
    struct loop l = loop_of("copying", bytes);
    int i = 0;
    for (int64_t at = 0; at < bytes && loop_check(&l, at); at += STAGING_CHUNK, i = (i + 1) % STAGING_BUFFERS) {
        int64_t n = length_of(at, bytes);
        if (!ops->wait(d, s->stream[i], e)) return false;
        copy_by_threads(s->buffer[i], from + at, n);
        if (!ops->copy(d, s->stream[i], to + at, s->buffer[i], n, false, e)) return false;
    }
    return loop_end(&l, e);
}

/* Queue the copy of the next chunk before the host empties the buffer of the previous chunk. */
static bool get_all(struct staging *s, struct device *d, const struct transfer_ops *ops, char *to, const char *from,
                    int64_t bytes, struct err *e)
{
    int i = 0;
    if (!ops->copy(d, s->stream[0], s->buffer[0], from, length_of(0, bytes), true, e)) return false;
    for (int64_t at = 0, next = STAGING_CHUNK; at < bytes; at = next, next += STAGING_CHUNK) {
        int other = (i + 1) % STAGING_BUFFERS;
        if (next < bytes &&
            !ops->copy(d, s->stream[other], s->buffer[other], from + next, length_of(next, bytes), true, e))
            return false;
        if (!ops->wait(d, s->stream[i], e)) return false;
        copy_by_threads(to + at, s->buffer[i], length_of(at, bytes));
        i = other;
    }
    return true;
}

bool staging_copy(struct staging *s, struct device *d, const struct transfer_ops *ops, void *to, const void *from,
                  int64_t bytes, bool back, struct err *e)
{
    bool ok = ops->wait(d, NULL, e); /* earlier launches may use the memory on the device */
    ok = ok && (back ? get_all : put_all)(s, d, ops, to, from, bytes, e);
    for (int i = 0; i < STAGING_BUFFERS; i++) ok &= ops->wait(d, s->stream[i], ok ? e : NULL);
    leave(s);
    return ok;
}
