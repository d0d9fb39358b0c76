/* Matrices that are generated in parts: the same bits as when they are generated whole, what is refused, and faults. */
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "kits/cancel_kit.h"
#include "kits/dev_fake.h"
#include "kits/multi_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/row_slices.h"
#include "parts/part_made.h"
#include "parts/partition.h"
#include "session/command.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "ui/view.h"

#include <stdio.h>
#include <unistd.h>

/* Several slices, rows without halo, rectangular ones, and parts without entries in others' columns. */
static const struct {
    const char *generator;
    int64_t p[PARAMS_MAX];
} cases[] = {{"elasticity", {5, 0, 1}},
             {"elasticity", {4, 1, 3}},
             {"poisson2d", {23, 31}},
             {"poisson3d", {7, 9, 8}},
             {"stencil", {27, 6, 5, 4, 2}},
             {"stencil", {5, 40, 3, 0, 1}},
             {"band", {300, 17, 40}},
             {"band", {200, 0, 0}},
             {"random", {150, 9, 400}},
             {"random", {400, 3, 150}},
             {"chain", {900}},
             {"convection", {23, 31, 70}},
             {"random", {130000, 9, 130000}},
             {"poisson2d", {1200, 300}}};
enum { SMALL_CASES = 12 }; /* the others have several slices */

static const struct generator *found(int i)
{
    const struct generator *g = generator_find(cases[i].generator);
    assert_true(g && g->rows);
    return g;
}

/* Every generator that states `rows` is in the table. */
TEST(every_generator)
{
    for (int i = 0; generators[i]; i++) {
        int k = 0;
        while (k < COUNT(cases) && strcmp(cases[k].generator, generators[i]->name)) k++;
        if (generators[i]->rows && k == COUNT(cases)) fail_msg("%s has no case here", generators[i]->name);
    }
}

/* ---- rows ---- */

struct whole {
    const struct csr *A;
    int64_t rows;
    int slices;
};

static bool same_rows(void *user, const struct csr *slice, int64_t first, struct err *e)
{
    struct whole *w = user;
    assert_int_equal(first, w->rows);
    for (int64_t i = 0; i < slice->rows; i++) {
        int64_t at = csr_start(w->A, first + i), n = csr_row_length(slice, i);
        assert_int_equal(n, csr_row_length(w->A, first + i));
        assert_memory_equal(slice->col + csr_start(slice, i), w->A->col + at, (size_t)n * sizeof *slice->col);
        assert_memory_equal(slice->val + csr_start(slice, i), w->A->val + at, (size_t)n * sizeof *slice->val);
    }
    w->rows += slice->rows;
    w->slices++;
    return true;
}

TEST(rows_are_those_of_the_whole)
{
    int slices = 0;
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A, P;
        struct err e = {0};
        assert_true(found(i)->make(cases[i].p, 5, NULL, &A, &e));
        P = csr_of_source(found(i)->rows(cases[i].p, 5, &e));
        assert_true(row_source_count(P.source, &e) && row_source_count(P.source, &e));
        struct whole w = {.A = &A};
        assert_true(csr_visit_all(&P, same_rows, &w, &e));
        assert_true(w.rows == A.rows && P.nnz == A.nnz && csr_longest_row(&P) == csr_longest_row(&A));
        for (int64_t r = 0; r <= A.rows; r += 1 + A.rows / 50) assert_int_equal(csr_start(&A, r), csr_start(&P, r));
        slices = w.slices > slices ? w.slices : slices;
        w = (struct whole){.A = &A, .rows = A.rows / 3};
        assert_true(csr_visit(&P, A.rows / 3, A.rows / 2, same_rows, &w, &e) && w.rows == A.rows / 2);
        csr_free(&A);
        csr_free(&P);
    }
    assert_true(slices > 1);
}

/* ---- parts ---- */

static void same_ints(const int *a, const int *b, int64_t n)
{
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
}

