/* What requests cost, by hand from the rules of the hardware, and counts of a sample that are scaled to all blocks. */
#include "base/base.h"
#include "formats/format.h"
#include "kits/stored_kit.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"

#include <math.h>

/* ---- bank conflicts ---- */

/* Lane l accesses element l * stride of an array in shared memory. A warp accesses 128 bytes at a time: elements of 8
   bytes by halves of the warp, elements of 16 bytes by quarters. Of each such part, the words of 4 bytes that lie in
   one bank, word number modulo 32, are accessed one after another; equal words count once. */
static const struct strided {
    int size, stride;
    uint32_t mask;
    int wavefronts, least;
} strides[] = {
    {4, 0, ~0u, 1, 1},         {4, 1, ~0u, 1, 1},          {4, 2, ~0u, 2, 1},         {4, 32, ~0u, 32, 1},
    {4, 33, ~0u, 1, 1},        {4, 32, 0x0000000f, 4, 1},  {1, 1, ~0u, 1, 1},         {2, 2, ~0u, 1, 1},
    {8, 0, ~0u, 2, 2},         {8, 1, ~0u, 2, 2},          {8, 2, ~0u, 4, 2},         {8, 16, ~0u, 32, 2},
    {8, 17, ~0u, 2, 2},        {8, 16, 0x0000ffff, 16, 1}, /* one half is active */
    {8, 16, 0x00030003, 4, 2}, {16, 0, ~0u, 4, 4},         {16, 1, ~0u, 4, 4},        {16, 2, ~0u, 8, 4},
    {16, 8, ~0u, 32, 4},       {16, 9, ~0u, 4, 4},         {16, 8, 0xff000000, 8, 1}, /* one quarter is active */
    {16, 8, 0x01010103, 5, 4},
};

TEST(bank_conflicts_by_hand)
{
    struct scope *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->narrays = s->nsites = 1;
    s->site[0] = (struct access_site){.kind = ACCESS_SHARED_LOAD, .elements = 1};
    for (int i = 0; i < COUNT(strides); i++) {
        const struct strided *p = &strides[i];
        struct request r = {.mask = p->mask};
        struct request_facts f;
        s->array[0] = (struct scope_array){.stored = -1, .shared = true, .n = 4096, .size = p->size};
        for (int l = 0; l < LANES; l++) r.at[l] = (p->mask >> l & 1) ? (int64_t)l * p->stride : 0;
        facts_of(s, &r, &f);
        if (f.wavefronts != p->wavefronts || f.wavefronts_least != p->least)
            fail_msg("%d bytes, stride %d, lanes %08x: %d wavefronts, at least %d; expected %d, at least %d", p->size,
                     p->stride, p->mask, f.wavefronts, f.wavefronts_least, p->wavefronts, p->least);
    }
    free(s);
}

/* ---- samples ---- */

TEST(scaled_counts_are_rounded_to_the_nearest)
{
    struct tally sum = {.requests = 100}, t = {.requests = 3, .lanes = 3, .sectors = 1, .bytes = 1, .padding = 7};
    tally_add(&sum, &t, 2.5);
    assert_int_equal(sum.requests, 108); /* 100 + 7.5 */
    assert_int_equal(sum.lanes, 8);      /* 7.5 */
    assert_int_equal(sum.sectors, 3);    /* 2.5 */
    tally_add(&sum, &t, 1.1);
    assert_int_equal(sum.bytes, 3 + 1);    /* 2.5, 1.1 */
    assert_int_equal(sum.padding, 18 + 8); /* 17.5, 7.7 */
}

/* n of N blocks, with the sectors s[i]: the sum is estimated as N mean(s), with the variance N^2 (1 - n/N) var(s) / n.
 */
TEST(the_error_of_a_sample_by_hand)
{
    struct counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->scope.nlaunches = 2;
    c->scope.launch[0] = (struct scope_launch){.blocks = 10, .seen = 4};
    c->launch[0].sectors_sum = 1 + 2 + 3 + 4;
    c->launch[0].sectors_sum2 = 1 + 4 + 9 + 16;
    /* mean 2.5, variance 5/3: the sum is 25, and its variance 100 * 0.6 * (5/3) / 4 = 25 */
    assert_float_equal(counts_error(c), 1.96 * 5 / 25, 1e-12);
    c->scope.launch[1] = (struct scope_launch){.blocks = 3, .seen = 3}; /* known exactly */
    c->launch[1].sectors_sum = 75;
    c->launch[1].sectors_sum2 = 75 * 25;
    assert_float_equal(counts_error(c), 1.96 * 5 / 100, 1e-12);
    free(c);
}

