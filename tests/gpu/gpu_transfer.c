/* Transfers on cuda:0: all pieces arrive unchanged, and every figure is positive and finite. */
#include "base/precision.h"
#include "gpu/staging.h"
#include "kits/talk.h"
#include "machine/device.h"
#include "machine/transfer.h"
#include "matrix/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Before transfer_measure times a method of copying, transfer_measure compares the copy with the original data, and the
   result with the reference. */
static void measured(const char *generator, int64_t a, int64_t b, int pieces, int streams, enum precision real)
{
    struct csr A = {0};
    struct transfer t;
    struct err e = {0};
    int64_t param[PARAMS_MAX] = {a, b, !strcmp(generator, "band") ? 100 : a};
    assert_true(generator_find(generator)->make(param, 1, NULL, &A, &e));
    struct transfer_plan p = {.A = &A, .dev = device_open("cuda:0", &e), .real = real, .pieces = pieces};
    assert_non_null(p.dev);
    p.ops = transfer_ops_of(p.dev);
    p.streams = streams;
    p.products = 2;
    assert_non_null(p.ops);
    if (!transfer_measure(&p, &t, &e)) fail_msg("%s in %d pieces: %s", generator, pieces, e.text);
    for (int k = 0; k < WAYS; k++) {
        assert_true(t.way[k].us > 0 && isfinite(t.way[k].us) && t.way[k].spread_us >= 0);
        if (k != WAY_EXECUTION && k != WAY_EXECUTION_STREAMS) assert_true(t.way[k].gbs > 0 && t.way[k].gbs < 2000);
    }
    assert_true(t.pin_us > 0 && t.without_us > 0 && isfinite(t.hidden));
    csr_free(&A);
}

static void pieces_arrive_right(void **state)
{
    for (int real = T_F32; real <= T_F64; real++) {
        measured("band", 80000, 8, 16, 4, (enum precision)real);
        measured("random", 5000, 6, 1, 1, (enum precision)real);
        measured("circuit", 20000, 5, 100, 32, (enum precision)real);
        measured("random", 9, 2, 40, 3, (enum precision)real);
    }
}

/* Arrays around the sizes at which copies change their way arrive unchanged, with and without page-locked buffers, and
   each copy is counted. */
static void arrays_arrive_right(void **state)
{
    enum { MAX = 3 * STAGING_CHUNK + 1 };
    struct err e = {0};
    struct device *d = device_open("cuda:0", &e);
    char *from = malloc(MAX), *back = malloc(MAX);
    void *there = d ? d->ops->alloc(d, MAX, "an array", &e) : NULL;
    assert_true(from && back && there);
    for (int64_t i = 0; i < MAX; i++) from[i] = (char)(i * 2654435761U >> 24);
    for (int locked = 0; locked < 2; locked++)
        for (int chunks = 0; chunks <= 3; chunks++)
            for (int64_t bytes = chunks * (int64_t)STAGING_CHUNK + 1, last = bytes - 3; bytes > last && bytes > 0;
                 bytes--) {
                struct copied put = d->put, got = d->got;
                transfer_page_locked(locked);
                memset(back, 0, MAX);
                if (!d->ops->put(d, there, from, bytes, &e) || !d->ops->get(d, back, there, bytes, &e))
                    fail_msg("%s", e.text);
                assert_memory_equal(back, from, (size_t)bytes);
                assert_int_equal(d->put.bytes - put.bytes, bytes);
                assert_int_equal(d->got.bytes - got.bytes, bytes);
                assert_true(d->put.us > put.us && d->got.us > got.us);
            }
    transfer_page_locked(true);
    d->ops->free(d, there);
    free(from);
    free(back);
}

/* The rates of copies are reported, and page-locked buffers do not change a result. */
static void commands_report_copies(void **state)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen band 300000 8", "band");
    for (int locked = 0; locked < 2; locked++) {
        assert_true(talk_line(&t, locked ? "set pinned on" : "set pinned off"));
        talk_says(&t, "solve cg b random on cuda:0 maxit 5", "vectors: ");
        talk_says(&t, "convert ell on cuda:0", "ell");
    }
    talk_close(&t);
}

static void the_command_reports_it(void **state)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    if (!talk_line(&t, "transfer 16 on cuda:0 products 3")) fail_msg("%s", t.err);
    assert_non_null(strstr(t.out, "overlapped"));
    assert_non_null(strstr(t.out, "is hidden"));
    talk_close(&t);
}

/* Shared memory is zero when it is given out, also if it had another user before, and two users share no block. */
static void shared_memory_is_zero(void **state)
{
    enum { BYTES = 4096, BLOCKS = 6 };
    struct err e = {0};
    struct device *d = device_open("cuda:0", &e);
    char *block[BLOCKS];
    void *there;
    assert_non_null(d);
    for (int run = 0; run < 3; run++) {
        for (int i = 0; i < BLOCKS; i++) {
            block[i] = d->ops->share(d, BYTES, "a test", &there, &e);
            assert_true(block[i] && there);
            for (int k = 0; k < BYTES; k++) assert_int_equal(block[i][k], 0);
            memset(block[i], 1, BYTES);
            for (int k = 0; k < i; k++) assert_true(block[k] != block[i]);
        }
        for (int i = 0; i < BLOCKS; i++) d->ops->unshare(d, block[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_arrive_right),    cmocka_unit_test(arrays_arrive_right),
        cmocka_unit_test(commands_report_copies), cmocka_unit_test(the_command_reports_it),
        cmocka_unit_test(shared_memory_is_zero),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip transfers on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