/* What each part has and exchanges is what parts_extract finds in the whole matrix. */
TEST(parts_are_those_of_the_whole)
{
    for (int i = 0; i < SMALL_CASES; i++)
        for (int parts = 1; parts <= 6; parts++) {
            struct csr A, P;
            struct partition of_whole, of_parts;
            int64_t rows_outside[6];
            struct err e = {0};
            assert_true(found(i)->make(cases[i].p, 5, NULL, &A, &e));
            P = csr_of_source(found(i)->rows(cases[i].p, 5, &e));
            assert_true(row_source_count(P.source, &e) && partition_nnz(&of_whole, &A, parts, &e) &&
                        partition_nnz(&of_parts, &P, parts, &e));
            assert_memory_equal(of_whole.first, of_parts.first, (size_t)(parts + 1) * sizeof(int64_t));
            struct part *a = parts_extract(&A, &of_whole, &e), *b = parts_of_made(&P, &of_parts, rows_outside, &e);
            assert_true(a && b);
            for (int k = 0; k < parts; k++) {
                int64_t outer = 0;
                for (int64_t r = 0; r < a[k].outside.rows; r++) outer += csr_row_length(&a[k].outside, r) > 0;
                assert_true(a[k].inside.nnz == b[k].inside.nnz && a[k].outside.nnz == b[k].outside.nnz);
                assert_true(part_halo(&a[k]) == part_halo(&b[k]) && part_sends(&a[k]) == part_sends(&b[k]));
                assert_true(a[k].from.n == b[k].from.n && a[k].to.n == b[k].to.n && outer == rows_outside[k]);
                same_ints(a[k].halo, b[k].halo, part_halo(&a[k]));
                same_ints(a[k].send, b[k].send, part_sends(&a[k]));
                same_ints(a[k].from.part, b[k].from.part, a[k].from.n);
                same_ints(a[k].to.part, b[k].to.part, a[k].to.n);
            }
            parts_free(a, parts);
            parts_free(b, parts);
            partition_free(&of_whole);
            partition_free(&of_parts);
            csr_free(&A);
            csr_free(&P);
        }
}

/* ---- products ---- */

/* The product by k of a matrix that is whole on the host, or, with `made`, in parts. */
static void product(const struct kernel *k, const struct csr *A, bool made, const char *device, enum precision real,
                    double *y)
{
    struct plan plan;
    struct stored S;
    struct mat M;
    struct verdict v;
    struct err e = {0};
    bool packed =
        made ? format_plan(A, k->format, NULL, real, &plan, &e) : format_pack(A, k->format, NULL, real, true, &S, &e);
    if (made) S = plan.shape, S.made = A;
    if (!packed || !mat_put(&M, &S, device_open(device, &e), &e) || !bench_check(k, A, &M, 1.25, -0.5, 1, y, &v, &e) ||
        !v.ok)
        fail_msg("%s on %s: %s", k->name, device, e.text);
    mat_free(&M);
    stored_free(&S);
}

/* All kernels of the format on which the matrix is kept. */
static int check_products(int i, const char *device, enum precision real)
{
    struct csr A, P;
    struct err e = {0};
    int n = 0;
    assert_true(found(i)->make(cases[i].p, 5, NULL, &A, &e));
    P = csr_of_source(found(i)->rows(cases[i].p, 5, &e));
    double *y = calloc((size_t)A.rows, sizeof *y), *z = calloc((size_t)A.rows, sizeof *z);
    for (int k = 0; kernels[k]; k++) {
        bool fits = kernels[k]->format == format_native(&P) && kernel_runs_on(kernels[k], device_open(device, &e));
        if (!fits || kernels[k]->product_only || !kernel_takes(kernels[k], real, NULL)) continue;
        product(kernels[k], &A, false, device, real, y);
        product(kernels[k], &P, true, device, real, z);
        assert_memory_equal(y, z, (size_t)A.rows * sizeof *y);
        n++;
    }
    free(y);
    free(z);
    csr_free(&A);
    csr_free(&P);
    return n;
}

TEST(products_have_the_same_bits)
{
    static const char *const devices[] = {"emu*2", "emu*4", "cpu+emu"};
    for (int i = 0; i < SMALL_CASES; i++)
        for (int d = 0; d < COUNT(devices); d++) {
            assert_true(check_products(i, devices[d], P_F64) > 4);
            csr_set_most_small(1); /* row pointers of 64 bits */
            assert_true(check_products(i, devices[d], P_F64) >= 2);
            csr_set_most_small(0);
        }
    assert_true(check_products(0, "emu*2", P_F32) > 4);
}

/* ---- solves ---- */

