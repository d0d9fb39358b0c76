/* Statistics, symmetry, histograms and density pictures, compared with naive counts on a dense array. */
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/collection.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "matrix/gathers.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/rows.h"
#include "matrix/stats.h"
#include "matrix/window.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

static int by_length(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void assert_lengths(const struct csr *A, const struct stats *s)
{
    int64_t n = A->rows, *length = mem_new(n, sizeof *length, "lengths", NULL);
    double sum = 0;
    for (int64_t r = 0; r < n; r++) length[r] = csr_row_length(A, r);
    for (int k = 0; k < s->nlongest; k++) {
        int64_t before = 0, mine = s->longest[k];
        for (int64_t r = 0; r < n; r++) before += length[r] > length[mine] || (length[r] == length[mine] && r < mine);
        assert_int_equal(before, k);
    }
    assert_int_equal(s->nlongest, n < 8 ? n : 8);
    qsort(length, (size_t)n, sizeof *length, by_length);
    for (int64_t r = 0; r < n; r++) sum += pow((double)length[r] - s->row_mean, 2);
    if (n) {
        assert_true(s->row_min == length[0] && s->row_max == length[n - 1]);
        assert_true(s->row_median == (double)(length[(n - 1) / 2] + length[n / 2]) / 2);
        assert_true(s->row_mean == (double)A->nnz / (double)n);
        assert_true(fabs(s->row_std - sqrt(sum / (double)n)) <= 1e-12 * (1 + s->row_std));
    }
    mem_free(length);
}

static double size_at(const struct csr *A, int64_t k)
{
    return A->imag ? hypot(A->val[k], A->imag[k]) : fabs(A->val[k]);
}

/* Compute all statistics over entries, one entry at a time. */
static struct stats counted(const struct csr *A)
{
    struct stats s = {.value_min = INFINITY, .value_max = -INFINITY};
    char *diagonal = mem_zero(A->rows + A->cols, 1, "diagonals", NULL);
    for (int64_t r = 0; r < A->rows; r++) {
        double mine = 0, others = 0;
        for (int64_t k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
            int64_t away = A->col[k] - r;
            double v = A->imag ? size_at(A, k) : A->val[k];
            *(away ? &others : &mine) += size_at(A, k);
            if (llabs(away) > s.bandwidth) s.bandwidth = llabs(away);
            s.diagonals += !diagonal[away + A->rows];
            diagonal[away + A->rows] = 1;
            s.explicit_zeros += size_at(A, k) == 0;
            s.value_min = fmin(s.value_min, v);
            s.value_max = fmax(s.value_max, v);
        }
        s.empty_rows += A->rowptr[r] == A->rowptr[r + 1];
        s.zero_diagonal += A->rows == A->cols && mine == 0;
        s.dominant_rows += A->rows == A->cols && mine > 0 && mine >= others;
    }
    if (A->nnz == 0) s.value_min = s.value_max = 0;
    mem_free(diagonal);
    return s;
}

static void assert_symmetry(const struct csr *A, const struct stats *s)
{
    struct csr T;
    assert_true(csr_transpose(&T, A, NULL));
    bool pattern = A->rows == A->cols && !memcmp(A->rowptr, T.rowptr, (size_t)(A->rows + 1) * sizeof *A->rowptr) &&
                   !memcmp(A->col, T.col, (size_t)A->nnz * sizeof *A->col);
    assert_int_equal(s->symmetry.pattern, pattern);
    assert_int_equal(s->symmetry.values, pattern && csr_equal(A, &T));
    csr_free(&T);
}

TEST(statistics_agree_with_naive_counts)
{
    for (const struct shape *shape = shapes; shape->name; shape++) {
        struct csr A = shape_csr(shape, 21);
        if (A.nnz && !shape->mirrored && !A.imag) A.val[A.nnz / 2] = 0;
        struct stats s, n = counted(&A);
        assert_true(stats_of(&A, NULL, &s, NULL));
        assert_lengths(&A, &s);
        assert_symmetry(&A, &s);
        assert_true(s.bandwidth == n.bandwidth && s.diagonals == n.diagonals && s.empty_rows == n.empty_rows);
        assert_true(s.explicit_zeros == n.explicit_zeros && s.zero_diagonal == n.zero_diagonal);
        assert_true(s.dominant_rows == n.dominant_rows);
        assert_true(s.value_min == n.value_min && s.value_max == n.value_max);
        csr_free(&A);
    }
}

static struct csr two_by_two(const double v[4])
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    struct csr A;
    assert_true(csr_from_triplets(&A, 2, 2, 4, row, col, v, NULL, NULL, NULL));
    return A;
}

