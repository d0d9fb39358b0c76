/* The papers' formats are compared with the papers' worked examples, slot by slot. DRM's merging is compared with a
   literal implementation of the paper's procedure. Other tests check the measures of diagonals and the choices of
   DIA-Adaptive. */
#include "base/err.h"
#include "base/mem.h"
#include "base/threads.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "formats/diagonals.h"
#include "formats/fmt_brcsd1.h"
#include "formats/fmt_brcsd2.h"
#include "formats/fmt_dia.h"
#include "formats/fmt_dia_adaptive.h"
#include "formats/fmt_drm.h"
#include "formats/fmt_hdc.h"
#include "formats/fmt_hdia.h"
#include "formats/fmt_sccsr.h"
#include "formats/fmt_vab.h"
#include "formats/format.h"
#include "formats/measures.h"
#include "formats/stored.h"
#include "kits/collection.h"
#include "kits/shapes.h"
#include "kits/stored_kit.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "matrix/gen.h"
#include "matrix/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- small matrices ---- */

/* Entry (i, j) is 10 i + j, where i and j are counted from 1. */
static struct csr tens(int64_t size, int n, const int *row, const int *col)
{
    struct csr A;
    double val[64];
    for (int k = 0; k < n; k++) val[k] = 10 * (row[k] + 1) + col[k] + 1;
    assert_true(csr_from_triplets(&A, size, size, n, row, col, val, NULL, NULL, NULL));
    return A;
}

/* Fig. 1 of Wang et al. 2024: the diagonals have offset 0 (all rows), 1 (rows 0 to 3), 3 (rows 0 to 2) and -3 (rows 4
   and 5). */
static struct csr diag6(void)
{
    static const int row[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5};
    static const int col[] = {0, 1, 3, 1, 2, 4, 2, 3, 5, 3, 4, 1, 4, 2, 5};
    return tens(6, COUNT(row), row, col);
}

/* 8 x 8, with the properties of the paper's matrix B (section 4): 18 entries on 4 diagonals; segments of two rows have
   4, 3, 2 and 1 diagonals, and segments of four rows have 4 and 2 diagonals. */
static struct csr drm8(void)
{
    static const int row[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7};
    static const int col[] = {0, 1, 3, 5, 1, 2, 4, 2, 3, 5, 3, 4, 4, 5, 5, 6, 6, 7};
    return tens(8, COUNT(row), row, col);
}

struct stripe {
    int offset, step; /* one entry in every `step` rows of this diagonal */
};

static struct csr striped(int64_t rows, int64_t cols, int count, const struct stripe *stripes)
{
    struct csr A;
    int64_t at = 0;
    assert_true(csr_new(&A, rows, cols, rows * count, false, NULL));
    for (int64_t i = 0; i < rows; i++) {
        for (int d = 0; d < count; d++) {
            int64_t j = i + stripes[d].offset;
            if (j < 0 || j >= cols || i % stripes[d].step) continue;
            A.col[at] = (int)j;
            A.val[at++] = (double)(i + 1) / (d + 1);
        }
        A.rowptr[i + 1] = (int)at;
    }
    A.nnz = at;
    assert_true(csr_check(&A, NULL));
    return A;
}

static struct csr tridiagonal130(void)
{
    return striped(130, 130, 3, (struct stripe[]){{-1, 1}, {0, 1}, {1, 1}});
}

/* The main diagonal, and five entries on three others that begin or end within four rows of the edge, where no cut is
   possible. The three pieces of 64, 64 and 22 rows belong to one block, but each has diagonals of its own. */
static struct csr own_diagonals150(void)
{
    static const int more[][2] = {{3, 4}, {60, 61}, {100, 98}, {130, 134}, {149, 149}, {140, 141}};
    int row[160], col[160], n = 0;
    double val[160];
    for (int i = 0; i < 149; i++) row[n] = i, col[n] = i, val[n++] = 1;
    for (int i = 0; i < COUNT(more); i++) row[n] = more[i][0], col[n] = more[i][1], val[n++] = 2;
    struct csr A;
    assert_true(csr_from_triplets(&A, 150, 150, n, row, col, val, NULL, NULL, NULL));
    return A;
}

/* The diagonal with offset 4 ends at row 8 - 4 (width minus offset), and the diagonal with offset -2 begins at row 2.
 */
static struct csr wide(void)
{
    return striped(6, 8, 2, (struct stripe[]){{-2, 1}, {4, 1}});
}

/* Rows of four lengths, long rows first: 5 rows of 32 entries, 7 of 16, 16 of 8, and 64 of 1. */
static struct csr segments92(void)
{
    static const struct {
        int rows, length;
    } runs[] = {{5, 32}, {7, 16}, {16, 8}, {64, 1}};
    int length[92], n = 0;
    for (int r = 0; r < COUNT(runs); r++)
        for (int k = 0; k < runs[r].rows; k++) length[n++] = runs[r].length;
    return ragged(n, length);
}

/* 66 pieces of VAB: row 0 has two pieces, and each of the other 64 rows has one. */
static struct csr pieces65(void)
{
    int length[65];
    for (int i = 0; i < 65; i++) length[i] = i ? 1 : 5;
    return ragged(65, length);
}

/* 94 segments of 32 rows; all but the first are empty. */
static struct csr empty3000(void)
{
    static int length[3000] = {5};
    return ragged(3000, length);
}

