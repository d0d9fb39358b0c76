/* Tests of transfers on cpu and emu, whose copies stay on the host: the pieces cover the matrix, invalid plans are
   refused, and corrupted copies are detected. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "kits/transfer_kit.h"
#include "machine/device.h"
#include "matrix/gen.h"
#include "microscope/link.h"
#include "microscope/model.h"
#include "microscope/transfer_model.h"

#include <math.h>

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("expected `%s` in: %s", part, text);
}

/* A generated matrix, as in `gen`. */
static struct csr make(const char *generator, int64_t a, int64_t b, int64_t c)
{
    struct csr A = {0};
    int64_t param[PARAMS_MAX] = {a, b, c};
    assert_true(generator_find(generator)->make(param, 1, NULL, &A, NULL));
    return A;
}

static struct transfer_plan plan_for(const struct csr *A, const char *device, int pieces, int streams)
{
    return (struct transfer_plan){.A = A,
                                  .dev = device_open(device, NULL),
                                  .ops = &host_transfer,
                                  .real = P_F64,
                                  .pieces = pieces,
                                  .streams = streams,
                                  .products = 1,
                                  .reps = 1};
}

static void assert_sound(const struct transfer *t)
{
    for (int k = 0; k < WAYS; k++) {
        assert_true(t->way[k].us > 0 && isfinite(t->way[k].us) && t->way[k].spread_us >= 0 && t->way[k].reps > 0);
        if (k != WAY_EXECUTION && k != WAY_EXECUTION_STREAMS) assert_true(t->way[k].gbs > 0 && isfinite(t->way[k].gbs));
    }
    assert_true(t->without_us > 0 && isfinite(t->without_us) && isfinite(t->hidden));
}

/* Any number of pieces, even more than rows, in any number of streams. */
TEST(any_pieces_cover_the_matrix)
{
    static const struct {
        const char *device, *generator;
        int64_t a, b, c;
        int pieces, streams;
    } cases[] = {
        {"cpu", "poisson2d", 20, 20, 0, 1, 1},  {"cpu", "poisson2d", 20, 20, 0, 7, 3},
        {"cpu", "random", 33, 3, 65, 40, 32},   {"cpu", "circuit", 200, 5, 0, 16, 4},
        {"emu", "poisson2d", 9, 9, 0, 5, 2},    {"emu", "random", 3, 1, 3, 16, 4},
        {"cpu", "band", 1000, 8, 100, 1024, 4},
    };
    struct transfer t;
    struct err e = {0};
    for (int i = 0; i < COUNT(cases); i++)
        for (int real = T_F32; real <= T_F64; real++) {
            struct csr A = make(cases[i].generator, cases[i].a, cases[i].b, cases[i].c);
            struct transfer_plan p = plan_for(&A, cases[i].device, cases[i].pieces, cases[i].streams);
            p.real = (enum precision)real;
            p.products = 1 + i % 2;
            transfer_kit_reset();
            if (!transfer_measure(&p, &t, &e)) fail_msg("case %d: %s", i, e.text);
            assert_sound(&t);
            assert_true(t.matrix_bytes >= A.nnz * (4 + (int64_t)type_size(precisions[p.real].vector)));
            assert_int_equal(t.result_bytes, A.rows * (int64_t)type_size(precisions[p.real].vector));
            assert_int_equal(transfer_kit.pins + transfer_kit.streams, 0);
            for (int k = 0; k < cases[i].streams && k < cases[i].pieces; k++) assert_true(transfer_kit.used[k] > 0);
            csr_free(&A);
        }
}

/* A clock by which a copied byte takes 1 us, a stream WAIT_US to end, and nothing else any time. */
enum { WAIT_US = 500, STREAMS = 2 };
static double clock_of_copies(void)
{
    return (double)transfer_kit.bytes + WAIT_US * (double)transfer_kit.waits;
}

