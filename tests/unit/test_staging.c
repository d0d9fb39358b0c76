/* Copies through page-locked buffers, with a device whose asynchronous copies do nothing until a wait: a buffer that is
   filled or emptied too early gives wrong bytes. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "gpu/staging.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/transfer.h"

#include <string.h>

enum { MAX = 5 * STAGING_CHUNK, QUEUE = 4 };

static struct device d = {.name = "deferred"};
static char *host, *there, *back;

/* A stream holds the copies that no wait has made yet. */
static struct queue {
    int n;
    struct {
        void *to;
        const void *from;
        int64_t bytes;
    } copy[QUEUE];
} queue[STAGING_BUFFERS];
static int nqueues, pinned, copies, fail_pin, fail_copy;

static void *pin(struct device *on, int64_t bytes, struct err *e)
{
    if (fail_pin && !--fail_pin) return (fail)(e, E_MEMORY, "no page-locked memory"), NULL;
    pinned++;
    return mem_new(bytes, 1, "a buffer", e);
}

static void unpin(struct device *on, void *p)
{
    pinned--;
    mem_free(p);
}

static void *stream(struct device *on, struct err *e)
{
    assert_in_range(nqueues, 0, STAGING_BUFFERS - 1);
    return &queue[nqueues++];
}

static void close_stream(struct device *on, void *s)
{
    assert_int_equal(((struct queue *)s)->n, 0);
    nqueues--;
}

static bool copy(struct device *on, void *s, void *to, const void *from, int64_t bytes, bool is_back, struct err *e)
{
    struct queue *q = s;
    copies++;
    if (fail_copy && !--fail_copy) return (fail)(e, E_DEVICE, "the copy fails");
    assert_in_range(q->n, 0, QUEUE - 1);
    q->copy[q->n].to = to;
    q->copy[q->n].from = from;
    q->copy[q->n++].bytes = bytes;
    return true;
}

static bool wait(struct device *on, void *s, struct err *e)
{
    struct queue *q = s;
    for (int i = 0; q && i < q->n; i++) memcpy(q->copy[i].to, q->copy[i].from, (size_t)q->copy[i].bytes);
    if (q) q->n = 0;
    return true;
}

static const struct transfer_ops deferred = {pin, unpin, stream, close_stream, copy, wait};

static int set_up(void **state)
{
    host = mem_new(MAX + 1, 1, "the original", NULL);
    there = mem_new(MAX + 1, 1, "the device", NULL);
    back = mem_new(MAX + 1, 1, "the copy", NULL);
    for (int64_t i = 0; i <= MAX; i++) host[i] = (char)(i * 2654435761U >> 24);
    return !host || !there || !back;
}

static int tear_down(void **state)
{
    mem_free(host);
    mem_free(there);
    mem_free(back);
    return 0;
}

TEST(test_all_sizes_arrive)
{
    struct staging s = {0};
    for (int chunks = 1; chunks <= 5; chunks++)
        for (int off = -1; off <= (chunks < 5); off++) {
            struct err e = {0};
            int64_t bytes = (int64_t)chunks * STAGING_CHUNK + off;
            memset(there, 1, MAX + 1);
            memset(back, 2, MAX + 1);
            if (!staging_takes(&s, &d, &deferred, bytes)) {
                assert_true(bytes < STAGED_FROM);
                continue;
            }
            assert_true(staging_copy(&s, &d, &deferred, there, host, bytes, false, &e));
            assert_memory_equal(there, host, (size_t)bytes);
            assert_int_equal(there[bytes], 1);
            assert_true(staging_takes(&s, &d, &deferred, bytes));
            assert_true(staging_copy(&s, &d, &deferred, back, there, bytes, true, &e));
            assert_memory_equal(back, host, (size_t)bytes);
            assert_int_equal(back[bytes], 2);
        }
    assert_int_equal(pinned, STAGING_BUFFERS);
    staging_free(&s, &d, &deferred);
    assert_int_equal(pinned, 0);
    assert_int_equal(nqueues, 0);
}

/* A copy is made directly while another thread uses the buffers, if it is small, and if the option is off. */
TEST(test_when_it_is_taken)
{
    struct staging s = {0};
    struct err e = {0};
    assert_false(staging_takes(&s, &d, &deferred, STAGED_FROM - 1));
    transfer_page_locked(false);
    assert_false(staging_takes(&s, &d, &deferred, MAX));
    assert_int_equal(pinned, 0);
    transfer_page_locked(true);
    assert_true(staging_takes(&s, &d, &deferred, MAX));
    assert_false(staging_takes(&s, &d, &deferred, MAX));
    assert_true(staging_copy(&s, &d, &deferred, there, host, MAX, false, &e));
    assert_true(staging_takes(&s, &d, &deferred, MAX));
    assert_true(staging_copy(&s, &d, &deferred, there, host, MAX, false, &e));
    staging_free(&s, &d, &deferred);
}

/* Without page-locked memory, copies are direct from then on. */
TEST(test_no_page_locked_memory)
{
    for (int n = 1; n <= STAGING_BUFFERS; n++) {
        struct staging s = {0};
        fail_pin = n;
        assert_false(staging_takes(&s, &d, &deferred, MAX));
        assert_int_equal(fail_pin, 0);
        assert_int_equal(pinned, 0);
        assert_false(staging_takes(&s, &d, &deferred, MAX));
        assert_int_equal(pinned, 0);
        staging_free(&s, &d, &deferred);
    }
}

/* Whichever copy fails, nothing is left in a stream, and the next copy works. */
TEST(test_failing_copies)
{
    struct staging s = {0};
    for (int to_host = 0; to_host < 2; to_host++)
        for (int n = 1; n <= 5; n++) {
            struct err e = {0};
            fail_copy = n;
            assert_true(staging_takes(&s, &d, &deferred, MAX));
            assert_false(staging_copy(&s, &d, &deferred, to_host ? back : there, host, MAX, to_host, &e));
            assert_int_equal(e.code, E_DEVICE);
            for (int i = 0; i < STAGING_BUFFERS; i++) assert_int_equal(queue[i].n, 0);
            memset(there, 0, MAX);
            assert_true(staging_takes(&s, &d, &deferred, MAX));
            assert_true(staging_copy(&s, &d, &deferred, there, host, MAX, false, &e));
            assert_memory_equal(there, host, MAX);
        }
    staging_free(&s, &d, &deferred);
}

static bool no(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return done < 2 * STAGING_CHUNK;
}

/* Ctrl-C ends a copy to the device, but not a copy of a result. */
TEST(test_cancelled)
{
    struct staging s = {0};
    struct err e = {0};
    struct watch w = {.tick = no};
    copies = 0;
    loop_check_all(true);
    struct watch *outer = loop_enter(&w);
    assert_true(staging_takes(&s, &d, &deferred, MAX));
    assert_false(staging_copy(&s, &d, &deferred, there, host, MAX, false, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_int_equal(copies, 2);
    loop_enter(&w);
    assert_true(staging_takes(&s, &d, &deferred, MAX));
    assert_true(staging_copy(&s, &d, &deferred, back, host, MAX, true, &e));
    loop_enter(outer);
    loop_check_all(false);
    staging_free(&s, &d, &deferred);
}

SUITE(.setup = set_up, .teardown = tear_down);
