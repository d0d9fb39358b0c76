/* Traces of a warp. Steps on the 4 x 4 example are compared with steps worked out by hand, and every kernel's trace is
   compared with its counts. Other tests check keys forwards and backwards, the elements that other views highlight, and
   refusals. */
#include "advice/traced.h"
#include "base/mem.h"
#include "base/precision.h"
#include "commands/cmd_lu.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "microscope/tracing.h"
#include "session/product.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"
#include "ui/views/view_trace.h"

#include <stdio.h>

/*     0  1  2  3
   0   1  7             csr: ptr 0 2 4 7 9; col 0 1 1 2 0 2 3 1 3; val 8 bytes each, so four of them in a sector
   1      2  8          ell: width 3, slot 4 k + i is the k-th entry of row i
   2   5     3  9       sell with C 2: rows 2 0 | 1 3, 3 slots per row, then 2
   3      6     4                                                                                                  */
static const char example[] = "load samples/thesis4.mtx; ";

/* ---- exact steps ---- */

/* Write a step as text, such as "load val f 3 2 32 0 | 1(0,1) 3(1,2)". The fields are the access, the array, the mask,
   the sectors, the refetched sectors, the bytes and the padding. The element of each of up to four lanes follows, with
   its row and column, or * for padding. */
static void step_text(const struct tracing *v, int64_t k, char *out, size_t size)
{
    const struct access_site *p = tracing_site(v, k);
    struct request_facts f;
    int shown = 0;
    facts_of(&v->t.scope, &v->t.step[k], &f);
    size_t n =
        (size_t)snprintf(out, size, "%s %s %x %d %d %d %d |", access_names[p->kind], tracing_array(v, k),
                         v->t.step[k].mask, f.nsectors, __builtin_popcountll(v->step[k].refetched), f.bytes, f.padding);
    for (int l = 0; l < LANES && shown < 4; l++) {
        struct lane_at at = tracing_lane(v, k, l);
        char row[16] = "-", col[16] = "-";
        if (at.state != LANE_ACTIVE || !at.has_index) continue;
        if (at.row >= 0) snprintf(row, sizeof row, "%d", (int)at.row);
        if (at.col >= 0) snprintf(col, sizeof col, "%d", (int)at.col);
        n += (size_t)snprintf(out + n, size - n, at.padding ? " %d*" : " %d(%s,%s)", (int)at.index, row, col);
        shown++;
    }
}

static const struct exact {
    const char *line;
    const char *steps[16];
} exacts[] = {
    {"trace csr-scalar",
     {"load ptr f 1 0 16 0 | 1(0,-) 2(1,-) 3(2,-) 4(3,-)", "load ptr f 1 1 16 0 | 0(0,-) 1(1,-) 2(2,-) 3(3,-)",
      "load val f 2 0 32 0 | 0(0,0) 2(1,1) 4(2,0) 7(3,1)", "load col f 1 0 16 0 | 0(0,0) 2(1,1) 4(2,0) 7(3,1)",
      "load x f 1 0 16 0 | 0(0,0) 1(1,1) 0(2,0) 1(3,1)", "load val f 3 2 32 0 | 1(0,1) 3(1,2) 5(2,2) 8(3,3)",
      "load col f 2 1 16 0 | 1(0,1) 3(1,2) 5(2,2) 8(3,3)", "load x f 1 1 24 0 | 1(0,1) 2(1,2) 2(2,2) 3(3,3)",
      "load val 4 1 1 8 0 | 6(2,3)", "load col 4 1 1 4 0 | 6(2,3)", "load x 4 1 1 8 0 | 3(2,3)",
      "store y f 1 0 32 0 | 0(0,-) 1(1,-) 2(2,-) 3(3,-)"}},
    {"trace ell",
     {"load col f 1 0 16 0 | 0(0,0) 1(1,1) 2(2,0) 3(3,1)", "load val f 1 0 32 0 | 0(0,0) 1(1,1) 2(2,0) 3(3,1)",
      "load x f 1 0 16 0 | 0(0,0) 1(1,1) 0(2,0) 1(3,1)", "load col f 1 1 16 0 | 4(0,1) 5(1,2) 6(2,2) 7(3,3)",
      "load val f 1 0 32 0 | 4(0,1) 5(1,2) 6(2,2) 7(3,3)", "load x f 1 1 24 0 | 1(0,1) 2(1,2) 2(2,2) 3(3,3)",
      "load col f 1 0 16 12 | 8* 9* 10(2,3) 11*", "load val 4 1 0 8 0 | 10(2,3)", "load x 4 1 1 8 0 | 3(2,3)",
      "store y f 1 0 32 0 | 0(0,-) 1(1,-) 2(2,-) 3(3,-)"}},
    {"trace csr-vector warp 2", /* in row 2 three lanes have an entry, and all lanes add */
     {"load ptr ffffffff 1 0 4 0 | 3(2,-) 3(2,-) 3(2,-) 3(2,-)",
      "load ptr ffffffff 1 1 4 0 | 2(2,-) 2(2,-) 2(2,-) 2(2,-)", "load val 7 1 0 24 0 | 4(2,0) 5(2,2) 6(2,3)",
      "load col 7 1 0 12 0 | 4(2,0) 5(2,2) 6(2,3)", "load x 7 1 0 24 0 | 0(2,0) 2(2,2) 3(2,3)",
      "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |",
      "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |", "store y 1 1 0 8 0 | 2(2,-)"}},
    {"trace csr-vector warp 2 f32",
     {"load ptr ffffffff 1 0 4 0 | 3(2,-) 3(2,-) 3(2,-) 3(2,-)",
      "load ptr ffffffff 1 1 4 0 | 2(2,-) 2(2,-) 2(2,-) 2(2,-)", "load val 7 1 0 12 0 | 4(2,0) 5(2,2) 6(2,3)",
      "load col 7 1 0 12 0 | 4(2,0) 5(2,2) 6(2,3)", "load x 7 1 0 12 0 | 0(2,0) 2(2,2) 3(2,3)",
      "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |",
      "exchange  ffffffff 0 0 0 0 |", "exchange  ffffffff 0 0 0 0 |", "store y 1 1 0 4 0 | 2(2,-)"}},
    {"trace sell 2",
     {"load perm f 1 0 16 0 | 0(2,-) 1(0,-) 2(1,-) 3(3,-)", "load ptr f 1 0 8 0 | 1(2,-) 1(0,-) 2(1,-) 2(3,-)",
      "load ptr f 1 1 8 0 | 0(2,-) 0(0,-) 1(1,-) 1(3,-)", "load col f 1 0 16 0 | 0(2,0) 1(0,0) 6(1,1) 7(3,1)",
      "load val f 2 0 32 0 | 0(2,0) 1(0,0) 6(1,1) 7(3,1)", "load col f 2 1 16 0 | 2(2,2) 3(0,1) 8(1,2) 9(3,3)",
      "load val f 2 1 32 0 | 2(2,2) 3(0,1) 8(1,2) 9(3,3)", "load col 3 1 1 8 4 | 4(2,3) 5*",
      "load val 3 1 1 16 8 | 4(2,3) 5*", "load x f 1 0 16 0 | 0(2,0) 0(0,0) 1(1,1) 1(3,1)",
      "load x f 1 1 24 0 | 2(2,2) 1(0,1) 2(1,2) 3(3,3)", "load x 1 1 1 8 0 | 3(2,3)",
      "store y f 1 0 32 0 | 2(2,-) 0(0,-) 1(1,-) 3(3,-)"}},
    {"trace coo-atomic", /* row 2 has three entries, so the atomics for this row are serialised */
     {"load val 1ff 3 0 72 0 | 0(0,0) 1(0,1) 2(1,1) 3(1,2)", "load col 1ff 2 0 36 0 | 0(0,0) 1(0,1) 2(1,1) 3(1,2)",
      "load x 1ff 1 0 32 0 | 0(0,0) 1(0,1) 1(1,1) 2(1,2)", "load row 1ff 2 0 36 0 | 0(0,0) 1(0,1) 2(1,1) 3(1,2)",
      "atomic y 1ff 3 0 32 0 | 0(0,-) 0(0,-) 1(1,-) 1(1,-)"}},
    {"trace lu-paper launch 2 b 2", /* slot 4 j + i is row i, column j; the block updates rows and columns 1 and 2 */
     {"load A 3 1 0 16 0 | 1(1,0) 2(2,0)", "shared store col 3 0 0 16 0 | 0(-,-) 1(-,-)",
      "load A 3 2 0 16 0 | 4(0,1) 8(0,2)", "shared store row 3 0 0 16 0 | 0(-,-) 1(-,-)", "barrier  f 0 0 0 0 |",
      "shared load col f 0 0 32 0 | 0(-,-) 1(-,-) 0(-,-) 1(-,-)",
      "shared load row f 0 0 32 0 | 0(-,-) 0(-,-) 1(-,-) 1(-,-)", "load A f 2 2 32 0 | 5(1,1) 6(2,1) 9(1,2) 10(2,2)",
      "store A f 2 2 32 0 | 5(1,1) 6(2,1) 9(1,2) 10(2,2)"}},
};