TEST(solves_have_the_same_bits)
{
    struct talk t;
    check_in_parts("emu*2");
    check_in_parts("emu*4");
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 9 8 7 on emu*2 as P"));
    talk_says(&t, "solve cg P", "yes"); /* without `on`: where the matrix is */
    assert_string_equal(t.s.solve->dev->name, "emu*2");
    talk_says(&t, "print r 0:3", "||r|| / ||b||");
    talk_says(&t, "spmv P", "emu*2");
    talk_says(&t, "print y 0:3", "y of P");
    talk_says(&t, "timeline P", "emu[1]");
    talk_says(&t, "list", "poisson3d on emu*2");
    talk_says(&t, "drop P; undo; spmv P on emu*3", "emu*3");
    csr_set_most_small(1); /* row pointers of 64 bits */
    talk_says(&t, "gen poisson3d 9 8 7 on emu*4 as L; solve cg L", "csr64-stream");
    assert_null(strstr(t.err, "may not be symmetric"));
    assert_true(t.s.solve->reason == CONVERGED && t.s.solve->result.error_known < 1e-6);
    assert_true(talk_line(&t, "gen convection 9 on emu*4 as C; solve cg C maxit 2"));
    assert_non_null(strstr(t.err, "C may not be symmetric"));
    talk_says(&t, "solve jacobi L; solve bicgstab L precond jacobi", "csr64-stream");
    assert_true(t.s.solve->reason == CONVERGED);
    csr_set_most_small(0);
    talk_close(&t);
}

/* ---- what is refused ---- */

TEST(refusals)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "gen poisson2d 9 on cpu", "cpu is one device; a matrix is generated in parts on several");
    talk_refuses(&t, "gen fem 9 on emu*2",
                 "these generate in parts: poisson2d, poisson3d, chain, convection, elasticity, stencil, band, random");
    talk_refuses(&t, "gen stencil 6 9 on emu*2", "6 points is not a stencil");
    assert_null(t.s.matrices);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; gen poisson2d 9 on emu*2 as P"));
    talk_refuses(&t, "gen poisson2d 9 on emu*2 as P", "a matrix is called P already");
    assert_string_equal(t.s.current->name, "P");
    talk_refuses(&t, "stats", "P was generated in parts, and the host has no copy of its entries, which `stats` needs");
    talk_refuses(&t, "let B = A + P", "which `let` needs");
    talk_refuses(&t, "spmv transposed", "which `transposed` needs");
    talk_refuses(&t, "spmv sell", "as csr; it cannot be converted to sell");
    talk_refuses(&t, "spmv bf16-fp32", "in f64 or f32, not in bf16");
    talk_refuses(&t, "spmv on cpu", "cpu has no members to share them; leave out `on`, or name emu*2");
    talk_refuses(&t, "spmv on ranks", "which ranks read from a file");
    talk_refuses(&t, "solve", "name a solver, such as `solve cg`");
    talk_refuses(&t, "solve direct", "which a direct solver factors");
    talk_refuses(&t, "solve cg on ranks", "which ranks read from a file");
    talk_refuses(&t, "solve cg on emu", "emu has no members");
    talk_refuses(&t, "solve gs", "gs does not run on emu*2");
    talk_refuses(&t, "solve cg maxit 2; why stagnates", "which `why stagnates` needs");
    talk_close(&t);
}

/* Every line of every command, with a matrix in parts as A: no crash, and each refusal is one line. */
TEST(every_command)
{
    int n, done = 0, refused = 0;
    struct cancel_line *all = cancel_lines(500, &n);
    assert_non_null(all);
    for (int i = 0; i < n; i++) {
        struct talk t;
        if (!strcmp(all[i].command, "lesson") || !strcmp(all[i].command, "ceilings")) continue; /* they take long */
        talk_open_screen(&t);
        assert_true(talk_line(&t, "gen poisson2d 10 on emu*2 as A"));
        talk_line(&t, all[i].before);
        bool ok = talk_line(&t, all[i].line);
        const char *end = strchr(t.err, '\n');
        if (!ok && (!end || end[1])) fail_msg("%s: %s", all[i].line, t.err);
        done += ok;
        refused += !ok && strstr(t.err, "was generated in parts");
        talk_close_screen(&t);
    }
    free(all);
    assert_true(done > 20 && refused > 40);
}

