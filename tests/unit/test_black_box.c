/* The fits of library kernels: the measured times are here, so that the fits can be repeated and their errors
   verified. */
#include <stdio.h>

#include "base/err.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/gathers.h"
#include "matrix/gen.h"
#include "microscope/black_box.h"

#include <math.h>
#include <string.h>

enum { BOXES = 6, TERMS = 4, MATRICES_MAX = 100, HOLD_OUT = 3 };

/* Times of cuSPARSE 12.6.3 (SpMVOp: of 12.9.4) on an NVIDIA H200 in fp64, in us, in the order of black_boxes; 0: not
   measured. */
static const struct measured {
    const char *matrix;
    int64_t rows, cols, nnz, longest; /* longest: the longest row */
    int64_t slots;                    /* of sell with slices of 32 rows in their order */
    int64_t gathers;                  /* csr_gathers_in_runs */
    double us[BOXES];
} data[] = {
    {"27-point 48^3", 110592, 110592, 2863288, 27, 2917248, 184843, {24.64, 20.06, 21.41, 13.5, 16.29, 15.65}},
    {"27-point 32^3 x 3", 98304, 98304, 7475256, 81, 7634304, 297935, {43.68, 38.99, 35.87, 26.05}},
    {"rmat 18 16", 262144, 262144, 3938360, 15869, 30070272, 2985360, {43.74, 38.91, 36.19, 0, 39.81, 36.66}},
    {"rmat 20 8", 1048576, 1048576, 8174962, 23274, 64823872, 7033526, {90.34, 84.46, 75.81, 0, 89.15, 80.58}},
    {"circuit 100000 4", 100000, 100000, 449586, 12508, 2325056, 126539, {14.11, 9.54, 9.28, 0, 10.43, 9.76}},
    {"random 300000 10", 300000, 300000, 3000000, 10, 3000000, 2959719, {38.4, 33.47, 32.11, 39.84, 33.79, 33.54}},
    {"band 200000 12", 200000, 200000, 4999844, 25, 5000000, 65916, {34.98, 30.27, 26, 20.86, 29.09, 27.84}},
    {"5-point 300^2", 90000, 90000, 448800, 5, 449504, 55368, {13.82, 9.28, 8.86, 5.7}},
    {"7-point 60^3", 216000, 216000, 1490400, 7, 1500032, 183254, {20.02, 15.26, 13.57, 8.35, 9.81, 9.66}},
    {"fem 200", 120000, 120000, 3218436, 27, 3229632, 102330, {24.86, 20.13, 20.06, 14.34, 16.8, 16.42}},
    {"fem 60", 10800, 10800, 285156, 27, 288864, 9106, {12.26, 8.51, 8.42, 6.85, 7.42, 7.26}},
    {"5-point 1000 x 999", 999000, 999000, 4991002, 5, 4993056, 755566, {40.93, 35.71, 33.44, 23.14, 30.78, 29.98}},
    {"7-point 128^3", 2097152, 2097152, 14581760, 7, 14614528, 2032020, {97.31, 87.3, 88.06, 59.81, 77.76, 76}},
    {"circuit 10^6, 4 dense", 1000000, 1000000, 4499308, 125004, 23242368, 1280119, {39.17, 33.73, 33.38}},
    {"broken diagonals", 200000, 200000, 1670775, 14, 1672800, 423193, {20.86, 16.13, 15.39, 10.24}},
    {"random 10^6 x 16",
     1000000,
     1000000,
     16000000,
     16,
     16000000,
     15935371,
     {138.7, 133.4, 138.6, 129.5, 173.5, 173.22}},
    {"4284 x 1.1M, 2600", 4284, 1100000, 11138400, 2600, 11148800, 11138267, {96.61, 92.94, 99.81}},
    {"band 100k, half 20", 100000, 100000, 4099580, 41, 4100000, 46035, {30.37, 25.79, 22.37, 18.18, 22.43, 21.41}},
    {"27-point 24^3", 13824, 13824, 343000, 27, 362880, 16362, {12.51, 8.77, 8.93, 7.23}},
    {"5-point 64^2", 4096, 4096, 20224, 5, 20352, 1321, {12.19, 8.51, 7.36, 4.61, 5.92, 5.79}},
    {"3elt", 4720, 4720, 27444, 9, 32352, 2253, {12.03, 8.51, 7.26, 5.38, 6.72, 6.5}},
    {"3elt_dual", 9000, 9000, 26556, 3, 27072, 3073, {12.54, 8.83, 7.46, 4.7, 5.86, 5.79}},
    {"rmat 20 16", 1048576, 1048576, 16085412, 39524, 125409536, 13862378, {156.7, 150.3, 151.9, 0, 151.3, 139.46}},
    {"27-point 48^3 x 3", 331776, 331776, 25769592, 81, 26173440, 1026491, {110.2, 105.4, 112.2, 79.5}},
    {"27-point 96^3", 884736, 884736, 23393656, 27, 23557248, 2081539, {111.2, 105.9, 122.9, 74.6}},
    {"CAG_mat364", 364, 364, 13585, 82, 26048, 629, {10.72, 7.71, 6.66, 7.58, 7.62, 7.42}},
    {"Dubcova1", 16129, 16129, 253009, 25, 257312, 36169, {12.61, 8.8, 8.03, 6.62, 8.51, 8.29}},
    {"G51", 1000, 1000, 11818, 156, 20768, 1488, {11.17, 8.32, 7.39, 11.52, 7.52, 7.58}},
    {"USpowerGrid", 4941, 4941, 13188, 19, 36608, 2128, {12.45, 8.93, 7.33, 5.79, 7.74, 7.17}},
    {"add32", 4960, 4960, 23884, 32, 55232, 2917, {12.06, 8.54, 7.2, 7.2, 7.68, 7.49}},
    {"barth4", 6019, 6019, 40965, 13, 45984, 3319, {12.1, 8.35, 7.2, 4.83, 7.55, 7.17}},
    {"bcsstk08", 1074, 1074, 12960, 339, 58688, 1024, {11.39, 8.1, 7.17, 15.01, 7.62, 7.3}},
    {"bcsstk16", 4884, 4884, 290378, 81, 369344, 7647, {12.06, 8.35, 8.35, 8.51, 8.35, 8.22}},
    {"bcsstk18", 11948, 11948, 149090, 49, 320480, 11468, {12.29, 8.51, 7.55, 6.72, 8.26, 8}},
    {"bcsstk33", 8738, 8738, 591904, 141, 731648, 21717, {13.66, 9.7, 9.41, 10.37, 8.8, 8.48}},
    {"blckhole", 2132, 2132, 14872, 20, 16544, 958, {11.81, 8.32, 7.2, 5.54, 6.98, 6.66}},
    {"blogcatalog", 10312, 10312, 667966, 3992, 7070400, 336299, {15.04, 11.1, 10.53, 0, 11.04, 11.2}},
    {"ca-GrQc", 5242, 5242, 28980, 81, 179072, 13005, {12.7, 8.99, 7.62, 8.45, 8.1, 7.9}},
    {"cage8", 1015, 1015, 11003, 18, 12576, 746, {11.17, 8.29, 7.3, 5.38, 7.46, 7.46}},
    {"can_1054", 1054, 1054, 12196, 35, 21664, 957, {11.39, 8.1, 7.39, 6.34, 7.71, 7.49}},
    {"can_1072", 1072, 1072, 12444, 35, 22176, 1020, {11.42, 8.13, 7.26, 7.17, 7.74, 7.58}},
    {"can_838", 838, 838, 10010, 32, 12672, 667, {11.2, 8.13, 7.26, 5.92, 7.54, 7.17}},
    {"data", 2851, 2851, 30186, 17, 33216, 1133, {11.65, 8.16, 7.17, 5.44, 7.58, 7.26}},
    {"dwt_1005", 1005, 1005, 8621, 27, 15232, 585, {11.2, 8.1, 7.14, 5.76, 7.46, 7.46}},
    {"dwt_1242", 1242, 1242, 10426, 12, 13408, 560, {11.39, 8.1, 7.17, 4.86, 7.65, 7.07}},
    {"dwt_2680", 2680, 2680, 25026, 19, 34752, 1587, {11.46, 8.26, 7.26, 6.11, 7.55, 7.26}},
    {"dwt_992", 992, 992, 16744, 18, 17664, 640, {11.33, 8.45, 7.38, 5.95, 6.11, 5.98}},
    {"well1850", 1850, 712, 8758, 5, 9280, 398, {11.94, 8.74, 7.36, 4.64, 6.18, 5.98}},
    {"laser", 3002, 3002, 9000, 4, 9088, 1260, {12.19, 8.7, 7.17, 4.64, 5.89, 5.79}},
    {"luxembourg_osm", 114599, 114599, 239332, 6, 345920, 49361, {14.05, 9.44, 8, 5.86, 7.23, 7.09}},
    {"maros_BOYD2_A", 279794, 93263, 517047, 10992, 818048, 83004, {16.58, 11.49, 9.5, 0, 9.47, 9.31}},
    {"memplus", 17758, 17758, 126150, 574, 288672, 16471, {12.86, 8.96, 7.62, 28.5, 7.94, 7.78}},
    {"mhd4800a", 4800, 4800, 102252, 33, 158336, 1787, {12, 8.22, 7.39, 7.04, 7.84, 7.65}},
    {"mycielskian9", 383, 383, 14542, 191, 47488, 583, {10.5, 7.58, 6.53, 13.25, 7.36, 7.3}},
    {"nlevp_piston_K", 2025, 2025, 100015, 63, 128192, 1350, {11.74, 8.32, 7.49, 7.46, 7.94, 7.81}},
    {"nlevp_sandwich_beam_3360_Ke", 3360, 3360, 25180, 9, 30240, 873, {11.58, 8.06, 7.1, 5.17, 6.18, 5.82}},
    {"nlevp_utrecht1331_K", 1331, 1331, 20591, 19, 23744, 944, {11.42, 8.13, 7.23, 5.89, 7.06, 6.53}},
    {"nnc1374", 1374, 1374, 8606, 16, 19776, 483, {11.58, 8.29, 7.1, 4.83, 7.46, 7.33}},
    {"nos3", 960, 960, 15844, 18, 16896, 389, {11.17, 8.1, 7.17, 5.73, 7.65, 7.17}},
    {"orsreg_1", 2205, 2205, 14133, 7, 14496, 1509, {11.87, 8.35, 7.23, 4.74, 6.11, 5.98}},
    {"p2p-Gnutella31", 62586, 62586, 147892, 78, 755584, 96292, {14.4, 10.05, 8.29, 9.66, 9.07, 8.74}},
    {"pyamg_bar", 600, 600, 23402, 51, 28832, 661, {11.2, 8.13, 7.14, 8.13, 7.46, 7.39}},
    {"rail_1357", 1357, 1357, 8985, 11, 12384, 1163, {11.55, 8.48, 7.14, 4.86, 7.39, 7.1}},
    {"s1rmq4m1", 5489, 5489, 281111, 54, 290016, 6108, {12.06, 8.32, 8.29, 7.3, 7.3, 7.1}},
    {"usroads", 129164, 129164, 330870, 7, 522528, 66027, {14.21, 9.54, 9.28, 6.72, 7.62, 7.49}},
    {"wang4", 26068, 26068, 177196, 7, 179968, 20508, {12.9, 8.8, 7.84, 5.09, 6.59, 6.46}},
    {"wiki-Vote", 8297, 8297, 103689, 893, 1081184, 31842, {12.93, 8.96, 7.62, 39.17, 8.26, 8.26}},
    {"maros_BOYD1_A", 93279, 93261, 652246, 93261, 3077600, 194342, {17.7, 13.2, 12.7, 0, 9.98, 9.95}},
};