/* In csc, the lane of column 3 reads the end pointer of the column. */
TEST(column_pointers)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/thesis4.mtx; trace csc-atomic"));
    for (int l = 0; l < 4; l++) {
        struct lane_at at = tracing_lane(t.s.trace, 0, l);
        assert_true(at.index == l + 1 && at.col == l && at.row == -1);
    }
    talk_close(&t);
}

TEST(steps_by_hand)
{
    for (int i = 0; i < COUNT(exacts); i++) {
        struct talk t;
        char text[256], line[128];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "%s%s", example, exacts[i].line);
        assert_true(talk_line(&t, line));
        const struct tracing *v = t.s.trace;
        int64_t n = 0;
        for (; exacts[i].steps[n]; n++) {
            if (n >= v->t.nsteps) fail_msg("%s: only %d steps", exacts[i].line, (int)v->t.nsteps);
            step_text(v, n, text, sizeof text);
            if (strcmp(text, exacts[i].steps[n]))
                fail_msg("%s, step %d: expected `%s`, found `%s`", exacts[i].line, (int)n, exacts[i].steps[n], text);
        }
        assert_int_equal(v->t.nsteps, n);
        talk_close(&t);
    }
}

/* csr-scalar makes 12 requests: nine by 4 lanes each, and three by one lane alone, which finishes row 2 while the other
   lanes wait. The totals follow from the table above. */
TEST(totals_by_hand)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "load samples/thesis4.mtx; trace csr-scalar",
              "12 requests to global memory, 16 sectors, 1.33 per request");
    const struct trace_sums *s = &t.s.trace->step[11].sums, *m = &t.s.trace->step[5].sums;
    assert_int_equal(s->lanes, 9 * 4 + 3);
    assert_int_equal(s->diverged, 3);
    assert_int_equal(s->bytes, 16 + 16 + 32 + 16 + 16 + 32 + 16 + 24 + 8 + 4 + 8 + 32);
    assert_int_equal(s->refetched, 1 + 2 + 1 + 1 + 1 + 1 + 1);
    assert_int_equal(s->least, 12);
    assert_int_equal(m->steps, 6);
    assert_int_equal(m->sectors, 1 + 1 + 2 + 1 + 1 + 3);
    talk_says(&t, "trace coo-atomic",
              "288 B fetched: useful 208, padding 0, unused 80; fetched again 0\n"
              "atomics: 5 lanes serialised, because other lanes use the same address\n"
              "on a GPU, serialised atomics add 2 sectors: 11 in total");
    assert_int_equal(t.s.trace->t.launch, 1); /* the first launch only scales y */
    s = &t.s.trace->step[4].sums;
    assert_int_equal(s->unused, 3 * 32 - 72 + 2 * 32 - 36 + 0 + 2 * 32 - 36 + 0);
    assert_int_equal(s->sectors, 3 + 2 + 1 + 2 + 1);
    assert_int_equal(s->counted, 3 + 2 + 1 + 2 + 3);
    talk_says(&t, "trace csr-scalar warp 1", "nothing to do");
    assert_int_equal(t.s.trace->t.nsteps, 0);
    talk_says(&t, "trace csr-scalar step 5 to 6", "val[1, 3, 5, 8]");
    assert_null(strstr(t.out, "x[1, 2, 2, 3]"));
    assert_int_equal(t.s.trace->at, 5);
    talk_close(&t);
}

