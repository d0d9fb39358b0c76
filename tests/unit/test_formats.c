/* Every format of the registry with every shape, both precisions and several parameters: round trips and sizes are
   exact, and every entry is in exactly one slot. Other tests check the small examples of the papers, refusals, and
   failing allocations. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "formats/fmt_bsell.h"
#include "formats/fmt_bsr.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csc.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_dense.h"
#include "formats/fmt_dia.h"
#include "formats/fmt_drm.h"
#include "formats/fmt_ell.h"
#include "formats/fmt_hyb.h"
#include "formats/fmt_sell.h"
#include "formats/fmt_strips.h"
#include "formats/format.h"
#include "kits/format_kit.h"
#include "kits/stored_kit.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the shapes ---- */

static bool nowhere(int64_t i, int64_t j)
{
    return false;
}

static bool everywhere(int64_t i, int64_t j)
{
    return true;
}

static bool every_third_row(int64_t i, int64_t j)
{
    return i % 3 == 1 && (i + j) % 4 == 0;
}

static bool banded(int64_t i, int64_t j)
{
    return llabs(i - j) <= 1 || j == i + 7;
}

static bool long_row(int64_t i, int64_t j)
{
    return i == 37 || i == j;
}

static bool scattered(int64_t i, int64_t j)
{
    return (i * 7919 + j * 104729) % 23 < 2;
}

static bool last_corner(int64_t i, int64_t j)
{
    return i == 32 && j == 64;
}

/* Multiples of 1/3, so that fp32 rounds; never 0. */
static double thirds(int64_t i, int64_t j)
{
    return (double)((i * 31 + j * 7) % 97 + 1) / ((i + j) % 2 ? 3 : -3);
}

static double with_zeros(int64_t i, int64_t j)
{
    return (i + j) % 3 == 0 ? 0.0 : (i + j) % 3 == 1 ? -0.0 : thirds(i, j);
}

static double extreme(int64_t i, int64_t j)
{
    static const double v[] = {NAN, INFINITY, -INFINITY, 1e300, -1e-310, 5e-324, 1.5};
    return v[(i + 3 * j) % COUNT(v)];
}

static const struct shape {
    const char *name;
    int64_t rows, cols;
    bool (*has)(int64_t i, int64_t j);
    double (*value)(int64_t i, int64_t j);
} shapes[] = {
    {"0 x 0", 0, 0, nowhere, thirds},
    {"0 x 5", 0, 5, nowhere, thirds},
    {"5 x 0", 5, 0, nowhere, thirds},
    {"1 x 1 without entries", 1, 1, nowhere, thirds},
    {"1 x 1", 1, 1, everywhere, thirds},
    {"empty rows", 40, 40, every_third_row, thirds},
    {"31 rows", 31, 31, banded, thirds},
    {"32 rows", 32, 32, banded, thirds},
    {"33 rows", 33, 33, banded, thirds},
    {"one entry in the last corner", 33, 65, last_corner, thirds},
    {"one long row", 70, 200, long_row, thirds},
    {"wide", 5, 300, scattered, thirds},
    {"tall", 300, 5, scattered, thirds},
    {"dense", 8, 8, everywhere, thirds},
    {"scattered", 257, 190, scattered, thirds},
    {"explicit zeros", 9, 11, everywhere, with_zeros},
    {"scattered zeros", 67, 50, scattered, with_zeros},
    {"inf and nan", 9, 9, everywhere, extreme},
};

static const struct
try {
    const char *format;
    int64_t param[PARAMS_MAX];
}
tries[] = {
    {"ell", {300}},
    {"sell", {1, 1}},
    {"sell", {2, 4}},
    {"sell", {3, 7}},
    {"sell", {32, 1}},
    {"sell", {4, INT32_MAX}},
    {"sell", {1024, 8}},
    {"packed", {1, 0}},
    {"packed", {2, 4}},
    {"packed", {8, 1}},
    {"packed", {32, 1024}},
    {"packed", {16, 65536}},
    {"hyb", {1}},
    {"hyb", {7}},
    {"hyb", {250}},
    {"bsr", {1}},
    {"bsr", {2}},
    {"bsr", {3}},
    {"bsr", {32}},
    {"bsell", {1, 32, 1}},
    {"bsell", {2, 2, 1}},
    {"bsell", {2, 32, 1024}},
    {"bsell", {3, 5, 7}},
    {"bsell", {4, 32, 40}},
    {"bsell", {4, 1, INT32_MAX}},
    {"strips", {1}},
    {"strips", {2}},
    {"strips", {100}},
    {"strips", {7168}},
    {"sc-csr", {0}},
    {"sc-csr", {1}},
    {"sc-csr", {2}},
    {"vab", {64}},
    {"hdia", {1}},
    {"hdia", {7}},
    {"hdia", {1024}},
    {"brcsd1", {1, 64}},
    {"brcsd1", {5, 64}},
    {"brcsd1", {5, 3}},
    {"brcsd1", {32, 128}},
    {"brcsd2", {1}},
    {"brcsd2", {7}},
    {"hdc", {1}},
    {"hdc", {100}},
    {"drm", {1}},
    {"drm", {7}},
    {"drm", {1024}},
    {"dia-adaptive", {7, 5, 10, 190, 1}},
    {"dia-adaptive", {7, 5, 10, 190, 2}},
    {"dia-adaptive", {7, 5, 10, 190, 3}},
};

