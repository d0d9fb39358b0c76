/* The cost model: counts checked by hand, the direction in which its times change, planted causes that it must find,
   and the commands that explain and advise. */
#include "advice/advice.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "microscope/modeled.h"
#include "microscope/versus.h"
#include "session/matrix.h"

#include <math.h>
#include <unistd.h>

static struct talk t;

static int open_talk(void **state)
{
    talk_open(&t, OUT_TEXT);
    return 0;
}

static int close_talk(void **state)
{
    talk_close(&t);
    devices_close();
    return 0;
}

/* The model's result for a kernel on the matrix that `line` generates; the caller frees it. */
static struct modeled *model_of(const char *line, const char *kernel, enum precision real)
{
    struct err e = {0};
    struct machine g = machine_of(NULL);
    struct modeled *k = mem_new(1, sizeof *k, "a prediction", &e);
    if (line && !talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
    if (!modeled_kernel(&t.s, session_matrix(&t.s, NULL, &e), kernel_find(kernel), NULL, real, &g, k, &e))
        fail_msg("%s: %s", kernel, e.text);
    return k;
}

/* ---- in a chain ---- */

/* 43 real matrices were measured on an H200. 1138_bus is none of them, but like them: 1.3 us for the best. */
TEST(chains)
{
    struct machine a100;
    struct err e = {0};
    struct modeled *follows = model_of("load samples/1138_bus.mtx", "csr-adaptive", P_F64),
                   *alone = model_of(NULL, "csr-vector", P_F64), *two = model_of(NULL, "csr-light-vector", P_F64);
    const struct prediction *p = &follows->time, *q = &alone->time;
    assert_true(fabs(p->chain_us - (p->us - p->launch_us + 0.6)) < 1e-12);
    assert_true(fabs(q->chain_us - (q->us - q->launch_us + 1.1)) < 1e-12);
    assert_true(p->chain_us > 1.1 && p->chain_us < 2);
    assert_true(two->work.n == 2 && isnan(two->time.chain_us)); /* two launches */
    assert_true(profile_load("a100", &a100, &e));
    struct prediction older = model_predict(&follows->work, &a100);
    assert_true(isnan(older.chain_us) && older.us > 0);
    mem_free(follows);
    mem_free(alone);
    mem_free(two);
    assert_true(talk_line(&t, "predict csr-light-vector"));
    assert_null(strstr(t.out, "in a chain"));
    assert_true(talk_line(&t, "explain csr-adaptive"));
    assert_non_null(strstr(t.out, "In a chain of products, as in a solver, where a graph starts each launch: 1."));
}

/* ---- one kernel against another ---- */

static double part_of(const struct difference *d, int n, enum bound term)
{
    for (int i = 0; i < n; i++)
        if (d[i].term == term) return d[i].us;
    return 0;
}

/* The parts add up to the difference of the times, and have the opposite sign the other way round. */
TEST(differences_add_up)
{
    static const char *const names[] = {"csr-scalar", "csr-vector", "csr-ends", "coo-atomic", "csr-merge", "ell"};
    struct modeled *k[COUNT(names)];
    for (int i = 0; i < COUNT(names); i++) k[i] = model_of(i ? NULL : "gen circuit 5000 1", names[i], P_F64);
    for (int i = 0; i < COUNT(names); i++)
        for (int j = 0; j < COUNT(names); j++) {
            struct difference d[DIFFERENCES], back[DIFFERENCES];
            double sum = 0, all = k[j]->time.us - k[i]->time.us;
            int n = differences_of(k[i], k[j], d), nback = differences_of(k[j], k[i], back);
            for (int q = 0; q < n; q++) sum += d[q].us;
            assert_float_equal(sum, all, 1e-9 * (k[i]->time.us + k[j]->time.us));
            for (int q = 0; q < n; q++) assert_float_equal(part_of(back, nback, d[q].term), -d[q].us, 1e-9);
        }
    for (int i = 0; i < COUNT(names); i++) mem_free(k[i]);
}

/* Two kernels that differ in one respect: the dense row is a long block of csr-scalar; csr-merge takes two launches. */
TEST(differences_name_the_term)
{
    struct modeled *scalar = model_of("gen circuit 5000 1", "csr-scalar", P_F64),
                   *ends = model_of(NULL, "csr-ends", P_F64), *merge = model_of(NULL, "csr-merge", P_F64);
    struct difference d[DIFFERENCES];
    assert_true(differences_of(ends, scalar, d) > 0 && d[0].term == BOUND_LONGEST);
    assert_true(d[0].us > 0.9 * (scalar->time.us - ends->time.us));
    int n = differences_of(ends, merge, d);
    assert_float_equal(part_of(d, n, BOUND_LAUNCH), merge->time.launch_us - ends->time.launch_us, 1e-6);
    talk_refuses(&t, "explain ell against ell", "both kernels are ell");
    mem_free(scalar);
    mem_free(ends);
    mem_free(merge);
}

/* What the terms count is the sum over the launches; of ratios, such as the longest block to the average block, it is
   the largest. */
TEST(differences_count_what_the_launches_do)
{
    struct modeled *scalar = model_of("gen circuit 5000 1", "csr-scalar", P_F64),
                   *merge = model_of(NULL, "csr-merge", P_F64);
    struct difference d[DIFFERENCES];
    double longest = 0, steps = 0;
    int n = differences_of(scalar, merge, d), found = 0;
    assert_int_equal(merge->work.n, 2);
    for (int l = 0; l < 2; l++) {
        const struct work *w = &merge->work.launch[l];
        longest = fmax(longest, w->longest[WAIT_STEP] / (w->wait[WAIT_STEP] / (double)w->blocks));
        steps += w->steps;
    }
    for (int i = 0; i < n; i++) {
        if (d[i].term == BOUND_LONGEST) assert_float_equal(d[i].count[1], longest, 1e-9 * longest), found++;
        if (d[i].term == BOUND_ISSUE) assert_float_equal(d[i].count[1], steps, 1e-9 * steps), found++;
        if (d[i].term == BOUND_LAUNCH) assert_true(d[i].count[0] == 1 && d[i].count[1] == 2), found++;
    }
    assert_int_equal(found, 3);
    mem_free(scalar);
    mem_free(merge);
}

/* Each term counts what its unit says: sums over the launches, and the largest ratio. Launches without blocks count
   nothing. */
TEST(each_term_counts_its_unit)
{
    static const struct {
        enum bound term;
        double count;
    } cases[] = {{BOUND_LATENCY, 6.5}, {BOUND_LONGEST, 4}, {BOUND_DRAM, 98765}, {BOUND_L2, 166}, {BOUND_L1, 77},
                 {BOUND_ISSUE, 550},   {BOUND_FLOPS, 432}, {BOUND_ATOMICS, 16}, {BOUND_HOT, 12}, {BOUND_LAUNCH, 2}};
    struct modeled *a = model_of("gen circuit 5000 1", "csr-scalar", P_F64), *b = model_of(NULL, "csr-merge", P_F64);
    struct difference d[DIFFERENCES];
    struct work *w = b->work.launch;
    w[0] = w[1] = w[2] = (struct work){.threads = 256, .blocks = 4, .seen = 4};
    w[0].wait[WAIT_L1] = 8, w[0].wait[WAIT_L2] = 6, w[0].wait[WAIT_FIRST] = 4; /* 18 / 4 = 4.5 */
    w[0].wait[WAIT_STEP] = 40, w[0].longest[WAIT_STEP] = 20;                   /* 2 */
    w[0].l2_loads = 100, w[0].l2_stores = 30, w[0].lines = 70, w[0].steps = 500, w[0].atomics = 11, w[0].hot = 3;
    w[1].blocks = w[1].seen = 2;
    w[1].wait[WAIT_L1] = 1, w[1].wait[WAIT_L2] = 2, w[1].wait[WAIT_FIRST] = 10; /* 13 / 2 = 6.5 */
    w[1].wait[WAIT_STEP] = 10, w[1].longest[WAIT_STEP] = 20;                    /* 4 */
    w[1].l2_loads = 20, w[1].l2_stores = 16, w[1].lines = 7, w[1].steps = 50, w[1].atomics = 5, w[1].hot = 9;
    w[2] = w[0];
    w[2].blocks = w[2].seen = 0;
    b->work.n = 3;
    b->work.flops = 432;
    b->time.dram_bytes = 98765;
    for (int k = 0; k < BOUNDS; k++) b->time.bound_us[k] = 1;
    assert_int_equal(differences_of(a, b, d), COUNT(cases));
    for (int i = 0; i < COUNT(cases); i++) {
        int k = 0;
        while (k < COUNT(cases) && d[k].term != cases[i].term) k++;
        assert_in_range(k, 0, COUNT(cases) - 1);
        if (fabs(d[k].count[1] - cases[i].count) > 1e-9)
            fail_msg("%s: %g, not %g", difference_unit(cases[i].term), d[k].count[1], cases[i].count);
    }
    mem_free(a);
    mem_free(b);
}

/* ---- counted by hand ---- */

/* A 256 x 256 diagonal matrix: each warp makes six requests, two of them for ptr, and one each for col, val, x and y. A
   sector holds four values in fp64. */
TEST(test_exact)
{
    struct modeled *k = model_of("gen band 256 0", "csr-scalar", P_F64);
    const struct work *w = &k->work.launch[0];
    assert_int_equal(k->work.n, 1);
    assert_false(k->work.sampled);
    assert_int_equal(w->blocks, 2);
    assert_int_equal((int)w->steps, 8 * 6);
    assert_int_equal((int)w->l2_stores, 256 * 8 / 32);
    assert_int_equal((int)w->atomics, 0);
    assert_int_equal((int)k->work.footprint, (33 + 32 + 64 + 64 + 64) * 32); /* ptr, col, val, x, y */
    assert_int_equal(k->bytes, 257 * 4 + 256 * 4 + 3 * 256 * 8);
    /* pointer, then column and value, then x: a chain of three dependent loads */
    assert_true(fabs(w->longest[WAIT_FIRST] + w->longest[WAIT_L2] + w->longest[WAIT_L1] - 3) < 1e-9);
    assert_int_equal((int)w->longest[WAIT_STEP], 6);
    mem_free(k);
}

/* One row of n entries in one thread: a chain of 2 n dependent loads, plus the loads of the pointers. */
TEST(test_chain)
{
    struct modeled *k = model_of("gen random 1 500 500", "csr-scalar", P_F64);
    const double *w = k->work.launch[0].longest;
    assert_true(fabs(w[WAIT_FIRST] + w[WAIT_L2] + w[WAIT_L1] - (2 * 500 + 1)) < 1e-9);
    mem_free(k);
}

/* The blocks that a multiprocessor of an H200 holds: 32 blocks, 2048 threads, 228 KB of shared memory, of which the
   system takes 1 KB for each block, in units of 128 bytes, and 4 times 16384 registers, of which each warp takes a
   multiple of 256. */
static const struct {
    struct work of;
    int blocks, warps; /* warps of a block */
    enum residency_limit by;
} residencies[] = {
    {{.threads = 32}, 32, 1, LIMITED_BY_BLOCKS},
    {{.threads = 256}, 8, 8, LIMITED_BY_THREADS},
    {{.threads = 256, .registers = 32}, 8, 8, LIMITED_BY_THREADS},   /* 1024 for a warp, 16 warps in a quarter */
    {{.threads = 256, .registers = 33}, 6, 8, LIMITED_BY_REGISTERS}, /* 1056, thus 1280: 12 warps in a quarter */
    {{.threads = 1024, .registers = 255}, 1, 32, LIMITED_BY_REGISTERS},
    {{.threads = 128, .shared_bytes = 48 * 1024}, 4, 4, LIMITED_BY_SHARED}, /* 4 (48 + 1) = 196, 5 (48 + 1) = 245 */
    {{.threads = 128, .shared_bytes = 45568}, 5, 4, LIMITED_BY_SHARED},     /* 5 (45568 + 1024) = 232960 of 233472 */
    {{.threads = 128, .shared_bytes = 45569}, 4, 4, LIMITED_BY_SHARED},     /* 46720 each: 5 take 233600 */
};

TEST(test_residency_by_hand)
{
    struct machine g = machine_reference();
    for (int i = 0; i < COUNT(residencies); i++) {
        struct residency r = model_residency(&g, &residencies[i].of);
        if (r.blocks != residencies[i].blocks || r.by != residencies[i].by)
            fail_msg("%d: %g blocks, limited by %s", i, r.blocks, residency_limit_names[r.by]);
        assert_float_equal(r.share, residencies[i].blocks * residencies[i].warps / 64.0, 1e-12);
    }
}

/* Before Ampere, the system takes no shared memory of a block, and a block takes it in units of 256 bytes: a T4 has
   64 KB of it, and 1024 threads. */
TEST(test_residency_of_turing)
{
    static const struct {
        int shared, blocks;
    } held[] = {{16 * 1024, 4}, {16 * 1024 + 1, 3}, {5120, 12}, {4865, 12}, {4864, 13}, {0, 16}};
    struct machine g;
    struct err e = {0};
    assert_true(profile_load("t4", &g, &e));
    for (int i = 0; i < COUNT(held); i++) {
        const struct work w = {.threads = 64, .shared_bytes = held[i].shared};
        assert_int_equal((int)model_resident(&g, &w), held[i].blocks);
    }
}

/* ---- direction of changes ---- */

TEST(test_monotone)
{
    struct modeled *k = model_of("gen poisson2d 300", "csr-vector", P_F64);
    struct machine fast = k->on;
    struct workload *more = mem_new(1, sizeof *more, "a test", NULL);
    fast.c.read_gbs *= 2;
    fast.c.cache_gbs *= 2;
    assert_true(model_predict(&k->work, &fast).us <= k->time.us);
    fast.sms *= 2;
    assert_true(model_predict(&k->work, &fast).us <= k->time.us);
    for (int i = 0; i < 6; i++) {
        *more = k->work;
        struct work *w = &more->launch[0];
        double *const part[] = {&w->l2_loads, &w->lines, &w->steps, &w->hot, &w->wait[WAIT_L2], &w->longest[WAIT_L2]};
        *part[i] = 1e3 + 1000 * *part[i];
        assert_true(model_predict(more, &k->on).us > k->time.us);
    }
    mem_free(more);
    mem_free(k);
}

/* Entries far from existing diagonals add diagonals, so the padding grows, and the time never becomes shorter. */
TEST(test_padding_is_not_faster)
{
    struct modeled *few = model_of("gen band 20000 2", "dia", P_F64);
    struct modeled *many = model_of("gen brokendiag 20000 12", "dia", P_F64);
    assert_true(many->plan.padding > few->plan.padding);
    assert_true(many->time.us >= few->time.us);
    assert_true(many->time.l2_bytes > few->time.l2_bytes);
    mem_free(few);
    mem_free(many);
}

TEST(test_single_is_not_slower)
{
    struct modeled *f64 = model_of("gen poisson2d 400", "sell", P_F64), *f32 = model_of(NULL, "sell", P_F32);
    assert_true(f32->time.us <= f64->time.us);
    assert_true(f32->time.l2_bytes < f64->time.l2_bytes);
    mem_free(f64);
    mem_free(f32);
}

/* The model finds the longest row although no sample contains its block. */
TEST(test_longest_row_is_found)
{
    struct modeled *k = model_of("gen circuit 200000 2", "csr-scalar", P_F64);
    const struct work *w = &k->work.launch[0];
    struct matrix *m = session_matrix(&t.s, NULL, NULL);
    int64_t most = 0;
    for (int64_t i = 0; i < m->csr.rows; i++)
        if (csr_row_length(&m->csr, i) > most) most = csr_row_length(&m->csr, i);
    assert_true(k->work.sampled && most > 10000);
    assert_int_equal(csr_row_length(&m->csr, w->longest_row), most);
    assert_true(w->longest[WAIT_STEP] > 2.9 * (double)most && w->longest[WAIT_STEP] < 3.2 * (double)most);
    assert_int_equal(w->longest_block, w->longest_row / 128);
    mem_free(k);
}

/* The trace of the warp with the longest row or column is cut: its length follows from the part of the row that the
   warp has passed, alone (csc-atomic) or with other warps of its block (bsell). */
TEST(test_cut_traces_are_continued)
{
    static const struct {
        const char *kernel;
        double least, most; /* steps per entry */
    } kernel[] = {{"csc-atomic", 2.9, 3.2}, {"bsell", 1.2, 1.4}};
    for (int i = 0; i < COUNT(kernel); i++) {
        struct modeled *k = model_of("gen circuit 600000 2", kernel[i].kernel, P_F64);
        double steps = 0, longest = (double)csr_longest_row(&session_matrix(&t.s, NULL, NULL)->csr);
        for (int l = 0; l < k->work.n; l++) steps = fmax(steps, k->work.launch[l].longest[WAIT_STEP]);
        if (!(k->work.sampled && steps > kernel[i].least * longest && steps < kernel[i].most * longest))
            fail_msg("%s: %.0f steps for a row of %.0f entries", kernel[i].kernel, steps, longest);
        mem_free(k);
        talk_line(&t, "drop");
    }
}

/* Between two barriers, a single warp sums most of the entries of a long row, each time another one. */
TEST(test_each_barrier_waits_for_the_slowest_warp)
{
    struct modeled *k = model_of("gen dense 256 1000", "csr-stream", P_F64);
    double steps = k->work.launch[0].longest[WAIT_STEP];
    assert_int_equal(k->work.launch[0].blocks, 1);
    if (steps < 256 * 1000 / 2) fail_msg("%.0f steps", steps);
    mem_free(k);
}

/* Watch all blocks of k on A. False if k does not fit. */
static bool watch_all_blocks(const struct kernel *k, const struct csr *A, const struct machine *g, struct workload *out)
{
    struct err e = {0};
    struct stored S = {0};
    struct mat M = {0};
    int64_t own[PARAMS_MAX];
    bool ok = format_pack(A, k->format, kernel_params(k, NULL, A, P_F64, g->sms, own), P_F64, false, &S, &e) &&
              mat_put(&M, &S, device_open("emu", &e), &e) && model_watch(k, A, &M, g, 0, NULL, NULL, out, &e);
    if (M.dev) mat_free(&M);
    stored_free(&S);
    return ok;
}

/* Many threads read a line each, again and again, but a small L2 has replaced it in the meantime. */
TEST(test_small_cache_loses_lines)
{
    struct modeled *k = model_of("gen dense 2000 400", "csr-scalar", P_F64);
    const struct csr *A = &session_matrix(&t.s, NULL, NULL)->csr;
    struct machine g = k->on;
    struct workload *w = mem_new(2, sizeof *w, "a test", NULL);
    g.sms = 2;
    assert_true(watch_all_blocks(k->kernel, A, &g, &w[0]));
    g.is.l2_mb = 0.25;
    assert_true(watch_all_blocks(k->kernel, A, &g, &w[1]));
    assert_true(w[0].launch[0].lost == 0 && w[1].launch[0].lost > 0.5 * w[1].launch[0].l2_loads);
    mem_free(w);
    mem_free(k);
}

/* All entries of a row are added to one sector. */
TEST(test_additions_to_one_sector)
{
    struct modeled *k = model_of("gen circuit 20000 2", "coo-atomic", P_F64);
    const struct csr *A = &session_matrix(&t.s, NULL, NULL)->csr;
    double hot = 0, longest = (double)csr_longest_row(A);
    for (int l = 0; l < k->work.n; l++) hot = fmax(hot, k->work.launch[l].hot);
    assert_true(hot >= longest && hot < 2 * longest);
    mem_free(k);
}

/* Additions that are spread evenly over the sectors of y delay one another as model_even_hot says: each sector of 4
   rows gets 32 additions, of which the k-th counts as one of 2 k. */
TEST(test_even_additions)
{
    struct csr A = {0};
    struct machine g = machine_reference();
    struct workload *w = mem_new(1, sizeof *w, "a test", NULL);
    double hot = 0, even = model_even_hot(8 * 12000, 12000 / 4);
    assert_true(generator_find("random")->make((int64_t[PARAMS_MAX]){12000, 8, 0}, 1, NULL, &A, NULL));
    assert_true(w && watch_all_blocks(kernel_find("coo-atomic"), &A, &g, w));
    for (int l = 0; l < w->n; l++) hot += w->launch[l].hot;
    if (hot < even || hot > 1.1 * even) fail_msg("%g, but %g if even", hot, even);
    csr_free(&A);
    mem_free(w);
}

/* ---- planted causes ---- */

static const struct {
    const char *line, *kernel, *cause;
    int within; /* the cause must be among the first `within` findings */
    const char *part;
} planted[] = {
    {"gen circuit 50000 2", "csr-scalar", "long row", 1, "the mean is"},
    {"gen circuit 3000 1", "ell", "padding", 9, "hyb with width"},
    {"gen circuit 3000 1", "ell", "long row", 1, "entries"},
    {"gen random 200000 8", "csr-stream", "x gather", 3, "x is gathered"},
    {"gen circuit 100000 4", "coo-atomic", "atomics", 1, "go to one sector"},
    {"gen poisson2d 10", "csr-vector", "launches", 1, "1 launch costs"},
    {"gen poisson2d 10", "coo-atomic", "launches", 1, "2 launches cost"},
    {"gen poisson2d 500", "csr-vector", "idle lanes", 4, "of 32 lanes are active"},
    {"gen fem 150", "csr-scalar", "uncoalesced loads", 4, "lanes read addresses that are far apart"},
    {"gen poisson3d 100", "dia", "bytes", 2, "must move"},
};

TEST(test_planted_causes)
{
    for (int i = 0; i < COUNT(planted); i++) {
        struct finding f[FINDINGS_MAX];
        struct modeled *k = model_of(planted[i].line, planted[i].kernel, P_F64);
        int n = findings_of(k, &session_matrix(&t.s, NULL, NULL)->csr, f), at = 0;
        while (at < n && strcmp(f[at].cause, planted[i].cause) != 0) at++;
        if (at >= planted[i].within || at == n)
            fail_msg("%s of %s: %s is number %d of %d, the first is %s", planted[i].kernel, planted[i].line,
                     planted[i].cause, at + 1, n, n ? f[0].cause : "none");
        if (!strstr(f[at].text, planted[i].part) && !strstr(f[at].remedy, planted[i].part))
            fail_msg("%s; %s", f[at].text, f[at].remedy);
        for (int j = 1; j < n; j++) assert_true(f[j - 1].us >= f[j].us);
        mem_free(k);
        talk_line(&t, "drop");
    }
}

TEST(test_no_cause_is_invented)
{
    struct finding f[FINDINGS_MAX];
    struct modeled *k = model_of("gen poisson2d 300", "csr-stream", P_F64);
    int n = findings_of(k, &session_matrix(&t.s, NULL, NULL)->csr, f);
    for (int i = 0; i < n; i++)
        if (!strcmp(f[i].cause, "padding") || !strcmp(f[i].cause, "long row") || !strcmp(f[i].cause, "atomics"))
            fail_msg("%s: %s", f[i].cause, f[i].text);
    mem_free(k);
}

/* 4096 rows of 40 entries each in 100000 columns; only those of one block of csr-scalar have `longer` entries. */
static struct csr with_one_long_block(int longer)
{
    enum { ROWS = 4096, BLOCK = 128, MEAN = 40, COLS = 100000 };
    struct csr A;
    assert_true(csr_new(&A, ROWS, COLS, (ROWS - BLOCK) * MEAN + BLOCK * longer, false, NULL));
    A.rowptr[0] = 0;
    for (int i = 0; i < ROWS; i++) {
        int n = i / BLOCK == 7 ? longer : MEAN;
        for (int k = 0; k < n; k++) A.col[A.rowptr[i] + k] = i + 10 * k, A.val[A.rowptr[i] + k] = 1;
        A.rowptr[i + 1] = A.rowptr[i] + n;
    }
    return A;
}

static bool has_cause(const struct finding *f, int n, const char *cause)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(f[i].cause, cause)) return true;
    return false;
}