/* ---- shared memory ---- */

/* The entry with this number. */
static void entry_at(const struct csr *A, int64_t k, int64_t *row, int64_t *col)
{
    for (*row = 0; A->rowptr[*row + 1] <= k;) ++*row;
    *col = A->col[k];
}

static int64_t as_it_is(int64_t i)
{
    return i;
}

/* csr-stream-padded leaves a slot after every 16 products of 8 bytes. */
static int64_t padded(int64_t i)
{
    return i % 17 == 16 ? -1 : i - i / 17;
}

/* Each element of `product` that a warp of block 0 accesses stands for its entry. Returns the number of such elements.
 */
static int check_products(const struct tracing *v, int64_t entries, int64_t (*entry_of)(int64_t i))
{
    int n = 0;
    for (int64_t k = 0; k < v->t.nsteps; k++)
        for (int l = 0; l < LANES; l++) {
            struct lane_at at = tracing_lane(v, k, l);
            int64_t row, col, entry = at.has_index ? entry_of(at.index) : -1;
            if (at.state != LANE_ACTIVE || strcmp(tracing_array(v, k), "product") || entry < 0 || entry >= entries)
                continue;
            entry_at(v->A, entry, &row, &col);
            if (at.row != row || at.col != col)
                fail_msg("%s, step %d, lane %d: product[%d] is entry (%d, %d), not (%d, %d)", v->name, (int)k, l,
                         (int)at.index, (int)row, (int)col, (int)at.row, (int)at.col);
            n++;
        }
    return n;
}

/* The warps of csr-stream and csr-merge read products that other warps have stored. In csr-merge, a thread stores
   several products after it has loaded all of their entries. */
TEST(lanes_that_read_shared_memory_work_on_what_it_holds)
{
    static const struct {
        const char *make, *kernel;
        int64_t (*entry_of)(int64_t i);
    } cases[] = {{"gen random 512 5", "csr-stream f32", as_it_is},
                 {"gen random 512 5", "csr-stream-padded f64", padded},
                 {"gen random 300 6", "csr64-stream", as_it_is},
                 {"gen rmat 7 seed 3", "csr-stream", as_it_is},
                 {"gen rmat 7 seed 3", "csr-merge", as_it_is},
                 {"gen random 60 9", "csr-merge f32", as_it_is},
                 {"load samples/thesis4.mtx", "csr-merge", as_it_is},
                 {"load tests/files/hermitian.mtx", "csr-stream", as_it_is}};
    for (int i = 0; i < COUNT(cases); i++) {
        int known = 0;
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, cases[i].make));
        for (int warp = 0; warp < 4; warp++) {
            char line[96];
            snprintf(line, sizeof line, "trace %s warp %d launch %d block 0", cases[i].kernel, warp,
                     t.s.trace ? t.s.trace->t.launch : 0);
            if (!warp) snprintf(line, sizeof line, "trace %s", cases[i].kernel);
            assert_true(talk_line(&t, line));
            const struct csr *A = t.s.trace->A;
            int64_t rows = A->rows < 256 ? A->rows : 256, entries = A->rowptr[rows];
            /* the next 2048 products would take the place of the first ones */
            if (entries > 2048) fail_msg("%s: %d", cases[i].make, (int)entries);
            known += check_products(t.s.trace, entries, cases[i].entry_of);
        }
        assert_true(known > 0);
        talk_close(&t);
    }
}

/* The first product of each of the first 32 rows, which have 16 entries each. */
TEST(the_first_products_of_rows)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 512 16; trace csr-stream step 37 to 37"));
    const struct csr *A = t.s.trace->A;
    for (int l = 0; l < LANES; l++) {
        struct lane_at at = tracing_lane(t.s.trace, 37, l);
        assert_true(at.index == 16 * l && at.row == l && at.col == A->col[16 * l]);
    }
    assert_int_equal(tracing_lane(t.s.trace, 37, 0).col, 3);
    talk_close(&t);
}

/* A group of threads stores the sums of its part of some rows; another group adds them up. A sum has a row, but no
   column. */
TEST(sums_in_shared_memory_have_a_row)
{
    static const char *const lines[] = {"gen band 200 14; trace dia", "gen fem 6; trace bsell",
                                        "gen band 500 20; trace dia f32"};
    for (int i = 0; i < COUNT(lines); i++) {
        int known = 0;
        int64_t stored[LANES];
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, lines[i]));
        const struct tracing *v = t.s.trace;
        for (int64_t k = 0; k < v->t.nsteps; k++)
            for (int l = 0; l < LANES; l++)
                if (!strcmp(tracing_array(v, k), "y") && v->t.step[k].mask >> l & 1)
                    stored[l] = tracing_lane(v, k, l).row;
        for (int64_t k = 0; k < v->t.nsteps; k++)
            for (int l = 0; l < LANES; l++) {
                struct lane_at at = tracing_lane(v, k, l);
                if (at.state != LANE_ACTIVE || strcmp(tracing_array(v, k), "part")) continue;
                assert_true(at.col < 0 || csr_find(v->A, at.row, at.col) >= 0); /* the sum of a single entry */
                if (at.row >= 0 && at.row != stored[l])
                    fail_msg("%s, step %d, lane %d: row %d, not %d", lines[i], (int)k, l, (int)at.row, (int)stored[l]);
                known += at.row >= 0 && at.col < 0;
            }
        assert_true(known >= 2 * LANES);
        talk_close(&t);
    }
}

