/* The simulation of one multiprocessor: by hand for a few warps, and its totals for real kernels. */
#include "advice/sm_lives.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "microscope/model.h"
#include "microscope/sm.h"
#include "microscope/tape.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

enum { STEP_NS = 10, L2_NS = 100 };
static const struct sm_costs costs = {
    .wait = {[WAIT_STEP] = STEP_NS, [WAIT_L2] = L2_NS, [WAIT_FIRST] = L2_NS}, .issue = 2, .block = 1};

/* Two blocks of two warps: each warp does a load, waits for it, and does another step. */
static struct moment moments[] = {{.n = 1, .wait = WAIT_STEP}, {.n = 1, .wait = WAIT_L2}, {.n = 1, .wait = WAIT_STEP}};
static struct warp_tape warps[] = {{moments, 3, 3}, {moments, 3, 3}};
static struct block_tape blocks[] = {{0, 0, 2, warps}, {1, 0, 2, warps}};

static void assert_us(double found, double ns)
{
    if (fabs(found * 1000 - ns) > 1e-6) fail_msg("%.9g ns, expected %.9g ns", found * 1000, ns);
}

/* With one block at a time, the blocks follow one another; with two, they overlap. */
TEST(test_by_hand)
{
    struct sm_life one, two;
    struct err e = {0};
    assert_true(sm_simulate(&(struct tape){.at_once = 1, .n = 2, .block = blocks}, 0, 64, 2, &costs, &one, &e));
    assert_true(sm_simulate(&(struct tape){.at_once = 2, .n = 2, .block = blocks}, 0, 64, 2, &costs, &two, &e));
    /* A block starts after 1 ns. Its warps issue 2 ns apart: the second warp ends 2 + 10 + 100 + 10 ns later. */
    assert_us(one.us, 2 * (1 + 2 + STEP_NS + L2_NS + STEP_NS));
    assert_us(two.us, 2 + 2 * 2 + 1 + STEP_NS + L2_NS + STEP_NS);
    assert_true(two.slots == 4 && one.slots == 2 && two.blocks == 2);
    assert_true(two.ready > one.ready);
    sm_free(&one);
    sm_free(&two);
}

TEST(test_barrier)
{
    struct moment slow[] = {{.n = 1, .wait = WAIT_STEP},
                            {.n = 3, .wait = WAIT_L2},
                            {.n = 1, .wait = WAIT_STEP},
                            {.n = 1, .wait = WAIT_BARRIER}},
                  fast[] = {{.n = 1, .wait = WAIT_STEP}, {.n = 1, .wait = WAIT_BARRIER}};
    struct warp_tape both[] = {{slow, 4, 4}, {fast, 2, 2}};
    struct block_tape block = {0, 0, 2, both};
    struct sm_life l;
    struct err e = {0};
    assert_true(sm_simulate(&(struct tape){.at_once = 1, .n = 1, .block = &block}, 0, 64, 1, &costs, &l, &e));
    assert_us(l.us, 1 + STEP_NS + 3 * L2_NS + STEP_NS + STEP_NS);
    assert_int_equal(sm_at(&l, 1, 2, 0.3, 0.8), SM_BARRIER);
    assert_int_equal(sm_at(&l, 0, 1, 0.3, 0.8), SM_MEMORY);
    assert_true(l.idle[SM_BARRIER] > 0.3 && l.idle[SM_MEMORY] > 0.3);
    sm_free(&l);
}

/* The sectors of two requests need more time than their latency. */
TEST(test_bandwidth)
{
    struct moment load[] = {{.n = 1, .l2 = 100, .wait = WAIT_STEP}, {.n = 1, .wait = WAIT_L2}};
    struct warp_tape both[] = {{load, 2, 2}, {load, 2, 2}};
    struct block_tape block = {0, 0, 2, both};
    struct sm_costs narrow = costs;
    struct sm_life l;
    struct err e = {0};
    narrow.l2_sector = 5;
    assert_true(sm_simulate(&(struct tape){.at_once = 1, .n = 1, .block = &block}, 0, 64, 1, &narrow, &l, &e));
    assert_us(l.us, 1 + 2 * 100 * 5);
    sm_free(&l);
}

/* The block that must be shown is simulated, although it is not among the first. */
TEST(test_chosen_block)
{
    struct sm_life l;
    struct err e = {0};
    struct tape t = {.at_once = 1, .n = 2, .block = blocks, .must_show = 1};
    assert_true(sm_simulate(&t, 0, 64, 1, &costs, &l, &e) && l.shows && l.blocks == 1);
    sm_free(&l);
    t.must_show = 5;
    assert_true(sm_simulate(&t, 0, 64, 1, &costs, &l, &e) && !l.shows);
    sm_free(&l);
}

/* Of five blocks, two are simulated: the one that must be shown and the one after it. Only that one takes long. */
TEST(test_block_in_the_middle_is_chosen)
{
    struct moment slow[] = {{.n = 7, .wait = WAIT_L2}};
    struct warp_tape long_warps[] = {{slow, 1, 1}, {slow, 1, 1}};
    struct err e = {0};
    for (int must = 0; must < 5; must++) {
        struct block_tape five[5];
        struct sm_life l;
        for (int b = 0; b < 5; b++) five[b] = (struct block_tape){b, 0, 2, b == must ? long_warps : warps};
        struct tape t = {.at_once = 1, .n = 5, .block = five, .must_show = must};
        assert_true(sm_simulate(&t, 0, 64, 2, &costs, &l, &e) && l.shows && l.blocks == 2);
        assert_us(l.us, 1 + 7 * L2_NS + 1 + 2 + STEP_NS + L2_NS + STEP_NS);
        sm_free(&l);
    }
}

