/* Devices with several GPUs as members. On a machine with one GPU, cuda:0+0 is tested: two members with streams of
   their own on one GPU. */
#include "base/base.h"
#include "base/err.h"
#include "gpu/multi/multi.h"
#include "kits/multi_kit.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "machine/member_rows.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { SLOTS = 20000 };

static void check(const char *device)
{
    assert_true(check_multi_formats(device, P_F64, SLOTS) > 100);
    assert_true(check_multi_formats(device, P_F32, SLOTS) > 100);
    check_multi_solves(device, "cuda:0");
    check_in_parts(device);
}

static void test_one_gpu_twice(void **state)
{
    check("cuda:0+0");
    check("cuda:0+0+0");
}

static void test_two_gpus(void **state)
{
    if (device_count(DEV_CUDA) < 2) {
        print_message("this machine has one GPU: cuda:0+1 is not tested\n");
        skip();
    }
    check("cuda:0+1");
}

/* Products, solves and sums by NCCL have the same bits as those by peer memory. */
static void test_nccl(void **state)
{
    struct err e = {0};
    if (device_count(DEV_CUDA) < 2 || !multi_nccl_found(&e)) {
        print_message("NCCL is not tested: %s\n", e.code ? e.text : "this machine has one GPU");
        skip();
    }
    transport_choose(TRANSPORT_NCCL);
    assert_int_equal(transport_of(device_open("cuda:0+1", NULL)), TRANSPORT_NCCL);
    check_multi_solves("cuda:0+1", "cuda:0");
    transport_choose(TRANSPORT_AUTO);
}

static void test_cpu_and_gpu(void **state)
{
    assert_true(check_multi_formats("cpu+cuda:0", P_F64, SLOTS) > 100);
    check_multi_solves("cpu+cuda:0", "cuda:0");
}

/* Iterations are recorded as graphs; check_multi_solves checks what replayed ones compute. */
static void check_graph(struct session *s, const char *solver)
{
    struct err e = {0};
    struct solve *v = NULL;
    struct right_sides right = {0};
    assert_true(right_sides_make(s->current, NULL, 1, &right, &e));
    struct solve_options o = {.dev = device_open("cuda:0+0", &e),
                              .solver = solver_find(solver),
                              .real = P_F64,
                              .tol = 1e-12,
                              .maxit = 10000,
                              .b = right.b};
    if (!session_solve(&v, s, s->current, &o, &e)) fail_msg("%s: %s", solver, e.text);
    while (v->reason == RUNNING && v->iterations < 200)
        if (!solve_slice(v, 2e3, &e)) fail_msg("%s: %s", solver, e.text);
    if (v->reason != RUNNING || !v->schedule.graph) fail_msg("%s: no graph was recorded", solver);
    solve_free(v);
    right_sides_free(&right);
}

static void test_graphs(void **state)
{
    static const char *const solver[] = {"cg", "gmres", "bicgstab", "jacobi"};
    struct session s;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, NULL));
    assert_true(run_line(&s, "gen poisson2d 300"));
    for (int i = 0; i < COUNT(solver); i++) check_graph(&s, solver[i]);
    session_free(&s);
    fclose(nowhere);
}

/* The phases of a timeline do not overlap on a member. */
static void test_timeline(void **state)
{
    struct session s;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, NULL));
    assert_true(run_line(&s, "gen poisson2d 300; timeline on cuda:0+0"));
    const struct timeline *t = s.timeline;
    assert_true(t && t->timed && t->us > 0);
    for (int k = 0; k < t->members; k++)
        for (int f = 0; f < SPLIT_PHASES; f++) {
            assert_true(t->cell[k][f].to >= t->cell[k][f].from);
            assert_true(!f || t->cell[k][f].from >= t->cell[k][f - 1].from);
        }
    session_free(&s);
    fclose(nowhere);
}

/* The link is measured: between two GPUs, or on one GPU, which says that it is none. */
static void check_link(const char *name, bool one_gpu)
{
    struct err e = {0};
    struct device *d = device_open(name, &e);
    if (!d || !device_links(d, NULL, &e)) fail_msg("%s: %s", name, e.text);
    const struct link_ceilings *c = &d->link;
    print_message("%s: copy of 8 B %.2f us, of 1 MiB %.1f GB/s, of 256 MiB %.1f GB/s, flag and back %.2f us\n", name,
                  c->copy_us, c->mb_gbs, c->far_gbs, c->flag_us);
    assert_true(c->measured && c->one_gpu == one_gpu && c->copy_us > 0.1 && c->copy_us < 1000);
    assert_true(c->far_gbs > 1 && c->far_gbs < 20000 && c->mb_gbs > 0 && c->mb_gbs <= 20 * c->far_gbs);
    assert_true(isnan(c->flag_us) || (c->flag_us > 0.05 && c->flag_us < 1000));
    assert_ptr_equal(device_with_links(!one_gpu), d);
    d->link = (struct link_ceilings){0};
}

static void test_links(void **state)
{
    check_link("cuda:0+0", true);
    if (device_count(DEV_CUDA) > 1) check_link("cuda:0+1", false);
}

static int close_all(void **state)
{
    devices_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_gpu_twice), cmocka_unit_test(test_two_gpus), cmocka_unit_test(test_cpu_and_gpu),
        cmocka_unit_test(test_graphs),        cmocka_unit_test(test_timeline), cmocka_unit_test(test_links),
        cmocka_unit_test(test_nccl),
    };
    return cmocka_run_group_tests(tests, NULL, close_all);
}