/* Shared memory that holds pointers of rows has no place in the matrix, and the lane's last row is not shown for it. */
TEST(integers_in_shared_memory_have_no_place)
{
    int n = 0;
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 100 9; trace csr-merge"));
    const struct tracing *v = t.s.trace;
    for (int64_t k = 0; k < v->t.nsteps; k++)
        for (int l = 0; l < LANES; l++) {
            struct lane_at at = tracing_lane(v, k, l);
            if (at.state != LANE_ACTIVE || strcmp(tracing_array(v, k), "end")) continue;
            assert_true(at.row == -1 && at.col == -1);
            n++;
        }
    assert_true(n > 100);
    talk_close(&t);
}

/* ---- every kernel ---- */

static const char *const matrices[] = {"load samples/thesis4.mtx", "gen poisson2d 9", "gen rmat 7 seed 3",
                                       "gen circuit 150 3",        "gen band 90 4",   "gen random 40 70 200"};

static void add_request(struct tally *t, const struct trace_sums *s)
{
    t->requests += s->requests;
    t->sectors += s->counted;
    t->bytes += s->bytes;
    t->padding += s->padding;
    t->wavefronts += s->wavefronts;
    t->wavefronts_least += s->wavefronts_least;
    t->contended += s->contended;
    t->lanes += s->lanes;
}

/* The totals of step k cover steps 0 to k. Compare these totals with totals computed here from each request. */
static void check_sums(const struct tracing *v)
{
    int64_t counted = 0, padding = 0, lanes = 0;
    for (int64_t k = 0; k < v->t.nsteps; k++) {
        struct request_facts f;
        facts_of(&v->t.scope, &v->t.step[k], &f);
        counted += f.nsectors;
        padding += f.padding;
        lanes += f.lanes;
        const struct trace_sums *s = &v->step[k].sums;
        assert_true(s->counted == counted && s->padding == padding && s->lanes == lanes && s->steps == k + 1);
        assert_true(s->least <= s->sectors && s->refetched <= s->sectors && s->bytes <= s->sectors * SECTOR);
        assert_int_equal(s->bytes + s->unused, s->sectors * SECTOR); /* useful + padding + unused = bytes fetched */
        assert_true(!(v->t.step[k].mask & ~tracing_alive(v, k)));
        assert_non_null(kernel_source_line(tracing_site(v, k)->file, tracing_site(v, k)->line, &(int){0}));
        for (int l = 0; l < LANES; l++) {
            struct lane_at at = tracing_lane(v, k, l);
            assert_int_equal(at.state == LANE_ACTIVE, v->t.step[k].mask >> l & 1);
            assert_true(at.row < v->matrix->csr.rows && at.col < v->matrix->csr.cols);
        }
    }
}

static void ignore(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                   const struct request_facts *f)
{
}

/* The totals of all sites: requests and bytes of global memory, everything else of all accesses. */
static struct tally sum_of(const struct counts *c)
{
    struct tally sum = {0};
    for (int t = 0; t < ACCESS_KINDS; t++) {
        struct tally x = counts_of(c, (enum access_kind)t, -1, -1);
        if (accesses_global((enum access_kind)t)) sum.requests += x.requests, sum.bytes += x.bytes;
        sum.sectors += x.sectors;
        sum.padding += x.padding;
        sum.wavefronts += x.wavefronts;
        sum.wavefronts_least += x.wavefronts_least;
        sum.contended += x.contended;
        sum.lanes += x.lanes;
    }
    return sum;
}

/* All warps of all launches together give the counts of count_kernel. */
static void check_kernel(struct session *s, const struct kernel *k, enum precision real)
{
    struct err e = {0};
    struct trace_request w = {.matrix = s->current, .kernel = k, .real = real, .launch = -1};
    struct tally sum = {0};
    static struct counts c;
    if (!tracing_begin(s, &w, &e)) {
        if (e.code == E_INPUT || e.code == E_LIMIT || e.code == E_UNSUPPORTED)
            return; /* the format refuses the matrix */
        fail_msg("%s: %s", k->name, e.text);
    }
    const struct scope first = s->trace->t.scope;
    for (int l = 0; l < first.nlaunches; l++)
        for (int64_t b = 0; b < first.launch[l].blocks; b++)
            for (int i = 0; i * LANES < first.launch[l].threads; i++) {
                w.param = s->trace->product->requested;
                w.launch = l, w.block = b, w.warp = i;
                if (!tracing_begin(s, &w, &e)) fail_msg("%s: %s", k->name, e.text);
                check_sums(s->trace);
                if (s->trace->t.nsteps) add_request(&sum, &s->trace->step[s->trace->t.nsteps - 1].sums);
            }
    const struct scope_sink sink = {.request = ignore};
    const struct mat *M = session_mat(s, (struct product *)s->trace->product, device_open("emu", &e), &e);
    assert_true(M && count_kernel(k, M, 0, &sink, NULL, &c, &e));
    struct tally want = sum_of(&c);
    if (memcmp(&sum, &want, sizeof sum))
        fail_msg("%s of %s: requests %d, not %d; sectors %d, not %d; lanes %d, not %d", k->name, s->current->name,
                 (int)sum.requests, (int)want.requests, (int)sum.sectors, (int)want.sectors, (int)sum.lanes,
                 (int)want.lanes);
}