TEST(symmetry_is_exact_or_up_to_rounding)
{
    static const struct {
        double v[4];
        bool values, rounding;
    } cases[] = {
        {{1, 2, 2, 3}, true, true},
        {{1, 2, 2.0000000000000004, 3}, false, true},
        {{1, 0.0, -0.0, 3}, true, true},
        {{1, 0, 0, 1}, true, true},
        {{1, NAN, NAN, 1}, false, false},
        {{NAN, 1, 1, 1}, false, false},
        {{1, 2, -2, 1}, false, false},
        {{1, INFINITY, INFINITY, 1}, true, true},
        {{2, 1e-17, 0, 3}, false, true},
        {{2, 1e-9, 0, 3}, false, false},
        {{1e9, 1e-9, 0, 1}, false, false}, /* small beside row 0, but not beside row 1 */
        {{INFINITY, 1, 2, INFINITY}, false, false},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A = two_by_two(cases[i].v);
        struct stats s;
        assert_true(stats_of(&A, NULL, &s, NULL));
        if (!s.symmetry.pattern || s.symmetry.values != cases[i].values || s.symmetry.rounding != cases[i].rounding)
            fail_msg("case %d: values %d, rounding %d", i, s.symmetry.values, s.symmetry.rounding);
        csr_free(&A);
    }
}

static struct symmetry symmetry_of_triplets(int n, const int *row, const int *col, const double *re, const double *im)
{
    struct csr A;
    struct symmetry s;
    assert_true(csr_from_triplets(&A, 3, 3, n, row, col, re, im, NULL, NULL));
    assert_true(symmetry_of(&A, NULL, &s, NULL));
    csr_free(&A);
    return s;
}

TEST(an_entry_that_is_not_stored_is_0)
{
    static const int row[] = {0, 0, 1, 1, 2, 2}, col[] = {0, 1, 1, 2, 1, 2};
    static const double zero[] = {4, 0, 3, 1, 1, 5}, tiny[] = {4, 3e-16, 3, 1, 1, 5}, one[] = {4, 1, 3, 1, 1, 5};
    struct symmetry s = symmetry_of_triplets(6, row, col, zero, NULL);
    assert_true(!s.pattern && s.values && s.hermitian && s.rounding && s.gap == 0);
    s = symmetry_of_triplets(6, row, col, tiny, NULL);
    assert_true(!s.pattern && !s.values && s.rounding && fabs(s.gap - 6e-17) < 1e-30);
    s = symmetry_of_triplets(6, row, col, one, NULL);
    assert_true(!s.pattern && !s.values && !s.rounding);
}

TEST(complex_symmetry_is_that_of_the_conjugate_transpose)
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double re[] = {2, 1, 1, 2}, conjugates[] = {0, 1, -1, 0}, equal[] = {0, 1, 1, 0},
                        almost[] = {1e-16, 1, -1.0000000000000002, 0};
    struct symmetry s = symmetry_of_triplets(4, row, col, re, conjugates);
    assert_true(s.hermitian && s.rounding && !s.values && s.gap == 0);
    s = symmetry_of_triplets(4, row, col, re, equal);
    assert_true(!s.hermitian && !s.rounding && s.values);
    s = symmetry_of_triplets(4, row, col, re, almost);
    assert_true(!s.hermitian && s.rounding && !s.values && s.gap > 0 && s.gap < 2e-16);
}

/* A matrix large enough for several threads; a missing entry must be noticed on either side of the diagonal, wherever
   the entry is. */
