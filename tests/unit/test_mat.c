/* MATLAB's .mat files that are read and written without a library: level 4 in both byte orders, uncompressed level 5,
   what is refused, and what `save` says. tests/files/level4.mat was written by scipy.io.savemat of SciPy 1.17.1 from
   the 5 x 4 matrix of the other samples, and from the same values with imaginary parts 1, 2, ..., 7. */
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/sides.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <string.h>

struct loaded {
    struct csr A;
    struct sides t;
    struct load_info info;
    struct err e;
    char shown[512];
};

/* Load a matrix and show it, or show the error. */
static const char *load(const char *path, const char *part, struct loaded *f)
{
    *f = (struct loaded){0};
    if (!file_load_system(path, part, NULL, &f->A, &f->t, &f->info, &f->e))
        snprintf(f->shown, sizeof f->shown, "%s", f->e.text);
    else
        show_matrix(&f->A, f->shown, sizeof f->shown);
    return f->shown;
}

static void unload(struct loaded *f)
{
    csr_free(&f->A);
    sides_free(&f->t);
}

static void assert_shows(const char *path, const char *part, const char *shown)
{
    struct loaded f;
    assert_string_equal(load(path, part, &f), shown);
    unload(&f);
}

/* ---- level 4 ---- */

static void turn(char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes / 2; i++) {
        char c = p[i];
        p[i] = p[bytes - 1 - i];
        p[bytes - 1 - i] = c;
    }
}

/* Turn a little-endian file of doubles and text into a big-endian one: 1000 is the byte order in the first word. */
static void turn_level_4(char *data, size_t n)
{
    for (size_t at = 0; at < n;) {
        uint32_t head[5];
        memcpy(head, data + at, sizeof head);
        size_t numbers = (size_t)head[1] * head[2] * (head[3] ? 2 : 1), from = at + sizeof head + head[4];
        size_t each = head[0] / 10 % 10 ? 1 : 8;
        for (size_t k = 0; k < numbers; k++) turn(data + from + each * k, each);
        head[0] += 1000;
        memcpy(data + at, head, sizeof head);
        for (size_t i = 0; i < 5; i++) turn(data + at + 4 * i, 4);
        at = from + each * numbers;
    }
}

TEST(level_4_is_read_in_both_byte_orders)
{
    size_t n;
    char *data = read_whole("tests/files/level4.mat", &n);
    for (int big = 0; big < 2; big++) {
        struct loaded f;
        if (big) turn_level_4(data, n);
        const char *path = write_file("4.mat", data, n);
        assert_shows(path, NULL, "5x4: 1 1 1.5; 1 4 -2; 2 3 3; 3 1 0.1; 4 2 7; 4 4 1e-300; 5 4 0.5");
        assert_shows(path, "None", "3x5:");
        load(path, "Z", &f);
        assert_string_equal(f.shown, "5x4: 1 1 1.5 1; 1 4 -2 5; 2 3 3 4; 3 1 0.1 2; 4 2 7 3; 4 4 1e-300 6; 5 4 0.5 7");
        assert_string_equal(f.info.field, "complex");
        assert_int_equal(f.t.n, 1);
        assert_memory_equal(f.t.b, ((double[]){1, 0, 2, 0, 3, 0, 4, 0, 5, 0}), 10 * sizeof(double));
        unload(&f);
        assert_shows(path, "Q", "no sparse variable \"Q\"; the file has A, Z, None");
    }
    mem_free(data);
}

/* A 2 x 2 matrix with 3 in row 2, column 1: rows, columns and values follow the name, each with a last number for the
   sizes. */
static const char *level_4_of(const double numbers[6], uint32_t precision, uint32_t lines)
{
    char data[22 + 48];
    const uint32_t head[5] = {precision * 10 + 2, lines, 3, 0, 2};
    memcpy(data, head, sizeof head);
    memcpy(data + 20, "A", 2);
    memcpy(data + 22, numbers, 48);
    return write_file("4.mat", data, sizeof data);
}

