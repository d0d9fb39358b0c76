/* The matching of rows and columns, and the orderings made of it. Scales with which the matched entries are 1 and no
   other entry is larger prove that no product is larger, so each matching is checked without another algorithm. Small
   matrices are compared with all permutations, real matrices with scipy (kits/make_matching_table.py). */
#include "base/base.h"
#include "base/mem.h"
#include "base/watch.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/matching.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "matrix/reorder.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"

#include <math.h>

enum { SMALL = 6, BLANKS = 3 };

/* ---- the proof ---- */

static void check_scales(const char *what, const struct csr *A, const struct matching *m)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double size = csr_abs(A, k);
            if (size == 0) continue;
            double log = log2(size) + m->row_log[i] + m->col_log[A->col[k]];
            double room = 1e-12 * (1 + fabs(m->row_log[i]) + fabs(m->col_log[A->col[k]]) + fabs(log2(size)));
            if (m->row[A->col[k]] == i ? fabs(log) > room : log > room)
                fail_msg("%s: entry (%ld, %d) is scaled to 2^%g", what, (long)i, A->col[k], log);
        }
}

static void check_rows(const char *what, const struct csr *A, const struct matching *m)
{
    char *seen = calloc((size_t)m->n + 1, 1);
    int64_t rank = 0;
    assert_non_null(seen);
    for (int64_t j = 0; j < m->n; j++) {
        int i = m->row[j];
        if (i < 0) continue;
        int64_t k = csr_find(A, i, j);
        if (seen[i]++ || k < 0 || csr_abs(A, k) == 0) fail_msg("%s: row %d for column %ld", what, i, (long)j);
        rank++;
    }
    if (rank != m->rank) fail_msg("%s: rank %ld, but %ld entries", what, (long)m->rank, (long)rank);
    free(seen);
}

/* Returns the rank. */
static int64_t check_matching(const char *what, const struct csr *A)
{
    struct matching m;
    struct err e = {0};
    if (!matching_find(&m, A, NULL, &e)) fail_msg("%s: %s", what, e.text);
    check_rows(what, A, &m);
    int64_t rank = m.rank;
    if (rank == m.n) check_scales(what, A, &m);
    matching_free(&m);
    return rank;
}

/* ---- all permutations of small matrices ---- */

/* The most nonzero entries in rows `row` and after, in columns that are not used. */
static int best_rank(double a[SMALL][SMALL], int row, unsigned used)
{
    int best = row < SMALL ? best_rank(a, row + 1, used) : 0;
    for (int j = 0; row < SMALL && j < SMALL; j++)
        if (a[row][j] != 0 && !(used >> j & 1)) {
            int rank = 1 + best_rank(a, row + 1, used | 1u << j);
            best = rank > best ? rank : best;
        }
    return best;
}

static double best_product(double a[SMALL][SMALL], int row, unsigned used)
{
    double best = row < SMALL ? 0 : 1;
    for (int j = 0; row < SMALL && j < SMALL; j++)
        if (!(used >> j & 1)) best = fmax(best, fabs(a[row][j]) * best_product(a, row + 1, used | 1u << j));
    return best;
}

/* `kinds` values, so that many products are equal; 0 may be stored. */
static struct csr random_small(double a[SMALL][SMALL], uint64_t *seed, int kinds)
{
    struct csr A;
    int row[SMALL * SMALL], col[SMALL * SMALL], n = 0;
    double val[SMALL * SMALL];
    for (int i = 0; i < SMALL; i++)
        for (int j = 0; j < SMALL; j++) {
            bool stored = random_next(seed) % BLANKS == 0;
            a[i][j] = stored ? (double)(random_next(seed) % (uint64_t)kinds) - 1 : 0;
            if (stored) row[n] = i, col[n] = j, val[n++] = a[i][j];
        }
    assert_true(csr_from_triplets(&A, SMALL, SMALL, n, row, col, val, NULL, NULL, NULL));
    return A;
}