/* The bytes of the arrays, x and y, with `value` bytes per value. */
static int64_t bytes_of(const struct black_box *b, const struct measured *m, int value)
{
    int64_t vectors = value * (m->rows + m->cols), slices = (m->rows + 31) / 32;
    if (b->format == &format_csr) return (value + 4) * m->nnz + 4 * (m->rows + 1) + vectors;
    if (b->format == &format_coo) return (value + 8) * m->nnz + vectors;
    return (value + 4) * m->slots + 4 * 32 * slices + 4 * (slices + 1) + vectors;
}

static bool is_held_out(const struct measured *m)
{
    return (m->rows + 7 * m->nnz) % HOLD_OUT == 0;
}

/* The equations of a least-squares problem: the terms of the time and 1, relative to the measured time. */
struct equations {
    int n, unknowns;
    double row[MATRICES_MAX][TERMS + 1];
    bool held_out[MATRICES_MAX];
};

static struct equations equations_of(int box)
{
    struct equations q = {.unknowns = black_boxes[box].entry_ns > 0 ? TERMS : TERMS - 1};
    for (int i = 0; i < COUNT(data); i++) {
        double us = data[i].us[box];
        if (us == 0) continue;
        double bytes = (double)bytes_of(&black_boxes[box], &data[i], 8);
        q.held_out[q.n] = is_held_out(&data[i]);
        memcpy(q.row[q.n++],
               (double[]){1 / us, bytes / us, (double)data[i].gathers / us, (double)data[i].longest / us, 1},
               sizeof *q.row);
    }
    return q;
}

