/* Right sides and solutions from the files of matrices: AMGX's sections, .npz, .mat, .wsb; which of them fit; round
   trips; several right sides in one solve. tests/files/sides*.npz and sides*.mat were written by numpy.savez and
   scipy.io.savemat of SciPy 1.10.1: the 5 x 5 matrix with rows -1 4 -2, and b = A x for two columns x. */
#include "base/mem.h"
#include "direct/direct.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/sides.h"
#include "kits/cudss_fake.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "solvers/solve.h"

#include <math.h>

static const double first_x[] = {1, 2, 3, 4, 5};

struct loaded {
    struct csr A;
    struct sides t;
    struct load_info info;
};

static void load(const char *path, struct loaded *f)
{
    struct err e = {0};
    if (!file_load_system(path, NULL, NULL, &f->A, &f->t, &f->info, &e)) fail_msg("%s: %s", path, e.text);
    assert_true(csr_check(&f->A, &e));
}

static void unload(struct loaded *f)
{
    csr_free(&f->A);
    sides_free(&f->t);
}

static void assert_refused(const char *path, int64_t line, const char *says)
{
    char where[32];
    struct loaded f;
    struct err e = {0};
    snprintf(where, sizeof where, ":%lld", (long long)line);
    if (file_load_system(path, NULL, NULL, &f.A, &f.t, &f.info, &e)) fail_msg("%s: loaded", path);
    if (!strstr(e.text, says) || !strstr(e.where, where)) fail_msg("%s: \"%s %s\"", path, e.where, e.text);
    assert_null(f.A.rowptr);
    assert_null(f.t.b);
}

static const char *text_file(const char *text)
{
    return write_file("t.mtx", text, strlen(text));
}

/* b = A x for every right side whose solution is known. */
static void assert_solved(const struct loaded *f)
{
    double *r = mem_new(f->t.b_each, sizeof *r, "r", NULL);
    assert_non_null(f->t.x);
    for (int64_t i = 0; i < f->t.n; i++) {
        reference_spmv(&f->A, 1, sides_x(&f->t, i), 0, r, P_F64, NULL);
        for (int64_t k = 0; k < f->t.b_each; k++)
            assert_true(fabs(r[k] - sides_b(&f->t, i)[k]) <= 1e-12 * (1 + fabs(r[k])));
    }
    mem_free(r);
}

/* ---- files ---- */

TEST(every_kind_of_file_holds_them)
{
    static const struct {
        const char *path;
        int n;
    } table[] = {
        {"tests/fuzz/corpus/amgx.mtx", 1},    {"tests/files/sides.npz", 2}, {"tests/files/sides_fortran.npz", 2},
        {"tests/files/sides_complex.npz", 1}, {"tests/files/sides.mat", 1}, {"tests/files/sides_problem.mat", 2},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        load(table[i].path, &f);
        if (f.t.n != table[i].n) fail_msg("%s: %lld right sides", table[i].path, (long long)f.t.n);
        assert_solved(&f);
        for (int k = 0; k < f.A.rows && !f.A.imag; k++) assert_true(sides_x(&f.t, 0)[k] == first_x[k]);
        unload(&f);
    }
}

TEST(what_does_not_fit_is_left_out)
{
    static const struct {
        const char *path, *note;
    } table[] = {
        {"tests/files/sides_left_out.npz", "b is 4 x 1, but a right side of this matrix has 5 rows: b was left out"},
        {"tests/files/sides_pencil.mat", "read A, the first of 2 sparse variables: A, B"},
        {"tests/files/sides_other.mat", "read A, the first of 2 sparse variables: A, B"}, /* A and B are 12 x 9 */
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        bool noted = false;
        load(table[i].path, &f);
        for (int k = 0; k < f.info.nwarnings; k++) noted |= !strcmp(f.info.warning[k], table[i].note);
        if (!noted) fail_msg("%s: no note \"%s\"", table[i].path, table[i].note);
        assert_int_equal(f.t.n, 0);
        assert_null(f.t.b);
        unload(&f);
    }
}