static struct csr build(const struct shape *s, bool complex_values)
{
    struct csr A;
    int64_t n = 0;
    assert_true(csr_new(&A, s->rows, s->cols, s->rows * s->cols, complex_values, NULL));
    for (int64_t i = 0; i < s->rows; i++) {
        for (int64_t j = 0; j < s->cols; j++)
            if (s->has(i, j)) {
                A.col[n] = (int)j;
                A.val[n] = s->value(i, j);
                if (A.imag) A.imag[n] = s->value(i, j) * (double)((i + 2 * j) % 3 - 1);
                n++;
            }
        A.rowptr[i + 1] = (int)n;
    }
    A.nnz = n;
    return A;
}

TEST(test_registry_by_shapes)
{
    for (int s = 0; s < 2 * COUNT(shapes); s++) {
        struct csr A = build(&shapes[s / 2], s % 2);
        for (const struct precision_entry *const *p = named_precisions; *p; p++) {
            struct plan plan;
            if ((*p)->narrow && !format_plan(&A, &format_csr, NULL, (*p)->index, &plan, NULL)) continue;
            for (const struct format *const *f = formats; *f; f++) format_check(&A, *f, NULL, (*p)->index);
            for (int t = 0; t < COUNT(tries) && !(*p)->narrow; t++)
                format_check(&A, format_find(tries[t].format), tries[t].param, (*p)->index);
        }
        csr_free(&A);
    }
}

/* The session therefore finds a stored form by its resolved parameters as well as by those of the request. The
   requests: the defaults, and each parameter at its least, at 2 and at its most. */
TEST(resolved_parameters_resolve_to_themselves)
{
    for (int s = 0; s < 2 * COUNT(shapes); s++) {
        struct csr A = build(&shapes[s / 2], s % 2);
        for (int i = 0; formats[i]; i++) {
            const struct param *of = formats[i]->params;
            int n = 0;
            while (of[n].name) n++;
            for (int c = 0; c <= 3 * n; c++) {
                int64_t param[PARAMS_MAX] = {0};
                struct plan p, again;
                for (int k = 0; k < n; k++) param[k] = of[k].default_value;
                if (c) param[(c - 1) / 3] = (const int64_t[]){of[(c - 1) / 3].min, 2, of[(c - 1) / 3].max}[(c - 1) % 3];
                if (!format_plan(&A, formats[i], param, P_F64, &p, NULL)) continue;
                assert_true(format_plan(&A, formats[i], p.shape.param, P_F64, &again, NULL));
                if (memcmp(p.shape.param, again.shape.param, sizeof param) != 0)
                    fail_msg("%s of %s, case %d", formats[i]->name, shapes[s / 2].name, c);
            }
        }
        csr_free(&A);
    }
}

TEST(test_types)
{
    const struct {
        enum type type;
        size_t size;
        const char *name;
        const void *slots;
        double second;
    } types[] = {
        {T_I32, 4, "int32", (int32_t[]){0, -7}, -7},
        {T_I64, 8, "int64", (int64_t[]){0, -7}, -7},
        {T_F32, 4, "fp32", (float[]){0, -7}, -7},
        {T_F64, 8, "fp64", (double[]){0, -7}, -7},
        {T_C32, 8, "complex fp32", (float[]){0, 3, -7, 4}, -7},
        {T_C64, 16, "complex fp64", (double[]){0, 3, -7, 4}, -7},
        {T_U8, 1, "uint8", (uint8_t[]){0, 255}, 255},
        {T_U16, 2, "uint16", (uint16_t[]){0, 65535}, 65535},
        {T_F16, 2, "fp16", (uint16_t[]){0x8000, 0xc700}, -7},
        {T_BF16, 2, "bf16", (uint16_t[]){0x8000, 0xc0e0}, -7},
    };
    for (int k = 0; k < COUNT(types); k++) {
        struct array a = {.type = types[k].type, .n = 2, .data = (void *)types[k].slots};
        assert_int_equal(type_size(types[k].type), types[k].size);
        assert_string_equal(type_name(types[k].type), types[k].name);
        assert_true(array_real(&a, 0) == 0);
        assert_true(array_real(&a, 1) == types[k].second);
        bool pairs = types[k].type == T_C32 || types[k].type == T_C64;
        bool half = types[k].type == T_F16 || types[k].type == T_BF16;
        bool whole = !pairs && !half && types[k].type != T_F32 && types[k].type != T_F64;
        assert_true(type_is_integer(a.type) == whole);
        assert_true(type_is_complex(a.type) == pairs && type_parts(a.type) == 1 + pairs);
        assert_true(array_imag(&a, 0) == 3 * pairs && array_imag(&a, 1) == 4 * pairs);
        struct array parts = array_parts(&a);
        assert_int_equal(parts.n, 2 + 2 * pairs);
        assert_true(array_real(&parts, 1 + pairs) == types[k].second);
    }
}