enum { BLOCK = 128 }; /* rows of a block of csr-scalar */

/* A matrix in csr on the emulator. */
struct subject {
    struct csr A;
    struct stored S;
    struct mat M;
};

/* `each` entries per row. In half of the blocks, chosen at random, they lie `apart` columns apart, elsewhere side by
   side. */
static void subject_new(struct subject *s, int64_t blocks, int each, int apart)
{
    struct err e = {0};
    int64_t rows = blocks * BLOCK;
    uint32_t random = 1;
    assert_true(csr_new(&s->A, rows, rows + each * apart, rows * each, false, &e));
    s->A.rowptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (i % BLOCK == 0) random = random * 1664525 + 1013904223;
        for (int k = 0; k < each; k++) {
            s->A.col[i * each + k] = (int)(i + k * (random >> 31 ? apart : 1));
            s->A.val[i * each + k] = 1;
        }
        s->A.rowptr[i + 1] = (int)(i + 1) * each;
    }
    assert_true(format_pack(&s->A, format_find("csr"), NULL, P_F64, false, &s->S, &e));
    assert_true(mat_put(&s->M, &s->S, device_open("emu", &e), &e));
}

static void subject_free(struct subject *s)
{
    mat_free(&s->M);
    stored_free(&s->S);
    csr_free(&s->A);
}

static void count(const struct subject *s, int64_t sample, const struct scope_sink *sink, struct counts *c)
{
    struct err e = {0};
    if (!count_kernel(kernel_find("csr-scalar"), &s->M, sample, sink, NULL, c, &e)) fail_msg("%s", e.text);
}

/* If all blocks do the same, a sample of any size tells the counts of all blocks exactly. */
TEST(a_sample_of_equal_blocks_is_exact)
{
    static const int64_t samples[] = {3, 7, 10, 13, 19, 25, 31, 40, 53};
    struct subject s;
    struct counts *all = calloc(2, sizeof *all), *some = all + 1;
    assert_non_null(all);
    subject_new(&s, 77, 1, 1);
    count(&s, 0, NULL, all);
    for (int i = 0; i < COUNT(samples); i++) {
        count(&s, samples[i], NULL, some);
        assert_true(some->scope.launch[0].seen < some->scope.launch[0].blocks);
        for (int kind = ACCESS_LOAD; kind <= ACCESS_STORE; kind++) {
            struct tally a = counts_of(all, (enum access_kind)kind, -1, 0),
                         b = counts_of(some, (enum access_kind)kind, -1, 0);
            if (a.requests != b.requests || a.lanes != b.lanes || a.sectors != b.sectors || a.bytes != b.bytes)
                fail_msg("%s, %lld blocks: %lld requests, %lld lanes, %lld sectors instead of %lld, %lld, %lld",
                         access_names[kind], (long long)samples[i], (long long)b.requests, (long long)b.lanes,
                         (long long)b.sectors, (long long)a.requests, (long long)a.lanes, (long long)a.sectors);
        }
    }
    free(all);
    subject_free(&s);
}

/* The sectors of each watched block. */
struct by_block {
    int n;
    int64_t block[512];
    double sectors[512];
};

static void add_sectors(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                        const struct request_facts *f)
{
    struct by_block *b = user;
    if (!accesses_global(s->site[r->site].kind)) return;
    if (!b->n || b->block[b->n - 1] != block) {
        assert_true(b->n < COUNT(b->block));
        b->block[b->n] = block;
        b->sectors[b->n++] = 0;
    }
    b->sectors[b->n - 1] += f->nsectors;
}

static void end_block(void *user, const struct scope *s, int launch, int64_t block) {}

/* All blocks have as many entries, so that the choice by entries is a random one, whose error the formula tells. The
   program finds the variance from the differences of neighbours instead: with 100 blocks, within a few tenths. */