/* All warps of all launches of a column together give the counts of count_launches. */
static void check_lu_column(struct session *s, const struct lu_method *m, int64_t column, enum precision real)
{
    struct err e = {0};
    struct lu_options o = {.method = m, .dev = session_device(s, "emu", &e), .real = real, .b = 4};
    struct trace_request w = {.matrix = s->current, .real = real, .lu = {m, column, 4}};
    struct tally sum = {0};
    struct lu_column c;
    static struct counts counted;
    assert_true(lu_column_begin(&c, &s->current->csr, column, &o, &e));
    const struct watched of = lu_column_watched(&c);
    assert_true(count_launches(&of, 0, NULL, NULL, &counted, &e));
    const struct scope *all = &counted.scope;
    for (w.launch = 0; w.launch < all->nlaunches; w.launch++)
        for (w.block = 0; w.block < all->launch[w.launch].blocks; w.block++)
            for (w.warp = 0; w.warp * LANES < all->launch[w.launch].threads; w.warp++) {
                if (!tracing_begin(s, &w, &e)) fail_msg("%s: %s", m->name, e.text);
                check_sums(s->trace);
                if (s->trace->t.nsteps) add_request(&sum, &s->trace->step[s->trace->t.nsteps - 1].sums);
            }
    struct tally want = sum_of(&counted);
    assert_memory_equal(&sum, &want, sizeof sum);
    lu_column_free(&c);
}

TEST(every_lu_method)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 11 seed 4"));
    for (int m = 0; lu_methods[m]; m++)
        for (int64_t k = 0; k < 11 && lu_methods[m]->step; k += 5) {
            check_lu_column(&t.s, lu_methods[m], k, P_F64);
            check_lu_column(&t.s, lu_methods[m], k, P_F32);
        }
    talk_close(&t);
}

TEST(every_kernel)
{
    const struct device *emu = device_open("emu", NULL);
    for (int m = 0; m < COUNT(matrices); m++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, matrices[m]));
        for (int k = 0; kernels[k]; k++)
            if (kernel_runs_on(kernels[k], emu)) check_kernel(&t.s, kernels[k], k % 2 ? P_F32 : P_F64);
        talk_close(&t);
    }
}

/* ---- keys ---- */

struct screen {
    struct talk t;
    const struct view *v;
    struct view_state *st;
};

static void screen_open(struct screen *x, const char *line)
{
    struct err e = {0};
    talk_open(&x->t, OUT_TEXT);
    assert_true(ui_attach(&x->t.s, &e));
    if (!talk_line(&x->t, line)) fail_msg("%s: %s", line, x->t.err);
    x->v = view_find("trace");
    x->st = screen_view_state(&x->t.s, x->v);
    view_reset(x->st, x->t.s.current);
    x->st->full = true;
}

static void screen_close(struct screen *x)
{
    ui_detach(&x->t.s);
    talk_close(&x->t);
}

static void press(struct screen *x, const char *keys)
{
    for (; *keys; keys++) view_key(&x->t.s, x->v, *keys == '\n' ? UI_ENTER : *keys);
}

static char *drawn(struct screen *x, int w, int h)
{
    struct canvas c;
    char *text = NULL;
    size_t n = 0;
    assert_true(canvas_new(&c, w, h, false, NULL));
    view_draw(x->v, &c, &x->t.s, x->st);
    FILE *f = open_memstream(&text, &n);
    canvas_print_ansi(&c, f, COLOURS_256);
    fclose(f);
    canvas_free(&c);
    return text;
}

static void check_at(struct screen *x, const char *keys, int64_t at)
{
    press(x, keys);
    if (x->t.s.trace->at != at)
        fail_msg("after `%s` at step %d, not %d; %s", keys, (int)x->t.s.trace->at, (int)at, x->st->message);
}

static void check_says(struct screen *x, const char *keys, const char *part)
{
    press(x, keys);
    if (!strstr(x->st->message, part)) fail_msg("after `%s` expected `%s`, found `%s`", keys, part, x->st->message);
}

TEST(keys_move)
{
    struct screen x;
    screen_open(&x, "load samples/thesis4.mtx; trace csr-scalar");
    check_at(&x, "s", 1);
    check_at(&x, "3s", 4);
    check_at(&x, "2b", 2);
    check_at(&x, "b", 1); /* steps without lanes */
    check_at(&x, "99s", 11);
    check_at(&x, "99b", 0);
    check_at(&x, "d", 8);
    check_at(&x, "2d", 10);
    check_says(&x, "d", "no later step with divergent lanes");
    check_at(&x, "D", 9);
    check_at(&x, "gu", 2); /* the first step whose 32 bytes lie in two sectors */
    check_at(&x, "u", 5);
    check_at(&x, "u", 6);
    check_says(&x, "u", "no later");
    check_at(&x, "U", 5);
    check_says(&x, "z", "padding");
    check_at(&x, "G", 11);
    check_at(&x, "gr23\n", 1);
    check_at(&x, "r24\n", 11);
    check_at(&x, "R20\n", 0);
    check_says(&x, "r19\n", "no later step is on line 19");
    check_at(&x, "Kell\n", 0);
    assert_string_equal(x.t.s.trace->kernel->name, "ell");
    check_at(&x, "z", 6);
    check_says(&x, "Knone\n", "no kernel `none`");
    check_says(&x, "Kcsr-serial\n", "does not run on the emulator");
    check_says(&x, "Kdense\nk", "no other kernel");
    press(&x, "Kell\n");
    check_says(&x, "w", "");
    assert_int_equal(x.t.s.trace->t.warp, 1);
    press(&x, "2w");
    assert_int_equal(x.t.s.trace->t.warp, 3);
    check_says(&x, "w", "no further warp");
    check_says(&x, "]", "no further block");
    check_says(&x, "[", "there is no earlier block");
    check_says(&x, "l", "ell consists of 1 launch");
    press(&x, "3W");
    assert_int_equal(x.t.s.trace->t.warp, 0);
    check_says(&x, "W", "there is no earlier warp");
    press(&x, "Kcsr-vector\nk");
    assert_string_equal(x.t.s.trace->kernel->format->name, "csr");
    assert_string_not_equal(x.t.s.trace->kernel->name, "csr-vector");
    press(&x, "Kcoo-atomic\nL");
    assert_int_equal(x.t.s.trace->t.launch, 0);
    screen_close(&x);
}