TEST(complex_values_of_a_real_matrix_are_left_out)
{
    struct csr A = {.rows = 2, .cols = 2};
    struct sides t;
    struct load_info info = {0};
    struct dense_array b, none = {0};
    assert_true(dense_array_new(&b, 2, 1, true, NULL));
    b.val[0] = b.val[1] = 1;
    b.imag[0] = b.imag[1] = 0;
    assert_true(sides_fill(&t, &A, &b, &none, &info, NULL));
    assert_int_equal(t.n, 1); /* the imaginary parts are all 0 */
    sides_free(&t);
    b.imag[1] = NAN;
    assert_true(sides_fill(&t, &A, &b, &none, &info, NULL));
    assert_int_equal(t.n, 0);
    assert_string_equal(info.warning[0], "b is complex, but the matrix is real: b was left out");
    dense_array_free(&b);
}

TEST(the_first_nan_of_right_sides_is_named)
{
    struct csr A = {.rows = 4, .cols = 4};
    struct sides t;
    struct load_info info = {0};
    struct dense_array b, none = {0};
    assert_true(dense_array_new(&b, 4, 3, false, NULL));
    for (int k = 0; k < 12; k++) b.val[k] = k == 2 * 4 + 1 || k > 10 ? NAN : k; /* row 1 of column 2, and the end */
    assert_true(sides_fill(&t, &A, &b, &none, &info, NULL));
    assert_int_equal(info.nwarnings, 1);
    assert_string_equal(info.warning[0], "the first inf or nan of b is in row 1, column 2 (counted from 0)");
    sides_free(&t);
    dense_array_free(&b);
}