/* A row is long if it has more than 4 times the entries of the average row and 16 more, however many columns there are.
   The average rows have 44.1 and 45.9 entries, so that 192 and 200 are the limits. Shorter rows that make a block long
   are an imbalance. */
TEST(test_long_rows_are_long_beside_the_average_row)
{
    static const int lengths[] = {170, 230};
    for (int i = 0; i < COUNT(lengths); i++) {
        struct csr A = with_one_long_block(lengths[i]);
        struct machine g = machine_reference();
        struct packed p = {0};
        struct err e = {0};
        struct finding f[FINDINGS_MAX];
        struct modeled *k = mem_new(1, sizeof *k, "a prediction", NULL);
        if (!modeled_csr(&A, kernel_find("csr-scalar"), NULL, P_F64, &g, NULL, &p, k, &e)) fail_msg("%s", e.text);
        int n = findings_of(k, &A, f);
        assert_true(has_cause(f, n, "long row") == (i == 1));
        assert_true(has_cause(f, n, "imbalance") == (i == 0));
        packed_free(&p);
        csr_free(&A);
        mem_free(k);
    }
}

/* ---- advice ---- */

static struct predictions advice_for(const char *line)
{
    struct predictions a;
    struct err e = {0};
    struct machine g = machine_of(NULL);
    if (line && !talk_line(&t, line)) fail_msg("%s", t.err);
    if (!predictions_of(&t.s, session_matrix(&t.s, NULL, &e), NULL, 0, P_F64, &g, &a, &e)) fail_msg("%s", e.text);
    return a;
}