/* Check that the first line of the view, `w` columns wide, contains `part`. */
static void title_has(struct screen *x, int w, const char *part)
{
    struct canvas c;
    char line[256] = "";
    assert_true(canvas_new(&c, w, 24, false, NULL));
    view_draw(x->v, &c, &x->t.s, x->st);
    for (int i = 0; i < w; i++) line[i] = c.cell[i].glyph < 128 ? (char)c.cell[i].glyph : '?';
    canvas_free(&c);
    if (!strstr(line, part)) fail_msg("%d columns: expected `%s`, found `%s`", w, part, line);
}

/* In LU, l and L go on to the neighbouring columns; the column at the start is the one that `lu step` does next. */
TEST(keys_move_through_lu)
{
    struct screen x;
    screen_open(&x, "gen dense 6; trace lu-paper b 2");
    const struct tracing *const *v = (const struct tracing *const *)&x.t.s.trace;
    assert_true((*v)->lu.column == 0 && (*v)->t.launch == 0 && (*v)->lu.b == 2);
    press(&x, "l");
    press(&x, "l");
    assert_true((*v)->lu.column == 0 && (*v)->t.launch == 2);
    press(&x, "]");
    assert_int_equal((*v)->t.block, 1);
    press(&x, "l");
    assert_true((*v)->lu.column == 1 && (*v)->t.launch == 0 && (*v)->t.block == 0 && (*v)->lu.b == 2);
    press(&x, "L");
    assert_true((*v)->lu.column == 0 && (*v)->t.launch == 2);
    press(&x, "L");
    press(&x, "L");
    check_says(&x, "L", "column 0 is the first");
    check_says(&x, "k", "lu-paper has no other kernel here");
    check_says(&x, "Klu\n", "no kernel `lu`");
    check_at(&x, "Kell\n", 0);
    assert_non_null((*v)->kernel);
    press(&x, "Klu-paper\n");
    assert_true(!(*v)->kernel && (*v)->lu.b == 8);
    lu_steps_begin(&x.t.s, x.t.s.current, false, NULL);
    lu_steps_to(x.t.s.lu, 4);
    assert_true(talk_line(&x.t, "trace lu-paper"));
    assert_int_equal((*v)->lu.column, 4);
    lu_steps_to(x.t.s.lu, 6);
    assert_true(talk_line(&x.t, "trace lu-paper"));
    assert_int_equal((*v)->lu.column, 5);
    press(&x, "l");
    check_says(&x, "l", "column 5 is the last");
    title_has(&x, 100, "launch 1 of 0..1 column 5 of 0..5");
    screen_close(&x);
}

/* ---- the default launch, and positions that do not exist ---- */

/* The default launch is the launch with the most work, not the launch with the most threads or shuffles. */
TEST(opens_at_the_launch_with_most_work)
{
    struct screen x;
    screen_open(&x, "load samples/thesis4.mtx; trace hyb");
    assert_string_equal(tracing_array(x.t.s.trace, 0), "ell_col");
    check_says(&x, "9l", "hyb consists of 2 launches");
    assert_true(talk_line(&x.t, "gen poisson2d 100; trace coo-segmented"));
    assert_true(x.t.s.trace->t.nsteps > 1);
    x.t.s.trace->lane = 31;
    /* Every lane has a row, so no lane is inactive, and the chosen lane stays the same. */
    assert_true(talk_line(&x.t, "trace csr-scalar"));
    assert_int_equal(x.t.s.trace->lane, 31);
    assert_true(talk_line(&x.t, "load samples/thesis4.mtx; trace csr-scalar step 9"));
    assert_int_equal(x.t.s.trace->lane, 2);
    screen_close(&x);
}

TEST(rows_go_to_their_warp)
{
    struct screen x;
    screen_open(&x, "gen poisson2d 30; trace csr-scalar");
    check_says(&x, "/574\n", "row 574: block 4 warp 1 (17w), if every warp has the same number of rows");
    press(&x, "17w");
    press(&x, "/574\n");
    assert_string_equal(x.st->message, "");
    int64_t row, col;
    assert_true(x.v->at(&x.t.s, x.st, &row, &col) && row == 574);
    check_says(&x, "/574 3\n", "no lane of this warp is at (574, 3)");
    check_says(&x, "/0\n", "row 0: block 0 warp 0 (17W)");
    assert_true(talk_line(&x.t, "trace coo-atomic"));
    check_says(&x, "/574\n", "row 574 is not in this warp; ]/[ block, w/W warp");
    screen_close(&x);
}

TEST(titles)
{
    struct screen x;
    screen_open(&x, "gen poisson2d 200; trace csr-scalar block 100 warp 1 step 3");
    title_has(&x, 120, "40,000 x 40,000, 199,200 nnz");
    title_has(&x, 120, "step 3 of 0..17 block 100 of 0..312 warp 1 of 0..3 fp64");
    title_has(&x, 80, "csr-scalar  poisson2d  step 3 of 0..17 block 100 of 0..312 warp 1 of 0..3 fp64");
    title_has(&x, 40, "csr-scalar  step 3 block 100 warp 1");
    title_has(&x, 24, "step 3 block 100 warp 1");
    screen_close(&x);
}

/* A step looks the same whether it is reached forwards or backwards. */
TEST(backward_equals_forward)
{
    static const char *const lines[] = {"load samples/thesis4.mtx; trace sell 2", "gen rmat 7 seed 3; trace csr-merge",
                                        "gen poisson2d 9; trace csr-vector", "gen circuit 150 3; trace csr-cusp f32"};
    static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 10}};
    for (int i = 0; i < COUNT(lines); i++) {
        struct screen x;
        screen_open(&x, lines[i]);
        int64_t n = x.t.s.trace->t.nsteps;
        char *seen[3];
        for (int64_t k = 0; k < n; k += 1 + n / 20) {
            tracing_go(x.t.s.trace, k);
            for (int z = 0; z < 3; z++) seen[z] = drawn(&x, sizes[z][0], sizes[z][1]);
            press(&x, "G");
            for (int64_t b = n - 1; b > k; b--) press(&x, "b");
            for (int z = 0; z < 3; z++) {
                char *again = drawn(&x, sizes[z][0], sizes[z][1]);
                assert_string_equal(again, seen[z]);
                free(again);
                free(seen[z]);
            }
        }
        screen_close(&x);
    }
}