TEST(one_missing_entry_breaks_symmetry)
{
    const int64_t p[PARAMS_MAX] = {300, 300};
    int threads = omp_get_max_threads();
    struct csr A, B;
    struct stats s;
    uint64_t random = 5;
    assert_true(generator_find("poisson2d")->make(p, 0, NULL, &A, NULL));
    for (int i = 0; i < 40; i++) {
        omp_set_num_threads(i % 5 + 1);
        assert_true(stats_of(&A, NULL, &s, NULL) && s.symmetry.pattern && s.symmetry.values);
        assert_true(csr_copy(&B, &A, NULL));
        int64_t k = (int64_t)(random_next(&random) % (uint64_t)A.nnz), row = 0;
        while (A.rowptr[row + 1] <= k) row++;
        B.val[k] *= A.col[k] == row ? 1 : 2;
        assert_true(stats_of(&B, NULL, &s, NULL) && s.symmetry.pattern && s.symmetry.values == (A.col[k] == row));
        memmove(B.col + k, B.col + k + 1, (size_t)(B.nnz - k - 1) * sizeof *B.col);
        B.nnz--;
        for (int64_t r = row; r < B.rows; r++) B.rowptr[r + 1]--;
        assert_true(stats_of(&B, NULL, &s, NULL) && s.symmetry.pattern == (A.col[k] == row));
        csr_free(&B);
    }
    omp_set_num_threads(threads);
    csr_free(&A);
}

/* ---- histogram ---- */

static struct csr rows_of_lengths(int n, const int *length)
{
    struct csr A;
    int64_t nnz = 0, cols = 1;
    for (int r = 0; r < n; r++) {
        nnz += length[r];
        if (length[r] > cols) cols = length[r];
    }
    assert_true(csr_new(&A, n, cols, nnz, false, NULL));
    for (int r = 0; r < n; r++) {
        A.rowptr[r + 1] = A.rowptr[r] + length[r];
        for (int k = 0; k < length[r]; k++) A.col[A.rowptr[r] + k] = k;
    }
    return A;
}

TEST(the_median_of_an_even_number_is_between)
{
    static const int length[] = {9, 1, 5, 2};
    static const double median[] = {9, 5, 5, 3.5};
    for (int n = 1; n <= 4; n++) {
        struct csr A = rows_of_lengths(n, length);
        struct stats s;
        for (int64_t k = 0; k < A.nnz; k++) A.val[k] = 1;
        assert_true(stats_of(&A, NULL, &s, NULL) && s.row_median == median[n - 1]);
        csr_free(&A);
    }
}