/* What is hidden of the shorter one of transfer and execution. Here, copies in several streams do not overlap. */
TEST(what_is_hidden_by_hand)
{
    struct csr A = make("poisson2d", 20, 20, 0);
    struct transfer_plan p = plan_for(&A, "cpu", 4, STREAMS);
    struct transfer t;
    struct err e = {0};
    transfer_kit_reset();
    now_replace(clock_of_copies);
    bool ok = transfer_measure(&p, &t, &e);
    now_replace(NULL);
    if (!ok) fail_msg("%s", e.text);
    double matrix = (double)t.matrix_bytes, all = matrix + (double)t.result_bytes;
    double transfer = (matrix + WAIT_US) * all / matrix, execution = WAIT_US, by_streams = STREAMS * WAIT_US;
    assert_float_equal(t.way[WAY_PINNED].us, matrix + WAIT_US, 1e-9);
    assert_float_equal(t.way[WAY_EXECUTION_STREAMS].us, by_streams, 1e-9);
    assert_float_equal(t.way[WAY_OVERLAPPED].us, all + by_streams, 1e-9);
    assert_float_equal(t.transfer_us, transfer, 1e-6);
    assert_float_equal(t.without_us, transfer + execution, 1e-6);
    assert_true(by_streams < transfer);
    assert_float_equal(t.hidden, (transfer + by_streams - (all + by_streams)) / by_streams, 1e-9);
    /* bytes per us / 1000; only what a way copies counts */
    assert_float_equal(t.way[WAY_PINNED].gbs, matrix / (matrix + WAIT_US) / 1000, 1e-12);
    assert_float_equal(t.way[WAY_OVERLAPPED].gbs, all / (all + by_streams) / 1000, 1e-12);
    assert_float_equal(t.way[WAY_BACK_PINNED].gbs, matrix / (matrix + WAIT_US) / 1000, 1e-12);
    csr_free(&A);
}

/* A corrupted byte is detected in any copy, and no time is reported. */
TEST(corrupted_copies_are_detected)
{
    struct csr A = make("poisson2d", 12, 12, 0);
    struct transfer_plan p = plan_for(&A, "cpu", 4, 2);
    struct transfer t;
    int found = 0;
    for (int way = 0, copies = 1; way < WAYS; way++) {
        struct err e = {0};
        transfer_kit_reset();
        transfer_kit.corrupt_in = copies;
        const struct transfer_way *w = &transfer_ways[way];
        int each = (w->whole || w->all_back ? 1 : p.pieces) * (w->in + w->back + w->all_back);
        copies += 4 * each; /* one check, two warm-up runs and one timed run */
        if (!each) continue;
        assert_false(transfer_measure(&p, &t, &e));
        assert_int_equal(e.code, E_NUMERIC);
        assert_says(e.text, w->name);
        found++;
    }
    assert_int_equal(found, WAYS - 2); /* the two ways that only run kernels copy nothing */
    csr_free(&A);
}

TEST(every_call_may_fail)
{
    struct csr A = make("poisson2d", 6, 6, 0);
    struct transfer_plan p = plan_for(&A, "cpu", 3, 2);
    struct transfer t;
    bool ok = false;
    for (int n = 1; !ok; n++) {
        struct err e = {0};
        transfer_kit_reset();
        transfer_kit.fail_in = n;
        ok = transfer_measure(&p, &t, &e);
        assert_true(ok || strstr(e.text, "fails, as the test requested"));
        assert_int_equal(transfer_kit.pins + transfer_kit.streams, 0);
    }
    for (int64_t n = ok = 1; ok == 1 && n < 1000; n++) {
        struct err e = {0};
        transfer_kit_reset();
        mem_fail_at(n);
        bool done = transfer_measure(&p, &t, &e);
        mem_fail_at(0);
        assert_true(done || e.code == E_MEMORY);
        assert_int_equal(transfer_kit.pins + transfer_kit.streams, 0);
        if (done) break;
    }
    csr_free(&A);
}

static bool cancel(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return strncmp(what, transfer_ways[WAY_EXECUTION].name, strlen(transfer_ways[WAY_EXECUTION].name)) != 0;
}

TEST(it_can_be_cancelled)
{
    struct csr A = make("poisson2d", 6, 6, 0);
    struct transfer_plan p = plan_for(&A, "cpu", 3, 2);
    struct watch w = {.tick = cancel};
    struct transfer t;
    struct err e = {0};
    p.watch = &w;
    assert_false(transfer_measure(&p, &t, &e));
    assert_int_equal(e.code, E_CANCELLED);
    csr_free(&A);
}

TEST(a_host_has_nothing_to_copy)
{
    static const char *const devices[] = {"cpu", "emu"};
    char line[64];
    for (int i = 0; i < 2; i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "device %s; transfer 8 on %s", devices[i], devices[i]);
        assert_true(talk_line(&t, line));
        assert_says(t.out, "there is nothing to copy");
        talk_close(&t);
        talk_open(&t, OUT_JSON);
        snprintf(line, sizeof line, "gen poisson2d 4 as A; transfer A on %s", devices[i]);
        assert_true(talk_line(&t, line));
        assert_says(t.out, "\"copies\":false");
        talk_close(&t);
    }
}

/* By hand. Two streams: copied in by 10 and 20, multiplied by 20 and 30, copied back by 21 and 31. In one stream, the
   second piece begins after the first, at 21. If copies take longest, the rest of a piece hides behind the next copy.
 */