TEST(sections_are_numbers_after_the_entries)
{
    struct loaded f;
    char shown[256];
    load("tests/fuzz/corpus/amgx_diagonal.mtx", &f);
    show_matrix(&f.A, shown, sizeof shown);
    assert_string_equal(shown, "4x4: 1 1 4; 1 2 1; 2 1 1; 2 2 4; 2 3 -1; 3 2 -1; 3 3 4; 3 4 1; 4 3 1; 4 4 4");
    for (int i = 0; i < 4; i++) assert_true(f.t.b[i] == i + 1);
    assert_null(f.t.x);
    unload(&f);
    load("tests/fuzz/corpus/amgx_complex.mtx", &f);
    static const double b[] = {0, 5, 3, -1};
    assert_memory_equal(f.t.b, b, sizeof b);
    unload(&f);
    load("tests/fuzz/corpus/amgx_nan.mtx", &f);
    assert_string_equal(f.info.warning[0], "the first inf or nan of b is in row 0, column 0 (counted from 0)");
    unload(&f);
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"
#define COMPLEX "%%MatrixMarket matrix coordinate complex general\n"

/* The diagonal as blocks, row by row; complex values as pairs. */
TEST(a_diagonal_after_the_entries_is_added)
{
    static const struct {
        const char *text, *shown;
    } table[] = {
        {BANNER "%%AMGX diagonal\n2 2 1\n1 2 5\n1\n3\n", "2x2: 1 1 1; 1 2 5; 2 2 3"},
        {COMPLEX "%%AMGX diagonal\n2 2 1\n1 2 5 6\n1 2\n3 4\n", "2x2: 1 1 1 2; 1 2 5 6; 2 2 3 4"},
        {COMPLEX "%%AMGX 2 diagonal\n2 2 1\n1 2 5 6\n1 2 3 4\n5 6 7 8\n", "2x2: 1 1 1 2; 1 2 8 10; 2 1 5 6; 2 2 7 8"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        char shown[256];
        load(text_file(table[i].text), &f);
        show_matrix(&f.A, shown, sizeof shown);
        assert_string_equal(shown, table[i].shown);
        unload(&f);
    }
}

TEST(false_sections_are_refused)
{
    static const struct {
        const char *text;
        int64_t line;
        const char *says;
    } table[] = {
        {BANNER "%%AMGX rhs\n2 2 1\n1 1 1\n1\n", 5, "ends after 1 of the 2 numbers of the right side"},
        {BANNER "%%AMGX rhs\n200 200 1\n1 1 1\n1\n", 3, "the 200 numbers that the AMGX line promises"},
        {BANNER "%%AMGX rhs solution\n2 2 1\n1 1 1\n1\n2\n3\n", 7, "ends after 1 of the 2 numbers of the solution"},
        {BANNER "%%AMGX rhs\n2 2 1\n1 1 1\n1\n2\n3\n", 7,
         "goes on after the last section of the AMGX line, with \"3\""},
        {BANNER "%%AMGX rhs\n2 2 1\n1 1 1\n1\n\nx\n", 7, "\"x\" in the right side is not a decimal number"},
        {BANNER "%%AMGX 0 rhs\n2 2 1\n1 1 1\n1\n2\n", 2, "the block size on the AMGX line is not a positive integer"},
        {BANNER "%%AMGX 2 3 rhs\n2 2 1\n1 1 1\n1\n2\n", 2, "blocks must be square"},
        {BANNER "%%AMGX 2 diagonal\n3 3 1\n1 1 1\n1\n2\n", 3, "a diagonal of 2 x 2 blocks, but the matrix is 3 x 3"},
        {BANNER "%%AMGX base0\n2 2 2\n0 0 1\n2 2 1\n", 5, "row 2 is outside 0 .. 1"},
        {BANNER "%%AMGX base0\n2 2 2\n0 0 1\n1\n", 5, "the line ends before its column index"},
        {BANNER "%%AMGX rhs\n2 2 2\n1 1 1\n1\n2\n", 5, "the line ends before its column index"},
        {"%%MatrixMarket matrix array real general\n%%AMGX rhs\n2 1\n1\n2\n1\n2\n", 3, "promises numbers after the "},
        {BANNER "%%AMGX rhs\n2000000000 2000000000 0\n1\n", 3, "the 2000000000 numbers that the AMGX line promises"},
    };
    for (int i = 0; i < COUNT(table); i++) assert_refused(text_file(table[i].text), table[i].line, table[i].says);
}

/* The entries end in the middle of a block, at its end, or in a later block. */
TEST(blocks_end_anywhere)
{
    struct loaded one, f;
    load("tests/fuzz/corpus/amgx.mtx", &one);
    for (int64_t block = 1; block < 90; block++) {
        mtx_hooks(block, 1 + (int)block % 4);
        load("tests/fuzz/corpus/amgx.mtx", &f);
        mtx_hooks(0, 0);
        assert_true(csr_equal(&one.A, &f.A));
        assert_memory_equal(one.t.b, f.t.b, 3 * sizeof *f.t.b);
        assert_memory_equal(one.t.x, f.t.x, 3 * sizeof *f.t.x);
        unload(&f);
    }
    unload(&one);
}

TEST(every_kind_that_saves_them_returns_them)
{
    static const char *const from[] = {"tests/files/sides.npz", "tests/files/sides_complex.npz",
                                       "tests/files/sides.mat"};
    struct err e = {0};
    for (int i = 0; i < COUNT(from); i++)
        for (int k = 0; file_kinds[k]; k++) {
            char name[64];
            struct loaded f, g;
            if (!file_kinds[k]->saves_sides) continue;
            snprintf(name, sizeof name, "a%.*s", (int)strcspn(file_kinds[k]->endings, " "), file_kinds[k]->endings);
            load(from[i], &f);
            bool saved = file_save_system(scratch_path(name), true, &f.A, &f.t, &f.info, "", NULL, &e);
            assert_true(saved || (file_kinds[k]->sides_word && f.t.n > 1));
            if (saved) {
                load(scratch_path(name), &g);
                assert_true(csr_equal(&f.A, &g.A));
                assert_int_equal(f.t.n, g.t.n);
                assert_memory_equal(f.t.b, g.t.b, (size_t)(f.t.n * f.t.b_each) * sizeof *f.t.b);
                assert_memory_equal(f.t.x, g.t.x, (size_t)(f.t.n * f.t.x_each) * sizeof *f.t.x);
                unload(&g);
            }
            unload(&f);
        }
}

/* Right sides, every second time with solutions, of matrices of any shape with few entries. */
TEST(wsb_returns_right_sides_of_wide_matrices)
{
    static const struct {
        int rows, cols, n;
    } cases[] = {{1, 1000, 1}, {1, 600, 3}, {3, 100000, 2}, {700, 2, 4}, {5, 5, 1}};
    static const int zero[] = {0};
    static const double one[] = {1};
    for (int i = 0; i < COUNT(cases); i++) {
        struct loaded f = {.t = {.n = cases[i].n, .b_each = cases[i].rows, .x_each = cases[i].cols}}, g;
        struct err e = {0};
        int64_t numbers = f.t.n * f.t.b_each;
        assert_true(csr_from_triplets(&f.A, cases[i].rows, cases[i].cols, 1, zero, zero, one, NULL, NULL, &e));
        assert_non_null(f.t.b = mem_new(numbers, sizeof *f.t.b, "right sides", &e));
        for (int64_t k = 0; k < numbers; k++) f.t.b[k] = (double)k + 0.5;
        int64_t solutions = i % 2 ? f.t.n * f.t.x_each : 0;
        if (solutions) assert_non_null(f.t.x = mem_new(solutions, sizeof *f.t.x, "solutions", &e));
        for (int64_t k = 0; k < solutions; k++) f.t.x[k] = (double)k - 0.5;
        if (!file_save_system(scratch_path("w.wsb"), true, &f.A, &f.t, &f.info, "", NULL, &e)) fail_msg("%s", e.text);
        load(scratch_path("w.wsb"), &g);
        assert_true(csr_equal(&f.A, &g.A));
        assert_int_equal(g.t.n, f.t.n);
        assert_memory_equal(g.t.b, f.t.b, (size_t)numbers * sizeof *f.t.b);
        if (solutions)
            assert_memory_equal(g.t.x, f.t.x, (size_t)solutions * sizeof *f.t.x);
        else
            assert_null(g.t.x);
        unload(&f);
        unload(&g);
    }
}

static bool load_and_save(const char *from, const char *to, struct err *e)
{
    struct loaded f;
    bool ok = file_load_system(from, NULL, NULL, &f.A, &f.t, &f.info, e);
    ok = ok && (!to || file_save_system(to, true, &f.A, &f.t, &f.info, "", NULL, e));
    unload(&f);
    return ok;
}

TEST(every_failing_allocation_is_reported)
{
    static const char *const from[] = {"tests/fuzz/corpus/amgx.mtx", "tests/fuzz/corpus/amgx_diagonal.mtx",
                                       "tests/files/sides.npz", "tests/files/sides.mat"};
    for (int i = 0; i < COUNT(from); i++)
        for (int k = 0; k < 3; k++) {
            const char *const to[] = {NULL, scratch_path("m.wsb"), scratch_path("m.mtx")};
            struct err e = {0};
            bool done = k == 2 && i == 2; /* two right sides */
            for (int64_t nth = 1; !done; nth++) {
                e = (struct err){0};
                mem_fail_at(nth);
                done = load_and_save(from[i], to[k], &e);
                mem_fail_at(0);
                if (!done && e.code != E_MEMORY) fail_msg("%s, allocation %lld: %s", from[i], (long long)nth, e.text);
            }
        }
}

/* ---- damaged binary files ---- */

enum { WSB_HEAD = 672 }; /* bytes of the first page that are not padding */

TEST(damage_is_refused)
{
    size_t n;
    struct err e = {0};
    struct loaded f;
    load("tests/files/sides.npz", &f);
    assert_true(file_save_system(scratch_path("d.wsb"), true, &f.A, &f.t, &f.info, "", NULL, &e));
    unload(&f);
    char *whole = read_whole(scratch_path("d.wsb"), &n);
    for (size_t at = 0; at < n; at += at < 1024 ? 1 : 5) {
        whole[at] ^= 0x40;
        const char *path = write_file("e.wsb", whole, n);
        bool loaded = file_load_system(path, NULL, NULL, &f.A, &f.t, &f.info, &e);
        if (loaded && at < WSB_HEAD) fail_msg("byte %zu", at);
        if (!loaded) assert_true(!f.A.rowptr && !f.t.b && !f.t.x);
        if (loaded) unload(&f);
        whole[at] ^= 0x40;
    }
    mem_free(whole);
}

/* ---- commands ---- */

TEST(solve_uses_them)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "load tests/files/sides.mat as A", "1 right side and its solution");
    talk_says(&t, "stats A", "right sides               1");
    talk_says(&t, "list", "right sides");
    talk_says(&t, "solve bicgstab A on cpu", "right side     given, from the file of the matrix");
    talk_says(&t, "solve bicgstab A on cpu", "against        file");
    talk_says(&t, "solve bicgstab A on cpu b aones", "error in x");
    assert_null(strstr(t.out, "right side "));
    talk_says(&t, "solve bicgstab A on cpu x0 given", "iterations     0");
    talk_says(&t, "solve direct A", "right side         given, from the file of the matrix");
    talk_says(&t, "solve direct A", "error in x");
    talk_says(&t, "race cg bicgstab of A on cpu", "bicgstab");
    talk_refuses(&t, "solve bicgstab A on cpu column 1", "`column` can only be 0");
    assert_true(talk_line(&t, "gen poisson2d 4 as P"));
    talk_refuses(&t, "solve cg P b given", "P has no right side of its own");
    talk_refuses(&t, "solve cg P x0 given", "P has no guess or solution of its own");
    talk_refuses(&t, "load samples/thesis4.mtx rhs tests/fuzz/corpus/amgx.mtx",
                 "but the system needs 4 x 1, or one column");
    talk_close(&t);
}