/* Lengths 2, 0, 1, 2, 0, 3: the ranks are those of a stable sort. */
TEST(ranks_number_rows_by_length)
{
    static const int row[] = {0, 0, 2, 3, 3, 5, 5, 5}, col[] = {0, 1, 0, 0, 1, 0, 1, 2};
    static const double val[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t ranks[] = {3, 0, 2, 4, 1, 5}, lengths[] = {0, 0, 1, 2, 2, 3};
    struct csr A;
    struct row_lengths l;
    assert_true(csr_from_triplets(&A, 6, 3, 8, row, col, val, NULL, NULL, NULL) && row_lengths_of(&A, &l, NULL));
    for (int64_t r = 0; r < 6; r++) {
        assert_int_equal(rank_of_row(&l, r), ranks[r]);
        assert_int_equal(row_at_rank(&l, ranks[r]), r);
        assert_int_equal(row_length_at(&l, r), lengths[r]);
    }
    /* the smallest length that is at least as long as this share of the rows */
    assert_int_equal(row_length_quantile(&l, 0), 0);
    assert_int_equal(row_length_quantile(&l, 33), 0);
    assert_int_equal(row_length_quantile(&l, 34), 1);
    assert_int_equal(row_length_quantile(&l, 50), 1);
    assert_int_equal(row_length_quantile(&l, 51), 2);
    assert_int_equal(row_length_quantile(&l, 100), 3);
    row_lengths_free(&l);
    csr_free(&A);
}

TEST(histograms_have_the_expected_bins)
{
    static const struct {
        int n, length[6], bins, expected;
        bool log;
        int64_t from[8], count[7];
    } cases[] = {
        {0, {0}, 8, 0, false, {0}, {0}},
        {3, {0, 0, 0}, 8, 1, false, {0, 1}, {3}},
        {4, {7, 7, 7, 7}, 8, 1, false, {7, 8}, {4}},
        {1, {100000}, 8, 1, false, {100000, 100001}, {1}},
        {5, {3, 4, 4, 5, 3}, 8, 3, false, {3, 4, 5, 6}, {2, 2, 1}},
        {4, {0, 3, 4, 7}, 4, 4, false, {0, 2, 4, 6, 8}, {1, 1, 1, 1}},
        {6, {0, 1, 2, 3, 4, 20}, 6, 6, true, {0, 1, 2, 4, 8, 16, 32}, {1, 1, 2, 1, 0, 1}},
        {3, {5, 6, 40}, 6, 4, true, {4, 8, 16, 32, 64}, {2, 0, 0, 1}},
        {4, {0, 1, 9, 100000}, 5, 5, true, {0, 1, 32, 1024, 32768, 1048576}, {1, 2, 0, 0, 1}},
        {3, {0, 9, 100}, 1, 1, false, {0, 101}, {3}},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A = rows_of_lengths(cases[i].n, cases[i].length);
        struct histogram h;
        int64_t most = 0;
        histogram_of(&A, cases[i].bins, &h);
        if (h.n != cases[i].expected || h.log != cases[i].log) fail_msg("case %d: %d bins", i, h.n);
        for (int k = 0; k < h.n; k++) {
            if (h.from[k] != cases[i].from[k] || h.count[k] != cases[i].count[k])
                fail_msg("case %d: bin %d from %lld holds %lld", i, k, (long long)h.from[k], (long long)h.count[k]);
            if (h.count[k] > most) most = h.count[k];
        }
        assert_true(h.most == most && h.from[h.n] == cases[i].from[h.n]);
        csr_free(&A);
    }
}

TEST(every_row_is_in_its_bin)
{
    for (const struct shape *s = shapes; s->name; s++)
        for (int bins = -1; bins <= 70; bins += 1 + (int)(s->rows / 500)) {
            struct csr A = shape_csr(s, 8);
            struct histogram h;
            histogram_of(&A, bins, &h);
            assert_in_range(h.n, A.rows > 0, bins < 1 ? 1 : bins < 64 ? bins : 64);
            for (int k = 0; k < h.n; k++) {
                int64_t in = 0;
                for (int64_t r = 0; r < A.rows; r++)
                    in += csr_row_length(&A, r) >= h.from[k] && csr_row_length(&A, r) < h.from[k + 1];
                assert_int_equal(h.count[k], in);
            }
            csr_free(&A);
        }
}

/* ---- density ---- */

enum { CELLS_MAX = 64 * 64 };

static void naive_density(const struct csr *A, struct window w, int h, int width, uint32_t *cells)
{
    for (int64_t r = 0; r < A->rows; r++)
        for (int64_t k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
            int64_t c = A->col[k];
            if (r < w.row0 || r >= w.row1 || c < w.col0 || c >= w.col1) continue;
            int64_t y = (r - w.row0) * h / (w.row1 - w.row0), x = (c - w.col0) * width / (w.col1 - w.col0);
            cells[y * width + x]++;
        }
}

static int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(random_next(state) % (uint64_t)n);
}

static void assert_density(const struct csr *A, struct window w, int h, int width)
{
    static uint32_t cells[CELLS_MAX], naive[CELLS_MAX];
    memset(cells, 0, sizeof cells);
    memset(naive, 0, sizeof naive);
    naive_density(A, w, h, width, naive);
    assert_true(density_of(A, w, h, width, cells, NULL, NULL));
    assert_memory_equal(cells, naive, sizeof cells);
}

/* Windows inside, outside and across the edges; more and fewer cells than rows. */
TEST(density_agrees_with_naive_counts)
{
    uint64_t random = 9;
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 13);
        for (int i = 0; i < 60; i++) {
            struct window w = {.row0 = random_below(&random, A.rows + 3) - 2,
                               .col0 = random_below(&random, A.cols + 3) - 2};
            w.row1 = w.row0 + 1 + random_below(&random, A.rows + 5);
            w.col1 = w.col0 + 1 + random_below(&random, A.cols + 5);
            if (i == 0) w = (struct window){0, A.rows ? A.rows : 1, 0, A.cols ? A.cols : 1};
            assert_density(&A, w, 1 + (int)random_below(&random, 64), 1 + (int)random_below(&random, 64));
        }
        csr_free(&A);
    }
}

