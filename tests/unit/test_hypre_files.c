/* hypre's IJ files. tests/files holds parts.IJ.00000 and .00001, and parts_b.IJ.00000 and .00001, which two processes
   of hypre 2.26 wrote with HYPRE_IJMatrixPrint and HYPRE_IJVectorPrint: the 5 x 5 matrix with rows -1 (4 + i/2) -2/3,
   and b = 10.5, 21, ..., 52.5. The binary files are made here, after the comment of hypre_ParCSRMatrixPrintBinaryIJ. */
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <endian.h>
#include <math.h>
#include <unistd.h>

#define SAMPLES "tests/files/"

static void assert_loads(const char *path, const char *shown, const char *note)
{
    char out[512];
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (!file_load(path, NULL, NULL, &A, &info, &e)) fail_msg("%s: %s: %s", path, e.where, e.text);
    if (!csr_check(&A, &e)) fail_msg("%s: %s", path, e.text);
    show_matrix(&A, out, sizeof out);
    assert_string_equal(out, shown);
    assert_int_equal(info.nwarnings, note != NULL);
    if (note) assert_string_equal(info.warning[0], note);
    csr_free(&A);
}

static void assert_refused(const char *path, enum code code, const char *says)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    if (file_load(path, NULL, NULL, &A, &info, &e)) fail_msg("%s: loaded, expected \"%s\"", path, says);
    if (e.code != code || !strstr(e.text, says))
        fail_msg("expected %d \"%s\", got %d \"%s\"", (int)code, says, (int)e.code, e.text);
    assert_null(A.rowptr);
}

static const char *text_file(const char *name, const char *text)
{
    return write_file(name, text, strlen(text));
}

/* ---- text ---- */

static const char two_parts[] =
    "5x5: 1 1 4; 1 2 -0.666666666666667; 2 1 -1; 2 2 4.5; 2 3 -0.666666666666667; 3 2 -1; 3 3 "
    "5; 3 4 -0.666666666666667; 4 3 -1; 4 4 5.5; 4 5 -0.666666666666667; 5 4 -1; 5 5 6";

/* The prefix and every part name the whole matrix. */
TEST(all_parts_are_read)
{
    static const char note[] = "read from 2 files, one for each process of hypre";
    assert_loads(SAMPLES "parts.IJ", two_parts, note);
    assert_loads(SAMPLES "parts.IJ.00000", two_parts, note);
    assert_loads(SAMPLES "parts.IJ.00001", two_parts, note);
}

TEST(vectors_are_right_sides)
{
    double *x;
    int64_t n;
    struct err e = {0};
    assert_true(mtx_load_columns(SAMPLES "parts_b.IJ", 5, false, &x, &n, &e));
    assert_int_equal(n, 1);
    for (int i = 0; i < 5; i++) assert_true(x[i] == 10.5 * (i + 1));
    mem_free(x);
    assert_false(mtx_load_columns(SAMPLES "parts_b.IJ.00000", 4, false, &x, &n, &e));
    assert_string_equal(e.text, "the vector is 5 x 1, but the system needs 4 x 1, or one column for each right side");
    err_clear(&e);
    assert_false(mtx_load_columns(SAMPLES "parts.IJ", 5, false, &x, &n, &e));
    assert_string_equal(e.text, "the file has a hypre matrix, not a vector");
}

/* Plain numbers stay plain numbers, also two on a line. */
TEST(plain_numbers_are_no_vectors_of_hypre)
{
    static const double pairs[] = {0, 1, 2, 1.5, 1, 2};
    double x[6];
    struct err e = {0};
    assert_true(mtx_load_vector(text_file("pairs.txt", "0 1\n2 1.5\n1 2\n"), 6, x, &e));
    assert_memory_equal(x, pairs, sizeof pairs);
    assert_true(mtx_load_vector(text_file("pairs.txt", "0 5\n0 2\n3 4\n"), 6, x, &e));
    assert_true(x[1] == 5 && x[5] == 4);
}

TEST(forms_of_text)
{
    scratch_remove();
    assert_loads(text_file("one", "1 2 1 3\n1 1 1.5\n1 3 2.5\n2 2 -1\n"), "2x3: 1 1 1.5; 1 3 2.5; 2 2 -1", NULL);
    assert_loads(text_file("crlf", "0 1 0 1\r\n0 0 1.5\r\n\r\n1 1 2\r\n"), "2x2: 1 1 1.5; 2 2 2", NULL);
    assert_loads(text_file("last", "0 0 0 0\n0 0 1.5"), "1x1: 1 1 1.5", NULL);
    assert_loads(text_file("none", "0 1 0 1\n"), "2x2:", NULL);
    assert_loads(text_file("e.00000", "0 -1 0 -1\n"), "0x0:", NULL);
    text_file("f.00001", "0 1 0 1\n0 1 3.0\n1 0 4.0\n"); /* the first process has no rows */
    assert_loads(text_file("f.00000", "0 -1 0 -1\n"), "2x2: 1 2 3; 2 1 4",
                 "read from 2 files, one for each process of hypre");
}