TEST(test_registry)
{
    for (const struct format *const *f = formats; *f; f++) {
        assert_ptr_equal(format_find((*f)->name), *f);
        assert_true(*(*f)->about && *(*f)->source);
    }
    assert_null(format_find("elephant"));
    assert_null(format_find(""));
}

/* ---- the 4 x 4 example of the thesis, array by array ---- */

static const struct figure {
    const char *format;
    int64_t param[PARAMS_MAX];
    int array;
    int64_t n;
    double slot[48];
} figures[] = {
    {"coo", {0}, COO_ROW, 9, {0, 0, 1, 1, 2, 2, 2, 3, 3}},
    {"coo", {0}, COO_COL, 9, {0, 1, 1, 2, 0, 2, 3, 1, 3}},
    {"coo", {0}, COO_VAL, 9, {1, 7, 2, 8, 5, 3, 9, 6, 4}},
    {"csr", {0}, CSR_PTR, 5, {0, 2, 4, 7, 9}},
    {"csr", {0}, CSR_COL, 9, {0, 1, 1, 2, 0, 2, 3, 1, 3}},
    {"csr", {0}, CSR_VAL, 9, {1, 7, 2, 8, 5, 3, 9, 6, 4}},
    {"csc", {0}, CSC_PTR, 5, {0, 2, 5, 7, 9}},
    {"csc", {0}, CSC_ROW, 9, {0, 2, 0, 1, 3, 1, 2, 2, 3}},
    {"csc", {0}, CSC_VAL, 9, {1, 5, 7, 2, 6, 8, 3, 9, 4}},
    {"dia", {0}, DIA_OFFSETS, 3, {-2, 0, 1}},
    {"dia", {0}, DIA_DATA, 12, {0, 0, 5, 6, 1, 2, 3, 4, 7, 8, 9, 0}},
    {"ell", {0}, ELL_COL, 12, {0, 1, 0, 1, 1, 2, 2, 3, -1, -1, 3, -1}},
    {"ell", {0}, ELL_VAL, 12, {1, 2, 5, 6, 7, 8, 3, 4, 0, 0, 9, 0}},
    {"hyb", {0}, HYB_ELL_COL, 8, {0, 1, 0, 1, 1, 2, 2, 3}},
    {"hyb", {0}, HYB_ELL_VAL, 8, {1, 2, 5, 6, 7, 8, 3, 4}},
    {"hyb", {0}, HYB_ROW, 1, {2}},
    {"hyb", {0}, HYB_COL, 1, {3}},
    {"hyb", {0}, HYB_VAL, 1, {9}},
    {"hyb", {1}, HYB_ROW, 5, {0, 1, 2, 2, 3}},
    {"hyb", {1}, HYB_COL, 5, {1, 2, 2, 3, 3}},
    {"hyb", {1}, HYB_VAL, 5, {7, 8, 3, 9, 4}},
    {"sell", {2, 4}, SELL_PERM, 4, {2, 0, 1, 3}},
    {"sell", {2, 4}, SELL_PTR, 3, {0, 6, 10}},
    {"sell", {2, 4}, SELL_COL, 10, {0, 0, 2, 1, 3, -1, 1, 1, 2, 3}},
    {"sell", {2, 4}, SELL_VAL, 10, {5, 1, 3, 7, 9, 0, 2, 6, 8, 4}},
    {"sell", {3, 1}, SELL_PERM, 6, {0, 1, 2, 3, -1, -1}},
    {"sell", {3, 1}, SELL_PTR, 3, {0, 9, 15}},
    {"sell", {3, 1}, SELL_VAL, 15, {1, 2, 5, 7, 8, 3, 0, 0, 9, 6, 0, 0, 4, 0, 0}},
    {"bsr", {2}, BSR_PTR, 3, {0, 2, 4}},
    {"bsr", {2}, BSR_COL, 4, {0, 1, 0, 1}},
    {"bsr", {2}, BSR_VAL, 16, {1, 7, 0, 2, 0, 0, 8, 0, 5, 0, 0, 6, 3, 9, 0, 4}},
    {"bsr", {3}, BSR_PTR, 3, {0, 2, 4}},
    {"bsr", {3}, BSR_VAL, 36, {1, 7, 0, 0, 2, 8, 5, 0, 3, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 4}},
    {"bsell", {2, 2, 1}, BSELL_PERM, 4, {0, 1, 2, 3}},
    {"bsell", {2, 2, 1}, BSELL_PTR, 2, {0, 2}},
    {"bsell", {2, 2, 1}, BSELL_COL, 4, {0, 0, 1, 1}},
    {"bsell", {2, 2, 1}, BSELL_VAL, 16, {1, 0, 5, 0, 7, 2, 0, 6, 0, 8, 3, 0, 0, 0, 9, 4}},
    {"bsell", {3, 2, 1}, BSELL_PERM, 6, {0, 1, 2, 3, -1, -1}},
    {"bsell", {3, 2, 1}, BSELL_PTR, 2, {0, 2}},
    {"bsell", {3, 2, 1}, BSELL_COL, 4, {0, 0, 1, 1}},
    {"bsell", {1, 3, 4}, BSELL_PERM, 6, {2, 0, 1, 3, -1, -1}},
    {"bsell", {1, 3, 4}, BSELL_PTR, 3, {0, 3, 5}},
    {"bsell", {1, 3, 4}, BSELL_COL, 15, {0, 0, 1, 2, 1, 2, 3, -1, -1, 1, -1, -1, 3, -1, -1}},
    {"bsell", {1, 3, 4}, BSELL_VAL, 15, {5, 1, 2, 3, 7, 8, 9, 0, 0, 6, 0, 0, 4, 0, 0}},
    {"strips", {2}, STRIPS_PTR, 3, {0, 1, 2}},
    {"strips", {2}, STRIPS_ENDS, 8, {2, 1, 1, 1, 1, 0, 1, 1}},
    {"strips", {2}, STRIPS_BEFORE, 3, {0, 4, 7}},
    {"strips", {2}, STRIPS_ROW, 7, {0, 1, 2, 3, 1, 2, 3}},
    {"strips", {2}, STRIPS_GROUP, 2, {0, 2}},
    {"strips", {2}, STRIPS_RUN, 4, {15, 0, 14, 4}},
    {"strips", {1}, STRIPS_RUN, 8, {5, 0, 11, 2, 6, 5, 12, 7}},
    {"dense", {0}, DENSE_VAL, 16, {1, 0, 5, 0, 7, 2, 0, 6, 0, 8, 3, 0, 0, 0, 9, 4}},
};

