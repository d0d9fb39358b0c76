/* Large matrices: more rows or nonzeros than 32 bits count. The tests lower that limit, so that small matrices are
   large: each command, view, generator, format and kind of file then gives the result of a small matrix, or refuses
   with one line that names the limit. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "kits/cancel_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "session/command.h"
#include "session/matrix.h"
#include "ui/view.h"

#include <math.h>
#include <unistd.h>

enum { MAX = 1 }; /* rows and nonzeros of a small matrix */

static bool same_matrix(const struct csr *A, const struct csr *B)
{
    bool same = A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && !A->imag == !B->imag;
    for (int64_t i = 0; same && i <= A->rows; i++) same = csr_start(A, i) == csr_start(B, i);
    for (int64_t k = 0; same && k < A->nnz; k++)
        same = A->col[k] == B->col[k] && A->val[k] == B->val[k] && (!A->imag || A->imag[k] == B->imag[k]);
    return same;
}

/* A copy of A with row pointers of 64 bits. */
static struct csr enlarged(const struct csr *A)
{
    struct csr B;
    struct err e = {0};
    csr_set_most_small(MAX);
    if (!csr_new_any(&B, A->rows, A->cols, A->nnz, A->imag != NULL, &e)) fail_msg("%s", e.text);
    csr_set_most_small(0);
    for (int64_t i = 0; i <= A->rows; i++) csr_set_start(&B, i, csr_start(A, i));
    memcpy(B.col, A->col, (size_t)A->nnz * sizeof *A->col);
    memcpy(B.val, A->val, (size_t)A->nnz * sizeof *A->val);
    if (A->imag) memcpy(B.imag, A->imag, (size_t)A->nnz * sizeof *A->imag);
    return B;
}

/* ---- struct csr ---- */

TEST(indices_exceed_32_bits)
{
    int64_t starts[] = {0, 3000000000, 3000000000, 7000000000};
    const struct csr A = {.rows = 3, .cols = INT32_MAX, .nnz = starts[3], .rowptr64 = starts};
    struct err e = {0};
    assert_true(csr_is_large(&A) && csr_size_is_large(A.rows, A.nnz));
    assert_true(csr_row_length(&A, 0) == starts[1] && csr_row_length(&A, 1) == 0);
    assert_true(csr_longest_row(&A) == 4000000000);
    assert_true(csr_has_row_above(&A, 3999999999) && !csr_has_row_above(&A, 4000000000));
    assert_true(csr_row_of(&A, starts[1] - 1) == 0 && csr_row_of(&A, starts[1]) == 2 &&
                csr_row_of(&A, 6999999999) == 2);
    assert_true(csr_memory(&A) == 4 * 8 + 12 * A.nnz);
    assert_true(csr_limits_any(3000000000, 7, 5000000000, &e) && csr_limits_any(INT32_MAX, INT32_MAX, INT32_MAX, &e));
    assert_false(csr_limits(3000000000, 7, 1, &e));
    assert_false(csr_limits(7, 7, 3000000000, &e));
    struct err columns = {0};
    assert_false(csr_limits_any(7, 3000000000, 1, &columns));
    assert_non_null(strstr(columns.text, "at most 2147483647 columns"));
    assert_false(csr_limits_any(INT64_MAX, 7, 1, &e) || csr_limits_any(7, 7, INT64_MAX, &e) ||
                 csr_limits_any(-1, 7, 1, &e));
}

/* The boundary itself: a matrix of exactly the most entries is small. */
TEST(the_limit_is_exact)
{
    assert_false(csr_size_is_large(INT32_MAX, INT32_MAX));
    assert_true(csr_size_is_large((int64_t)INT32_MAX + 1, 0) && csr_size_is_large(0, (int64_t)INT32_MAX + 1));
}

TEST(copies_and_checks)
{
    for (int i = 0; shapes[i].name; i++) {
        struct csr A = shape_csr(&shapes[i], 1), B = enlarged(&A), C;
        struct err e = {0};
        bool large = A.rows > MAX || A.nnz > MAX;
        assert_true(csr_is_large(&B) == large && same_matrix(&A, &B) && csr_check(&B, &e));
        assert_true(csr_equal(&A, &B) == !large && csr_equal(&B, &B));
        csr_set_most_small(MAX);
        assert_true(csr_copy(&C, &B, &e) && csr_equal(&B, &C));
        csr_free(&C);
        if (large) assert_false(csr_transpose(&C, &B, &e)); /* and does not touch it */
        csr_set_most_small(0);
        csr_free(&A);
        csr_free(&B);
    }
}

/* ---- generators ---- */