/* Press any keys, including answers to questions, on screens of any size. */
TEST(keys_on_all_screens)
{
    static const char typed[] =
        "?s ?d3u2p5sKell\nDDGUPr20\nR-1\nr\nrx\nKhyb\nlLkKcsr-merge\nd9wW3tT99999999999sKdense\nKsell\np"
        "GkKcoo-atomic\nLb";
    static const int sizes[][2] = {{1, 1},   {20, 5},  {39, 7},   {40, 10}, {41, 18},
                                   {52, 19}, {79, 23}, {120, 40}, {300, 90}};
    for (int m = 0; m < COUNT(matrices); m++) {
        struct screen x;
        char line[128], *text;
        snprintf(line, sizeof line, "%s; trace csr-scalar", matrices[m]);
        screen_open(&x, line);
        for (const char *k = typed; *k; k++) {
            press(&x, (const char[]){*k, 0});
            for (int i = 0; i < COUNT(sizes); i++) {
                text = drawn(&x, sizes[i][0], sizes[i][1]);
                free(text);
            }
            const struct tracing *v = x.t.s.trace;
            assert_true(v->at >= 0 && (v->at < v->t.nsteps || v->t.nsteps == 0) && v->lane >= 0 && v->lane < LANES);
        }
        for (int i = 0; i < COUNT(sizes); i++) {
            free(drawn(&x, sizes[i][0], sizes[i][1]));
            for (int y = 0; y < sizes[i][1]; y += 1 + sizes[i][1] / 20)
                for (int k = 0; k < sizes[i][0]; k += 7) x.v->click(&x.t.s, x.st, k, y);
        }
        screen_close(&x);
    }
}

/* ---- the other views ---- */

TEST(elements_are_highlighted)
{
    struct screen x;
    struct place lit[LANES];
    int64_t row, col;
    screen_open(&x, "load samples/thesis4.mtx; trace csr-scalar");
    struct session *s = &x.t.s;
    tracing_go(s->trace, 5); /* val[1, 3, 5, 8] */
    assert_int_equal(traced_elements(s, s->current, lit), 4);
    assert_true(lit[2].row == 2 && lit[2].col == 2);
    const struct stored *S = &s->trace->product->S;
    for (int64_t i = 0; i < 9; i++) {
        assert_int_equal(traced_slot(s, S, CSR_VAL, i), i == 1 || i == 3 || i == 5 || i == 8);
        assert_false(traced_slot(s, S, CSR_COL, i));
    }
    press(&x, "g");
    assert_int_equal(traced_elements(s, s->current, lit), 0); /* pointers are not elements */
    assert_true(traced_slot(s, S, CSR_PTR, 4) && !traced_slot(s, S, CSR_PTR, 0));
    /* The view goes to the first step that reads this element, and to the lane that reads it. */
    assert_true(x.v->go(s, x.st, 2, 3));
    assert_true(s->trace->at == 8 && s->trace->lane == 2);
    assert_true(x.v->at(s, x.st, &row, &col) && row == 2 && col == 3);
    assert_false(x.v->go(s, x.st, 0, 3));
    assert_true(talk_line(&x.t, "gen poisson2d 3"));
    assert_int_equal(traced_elements(s, s->current, lit), 0);
    assert_false(x.v->go(s, x.st, 0, 0));
    screen_close(&x);
}

/* ---- the steps of an element ---- */

/* Does the lane work in this step on the element, or, if col is -1, on the row? */
static bool works_on(const struct tracing *v, int64_t step, int lane, int64_t row, int64_t col)
{
    struct lane_at at = tracing_lane(v, step, lane);
    return at.state == LANE_ACTIVE && at.row == row && (col < 0 || (at.col == col && !at.padding));
}

/* From each step, the next one that works on the element, which may be the same step, or one at the begin again. */
static void check_seek(struct tracing *v, int64_t row, int64_t col)
{
    for (int64_t from = 0; from < v->t.nsteps; from++) {
        int64_t n = 0;
        int lane = LANES;
        for (; n < v->t.nsteps && lane == LANES; n += lane == LANES)
            for (lane = 0; lane < LANES && !works_on(v, (from + n) % v->t.nsteps, lane, row, col);) lane++;
        v->at = from;
        v->lane = 7;
        bool found = tracing_seek(v, row, col);
        if (found != (lane < LANES) || v->at != (found ? (from + n) % v->t.nsteps : from) ||
            v->lane != (found ? lane : 7))
            fail_msg("(%d, %d) from step %d: step %d and lane %d", (int)row, (int)col, (int)from, (int)v->at, v->lane);
    }
}

TEST(seeking_an_element_finds_its_next_step)
{
    static const char *const lines[] = {"trace csr-scalar", "trace ell", "trace csr-vector warp 2", "trace coo-atomic"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/thesis4.mtx"));
    for (int i = 0; i < COUNT(lines); i++) {
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.err);
        for (int64_t row = 0; row <= 4; row++)
            for (int64_t col = -1; col <= 4; col++) check_seek(t.s.trace, row, col);
    }
    talk_close(&t);
}