TEST(test_figures)
{
    struct csr A = thesis4();
    for (int k = 0; k < COUNT(figures); k++) {
        const struct figure *want = &figures[k];
        struct stored S = packed(&A, want->format, want->param);
        expect_slots(&S, want->array, want->n, want->slot);
        stored_free(&S);
    }
    csr_free(&A);
}

/* The row of each padding slot, in the same example. */
static const struct {
    const char *format;
    int64_t param[PARAMS_MAX];
    int array;
    int64_t slot;
    struct place place;
} places[] = {
    {"csr", {0}, CSR_PTR, 2, {SLOT_POINTER, 2, -1}},
    {"csr", {0}, CSR_PTR, 4, {SLOT_POINTER, -1, -1}},
    {"csr", {0}, CSR_COL, 6, {SLOT_ENTRY, 2, 3}},
    {"csc", {0}, CSC_PTR, 3, {SLOT_POINTER, -1, 3}},
    {"csc", {0}, CSC_ROW, 4, {SLOT_ENTRY, 3, 1}},
    {"coo", {0}, COO_ROW, 4, {SLOT_ENTRY, 2, 0}},
    {"ell", {0}, ELL_COL, 9, {SLOT_PADDING, 1, -1}},
    {"ell", {0}, ELL_VAL, 10, {SLOT_ENTRY, 2, 3}},
    {"hyb", {0}, HYB_ELL_VAL, 6, {SLOT_ENTRY, 2, 2}},
    {"hyb", {0}, HYB_VAL, 0, {SLOT_ENTRY, 2, 3}},
    {"dia", {0}, DIA_OFFSETS, 0, {SLOT_POINTER, 2, 0}},
    {"dia", {0}, DIA_OFFSETS, 2, {SLOT_POINTER, 0, 1}},
    {"dia", {0}, DIA_DATA, 1, {SLOT_PADDING, 1, -1}},
    {"dia", {0}, DIA_DATA, 3, {SLOT_ENTRY, 3, 1}},
    {"sell", {3, 4}, SELL_PERM, 0, {SLOT_POINTER, 2, -1}},
    {"sell", {3, 4}, SELL_PERM, 5, {SLOT_PADDING, -1, -1}},
    {"sell", {3, 4}, SELL_PTR, 1, {SLOT_POINTER, 3, -1}},
    {"sell", {3, 4}, SELL_PTR, 2, {SLOT_POINTER, -1, -1}},
    {"sell", {3, 4}, SELL_COL, 7, {SLOT_PADDING, 0, -1}},
    {"bsr", {2}, BSR_PTR, 1, {SLOT_POINTER, 2, -1}},
    {"bsr", {2}, BSR_PTR, 2, {SLOT_POINTER, -1, -1}},
    {"bsr", {2}, BSR_COL, 3, {SLOT_POINTER, 2, 2}},
    {"bsr", {2}, BSR_VAL, 9, {SLOT_PADDING, 2, -1}},
    {"bsr", {2}, BSR_VAL, 13, {SLOT_ENTRY, 2, 3}},
    {"bsr", {3}, BSR_VAL, 22, {SLOT_PADDING, -1, -1}},
    {"dense", {0}, DENSE_VAL, 1, {SLOT_PADDING, 1, -1}},
    {"bsell", {3, 2, 1}, BSELL_PERM, 3, {SLOT_POINTER, 3, -1}},
    {"bsell", {3, 2, 1}, BSELL_PERM, 4, {SLOT_PADDING, -1, -1}},
    {"bsell", {1, 3, 4}, BSELL_PTR, 0, {SLOT_POINTER, 2, -1}},
    {"bsell", {1, 3, 4}, BSELL_PTR, 2, {SLOT_POINTER, -1, -1}},
    {"bsell", {3, 2, 1}, BSELL_COL, 3, {SLOT_POINTER, 3, 3}},
    {"bsell", {1, 3, 4}, BSELL_COL, 8, {SLOT_PADDING, 1, -1}},
    {"bsell", {1, 3, 4}, BSELL_COL, 10, {SLOT_PADDING, -1, -1}},
    {"bsell", {2, 2, 1}, BSELL_VAL, 9, {SLOT_ENTRY, 1, 2}},
    {"bsell", {2, 2, 1}, BSELL_VAL, 8, {SLOT_PADDING, 0, -1}},
    {"bsell", {3, 2, 1}, BSELL_VAL, 4, {SLOT_PADDING, -1, -1}},
    {"strips", {2}, STRIPS_PTR, 1, {SLOT_POINTER, -1, 2}},
    {"strips", {2}, STRIPS_PTR, 2, {SLOT_POINTER, -1, -1}},
    {"strips", {2}, STRIPS_COL, 1, {SLOT_ENTRY, 3, 1}},
    {"strips", {2}, STRIPS_COL, 2, {SLOT_PADDING, -1, -1}},
    {"strips", {2}, STRIPS_VAL, 160, {SLOT_ENTRY, 2, 2}},
    {"strips", {2}, STRIPS_VAL, 192, {SLOT_ENTRY, 2, 3}},
    {"strips", {2}, STRIPS_VAL, 255, {SLOT_PADDING, -1, -1}},
    {"strips", {2}, STRIPS_ENDS, 5, {SLOT_POINTER, -1, -1}},
    {"strips", {2}, STRIPS_ROW, 5, {SLOT_POINTER, 2, -1}},
    {"strips", {2}, STRIPS_GROUP, 1, {SLOT_POINTER, -1, -1}},
    {"strips", {2}, STRIPS_RUN, 3, {SLOT_POINTER, 1, -1}},
};