/* The time that the model predicts if it watches all blocks; NaN: the kernel does not fit. */
static double unsampled_us(const struct kernel *k, const struct csr *A, const struct machine *g)
{
    struct workload *all = mem_new(1, sizeof *all, "a test", NULL);
    double us = watch_all_blocks(k, A, g, all) ? model_predict(all, g).us : NAN;
    mem_free(all);
    return us;
}

/* Whatever the order in which a format stores the rows, a sample of the blocks predicts the time of the longest row. */
TEST(test_longest_row_is_found_by_all_kernels)
{
    struct predictions a = advice_for("gen circuit 20000 4");
    const struct csr *A = &session_matrix(&t.s, NULL, NULL)->csr;
    int sampled = 0;
    for (int i = 0; i < a.n; i++) {
        const struct modeled *k = &a.k[i];
        if (!k->work.sampled) continue;
        double us = unsampled_us(k->kernel, A, &k->on);
        sampled++;
        if (!(k->time.us < 1.2 * us && us < 1.2 * k->time.us))
            fail_msg("%s: %.2f us from a sample, %.2f us from all blocks", k->kernel->name, k->time.us, us);
    }
    assert_true(sampled > 9);
    predictions_free(&a);
}

/* Four rows are much longer than the others. The blocks that store them belong to each sample, and count only once. */
TEST(test_samples_have_the_heavy_blocks)
{
    static const char *const names[] = {"csr-scalar", "csr-vector", "csr-cusp"};
    struct machine g = machine_of(NULL);
    for (int i = 0; i < COUNT(names); i++) {
        struct modeled *k = model_of(i ? NULL : "gen circuit 100000 4", names[i], P_F64);
        const struct csr *A = &session_matrix(&t.s, NULL, NULL)->csr;
        struct workload *all = mem_new(1, sizeof *all, "a test", NULL);
        assert_true(watch_all_blocks(k->kernel, A, &g, all));
        const struct work *some = &k->work.launch[0], *whole = &all->launch[0];
        assert_true(some->seen < some->blocks / 2);
        if (fabs(some->steps / whole->steps - 1) > 0.05 || fabs(some->lines / whole->lines - 1) > 0.05)
            fail_msg("%s: %.0f steps and %.0f lines from a sample, %.0f and %.0f from all blocks", names[i],
                     some->steps, some->lines, whole->steps, whole->lines);
        mem_free(all);
        mem_free(k);
    }
}

