/* The fits of library kernels: the measured times are here, so that the fits can be repeated and their errors
   verified. */
#include <stdio.h>

#include "base/err.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/gathers.h"
#include "matrix/gen.h"
#include "microscope/black_box.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { BOXES = 4, TERMS = 3, MATRICES_MOST = 20 };

/* Times of cuSPARSE 12.6.3 on an NVIDIA H200 in fp64, in us, in the order of black_boxes; 0: not measured. */
static const struct measured {
    const char *matrix;
    int64_t rows, cols, nnz, longest; /* longest: the longest row */
    int64_t slots;                    /* of sell with slices of 32 rows in their order */
    int64_t gathers;                  /* csr_gathers_in_runs */
    double us[BOXES];
} data[] = {
    {"rmat 20 16", 1048576, 1048576, 16085412, 39524, 125409536, 13862378, {156.7, 150.3, 151.9}},
    {"circuit 1000000 4", 1000000, 1000000, 4499308, 125004, 23242368, 1280119, {38.9, 33.9, 33.7}},
    {"random 4284 2600 1100000", 4284, 1100000, 11138400, 2600, 11148800, 11138267, {95.7, 92.1, 98.7}},
    {"random 1000000 16", 1000000, 1000000, 16000000, 16, 16000000, 15935371, {139.3, 133.6, 139.6, 130.0}},
    {"27-point 24^3", 13824, 13824, 343000, 27, 362880, 16362, {12.5, 8.7, 8.7, 7.3}},
    {"5-point 64^2", 4096, 4096, 20224, 5, 20352, 1321, {12.1, 8.5, 7.3, 4.6}},
    {"27-point 48^3 x 3", 331776, 331776, 25769592, 81, 26173440, 1026491, {110.2, 105.4, 112.2, 79.5}},
    {"27-point 96^3", 884736, 884736, 23393656, 27, 23557248, 2081539, {111.2, 105.9, 122.9, 74.6}},
    {"5-point 1000 x 999", 999000, 999000, 4991002, 5, 4993056, 755566, {40.9, 35.6, 33.2, 23.4}},
    {"memplus", 17758, 17758, 126150, 574, 288672, 16471, {12.8, 8.8, 7.5}},
    {"wiki-Vote", 8297, 8297, 103689, 893, 1081184, 31842, {13.0, 9.0, 7.6}},
    {"maros_BOYD1_A", 93279, 93261, 652246, 93261, 3077600, 194342, {17.7, 13.2, 12.7}},
    {"maros_BOYD2_A", 279794, 93263, 517047, 10992, 818048, 83004, {16.6, 11.5, 9.4}},
    {"bcsstk08", 1074, 1074, 12960, 339, 58688, 1024, {11.4, 8.1, 7.1}},
    {"ca-GrQc", 5242, 5242, 28980, 81, 179072, 13005, {12.7, 8.9, 7.5}},
    {"7-point 128^3", 2097152, 2097152, 14581760, 7, 14614528, 2032020, {0, 0, 0, 59.1}},
    {"brokendiag 200000 20", 200000, 200000, 1670775, 14, 1672800, 423193, {0, 0, 0, 12.7}},
};

/* The bytes of the arrays, x and y. */
static int64_t bytes_of(const struct black_box *b, const struct measured *m)
{
    int64_t vectors = 8 * (m->rows + m->cols), slices = (m->rows + 31) / 32;
    if (b->format == &format_csr) return 12 * m->nnz + 4 * (m->rows + 1) + vectors;
    if (b->format == &format_coo) return 16 * m->nnz + vectors;
    return 12 * m->slots + 4 * 32 * slices + 4 * (slices + 1) + vectors;
}

/* The rows of a least-squares problem: the terms of the time and 1, relative to the measured time. */
static int equations(int box, double row[][TERMS + 1])
{
    int n = 0;
    for (int i = 0; i < COUNT(data); i++) {
        double us = data[i].us[box];
        if (us == 0) continue;
        double bytes = (double)bytes_of(&black_boxes[box], &data[i]);
        memcpy(row[n++], (double[]){1 / us, bytes / us, (double)data[i].gathers / us, 1}, sizeof *row);
    }
    return n;
}

static int64_t longest_of(int box)
{
    int64_t longest = 0;
    for (int i = 0; i < COUNT(data); i++)
        if (data[i].us[box] > 0 && data[i].longest > longest) longest = data[i].longest;
    return longest;
}