TEST(every_generator)
{
    int made = 0;
    for (int i = 0; generators[i]; i++) {
        int64_t p[PARAMS_MAX] = {0};
        struct csr A, B;
        struct err e = {0};
        for (int k = 0; generators[i]->params[k].name; k++) p[k] = generators[i]->params[k].default_value;
        if (!generators[i]->make(p, 7, NULL, &A, &e)) fail_msg("%s: %s", generators[i]->name, e.text);
        csr_set_most_small(MAX);
        if (generators[i]->make(p, 7, NULL, &B, &e)) {
            if (!csr_is_large(&B) || !same_matrix(&A, &B)) fail_msg("%s differs", generators[i]->name);
            csr_free(&B);
            made++;
        } else if (e.code != E_LIMIT || !strstr(e.text, "at most 1 ")) {
            fail_msg("%s: %s", generators[i]->name, e.text);
        }
        csr_set_most_small(0);
        csr_free(&A);
    }
    assert_true(made >= 6);
}

/* ---- formats ---- */

/* A format packs a large matrix into the arrays that it makes from the small one, or names the limit. */
TEST(every_format)
{
    int packed = 0;
    for (int i = 0; shapes[i].name; i++)
        for (int k = 0; formats[k]; k++) {
            struct csr A = shape_csr(&shapes[i], 3), B = enlarged(&A), C;
            struct stored S;
            struct err e = {0};
            bool large = csr_is_large(&B);
            if (large) csr_set_most_small(MAX);
            enum precision real = i % 2 ? P_F32 : P_F64;
            bool ok = format_pack(&B, formats[k], NULL, real, true, &S, &e);
            csr_set_most_small(0);
            assert_true(!large || ok == (formats[k]->of_large != NULL));
            if (large && !ok && (e.code != E_LIMIT || !strstr(e.text, "use csr64"))) fail_msg("%s", e.text);
            if (large && ok) {
                assert_true(S.a[1].lent && S.a[1].data == B.col && stored_own_bytes(&S) < stored_bytes(&S));
                assert_true(format_unpack(&S, &C, &e));
                for (int64_t j = 0; real == P_F32 && j < A.nnz; j++) A.val[j] = (float)A.val[j];
                for (int64_t j = 0; real == P_F32 && A.imag && j < A.nnz; j++) A.imag[j] = (float)A.imag[j];
                assert_true(same_matrix(&A, &C));
                csr_free(&C);
                packed++;
            }
            if (ok) stored_free(&S);
            csr_free(&A);
            csr_free(&B);
        }
    assert_true(packed > 0);
}

/* ---- commands ---- */

/* Lines whose rows are the same for a large matrix and a small one. */
static const char *const lines[] = {
    "stats A",
    "rows A",
    "spy A width 9 height 7",
    "spy A by sign width 9 height 7",
    "spy A by magnitude width 9 height 7",
    "print rows 0: A",
    "print col 5 A",
    "print 3 4 A",
    "print 2:9 1:8 A",
    "print A",
    "find rows > 3 sort sum of A",
    "find rows diagonal > 2 of A",
    "find entries > 0.5 sort max of A",
    "layout csr64 of A slots 0:400",
    "export spy a.json A force; source nothing.txt",
    "use A",
};

static const char *const matrices[] = {
    "gen stencil 27 5 4 6 as A seed 3",
    "gen band 90 11 60 as A",
    "gen random 200 7 90 as A",
    "gen poisson2d 13 as A",
    "gen dense 17 23 as A",
    "gen random 500 1 20 as A",
};

static void open_large(struct talk *t, enum out_mode mode)
{
    csr_set_most_small(MAX);
    talk_open(t, mode);
}

static void close_large(struct talk *t)
{
    talk_close(t);
    csr_set_most_small(0);
}

TEST(the_same_numbers)
{
    for (int m = 0; m < COUNT(matrices); m++)
        for (int i = 0; i < COUNT(lines); i++) {
            struct talk small, large;
            talk_open(&small, OUT_JSON);
            talk_line(&small, matrices[m]);
            talk_line(&small, lines[i]);
            open_large(&large, OUT_JSON);
            if (!talk_line(&large, matrices[m])) fail_msg("%s: %s", matrices[m], large.err);
            assert_true(csr_is_large(&large.s.current->csr));
            talk_line(&large, lines[i]);
            bool refused = strstr(lines[i], "print col") && strstr(large.out, "at most 1 row");
            if (!refused && (strcmp(small.out, large.out) || strcmp(small.err, large.err)))
                fail_msg("%s; %s: %s%s instead of %s%s", matrices[m], lines[i], large.out, large.err, small.out,
                         small.err);
            close_large(&large);
            talk_close(&small);
        }
}

/* Does the message name a limit? */
static bool names_limit(const char *message)
{
    return strstr(message, "at most 1 ") || strstr(message, "takes at most 1;");
}

/* Is the line refused with the same message for a small matrix? */
static bool refused_too(const char *make, const struct cancel_line *l, const char *message)
{
    struct talk t;
    int64_t most = csr_most_small();
    csr_set_most_small(0);
    talk_open_screen(&t);
    assert_true(talk_line(&t, make) && talk_line(&t, l->before));
    bool same = !talk_line(&t, l->line) && !strcmp(t.err, message);
    talk_close_screen(&t);
    csr_set_most_small(most);
    return same;
}

