/* A simulated L2 for the elements of x. Only one set in SETS_APART is simulated, for a range of rows in the middle of
   the matrix, whose first third fills the cache before misses are counted. */
#include "reuse.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "machine/microscope.h"
#include "matrix/csr.h"

#include <math.h>

enum { WAYS = 16, SETS_APART = 64, ENTRIES_MAX = 24 * 1000 * 1000 };

/* The sets that are simulated. */
struct sets {
    int64_t n;
    uint64_t *tag; /* WAYS for each set, the most recently used first; a sector + 1, or 0 */
    double misses;
};

/* Spreads sectors over sets, so that neighbours are in different ones. */
static uint64_t mixed(uint64_t sector)
{
    sector *= 0x9E3779B97F4A7C15u;
    return sector ^ sector >> 32;
}

/* Use the sector, which is in this set. */
static void use(struct sets *s, uint64_t *set, uint64_t sector)
{
    int k = 0;
    while (k < WAYS - 1 && set[k] != sector + 1) k++;
    s->misses += set[k] != sector + 1;
    for (; k > 0; k--) set[k] = set[k - 1];
    set[0] = sector + 1;
}

/* The entries of rows from .. to-1 in order. */
static bool use_rows(struct sets *s, const struct csr *A, int64_t size, int64_t from, int64_t to, struct err *e)
{
    struct loop l = loop_of("", to - from);
    for (int64_t i = from; i < to && loop_goes(&l, i - from); i++)
        for (int64_t k = csr_start(A, i), end = csr_start(A, i + 1); k < end; k++) {
            uint64_t sector = (uint64_t)A->col[k] * (uint64_t)size / SECTOR, at = mixed(sector);
            if (at % SETS_APART == 0) use(s, &s->tag[at / SETS_APART % (uint64_t)s->n * WAYS], sector);
        }
    return loop_end(&l, e);
}

static bool simulate(struct reuse *r, const struct csr *A, double all, struct err *e)
{
    int64_t n = A->nnz < ENTRIES_MAX ? A->nnz : ENTRIES_MAX, begin = (A->nnz - n) / 2;
    int64_t from = csr_row_from(A, 0, A->rows, begin), counted = csr_row_from(A, from, A->rows, begin + n / 3);
    int64_t to = csr_row_from(A, counted, A->rows, begin + n);
    struct sets s = {.n = (int64_t)fmax(1, r->sectors / WAYS / SETS_APART)};
    s.tag = mem_zero(s.n * WAYS, sizeof *s.tag, "a simulated cache", e);
    bool ok = s.tag && use_rows(&s, A, r->size, from, counted, e);
    s.misses = 0;
    ok = ok && use_rows(&s, A, r->size, counted, to, e);
    mem_free(s.tag);
    double entries = (double)(csr_start(A, to) - csr_start(A, counted));
    if (ok && entries > 0) r->again = fmax(0, SETS_APART * s.misses * (double)A->nnz / entries - all);
    return ok;
}

bool reuse_find(struct reuse *r, const struct csr *A, int64_t size, double sectors, struct err *e)
{
    double all = ceil((double)A->cols * (double)size / SECTOR);
    if (r->size == size && r->sectors == sectors) return true;
    *r = (struct reuse){.size = size, .sectors = sectors};
    bool ok = all <= sectors || simulate(r, A, all, e);
    if (!ok) *r = (struct reuse){0};
    return ok;
}