TEST(no_permutation_has_a_larger_product_or_rank)
{
    uint64_t seed = 3;
    int full = 0;
    for (int t = 0; t < 3000; t++) {
        double a[SMALL][SMALL], product = 1;
        struct csr A = random_small(a, &seed, t % 2 ? 3 : 40);
        struct matching m;
        check_matching("a small matrix", &A);
        assert_true(matching_find(&m, &A, NULL, NULL));
        assert_int_equal(m.rank, best_rank(a, 0, 0));
        for (int j = 0; m.rank == SMALL && j < SMALL; j++) product *= fabs(a[m.row[j]][j]);
        if (m.rank == SMALL && fabs(product - best_product(a, 0, 0)) > 1e-12 * product)
            fail_msg("product %g, the largest is %g", product, best_product(a, 0, 0));
        full += m.rank == SMALL;
        matching_free(&m);
        csr_free(&A);
    }
    assert_true(full > 100 && full < 2900);
}

/* ---- shapes ---- */

TEST(shapes_have_a_proof)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = s->complex_values ? shape_csr_complex(s, 5) : shape_csr(s, 5);
        struct err e = {0};
        struct matching m;
        if (A.rows == A.cols)
            check_matching(s->name, &A);
        else {
            assert_false(matching_find(&m, &A, NULL, &e));
            assert_non_null(strstr(e.text, "only a square matrix has a diagonal"));
        }
        csr_free(&A);
    }
}

/* n rows with `each` random entries from 2^-30 to 2^30, a full first row, and a diagonal that moves by `shift`. */
static struct csr made_random(int64_t n, int64_t each, int64_t shift, uint64_t seed)
{
    struct csr A;
    int64_t nnz = n * (each + 1) + n, k = 0;
    int *row = malloc((size_t)nnz * sizeof *row), *col = malloc((size_t)nnz * sizeof *col);
    double *val = malloc((size_t)nnz * sizeof *val);
    assert_true(row && col && val);
    for (int64_t i = 0; i < n; i++)
        for (int64_t p = 0; p <= each + (i == 0 ? n - 1 : 0); p++, k++) {
            row[k] = (int)i;
            col[k] = (int)(i == 0 && p > each ? p - each
                           : p == each        ? (i + shift) % n
                                              : (int64_t)(random_next(&seed) % (uint64_t)n));
            val[k] = ldexp(0.5 + random_unit(&seed), (int)(random_next(&seed) % 60) - 30);
        }
    assert_true(csr_from_triplets(&A, n, n, k, row, col, val, NULL, NULL, NULL));
    free(row);
    free(col);
    free(val);
    return A;
}

TEST(random_matrices_have_a_proof)
{
    for (int n = 1; n <= 3000; n = 3 * n + 1) {
        struct csr A = made_random(n, 4, n / 3, (uint64_t)n);
        assert_int_equal(check_matching("random", &A), n);
        csr_free(&A);
    }
}

/* Many scales are proofs. Those of a matrix that needs none are 1, although other columns compete. */
TEST(scales_are_no_larger_than_they_must_be)
{
    enum { N = 200 };
    int row[3 * N], col[3 * N], n = 0;
    double val[3 * N];
    struct csr A;
    struct matching m;
    for (int i = 0; i < N; i++) {
        row[n] = col[n] = i, val[n++] = 1;
        if (i + 1 < N) row[n] = i, col[n] = i + 1, val[n++] = 0.75 + 0.001 * i;
        if (i + 9 < N) row[n] = i, col[n] = i + 9, val[n++] = 1e-3;
    }
    assert_true(csr_from_triplets(&A, N, N, n, row, col, val, NULL, NULL, NULL));
    assert_true(matching_find(&m, &A, NULL, NULL));
    for (int i = 0; i < N; i++) assert_true(fabs(m.row_log[i]) < 1e-12 && fabs(m.col_log[i]) < 1e-12);
    matching_free(&m);
    csr_free(&A);
}