/* A sample that would have half of the blocks is no sample. */
TEST(test_few_blocks_are_all_watched)
{
    struct modeled *k = model_of("gen circuit 6000 1", "csr-scalar", P_F64);
    assert_false(k->work.sampled);
    mem_free(k);
}

/* No kernel reads from the memory of a GPU faster than the data sheet allows, whatever factors were fitted to it. */
static void check_memory(void *user, const char *profile)
{
    const struct predictions *a = user;
    struct machine g;
    struct err e = {0};
    if (!profile_load(profile, &g, &e)) fail_msg("%s: %s", profile, e.text);
    g.is.l2_mb = 0.5; /* so that all GPUs read from memory */
    for (int i = 0; i < a->n; i++) {
        struct prediction p = model_predict(&a->k[i].work, &g);
        double least_us = p.dram_bytes / g.is.memory_gbs / 1000;
        assert_true(p.dram_bytes > 0);
        if (!(p.bound_us[BOUND_DRAM] >= 0.999999 * least_us && p.us >= least_us))
            fail_msg("%s on %s: %.2f us, with %.2f us for memory, but the data sheet allows %.2f us",
                     a->k[i].kernel->name, profile, p.us, p.bound_us[BOUND_DRAM], least_us);
    }
}

/* The same without lower bounds: each kernel is asked for. */
static struct predictions all_of(const char *line)
{
    struct predictions a;
    struct err e = {0};
    struct machine g = machine_of(NULL);
    if (!talk_line(&t, line)) fail_msg("%s", t.err);
    struct matrix *m = session_matrix(&t.s, NULL, &e);
    struct modeled *k = mem_new(1, sizeof *k, "a test", &e);
    for (int i = 0; kernels[i]; i++)
        if (!modeled_kernel(&t.s, m, kernels[i], NULL, P_F64, &g, k, &e)) err_clear(&e);
    mem_free(k);
    a = advice_for(NULL);
    assert_int_equal(a.nslow, 0);
    return a;
}