/* ---- arrays, slot by slot ---- */

static const struct figure {
    struct csr (*matrix)(void);
    const char *format;
    int64_t param[PARAMS_MAX];
    int array;
    int64_t n;
    double slot[256];
} figures[] = {
    {thesis4, "sc-csr", {1}, SCCSR_LENGTH, 4, {2, 2, 2, 3}},
    {thesis4, "sc-csr", {1}, SCCSR_ROW_INDEX, 4, {0, 1, 3, 2}},
    {thesis4, "sc-csr", {1}, SCCSR_VAL, 12, {1, 2, 6, 5, 7, 8, 4, 3, 0, 0, 0, 9}},
    {thesis4, "sc-csr", {1}, SCCSR_COL_IND, 12, {0, 1, 1, 0, 1, 2, 3, 2, -1, -1, -1, 3}},
    {thesis4, "sc-csr", {1}, SCCSR_ROW_PTR, 2, {0, 12}},
    {thesis4, "sc-csr", {1}, SCCSR_SEGMENT, 5, {0, 0, 0, 0, 4}},
    {thesis4, "sc-csr", {0}, SCCSR_LENGTH, 32, {2, 2, 2, 3}},
    {thesis4, "sc-csr", {0}, SCCSR_VAL, 96, {1, 2, 6, 5, [32] = 7, 8, 4, 3, [67] = 9}},
    {thesis4, "sc-csr", {0}, SCCSR_ROW_PTR, 2, {0, 96}},
    {thesis4, "sc-csr", {0}, SCCSR_SEGMENT, 5, {0, 32, 32, 32, 32}},
    {segments92, "sc-csr", {0}, SCCSR_SEGMENT, 5, {0, 64, 80, 88, 96}},
    {segments92, "sc-csr", {0}, SCCSR_ROW_PTR, 7, {0, 32, 64, 192, 320, 448, 576}},
    {segments92, "sc-csr", {1}, SCCSR_SEGMENT, 5, {0, 64, 80, 80, 92}},
    {segments92, "sc-csr", {2}, SCCSR_SEGMENT, 5, {0, 64, 64, 88, 96}},
    {segments92, "sc-csr", {2}, SCCSR_ROW_PTR, 8, {0, 32, 64, 128, 192, 320, 448, 576}},
    {segments92, "sc-csr", {3}, SCCSR_SEGMENT, 5, {0, 0, 80, 80, 92}},
    {thesis4, "vab", {64}, VAB_VAL, 256, {1, 2, 5, 6, [64] = 7, 8, 3, 4, [130] = 9}},
    {thesis4, "vab", {64}, VAB_COL, 256, {0, 1, 0, 1, [64] = 1, 2, 2, 3, [128] = 1, 2, 3, 3, [192] = 1, 2, 3, 3}},
    {thesis4, "vab", {64}, VAB_ROW_PIECE, 5, {0, 1, 2, 3, 4}},
    {diag6, "hdia", {2}, HDIA_HACKOFFSETS, 4, {0, 3, 6, 8}},
    {diag6, "hdia", {2}, HDIA_OFFSETS, 8, {0, 1, 3, 0, 1, 3, -3, 0}},
    {diag6, "hdia", {2}, HDIA_DATA, 16, {11, 22, 12, 23, 14, 25, 33, 44, 34, 45, 36, 0, 52, 63, 55, 66}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_OFFSETS, 8, {0, 0, 1, 3, 3, -3, 0, 1}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_DATA, 18, {11, 22, 33, 12, 23, 34, 14, 25, 36, 0, 52, 63, 44, 55, 66, 45}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_PTR, 3, {0, 4, 8}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_START, 3, {0, 9, 18}},
    {diag6, "brcsd1", {1, 64}, BRCSD1_OFFSETS, 11, {0, 0, 1, 3, 3, -3, 0, 1, 5, -3, 0}},
    {diag6, "brcsd1", {64, 64}, BRCSD1_OFFSETS, 5, {0, -3, 0, 1, 3}},
    {wide, "brcsd1", {1, 64}, BRCSD1_OFFSETS, 7, {0, 4, 2, -2, 4, 4, -2}},
    {tridiagonal130, "brcsd1", {64, 64}, BRCSD1_OFFSETS, 12, {0, -1, 0, 1, 64, -1, 0, 1, 128, -1, 0, 1}},
    {tridiagonal130, "brcsd1", {64, 64}, BRCSD1_PTR, 4, {0, 4, 8, 12}},
    {tridiagonal130, "brcsd1", {64, 64}, BRCSD1_START, 4, {0, 192, 384, 390}},
    {tridiagonal130, "brcsd1", {1, 64}, BRCSD1_OFFSETS, 14, {0, 0, 1, 1, -1, 0, 1, 65, -1, 0, 1, 129, -1, 0}},
    {tridiagonal130, "brcsd1", {1, 64}, BRCSD1_START, 5, {0, 2, 194, 386, 388}},
    {tridiagonal130, "brcsd1", {64, 100}, BRCSD1_OFFSETS, 8, {0, -1, 0, 1, 100, -1, 0, 1}},
    {tridiagonal130, "brcsd1", {1, 128}, BRCSD1_START, 4, {0, 2, 386, 388}},
    {diag6, "brcsd1", {2, 2}, BRCSD1_OFFSETS, 15, {0, 0, 1, 3, 2, 0, 1, 3, 3, -3, 0, 1, 5, -3, 0}},
    {own_diagonals150, "brcsd1", {64, 64}, BRCSD1_OFFSETS, 10, {0, 0, 1, 64, -2, 0, 128, 0, 1, 4}},
    {own_diagonals150, "brcsd1", {64, 64}, BRCSD1_START, 4, {0, 128, 256, 322}},
    {diag6, "brcsd2", {2}, BRCSD2_OFFSETS, 7, {2, 0, 1, 3, 1, -3, 0}},
    {diag6, "brcsd2", {2}, BRCSD2_DATA, 16, {11, 22, 12, 23, 14, 25, 33, 44, 34, 45, 36, 0, 52, 63, 55, 66}},
    {diag6, "brcsd2", {2}, BRCSD2_PTR, 3, {0, 0, 4}},
    {diag6, "brcsd2", {2}, BRCSD2_DNUM, 4, {0, 3, 6, 8}},
    {drm8, "brcsd2", {2}, BRCSD2_OFFSETS, 14, {1, 0, 1, 3, 5, 1, 0, 1, 3, 1, 0, 1, 1, 0}},
    {diag6, "hdc", {60}, HDC_OFFSETS, 2, {0, 1}},
    {diag6, "hdc", {60}, HDC_DATA, 12, {11, 22, 33, 44, 55, 66, 12, 23, 34, 45}},
    {diag6, "hdc", {60}, HDC_PTR, 7, {0, 1, 2, 3, 3, 4, 5}},
    {diag6, "hdc", {60}, HDC_COL, 5, {3, 4, 5, 1, 2}},
    {diag6, "hdc", {60}, HDC_VAL, 5, {14, 25, 36, 52, 63}},
    {diag6, "hdc", {50}, HDC_OFFSETS, 3, {0, 1, 3}},
    {diag6, "drm", {2}, DRM_DNUM, 4, {0, 3, 5, 8}},
    {diag6, "drm", {2}, DRM_INDEX, 3, {0, 2, 1}},
    {diag6, "drm", {2}, DRM_BLO, 3, {0, 2, 3}},
    {drm8, "drm", {2}, DRM_DNUM, 5, {0, 4, 5, 8, 10}},
    {drm8, "drm", {2}, DRM_INDEX, 4, {0, 3, 1, 2}},
    {drm8, "drm", {2}, DRM_BLO, 3, {0, 2, 4}},
    {drm8, "drm", {2}, DRM_OFF, 10, {0, 1, 3, 5, 0, 0, 1, 3, 0, 1}},
    {drm8, "drm", {2}, DRM_VAL, 20, {11, 22, 12, 23, 14, 25, 16, 0, 77, 88, 33, 44, 34, 45, 36, 0, 55, 66, 56, 67}},
    {empty3000, "drm", {32}, DRM_BLO, 5, {0, 1, 32, 63, 94}},
};