TEST(test_places)
{
    struct csr A = thesis4();
    for (int k = 0; k < COUNT(places); k++) {
        struct stored S = packed(&A, places[k].format, places[k].param);
        expect_where(&S, places[k].array, places[k].slot, places[k].place);
        stored_free(&S);
    }
    csr_free(&A);
}

/* 3 of 9 rows have 4 elements and 6 rows have 2 elements: a third of the rows is enough for width 4. */
TEST(test_hyb_width)
{
    static const int rowptr[] = {0, 4, 6, 8, 12, 14, 16, 20, 22, 24, 26};
    for (int rows = 9; rows <= 10; rows++) {
        struct csr A = {.rows = rows, .cols = 4, .nnz = rowptr[rows], .rowptr = (int *)rowptr};
        struct plan p;
        assert_true(format_plan(&A, format_find("hyb"), NULL, P_F64, &p, NULL));
        assert_int_equal(p.shape.param[0], rows == 9 ? 4 : 2);
    }
}

/* A block size of 0 stands for the size from 2 to 4 that takes the fewest bytes. */
TEST(test_bsell_block)
{
    for (int side = 2; side <= 4; side++) {
        enum { SIZE = 60 };
        struct csr A;
        struct plan p;
        int64_t n = 0;
        assert_true(csr_new(&A, SIZE, SIZE, SIZE * SIZE, false, NULL));
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++)
                if (i / side % 3 == j / side % 3) A.col[n] = j, A.val[n++] = 1 + i;
            A.rowptr[i + 1] = (int)n;
        }
        A.nnz = n;
        assert_true(format_plan(&A, format_find("bsell"), NULL, P_F64, &p, NULL));
        assert_int_equal(p.shape.param[0], side);
        csr_free(&A);
    }
}