TEST(columns_are_solved_one_after_another)
{
    struct talk t;
    char line[512];
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "load tests/files/sides.npz as A", "2 right sides and their solutions");
    snprintf(line, sizeof line, "solve bicgstab on cpu tol 1e-13 save %s", scratch_path("X.mtx"));
    talk_says(&t, line, "2 of 2 right sides converged, one after another");
    snprintf(line, sizeof line, "solve bicgstab on cpu b %s maxit 1", scratch_path("X.mtx"));
    talk_says(&t, line, "0 of 2 right sides converged");
    talk_says(&t, "solve bicgstab on cpu column 1", "column 1 of 2 (counted from 0)");
    talk_says(&t, "solve direct column 0", "column 0 of 2 (counted from 0)");
    talk_refuses(&t, "solve cg step", "`step` shows one solve, but b has 2 columns; add `column 0`");
    talk_says(&t, "solve bicgstab on cpu column 0 step; stop", "stopped");
    double *x;
    int64_t n;
    assert_true(mtx_load_columns(scratch_path("X.mtx"), 5, false, &x, &n, NULL));
    assert_int_equal(n, 2);
    for (int64_t i = 0; i < 10; i++) assert_true(fabs(x[i] - t.s.current->sides.x[i]) < 1e-9 * 1e3);
    mem_free(x);
    talk_close(&t);
}