/* The matrix of lesson drm-steps is the matrix of these tests. */
TEST(test_sample)
{
    struct csr A = drm8(), B;
    struct load_info info;
    assert_true(mtx_load("samples/drm8.mtx", NULL, &B, &info, NULL));
    assert_true(csr_equal(&A, &B));
    csr_free(&A);
    csr_free(&B);
}

TEST(test_figures)
{
    for (int k = 0; k < COUNT(figures); k++) {
        struct csr A = figures[k].matrix();
        struct stored S = packed(&A, figures[k].format, figures[k].param);
        expect_slots(&S, figures[k].array, figures[k].n, figures[k].slot);
        stored_free(&S);
        csr_free(&A);
    }
}

/* The row and column of each slot. */
static const struct {
    struct csr (*matrix)(void);
    const char *format;
    int64_t param[PARAMS_MAX];
    int array;
    int64_t slot;
    struct place place;
} places[] = {
    {thesis4, "sc-csr", {1}, SCCSR_ROW_INDEX, 2, {SLOT_POINTER, 3, -1}},
    {thesis4, "sc-csr", {0}, SCCSR_LENGTH, 4, {SLOT_PADDING, -1, -1}},
    {thesis4, "sc-csr", {1}, SCCSR_VAL, 8, {SLOT_PADDING, 0, -1}},
    {thesis4, "sc-csr", {1}, SCCSR_COL_IND, 11, {SLOT_ENTRY, 2, 3}},
    {thesis4, "sc-csr", {1}, SCCSR_ROW_PTR, 1, {SLOT_POINTER, -1, -1}},
    {segments92, "sc-csr", {0}, SCCSR_ROW_PTR, 2, {SLOT_POINTER, 12, -1}},
    {segments92, "sc-csr", {0}, SCCSR_SEGMENT, 2, {SLOT_POINTER, 5, -1}},
    {segments92, "sc-csr", {0}, SCCSR_VAL, 572, {SLOT_ENTRY, 4, 31}},
    {segments92, "sc-csr", {0}, SCCSR_VAL, 571, {SLOT_PADDING, -1, -1}},
    {thesis4, "vab", {64}, VAB_VAL, 130, {SLOT_ENTRY, 2, 3}},
    {thesis4, "vab", {64}, VAB_COL, 194, {SLOT_PADDING, 2, -1}},
    {thesis4, "vab", {64}, VAB_VAL, 4, {SLOT_PADDING, -1, -1}},
    {pieces65, "vab", {64}, VAB_VAL, 1, {SLOT_ENTRY, 0, 4}},
    {pieces65, "vab", {64}, VAB_VAL, 257, {SLOT_ENTRY, 64, 0}},
    {pieces65, "vab", {64}, VAB_ROW_PIECE, 65, {SLOT_POINTER, -1, -1}},
    {diag6, "hdia", {2}, HDIA_HACKOFFSETS, 1, {SLOT_POINTER, 2, -1}},
    {diag6, "hdia", {2}, HDIA_OFFSETS, 6, {SLOT_POINTER, 4, 1}},
    {diag6, "hdia", {2}, HDIA_DATA, 11, {SLOT_PADDING, 3, -1}},
    {diag6, "hdia", {4}, HDIA_DATA, 18, {SLOT_PADDING, -1, -1}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_OFFSETS, 4, {SLOT_POINTER, 3, -1}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_OFFSETS, 5, {SLOT_POINTER, 3, 0}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_START, 1, {SLOT_POINTER, 3, -1}},
    {diag6, "brcsd1", {2, 64}, BRCSD1_DATA, 15, {SLOT_ENTRY, 3, 4}},
    {tridiagonal130, "brcsd1", {64, 64}, BRCSD1_PTR, 1, {SLOT_POINTER, 64, -1}},
    {tridiagonal130, "brcsd1", {64, 64}, BRCSD1_PTR, 3, {SLOT_POINTER, -1, -1}},
    {own_diagonals150, "brcsd1", {64, 64}, BRCSD1_OFFSETS, 4, {SLOT_POINTER, 64, 62}},
    {own_diagonals150, "brcsd1", {64, 64}, BRCSD1_DATA, 146, {SLOT_PADDING, 82, -1}},
    {own_diagonals150, "brcsd1", {64, 64}, BRCSD1_DATA, 164, {SLOT_ENTRY, 100, 98}},
    {diag6, "brcsd2", {2}, BRCSD2_OFFSETS, 0, {SLOT_POINTER, 0, -1}},
    {diag6, "brcsd2", {2}, BRCSD2_OFFSETS, 3, {SLOT_POINTER, 0, 3}},
    {diag6, "brcsd2", {2}, BRCSD2_OFFSETS, 4, {SLOT_POINTER, 4, -1}},
    {diag6, "brcsd2", {2}, BRCSD2_OFFSETS, 5, {SLOT_POINTER, 4, 1}},
    {diag6, "brcsd2", {2}, BRCSD2_PTR, 1, {SLOT_POINTER, 2, -1}},
    {diag6, "brcsd2", {2}, BRCSD2_DATA, 13, {SLOT_ENTRY, 5, 2}},
    {diag6, "hdc", {60}, HDC_DATA, 7, {SLOT_ENTRY, 1, 2}},
    {diag6, "hdc", {60}, HDC_VAL, 3, {SLOT_ENTRY, 4, 1}},
    {drm8, "drm", {2}, DRM_INDEX, 1, {SLOT_POINTER, 6, -1}},
    {drm8, "drm", {2}, DRM_BLO, 1, {SLOT_POINTER, 2, -1}},
    {drm8, "drm", {2}, DRM_BLO, 2, {SLOT_POINTER, -1, -1}},
    {drm8, "drm", {2}, DRM_OFF, 4, {SLOT_POINTER, 6, 6}},
    {drm8, "drm", {2}, DRM_VAL, 7, {SLOT_PADDING, 1, -1}},
    {drm8, "drm", {2}, DRM_VAL, 9, {SLOT_ENTRY, 7, 7}},
};