/* The size with the fewest bytes: b * b values and a column of 4 bytes for each block. */
TEST(test_bsell_counts_columns)
{
    /* fp64: 9 (32 + 4) = 324, 4 (72 + 4) = 304, 3 (128 + 4) = 396; the values alone would take 288, 288, 384 */
    assert_int_equal(bsell_choice((int64_t[]){9, 4, 3}, P_F64), 3);
    /* fp32: 9 (16 + 4) = 180, 5 (36 + 4) = 200, 3 (64 + 4) = 204 */
    assert_int_equal(bsell_choice((int64_t[]){9, 5, 3}, P_F32), 2);
}

static int64_t suited(const char *format, const struct csr *A, enum precision real, int multiprocessors)
{
    int64_t param[PARAMS_MAX];
    assert_non_null(format_suit(format_find(format), A, real, multiprocessors, param));
    return param[0];
}

/* A 6 x 6 block without 2 x 2 of its entries is 8 blocks of side 2 or one of side 6 (or 4 of side 3 to 5):
   8 (32 + 4) = 288 or 288 + 4 bytes in fp64, 8 (16 + 4) = 160 or 144 + 4 bytes in fp32. */
TEST(test_bsr_suits_the_precision)
{
    struct csr A = ragged(6, (int[]){6, 6, 6, 6, 4, 4});
    assert_int_equal(suited("bsr", &A, P_F64, 132), 2);
    assert_int_equal(suited("bsr", &A, P_F32, 132), 6);
    csr_free(&A);
}

/* nw = 0.5 * multiprocessors * 8 active blocks * 8 warps; the default is that of a V100, which has 80. */
TEST(test_sccsr_suits_the_gpu)
{
    struct csr A = ragged(2, (int[]){1, 2});
    assert_int_equal(suited("sc-csr", &A, P_F64, 132), 4224);
    assert_int_equal(suited("sc-csr", &A, P_F64, 80), 2560);
    assert_int_equal(format_find("sc-csr")->params[0].default_value, 2560);
    csr_free(&A);
}

/* By default, a strip is as wide as 192 KB of x: twice as many elements in fp32 as in fp64. */
TEST(test_strips_are_as_wide_as_shared_memory)
{
    static const enum precision types[] = {P_F64, P_F32, P_BF16_F32};
    static const int64_t width[] = {24576, 49152, 49152};
    struct csr A = ragged(2, (int[]){1, 2});
    for (int i = 0; i < COUNT(types); i++) {
        struct plan p;
        assert_true(format_plan(&A, format_find("strips"), NULL, types[i], &p, NULL));
        assert_int_equal(p.shape.param[0], width[i]);
    }
    csr_free(&A);
}

/* One segment of 1000 diagonals, and 70 segments of one, which are merged into one list, as together they have less
   than half of the work. Of 32 rows each, a thread block takes 32 segments at most: three blocks share the list evenly.
 */
TEST(test_drm_divides_long_lists_evenly)
{
    enum { SMALL = 70, LARGE = 1000 };
    static const int lengths[] = {1, 23, 23, 24};
    int before[SMALL + 2] = {0, LARGE};
    struct drm_layout L;
    struct err e = {0};
    for (int h = 1; h <= SMALL; h++) before[h + 1] = before[h] + 1;
    assert_true(drm_lay(before, SMALL + 1, DRM_ROWS / 32, &L, &e));
    assert_int_equal(L.subblocks, COUNT(lengths));
    for (int b = 0; b < COUNT(lengths); b++) assert_int_equal(L.blo[b + 1] - L.blo[b], lengths[b]);
    assert_int_equal(L.index[0], 0); /* the largest comes first */
    drm_layout_free(&L);
}

/* n rows with one entry, of n different values, in slices of 32 slots. */
static int64_t codes_of(int n)
{
    struct csr A;
    struct plan p;
    int64_t codes = -1;
    assert_true(csr_new(&A, n, n, n, false, NULL));
    for (int i = 0; i < n; i++) A.rowptr[i] = A.col[i] = i, A.val[i] = 1 + i;
    A.rowptr[n] = n;
    assert_true(format_plan(&A, format_find("packed"), NULL, P_F64, &p, NULL));
    for (int k = 0; k < p.shape.narrays; k++)
        if (!strcmp(p.shape.a[k].name, "code")) codes = p.shape.a[k].n;
    csr_free(&A);
    return codes;
}

