/* Predictions that are kept with a matrix, and lower bounds in place of those of slow kernels. */
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/base.h"
#include "base/mem.h"
#include "base/precision.h"
#include "files/load_info.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "microscope/gpu_profile.h"
#include "microscope/modeled.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

enum { WANTED = 3 };

static struct talk t;

static int open_talk(void **state)
{
    talk_open(&t, OUT_TEXT);
    return 0;
}

static int close_talk(void **state)
{
    talk_close(&t);
    return 0;
}

static struct matrix *make(const char *line)
{
    if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
    return session_matrix(&t.s, NULL, NULL);
}

static struct predictions predict(struct matrix *m, const struct format *f, enum precision real)
{
    struct predictions p;
    struct err e = {0};
    struct machine g = machine_reference();
    if (!predictions_of(&t.s, m, f, 0, real, &g, &p, &e)) fail_msg("%s", e.text);
    return p;
}

static const struct modeled *of(const struct predictions *p, const struct kernel *k)
{
    for (int i = 0; i < p->n; i++)
        if (p->k[i].kernel == k) return &p->k[i];
    return NULL;
}

/* A lower bound is below the time that the kernel is predicted to take, and no kernel with one is among the first. */
static void check_bounds(const char *line, enum precision real)
{
    struct matrix *m = make(line);
    struct predictions p = predict(m, NULL, real);
    assert_true(p.n >= WANTED);
    struct modeled *k = mem_new(1, sizeof *k, "a test", NULL);
    struct machine g = machine_reference();
    for (int i = 0; i < p.nslow; i++) {
        const struct slow_kernel *slow = &p.slow[i];
        struct err e = {0};
        if (!modeled_kernel(&t.s, m, slow->kernel, NULL, real, &g, k, &e)) fail_msg("%s: %s", line, e.text);
        if (!(slow->least_us <= k->time.us))
            fail_msg("%s on %s: at least %g us, but predicted %g us", slow->kernel->name, line, slow->least_us,
                     k->time.us);
        assert_true(slow->least_us >= p.k[WANTED - 1].time.us);
    }
    mem_free(k);
    struct predictions all = predict(m, NULL, real);
    assert_int_equal(all.nslow, 0);
    for (int i = 0; i < WANTED; i++) assert_ptr_equal(all.k[i].kernel, p.k[i].kernel);
    predictions_free(&all);
    predictions_free(&p);
}

static const char *const lines[] = {
    "gen poisson2d 200", "gen poisson3d 30",     "gen fem 40",         "gen circuit 20000 2", "gen rmat 12 8",
    "gen band 3000 40",  "gen brokendiag 20000", "gen random 3000 30", "gen dense 300",       "gen poisson2d 900"};

TEST(test_lower_bounds)
{
    for (int i = 0; i < COUNT(lines); i++) check_bounds(lines[i], i % 2 ? P_F32 : P_F64);
}

/* Of a large matrix, most kernels are not watched. */
TEST(test_slow_kernels_are_not_watched)
{
    struct predictions p = predict(make("gen poisson2d 900"), NULL, P_F64);
    assert_true(p.nslow > p.n / 2);
    predictions_free(&p);
}

/* The launches on the emulator since `before`. */
static int64_t launches_since(int64_t before)
{
    return emu_launches() - before;
}

TEST(test_predictions_are_kept)
{
    struct matrix *m = make("gen poisson2d 60");
    struct predictions first = predict(m, NULL, P_F64);
    int64_t before = emu_launches();
    struct predictions second = predict(m, NULL, P_F64);
    assert_int_equal(launches_since(before), 0);
    assert_int_equal(second.n, first.n);
    for (int i = 0; i < first.n; i++) {
        assert_ptr_equal(second.k[i].kernel, first.k[i].kernel);
        assert_true(second.k[i].time.us == first.k[i].time.us);
    }
    assert_int_equal(second.nno, first.nno);
    assert_int_equal(second.nslow, first.nslow);
    predictions_free(&first);
    predictions_free(&second);
}

/* A diagonal of n entries above `full` rows, the k-th of which has an entry in every k-th column. */
static struct matrix *few_long_rows(int n, int full)
{
    int64_t most = (int64_t)n * (full + 1);
    int *row = mem_new(most, sizeof *row, "rows", NULL), *col = mem_new(most, sizeof *col, "columns", NULL), nnz = 0;
    double *val = mem_new(most, sizeof *val, "values", NULL);
    struct load_info info = {.file = "case"};
    struct csr A;
    assert_true(row && col && val);
    for (int k = 0; k <= full; k++)
        for (int i = 0; i < n; i += k ? k : 1, nnz++) {
            row[nnz] = k ? n + k - 1 : i;
            col[nnz] = i;
            val[nnz] = 1 + i % 7;
        }
    assert_true(csr_from_triplets(&A, n + full, n, nnz, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t.s, NULL, &A, &info, NULL));
    mem_free(row);
    mem_free(col);
    mem_free(val);
    return session_matrix(&t.s, NULL, NULL);
}

/* Kernels that hand out rows are watched as closely where a few rows are much longer than the others, since a sample of
   the rows has none of these. */