TEST(test_places)
{
    for (int k = 0; k < COUNT(places); k++) {
        struct csr A = places[k].matrix();
        struct stored S = packed(&A, places[k].format, places[k].param);
        expect_where(&S, places[k].array, places[k].slot, places[k].place);
        stored_free(&S);
        csr_free(&A);
    }
}

/* ---- measures ---- */

/* The numbers of DRM and DIA for drm8 equal the numbers in the paper. */
static const struct {
    struct csr (*matrix)(void);
    const char *format;
    int64_t param[PARAMS_MAX], padding, operands, pieces;
    double variance;
} measured[] = {
    {drm8, "dia", {0}, 14, 32, 1, 0},
    {drm8, "drm", {4}, 6, 24, 2, 16},
    {drm8, "drm", {2}, 2, 20, 2, 0},
    {drm8, "hdia", {2}, 2, 20, 4, 5},
    {drm8, "brcsd2", {2}, 2, 20, 4, 5},
    {drm8, "brcsd1", {2, 64}, 4, 22, 3, 104.0 / 9},
    {drm8, "dia-adaptive", {2, 2, 10, 200, 0}, 4, 22, 3, 104.0 / 9},
    {drm8, "dia-adaptive", {2, 2, 10, 199, 0}, 2, 20, 4, 5},
    {drm8, "hdc", {100}, 0, 18, 1, 0},
    {diag6, "drm", {2}, 1, 16, 2, 4},
    {tridiagonal130, "dia", {0}, 2, 390, 2, 189.0 * 189},
    {tridiagonal130, "hdc", {50}, 2, 390, 2, 189.0 * 189},
};