static int64_t longest_of(int box)
{
    int64_t longest = 0;
    for (int i = 0; i < COUNT(data); i++)
        if (data[i].us[box] > 0 && data[i].longest > longest) longest = data[i].longest;
    return longest;
}

/* Solve n equations, whose right sides are in column n, by elimination with pivots on the diagonal. */
static void solve(int n, double m[TERMS][TERMS + 1], double c[TERMS])
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = n; j >= k; j--) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    for (int k = n - 1; k >= 0; k--) {
        c[k] = m[k][n] / m[k][k];
        for (int i = 0; i < k; i++) m[i][n] -= m[i][k] * c[k];
    }
}

/* Least squares by the normal equations, without the matrices that are held out. */
static void fit(const struct equations *q, double c[TERMS])
{
    double normal[TERMS][TERMS + 1] = {{0}};
    for (int k = 0; k < q->n; k++)
        for (int i = 0; i < q->unknowns && !q->held_out[k]; i++)
            for (int j = 0; j <= q->unknowns; j++)
                normal[i][j] += q->row[k][i] * q->row[k][j < q->unknowns ? j : TERMS];
    memset(c, 0, TERMS * sizeof *c);
    solve(q->unknowns, normal, c);
}

static double relative_error(const double row[TERMS + 1], const double c[TERMS])
{
    double sum = -1;
    for (int i = 0; i < TERMS; i++) sum += row[i] * c[i];
    return fabs(sum);
}