TEST(every_view)
{
    struct talk t;
    char line[80];
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 9 on emu*2 as A; spmv; solve cg; timeline"));
    for (int i = 0; views[i]; i++) {
        snprintf(line, sizeof line, "keys j j + - Tab : Esc view %s", views[i]->name);
        bool ok = talk_line(&t, line);
        if (!ok && !strstr(t.err, "was generated in parts") && !views[i]->nothing) fail_msg("%s: %s", line, t.err);
        assert_true(!ok || views[i]->any);
        snprintf(line, sizeof line, "export %s a.txt force", views[i]->name);
        assert_true(!talk_line(&t, line) || views[i]->any);
    }
    talk_refuses(&t, "view spy", "which `spy` needs");
    talk_says(&t, "export solve a.txt force", "");
    talk_close_screen(&t);
}

/* ---- faults ---- */

/* Each allocation on the host fails in turn: one line, the matrix is not there or complete, and the session goes on. */
TEST(host_memory_fails)
{
    int failures = 0;
    assert_non_null(device_open("emu*2", NULL));
    for (int n = 1; n < 1000; n++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen poisson2d 4 as A"));
        mem_fail_at(n);
        bool ok = talk_line(&t, "gen random 60 5 on emu*2 as P");
        mem_fail_at(0);
        const char *end = strchr(t.err, '\n');
        if (!ok && (!end || end[1])) fail_msg("allocation %d: %s", n, t.err);
        bool there = t.s.matrices->next != NULL; /* generated, but its row could not be printed */
        if (there && !talk_line(&t, "spmv P")) fail_msg("allocation %d leaves a part of P: %s", n, t.err);
        if (strcmp(t.s.current->name, there ? "P" : "A")) fail_msg("allocation %d", n);
        failures += !ok;
        assert_true(talk_line(&t, "spmv A on emu*2"));
        talk_close(&t);
        if (ok) break;
    }
    assert_true(failures > 20);
}

static struct fake fake;

/* Each allocation and copy on one member fails in turn. */
TEST(member_fails)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT};
    struct talk t;
    int failures = 0;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 12 on emu+broken; drop poisson2d"));
    int64_t used = fake.used;
    for (int c = 0; c < COUNT(calls); c++)
        for (int n = 1; n < 200; n++) {
            fake.fail_in[calls[c]] = n;
            bool ok = talk_line(&t, "gen poisson2d 12 on emu+broken as P");
            fake.fail_in[calls[c]] = 0;
            const char *end = strchr(t.err, '\n');
            if (!ok && (!strstr(t.err, "broken") || !end || end[1])) fail_msg("%s", t.err);
            if (ok) assert_true(talk_line(&t, "drop P"));
            assert_true(!t.s.matrices && fake.used == used);
            if (ok) break;
            failures++;
        }
    assert_true(failures > 15);
    fake.budget = fake.used + 2000;
    talk_refuses(&t, "gen poisson2d 12 on emu+broken as P", "emu+broken: part 2 of 2 needs");
    assert_true(!t.s.matrices && fake.used == used);
    fake.budget = 1 << 24;
    talk_close(&t);
}

/* A member that loses its part gets the rows made again. */
TEST(member_is_lost)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 12 on emu+broken as P; solve cg"));
    double x = t.s.solve->result.x[7];
    fake.sticky = true;
    fake.fail_in[FAKE_SYNC] = 5;
    assert_false(talk_line(&t, "solve cg"));
    assert_non_null(strstr(t.err, "broken"));
    fake.sticky = false;
    if (!talk_line(&t, "solve cg")) fail_msg("%s", t.err);
    assert_true(x == t.s.solve->result.x[7] && fake.resets > 0);
    talk_close(&t);
}

static int all_small(void **state)
{
    csr_set_most_small(0); /* if a test failed */
    return 0;
}

static int open_fake(void **state)
{
    static char folder[] = "/tmp/test_in_parts_XXXXXX";
    if (!mkdtemp(folder) || chdir(folder)) return -1;
    return fake_open(&fake, "broken", "emu", 1 << 24, NULL) ? 0 : -1;
}

static int close_all(void **state)
{
    devices_close();
    return 0;
}

SUITE(.setup = open_fake, .teardown = close_all, .after = all_small);