TEST(false_level_4_is_refused)
{
    static const char damaged[] = "the .mat file ends early or is corrupt";
    assert_shows(level_4_of((const double[]){2, 2, 1, 2, 3, 0}, 0, 2), NULL, "2x2: 2 1 3");
    assert_shows(level_4_of((const double[]){3, 2, 1, 2, 3, 0}, 0, 2), NULL,
                 "entry 0: row 2, column 0 (from 0) is outside the 2 x 2 matrix");
    assert_shows(level_4_of((const double[]){0, 2, 1, 2, 3, 0}, 0, 2), NULL, "entry 0: the indices must be at least 1");
    assert_shows(level_4_of((const double[]){1.5, 2, 1, 2, 3, 0}, 0, 2), NULL, damaged);
    assert_shows(level_4_of((const double[]){1, 1e10, 1, 2, 3, 0}, 0, 2), NULL, damaged);
    assert_shows(level_4_of((const double[]){2, 2, 1, 2, 3, 0}, 0, 3), NULL, damaged);
    assert_shows(level_4_of((const double[]){2, 2, 1, 2, 3, 0}, 0, 0), NULL, damaged);
    assert_shows(level_4_of((const double[]){2, 2, 1, 2, 3, 0}, 0, 1u << 30), NULL, damaged);
}

/* A complex b of level 4: all real parts, then all imaginary parts. */
TEST(complex_right_sides_of_level_4)
{
    static const double a[] = {1, 2, 1, 2, 2, 0, 3, 0}, b[] = {1, 2, 10, 20}; /* A: 2 at (1, 1), 2 x 2, 3i */
    char data[22 + sizeof a + 22 + sizeof b];
    struct loaded f;
    memcpy(data, (const uint32_t[]){2, 2, 4, 0, 2}, 20);
    memcpy(data + 20, "A", 2);
    memcpy(data + 22, a, sizeof a);
    memcpy(data + 22 + sizeof a, (const uint32_t[]){0, 2, 1, 1, 2}, 20);
    memcpy(data + 42 + sizeof a, "b", 2);
    memcpy(data + 44 + sizeof a, b, sizeof b);
    load(write_file("4.mat", data, sizeof data), NULL, &f);
    assert_string_equal(f.shown, "2x2: 1 1 2 3");
    assert_int_equal(f.t.n, 1);
    assert_memory_equal(f.t.b, ((double[]){1, 10, 2, 20}), 4 * sizeof(double));
    unload(&f);
}

/* ---- level 5, made by hand: words and numbers in any byte order ---- */

struct maker {
    char data[1024];
    size_t n;
    bool big;
};

static void add(struct maker *m, const void *p, size_t bytes, size_t each)
{
    memcpy(m->data + m->n, p, bytes);
    for (size_t k = 0; m->big && k < bytes; k += each) turn(m->data + m->n + k, each);
    m->n += bytes;
}

static void add_element(struct maker *m, uint32_t type, const void *p, size_t bytes, size_t each)
{
    const uint32_t tag[2] = {type, (uint32_t)bytes};
    add(m, tag, sizeof tag, 4);
    add(m, p, bytes, each);
    while (m->n % 8) m->data[m->n++] = 0;
}

/* A 3 x 2 matrix with entries (1, 1), (3, 1) and (2, 2), whose values are n numbers of a type. */
static const char *level_5_of(bool big, uint32_t flags, uint32_t type, const void *values, size_t bytes, size_t each,
                              const int32_t jc[3])
{
    struct maker m = {.big = big}, inner = {.big = big};
    const uint16_t version = 0x0100, order = 'M' << 8 | 'I';
    memset(m.data, ' ', 124);
    memcpy(m.data, "MATLAB 5.0 MAT-file", 19);
    m.n = 124;
    add(&m, &version, 2, 2);
    add(&m, &order, 2, 2);
    add_element(&inner, 6, (const uint32_t[]){5 | flags, 3}, 8, 4);
    add_element(&inner, 5, (const int32_t[]){3, 2}, 8, 4);
    add_element(&inner, 1, "A", 1, 1);
    add_element(&inner, 5, (const int32_t[]){0, 2, 1}, 12, 4);
    add_element(&inner, 5, jc, 12, 4);
    add_element(&inner, type, values, bytes, each);
    if (flags & 0x800) add_element(&inner, type, values, bytes, each);
    m.big = false;
    const uint32_t tag[2] = {14, (uint32_t)inner.n};
    m.big = big;
    add(&m, tag, sizeof tag, 4);
    memcpy(m.data + m.n, inner.data, inner.n);
    return write_file("5.mat", m.data, m.n + inner.n);
}