TEST(stages_by_hand)
{
    assert_float_equal(transfer_stages_us((struct stages){10, 10, 1}, 2, 2), 31, 1e-12);
    assert_float_equal(transfer_stages_us((struct stages){10, 10, 1}, 2, 1), 42, 1e-12);
    assert_float_equal(transfer_stages_us((struct stages){10, 4, 1}, 3, 4), 35, 1e-12);
    assert_float_equal(transfer_stages_us((struct stages){2, 3, 7}, 3, 3), 26, 1e-12);
    assert_float_equal(transfer_stages_us((struct stages){5, 5, 5}, 3, 2), 30, 1e-12); /* the third waits until 15 */
}

/* A link of 10 GB/s and 2 us: 10^4 bytes take 1 us and the latency. */
TEST(ways_are_predicted)
{
    struct csr A = make("band", 20000, 8, 100);
    struct transfer_plan p = plan_for(&A, "emu", 4, 2);
    const struct link slow = {.name = "slow", .hop_us = 2, .gbs = 10};
    struct machine g = machine_reference();
    struct transfer t;
    struct err e = {0};
    p.products = 50;
    if (!transfer_predict(&p, &slow, &g, &t, &e)) fail_msg("%s", e.text);
    double matrix = (double)t.matrix_bytes / 1e4, result = (double)t.result_bytes / 1e4;
    assert_true(t.matrix_bytes >= A.nnz * 12 + A.rows * 4 && t.matrix_bytes <= A.nnz * 12 + A.rows * 4 + 4 * 772);
    assert_int_equal(t.result_bytes, A.rows * 8);
    assert_float_equal(t.way[WAY_PINNED].us, 2 + matrix, 1e-9);
    assert_float_equal(t.way[WAY_PINNED].gbs, (double)t.matrix_bytes / (2 + matrix) / 1000, 1e-9);
    assert_float_equal(t.way[WAY_IN_PIECES].us, 2 + matrix, 1e-9);
    assert_float_equal(t.way[WAY_BACK_PINNED].us, 2 + matrix, 1e-9);
    assert_true(isnan(t.way[WAY_PAGEABLE].us) && isnan(t.way[WAY_TURNS_PAGEABLE].us) && isnan(t.pin_us));
    double one = t.way[WAY_EXECUTION].us;
    assert_true(one >= 200 * g.c.launch_us && t.way[WAY_EXECUTION_STREAMS].us <= one);
    assert_float_equal(t.way[WAY_EXECUTION_STREAMS].us, one / 2, 1e-9); /* a piece does not fill the GPU */
    assert_float_equal(t.way[WAY_TURNS_PINNED].us, 4 * 2 * 2 + matrix + result + one, 1e-6);
    struct stages each = {matrix / 4, t.way[WAY_EXECUTION_STREAMS].us / 4, result / 4};
    assert_float_equal(t.way[WAY_OVERLAPPED].us, 4 + transfer_stages_us(each, 4, 2), 1e-9);
    assert_true(t.hidden > 0 && t.hidden <= 1);
    p.pieces = 1; /* then the piece is the matrix, and only one stream has work */
    p.streams = 8;
    assert_true(transfer_predict(&p, &slow, &g, &t, &e));
    assert_float_equal(t.way[WAY_EXECUTION_STREAMS].us, t.way[WAY_EXECUTION].us, 1e-9);
    csr_free(&A);
}

TEST(a_session_without_a_gpu_predicts)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "device cpu; transfer 2 pieces 4"));
    assert_says(t.out, "predicted");
    assert_says(t.out, "copies by PCI Express 5.0 x16 at 63 GB/s (specification)");
    assert_says(t.out, "measured on an H200, copies took 1.15 times");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 4 as A; transfer A pieces 20"));
    assert_says(t.out, "\"how\":\"predicted\"");
    assert_says(t.out, "\"pin_us\":null");
    talk_close(&t);
}

TEST(mistakes_are_named)
{
    static const struct {
        const char *line, *says;
    } mistakes[] = {
        {"transfer 0", "0 MB is outside 1 .. 8192"},
        {"transfer 9000", "9000 MB is outside"},
        {"transfer nothing", "`nothing` after `transfer` is unknown"},
        {"transfer 8 A", "give a size or a matrix, not both"},
        {"transfer pieces 0", "0 pieces is outside 1 .. 1024"},
        {"transfer streams 33", "33 streams is outside 1 .. 32"},
        {"transfer products 0", "0 products is outside"},
        {"transfer reps 51", "51 reps is outside 0 .. 50"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "device cpu; gen poisson2d 4 as A"));
    for (int i = 0; i < COUNT(mistakes); i++) {
        if (talk_line(&t, mistakes[i].line)) fail_msg("%s is no mistake", mistakes[i].line);
        assert_says(t.err, mistakes[i].says);
    }
    talk_close(&t);
}

static int teardown(void **state)
{
    devices_close();
    return 0;
}

SUITE(.teardown = teardown);
