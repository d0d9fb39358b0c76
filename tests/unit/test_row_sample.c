/* Kernels counted on a sample of the blocks, or of the rows if they take rows dynamically: the scaled counts are those
   of a complete count. A sample of rows has the rows, the values and the mean row length of the matrix. */
#include "base/err.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "matrix/extract.h"
#include "matrix/gen.h"
#include "microscope/model.h"
#include "microscope/row_sample.h"

#include <math.h>
#include <string.h>

static const double NEAR = 0.02, PART = 0.25;
static const double SMALL_PART = 0.005; /* of all sectors: what may be missing of each array besides */
enum { EVERY = 4 };                     /* one of four blocks */

struct shape {
    const char *generator;
    int64_t param[PARAMS_MAX];
};
static const struct shape shapes[] = {
    {"poisson2d", {250, 200}}, {"rmat", {15, 8}}, {"random", {30000, 10}}, {"random", {6000, 70}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct csr make(const struct shape *s)
{
    struct csr A = {0};
    struct err e = {0};
    int64_t param[PARAMS_MAX];
    memcpy(param, s->param, sizeof param);
    if (!generator_find(s->generator)->make(param, 1, NULL, &A, &e)) fail_msg("%s: %s", s->generator, e.text);
    return A;
}

static void holds(const char *kernel, const char *generator, const char *what, double sampled, double complete)
{
    if (fabs(sampled - complete) > NEAR * complete)
        fail_msg("%s on %s: %s %g on a sample, %g in all", kernel, generator, what, sampled, complete);
}

/* The counts of all accesses of one kind. */
static void compare(const char *generator, const struct counts *few, const struct counts *all)
{
    for (int kind = 0; kind <= ACCESS_TEXTURE; kind++) {
        struct tally x = counts_of(few, (enum access_kind)kind, -1, -1),
                     y = counts_of(all, (enum access_kind)kind, -1, -1);
        const char *k = all->scope.kernel->name;
        holds(k, generator, "requests", (double)x.requests, (double)y.requests);
        holds(k, generator, "lanes", (double)x.lanes, (double)y.lanes);
        holds(k, generator, "sectors", (double)x.sectors, (double)y.sectors);
        holds(k, generator, "bytes", (double)x.bytes, (double)y.bytes);
    }
    int last = all->scope.nlaunches - 1;
    assert_int_equal(few->scope.launch[last].blocks, all->scope.launch[last].blocks);
    holds(all->scope.kernel->name, generator, "steps", (double)few->launch[last].steps,
          (double)all->launch[last].steps);
}

static void check_kernel(const struct kernel *k, const struct csr *A, const char *generator)
{
    static struct counts few, all;
    struct stored S = {0};
    struct mat M = {0};
    struct err e = {0};
    struct row_sample r;
    bool ok = format_pack(A, k->format, NULL, P_F64, false, &S, &e) && mat_put(&M, &S, device_open("emu", &e), &e) &&
              count_kernel(k, &M, 0, NULL, NULL, &all, &e) && row_sample_take(&r, k, A, &M, PART, NULL, &e) &&
              count_kernel(k, &r.M, 0, NULL, NULL, &few, &e);
    if (!ok) fail_msg("%s on %s: %s", k->name, generator, e.text);
    row_sample_scale_counts(&r, &M, &few);
    compare(generator, &few, &all);
    assert_true(few.rows_seen < A->rows / 3);
    row_sample_free(&r);
    mat_free(&M);
    stored_free(&S);
}

TEST(test_counts)
{
    int seen = 0;
    for (int s = 0; s < SHAPES; s++) {
        struct csr A = make(&shapes[s]);
        for (int i = 0; kernels[i]; i++)
            if (row_sample_suits(kernels[i]) && !kernels[i]->host) {
                check_kernel(kernels[i], &A, shapes[s].generator);
                seen++;
            }
        csr_free(&A);
    }
    assert_true(seen > 0);
}

/* ---- samples of blocks ---- */

/* The number of the array in c, which numbers arrays in the order of their first use; -1: a < 0, all arrays. */
static int same_array(const struct counts *c, const struct counts *all, int a)
{
    int k = a < 0 ? -1 : 0;
    const struct scope_array *of = all->scope.array, *in = c->scope.array;
    while (k >= 0 && k < c->scope.narrays && (strcmp(in[k].name, of[a].name) || in[k].shared != of[a].shared)) k++;
    return k;
}

/* The sectors of each array, and of all arrays, by kind of access: those of a sample of the blocks are close to those
   of all blocks, or at most as far off as the error that `count` shows for all arrays. One array may be off by half as
   much more. */
static void compare_arrays(const char *generator, const struct counts *few, const struct counts *all)
{
    double near = fmax(NEAR, counts_error(few)), sectors = 0;
    for (int kind = 0; kind <= ACCESS_TEXTURE; kind++)
        sectors += (double)counts_of(all, (enum access_kind)kind, -1, -1).sectors;
    for (int kind = 0; kind <= ACCESS_TEXTURE; kind++)
        for (int a = -1; a < all->scope.narrays; a++) {
            double y = (double)counts_of(all, (enum access_kind)kind, a, -1).sectors;
            double x = (double)counts_of(few, (enum access_kind)kind, same_array(few, all, a), -1).sectors;
            if (fabs(x - y) > (a < 0 ? 1 : 1.5) * near * y + SMALL_PART * sectors)
                fail_msg("%s on %s: %g sectors of %s in a sample, %g in all; the error shown is %.2f %%",
                         all->scope.kernel->name, generator, x, a < 0 ? "all arrays" : all->scope.array[a].name, y,
                         100 * counts_error(few));
        }
}

static void check_blocks(const struct kernel *k, const struct csr *A, const char *generator)
{
    static struct counts few, all;
    struct stored S = {0};
    struct mat M = {0};
    struct err e = {0};
    if (!format_pack(A, k->format, k->param, P_F64, false, &S, &e)) return; /* too much padding */
    if (!mat_put(&M, &S, device_open("emu", &e), &e) || !count_kernel(k, &M, 0, NULL, NULL, &all, &e) ||
        !count_kernel(k, &M, -EVERY, NULL, NULL, &few, &e))
        fail_msg("%s on %s: %s", k->name, generator, e.text);
    compare_arrays(generator, &few, &all);
    mat_free(&M);
    stored_free(&S);
}

TEST(test_blocks)
{
    for (int s = 0; s < SHAPES; s++) {
        struct csr A = make(&shapes[s]);
        for (int i = 0; kernels[i]; i++)
            if (kernel_runs_on(kernels[i], device_open("emu", NULL)) && !kernels[i]->shares)
                check_blocks(kernels[i], &A, shapes[s].generator);
        csr_free(&A);
    }
}

/* ---- the rows ---- */

/* A row of the sample is a row of the matrix, and the rows are in order. */
TEST(test_rows)
{
    for (int s = 0; s < SHAPES; s++) {
        struct csr A = make(&shapes[s]), B;
        struct err e = {0};
        int64_t row = 0;
        assert_true(csr_sample_rows(&B, &A, A.rows / 4, NULL, &e));
        assert_true(csr_check(&B, &e));
        assert_int_equal(B.cols, A.cols);
        holds("csr_sample_rows", shapes[s].generator, "mean row length", (double)B.nnz / (double)B.rows,
              (double)A.nnz / (double)A.rows);
        for (int64_t i = 0; i < B.rows; i++, row++) {
            int64_t n = csr_row_length(&B, i);
            while (row < A.rows &&
                   (csr_row_length(&A, row) != n ||
                    memcmp(A.col + A.rowptr[row], B.col + B.rowptr[i], (size_t)n * sizeof *A.col) != 0 ||
                    memcmp(A.val + A.rowptr[row], B.val + B.rowptr[i], (size_t)n * sizeof *A.val) != 0))
                row++;
            assert_true(row < A.rows);
        }
        csr_free(&A);
        csr_free(&B);
    }
}

TEST(test_all_rows_of_a_small_matrix)
{
    struct csr A = make(&(struct shape){"poisson2d", {10, 10}}), B;
    struct err e = {0};
    assert_true(csr_sample_rows(&B, &A, 50, NULL, &e));
    assert_true(csr_equal(&A, &B));
    csr_free(&A);
    csr_free(&B);
}

/* Large matrices: `count` and `predict` state that they took a sample, and `all` does not. */
TEST(test_commands)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 1000 800 as A", "poisson2d");
    talk_says(&t, "count csr-light-vector", "ran on a sample of the rows");
    talk_says(&t, "predict csr-light-vector", "of the rows, where blocks take rows dynamically");
    talk_close(&t);
}

/* ---- by hand ---- */

/* A matrix of which only the numbers of rows and entries, and one row, matter. */
static struct csr with_longest(int64_t rows, int64_t entries, int longest)
{
    struct csr A;
    assert_true(csr_new(&A, rows, 100, entries, false, NULL));
    A.rowptr[0] = 0;
    A.rowptr[1] = longest;
    for (int64_t i = 2; i <= rows; i++) A.rowptr[i] = longest + (int)((entries - longest) * (i - 1) / (rows - 1));
    return A;
}

/* A sample of 4 of 20 rows with 10 of 70 entries, whose longest row has 4 of 12 entries, and which 3 of 6 blocks
   watched. The first launch sets the counter that hands out work; the second one multiplies. */
TEST(test_work_is_scaled_by_hand)
{
    enum { TIMES = 7, ROWS = 5, LONGER = 3, MORE_BLOCKS = 2 };
    struct row_sample r = {.A = with_longest(4, 10, 4), .times = TIMES};
    struct csr A = with_longest(20, 70, 12);
    struct counts *c = calloc(1, sizeof *c);
    struct workload *w = calloc(1, sizeof *w);
    assert_true(c && w);
    c->scope.nlaunches = w->n = 2;
    c->scope.narrays = c->scope.nsites = 2;
    c->scope.array[0] = (struct scope_array){.stored = -1, .role = ROLE_WORK, .n = 1, .size = 8};
    c->scope.array[1] = (struct scope_array){.stored = 0, .role = ROLE_VALUES, .n = 1000, .size = 8};
    c->scope.site[0] = (struct access_site){.kind = ACCESS_STORE, .array = 0, .launch = 0};
    c->scope.site[1] = (struct access_site){.kind = ACCESS_LOAD, .array = 1, .launch = 1};
    for (int l = 0; l < 2; l++) {
        c->scope.launch[l] = (struct scope_launch){.blocks = 6, .seen = 6};
        w->launch[l] = (struct work){.blocks = 3, .seen = 3, .steps = 10, .lines = 11, .l2_loads = 12, .atomics = 13};
        w->launch[l].hot = 14;
        w->launch[l].wait[WAIT_L2] = 15;
        w->launch[l].longest[WAIT_L2] = 16;
        w->launch[l].warp_steps = 17;
        w->launch[l].footprint = 20;
    }
    w->footprint = 1e6;
    w->flops = 20;
    row_sample_scale_work(&r, &A, c, w);
    const struct work *counter = &w->launch[0], *product = &w->launch[1];
    assert_true(counter->steps == 10 && counter->atomics == 13 && counter->longest[WAIT_L2] == 16);
    assert_true(product->steps == 10 * TIMES && product->lines == 11 * TIMES && product->l2_loads == 12 * TIMES);
    assert_true(product->atomics == 13 * ROWS && product->hot == 14 * ROWS); /* one atomic per share of the rows */
    assert_true(product->wait[WAIT_L2] == 15 * TIMES && product->longest[WAIT_L2] == 16 * LONGER);
    assert_float_equal(product->warp_steps, 17.0 * TIMES / MORE_BLOCKS, 1e-12);
    assert_true(product->blocks == 6 && product->footprint == 20 * TIMES);
    assert_true(w->footprint == 1000 * 8 + 32 + 8 + 32); /* not more than the arrays have, to whole sectors */
    assert_true(w->flops == 20 * TIMES && w->sampled);
    csr_free(&r.A);
    csr_free(&A);
    free(c);
    free(w);
}
