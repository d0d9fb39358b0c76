/* Transfers on cuda:0: all pieces arrive unchanged, and every figure is positive and finite. */
#include "kits/talk.h"
#include "machine/device.h"
#include "matrix/gen.h"
#include "machine/transfer.h"

#include <math.h>

/* Before transfer_measure times a method of copying, transfer_measure compares the copy with the original data, and the
   result with the reference. */
static void measured(const char *generator, int64_t a, int64_t b, int pieces, int streams, enum type real)
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
    (void)state;
    for (int real = T_F32; real <= T_F64; real++) {
        measured("band", 80000, 8, 16, 4, (enum type)real);
        measured("random", 5000, 6, 1, 1, (enum type)real);
        measured("circuit", 20000, 5, 100, 32, (enum type)real);
        measured("random", 9, 2, 40, 3, (enum type)real);
    }
}

static void the_command_reports_it(void **state)
{
    struct talk t;
    (void)state;
    talk_open(&t, OUT_TEXT);
    if (!talk_line(&t, "transfer 16 on cuda:0 products 3")) fail_msg("%s", t.err);
    assert_non_null(strstr(t.out, "overlapped"));
    assert_non_null(strstr(t.out, "is hidden"));
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_arrive_right),
        cmocka_unit_test(the_command_reports_it),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip transfers on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