/* The errors of each column are those of a solve with that column alone. */
TEST(one_factorisation_serves_all_columns)
{
    struct talk t;
    char line[512], says[120];
    double *x;
    int64_t n;
    cudss_fake();
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/sides.npz as A"));
    for (int i = 0; directs[i]; i++) {
        if (directs[i]->hermitian) continue;
        snprintf(line, sizeof line, "solve direct %s save %s force", directs[i]->name, scratch_path("D.mtx"));
        snprintf(says, sizeof says, "2 of 2 right sides solved by %s with one factorisation", directs[i]->name);
        talk_says(&t, line, says);
        assert_true(mtx_load_columns(scratch_path("D.mtx"), 5, false, &x, &n, NULL));
        assert_int_equal(n, 2);
        for (int64_t k = 0; k < 10; k++) assert_true(fabs(x[k] - t.s.current->sides.x[k]) < 1e-9 * 1e3);
        mem_free(x);
    }
    assert_true(talk_line(&t, "solve direct spqr"));
    double residual = t.s.direct->residual_true, error = t.s.direct->error_known;
    assert_true(t.s.direct->met && error < 1e-12);
    assert_true(talk_line(&t, "solve direct spqr column 1"));
    assert_true(t.s.direct->residual_true == residual && t.s.direct->error_known == error);
    talk_says(&t, "solve direct plan", "planned: nothing was factored");
    talk_says(&t, "solve direct", "with one factorisation");
    talk_says(&t, "print x", "the solution of `solve direct`");
    talk_close(&t);
}