TEST(nan_and_inf_are_refused_with_their_place)
{
    int row[] = {0, 1, 1}, col[] = {0, 0, 1};
    double val[] = {1, 2, NAN};
    struct csr A;
    struct matching m;
    for (int i = 0; i < 2; i++, val[2] = -INFINITY) {
        struct err e = {0};
        assert_true(csr_from_triplets(&A, 2, 2, 3, row, col, val, NULL, NULL, NULL));
        assert_false(matching_find(&m, &A, NULL, &e));
        assert_non_null(strstr(e.text, "row 1, column 1 is NaN or inf"));
        assert_null(m.row);
        csr_free(&A);
    }
}

/* Rows without a path are given up once: this takes as long as one pass, not one for each row. */
TEST(many_rows_without_a_column)
{
    enum { N = 100000 };
    int *row = malloc(2 * N * sizeof *row), *col = malloc(2 * N * sizeof *col);
    double *val = malloc(2 * N * sizeof *val);
    struct csr A;
    assert_true(row && col && val);
    for (int i = 0; i < 2 * N; i++) {
        row[i] = i / 2;
        col[i] = (i / 2 + i % 2) % (N / 2);
        val[i] = 1 + i % 7;
    }
    assert_true(csr_from_triplets(&A, N, N, 2 * N, row, col, val, NULL, NULL, NULL));
    assert_int_equal(check_matching("half of the columns", &A), N / 2);
    csr_free(&A);
    free(row);
    free(col);
    free(val);
}

/* ---- failures ---- */

static bool find_once(const void *user, struct err *e)
{
    struct matching m;
    if (!matching_find(&m, user, NULL, e)) return false;
    matching_free(&m);
    return true;
}

static const struct ordering *failing;

static bool move_once(const void *user, struct err *e)
{
    struct moves v;
    struct csr B;
    const struct csr *A = user;
    if (!reorder_moves(failing, A, &v, NULL, e)) return false;
    bool ok = reorder_apply_moves(&B, A, v.rows, v.cols, NULL, e);
    if (ok) csr_free(&B);
    moves_free(&v);
    return ok;
}

TEST(each_allocation_may_fail)
{
    struct csr A = made_random(30, 4, 3, 1);
    assert_true(fail_each(find_once, &A) >= 6);
    for (int i = 0; orderings[i]; i++)
        if ((failing = orderings[i])->order_sides) assert_true(fail_each(move_once, &A) > 10);
    csr_free(&A);
}

static bool stop_after(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return --*(int *)w->user > 0;
}

TEST(a_search_can_be_cancelled)
{
    struct csr A = made_random(20000, 6, 7, 2);
    int calls = 1 << 30;
    struct watch w = {stop_after, &calls};
    struct matching m;
    assert_true(matching_find(&m, &A, &w, NULL));
    matching_free(&m);
    calls = (1 << 30) - calls;
    assert_true(calls > 3);
    for (int n = 1; n <= calls; n += 1 + calls / 8) {
        int left = n;
        struct err e = {0};
        struct watch at = {stop_after, &left};
        assert_false(matching_find(&m, &A, &at, &e));
        assert_int_equal(e.code, E_CANCELLED);
    }
    csr_free(&A);
}

/* ---- the orderings ---- */

/* B = P A Q', entry by entry */
static void check_moved(const struct csr *A, const struct csr *B, const struct moves *v)
{
    assert_true(csr_check(B, NULL));
    assert_int_equal(A->nnz, B->nnz);
    for (int64_t i = 0; i < B->rows; i++)
        for (int k = B->rowptr[i]; k < B->rowptr[i + 1]; k++) {
            int64_t at = csr_find(A, v->rows[i], v->cols[B->col[k]]);
            assert_true(at >= 0 && A->val[at] == B->val[k] && (!A->imag || A->imag[at] == B->imag[k]));
        }
}

static bool diagonal_is_filled(const struct csr *B)
{
    for (int64_t i = 0; i < B->rows; i++) {
        int64_t k = csr_find(B, i, i);
        if (k < 0 || csr_abs(B, k) == 0) return false;
    }
    return true;
}

/* In a block triangular form, each column that is left of the diagonal belongs to the block of the row. Returns the
   number of blocks if no block can be split: the rows from a diagonal entry up to the furthest entry below it. */