TEST(test_memory_is_not_faster_than_its_data_sheet)
{
    struct predictions a = all_of("gen poisson2d 200 200");
    assert_true(a.n > 30);
    profile_list(check_memory, &a);
    predictions_free(&a);
}

static int rank_of(const struct predictions *a, const char *kernel)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->k[i].kernel->name, kernel)) return i;
    fail_msg("%s is not ranked", kernel);
    return -1;
}

TEST(test_ranking)
{
    struct predictions a = all_of("gen circuit 50000 4");
    for (int i = 1; i < a.n; i++) assert_true(a.k[i - 1].time.us <= a.k[i].time.us);
    assert_true(rank_of(&a, "csr-merge") < rank_of(&a, "csr-scalar"));
    assert_true(rank_of(&a, "coo-segmented") < rank_of(&a, "coo-atomic"));
    assert_true(rank_of(&a, "csr-vector") < rank_of(&a, "csr-scalar"));
    assert_true(a.nno > 0); /* formats with too much padding */
    predictions_free(&a);
    a = all_of("gen poisson2d 500");
    assert_true(rank_of(&a, "csr-stream") < rank_of(&a, "csr-vector"));
    assert_true(rank_of(&a, "dia") < rank_of(&a, "coo-atomic"));
    assert_true(a.nno > 0); /* dense */
    predictions_free(&a);
}