TEST(save_says_what_it_leaves_out)
{
    struct talk t;
    char line[512];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/sides.mat as A; load tests/files/sides.npz as B"));
    snprintf(line, sizeof line, "save %s A", scratch_path("plain.mtx"));
    assert_true(talk_line(&t, line));
    assert_non_null(strstr(t.err, "the right side is not written; `amgx` adds it"));
    snprintf(line, sizeof line, "save %s A amgx; load %s as C", scratch_path("c.mtx"), scratch_path("c.mtx"));
    talk_says(&t, line, "C: 5 x 5, 13 nonzeros (13 in the file, real general), 1 right side and its solution");
    snprintf(line, sizeof line, "save %s B amgx", scratch_path("d.mtx"));
    talk_refuses(&t, line, "hold one right side, but the matrix has 2");
    snprintf(line, sizeof line, "save %s A amgx", scratch_path("d.npz"));
    talk_refuses(&t, line, "`amgx` is for files that end in .mtx");
    assert_true(talk_line(&t, "gen poisson2d 4 as P"));
    snprintf(line, sizeof line, "save %s P amgx", scratch_path("e.mtx"));
    talk_refuses(&t, line, "P has none");
    snprintf(line, sizeof line, "load %s rhs %s as D", scratch_path("plain.mtx"), "tests/files/none.mtx");
    talk_refuses(&t, line, "none.mtx");
    talk_close(&t);
}

SUITE(.teardown = tidy);

/* ---- matrices made from others ---- */

/* The current matrix has a right side and its solution, and A x = b up to rounding. */
static void assert_current_solved(const struct session *s)
{
    const struct matrix *m = s->current;
    double r[16];
    assert_true(m->csr.rows <= 16);
    assert_true(m->sides.n > 0 && m->sides.x);
    for (int64_t i = 0; i < m->sides.n; i++) {
        reference_spmv(&m->csr, 1, sides_x(&m->sides, i), 0, r, P_F64, NULL);
        for (int k = 0; k < m->csr.rows; k++)
            assert_true(fabs(r[k] - sides_b(&m->sides, i)[k]) <= 1e-12 * (1 + fabs(r[k])));
    }
}

TEST(matrices_made_from_others_have_their_right_sides)
{
    static const char *const lines[] = {"prune A",
                                        "let L = A",
                                        "scale A",
                                        "scale A by rows",
                                        "scale A by cols",
                                        "reorder rcm A",
                                        "reorder degree A",
                                        "extract 1 4 A",
                                        "extract 0 2 0 5 A",
                                        "extract 4 5 0 5 A",
                                        "reorder matching A",
                                        "reorder btf A",
                                        "scale A by matching",
                                        "scale A powers",
                                        "scale A by rows powers"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(lines); i++) {
        assert_true(talk_line(&t, "load tests/files/sides.npz as A"));
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.err);
        assert_string_not_equal(t.s.current->name, "A");
        assert_current_solved(&t.s);
        assert_true(talk_line(&t, "undo; drop all"));
    }
    talk_close(&t);
}