static int64_t blocks_of(const struct csr *B, int64_t *largest)
{
    int64_t blocks = 0, first = 0, *low = malloc(((size_t)B->rows + 1) * sizeof *low);
    assert_non_null(low);
    *largest = 0;
    for (int64_t i = B->rows; i-- > 0;) { /* the least column of the rows from i on */
        low[i] = csr_row_length(B, i) ? B->col[B->rowptr[i]] : i;
        if (i + 1 < B->rows && low[i + 1] < low[i]) low[i] = low[i + 1];
    }
    for (int64_t i = 1; i <= B->rows; i++)
        if (i == B->rows || low[i] >= i) {
            *largest = i - first > *largest ? i - first : *largest;
            first = i;
            blocks++;
        }
    free(low);
    return blocks;
}

static void check_orderings(const char *what, const struct csr *A)
{
    for (int i = 0; orderings[i]; i++) {
        struct moves v;
        struct csr B;
        struct err e = {0};
        int64_t largest;
        if (!orderings[i]->order_sides) continue;
        bool full = check_matching(what, A) == A->rows, found = reorder_moves(orderings[i], A, &v, NULL, &e);
        if (found != full) fail_msg("%s, %s: %s", what, orderings[i]->name, e.text);
        if (!found) assert_non_null(strstr(e.text, "structural rank"));
        if (!found) continue;
        assert_true(reorder_apply_moves(&B, A, v.rows, v.cols, NULL, NULL));
        check_moved(A, &B, &v);
        assert_true(diagonal_is_filled(&B));
        if (v.blocks && blocks_of(&B, &largest) != v.blocks) fail_msg("%s: not %ld blocks", what, (long)v.blocks);
        if (v.blocks) assert_int_equal(largest, v.largest);
        csr_free(&B);
        moves_free(&v);
    }
}

TEST(orderings_move_every_entry_and_fill_the_diagonal)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5);
        if (A.rows == A.cols) check_orderings(s->name, &A);
        csr_free(&A);
    }
    uint64_t seed = 8;
    for (int t = 0; t < 500; t++) {
        double a[SMALL][SMALL];
        struct csr A = random_small(a, &seed, 5);
        check_orderings("a small matrix", &A);
        csr_free(&A);
    }
    struct csr A = made_random(500, 1, 17, 4);
    check_orderings("random", &A);
    csr_free(&A);
}

TEST(one_order_for_both_is_refused)
{
    struct csr A = made_random(5, 2, 1, 1);
    struct err e = {0};
    int perm[5];
    assert_false(reorder_find(ordering_find("btf"), &A, perm, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    csr_free(&A);
}

/* ---- scale ---- */

static double size_at(const struct csr *A, int64_t i, int64_t j)
{
    int64_t k = csr_find(A, i, j);
    return k < 0 ? 0 : csr_abs(A, k);
}

TEST(scaled_and_moved_entries_are_1_on_the_diagonal_and_at_most_1)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int powers = 0; powers < 2; powers++) {
        assert_true(talk_line(&t, "drop all; load tests/files/no_diagonal.mtx as A"));
        const struct csr A = t.s.current->csr;
        assert_true(talk_line(&t, powers ? "scale A by matching powers as S; reorder matching S as M"
                                         : "scale A by matching as S; reorder matching S as M"));
        const struct csr *M = &t.s.current->csr;
        double room = powers ? 1 : 1e-14, most = powers ? 2 : 1 + 1e-14;
        for (int64_t i = 0; i < M->rows; i++) assert_true(fabs(log2(size_at(M, i, i))) <= room);
        for (int64_t k = 0; k < M->nnz; k++) assert_true(csr_abs(M, k) <= most);
        assert_true(talk_line(&t, "use S"));
        for (int64_t k = 0; powers && k < A.nnz; k++) { /* the same digits */
            int exponent;
            assert_true(fabs(frexp(t.s.current->csr.val[k] / A.val[k], &exponent)) == 0.5);
        }
    }
    talk_close(&t);
}