static void assert_near(double stated, double fitted, double tolerance, const char *name)
{
    if (fabs(stated - fitted) > tolerance) fail_msg("%s: %g is stated, but the fit gives %g", name, stated, fitted);
}

/* The constants are those of the fit, to three digits, and the stated error is that of the matrices held out of it. */
TEST(fits_have_the_stated_errors)
{
    for (int box = 0; box < BOXES; box++) {
        const struct black_box *b = &black_boxes[box];
        struct equations q = equations_of(box);
        double c[TERMS], errors = 0;
        int held_out = 0;
        fit(&q, c);
        for (int i = 0; i < q.n; i++) {
            if (!q.held_out[i]) continue;
            errors += relative_error(q.row[i], c);
            held_out++;
        }
        assert_int_equal(q.n - held_out, b->matrices);
        assert_int_equal(longest_of(box), b->longest);
        assert_near(b->launch_us, c[0], 0.05, b->name);
        assert_near(b->gbs, 1e-3 / c[1], 5, b->name);
        assert_near(b->gather_gps, 1e-3 / c[2], 0.5, b->name);
        assert_near(b->entry_ns, 1e3 * c[3], 0.05, b->name);
        assert_near(b->error_percent, 100 * errors / held_out, 0.5, b->name);
    }
    assert_null(black_boxes[BOXES].name);
}

