/* PETSc's binary files. tests/files holds system.petsc, dense.petsc (in the native format), sbaij.petsc, vec.petsc and
   is.petsc, which PETSc 3.18 wrote with MatView, VecView and ISView: the 5 x 5 matrix with rows -1 (4 + i/2) -2, b = A
   x and x = 1, 2, ..., 5; its upper triangle as MATSEQSBAIJ. wide.petsc, complex.petsc, wide_complex.petsc and
   single.petsc were written by PETSc's PetscBinaryIO.py: a 3 x 3 matrix and a vector, with integers of 64 bits, complex
   values, both, and values in single precision. */
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/sides.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <endian.h>

#define SAMPLES "tests/files/"

struct loaded {
    struct csr A;
    struct sides t;
    struct load_info info;
};

static bool try_load(const char *path, const char *part, struct loaded *f, struct err *e)
{
    bool ok = file_load_system(path, part, NULL, &f->A, &f->t, &f->info, e);
    if (ok && !csr_check(&f->A, e)) fail_msg("%s: %s", path, e->text);
    if (!ok) assert_true(!f->A.rowptr && !f->A.rowptr64 && !f->t.b && e->code && e->text[0]);
    return ok;
}

static void load(const char *path, struct loaded *f)
{
    struct err e = {0};
    if (!try_load(path, NULL, f, &e)) fail_msg("%s: %s", path, e.text);
}

static void unload(struct loaded *f)
{
    csr_free(&f->A);
    sides_free(&f->t);
}

static void assert_refused(const char *path, const char *part, enum code code, const char *says)
{
    struct loaded f;
    struct err e = {0};
    if (try_load(path, part, &f, &e)) fail_msg("%s: loaded, expected \"%s\"", path, says);
    if (e.code != code || !strstr(e.text, says))
        fail_msg("expected %d \"%s\", got %d \"%s\"", (int)code, says, (int)e.code, e.text);
}

static bool has_note(const struct load_info *info, const char *note)
{
    for (int i = 0; i < info->nwarnings; i++)
        if (strstr(info->warning[i], note)) return true;
    return false;
}

/* ---- files of PETSc ---- */

static const char tridiagonal[] =
    "5x5: 1 1 4; 1 2 -2; 2 1 -1; 2 2 4.5; 2 3 -2; 3 2 -1; 3 3 5; 3 4 -2; 4 3 -1; 4 4 5.5; "
    "4 5 -2; 5 4 -1; 5 5 6";
static const char three[] = "3x3: 1 1 1.5; 1 3 -2; 2 2 3; 3 1 0.25; 3 3 7";
static const char complex_three[] = "3x3: 1 1 1 2; 1 3 -2 0; 2 2 0 3; 3 1 0.25 0; 3 3 7 -1";