TEST(powers_keep_digits_and_symmetry)
{
    static const char *const lines[] = {"scale A powers as S", "scale A by rows powers as S",
                                        "scale A by cols powers as S"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(lines); i++) {
        assert_true(talk_line(&t, "drop all; load samples/1138_bus.mtx as A"));
        const struct csr A = t.s.current->csr;
        assert_true(talk_line(&t, lines[i]));
        const struct csr *S = &t.s.current->csr;
        struct csr T;
        for (int64_t k = 0; k < A.nnz; k++) {
            int exponent;
            assert_true(frexp(S->val[k] / A.val[k], &exponent) == 0.5);
            if (i == 0) assert_true(fabs(S->val[k]) <= 2);
        }
        assert_true(csr_transpose(&T, S, NULL));
        assert_int_equal(csr_equal(S, &T), i == 0);
        csr_free(&T);
    }
    talk_refuses(&t, "gen rmat 4 2; scale by matching", "structural rank");
    talk_close(&t);
}

/* ---- solve ---- */

/* ||b - A x|| / ||b||, computed here */
static double residual_of(const struct csr *A, const struct solve *v)
{
    double *r = malloc((size_t)v->n * sizeof *r);
    assert_non_null(r);
    memcpy(r, v->b, (size_t)v->n * sizeof *r);
    reference_spmv(A, -1, v->result.x, 1, r, P_F64, NULL);
    double found = norm2(v->n, r) / norm2(v->n, v->b);
    free(r);
    return found;
}

/* x, b and the residual are those of A x = b, also with x0, on the emulator, and for a complex A. */
TEST(matched_systems_are_solved_by_jacobi_and_ilu0)
{
    static const char *const loads[] = {"load tests/files/no_diagonal.mtx as A",
                                        "load tests/files/no_diagonal.mtx as B; let A = (1+2*i)*B"};
    static const char *const methods[] = {"bicgstab A precond ilu0 on cpu", "gmres A precond jacobi on cpu x0 random",
                                          "gmres A precond ilu0 on emu b random", "gs A on cpu", "jacobi A on cpu"};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    for (int l = 0; l < COUNT(loads); l++)
        for (int i = 0; i < COUNT(methods); i++) {
            talk_line(&t, "drop all");
            if (!talk_line(&t, loads[l])) continue;
            snprintf(line, sizeof line, "solve %s", methods[i]);
            assert_false(talk_line(&t, line));
            snprintf(line, sizeof line, "solve %s scaled reorder matching", methods[i]);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
            const struct solve *v = t.s.solve;
            if (v->reason != CONVERGED) fail_msg("%s: %s", line, v->why);
            double r = residual_of(&t.s.current->csr, v);
            assert_true(v->result.residual_true <= 2e-8);
            assert_true(fabs(r - v->result.residual_true) <= 1e-3 * r + 1e-16);
            if (!strstr(line, "random")) assert_true(v->result.error_known < 1e-6);
        }
    talk_close(&t);
}

/* Also in an order that moves columns, and without scales. */
TEST(block_triangular_systems_keep_x_in_its_order)
{
    static const char *const forms[] = {"reorder btf", "scaled reorder btf", "reorder matching"};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(forms); i++) {
        assert_true(talk_line(&t, "drop all; gen random 60 1 as R; load tests/files/no_diagonal.mtx as A"));
        snprintf(line, sizeof line, "solve gmres A precond ilu0 on cpu tol 1e-10 %s", forms[i]);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        assert_true(t.s.solve->reason == CONVERGED && t.s.solve->result.error_known < 1e-8);
        assert_true(talk_line(&t, "print x 0:5; print r 0:5"));
    }
    talk_close(&t);
}

TEST(solve_matches_by_itself_where_it_helps)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/no_diagonal.mtx as A; solve precond ilu0 on cpu"));
    assert_non_null(strstr(t.err, "30 diagonal entries of A are missing or 0, so the largest entries are moved there"));
    assert_true(t.s.solve->scaling.order && t.s.solve->scaling.row && t.s.solve->reason == CONVERGED);
    talk_says(&t, "advise solver A precond ilu0 on cpu", "scaled reorder matching`");
    talk_says(&t, "check A", "`reorder matching` fills them");
    talk_says(&t, "check A", "with precond ilu0 scaled reorder matching");
    assert_true(talk_line(&t, "solve gmres A m 1 on cpu"));
    assert_string_equal(t.s.solve->next, "solve gmres A precond ilu0 scaled reorder matching on cpu");
    assert_true(talk_line(&t, "reorder matching A as M; solve precond ilu0 on cpu"));
    assert_null(t.s.solve->scaling.order);
    talk_close(&t);
}