TEST(test_measures)
{
    for (int k = 0; k < COUNT(measured); k++) {
        struct csr A = measured[k].matrix();
        struct stored S = packed(&A, measured[k].format, measured[k].param);
        struct measures m;
        assert_true(format_measures(&S, &m, NULL));
        assert_int_equal(m.padding, measured[k].padding);
        assert_int_equal(m.operands, measured[k].operands);
        assert_int_equal(m.pieces, measured[k].pieces);
        if (fabs(m.variance - measured[k].variance) > 1e-9)
            fail_msg("%s: variance %g expected, %g found", measured[k].format, measured[k].variance, m.variance);
        stored_free(&S);
        csr_free(&A);
    }
}

TEST(test_measures_of_others)
{
    struct csr A = thesis4();
    struct stored S = packed(&A, "csr", NULL);
    struct measures m;
    struct err e = {0};
    assert_false(format_measures(&S, &m, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_string_equal(e.text,
                        "csr stores no diagonals, so its load balance cannot be measured; use drm, hdia or dia");
    stored_free(&S);
    csr_free(&A);
}

/* As the paper states: with equal block sizes, HDIA, BRCSD-II and DRM have equal padding, and HDIA and BRCSD-II have
   equal balance. */
TEST(test_blocks_of_one_size)
{
    static const char *const alike[] = {"hdia", "brcsd2", "drm"};
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5);
        for (int64_t rows = 1; rows <= 64 && !A.imag; rows *= 4) {
            struct measures m[COUNT(alike)];
            for (int f = 0; f < COUNT(alike); f++) {
                struct stored S = packed(&A, alike[f], (int64_t[PARAMS_MAX]){rows});
                assert_true(format_measures(&S, &m[f], NULL));
                assert_int_equal(m[f].padding, m[0].padding);
                stored_free(&S);
            }
            assert_true(m[0].variance == m[1].variance);
        }
        csr_free(&A);
    }
}

/* As in the paper, stored zeros are not counted as entries. */
static void drop_zeros(struct csr *A)
{
    int64_t at = 0, k = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (; k < A->rowptr[i + 1]; k++) {
            if (A->val[k] == 0) continue;
            A->col[at] = A->col[k];
            A->val[at++] = A->val[k];
        }
        A->rowptr[i + 1] = (int)at;
    }
    A->nnz = at;
}

static double padding(const struct csr *A, const char *format)
{
    struct plan p;
    assert_true(format_plan(A, format_find(format), NULL, P_F64, &p, NULL));
    return (double)p.padding;
}

/* Section 5.2: 3767 diagonals; padding is 940.30 times the entries in DIA and 8.30 times in DRM, which is a ratio of
   112.80; HDC has no padding. For this matrix, the paper cuts the ratios off after the first decimal. */
TEST(test_add32)
{
    const char *folder = collection_folder("add32");
    char path[1024];
    struct csr A;
    struct load_info info;
    struct plan dia;
    if (!folder) return;
    snprintf(path, sizeof path, "%s/add32.mtx.gz", folder);
    assert_true(mtx_load(path, NULL, &A, &info, NULL));
    drop_zeros(&A);
    assert_true(format_plan(&A, format_find("dia"), NULL, P_F64, &dia, NULL));
    assert_int_equal(dia.shape.a[DIA_OFFSETS].n, 3767);
    assert_true(floor(10 * padding(&A, "dia") / (double)A.nnz) == 9403);
    assert_true(floor(10 * padding(&A, "drm") / (double)A.nnz) == 83);
    assert_true(floor(10 * padding(&A, "dia") / padding(&A, "drm")) == 1128);
    assert_true(padding(&A, "hdc") == 0);
    csr_free(&A);
}

/* Section 5.2: the padding of DIA is 112.60 times that of DRM. This ratio, 112.58, is rounded, not cut off. */
TEST(the_ratio_of_rw5151_is_rounded)
{
    struct csr A;
    int64_t p[PARAMS_MAX] = {101};
    assert_true(generator_find("walk")->make(p, 1, NULL, &A, NULL));
    assert_int_equal(A.rows, 5151);
    assert_int_equal(A.nnz, 20199);
    double ratio = padding(&A, "dia") / padding(&A, "drm");
    assert_true(floor(10 * ratio) == 1125 && round(10 * ratio) == 1126);
    csr_free(&A);
}

/* ---- DIA-Adaptive beside DRM, as in section 5.2 ---- */

static struct csr add32(void)
{
    struct csr A;
    struct load_info info;
    assert_true(mtx_load("samples/add32.mtx.gz", NULL, &A, &info, NULL));
    drop_zeros(&A);
    return A;
}

static struct csr rw5151(void)
{
    struct csr A;
    assert_true(generator_find("walk")->make((int64_t[PARAMS_MAX]){101}, 1, NULL, &A, NULL));
    return A;
}

static struct measures measures_as(const struct csr *A, const char *format)
{
    struct measures m;
    struct stored S = packed(A, format, NULL);
    assert_true(format_measures(&S, &m, NULL));
    stored_free(&S);
    return m;
}

/* The paper states a padding of 2.63 (add32) and 3.05 (rw5151) times that of DRM, and at most 197.2 times the variance
   of DRM. Pieces with diagonals of their own have less padding; pieces with the diagonals of their block have 15.6 and
   96.5 times the padding of DRM, and 31,700 and 9,650 times the variance. */