TEST(test_uneven_rows)
{
    static const int rows[] = {30000, 47000}, full[] = {9, 12};
    struct machine g = machine_reference();
    for (int i = 0; i < COUNT(rows); i++) {
        struct matrix *m = few_long_rows(rows[i], full[i]), *again = few_long_rows(rows[i], full[i]);
        int handed_out = 0;
        struct predictions p = predict(m, NULL, P_F64);
        for (int k = 0; k < p.n; k++) {
            struct modeled close;
            struct err e = {0};
            if (!p.k[k].kernel->shares) continue;
            handed_out++;
            if (!modeled_kernel(&t.s, again, p.k[k].kernel, NULL, P_F64, &g, &close, &e)) fail_msg("%s", e.text);
            if (fabs(p.k[k].time.us / close.time.us - 1) > 0.1)
                fail_msg("%s, %d rows: %g us in place of %g us", p.k[k].kernel->name, rows[i], p.k[k].time.us,
                         close.time.us);
        }
        assert_int_not_equal(handed_out, 0);
        predictions_free(&p);
    }
}

/* The fastest kernel of a format is predicted, if it was slower than those of other formats, too. */
TEST(test_fastest_of_a_format)
{
    struct matrix *m = make("gen poisson2d 900");
    struct predictions all = predict(m, NULL, P_F64), own = predict(m, format_find("coo"), P_F64);
    assert_null(of(&all, kernel_find("coo-segmented")));
    assert_non_null(of(&own, kernel_find("coo-segmented")));
    for (int i = 0; i < own.nslow; i++) assert_true(own.slow[i].least_us > own.k[0].time.us);
    predictions_free(&all);
    predictions_free(&own);
}

/* What `advise` predicted serves the commands after it. */
TEST(test_commands_share_predictions)
{
    static const char *const after[] = {"advise predicted", "predict csr-stream", "why not dia", "roofline"};
    make("gen poisson2d 60");
    assert_true(talk_line(&t, "advise predicted"));
    for (int i = 0; i < COUNT(after); i++) {
        int64_t before = emu_launches();
        if (!talk_line(&t, after[i])) fail_msg("%s: %s", after[i], t.err);
        if (launches_since(before)) fail_msg("`%s` after `advise` launched kernels again", after[i]);
    }
}

/* Another GPU, precision or matrix has predictions of its own. */
TEST(test_what_is_not_shared)
{
    static const char *const other[] = {"advise predicted f32", "gen poisson2d 61; advise predicted",
                                        "set gpu a100; advise predicted"};
    make("gen poisson2d 60");
    assert_true(talk_line(&t, "advise predicted"));
    for (int i = 0; i < COUNT(other); i++) {
        int64_t before = emu_launches();
        if (!talk_line(&t, other[i])) fail_msg("%s: %s", other[i], t.err);
        assert_true(launches_since(before) > 0);
    }
    assert_true(talk_line(&t, "set gpu auto"));
}

/* A matrix keeps the predictions for four GPUs and precisions; older ones are forgotten. */
TEST(test_old_predictions_are_forgotten)
{
    struct matrix *m = make("gen poisson2d 20");
    struct machine g = machine_reference();
    const struct kernel *k = kernel_find("csr-scalar");
    for (int i = 0; i < 5; i++) {
        struct err e = {0};
        struct predictions p;
        g.sms = 100 + i;
        if (!predictions_of(&t.s, m, k->format, 0, P_F64, &g, &p, &e)) fail_msg("%s", e.text);
        predictions_free(&p);
    }
    for (int i = 0; i < 5; i++) {
        g.sms = 100 + i;
        assert_true((prediction_kept(m, k, P_F64, &g) != NULL) == (i > 0));
    }
}

/* With a number of SpMVs, the conversion counts: a kernel without one is predicted although its product is slow. */
TEST(test_conversions_count)
{
    struct matrix *m = make("gen poisson2d 900");
    struct machine g = machine_reference();
    struct err e = {0};
    struct predictions p;
    assert_true(predictions_of(&t.s, m, NULL, 1, P_F64, &g, &p, &e));
    for (int i = 0; i < p.nslow; i++) assert_false(p.slow[i].kernel->format->interchange && !p.slow[i].kernel->prepare);
    assert_non_null(of(&p, kernel_find("csr-ends"))); /* one SpMV by csr is faster than any conversion */
    predictions_free(&p);
}

/* The accesses that are watched do not grow with the longest row. */
TEST(test_long_rows_cost_no_more)
{
    char line[64];
    for (int64_t n = 20000; n <= 320000; n *= 4) {
        snprintf(line, sizeof line, "gen circuit %lld 1", (long long)n);
        struct predictions p = predict(make(line), NULL, P_F64);
        for (int i = 0; i < p.n; i++)
            if (p.k[i].counts.accesses > 4000 * 1000 && !p.k[i].kernel->together)
                fail_msg("%s on %s: %lld accesses were watched", p.k[i].kernel->name, line,
                         (long long)p.k[i].counts.accesses);
        predictions_free(&p);
    }
}

SUITE(.setup = open_talk, .teardown = close_talk);