TEST(the_error_of_a_random_sample)
{
    struct subject s;
    struct by_block b = {0};
    struct scope_sink sink = {add_sectors, end_block, &b};
    struct counts *c = calloc(1, sizeof *c);
    assert_non_null(c);
    subject_new(&s, 300, 4, 50);
    count(&s, 100, &sink, c);
    double N = 300, n = (double)c->scope.launch[0].seen, sum = 0, squares = 0;
    assert_int_equal(b.n, c->scope.launch[0].seen);
    for (int i = 0; i < b.n; i++) sum += b.sectors[i], squares += b.sectors[i] * b.sectors[i];
    double variance = (squares - sum * sum / n) / (n - 1);
    double error = 1.96 * sqrt(N * N * (1 - n / N) * variance / n) / (N * sum / n);
    if (!(fabs(counts_error(c) - error) < 0.2 * error)) fail_msg("error %g, expected %g", counts_error(c), error);
    free(c);
    subject_free(&s);
}

/* ---- budgets of accesses ---- */

/* Of each slot, its column and element of x, and of each row, its pointer and its element of y; padding counts. */
TEST(least_accesses_count_slots)
{
    struct csr A = ragged(4, (int[]){2, 2, 3, 2});
    struct stored csr = packed(&A, "csr", NULL), ell = packed(&A, "ell", NULL);
    assert_true(least_accesses(&csr) == 3 * 9 + 2 * 4);
    assert_true(least_accesses(&ell) == 3 * (4 * 3) + 2 * 4);
    stored_free(&csr);
    stored_free(&ell);
    csr_free(&A);
}

/* Four entries per row, but `n` in three rows, which are in different blocks. */
static void with_long_rows(struct subject *s, int n)
{
    struct err e = {0};
    assert_true(csr_new(&s->A, n, n, 4 * (n - 3) + 3 * n, false, &e));
    s->A.rowptr[0] = 0;
    for (int i = 0; i < n; i++) {
        int entries = i == n / 7 || i == n / 2 || i == n - 300 ? n : 4, first = entries == n ? 0
                                                                                : i < n - 4  ? i
                                                                                             : n - 4;
        for (int k = 0; k < entries; k++) {
            s->A.col[s->A.rowptr[i] + k] = first + k;
            s->A.val[s->A.rowptr[i] + k] = 1;
        }
        s->A.rowptr[i + 1] = s->A.rowptr[i] + entries;
    }
    assert_true(format_pack(&s->A, format_find("csr"), NULL, P_F64, false, &s->S, &e));
    assert_true(mat_put(&s->M, &s->S, device_open("emu", &e), &e));
}

static void assert_near(const char *what, double found, double expected)
{
    if (fabs(found - expected) > 0.08 * expected) fail_msg("%.0f %s, expected about %.0f", found, what, expected);
}

/* The blocks of long rows are left early, and count as if they had run to their end, nearly: at first, the lanes of the
   short rows take part in their requests. */
TEST(blocks_that_are_left_count_as_whole)
{
    enum { ROWS = 20000, ACCESSES = 60000 };
    struct subject s;
    struct err e = {0};
    struct counts *all = calloc(2, sizeof *all), *some = all + 1;
    assert_non_null(all);
    with_long_rows(&s, ROWS);
    count(&s, 0, NULL, all);
    if (!count_within(kernel_find("csr-scalar"), &s.M, ACCESSES, NULL, NULL, some, &e)) fail_msg("%s", e.text);
    assert_int_equal(some->launch[0].left, 3);
    assert_true(some->accesses < all->accesses / 2);
    assert_near("accesses", counts_accesses(some), counts_accesses(all));
    struct tally a = counts_of(all, ACCESS_LOAD, -1, 0), b = counts_of(some, ACCESS_LOAD, -1, 0);
    assert_near("requests", (double)b.requests, (double)a.requests);
    assert_near("lanes", (double)b.lanes, (double)a.lanes);
    assert_near("bytes", (double)b.bytes, (double)a.bytes);
    double scale = (double)some->scope.launch[0].blocks / (double)some->scope.launch[0].seen;
    assert_near("steps", (double)some->launch[0].steps * scale, (double)all->launch[0].steps);
    free(all);
    subject_free(&s);
}