/* Block 3 fits a matrix of dense 3 x 3 blocks, and is what advise and predict judge bsr with. */
TEST(test_bsr_is_judged_with_the_block_that_fits)
{
    const char *fem = "gen stencil 27 6 6 6 3";
    struct modeled *k = model_of(fem, "bsr-block", P_F64);
    assert_int_equal(k->plan.shape.param[0], 3);
    mem_free(k);
    struct predictions a = advice_for(fem);
    assert_int_equal(a.k[rank_of(&a, "bsr-block")].plan.shape.param[0], 3);
    predictions_free(&a);
}

/* dia loads the values and x of up to eight diagonals at once: a row of d diagonals waits d / 8 times, rounded up. If
   there are few rows, several threads share the diagonals of a row; hence the 40000 rows of the last case. */
TEST(test_batches_of_a_whole_loop)
{
    static const struct {
        const char *line;
        double waits;
    } bands[] = {{"gen band 300 0", 1}, {"gen band 300 1", 1}, {"gen band 300 3", 1}, {"gen band 40000 4", 2}};
    for (int i = 0; i < COUNT(bands); i++) {
        struct modeled *k = model_of(bands[i].line, "dia", P_F64);
        const double *wait = k->work.launch[0].longest;
        assert_true(fabs(wait[WAIT_L1] + wait[WAIT_L2] + wait[WAIT_FIRST] - bands[i].waits) < 1e-9);
        mem_free(k);
    }
}

/* ---- commands ---- */

/* The time that a command predicts for a kernel, as JSON states it. */
static double predicted_by(const char *command, const char *kernel)
{
    struct talk json;
    char key[64];
    talk_open(&json, OUT_JSON);
    assert_true(talk_line(&json, "gen circuit 20000 4"));
    assert_true(talk_line(&json, "convert sell")); /* moves what is allocated next */
    if (!talk_line(&json, command)) fail_msg("%s: %s", command, json.err);
    snprintf(key, sizeof key, "\"kernel\":\"%s\"", kernel);
    const char *row = strstr(json.out, key), *us = row ? strstr(row, "\"predicted_us\":") : NULL;
    if (!us) fail_msg("%s predicts nothing for %s: %s", command, kernel, json.out);
    double time = strtod(us + strlen("\"predicted_us\":"), NULL);
    talk_close(&json);
    return time;
}

TEST(test_all_commands_predict_the_same)
{
    double us = predicted_by("predict csr-ends", "csr-ends");
    assert_true(us == predicted_by("advise", "csr-ends"));
    assert_true(us == predicted_by("explain csr-ends", "csr-ends"));
    assert_true(us == predicted_by("predict csr-stream; predict csr-ends", "csr-ends"));
}

TEST(test_commands)
{
    talk_says(&t, "gen poisson2d 40; predict csr-vector",
              "Predicted for an NVIDIA H200, because no measured GPU is available.");
    talk_says(&t, "explain csr-scalar f32", "1. launches, ");
    talk_says(&t, "advise", "\nsc-csr-host-order: the last step runs on the host");
    assert_true(talk_line(&t, "gen poisson2d 9 as 1138_bus"));
    talk_says(&t, "explain csr-scalar 1138_bus", "csr-scalar on 1138_bus");
    talk_says(&t, "predict ell 0 1138_bus", "1138_bus");
    assert_true(talk_line(&t, "drop 1138_bus; use poisson2d"));
    talk_says(&t, "advise top 2", "conversion us");
    talk_says(&t, "advise for 100 products top 3", "total us");
    talk_says(&t, "why not coo", "times as long as");
    talk_says(&t, "gen random 40000 4 as R; why not dia", "is padding");
    talk_says(&t, "gen poisson2d 30 as P; whatif format ell", "Nothing was kept.");
    talk_says(&t, "whatif format bsr 4 f32 reorder rcm", "rcm");
    talk_says(&t, "whatif reorder rcm", "csr-vector");
    assert_null(session_matrix(&t.s, NULL, NULL)->products); /* the commands keep no packed matrix */
}