/* Loads from any level wait for memory, and so does an atomic that announces stores; the rest is work. */
TEST(test_what_waits_for_memory)
{
    static const enum sm_state states[WAITS] = {
        [WAIT_L1] = SM_MEMORY,      [WAIT_L2] = SM_MEMORY,      [WAIT_FIRST] = SM_MEMORY,
        [WAIT_ARRIVAL] = SM_MEMORY, [WAIT_SHARED] = SM_WORKING, [WAIT_COLLECTIVE] = SM_WORKING};
    struct sm_costs all = {.issue = 2, .block = 1};
    for (int k = 0; k < WAITS; k++) all.wait[k] = L2_NS;
    for (int k = WAIT_L1; k < WAITS; k++) {
        struct moment waits[] = {{.n = 1, .wait = (uint8_t)k}};
        struct warp_tape one = {waits, 1, 1};
        struct block_tape block = {0, 0, 1, &one};
        struct sm_life l;
        struct err e = {0};
        if (k == WAIT_BARRIER) continue;
        assert_true(sm_simulate(&(struct tape){.at_once = 1, .n = 1, .block = &block}, 0, 32, 1, &all, &l, &e));
        assert_us(l.us, 1 + L2_NS);
        if (sm_at(&l, 0, 1, 0.2, 0.9) != states[k]) fail_msg("wait %d: state %d", k, sm_at(&l, 0, 1, 0.2, 0.9));
        sm_free(&l);
    }
}

/* The multiprocessor with the long row is shown, and if there are more blocks than are simulated, the time of all is
   shown too: both times agree with the prediction. */
TEST(test_time_is_that_of_the_prediction)
{
    struct talk t;
    double us, predicted;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen circuit 20000 2"));
    assert_true(talk_line(&t, "predict csr-scalar"));
    predicted = strtod(strstr(t.out, "\"predicted_us\":") + 15, NULL);
    assert_true(talk_line(&t, "sm csr-scalar"));
    us = t.s.sm->life[t.s.sm->chosen].us;
    assert_true(t.s.sm->longest_row >= 0);
    assert_true(us > 0.7 * predicted && us < predicted);
    assert_true(talk_line(&t, "gen poisson2d 1000"));
    assert_true(talk_line(&t, "predict csr-vector"));
    predicted = strtod(strstr(t.out, "\"predicted_us\":") + 15, NULL);
    talk_says(&t, "sm csr-vector", "\"all_blocks_us\":");
    const char *last = t.out;
    for (const char *at = t.out; (at = strstr(at, "\"all_blocks_us\":")); at++) last = at;
    us = strtod(last + 16, NULL);
    assert_true(us > 0.5 * predicted && us < predicted);
    talk_close(&t);
}

static void check_life(const struct sm_life *l)
{
    double all = l->ready, per_bin;
    for (int k = 0; k < SM_STATES; k++) all += l->idle[k];
    assert_true(fabs(all - 1) < 1e-9);
    assert_true(l->us > 0 && l->slots <= SM_WARPS && l->slots == l->at_once * l->warps_per_block);
    assert_true(l->mean_ready <= l->mean_resident && l->mean_resident <= l->slots + 1e-9);
    for (int b = 0; b < SM_BINS; b++) { /* in each part of the time, each slot does something */
        per_bin = 0;
        for (int k = 0; k < SM_STATES; k++)
            per_bin += sm_warps(l, (enum sm_state)k, (double)b / SM_BINS, (double)(b + 1) / SM_BINS);
        if (fabs(per_bin - l->slots) > 1e-3) fail_msg("bin %d: %g warps of %d", b, per_bin, l->slots);
    }
}

/* More warps hide more of the waits. */
TEST(test_occupancy)
{
    static const char *const kernels[] = {"csr-scalar", "csr-vector", "csr-stream",
                                          "csr-merge",  "ell",        "coo-segmented"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 400"));
    for (int k = 0; k < COUNT(kernels); k++) {
        char line[80];
        snprintf(line, sizeof line, "sm %s", kernels[k]);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        const struct sm_lives *l = t.s.sm;
        assert_true(l->n >= 1);
        for (int i = 0; i < l->n; i++) check_life(&l->life[i]);
        for (int i = 1; i < l->n; i++) assert_true(l->life[i].at_once > l->life[i - 1].at_once);
        assert_true(l->life[l->n - 1].us < l->life[0].us * 1.05);
    }
    assert_true(talk_line(&t, "sm csr-scalar warps 16"));
    assert_int_equal(t.s.sm->life[t.s.sm->chosen].slots, 16);
    assert_true(t.s.sm->life[0].us > 1.5 * t.s.sm->life[t.s.sm->n - 1].us);
    assert_false(talk_line(&t, "sm csr-serial"));
    assert_false(talk_line(&t, "sm warps 65"));
    assert_true(talk_line(&t, "drop all"));
    assert_null(t.s.sm);
    talk_close(&t);
}