/* Every command of the registry, on the screen: success, or a line that names the limit. */
TEST(every_command)
{
    int n, done = 0, refused = 0;
    struct cancel_line *all = cancel_lines(500, &n);
    char make[CANCEL_LINE];
    assert_non_null(all);
    cancel_matrix(500, make);
    for (int i = 0; i < n; i++) {
        struct talk t;
        if (!strcmp(all[i].command, "lesson") || !strcmp(all[i].command, "ceilings")) continue; /* they take long */
        csr_set_most_small(MAX);
        talk_open_screen(&t);
        if (!talk_line(&t, make)) fail_msg("%s: %s", make, t.err);
        if (talk_line(&t, all[i].before)) {
            bool ok = talk_line(&t, all[i].line), file = strstr(t.err, "No such file");
            if (!ok && !file && !names_limit(t.err) && !refused_too(make, &all[i], t.err))
                fail_msg("%s; %s: %s", all[i].before, all[i].line, t.err);
            done += ok;
            refused += !ok && !file;
        }
        talk_close_screen(&t);
        csr_set_most_small(0);
    }
    free(all);
    assert_true(done > 20 && refused > 20);
}

TEST(commands_state_the_trait)
{
    struct talk t;
    open_large(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_refuses(&t, "reorder rcm A", "A has 81 rows, but `reorder` takes at most 1; these take more: use, drop");
    talk_refuses(&t, "let B = A*A", "but `let` takes at most 1");
    talk_refuses(&t, "spmv A csr-vector on emu", "csr stores at most 1 rows and nonzeros");
    talk_refuses(&t, "spmv A transposed on cpu", "but `transposed` takes at most 1;");
    talk_says(&t, "spmv A on cpu reps 1", "csr64");
    talk_says(&t, "spmv A csr64-vector on emu", "csr64");
    talk_says(&t, "drop A", "");
    talk_says(&t, "undo", "A");
    talk_says(&t, "stats A", "81");
    close_large(&t);
}

/* ---- views ---- */

TEST(every_view)
{
    struct talk t;
    char line[80];
    int drawn = 0;
    csr_set_most_small(MAX);
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 9 as A; keys Tab Tab + + j j view spy"));
    for (int i = 0; views[i]; i++) {
        snprintf(line, sizeof line, "keys j j + - Tab : Esc view %s", views[i]->name);
        bool ok = talk_line(&t, line);
        if (!ok && !names_limit(t.err) && !views[i]->nothing) fail_msg("%s: %s", line, t.err);
        snprintf(line, sizeof line, "export %s a.txt force", views[i]->name);
        ok = talk_line(&t, line);
        if (!ok && !names_limit(t.err) && !views[i]->nothing) fail_msg("%s: %s", line, t.err);
        assert_true(!ok || views[i]->any || views[i]->large);
        drawn += ok;
    }
    assert_true(drawn >= 3);
    talk_close_screen(&t);
    csr_set_most_small(0);
}

/* ---- files ---- */

TEST(every_kind_of_file)
{
    static const char *const names[] = {"a.wsb", "a.mtx", "a.mtx.gz", "a.npz"};
    for (int m = 0; m < COUNT(matrices); m++)
        for (int i = 0; i < COUNT(names); i++) {
            struct talk t;
            char line[120];
            open_large(&t, OUT_TEXT);
            assert_true(talk_line(&t, matrices[m]));
            snprintf(line, sizeof line, "save %s force", names[i]);
            if (!talk_line(&t, line)) {
                if (!names_limit(t.err)) fail_msg("%s: %s", line, t.err);
                close_large(&t);
                continue;
            }
            const struct csr *A = &t.s.current->csr;
            snprintf(line, sizeof line, "load %s as B", names[i]);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
            assert_true(csr_is_large(&t.s.current->csr) && same_matrix(A, &t.s.current->csr));
            close_large(&t);
        }
}

/* ---- failures ---- */

static bool make_large(const void *user, struct err *e)
{
    struct csr A;
    struct stored S;
    int64_t p[PARAMS_MAX] = {6, 0};
    if (!generator_poisson2d.make(p, 1, NULL, &A, e)) return false;
    bool ok = format_pack(&A, format_native(&A), NULL, P_F32, false, &S, e);
    if (ok) stored_free(&S);
    csr_free(&A);
    return ok;
}

TEST(failing_allocations)
{
    csr_set_most_small(MAX);
    assert_true(fail_each(make_large, NULL) > 3);
    csr_set_most_small(0);
}

static int own_folder(void **state)
{
    static char folder[] = "/tmp/large-XXXXXX";
    return !mkdtemp(folder) || chdir(folder);
}

SUITE(.setup = own_folder);