TEST(test_whatif_shows_before_and_after)
{
    talk_says(&t, "gen poisson2d 30; whatif format ell", "before  csr");
    talk_says(&t, "whatif format sell 16 f32 reorder rcm", "as it is");
    talk_says(&t, "whatif format sell 16 f32 reorder rcm", "after   sell");
}

/* The remarks on the model are printed in full once; later commands print only a mark such as [model: NVIDIA H200]. In
   a file, the remarks are printed in full again, because a file is read without the earlier output. */
TEST(test_model_is_explained_once)
{
    static const char *const predictions[] = {"predict csr-vector", "explain csr-vector", "why not ell",
                                              "whatif format ell", "advise top 2"};
    talk_says(&t, "gen poisson2d 30; predict csr-vector", "Model error");
    for (int i = 0; i < COUNT(predictions); i++) {
        talk_says(&t, predictions[i], "[model: NVIDIA H200]");
        assert_null(strstr(t.out, "Model error"));
    }
    assert_non_null(strstr(t.out, "Conversions are timed on this host"));
    assert_true(talk_line(&t, "advise top 2"));
    assert_null(strstr(t.out, "Conversions are timed on this host"));
    char path[100], line[200], text[4096] = "";
    snprintf(path, sizeof path, "/tmp/warpspy-model-%d", (int)getpid());
    snprintf(line, sizeof line, "advise top 2 > %s", path);
    assert_true(talk_line(&t, line));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(path);
    assert_non_null(strstr(text, "Model error"));
    assert_non_null(strstr(text, "Conversions are timed on this host"));
    assert_null(strstr(text, "[model"));
}

TEST(test_json)
{
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen poisson2d 40; advise top 1", "\"rank\":1");
    talk_says(&t, "explain ell", "\"kind\":\"finding\"");
    talk_says(&t, "predict ell", "\"machine_here\":false");
    talk_says(&t, "why not dense", "\"verdict\":\"slower\"");
    talk_says(&t, "whatif format sell 16", "\"params\":\"C 16");
}

/* The time to pack csr, which is already there, is not subtracted from the packing time of other formats. */
TEST(test_conversion_cost)
{
    int zero = 0;
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen poisson2d 40; advise", "\"kernel\":\"coo-atomic\"");
    for (const char *at = t.out; (at = strstr(at, "\"format\":\"")); at++) {
        bool csr = !strncmp(at + strlen("\"format\":\""), "csr\"", 4);
        const char *cost = strstr(at, "\"prep_us\":"), *end = strchr(at, '}');
        if (!cost || cost > end || !strncmp(cost, "\"prep_us\":null", 14)) continue;
        double us = strtod(cost + strlen("\"prep_us\":"), NULL);
        assert_true(csr ? us == 0 : us > 0);
        zero += csr;
    }
    assert_true(zero > 3);
}

/* A refusal names the kernel once, and shows `force` only as part of a command that accepts `force`. */
TEST(test_reasons)
{
    talk_says(&t, "load samples/thesis4.mtx; advise", "not symmetric in row 2, column 0");
    talk_says(&t, "gen random 9 2 12; advise", "dia-symmetric: the matrix is not square");
    assert_null(strstr(t.out, "dia-symmetric: dia-symmetric"));
    talk_says(&t, "gen circuit 30000 2; advise", "`convert ell force` stores it anyway");
    assert_null(strstr(t.out, "add `force`"));
    talk_refuses(&t, "explain ell f32", "`convert ell f32 force` first");
    talk_refuses(&t, "trace ell", "`convert ell force` first");
    talk_refuses(&t, "count ell", "`convert ell force` first");
    talk_says(&t, "gen random 9 2 12; count", "dia-symmetric: the matrix is not square");
    assert_null(strstr(t.out, "dia-symmetric: dia-symmetric"));
}

/* Suggestions name only kernels that the model finds faster, never the kernel itself. */
TEST(test_remedies)
{
    char *end;
    double us;
    talk_says(&t, "gen poisson2d 300; explain csr-vector", "csr-vector on poisson2d, fp64: ");
    us = strtod(strstr(t.out, "fp64: ") + strlen("fp64: "), &end);
    assert_memory_equal(end, " us", 3);
    for (const char *at = strstr(t.out, "Remedy: "); at; at = strstr(at + 1, "Remedy: ")) {
        const char *line = strchr(at, '\n'), *name = at;
        while ((name = strstr(name + 1, " csr-")) && name < line) {
            assert_int_not_equal(strncmp(name, " csr-vector ", 12), 0);
            assert_true(strtod(strchr(name + 1, ' '), NULL) < us);
        }
    }
    talk_says(&t, "explain csr-vector", "csr-stream ");
    assert_null(strstr(t.out, "too few"));
    assert_null(strstr(t.out, "as good as it gets"));
}

/* Not more additions go to one sector than the rows of 4 neighbouring elements of y have entries, whatever a sample
   estimates. */
TEST(test_a_sector_gets_the_entries_of_its_rows)
{
    char expected[80];
    struct finding f[FINDINGS_MAX];
    struct modeled *k = model_of("gen circuit 5000 1", "coo-atomic", P_F64);
    const struct csr *A = &session_matrix(&t.s, NULL, NULL)->csr;
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i += 4) {
        int64_t end = i + 4 < A->rows ? i + 4 : A->rows, n = A->rowptr[end] - A->rowptr[i];
        most = n > most ? n : most;
    }
    for (int l = 0; l < k->work.n; l++) k->work.launch[l].hottest = 1e9;
    int n = findings_of(k, A, f), at = 0;
    while (at < n && strcmp(f[at].cause, "atomics") != 0) at++;
    assert_true(at < n);
    snprintf(expected, sizeof expected, "up to %lld go to one sector", (long long)most);
    if (!strstr(f[at].text, expected)) fail_msg("%s, not: %s", expected, f[at].text);
    mem_free(k);
}