TEST(files_of_petsc_load)
{
    static const double b5[] = {0, 2, 5, 9, 26}, b3[] = {1, 2, 3}, complex_b[] = {1, 1, 2, 0, 3, -3};
    static const struct {
        const char *path, *shown, *field;
        const double *b;
        int numbers;
        const char *note; /* NULL: no notes */
    } table[] = {
        {SAMPLES "system.petsc", tridiagonal, "real", b5, 5, NULL},
        {SAMPLES "dense.petsc", "3x2: 1 1 1; 1 2 10; 2 1 2; 2 2 20; 3 1 3; 3 2 30", "real", NULL, 0, NULL},
        {SAMPLES "sbaij.petsc", "5x5: 1 1 4; 1 2 -2; 2 2 4.5; 2 3 -2; 3 3 5; 3 4 -2; 4 4 5.5; 4 5 -2; 5 5 6", "real",
         NULL, 0, "PETSc writes only this triangle of an SBAIJ matrix: convert it to AIJ first if it is one"},
        {SAMPLES "wide.petsc", three, "real", b3, 3, NULL},
        {SAMPLES "complex.petsc", complex_three, "complex", complex_b, 6, NULL},
        {SAMPLES "wide_complex.petsc", complex_three, "complex", complex_b, 6, NULL},
        {SAMPLES "single.petsc", three, "real", b3, 3, "its values are in single precision"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char shown[512];
        struct loaded f;
        load(table[i].path, &f);
        show_matrix(&f.A, shown, sizeof shown);
        assert_string_equal(shown, table[i].shown);
        assert_string_equal(f.info.field, table[i].field);
        assert_int_equal(f.t.n, table[i].b != NULL);
        if (table[i].b) assert_memory_equal(f.t.b, table[i].b, (size_t)table[i].numbers * sizeof(double));
        assert_int_equal(f.info.nwarnings, table[i].note != NULL);
        if (table[i].note) assert_true(has_note(&f.info, table[i].note));
        unload(&f);
    }
}

TEST(the_vectors_after_the_matrix_are_its_system)
{
    static const double x[] = {1, 2, 3, 4, 5};
    struct loaded f;
    load(SAMPLES "system.petsc", &f);
    assert_memory_equal(f.t.x, x, sizeof x);
    unload(&f);
}

TEST(vectors_are_right_sides_of_other_matrices)
{
    static const double b[] = {0, 2, 5, 9, 26}, pairs[] = {0, 0, 2, 0, 5, 0, 9, 0, 26, 0};
    double *x, y[10];
    int64_t n, rows;
    struct err e = {0};
    assert_true(mtx_load_columns(SAMPLES "vec.petsc", 5, false, &x, &n, &e));
    assert_int_equal(n, 1);
    assert_memory_equal(x, b, sizeof b);
    mem_free(x);
    assert_true(mtx_load_complex_vector(SAMPLES "vec.petsc", 5, y, &e));
    assert_memory_equal(y, pairs, sizeof pairs);
    assert_true(mtx_load_columns(SAMPLES "dense.petsc", 3, false, &x, &n, &e)); /* two columns */
    assert_int_equal(n, 2);
    for (int i = 0; i < 6; i++) assert_true(x[i] == (i < 3 ? i + 1 : 10 * (i - 2)));
    mem_free(x);
    assert_true(columns_load(SAMPLES "vec.petsc", &x, &rows, &n, &e));
    assert_true(rows == 5 && n == 1 && x[4] == 26);
    mem_free(x);
    assert_false(mtx_load_columns(SAMPLES "vec.petsc", 4, false, &x, &n, &e));
    assert_string_equal(e.text, "the vector is 5 x 1, but the system needs 4 x 1, or one column for each right side");
    assert_null(x);
    err_clear(&e);
    assert_false(mtx_load_vector(SAMPLES "complex.petsc", 3, y, &e));
    assert_string_equal(e.text, "the vector is complex, but must be real");
    err_clear(&e);
    assert_false(mtx_load_vector(SAMPLES "sbaij.petsc", 5, y, &e));
    assert_string_equal(e.text, "the file has PETSc objects, but no vector; write the vector with VecView");
}

/* ---- files made by hand ---- */

/* A file of big-endian integers of 32 bits; the value 1.0 is the integers ONE, 0. */
enum { ONE = 0x3ff00000, MAT = 1211216, VEC = 1211214, IS = 1211218, WORDS = 40 };

static const char *words_file(const int32_t *word, int n)
{
    uint32_t big[WORDS];
    for (int i = 0; i < n; i++) big[i] = htobe32((uint32_t)word[i]);
    return write_file("words.petsc", big, (size_t)n * sizeof *big);
}

TEST(objects_after_the_system_are_left_out)
{
    static const int32_t two[] = {MAT, 1, 1, 1, 1, 0, ONE, 0, MAT, 2, 2, 1, 1, 0, 1, ONE, 0};
    static const int32_t more[] = {MAT, 1, 1, 1, 1, 0, ONE, 0, VEC, 1, ONE, 0, VEC, 1, ONE, 0, VEC, 1, ONE, 0};
    static const int32_t set[] = {MAT, 1, 1, 1, 1, 0, ONE, 0, IS, 1, 0},
                         bag[] = {MAT, 1, 1, 1, 1, 0, ONE, 0, 1211219, 7};
    char shown[256];
    struct loaded f;
    struct err e = {0};
    load(words_file(two, COUNT(two)), &f);
    assert_true(has_note(&f.info, "read the first of 2 matrices; `variable 2` reads the second"));
    unload(&f);
    assert_true(try_load(scratch_path("words.petsc"), "2", &f, &e));
    show_matrix(&f.A, shown, sizeof shown);
    assert_string_equal(shown, "2x2: 1 2 1");
    assert_int_equal(f.info.nwarnings, 1); /* only the note about the triangle */
    unload(&f);
    assert_refused(scratch_path("words.petsc"), "3", E_INPUT, "no matrix of this number; the file has 2 matrices");
    assert_refused(scratch_path("words.petsc"), "A", E_INPUT, "no matrix of this number");
    load(words_file(more, COUNT(more)), &f);
    assert_true(has_note(&f.info, "1 object after the right side was left out"));
    assert_non_null(f.t.x);
    unload(&f);
    load(words_file(set, COUNT(set)), &f);
    assert_true(has_note(&f.info, "1 object after the right side was left out"));
    unload(&f);
    load(words_file(bag, COUNT(bag)), &f);
    assert_true(has_note(&f.info, "PETSc objects that are no matrices and vectors were left out"));
    unload(&f);
}

TEST(false_headers_are_refused)
{
    static const struct {
        const char *says;
        enum code code;
        int n;
        int32_t word[WORDS];
    } table[] = {
        {"the file ends within the header", E_INPUT, 3, {MAT, 1, 1}},
        {"too few for a PETSc matrix of 1 x 1 with 2 nonzeros; it is truncated",
         E_INPUT,
         8,
         {MAT, 1, 1, 2, 2, 0, ONE, 0}},
        {"too few for a PETSc matrix of 2147483647 x 1", E_INPUT, 8, {MAT, INT32_MAX, 1, 1, 1, 0, ONE, 0}},
        {"with 2147483647 nonzeros", E_INPUT, 8, {MAT, 1, 1, INT32_MAX, 1, 0, ONE, 0}},
        {"too few for a PETSc matrix of -1 x 1", E_INPUT, 8, {MAT, -1, 1, 1, 1, 0, ONE, 0}},
        {"with -2 nonzeros", E_INPUT, 8, {MAT, 1, 1, -2, 1, 0, ONE, 0}},
        {"2147483647 x 2147483647 with -1", E_INPUT, 8, {MAT, INT32_MAX, INT32_MAX, -1, 1, 0, ONE, 0}},
        {"row 0 (counted from 0) has the length -1", E_INPUT, 8, {MAT, 1, 1, 1, -1, 0, ONE, 0}},
        {"row 0 (counted from 0) has the length 2, but 1 nonzeros are left", E_INPUT, 8, {MAT, 1, 1, 1, 2, 0, ONE, 0}},
        {"the row lengths add up to 0, but the header declares 1", E_INPUT, 8, {MAT, 1, 1, 1, 0, 0, ONE, 0}},
        {"entry 0: column index 1 is outside 0 .. 0", E_INPUT, 8, {MAT, 1, 1, 1, 1, 1, ONE, 0}},
        {"no PETSc object begins at byte 32: its number is 5", E_INPUT, 9, {MAT, 1, 1, 1, 1, 0, ONE, 0, 5}},
        {"too few for PETSc's vector of length 3", E_INPUT, 12, {MAT, 1, 1, 1, 1, 0, ONE, 0, VEC, 3, ONE, 0}},
        {"does not fit in 32 bits", E_LIMIT, 14, {0, MAT, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, ONE, 0}},
    };
    for (int i = 0; i < COUNT(table); i++) {
        const char *path = words_file(table[i].word, table[i].n);
        int64_t before = mem_count();
        assert_refused(path, NULL, table[i].code, table[i].says);
        if (strstr(table[i].says, "too few")) assert_true(mem_count() - before < 4); /* only the stream */
    }
}

/* ---- damage ---- */

/* A file cut anywhere gives an error or the right matrix. Only if exactly half of the values of the last object are
   left, they are also values of half the size. */
TEST(a_cut_file_is_refused_or_right)
{
    static const char *const names[] = {"system.petsc", "dense.petsc", "wide_complex.petsc", "wide.petsc"};
    for (int i = 0; i < COUNT(names); i++) {
        char path[64];
        size_t n;
        struct loaded whole, f;
        int other = 0;
        snprintf(path, sizeof path, SAMPLES "%s", names[i]);
        load(path, &whole);
        char *data = read_whole(path, &n);
        for (size_t k = 0; k < n; k++) {
            struct err e = {0};
            if (!try_load(write_file("cut.petsc", data, k), NULL, &f, &e)) continue;
            bool half = has_note(&f.info, "single precision") || !f.A.imag != !whole.A.imag;
            if (!csr_equal(&f.A, &whole.A) && !half) fail_msg("%s cut at %zu", names[i], k);
            other += half;
            unload(&f);
        }
        assert_true(other <= 2);
        mem_free(data);
        unload(&whole);
    }
}

TEST(flipped_bits_never_crash)
{
    size_t n;
    struct loaded f;
    char *data = read_whole(SAMPLES "system.petsc", &n);
    for (size_t k = 0; k < 8 * n; k++) {
        struct err e = {0};
        data[k / 8] ^= (char)(1 << k % 8);
        if (try_load(write_file("bit.petsc", data, n), NULL, &f, &e)) unload(&f);
        data[k / 8] ^= (char)(1 << k % 8);
    }
    mem_free(data);
}

/* ---- saving ---- */

/* Several right sides are dense matrices, of which PETSc knows the number. */
TEST(several_right_sides_are_dense_matrices)
{
    static const double b[] = {1, 2, 3, 10, 20, 30};
    struct loaded f, g;
    struct err e = {0};
    load(SAMPLES "wide.petsc", &f);
    sides_free(&f.t);
    f.t = (struct sides){.n = 2, .b_each = 3, .x_each = 3, .b = (double *)b};
    assert_true(file_save_system(scratch_path("s.petsc"), true, &f.A, &f.t, &f.info, NULL, NULL, &e));
    load(scratch_path("s.petsc"), &g);
    assert_true(csr_equal(&f.A, &g.A) && g.t.n == 2 && !g.t.x && !g.info.nwarnings);
    assert_memory_equal(g.t.b, b, sizeof b);
    f.t.b = NULL;
    unload(&f);
    unload(&g);
}

/* The bytes are those that PETSc wrote itself. */
TEST(files_are_written_as_petsc_writes_them)
{
    static const char *const names[] = {"system.petsc", "complex.petsc", "sbaij.petsc"};
    for (int i = 0; i < COUNT(names); i++) {
        char path[64];
        size_t n, m;
        struct loaded f;
        struct err e = {0};
        snprintf(path, sizeof path, SAMPLES "%s", names[i]);
        load(path, &f);
        assert_true(file_save_system(scratch_path("w.petsc"), true, &f.A, &f.t, &f.info, NULL, NULL, &e));
        char *theirs = read_whole(path, &n), *ours = read_whole(scratch_path("w.petsc"), &m);
        assert_int_equal(n, m);
        assert_memory_equal(theirs, ours, n);
        mem_free(theirs);
        mem_free(ours);
        unload(&f);
    }
}

/* A large matrix needs integers of 64 bits. */
TEST(large_matrices_have_wide_integers)
{
    size_t n, m;
    struct loaded f, g;
    struct err e = {0};
    csr_set_most_small(2);
    load(SAMPLES "wide_complex.petsc", &f);
    assert_non_null(f.A.rowptr64);
    assert_true(file_save_system(scratch_path("l.petsc"), true, &f.A, &f.t, &f.info, NULL, NULL, &e));
    load(scratch_path("l.petsc"), &g);
    csr_set_most_small(0);
    assert_true(csr_equal(&f.A, &g.A));
    char *theirs = read_whole(SAMPLES "wide_complex.petsc", &n), *ours = read_whole(scratch_path("l.petsc"), &m);
    assert_int_equal(n, m);
    assert_memory_equal(theirs, ours, n);
    mem_free(theirs);
    mem_free(ours);
    unload(&f);
    unload(&g);
}

TEST(commands_solve_a_system_of_petsc)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "load tests/files/system.petsc as A",
              "A: 5 x 5, 13 nonzeros (13 in the file, real general), 1 right "
              "side and its solution");
    talk_says(&t, "solve direct A", "right side       given, from the file of the matrix");
    talk_says(&t, "solve bicgstab A on cpu b tests/files/vec.petsc", "converged");
    talk_says(&t, "load samples/thesis4.mtx", "thesis4");
    talk_refuses(&t, "load samples/thesis4.mtx rhs tests/files/vec.petsc",
                 "the vector is 5 x 1, but the system needs 4 x 1");
    talk_close(&t);
}

SUITE(.teardown = tidy);