TEST(test_adaptive_beside_drm)
{
    static const struct {
        struct csr (*matrix)(void);
        double padding, variance; /* divided by those of DRM, rounded */
    } beside[] = {{add32, 1.84, 179.3}, {rw5151, 1.85, 34.4}};
    for (int k = 0; k < COUNT(beside); k++) {
        struct csr A = beside[k].matrix();
        struct measures drm = measures_as(&A, "drm"), own = measures_as(&A, "dia-adaptive");
        double padding = (double)own.padding / (double)drm.padding, variance = own.variance / drm.variance;
        if (fabs(padding - beside[k].padding) > 0.005 || fabs(variance - beside[k].variance) > 0.05)
            fail_msg("padding %.4f, variance %.2f", padding, variance);
        assert_true(padding > 1.3 && padding < 1.9 && variance <= 187);
        csr_free(&A);
    }
}

/* rw5151: the paper prints 112.60 for the padding of DIA divided by that of DRM; exactly, it is 112.58. */
TEST(test_rw5151)
{
    struct csr A = rw5151();
    assert_true(fabs(padding(&A, "dia") / padding(&A, "drm") - 112.58) < 0.005);
    csr_free(&A);
}

/* ---- DRM's merging ---- */

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static void resort(int64_t *p, int64_t n)
{
    if (n) qsort(p, (size_t)n, sizeof *p, descending);
}

/* Section 4.2 of the paper step by step, sorting again after each merge. Returns how many sub-blocks remain. */
static int64_t merge_as_written(int64_t *p, int64_t n)
{
    resort(p, n);
    while (n > 1 && p[0] > 2 * p[n - 1] && p[0] > 2 * p[n - 2]) {
        p[n - 2] += p[n - 1];
        resort(p, --n);
    }
    if (n > 1 && n % 2) {
        p[n - 2] += p[n - 1];
        resort(p, --n);
    }
    if (n > 2) {
        n /= 2;
        for (int64_t r = 0; r < n; r++) p[r] += p[2 * n - 1 - r];
        resort(p, n);
    }
    return n;
}

/* With segments of one row, each row has as many operands as entries. */
static void expect_merged(int n, const int *length)
{
    struct csr A = ragged(n, length);
    struct stored S = packed(&A, "drm", (int64_t[PARAMS_MAX]){1});
    int64_t want[1024], have[1024], pieces = S.a[DRM_BLO].n - 1;
    for (int i = 0; i < n; i++) want[i] = length[i];
    assert_int_equal(pieces, merge_as_written(want, n));
    for (int64_t k = 0; k < pieces; k++) assert_true(S.format->piece(&S, k, &have[k]));
    assert_false(S.format->piece(&S, pieces, have + pieces));
    resort(have, pieces);
    assert_memory_equal(have, want, (size_t)pieces * sizeof *want);
    stored_free(&S);
    csr_free(&A);
}

TEST(test_merging)
{
    static const int sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 100, 501}, spans[] = {1, 2, 5, 40};
    uint64_t seed = 7;
    for (int s = 0; s < COUNT(sizes); s++)
        for (int w = 0; w < COUNT(spans); w++)
            for (int round = 0; round < 12; round++) {
                int length[512];
                for (int i = 0; i < sizes[s]; i++) {
                    int v = (int)(random_next(&seed) % (uint64_t)(spans[w] + 1));
                    length[i] = round % 3 == 0 ? v : round % 3 == 1 ? v / 8 : i % 16 ? v % 2 : v;
                }
                expect_merged(sizes[s], length);
            }
}

/* No sub-block has more rows than a thread block has threads, and each segment is in exactly one sub-block. */
TEST(test_subblocks)
{
    static const int64_t nrows[] = {1, 3, 32, 500, 1024};
    struct csr A = empty3000();
    for (int k = 0; k < COUNT(nrows); k++) {
        struct stored S = packed(&A, "drm", (int64_t[PARAMS_MAX]){nrows[k]});
        const int *blo = S.a[DRM_BLO].data, *index = S.a[DRM_INDEX].data;
        int64_t n = S.a[DRM_INDEX].n;
        char *seen = mem_zero(n, 1, "seen", NULL);
        for (int64_t b = 0; b < S.a[DRM_BLO].n - 1; b++) assert_in_range((blo[b + 1] - blo[b]) * nrows[k], 1, DRM_ROWS);
        for (int64_t s = 0; s < n; s++) assert_false(seen[index[s]]++);
        mem_free(seen);
        stored_free(&S);
    }
    csr_free(&A);
}

/* ---- DIA-Adaptive ---- */

/* A DIA that is almost without padding. */
static struct csr full(void)
{
    return tridiagonal130();
}

/* Diagonals whose offsets are half the size of the matrix: in DIA, a third of the slots are padding, and one cut in the
   middle removes all padding. */
static struct csr long_offsets(void)
{
    return striped(400, 400, 3, (struct stripe[]){{-200, 1}, {0, 1}, {200, 1}});
}

/* Scattered diagonals of a few entries each; cuts do not shorten these diagonals. */
static struct csr scattered(void)
{
    return striped(400, 400, 5, (struct stripe[]){{-31, 90}, {-7, 120}, {0, 1}, {11, 70}, {50, 150}});
}