/* Sizes near the limit, where a rounded reciprocal would give wrong cells. */
TEST(density_is_exact_at_the_largest_columns)
{
    const int64_t cols = INT32_MAX;
    struct csr A;
    for (int width = 1; width <= 64; width += 7) {
        int row[128], col[128], n = 0;
        double val[128] = {0};
        for (int x = 1; x <= width && n < 126; x++) {
            int64_t border = (x * cols + width - 1) / width;
            row[n] = row[n + 1] = 0;
            col[n++] = (int)border - 1;
            if (border < cols) col[n++] = (int)border;
        }
        assert_true(csr_from_triplets(&A, 1, cols, n, row, col, val, NULL, NULL, NULL));
        assert_density(&A, (struct window){0, 1, 0, cols}, 1, width);
        csr_free(&A);
    }
}

TEST(a_symmetric_matrix_gives_a_symmetric_picture)
{
    static uint32_t cells[CELLS_MAX];
    for (const struct shape *s = shapes; s->name; s++) {
        if (!s->mirrored) continue;
        struct csr A = shape_csr(s, 3);
        for (int n = 1; n <= 64; n += 9) {
            memset(cells, 0, sizeof cells);
            assert_true(density_of(&A, (struct window){0, A.rows, 0, A.cols}, n, n, cells, NULL, NULL));
            for (int y = 0; y < n; y++)
                for (int x = 0; x < y; x++) assert_int_equal(cells[y * n + x], cells[x * n + y]);
        }
        csr_free(&A);
    }
}

TEST(empty_windows_hold_nothing)
{
    struct csr A = shape_csr(&shapes[6], 3);
    static const struct window none[] = {{0, 0, 0, 5}, {3, 3, 3, 3}, {5, 2, 0, 5}, {100, 200, 0, 5}, {-9, 0, 0, 5}};
    for (int i = 0; i < COUNT(none); i++) {
        uint32_t cells[4] = {0};
        assert_true(density_of(&A, none[i], 2, 2, cells, NULL, NULL));
        assert_int_equal(cells[0] | cells[1] | cells[2] | cells[3], 0);
    }
    struct err e = {0};
    assert_false(density_of(&A, (struct window){0, INT64_MAX, 0, 5}, 2, 2, NULL, NULL, &e));
    assert_int_equal(e.code, E_LIMIT);
    csr_free(&A);
}

/* ---- real matrices ---- */

/* The number in this column of INDEX.tsv; columns are counted from 0. */
static double index_field(const char *line, int column)
{
    for (; column > 0; column--) line = strchr(line, '\t') + 1;
    return strtod(line, NULL);
}

static bool agrees_with_line(const char *line, const struct csr *A, const struct stats *s)
{
    return A->rows == index_field(line, 1) && A->cols == index_field(line, 2) && A->nnz == index_field(line, 7) &&
           s->explicit_zeros == index_field(line, 8) && fabs(s->row_mean - index_field(line, 9)) < 0.0051 &&
           s->row_max == index_field(line, 10) && s->empty_rows == index_field(line, 11) &&
           s->bandwidth == index_field(line, 12) && s->diagonals == index_field(line, 13);
}

TEST(real_matrices_agree_with_their_index)
{
    const char *folder;
    char path[1024], line[4096];
    struct load_info info;
    int agreed = 0;
    FILE *index = collection_index("the matrices of INDEX.tsv", &folder);
    if (!index) return;
    for (bool heading = true; fgets(line, sizeof line, index); heading = false) {
        if (heading) continue;
        struct csr A;
        struct stats s;
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%.*s.mtx.gz", folder, (int)strcspn(line, "\t"), line);
        if (!mtx_load(path, NULL, &A, &info, &e) || !stats_of(&A, NULL, &s, &e)) fail_msg("%s: %s", path, e.text);
        if (!agrees_with_line(line, &A, &s)) fail_msg("%s: %s", path, line);
        if (!strcmp(info.symmetry, "symmetric") && !s.symmetry.values) fail_msg("%s is not symmetric", path);
        csr_free(&A);
        agreed++;
    }
    fclose(index);
    print_message("%d matrices agree\n", agreed);
    assert_true(agreed > 0);
}

