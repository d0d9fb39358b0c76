/* Sorting and prefix sums by loops on the host, on all threads. The emulator uses these loops in place of a GPU
   library. */
#include "base/loop.h"
#include "base/mem.h"
#include "tools.h"

#include <omp.h>
#include <string.h>

enum { KEYS_A_THREAD = 1 << 15, RADIX_BITS = 8, RADIX = 1 << RADIX_BITS };

/* The number of threads that n keys can keep busy. */
static int threads_for(int64_t n)
{
    int most = omp_get_max_threads();
    return n / KEYS_A_THREAD + 1 < most ? (int)(n / KEYS_A_THREAD) + 1 : most;
}

int bits_of(int64_t n)
{
    int bits = 1;
    while ((n - 1) >> bits > 0) bits++;
    return bits;
}

/* ---- a stable radix sort, digit by digit from the least significant; each thread sorts a contiguous range of keys
   ---- */

struct radix {
    int64_t n;
    int threads;
    int64_t *count; /* [threads][RADIX] keys per value of the current digit */
};

static int digit(uint64_t key, int shift)
{
    return (int)(key >> shift & (RADIX - 1));
}

static void counts_to_places(const struct radix *r)
{
    int64_t sum = 0;
    for (int d = 0; d < RADIX; d++)
        for (int k = 0; k < r->threads; k++) {
            int64_t count = r->count[k * RADIX + d];
            r->count[k * RADIX + d] = sum;
            sum += count;
        }
}

static void radix_pass(const struct radix *r, int shift, const uint64_t *key, const double *payload, uint64_t *key_to,
                       double *payload_to)
{
    struct loop l = loop_of("sorting", r->n);
    memset(r->count, 0, (size_t)r->threads * RADIX * sizeof *r->count);
#pragma omp parallel for schedule(static, 1) num_threads(r->threads)
    for (int k = 0; k < r->threads; k++)
        for (int64_t i = r->n * k / r->threads, end = r->n * (k + 1) / r->threads; i < end && loop_goes(&l, i); i++)
            r->count[k * RADIX + digit(key[i], shift)]++;
    counts_to_places(r);
#pragma omp parallel for schedule(static, 1) num_threads(r->threads)
    for (int k = 0; k < r->threads; k++)
        for (int64_t i = r->n * k / r->threads, end = r->n * (k + 1) / r->threads; i < end && loop_goes(&l, i); i++) {
            int64_t to = r->count[k * RADIX + digit(key[i], shift)]++;
            key_to[to] = key[i];
            payload_to[to] = payload[i];
        }
}

static bool sort(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e)
{
    struct radix r = {.n = p->n, .threads = threads_for(p->n)};
    r.count = mem_new((int64_t)r.threads * RADIX, sizeof *r.count, "digit counts", e);
    if (!r.count) return false;
    for (int shift = from; shift < bits; shift += RADIX_BITS, *k = !*k)
        radix_pass(&r, shift, p->key[*k], p->payload[*k], p->key[!*k], p->payload[!*k]);
    mem_free(r.count);
    return loop_tick("sorting", p->n, p->n, e);
}

static bool exclusive_scan(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e)
{
    uint64_t sum = 0; /* after a cancelled launch the counts are arbitrary, and the sum may wrap around */
    struct loop l = loop_of("prefix sums", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        int64_t count = i < n - 1 ? at[i] : 0; /* at[n - 1] is not a count (see tools.h) */
        at[i] = (int64_t)sum;
        sum += (uint64_t)count;
    }
    return loop_end(&l, e);
}

static int64_t no_bytes(struct device *d, int64_t sorted, int64_t added, struct err *e)
{
    return 0;
}

const struct tools host_tools = {
    .bytes = no_bytes,
    .sort = sort,
    .exclusive_scan = exclusive_scan,
};