static const struct {
    struct csr (*matrix)(void);
    int64_t param[PARAMS_MAX];
    const char *choice;
} choices[] = {
    {full, {32, 64, 10, 190, 0}, "dia"},
    {long_offsets, {32, 64, 10, 190, 0}, "brcsd1"},
    {scattered, {32, 64, 10, 190, 0}, "brcsd2"},
    {full, {32, 64, 0, 190, 0}, "brcsd1"},
    {full, {32, 64, 0, 0, 0}, "brcsd2"},
    {long_offsets, {32, 64, 51, 190, 0}, "dia"},
    {long_offsets, {32, 64, 50, 190, 0}, "brcsd1"},
    {long_offsets, {32, 201, 10, 100, 0}, "brcsd1"},
    {long_offsets, {32, 201, 10, 99, 0}, "brcsd2"},
    {add32, {32, 64, 10, 190, 0}, "brcsd1"},
    {add32, {32, 64, 10, 184, 0}, "brcsd2"},
    {rw5151, {32, 64, 10, 190, 0}, "brcsd1"},
    {rw5151, {32, 64, 10, 184, 0}, "brcsd2"},
    {scattered, {7, 5, 10, 190, 1}, "dia"},
    {scattered, {7, 5, 10, 190, 2}, "brcsd1"},
    {scattered, {7, 5, 10, 190, 3}, "brcsd2"},
};

/* The arrays equal those of the chosen format, packed with its parameter. */
static void expect_choice(const struct stored *S, const struct csr *A, const char *choice)
{
    static const int parameter[] = {0, 0, ADAPTIVE_MIN, ADAPTIVE_NROWS};
    assert_string_equal(adaptive_choice(S)->name, choice);
    struct stored T = packed(A, choice, (int64_t[PARAMS_MAX]){S->param[parameter[S->param[ADAPTIVE_AS]]], BRCSD1_ROWS});
    assert_int_equal(S->narrays, T.narrays);
    for (int k = 0; k < T.narrays; k++) {
        assert_string_equal(S->a[k].name, T.a[k].name);
        assert_int_equal(S->a[k].n, T.a[k].n);
        assert_memory_equal(S->a[k].data, T.a[k].data, (size_t)T.a[k].n * type_size(T.a[k].type));
    }
    stored_free(&T);
}

TEST(test_choices)
{
    for (int k = 0; k < COUNT(choices); k++) {
        struct csr A = choices[k].matrix();
        struct stored S = packed(&A, "dia-adaptive", choices[k].param);
        expect_choice(&S, &A, choices[k].choice);
        stored_free(&S);
        csr_free(&A);
    }
}

/* What each format would pad, and which was chosen; the numbers of add32 and rw5151 were counted with another program.
 */
TEST(test_candidates)
{
    static const struct {
        struct csr (*matrix)(void);
        int64_t as, padding[3];
        int chosen;
    } cases[] = {{add32, 0, {18664472, 304377, 165368}, 1},
                 {add32, 3, {18664472, 304377, 165368}, 2},
                 {rw5151, 0, {1015152, 16640, 9017}, 1},
                 {full, 0, {2, 2, 92}, 0}};
    static const char *const names[] = {"dia", "brcsd1", "brcsd2"};
    for (int k = 0; k < COUNT(cases); k++) {
        struct csr A = cases[k].matrix();
        struct stored S = packed(&A, "dia-adaptive", (int64_t[PARAMS_MAX]){32, 64, 10, 190, cases[k].as});
        struct candidate found[CANDIDATES_MAX];
        int n = 0;
        assert_true(S.format->candidates(&A, &S, found, &n, NULL));
        assert_int_equal(n, COUNT(names));
        for (int i = 0; i < n; i++) {
            assert_string_equal(found[i].format->name, names[i]);
            assert_int_equal(found[i].padding, cases[k].padding[i]);
            assert_int_equal(found[i].chosen, i == cases[k].chosen);
        }
        stored_free(&S);
        csr_free(&A);
    }
}

/* ---- matrices large enough for several threads, and failures ---- */

TEST(test_threads)
{
    struct csr A, back;
    struct err e = {0};
    const struct generator *g = generator_find("brokendiag");
    assert_true(g->make((int64_t[PARAMS_MAX]){20011, 9}, 3, NULL, &A, &e));
    assert_true(A.nnz > THREADS_FROM);
    for (const struct format *const *f = formats; *f; f++) {
        if (strcmp((*f)->name, "dense") == 0) continue;
        struct stored S = packed(&A, (*f)->name, NULL);
        assert_true(format_unpack(&S, &back, &e));
        assert_true(csr_equal(&A, &back));
        csr_free(&back);
        stored_free(&S);
    }
    csr_free(&A);
}

/* If nearly every entry has its own diagonal, the formats that store blocks of diagonals are refused when planned. HDC
   keeps only full diagonals, and finds none. */
TEST(test_explosion)
{
    static const struct {
        const char *format;
        int64_t param[PARAMS_MAX];
    } refused[] = {{"hdia", {1024}},
                   {"brcsd1", {64, 64}},
                   {"brcsd2", {1024}},
                   {"dia-adaptive", {64, 64, 10, 190, 0}},
                   {"drm", {1024}}};
    struct csr A;
    struct stored S;
    assert_true(generator_find("random")->make((int64_t[PARAMS_MAX]){20000, 10, 20000}, 3, NULL, &A, NULL));
    for (int k = 0; k < COUNT(refused); k++) {
        struct err e = {0};
        assert_false(format_pack(&A, format_find(refused[k].format), refused[k].param, P_F64, false, &S, &e));
        assert_int_equal(e.code, E_LIMIT);
        assert_non_null(strstr(e.text, "add `force` to the command to convert it anyway"));
    }
    S = packed(&A, "hdc", NULL);
    assert_int_equal(stored_slots(&S), A.nnz);
    stored_free(&S);
    csr_free(&A);
}

