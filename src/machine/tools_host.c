/* Sorting and prefix sums by loops of the host, by all threads: what the emulator's kernels use where a GPU has a
   library. */
#include "base/mem.h"
#include "tools.h"

#include <omp.h>
#include <string.h>

enum { KEYS_A_THREAD = 1 << 15, RADIX_BITS = 8, RADIX = 1 << RADIX_BITS };

/* Threads that n keys keep busy. */
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

/* ---- a stable radix sort, digit by digit from the lowest; each thread a stretch ---- */

struct radix {
    int64_t n;
    int threads;
    int64_t *count; /* of each thread, a digit at a time */
};

static int digit(uint64_t key, int shift)
{
    return (int)(key >> shift & (RADIX - 1));
}

static void radix_places(const struct radix *r)
{
    int64_t sum = 0;
    for (int d = 0; d < RADIX; d++)
        for (int k = 0; k < r->threads; k++) {
            int64_t count = r->count[k * RADIX + d];
            r->count[k * RADIX + d] = sum;
            sum += count;
        }
}

static void radix_pass(const struct radix *r, int shift, const uint64_t *key, const double *with, uint64_t *key_to,
                       double *with_to)
{
    memset(r->count, 0, (size_t)r->threads * RADIX * sizeof *r->count);
#pragma omp parallel for schedule(static, 1) num_threads(r->threads)
    for (int k = 0; k < r->threads; k++)
        for (int64_t i = r->n * k / r->threads, end = r->n * (k + 1) / r->threads; i < end; i++)
            r->count[k * RADIX + digit(key[i], shift)]++;
    radix_places(r);
#pragma omp parallel for schedule(static, 1) num_threads(r->threads)
    for (int k = 0; k < r->threads; k++)
        for (int64_t i = r->n * k / r->threads, end = r->n * (k + 1) / r->threads; i < end; i++) {
            int64_t to = r->count[k * RADIX + digit(key[i], shift)]++;
            key_to[to] = key[i];
            with_to[to] = with[i];
        }
}

static bool sort(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e)
{
    struct radix r = {.n = p->n, .threads = threads_for(p->n)};
    (void)d, (void)temp, (void)temp_bytes;
    r.count = mem_new((int64_t)r.threads * RADIX, sizeof *r.count, "digit counts", e);
    if (!r.count) return false;
    for (int shift = from; shift < bits; shift += RADIX_BITS, *k = !*k)
        radix_pass(&r, shift, p->key[*k], p->with[*k], p->key[!*k], p->with[!*k]);
    mem_free(r.count);
    return true;
}

static bool exclusive_scan(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e)
{
    int64_t sum = 0;
    (void)d, (void)temp, (void)temp_bytes, (void)e;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = i < n - 1 ? at[i] : 0; /* the last is nobody's */
        at[i] = sum;
        sum += count;
    }
    return true;
}

static int64_t no_bytes(struct device *d, int64_t sorted, int64_t added, struct err *e)
{
    (void)d, (void)sorted, (void)added, (void)e;
    return 0;
}

const struct tools host_tools = {
    .bytes = no_bytes,
    .sort = sort,
    .exclusive_scan = exclusive_scan,
};