static double determinant(double m[TERMS][TERMS])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Least squares by the normal equations and Cramer's rule, without the row `left_out` (-1: with all rows). */
static void fit(int n, double row[][TERMS + 1], int left_out, double c[TERMS])
{
    double normal[TERMS][TERMS + 1] = {{0}};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < TERMS && k != left_out; i++)
            for (int j = 0; j <= TERMS; j++) normal[i][j] += row[k][i] * row[k][j];
    for (int replaced = -1; replaced < TERMS; replaced++) {
        static double below;
        double m[TERMS][TERMS];
        for (int i = 0; i < TERMS; i++)
            for (int j = 0; j < TERMS; j++) m[i][j] = normal[i][j == replaced ? TERMS : j];
        if (replaced < 0)
            below = determinant(m);
        else
            c[replaced] = determinant(m) / below;
    }
}

static double relative_error(const double row[TERMS + 1], const double c[TERMS])
{
    return fabs(row[0] * c[0] + row[1] * c[1] + row[2] * c[2] - 1);
}

static void assert_near(double stated, double fitted, double tolerance, const char *name)
{
    if (fabs(stated - fitted) > tolerance) fail_msg("%s: %g is stated, but the fit gives %g", name, stated, fitted);
}

/* The constants are those of the fit, to three digits, and the stated error is that of matrices left out of it. */
static void fits_have_the_stated_errors(void **state)
{
    (void)state;
    for (int box = 0; box < BOXES; box++) {
        const struct black_box *b = &black_boxes[box];
        double row[MATRICES_MOST][TERMS + 1], c[TERMS], errors = 0;
        int n = equations(box, row);
        fit(n, row, -1, c);
        assert_int_equal(n, b->matrices);
        assert_int_equal(longest_of(box), b->longest);
        assert_near(b->launch_us, c[0], 0.05, b->name);
        assert_near(b->gbs, 1e-3 / c[1], 5, b->name);
        assert_near(b->gather_gps, 1e-3 / c[2], 0.5, b->name);
        for (int i = 0; i < n; i++) {
            fit(n, row, i, c);
            errors += relative_error(row[i], c);
        }
        assert_near(b->error_percent, 100 * errors / n, 0.5, b->name);
    }
    assert_null(black_boxes[BOXES].name);
}

/* Every black box is a library kernel; builds without CUDA lack it. */
static void boxes_are_library_kernels(void **state)
{
    (void)state;
    for (const struct black_box *b = black_boxes; b->name; b++) {
        const struct kernel *k = kernel_find(b->name);
        assert_true(k ? k->vendor && k->format == b->format : kernel_needs_cuda(b->name));
    }
}

/* The facts in the table are those of the generated matrices. */
static void a_matrix_has_the_facts_of_the_table(void **state)
{
    static const struct {
        int at;
        int64_t p[PARAMS_MAX];
    } made[] = {{4, {27, 24, 0, 0, 1}}, {5, {5, 64, 64, 0, 1}}};
    (void)state;
    for (int i = 0; i < COUNT(made); i++) {
        const struct measured *m = &data[made[i].at];
        struct err e = {0};
        struct csr A;
        int64_t gathers = 0;
        double us;
        if (!generator_find("stencil")->make(made[i].p, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        for (const struct black_box *b = black_boxes; b->name; b++) {
            if (!black_box_fit(b, &A, T_F64, &gathers, &us, &e)) fail_msg("%s", e.text);
            assert_int_equal(gathers, m->gathers);
            assert_near(us, black_box_us(b, bytes_of(b, m), m->gathers), 1e-9 * us, b->name);
        }
        csr_free(&A);
    }
}

/* A fit says nothing about a matrix with longer rows than those that were measured. */
static void longer_rows_are_not_fitted(void **state)
{
    struct err e = {0};
    struct csr A;
    int64_t gathers = 0;
    double us;
    (void)state;
    assert_true(generator_find("dense")->make((int64_t[PARAMS_MAX]){90, 90}, 1, NULL, &A, &e));
    for (const struct black_box *b = black_boxes; b->name; b++) {
        err_clear(&e);
        bool ok = black_box_fit(b, &A, T_F64, &gathers, &us, &e);
        assert_int_equal(ok, A.cols <= b->longest);
        if (!ok)
            assert_string_equal(e.text, "its time was fitted to rows of at most 81 entries, but a row of this "
                                        "matrix has 90");
    }
    csr_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_have_the_stated_errors),
        cmocka_unit_test(boxes_are_library_kernels),
        cmocka_unit_test(a_matrix_has_the_facts_of_the_table),
        cmocka_unit_test(longer_rows_are_not_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