/* A solve of the derived matrix uses b; ones would give another x. */
TEST(pruned_and_copied_matrices_solve_with_their_b)
{
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as A",
             text_file("%%MatrixMarket matrix coordinate real general\n%%AMGX rhs\n2 2 3\n1 1 4\n1 2 0\n2 2 8\n"
                       "12\n40\n"));
    assert_true(talk_line(&t, line));
    talk_says(&t, "prune; solve cg on cpu; print x", "   0: 3   1: 5");
    talk_says(&t, "let B = A; solve direct; print x", "   0: 3   1: 5");
    talk_says(&t, "reorder colours A as C; solve direct C; print x", "5");
    talk_close(&t);
}

TEST(right_sides_that_do_not_fit_are_left_out_with_a_note)
{
    static const char *const lines[] = {
        "transpose A",       "let L = 2*A",       "let M = A + I",     "extract 0 5 0 4 A",         "extract 0 5 1 5 A",
        "extract 1 3 1 4 A", "extract 0 5 0 0 A", "extract 0 5 5 5 A", "symmetrize A mode average", "let N = A'"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/sides.mat as A"));
    for (int i = 0; i < COUNT(lines); i++) {
        assert_true(talk_line(&t, lines[i]));
        if (!strstr(t.err, "b of A is left out")) fail_msg("%s: %s", lines[i], t.err);
        assert_int_equal(t.s.current->sides.n, 0);
    }
    assert_true(talk_line(&t, "prune A below 2"));
    assert_true(t.s.current->sides.n == 1 && !t.s.current->sides.x);
    assert_non_null(strstr(t.err, "its x is left out"));
    talk_close(&t);
}

/* ---- the default right side ---- */

/* The x of avaried, by its formula as `help solve` states it. */
static void varied(int64_t n, double *x)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i] = (double)(40503 * (i * (i + 1) / 2) % 65536) / 65536;
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++) x[i] -= mean;
}

TEST(the_default_b_is_not_hidden_by_constants)
{
    static const struct {
        const char *line, *name;
        bool up_to_constant;
    } table[] = {{"gen poisson2d 5", "aones", false},
                 {"load tests/files/neumann.mtx as N", "avaried", true},
                 {"let S = N + 0.5*I", "avaried", false}, /* every row sum is 0.5 */
                 {"let T = 1e-200*N", "avaried", true},
                 {"let P = N + 0*N", "avaried", true},
                 {"load tests/files/equal_rows.mtx as F", "aones", false},
                 {"load samples/thesis4.mtx", "aones", false}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(table); i++) {
        struct right_sides r;
        struct err e = {0};
        double x[25], b[25];
        assert_true(talk_line(&t, table[i].line));
        const struct matrix *m = t.s.current;
        assert_true(right_sides_make(m, NULL, 1, &r, &e));
        if (strcmp(r.name, table[i].name) != 0) fail_msg("%s: %s", table[i].line, r.name);
        assert_true(r.up_to_constant == table[i].up_to_constant);
        varied(m->csr.rows, x);
        if (!strcmp(r.name, "aones"))
            for (int64_t k = 0; k < m->csr.rows; k++) x[k] = 1;
        reference_spmv(&m->csr, 1, x, 0, b, P_F64, NULL);
        for (int64_t k = 0; k < m->csr.rows; k++) assert_true(r.b[k] == b[k]);
        assert_true(norm2(m->csr.rows, b) > 0);
        right_sides_free(&r);
    }
    talk_close(&t);
}

TEST(a_laplacian_is_solved_with_a_b_that_tests_something)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/neumann.mtx as N; solve cg on cpu"));
    assert_true(t.s.solve->iterations > 1 && t.s.solve->b_norm > 0);
    assert_true(t.s.solve->result.error_known < 1e-8);
    assert_non_null(strstr(t.out, "right side     avaried"));
    assert_true(talk_line(&t, "solve cg on cpu precond jacobi"));
    assert_true(t.s.solve->result.error_known < 1e-8); /* x differs from the varied x by a constant */
    assert_true(talk_line(&t, "solve cg on cpu b aones"));
    assert_true(t.s.solve->b_norm == 0);
    assert_true(talk_line(&t, "advise solver"));
    assert_non_null(strstr(t.err, "b is avaried"));
    talk_close(&t);
}
