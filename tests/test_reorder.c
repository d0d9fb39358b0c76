/* Orderings and matrices made of matrices: permutations, P A P' entry by entry, fill and bandwidth, scaled and cut
   matrices and differences beside plain loops, what is refused, failing allocations, the commands. */
#include "../src/reorder.h"
#include "shapes.h"
#include "talk.h"

#include <math.h>

static struct csr made(const char *generator, int64_t a, int64_t b)
{
    struct csr A;
    struct err e = {0};
    int64_t param[PARAMS_MAX];
    const struct generator *g = generator_find(generator);
    for (int i = 0; i < PARAMS_MAX && g->params[i].name; i++) param[i] = g->params[i].usual;
    param[0] = a;
    param[1] = b;
    if (!g->make(param, 7, NULL, &A, &e)) fail_msg("%s: %s", generator, e.text);
    return A;
}

static bool present(const struct ordering *o)
{
    struct err e = {0};
    struct csr A = made("poisson2d", 3, 3);
    int perm[9];
    bool ok = reorder_find(o, &A, perm, NULL, &e);
    if (!ok && e.code != E_UNSUPPORTED) fail_msg("%s: %s", o->name, e.text);
    csr_free(&A);
    return ok;
}

/* ---- permutations and P A P' ---- */

static void check_permutation(const char *what, const int *perm, int64_t n)
{
    bool *seen = calloc((size_t)n + 1, 1);
    assert_non_null(seen);
    for (int64_t i = 0; i < n; i++) {
        if (perm[i] < 0 || perm[i] >= n || seen[perm[i]]) fail_msg("%s: row %d in place %ld", what, perm[i], (long)i);
        seen[perm[i]] = true;
    }
    free(seen);
}

static void check_moved(const char *what, const struct csr *A, const struct csr *B, const int *perm)
{
    struct err e = {0};
    if (!csr_check(B, &e)) fail_msg("%s: %s", what, e.text);
    assert_int_equal(A->nnz, B->nnz);
    assert_int_equal(!A->imag, !B->imag);
    for (int64_t i = 0; i < B->rows; i++)
        for (int k = B->rowptr[i]; k < B->rowptr[i + 1]; k++) {
            int64_t from = csr_find(A, perm[i], perm[B->col[k]]);
            if (from < 0 || A->val[from] != B->val[k] || (A->imag && A->imag[from] != B->imag[k]))
                fail_msg("%s: entry (%ld, %d)", what, (long)i, B->col[k]);
        }
}

static void check_spread(const char *what, const struct csr *A)
{
    struct spread s;
    int64_t width = 0, profile = 0;
    assert_true(spread_of(A, &s, NULL));
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t first_col = i, first_row = i;
        for (int64_t j = 0; j < A->cols; j++) {
            if (csr_find(A, i, j) >= 0) {
                width = llabs(i - j) > width ? llabs(i - j) : width;
                first_col = j < first_col ? j : first_col;
            }
            if (csr_find(A, j, i) >= 0) first_row = j < first_row ? j : first_row;
        }
        profile += i - first_col + i - first_row;
    }
    if (s.bandwidth != width || s.profile != profile)
        fail_msg("%s: bandwidth %ld, profile %ld; expected %ld, %ld", what, (long)s.bandwidth, (long)s.profile,
                 (long)width, (long)profile);
}

static void check_matrix(const char *name, const struct csr *A)
{
    for (int o = 0; orderings[o]; o++) {
        char what[100];
        struct csr B;
        struct err e = {0};
        int *perm = malloc(((size_t)A->rows + 1) * sizeof *perm);
        snprintf(what, sizeof what, "%s, %s", orderings[o]->name, name);
        assert_non_null(perm);
        if (!present(orderings[o]))
            print_message("skipped: %s is not here\n", orderings[o]->name);
        else {
            if (!reorder_find(orderings[o], A, perm, NULL, &e)) fail_msg("%s: %s", what, e.text);
            check_permutation(what, perm, A->rows);
            if (!reorder_apply(&B, A, perm, NULL, &e)) fail_msg("%s: %s", what, e.text);
            check_moved(what, A, &B, perm);
            if (A->rows < 300) check_spread(what, &B);
            csr_free(&B);
        }
        free(perm);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5);
        if (A.rows == A.cols) check_matrix(s->name, &A);
        csr_free(&A);
    }
    struct csr A = made("rmat", 11, 8);
    check_matrix("rmat 11 8", &A);
    csr_free(&A);
    A = made("circuit", 3000, 2);
    check_matrix("circuit 3000 2", &A);
    csr_free(&A);
}