/* Every black box is a library kernel; builds without CUDA lack it. */
TEST(boxes_are_library_kernels)
{
    for (const struct black_box *b = black_boxes; b->name; b++) {
        const struct kernel *k = kernel_find(b->name);
        assert_true(k ? k->vendor && k->format == b->format : kernel_needs_cuda(b->name));
    }
}

/* The facts in the table are those of the generated matrices. */
TEST(a_matrix_has_the_facts_of_the_table)
{
    static const struct {
        int at;
        int64_t p[PARAMS_MAX];
    } made[] = {{18, {27, 24, 0, 0, 1}}, {19, {5, 64, 64, 0, 1}}};
    for (int i = 0; i < COUNT(made); i++) {
        const struct measured *m = &data[made[i].at];
        struct err e = {0};
        struct csr A;
        struct black_box_terms t = {0};
        if (!generator_find("stencil")->make(made[i].p, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        for (const struct black_box *b = black_boxes; b->name; b++) {
            if (!black_box_terms_of(b, &A, P_F64, &t, &e)) fail_msg("%s", e.text);
            assert_int_equal(t.gathers, m->gathers);
            assert_int_equal(t.bytes, bytes_of(b, m, 8));
            assert_int_equal(t.longest, m->longest);
        }
        csr_free(&A);
    }
}

/* x has as many values as A has columns, and y as many as A has rows. */
TEST(bytes_are_those_of_both_vectors)
{
    static const struct measured shapes[] = {
        {"wide", 40, 70, 40 * 70, 70, 64 * 70, 0, {0}},
        {"tall", 70, 40, 70 * 40, 40, 96 * 40, 0, {0}},
        {"one row", 1, 50, 50, 50, 32 * 50, 0, {0}},
        {"one column", 50, 1, 50, 1, 64, 0, {0}},
    };
    for (int i = 0; i < COUNT(shapes); i++) {
        const struct measured *m = &shapes[i];
        struct err e = {0};
        struct csr A;
        struct black_box_terms t = {0};
        assert_true(generator_find("dense")->make((int64_t[PARAMS_MAX]){m->rows, m->cols}, 1, NULL, &A, &e));
        for (const struct black_box *b = black_boxes; b->name; b++)
            for (int single = 0; single < 2; single++) {
                if (!black_box_terms_of(b, &A, single ? P_F32 : P_F64, &t, &e)) fail_msg("%s: %s", m->matrix, e.text);
                if (t.bytes != bytes_of(b, m, single ? 4 : 8) || t.longest != m->longest)
                    fail_msg("%s, %s: %lld bytes", m->matrix, b->name, (long long)t.bytes);
            }
        csr_free(&A);
    }
}

/* A fit says nothing about a matrix with longer rows than those that were measured. */
TEST(longer_rows_are_not_fitted)
{
    struct err e = {0};
    struct csr A;
    struct black_box_terms t = {0};
    assert_true(generator_find("dense")->make((int64_t[PARAMS_MAX]){900, 900}, 1, NULL, &A, &e));
    for (const struct black_box *b = black_boxes; b->name; b++) {
        err_clear(&e);
        bool ok = black_box_terms_of(b, &A, P_F64, &t, &e);
        assert_int_equal(ok, A.cols <= b->longest);
        if (!ok)
            assert_string_equal(e.text, "its time was fitted to rows of at most 893 entries, but a row of this "
                                        "matrix has 900");
    }
    csr_free(&A);
}