/* A matrix without a matching is singular. A symmetric one keeps its symmetry. */
TEST(solve_does_not_match_without_a_matching)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen rmat 6 4 as R"));
    talk_line(&t, "solve R on cpu b random within 1");
    assert_non_null(strstr(t.err, "no order fills the diagonal, and A is singular"));
    assert_true(talk_line(&t, "solve gmres R on cpu b random m 2 maxit 400"));
    assert_true(t.s.solve->reason != CONVERGED && !strstr(t.s.solve->next, "matching"));
    talk_refuses(&t, "solve gmres R reorder matching", "structural rank 36 of 64");
    talk_refuses(&t, "reorder btf R", "structural rank 36 of 64");
    talk_line(&t, "gen poisson2d 6 as P; let S = P - 4*I; solve S on cpu");
    assert_null(strstr(t.err, "moved there"));
    talk_close(&t);
}

/* The form that a paused solve iterates on is kept while another form is made. */
TEST(a_paused_solve_keeps_its_order)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/no_diagonal.mtx as A; solve gmres A on cpu reorder rcm step; step 2"));
    assert_true(talk_line(&t, "advise solver A precond jacobi on cpu; step 1; continue"));
    assert_true(t.s.solve->scaling.order == ordering_find("rcm") && t.s.solve->reason == CONVERGED);
    assert_true(residual_of(&t.s.current->csr, t.s.solve) < 2e-8);
    assert_true(talk_line(&t, "drop A"));
    talk_close(&t);
}

/* ---- real matrices ---- */

struct expected {
    char name[64], product[40], blocks[20], largest[20];
    long rows, rank;
};

static void compare(struct talk *t, const char *folder, const struct expected *x)
{
    char line[400];
    struct matching m;
    struct moves v;
    snprintf(line, sizeof line, "drop all; load %s/%s.mtx.gz as A", folder, x->name);
    if (!talk_line(t, line)) fail_msg("%s: %s", x->name, t->err);
    const struct csr *A = &t->s.current->csr;
    assert_int_equal(check_matching(x->name, A), x->rank);
    if (x->rank < x->rows) return;
    double log = 0, size = 0, product = strtod(x->product, NULL);
    assert_true(matching_find(&m, A, NULL, NULL));
    for (int64_t j = 0; j < m.n; j++) {
        double one = log2(csr_abs(A, csr_find(A, m.row[j], j)));
        log += one;
        size += fabs(one);
    }
    matching_free(&m);
    if (fabs(log - product) > 1e-12 * size + 1e-9) fail_msg("%s: 2^%.15g, scipy 2^%s", x->name, log, x->product);
    assert_true(reorder_moves(ordering_find("btf"), A, &v, NULL, NULL));
    if (v.blocks != atol(x->blocks) || v.largest != atol(x->largest))
        fail_msg("%s: %ld blocks, largest %ld", x->name, (long)v.blocks, (long)v.largest);
    moves_free(&v);
}

TEST(real_matrices_agree_with_scipy)
{
    const char *folder = getenv("WARPSPY_MATRICES");
    if (!folder) skip();
    FILE *f = fopen("tests/kits/matching_table.tsv", "r");
    char line[300];
    int n = 0;
    struct talk t;
    assert_non_null(f);
    talk_open(&t, OUT_TEXT);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); n++) {
        struct expected x;
        assert_int_equal(
            sscanf(line, "%63s %ld %ld %39s %19s %19s", x.name, &x.rows, &x.rank, x.product, x.blocks, x.largest), 6);
        compare(&t, folder, &x);
    }
    talk_close(&t);
    fclose(f);
    assert_true(n > 100);
}