TEST(test_records_fit)
{
    struct stored S = {.format = format_find("brcsd2")};
    struct err e = {0};
    assert_true(records_fit(&S, INT32_MAX, &e));
    assert_false(records_fit(&S, INT64_C(1) << 31, &e));
    assert_int_equal(e.code, E_LIMIT);
    assert_non_null(strstr(e.text, "brcsd2: 2147483648 offsets do not fit in 32-bit pointers, which allow 2147483647"));
}

struct job {
    const struct csr *A;
    const char *format;
    int64_t param[PARAMS_MAX];
};

static bool pack_once(const void *user, struct err *e)
{
    const struct job *job = user;
    struct stored S;
    bool ok = format_pack(job->A, format_find(job->format), job->param, P_F32, false, &S, e);
    assert_int_equal(S.narrays > 0, ok);
    stored_free(&S);
    return ok;
}

TEST(test_nth_allocation_fails)
{
    struct csr A = scattered();
    const struct job jobs[] = {
        {&A, "sc-csr", {0}},
        {&A, "vab", {64}},
        {&A, "hdia", {32}},
        {&A, "brcsd1", {5, 64}},
        {&A, "brcsd2", {32}},
        {&A, "hdc", {50}},
        {&A, "drm", {32}},
        {&A, "dia-adaptive", {32, 64, 10, 190, 0}},
        {&A, "dia-adaptive", {32, 64, 10, 190, 1}},
        {&A, "dia-adaptive", {32, 64, 10, 190, 2}},
    };
    for (int k = 0; k < COUNT(jobs); k++) assert_in_range(fail_each(pack_once, &jobs[k]), 3, 99);
    csr_free(&A);
}

/* ---- sources ---- */

/* Where the papers define a format or a kernel: a part of its source. */
static const struct cited {
    const char *name, *source;
} formats_cited[] =
    {
        {"coo", "THESIS, fig. 2.1"},
        {"dia", "THESIS, fig. 2.2"},
        {"csr", "THESIS, fig. 2.3"},
        {"sc-csr", "THESIS, sec. 2.2"},
        {"vab", "THESIS, sec. 2.3"},
        {"ell", "NOTES"},
        {"hyb", "NOTES"},
        {"bsr", "NOTES"},
        {"dia", "DRM, fig. 1"},
        {"hdia", "DRM, sec. 3.2"},
        {"brcsd1", "DRM, sec. 3.3"},
        {"brcsd2", "DRM, sec. 3.3"},
        {"hdc", "DRM, sec. 2.1"},
        {"drm", "DRM, sec. 4"},
        {"dia-adaptive", "DRM, sec. 3.3"},
        {"hdc", "threshold [ours]"},
        {"dia-adaptive", "[ours]"},
        {"brcsd1", "[ours]"},
},
  kernels_cited[] = {
      {"csr-scalar", "THESIS, sec. 2.1.2"},
      {"csr-vector", "THESIS, sec. 2.1.2"},
      {"csr-serial", "THESIS, sec. 4.2.1"},
      {"csr-cusp", "NOTES"},
      {"coo-atomic", "NOTES"},
      {"ell-padded", "NOTES"},
      {"hyb-atomic", "NOTES"},
      {"sc-csr", "THESIS, sec. 2.2.2"},
      {"vab", "THESIS, sec. 2.3.2"},
      {"vab-texture", "THESIS, sec. 2.4.2"},
      {"drm", "DRM, sec. 4.4"},
      {"drm-paper", "DRM, sec. 4.4, algorithm 2"},
      {"dia-paper", "DRM, sec. 1"},
};

static void hold_source(const char *name, const char *source, const char *part)
{
    if (!strstr(source, part)) fail_msg("%s: the source is `%s`, without `%s`", name, source, part);
}

/* The thesis has no ELL, HYB, CSC and BSR, no atomic COO, and only one host loop: that of CSR. */
TEST(test_sources)
{
    static const char *const thesis_formats[] = {"coo", "csr", "dia", "sc-csr", "vab"};
    for (int k = 0; k < COUNT(formats_cited); k++)
        hold_source(formats_cited[k].name, format_find(formats_cited[k].name)->source, formats_cited[k].source);
    for (int k = 0; k < COUNT(kernels_cited); k++)
        hold_source(kernels_cited[k].name, kernel_find(kernels_cited[k].name)->source, kernels_cited[k].source);
    for (int f = 0; formats[f]; f++) {
        bool in_thesis = false;
        for (int k = 0; k < COUNT(thesis_formats); k++) in_thesis |= !strcmp(formats[f]->name, thesis_formats[k]);
        if (!in_thesis && strstr(formats[f]->source, "THESIS")) fail_msg("%s is not in the thesis", formats[f]->name);
    }
    for (int k = 0; kernels[k]; k++) {
        const char *name = kernels[k]->name;
        bool other = kernels[k]->host && strcmp(name, "csr-serial");
        other |= !strcmp(name, "coo-atomic") || !strstr(kernels[k]->format->source, "THESIS");
        if (other && strstr(kernels[k]->source, "THESIS")) fail_msg("%s is not in the thesis", name);
    }
}