/* ---- failure ---- */

static bool go_stats(const void *user, struct err *e)
{
    struct stats s;
    return stats_of(user, NULL, &s, e);
}

TEST(every_allocation_may_fail)
{
    const int64_t p[PARAMS_MAX] = {300, 300};
    struct csr A;
    assert_true(generator_find("poisson2d")->make(p, 0, NULL, &A, NULL));
    assert_true(fail_each(go_stats, &A) >= 3);
    csr_free(&A);
}

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done <= total);
    return --*(int *)w->user > 0;
}

TEST(work_stops_when_asked)
{
    struct csr A = shape_csr(&shapes[16], 1);
    for (int n = 1; n < 20; n++) {
        int left = n;
        struct watch w = {stop_at, &left};
        struct err e = {0};
        struct stats s;
        if (stats_of(&A, &w, &s, &e)) {
            assert_true(n >= 3 && s.symmetry.values);
            break;
        }
        assert_int_equal(e.code, E_CANCELLED);
    }
    int left = 1;
    uint32_t cell = 0;
    struct err e = {0};
    assert_false(density_of(&A, (struct window){0, 9, 0, 9}, 1, 1, &cell, &(struct watch){stop_at, &left}, &e));
    assert_int_equal(e.code, E_CANCELLED);
    csr_free(&A);
}

/* ---- gathers ---- */

/* The distinct sectors of the entries from .. end-1. */
static int64_t naive_sectors(const struct csr *A, int values, int64_t from, int64_t end)
{
    int64_t n = 0;
    bool *seen = mem_zero(A->cols + 1, sizeof *seen, "sectors", NULL);
    for (int64_t k = from; k < end; k++) {
        n += !seen[A->col[k] / values];
        seen[A->col[k] / values] = true;
    }
    mem_free(seen);
    return n;
}

static int64_t naive_gathers(const struct csr *A, int values)
{
    int64_t n = 0;
    for (int64_t from = 0; from < A->rows; from += ROWS_AT_ONCE) {
        int64_t end = from + ROWS_AT_ONCE < A->rows ? from + ROWS_AT_ONCE : A->rows;
        n += naive_sectors(A, values, A->rowptr[from], A->rowptr[end]);
    }
    return n;
}

static int64_t naive_gathers_in_runs(const struct csr *A, int values, int64_t entries)
{
    int64_t n = 0;
    for (int64_t from = 0; from < A->nnz; from += entries)
        n += naive_sectors(A, values, from, from + entries < A->nnz ? from + entries : A->nnz);
    return n;
}

/* For groups of rows and for runs of entries, the number of sectors gathered agrees with a naive count, on one thread
   and on several. */
TEST(gathers_are_counted)
{
    static const struct {
        const char *generator;
        int64_t p[PARAMS_MAX];
    } problems[] = {{"random", {0, 4, 9}},       {"random", {5000, 7, 300}}, {"random", {5000, 70, 90000}},
                    {"poisson2d", {100, 41, 0}}, {"rmat", {13, 12}},         {"circuit", {3000, 3}}};
    for (int i = 0; i < COUNT(problems); i++)
        for (int values = 1; values <= 8; values *= 2) {
            struct csr A;
            struct err e = {0};
            int64_t n;
            if (!generator_find(problems[i].generator)->make(problems[i].p, 1, NULL, &A, &e)) fail_msg("%s", e.text);
            if (!csr_gathers(&A, values, &n, &e)) fail_msg("%s", e.text);
            assert_int_equal(n, naive_gathers(&A, values));
            if (!csr_gathers_in_runs(&A, values, 1000, &n, &e)) fail_msg("%s", e.text);
            assert_int_equal(n, naive_gathers_in_runs(&A, values, 1000));
            csr_free(&A);
        }
}