/* Values are replaced by codes of a byte only if codes and different values take fewer bytes than the values of all
   slots: 128 slots take 1024 bytes, or 128 and 8 for each value. */
TEST(test_packed_codes_pay)
{
    assert_int_equal(codes_of(111), 128); /* 888 + 128 */
    assert_int_equal(codes_of(113), 0);   /* 904 + 128 */
}

/* ---- refusals ---- */

static const struct {
    const char *format;
    int64_t param[PARAMS_MAX];
    enum code code;
    const char *text;
} refused[] = {
    {"ell", {2}, E_USAGE, "ell: width 2 is less than the longest row, which has 3 entries; use width 0"},
    {"ell", {-1}, E_USAGE, "ell: width is -1; it must be 0 to 2147483647"},
    {"sell", {0, 1}, E_USAGE, "sell: C is 0; it must be 1 to 1024"},
    {"sell", {32, 0}, E_USAGE, "sell: sigma is 0; it must be 1 to 2147483647"},
    {"bsr", {33}, E_USAGE, "bsr: block is 33; it must be 1 to 32"},
    {"bsell", {5, 32, 1}, E_USAGE, "bsell: block is 5; it must be 0 to 4"},
    {"bsell", {3, 33, 1}, E_USAGE, "bsell: C is 33; it must be 1 to 32"},
    {"strips", {-1}, E_USAGE, "strips: width is -1; it must be 0 to 65535"},
    {"strips", {28673}, E_USAGE, "strips: width is 28673; the shared memory holds 28672 elements of x in fp64"},
    {"vab", {100}, E_USAGE, "vab: block is 100, which is not a multiple of 64 threads; use 64, 128 or 256"},
    {"vab", {0}, E_USAGE, "vab: block is 0; it must be 64 to 1024"},
    {"drm", {1025}, E_USAGE, "drm: nrows is 1025; it must be 1 to 1024"},
    {"hdc", {0}, E_USAGE, "hdc: fill is 0; it must be 1 to 100"},
    {"dia-adaptive", {32, 64, 10, 190, 4}, E_USAGE, "dia-adaptive: as is 4; it must be 0 to 3"},
};

TEST(test_bad_parameters)
{
    struct csr A = thesis4();
    for (int k = 0; k < COUNT(refused); k++) {
        struct stored S;
        struct err e = {0};
        assert_false(format_pack(&A, format_find(refused[k].format), refused[k].param, P_F64, true, &S, &e));
        assert_int_equal(e.code, refused[k].code);
        if (!strstr(e.text, refused[k].text)) fail_msg("found: %s", e.text);
        assert_int_equal(S.narrays, 0);
    }
    csr_free(&A);
}

/* 20000 rows of one entry each, except that row 0 is full: ELL needs 20000 slots per row. */
static struct csr arrow(void)
{
    struct csr A;
    const int n = 20000;
    assert_true(csr_new(&A, n, n, 2 * n - 1, false, NULL));
    for (int k = 0; k < 2 * n - 1; k++) {
        A.col[k] = k < n ? k : k - n + 1;
        A.val[k] = 1;
    }
    for (int i = 0; i < n; i++) A.rowptr[i + 1] = n + i;
    assert_true(csr_check(&A, NULL));
    return A;
}

static const struct {
    int64_t memory;
    bool force;
    const char *text; /* NULL: allowed */
} limits[] = {
    {10000000000, false,
     "ell of 20000 x 20000 needs 4.80 GB, of which 100.0% is padding; add `force` to the command to convert it anyway"},
    {10000000000, true, NULL},
    {4800000000, true, NULL},
    {4799999999, true,
     "ell of 20000 x 20000 needs 4.80 GB, of which 100.0% is padding, but only 4.80 GB of memory is free; choose "
     "another "
     "format"},
    {1000000, false,
     "ell of 20000 x 20000 needs 4.80 GB, of which 100.0% is padding, but only 1.00 MB of memory is free; choose "
     "another "
     "format"},
};