TEST(faults_of_text_are_named)
{
    static const struct {
        const char *first, *second, *third; /* the parts; NULL: there is none */
        const char *says;
    } table[] = {
        {"0 1 0 1\n0 0 1.5\n2 0 1.0\n", NULL, NULL, "row 2 is outside 0 .. 1"},
        {"0 1 0 1\n0 0 1.5\n1 2 1.0\n", NULL, NULL, "column 2 is outside 0 .. 1"},
        {"0 1 0 1\n0 0 1.5\n1 1\n", NULL, NULL, "the line ends before its value"},
        {"0 1 0 1\n0 0 1.5\n1 1 x\n", NULL, NULL, "\"x\" is not a decimal number"},
        {"5 6 5 6\n5 5 1.5\n", NULL, NULL, "the rows begin with 5, not with 0 or 1"},
        {"0 1 0 1\n0 0 1.5\n", "3 4 3 4\n3 3 1.5\n", NULL, "part 00001 begins with row 3 instead of 2"},
        {"0 1 0 1\n0 0 1.5\n", NULL, "3 4 3 4\n3 3 1.5\n", "part 00001 is missing"},
        {NULL, "2 3 2 3\n3 3 1.5\n", NULL, "is missing"},
        {"0 1 0 1\n0 0 1.5\n", "hello\n", NULL, "this is no part of the same kind as the first of hypre's files"},
        {"0 1 0 1\n0 0 1.5\n", "2 3\n2 1.5\n", NULL, "this is no part of the same kind"},
        {"0 2000000000 0 2000000000\n0 0 1.5\n", "2000000001 2147483648 0 1\n0 0 1.5\n", NULL,
         "no part of the same kind"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        const char *const part[] = {table[i].first, table[i].second, table[i].third};
        char path[256] = "", name[16];
        scratch_remove();
        for (int k = 2; k >= 0; k--) {
            snprintf(name, sizeof name, "t.%05d", k);
            if (part[k]) snprintf(path, sizeof path, "%s", text_file(name, part[k]));
        }
        assert_refused(path, E_INPUT, table[i].says);
    }
}

/* ---- binary ---- */

struct bytes {
    char at[512];
    size_t n;
};

static void put_integer(struct bytes *to, int64_t v, int size)
{
    uint64_t little = htole64((uint64_t)v);
    memcpy(to->at + to->n, &little, (size_t)size);
    to->n += (size_t)size;
}

static void put_value(struct bytes *to, double v, int size)
{
    float narrow = (float)v;
    memcpy(to->at + to->n, size == 4 ? (void *)&narrow : (void *)&v, (size_t)size);
    to->n += (size_t)size;
}

/* Rows [first, last] of a 3 x 3 matrix whose rows have the entries (i, i) = i + 1.5 and (i, 0) = -1. In the file, rows
   and columns are counted from `base`. */
static struct bytes matrix_part(int index, int value, int base, int first, int last)
{
    struct bytes out = {.n = 0};
    int64_t n = 0, row[8], col[8];
    double val[8];
    for (int i = first; i <= last; i++) {
        row[n] = col[n] = i, val[n++] = i + 1.5;
        if (i) row[n] = i, col[n] = 0, val[n++] = -1;
    }
    const int64_t head[] = {1, index, value, 3, 3, 5, n, first + base, last + base, first + base, last + base};
    for (int i = 0; i < COUNT(head); i++) put_integer(&out, head[i], 8);
    for (int i = 0; i < n; i++) put_integer(&out, row[i] + base, index);
    for (int i = 0; i < n; i++) put_integer(&out, col[i] + base, index);
    for (int i = 0; i < n; i++) put_value(&out, val[i], value);
    return out;
}

static const char *bytes_file(const char *name, struct bytes b)
{
    return write_file(name, b.at, b.n);
}

static const char three[] = "3x3: 1 1 1.5; 2 1 -1; 2 2 2.5; 3 1 -1; 3 3 3.5";

TEST(binary_matrices_of_every_size_of_number)
{
    for (int index = 4; index <= 8; index += 4)
        for (int value = 4; value <= 8; value += 4) {
            scratch_remove();
            assert_loads(bytes_file("m.00000.bin", matrix_part(index, value, 0, 0, 2)), three, NULL);
            bytes_file("p.00000.bin", matrix_part(index, value, 1, 0, 0));
            bytes_file("p.00001.bin", matrix_part(index, value, 1, 1, 2));
            assert_loads(scratch_path("p"), three, "read from 2 files, one for each process of hypre");
        }
}

TEST(a_missing_part_is_noticed)
{
    scratch_remove();
    assert_refused(bytes_file("q.00000.bin", matrix_part(4, 8, 0, 0, 1)), E_INPUT,
                   "the header declares 3 rows, but this part has 2; is a part missing?");
}

/* Two components are two columns. */
TEST(binary_vectors_have_components)
{
    double *x;
    int64_t n;
    struct err e = {0};
    scratch_remove();
    for (int part = 0; part < 2; part++) {
        struct bytes b = {.n = 0};
        const int64_t first = part ? 2 : 0, rows = part ? 1 : 2, head[] = {1, 8, first, first + rows, 3, rows, 2, 0};
        for (int i = 0; i < COUNT(head); i++) put_integer(&b, head[i], 8);
        for (int c = 0; c < 2; c++)
            for (int64_t i = first; i < first + rows; i++) put_value(&b, (double)(10 * c + i), 8);
        bytes_file(part ? "v.00001.bin" : "v.00000.bin", b);
    }
    if (!mtx_load_columns(scratch_path("v"), 3, false, &x, &n, &e)) fail_msg("%s", e.text);
    assert_int_equal(n, 2);
    for (int i = 0; i < 6; i++) assert_true(x[i] == (i < 3 ? i : 10 + i - 3));
    mem_free(x);
}

TEST(damaged_binary_files_are_refused_or_right)
{
    struct csr A;
    struct load_info info;
    struct bytes whole = matrix_part(4, 8, 0, 0, 2);
    scratch_remove();
    for (size_t n = 0; n < whole.n; n++) {
        struct err e = {0};
        assert_false(file_load(write_file("d.00000.bin", whole.at, n), NULL, NULL, &A, &info, &e));
        assert_non_null(strstr(e.text, n < 88 ? "" : "it is truncated"));
    }
    for (size_t k = 0; k < 8 * whole.n; k++) {
        struct err e = {0};
        whole.at[k / 8] ^= (char)(1 << k % 8);
        if (file_load(bytes_file("d.00000.bin", whole), NULL, NULL, &A, &info, &e)) {
            assert_true(csr_check(&A, &e));
            csr_free(&A);
        } else {
            assert_true(e.text[0]);
        }
        whole.at[k / 8] ^= (char)(1 << k % 8);
    }
}

/* ---- saving ---- */

TEST(one_part_is_saved)
{
    size_t n;
    struct csr A, B;
    struct load_info info;
    struct err e = {0};
    assert_true(csr_from_triplets(&A, 2, 3, 3, (int[]){0, 0, 1}, (int[]){0, 2, 1}, (double[]){1.0 / 3, 2, -1e-300},
                                  NULL, NULL, NULL));
    assert_true(file_save(scratch_path("A.IJ"), true, &A, NULL, "a comment", NULL, &e));
    char *text = read_whole(scratch_path("A.IJ.00000"), &n);
    static const char expected[] = "0 1 0 2\n0 0 0.3333333333333333\n0 2 2\n1 1 -1e-300\n";
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(text, expected, n);
    mem_free(text);
    assert_true(file_load(scratch_path("A.IJ"), NULL, NULL, &B, &info, &e));
    assert_true(csr_equal(&A, &B));
    csr_free(&B);
    assert_false(file_save(scratch_path("A.IJ"), false, &A, NULL, NULL, NULL, &e));
    assert_non_null(strstr(e.text, "file exists"));
    err_clear(&e);
    csr_free(&A);
    assert_true(file_load(SAMPLES "complex.npz", NULL, NULL, &A, &info, &e));
    assert_false(file_save(scratch_path("Z.IJ"), true, &A, NULL, NULL, NULL, &e));
    assert_non_null(strstr(e.text, "hypre's files hold real numbers; save a complex matrix as .npz or .mtx"));
    csr_free(&A);
}

TEST(every_real_shape_round_trips)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5), B;
        struct load_info info;
        struct err e = {0};
        if (!A.imag) {
            assert_true(file_save(scratch_path("s.IJ"), true, &A, NULL, NULL, NULL, &e));
            if (!file_load(scratch_path("s.IJ"), NULL, NULL, &B, &info, &e)) fail_msg("%s: %s", s->name, e.text);
            if (!csr_equal(&A, &B)) fail_msg("%s: another matrix came back", s->name);
            csr_free(&B);
        }
        csr_free(&A);
    }
}

TEST(commands_load_parts_by_their_prefix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "load tests/files/parts.IJ rhs tests/files/parts_b.IJ", "parts: 5 x 5, 13 nonzeros");
    talk_says(&t, "solve direct", "solved");
    talk_close(&t);
}

SUITE(.teardown = tidy);