TEST(level_5_is_read_in_both_byte_orders_and_all_types)
{
    static const double f8[] = {1.5, -2, 1e300};
    static const float f4[] = {1.5, -2, 0.25};
    static const int64_t i8[] = {((int64_t)1 << 53) + 1, -2, 3};
    static const uint64_t u8[] = {UINT64_MAX, 2, 3};
    static const int8_t i1[] = {-1, 2, 3};
    static const uint16_t u2[] = {65535, 2, 3};
    static const uint8_t u1[] = {1, 1, 1};
    static const int32_t jc[] = {0, 2, 3};
    static const struct {
        uint32_t flags, type;
        const void *values;
        size_t bytes, each;
        const char *shown, *field;
        int notes;
    } table[] = {
        {0, 9, f8, 24, 8, "3x2: 1 1 1.5; 2 2 1e+300; 3 1 -2", "real", 0},
        {0x800, 9, f8, 24, 8, "3x2: 1 1 1.5 1.5; 2 2 1e+300 1e+300; 3 1 -2 -2", "complex", 0},
        {0, 7, f4, 12, 4, "3x2: 1 1 1.5; 2 2 0.25; 3 1 -2", "real", 0},
        {0, 12, i8, 24, 8, "3x2: 1 1 9007199254740992; 2 2 3; 3 1 -2", "real", 1},
        {0, 13, u8, 24, 8, "3x2: 1 1 18446744073709551616; 2 2 3; 3 1 2", "real", 1},
        {0, 1, i1, 3, 1, "3x2: 1 1 -1; 2 2 3; 3 1 2", "real", 0},
        {0, 4, u2, 6, 2, "3x2: 1 1 65535; 2 2 3; 3 1 2", "real", 0},
        {0x200, 2, u1, 3, 1, "3x2: 1 1 1; 2 2 1; 3 1 1", "pattern", 0},
        {0, 3, f8, 4, 1, "the .mat file ends early or is corrupt", "", 0},  /* two values for three entries */
        {0, 8, f8, 24, 1, "the .mat file ends early or is corrupt", "", 0}, /* there is no such type */
    };
    for (int i = 0; i < COUNT(table); i++)
        for (int big = 0; big < 2; big++) {
            struct loaded f;
            load(level_5_of(big, table[i].flags, table[i].type, table[i].values, table[i].bytes, table[i].each, jc),
                 NULL, &f);
            assert_string_equal(f.shown, table[i].shown);
            assert_string_equal(f.info.field, table[i].field);
            assert_int_equal(f.info.nwarnings, table[i].notes);
            if (table[i].notes) assert_string_equal(f.info.warning[0], "1 integer beyond 2^53 was rounded");
            unload(&f);
        }
}