TEST(test_explosion)
{
    struct csr A = arrow();
    struct plan p;
    struct stored S;
    struct err e = {0};
    assert_true(format_plan(&A, format_find("ell"), NULL, P_F64, &p, NULL));
    for (int k = 0; k < COUNT(limits); k++) {
        err_clear(&e);
        assert_int_equal(format_allow(&p, limits[k].memory, limits[k].force, &e), limits[k].text == NULL);
        assert_int_equal(e.code, limits[k].text ? E_LIMIT : E_NONE);
        assert_string_equal(e.text, limits[k].text ? limits[k].text : "");
    }
    err_clear(&e);
    int64_t before = mem_count();
    assert_false(format_pack(&A, format_find("ell"), NULL, P_F64, false, &S, &e));
    assert_int_equal(mem_count(), before);
    assert_non_null(strstr(e.text, "force"));
    assert_true(format_pack(&A, format_find("hyb"), NULL, P_F64, false, &S, NULL));
    stored_free(&S);
    csr_free(&A);
}

/* More than 20 slots of padding per nonzero are too many in more than 64 MB. */
TEST(test_limit_of_padding)
{
    struct plan p = {.shape = {.format = format_find("ell"), .nnz = 1000}, .bytes = 64000001, .padding = 20000};
    assert_true(format_allow(&p, INT64_MAX, false, NULL));
    p.padding++;
    assert_false(format_allow(&p, INT64_MAX, false, NULL));
    assert_true(format_allow(&p, INT64_MAX, true, NULL));
    p.bytes--;
    assert_true(format_allow(&p, INT64_MAX, false, NULL));
}

/* Estimates beyond 2^63 bytes saturate. A plan allocates none of the memory that it estimates, even for the largest
   matrix. */
TEST(test_estimate_saturates)
{
    struct csr A = {.rows = INT32_MAX, .cols = INT32_MAX};
    struct plan p;
    struct err e = {0};
    assert_true(format_plan(&A, format_find("dense"), NULL, P_F64, &p, &e));
    assert_int_equal(p.slots, (int64_t)INT32_MAX * INT32_MAX);
    assert_true(p.bytes == INT64_MAX);
    assert_false(format_allow(&p, INT64_MAX / 4, true, &e));
    assert_int_equal(e.code, E_LIMIT);
}

/* One full row of 2^21 entries makes a slice of 1024 rows with 2^31 slots: one more than the slice
   pointers can represent. */
TEST(test_slice_pointers_overflow)
{
    static const struct try sell = {"sell", {1024, 1}};
    struct csr A = {.rows = 1, .cols = 1 << 21, .nnz = 1 << 21, .rowptr = (int[]){0, 1 << 21}};
    struct plan p;
    struct err e = {0};
    assert_false(format_plan(&A, format_find(sell.format), sell.param, P_F32, &p, &e));
    assert_int_equal(e.code, E_LIMIT);
    assert_non_null(strstr(e.text, "2147483648"));
    A.nnz = A.rowptr[1] = (1 << 21) - 1;
    assert_true(format_plan(&A, format_find(sell.format), sell.param, P_F32, &p, NULL));
    assert_int_equal(p.slots, (INT64_C(1) << 31) - 1024);
}

/* ---- failing allocations ---- */

/* Pack and unpack with the nth allocation failing; returns true when no allocation failed. */
static bool survives(const struct csr *A, const struct format *f, int64_t nth)
{
    struct stored S;
    struct csr back = {0};
    struct err e = {0};
    mem_fail_at(nth);
    bool packed = format_pack(A, f, NULL, P_F64, false, &S, &e);
    bool unpacked = packed && format_unpack(&S, &back, &e);
    mem_fail_at(0);
    if (!packed) assert_int_equal(S.narrays, 0);
    if (!unpacked) {
        assert_int_equal(e.code, E_MEMORY);
        assert_null(back.rowptr);
    }
    stored_free(&S);
    csr_free(&back);
    return unpacked;
}

TEST(test_nth_allocation_fails)
{
    struct csr A = build(&shapes[10], false);
    for (const struct format *const *f = formats; *f; f++) {
        int64_t nth = 1;
        while (nth < 100 && !survives(&A, *f, nth)) nth++;
        assert_in_range(nth, 4, 99);
    }
    csr_free(&A);
}

/* ---- the samples ---- */

TEST(test_samples)
{
    static const double offsets[] = {-3, 0, 1, 3};
    struct csr A = thesis4(), B, D;
    struct load_info info;
    struct stored S;
    assert_true(mtx_load("samples/thesis4.mtx", NULL, &B, &info, NULL));
    assert_true(csr_equal(&A, &B));
    assert_true(mtx_load("samples/diag6.mtx", NULL, &D, &info, NULL));
    assert_true(format_pack(&D, format_find("dia"), NULL, P_F64, false, &S, NULL));
    assert_int_equal(S.a[DIA_OFFSETS].n, 4);
    for (int d = 0; d < 4; d++) assert_true(array_real(&S.a[DIA_OFFSETS], d) == offsets[d]);
    stored_free(&S);
    csr_free(&A);
    csr_free(&B);
    csr_free(&D);
}