/* The boxes of the sectors show the bytes that the lanes request, also if a lane loads several elements at once. */
TEST(boxes_show_the_bytes_of_a_request)
{
    static const char *const lines[] = {"trace csr-scalar", "trace csr-hot", "trace dia",        "trace dia f32",
                                        "trace hyb f32",    "trace ell",     "trace csr-vector", "trace csr-hot f32"};
    struct talk t;
    struct canvas c;
    int several = 0;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen band 70 3 seed 2") && canvas_new(&c, 400, 40, true, NULL));
    for (int i = 0; i < COUNT(lines); i++) {
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.err);
        struct tracing *v = t.s.trace;
        for (v->at = 0; v->at < v->t.nsteps; v->at++) {
            const struct access_site *p = tracing_site(v, v->at);
            struct frame frame = {.v = v, .sectors = 40};
            struct request_facts f;
            int cells = 0;
            if (!accesses_global(p->kind)) continue;
            int size = v->t.scope.array[p->array].size;
            facts_of(&v->t.scope, &v->t.step[v->at], &f);
            canvas_clear(&c);
            trace_view_sectors(&c, &frame, &f, 0);
            for (int k = 0; k < c.w * c.h; k++) cells += c.cell[k].glyph < 128 && strchr("#=*", (int)c.cell[k].glyph);
            if (size >= 4 && cells * size != f.bytes)
                fail_msg("%s, step %d: %d boxes of %d bytes, not %d", lines[i], (int)v->at, cells, size, f.bytes);
            several += p->elements > 1;
        }
    }
    assert_true(several > 0);
    canvas_free(&c);
    talk_close(&t);
}

/* ---- refusals, and traces whose matrix is dropped ---- */

TEST(refusals)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "trace csr-scalar", "no matrix is loaded");
    assert_true(talk_line(&t, "gen poisson2d 20"));
    talk_refuses(&t, "trace csr-nothing", "csr-nothing");
    talk_refuses(&t, "trace csr-serial",
                 "does not run on the emulator, so it cannot be traced; kernels of csr that run there: csr-scalar");
    talk_refuses(&t, "trace csr-scalar block 4", "csr-scalar has no block 4: its blocks are 0 .. 3");
    talk_refuses(&t, "trace csr-scalar warp 4", "a block of csr-scalar has no warp 4: its warps are 0 .. 3");
    talk_refuses(&t, "trace csr-scalar launch 1", "csr-scalar has no launch 1: its launches are 0 .. 0");
    talk_refuses(&t, "trace csr-scalar block -1", "`block -1` is negative");
    talk_refuses(&t, "trace csr-scalar step 1000", "`step 1000` is outside 0 .. ");
    talk_refuses(&t, "trace csr-scalar step 5 to 4", "`to 4` is outside");
    talk_refuses(&t, "trace csr-scalar view", "no screen");
    assert_int_equal(
        t.s.trace->t.nsteps,
        2 + 5 * 3 + 1); /* two steps load ptr, three load col, val and x for each of five entries, and one stores y */
    FILE *f = fopen("/tmp/test_trace_none.mtx", "w");
    assert_non_null(f);
    fputs("%%MatrixMarket matrix coordinate real general\n0 0 0\n", f);
    fclose(f);
    assert_true(talk_line(&t, "load /tmp/test_trace_none.mtx"));
    remove("/tmp/test_trace_none.mtx");
    talk_refuses(&t, "trace csr-scalar", "has no rows: csr-scalar launches nothing");
    assert_true(talk_line(&t, "load tests/golden/complex.mtx"));
    talk_refuses(&t, "trace lu-paper", "the matrix is complex");
    talk_says(&t, "trace csr-scalar", "load val");
    talk_close(&t);
}

TEST(a_trace_goes_with_its_matrix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; gen poisson2d 6 as B; trace ell of A"));
    assert_string_equal(t.s.trace->matrix->name, "A");
    assert_true(talk_line(&t, "drop B"));
    assert_non_null(t.s.trace);
    talk_refuses(&t, "trace ell block 9", "block");
    assert_non_null(t.s.trace); /* the previous trace is kept */
    assert_true(talk_line(&t, "drop A"));
    assert_null(t.s.trace);
    assert_true(talk_line(&t, "undo; trace ell of A"));
    talk_close(&t);
}

TEST(no_memory)
{
    for (int64_t n = 1;; n++) {
        struct talk t;
        struct err e = {0};
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "load samples/thesis4.mtx"));
        assert_non_null(session_device(&t.s, "emu", &e));
        struct trace_request w = {.matrix = t.s.current, .kernel = kernel_find("ell"), .real = P_F64, .launch = -1};
        mem_fail_at(n);
        bool ok = tracing_begin(&t.s, &w, &e);
        mem_fail_at(0);
        assert_true(ok == (t.s.trace != NULL));
        if (!ok) assert_int_equal(e.code, E_MEMORY);
        talk_close(&t);
        if (ok) return;
    }
}

/* ---- numbers ---- */

/* In fp32, 32 values from slot 0 on are one segment of 128 bytes; from slot 33 on, they lie in two, of 5 sectors. */
TEST(segments)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen random 4 33 64 as pair; trace csr-vector of pair step 2 to 2 f32",
              "\"sectors\":4,\"segments\":1,");
    talk_says(&t, "trace csr-vector of pair block 0 warp 1 step 2 to 2 f32", "\"sectors\":5,\"segments\":2,");
    talk_says(&t, "trace csr-vector of pair step 8 to 8 f32", "\"segments\":null");
    talk_close(&t);
}

TEST(numbers)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    talk_says(&t, "load samples/thesis4.mtx; trace ell step 6", "\"lane_index\":[8,9,10,11,null");
    assert_non_null(strstr(t.out, "\"mask\":\"0000000f\""));
    assert_non_null(strstr(t.out, "\"padding\":12"));
    assert_non_null(strstr(t.out, "\"lane_padding\":[1,1,0,1,0"));
    assert_non_null(strstr(t.out, "\"sector_offsets\":[32]"));
    assert_non_null(strstr(t.out, "\"kind\":\"totals\""));
    talk_close(&t);
    talk_open(&t, OUT_CSV);
    talk_says(&t, "load samples/thesis4.mtx; trace ell step 6", "load");
    int lines = 0;
    for (const char *p = strstr(t.out, "matrix,kernel"); p && *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 1 + 4); /* a line of headings and four lanes */
    talk_close(&t);
}