/* ---- what the orders are for ---- */

static struct csr shuffled(const struct csr *A)
{
    struct csr B;
    uint64_t seed = 3;
    int *perm = malloc((size_t)A->rows * sizeof *perm);
    assert_non_null(perm);
    for (int i = 0; i < A->rows; i++) {
        int j = (int)(random_next(&seed) % (uint64_t)(i + 1));
        perm[i] = perm[j];
        perm[j] = i;
    }
    assert_true(reorder_apply(&B, A, perm, NULL, NULL));
    free(perm);
    return B;
}

static struct csr reordered(const struct csr *A, const char *ordering)
{
    struct csr B;
    struct err e = {0};
    int *perm = malloc(((size_t)A->rows + 1) * sizeof *perm);
    assert_non_null(perm);
    if (!reorder_find(ordering_find(ordering), A, perm, NULL, &e) || !reorder_apply(&B, A, perm, NULL, &e))
        fail_msg("%s: %s", ordering, e.text);
    free(perm);
    return B;
}

/* Pairs at most `half` apart, in two parts of different lengths. */
static struct csr two_bands(int n, int half)
{
    struct csr A;
    int row[20000], col[20000], at = 0;
    double val[20000];
    for (int i = 0; i < n; i++)
        for (int j = i - half < 0 ? 0 : i - half; j < n && j <= i + half; j++)
            if ((i < n / 3) == (j < n / 3)) {
                row[at] = i;
                col[at] = j;
                val[at++] = i + 0.5 * j;
            }
    assert_true(csr_from_triplets(&A, n, n, at, row, col, val, NULL, NULL, NULL));
    return A;
}

static void test_band(void **state)
{
    (void)state;
    for (int half = 1; half <= 5; half += 2) {
        struct csr A = two_bands(1500, half), S = shuffled(&A), B = reordered(&S, "rcm");
        struct spread before, after;
        assert_true(spread_of(&S, &before, NULL) && spread_of(&B, &after, NULL));
        assert_true(before.bandwidth > 1000);
        if (after.bandwidth > 2 * half - (half == 1)) fail_msg("half %d: bandwidth %ld", half, (long)after.bandwidth);
        assert_true(after.profile < before.profile / 50);
        csr_free(&A);
        csr_free(&S);
        csr_free(&B);
    }
}

/* Entries of the L of A + A', by elimination on a full square of marks. */
static int64_t fill(const struct csr *A)
{
    int64_t n = A->rows, count = 0;
    bool *has = calloc((size_t)(n * n), 1);
    assert_non_null(has);
    for (int64_t i = 0; i < n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) has[i * n + A->col[k]] = has[A->col[k] * n + i] = true;
    for (int64_t p = 0; p < n; p++)
        for (int64_t i = p + 1; i < n; i++) {
            if (!has[i * n + p]) continue;
            count++;
            for (int64_t j = p + 1; j < n; j++) has[i * n + j] |= has[p * n + j];
        }
    free(has);
    return count + n;
}

/* A permutation that is the inverse of the one meant moves the rows as well, but fills in. */
static void test_fill(void **state)
{
    static const char *const names[] = {"amd", "metis"};
    struct csr A = made("poisson2d", 30, 30);
    int64_t natural = fill(&A);
    (void)state;
    for (int i = 0; i < COUNT(names); i++) {
        if (!present(ordering_find(names[i]))) continue;
        struct csr B = reordered(&A, names[i]);
        int64_t found = fill(&B);
        if (found > natural / 2) fail_msg("%s: %ld entries of L, %ld as it was", names[i], (long)found, (long)natural);
        csr_free(&B);
    }
    csr_free(&A);
}

static void test_degree(void **state)
{
    struct csr A = made("circuit", 500, 1);
    struct csr B = reordered(&A, "degree");
    struct graph g;
    (void)state;
    assert_true(graph_new(&g, &B, NULL, NULL));
    for (int i = 1; i < g.n; i++) assert_true(g.ptr[i + 1] - g.ptr[i] >= g.ptr[i] - g.ptr[i - 1]);
    graph_free(&g);
    csr_free(&A);
    csr_free(&B);
}