TEST(false_pointers_of_level_5_are_refused)
{
    static const double f8[] = {1.5, -2, 1e300};
    static const struct {
        int32_t jc[3];
        const char *says;
    } table[] = {
        {{0, 2, 4}, "the .mat file ends early or is corrupt"}, {{0, 2, -1}, "the .mat file ends early or is corrupt"},
        {{1, 2, 3}, "the pointers begin with 1 instead of 0"}, {{0, 3, 2}, "the pointers decrease: 2 follows 3"},
        {{0, 2, INT32_MAX}, "more than the available memory"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        load(level_5_of(false, 0, 9, f8, sizeof f8, 8, table[i].jc), NULL, &f);
        if (i + 1 < COUNT(table)) assert_string_equal(f.shown, table[i].says);
        assert_true(f.e.code && !f.A.rowptr);
        unload(&f);
    }
}

/* ---- the groups of HDF5 ---- */

TEST(right_sides_of_a_structure_in_hdf5)
{
    struct loaded f;
    load("tests/files/matlab.h5", "Problem.A", &f);
    assert_int_equal(f.t.n, 2);
    assert_memory_equal(f.t.b, ((double[]){7, 8, 9, 10, 11, 1, 2, 3, 4, 5}), 10 * sizeof(double));
    assert_memory_equal(f.t.x, ((double[]){1, 2, 3, 4, 5, 6, 7, 8}), 8 * sizeof(double));
    unload(&f);
    load("tests/files/matlab.h5", NULL, &f);
    assert_string_equal(f.info.field, "pattern");
    assert_string_equal(f.info.warning[0], "read L, the first of 4 sparse variables: L, None, Problem.A, Z");
    assert_int_equal(f.t.n, 0);
    unload(&f);
}

/* ---- the types of GraphBLAS in Matrix Market ---- */

TEST(types_of_graphblas_are_read)
{
    static const struct {
        const char *text, *shown, *note;
    } table[] = {
        {"real general\n%%GraphBLAS type fp32\n1 2 1\n1 1 0.1\n", "1x2: 1 1 0.10000000149011612", NULL},
        {"real general\n%%GraphBLAS type float\n1 2 1\n1 1 0.1\n", "1x2: 1 1 0.10000000149011612", NULL},
        {"real general\n%%GraphBLAS type fp64\n1 2 1\n1 1 0.1\n", "1x2: 1 1 0.1", NULL},
        {"complex general\n%%GraphBLAS type fc32\n1 2 1\n1 1 0.5 0.1\n", "1x2: 1 1 0.5 0.10000000149011612", NULL},
        {"complex general\n%%GraphBLAS type fc64\n1 2 1\n1 1 0.5 0.1\n", "1x2: 1 1 0.5 0.1", NULL},
        {"integer general\n%%GraphBLAS type bool\n1 2 2\n1 1 7\n1 2 0\n", "1x2: 1 1 1; 1 2 0", NULL},
        {"integer general\n%%GraphBLAS type int8_t\n1 2 2\n1 1 127\n1 2 -128\n", "1x2: 1 1 127; 1 2 -128", NULL},
        {"integer general\n%%GraphBLAS type int8\n1 2 1\n1 1 128\n", "1x2: 1 1 128",
         "1 value does not fit in the GraphBLAS type, integers of 8 bits"},
        {"integer general\n%%GraphBLAS type uint16\n1 2 1\n1 1 -1\n", "1x2: 1 1 -1",
         "1 value does not fit in the GraphBLAS type, unsigned integers of 16 bits"},
        {"integer general\n%%GraphBLAS type int64\n1 2 1\n1 1 9007199254740993\n", "1x2: 1 1 9007199254740992",
         "line 4: 1 integer beyond 2^53 was rounded"},
        {"real general\n%%GraphBLAS type int64\n1 2 1\n1 1 9007199254740993\n", "1x2: 1 1 9007199254740992",
         "1 integer beyond 2^53 was rounded"},
        {"integer general\n%%GraphBLAS iso\n1 2 1\n1 1 5\n", "1x2: 1 1 5", NULL},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char text[256];
        struct loaded f;
        int n = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate %s", table[i].text);
        load(write_file("g.mtx", text, (size_t)n), NULL, &f);
        assert_string_equal(f.shown, table[i].shown);
        assert_int_equal(f.info.nwarnings, table[i].note != NULL);
        if (table[i].note) assert_string_equal(f.info.warning[0], table[i].note);
        unload(&f);
    }
}

/* ---- save ---- */

TEST(save_says_what_is_lost_before_it_writes)
{
    struct talk t;
    char line[512];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/symmetric.rb as S; load tests/files/sides.mat as R"));
    static const struct {
        const char *name, *matrix, *says;
    } table[] = {
        {"s.mat", "S", NULL},
        {"s.mtx", "S", NULL},
        {"r.mat", "R", NULL},
        {"r.mtx", "R",
         "the right side is not written; `amgx` adds it in AMGX's way, and .wsb, .npz, .mat, .petsc and .hb files "
         "contain "
         "right sides"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        snprintf(line, sizeof line, "save %s %s", scratch_path(table[i].name), table[i].matrix);
        assert_true(talk_line(&t, line));
        if (table[i].says ? !strstr(t.err, table[i].says) : t.err[0] != 0) fail_msg("%s: %s", line, t.err);
    }
    talk_close(&t);
}

/* Pairs are taken apart in pieces of 1024. */
TEST(long_complex_right_sides_are_saved)
{
    enum { N = 3000 };
    struct loaded f = {.t = {.n = 1, .b_each = 2 * N, .x_each = 2}}, g;
    struct err e = {0};
    assert_true(csr_new(&f.A, N, 1, 0, true, &e));
    memset(f.A.rowptr, 0, (N + 1) * sizeof *f.A.rowptr);
    assert_non_null(f.t.b = mem_new(2 * N, sizeof *f.t.b, "b", &e));
    for (int i = 0; i < 2 * N; i++) f.t.b[i] = i;
    f.A.nnz = 0;
    assert_true(file_save_system(scratch_path("l.mat"), true, &f.A, &f.t, &f.info, "", NULL, &e));
    load(scratch_path("l.mat"), NULL, &g);
    assert_int_equal(g.t.n, 1);
    for (int i = 0; i < N; i++) assert_true(g.t.b[g.A.imag ? 2 * i : i] == 2 * i);
    unload(&f);
    unload(&g);
}

/* A pattern becomes a logical array, and a logical array a pattern. */
TEST(a_pattern_is_saved_as_a_logical_array)
{
    struct loaded f, g;
    struct err e = {0};
    load("tests/files/pattern.rb", NULL, &f);
    assert_true(file_save_system(scratch_path("p.mat"), true, &f.A, NULL, &f.info, "", NULL, &e));
    load(scratch_path("p.mat"), NULL, &g);
    assert_string_equal(g.info.field, "pattern");
    assert_true(csr_equal(&f.A, &g.A));
    unload(&f);
    unload(&g);
}

SUITE(.teardown = tidy);