/* Sampled counts are scaled up, and never exceed their maximum. */
TEST(test_atomics_are_bounded)
{
    struct matrix *m;
    int64_t longest = 0;
    talk_says(&t, "gen circuit 100000 4; explain coo-atomic", "449586 atomics, ");
    m = session_matrix(&t.s, NULL, NULL);
    for (int64_t i = 0; i + 3 < m->csr.rows; i += 4) {
        int64_t n = 0;
        for (int64_t k = i; k < i + 4; k++) n += csr_row_length(&m->csr, k);
        if (n > longest) longest = n;
    }
    assert_true(strtoll(strstr(t.out, "up to ") + strlen("up to "), NULL, 10) <= longest);
}

TEST(test_why_not)
{
    talk_says(&t, "gen poisson2d 500; why not coo", "Main extra cost over ");
    assert_null(strstr(t.out, "is launches"));
    talk_says(&t, "why not dense", "dense does not fit poisson2d: ");
    assert_null(strstr(t.out, "add `force`"));
    talk_says(&t, "why not coo-atomic", "coo-atomic would take ");
    talk_says(&t, "why not bsr block 8", "bsr (block 8) ");
    talk_says(&t, "why not dia-symmetric", "dia-symmetric ");
    talk_refuses(&t, "why not csr-serial",
                 "csr-serial is not ranked, because the emulator cannot run it; `why not csr` explains its format");
}

/* `kernels` says of each kernel whether it fits the values of the matrix, not only its shape. */
TEST(test_kernels_that_fit)
{
    talk_says(&t, "gen poisson2d 9; kernels dia", "dia-symmetric  dia     emu cuda  yes            yes ");
    talk_says(&t, "load samples/thesis4.mtx; kernels dia", "dia-symmetric  dia     emu cuda  yes            no ");
    talk_says(&t, "kernels ell of poisson2d", "ell-padded  ell     emu cuda  yes            yes ");
    assert_null(strstr(t.out, "csr"));
    talk_refuses(&t, "kernels elll", "did you mean `ell`?");
}

static const struct {
    const char *line, *part;
} wrong[] = {
    {"predict csr-scalar", "no matrix is loaded"},
    {"gen poisson2d 9; predict nonsense", "`nonsense` after `predict` is unknown"},
    {"gen poisson2d 9; predict csr-serial", "runs on the host"},
    {"gen poisson2d 9; predict csr-scalar 3", "is one too many"},
    {"gen poisson2d 9; why not nonsense", "is not a format"},
    {"gen poisson2d 9; advise for 0 products", "`for 0` is too few products"},
    {"gen poisson2d 9; advise top -1", "`top -1` is outside 1 .. 1000"},
    {"gen poisson2d 9; advise top 0", "`top 0` is outside 1 .. 1000"},
    {"gen poisson2d 9; whatif width 3", "`width` after `whatif` is unknown"},
    {"gen poisson2d 9; whatif format ell reorder nonsense", "is not an ordering"},
    {"gen random 9 2 12; whatif reorder rcm", "square"},
    {"gen random 4 0; predict csr-scalar", "no entries"},
    {"gen random 4 0; advise", "no entries"},
};

/* Without a kernel, commands use the one that `advise` ranks first among those of the emulator. */
TEST(test_best_kernel_is_meant)
{
    static const char *const commands[] = {"explain", "predict", "trace step 0", "explain of D", "predict f32"};
    assert_true(talk_line(&t, "gen poisson2d 9 as D; gen rmat 8 4 as R"));
    for (int i = 0; i < COUNT(commands); i++) {
        talk_forget(&t);
        assert_true(talk_line(&t, commands[i]));
        assert_non_null(strstr(t.err, "is predicted to be the fastest; name another kernel"));
    }
    talk_says(&t, "explain against coo-atomic", "minus that of");
    talk_refuses(&t, "gen random 4 0 as E; explain", "no kernel can be predicted for E; name one");
}

TEST(test_refused)
{
    for (int i = 0; i < COUNT(wrong); i++) {
        talk_refuses(&t, wrong[i].line, wrong[i].part);
        talk_line(&t, "drop");
    }
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return --*left > 0;
}

TEST(test_cancelled)
{
    struct err e = {0};
    struct machine g = machine_of(NULL);
    struct predictions a;
    talk_line(&t, "gen poisson2d 100");
    for (int ticks = 1; ticks < 400; ticks *= 4) {
        int left = ticks;
        struct watch old = t.s.watch;
        t.s.watch = (struct watch){stop, &left};
        err_clear(&e);
        assert_false(predictions_of(&t.s, session_matrix(&t.s, NULL, NULL), NULL, 0, P_F64, &g, &a, &e));
        t.s.watch = old;
        assert_int_equal(e.code, E_CANCELLED);
        predictions_free(&a);
    }
}

/* Every failing allocation gives an error of one line and releases everything. */
TEST(test_out_of_memory)
{
    bool ok = false;
    talk_line(&t, "gen circuit 300 1");
    for (int64_t n = 1; n < 4000 && !ok; n++) {
        talk_forget(&t);
        mem_fail_at(n);
        ok = talk_line(&t, "explain csr-stream; why not sell");
        mem_fail_at(0);
        talk_refresh(&t);
        if (!ok) assert_true(*t.err);
        if (!ok && n > 40) n += 13;
    }
    assert_true(ok);
}

SUITE(.before = open_talk, .after = close_talk);