/* ---- what is refused, what fails, what is cancelled ---- */

static void test_refused(void **state)
{
    struct csr A = made("random", 5, 2), B;
    struct err e = {0};
    int perm[5] = {0, 1, 2, 2, 4};
    (void)state;
    assert_false(reorder_apply(&B, &A, perm, NULL, &e));
    assert_int_equal(e.code, E_INTERNAL);
    e = (struct err){0};
    A.cols = 6;
    assert_false(reorder_find(orderings[0], &A, perm, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_non_null(strstr(e.text, "5 rows and 6 columns"));
    A.cols = 5;
    const char *name = reorder_metis_name;
    reorder_metis_name = "libmetis-that-is-not-there.so.5";
    e = (struct err){0};
    assert_false(reorder_find(ordering_find("metis"), &A, perm, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_non_null(strstr(e.text, "libmetis-that-is-not-there.so.5, which is not installed"));
    reorder_metis_name = name;
    csr_free(&A);
}

static const struct ordering *failing;
static bool go(const void *user, struct err *e)
{
    const struct csr *A = user;
    struct csr B;
    struct spread s;
    int perm[100];
    if (!reorder_find(failing, A, perm, NULL, e) || !reorder_apply(&B, A, perm, NULL, e)) return false;
    bool ok = spread_of(&B, &s, e);
    csr_free(&B);
    return ok;
}

static void test_allocations(void **state)
{
    struct csr A = made("random", 40, 3);
    (void)state;
    for (int i = 0; orderings[i]; i++) {
        if (!present(failing = orderings[i])) continue;
        assert_true(fail_each(go, &A) > 10);
    }
    csr_free(&A);
}

static bool stop_after(struct watch *w, const char *what, int64_t done, int64_t total)
{
    (void)what, (void)done, (void)total;
    return --*(int *)w->user > 0;
}

/* At each look at the watch. */
static void test_cancelled(void **state)
{
    struct csr A = made("poisson2d", 400, 400);
    int *perm = malloc((size_t)A.rows * sizeof *perm);
    (void)state;
    assert_non_null(perm);
    for (int i = 0; orderings[i]; i++) {
        bool done = !present(orderings[i]);
        for (int n = 1; !done && n < 12; n++) {
            int left = n;
            struct err e = {0};
            struct watch w = {stop_after, &left};
            done = reorder_find(orderings[i], &A, perm, &w, &e);
            if (!done) assert_int_equal(e.code, E_CANCELLED);
            assert_true(n > 4 || !done);
        }
    }
    free(perm);
    csr_free(&A);
}

/* ---- the commands ---- */

static void says(struct talk *t, const char *line, const char *part)
{
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    if (!strstr(t->out, part)) fail_msg("%s: expected `%s` in: %s", line, part, t->out);
}

static void refuses(struct talk *t, const char *line, const char *part)
{
    talk_forget(t);
    assert_false(talk_line(t, line));
    if (!strstr(t->err, part)) fail_msg("%s: expected `%s` in: %s", line, part, t->err);
}

static void test_reorder(void **state)
{
    struct talk t;
    (void)state;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    says(&t, "reorder rcm", "A-rcm");
    assert_string_equal(t.s.current->name, "A-rcm");
    says(&t, "reorder amd A as B", "AMD of SuiteSparse");
    assert_string_equal(t.s.current->name, "B");
    refuses(&t, "reorder colamd A", "rcm, degree, amd, metis");
    refuses(&t, "reorder degree A as B", "called B already");
    assert_true(talk_line(&t, "gen random 6 2 9 as R"));
    refuses(&t, "reorder rcm", "6 rows and 9 columns");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    says(&t, "reorder degree", "\"bandwidth_before\":10,");
    static const char *const keys[] = {"\"bandwidth\":", "\"profile_before\":", "\"profile\":",
                                       "\"order_us\":",  "\"move_us\":",        "\"method\":\"degree\""};
    for (int i = 0; i < COUNT(keys); i++)
        if (!strstr(t.out, keys[i])) fail_msg("no %s in %s", keys[i], t.out);
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_band),    cmocka_unit_test(test_fill),
        cmocka_unit_test(test_degree),    cmocka_unit_test(test_refused), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cancelled), cmocka_unit_test(test_reorder),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
