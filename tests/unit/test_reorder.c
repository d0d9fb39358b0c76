/* Orderings and derived matrices. For orderings, the tests check permutations, P A P' entry by entry, fill and
   bandwidth. Scaled matrices, extracted matrices, and differences between matrices are compared with the results of
   plain loops. Other tests check refusals, failing allocations and the commands. */
#include "base/mem.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/extract.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "session/matrix.h"

#include <math.h>
#include <signal.h>

static struct csr made(const char *generator, int64_t a, int64_t b)
{
    struct csr A;
    struct err e = {0};
    int64_t param[PARAMS_MAX];
    const struct generator *g = generator_find(generator);
    for (int i = 0; i < PARAMS_MAX && g->params[i].name; i++) param[i] = g->params[i].default_value;
    param[0] = a;
    param[1] = b;
    if (!g->make(param, 7, NULL, &A, &e)) fail_msg("%s: %s", generator, e.text);
    return A;
}

/* Is the library of the ordering here? Those that move rows and columns differently are tested in test_matching.c. */
static bool present(const struct ordering *o)
{
    struct err e = {0};
    if (!o->order) return false;
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
        if (!present(orderings[o])) {
            if (orderings[o]->order) print_message("skipped: %s is not here\n", orderings[o]->name);
        } else {
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

TEST(test_shapes)
{
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

/* ---- effects of orderings: bandwidth and fill ---- */

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

/* A matrix whose entries are at most `half` columns from the diagonal. The matrix consists of two independent blocks of
   different sizes. */
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

TEST(test_band)
{
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

/* The number of entries of L for A + A', by elimination on a full matrix of flags. */
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

/* Each ordering at least halves the number of entries of L. If the inverse permutation were applied by mistake, rows
   would also move, but the number would not be halved. */
TEST(test_fill)
{
    static const char *const names[] = {"amd", "metis"};
    struct csr A = made("poisson2d", 30, 30);
    int64_t natural = fill(&A);
    for (int i = 0; i < COUNT(names); i++) {
        if (!present(ordering_find(names[i]))) continue;
        struct csr B = reordered(&A, names[i]);
        int64_t found = fill(&B);
        if (found > natural / 2) fail_msg("%s: %ld entries of L, %ld as it was", names[i], (long)found, (long)natural);
        csr_free(&B);
    }
    csr_free(&A);
}

TEST(test_degree)
{
    struct csr A = made("circuit", 500, 1);
    struct csr B = reordered(&A, "degree");
    struct graph g;
    assert_true(graph_new(&g, &B, NULL, NULL));
    for (int i = 1; i < g.n; i++) assert_true(g.ptr[i + 1] - g.ptr[i] >= g.ptr[i] - g.ptr[i - 1]);
    graph_free(&g);
    csr_free(&A);
    csr_free(&B);
}

/* The vertices i and j are neighbours in the graph if i != j and A has (i, j), (j, i) or both. Neighbours are listed in
   ascending order. */
TEST(test_graph)
{
    for (const struct shape *s = shapes; s->name; s++) {
        if (s->rows != s->cols) continue;
        struct csr A = shape_csr(s, 4);
        struct graph g;
        assert_true(graph_new(&g, &A, NULL, NULL));
        for (int i = 0; i < g.n; i++) {
            int k = g.ptr[i];
            for (int j = 0; j < g.n; j++)
                if (i != j && (csr_find(&A, i, j) >= 0 || csr_find(&A, j, i) >= 0)) assert_int_equal(g.adj[k++], j);
            assert_int_equal(k, g.ptr[i + 1]);
        }
        graph_free(&g);
        csr_free(&A);
    }
}

static const struct graph *sorted_graph;
static int by_degree(const void *a, const void *b)
{
    int i = *(const int *)a, j = *(const int *)b;
    const int *p = sorted_graph->ptr;
    int di = p[i + 1] - p[i], dj = p[j + 1] - p[j];
    return di != dj ? (di > dj) - (di < dj) : (i > j) - (i < j);
}

/* Check the rule of Cuthill and McKee on the reversed permutation: after each row come its neighbours that have not
   come before, sorted by degree; neighbours of equal degree are sorted by row number. The roots are not checked. */
static void check_rule(const char *name, const struct csr *A, const int *perm)
{
    struct graph g;
    assert_true(graph_new(&g, A, NULL, NULL));
    bool *placed = calloc((size_t)g.n + 1, 1);
    int *next = malloc(((size_t)g.n + 1) * sizeof *next), known = 0;
    assert_true(placed && next);
    sorted_graph = &g;
    for (int q = 0; q < g.n; q++) {
        int row = perm[g.n - 1 - q], n = 0;
        if (q == known) placed[row] = true, known++;
        for (int k = g.ptr[row]; k < g.ptr[row + 1]; k++)
            if (!placed[g.adj[k]]) placed[g.adj[k]] = true, next[n++] = g.adj[k];
        qsort(next, (size_t)n, sizeof *next, by_degree);
        for (int i = 0; i < n; i++, known++)
            if (perm[g.n - 1 - known] != next[i])
                fail_msg("%s: row %d from the end is %d, not %d", name, known, perm[g.n - 1 - known], next[i]);
    }
    free(placed);
    free(next);
    graph_free(&g);
}

TEST(test_rule)
{
    int perm[3000];
    for (const struct shape *s = shapes; s->name; s++) {
        if (s->rows != s->cols) continue;
        struct csr A = shape_csr(s, 4);
        assert_true(reorder_find(ordering_find("rcm"), &A, perm, NULL, NULL));
        check_rule(s->name, &A, perm);
        csr_free(&A);
    }
    struct csr A = made("circuit", 3000, 2);
    assert_true(reorder_find(ordering_find("rcm"), &A, perm, NULL, NULL));
    check_rule("circuit", &A, perm);
    csr_free(&A);
}

/* A path 1 - 2 - .. - 99, with row 0 attached to the middle of the path. The degree of row 0 equals that of the ends of
   the path, so the search for a root must move away from row 0. */
TEST(test_end)
{
    int row[99], col[99], perm[100];
    double val[99];
    struct csr A;
    for (int i = 0; i < 99; i++) {
        row[i] = i;
        col[i] = i ? i + 1 : 50;
        val[i] = 1;
    }
    assert_true(csr_from_triplets(&A, 100, 100, 99, row, col, val, NULL, NULL, NULL));
    assert_true(reorder_find(ordering_find("rcm"), &A, perm, NULL, NULL));
    assert_true(perm[99] == 1 || perm[99] == 99);
    csr_free(&A);
}

/* ---- supervariables ---- */

enum { NODES_X = 40, NODES_Y = 32, NODES = NODES_X * NODES_Y, UNKNOWNS = 3 * NODES };

/* What is changed in the matrix of 3 unknowns per node, numbered component after component: unknown u of node v is row
   u * NODES + v. */
struct spoilt {
    const char *what;
    int diagonal;   /* every so many diagonal entries are missing */
    int one_sided;  /* every so many entries above the diagonal are missing */
    int fixed;      /* the first unknown of every so many nodes has a row and a column of the identity */
    int constraint; /* a last row and column has all first unknowns, and another one the second ones of every other node
                     */
};

static bool every(int64_t i, int n)
{
    return n && i % n == 0;
}

static bool is_fixed(const struct spoilt *s, int i)
{
    return i < NODES && every(i, s->fixed);
}

static int by_component(int row)
{
    return row % 3 * NODES + row / 3;
}

static struct csr elastic(const struct spoilt *s)
{
    static int row[120000], col[120000];
    static double val[120000];
    struct csr F = made("fem", NODES_X, NODES_Y), A;
    int n = UNKNOWNS + (s->constraint ? 2 : 0), at = 0;
    for (int r = 0; r < F.rows; r++)
        for (int k = F.rowptr[r]; k < F.rowptr[r + 1]; k++) {
            int i = by_component(r), j = by_component(F.col[k]);
            if (i == j ? every(i, s->diagonal) : i < j && every(k, s->one_sided)) continue;
            if (i != j && (is_fixed(s, i) || is_fixed(s, j))) continue;
            row[at] = i, col[at] = j, val[at++] = F.val[k];
        }
    for (int v = 0; v < 2 * NODES && s->constraint; v++) {
        if (v >= NODES && v % 2) continue;
        int last = UNKNOWNS + v / NODES;
        row[at] = v, col[at] = last, val[at++] = 1;
        row[at] = last, col[at] = v, val[at++] = 1;
    }
    assert_true(csr_from_triplets(&A, n, n, at, row, col, val, NULL, NULL, NULL));
    csr_free(&F);
    return A;
}

static const struct spoilt spoilt[] = {
    {.what = "as it is"},
    {"diagonal entries missing", .diagonal = 5},
    {"entries on one side", .one_sided = 3},
    {"fixed unknowns", .fixed = 7},
    {"two constraints", .constraint = 1},
};

/* The supervariables are the nodes, except that a fixed unknown and a constraint are alone. */
TEST(supervariables_are_the_nodes)
{
    for (const struct spoilt *s = spoilt; s < spoilt + COUNT(spoilt); s++) {
        struct csr A = elastic(s);
        struct graph g;
        int set[UNKNOWNS + 2], sets, expected = NODES + (s->constraint ? 2 : 0);
        assert_true(graph_new(&g, &A, NULL, NULL));
        assert_true(reorder_supervariables(&g, set, &sets, NULL, NULL));
        for (int v = 0; v < NODES; v++) {
            expected += is_fixed(s, v);
            if (set[NODES + v] != set[2 * NODES + v] || (set[v] == set[NODES + v]) == is_fixed(s, v))
                fail_msg("%s: node %d: %d %d %d", s->what, v, set[v], set[NODES + v], set[2 * NODES + v]);
        }
        if (sets != expected) fail_msg("%s: %d supervariables, not %d", s->what, sets, expected);
        graph_free(&g);
        csr_free(&A);
    }
}

/* The unknowns of a node are side by side, and the band is as narrow as that of the nodes by rcm. */
TEST(blocks_put_the_unknowns_of_a_node_side_by_side)
{
    for (const struct spoilt *s = spoilt; s < spoilt + COUNT(spoilt); s++) {
        struct csr A = elastic(s), S = shuffled(&A), B = reordered(&S, "blocks");
        int perm[UNKNOWNS + 2];
        assert_true(reorder_find(ordering_find("blocks"), &A, perm, NULL, NULL));
        check_permutation(s->what, perm, A.rows);
        for (int q = 0; q < A.rows; q++) {
            int v = perm[q] % NODES, u = perm[q] / NODES;
            if (u != 1) continue;
            if (perm[q + 1] != perm[q] + NODES) fail_msg("%s: node %d is torn apart", s->what, v);
            if (!is_fixed(s, v) && perm[q - 1] != v) fail_msg("%s: node %d is torn apart", s->what, v);
        }
        struct spread before, after;
        assert_true(spread_of(&S, &before, NULL) && spread_of(&B, &after, NULL));
        if (!s->constraint && after.bandwidth > 3 * (2 * NODES_X + 6))
            fail_msg("%s: bandwidth %ld", s->what, (long)after.bandwidth);
        csr_free(&A);
        csr_free(&S);
        csr_free(&B);
    }
}

/* Without rows that have the same columns, blocks is rcm. Equal neighbours do not suffice: opposite corners of a
   square have them, and are not coupled. */
TEST(blocks_without_supervariables_are_rcm)
{
    static const struct {
        const char *name;
        int64_t a, b;
    } cases[] = {{"poisson2d", 40, 31}, {"poisson2d", 2, 2}, {"band", 500, 3}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A = made(cases[i].name, cases[i].a, cases[i].b), S = shuffled(&A);
        int *p = malloc(2 * (size_t)A.rows * sizeof *p), *q = p + A.rows;
        assert_non_null(p);
        assert_true(reorder_find(ordering_find("blocks"), &S, p, NULL, NULL));
        assert_true(reorder_find(ordering_find("rcm"), &S, q, NULL, NULL));
        if (i < 2) assert_memory_equal(p, q, (size_t)A.rows * sizeof *p);
        check_permutation(cases[i].name, p, A.rows);
        free(p);
        csr_free(&A);
        csr_free(&S);
    }
}

/* Elasticity in both numberings has the same supervariables and, in their order, the same band. */
TEST(blocks_undo_the_numbering_by_components)
{
    struct csr N = made("elasticity", 7, 0), C = made("elasticity", 7, 1);
    struct csr A = reordered(&N, "blocks"), B = reordered(&C, "blocks");
    struct spread a, b, before;
    assert_true(spread_of(&A, &a, NULL) && spread_of(&B, &b, NULL) && spread_of(&C, &before, NULL));
    assert_int_equal(a.bandwidth, b.bandwidth);
    assert_int_equal(a.profile, b.profile);
    assert_true(before.bandwidth > b.bandwidth && before.profile > 2 * b.profile);
    for (int i = 0; i < A.rows; i++) /* the rows of a node have the same columns */
        assert_true(i % 3 == 0 || !memcmp(B.col + B.rowptr[i], B.col + B.rowptr[i - i % 3],
                                          (size_t)(B.rowptr[i + 1] - B.rowptr[i]) * sizeof *B.col));
    csr_free(&N);
    csr_free(&C);
    csr_free(&A);
    csr_free(&B);
}

/* ---- refusals, failures, cancelling ---- */

TEST(test_refused)
{
    struct csr A = made("random", 5, 2), B;
    struct err e = {0};
    int perm[5] = {0, 1, 2, 2, 4};
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

TEST(test_allocations)
{
    struct csr A = made("random", 40, 3);
    for (int i = 0; orderings[i]; i++) {
        if (!present(failing = orderings[i])) continue;
        assert_true(fail_each(go, &A) > 10);
    }
    csr_free(&A);
}

static bool stop_after(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return --*(int *)w->user > 0;
}

/* Cancel at each call of the watch. */
TEST(test_cancelled)
{
    struct csr A = made("poisson2d", 400, 400);
    int *perm = malloc((size_t)A.rows * sizeof *perm);
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

static void ours(int signal) {}

static bool still_ours(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct sigaction now;
    assert_int_equal(sigaction(SIGTERM, NULL, &now), 0);
    *(bool *)w->user &= now.sa_handler == ours;
    return true;
}

/* METIS installs its own signal handlers while it works. */
TEST(test_signal)
{
    struct csr A = made("poisson2d", 200, 200);
    bool kept = true;
    int *perm = malloc((size_t)A.rows * sizeof *perm);
    struct watch w = {still_ours, &kept};
    struct sigaction mine = {.sa_handler = ours}, before;
    assert_non_null(perm);
    sigaction(SIGTERM, &mine, &before);
    for (int i = 0; orderings[i]; i++)
        if (present(orderings[i])) assert_true(reorder_find(orderings[i], &A, perm, &w, NULL));
    assert_true(kept && still_ours(&w, NULL, 0, 0) && kept);
    sigaction(SIGTERM, &before, NULL);
    free(perm);
    csr_free(&A);
}

/* ---- parts ---- */

static void check_part(const char *name, const struct csr *A, struct window win)
{
    struct csr B;
    struct err e = {0};
    int64_t n = 0;
    if (!csr_extract(&B, A, win, NULL, &e)) fail_msg("%s: %s", name, e.text);
    if (!csr_check(&B, &e)) fail_msg("%s: %s", name, e.text);
    assert_int_equal(B.rows, win.row1 - win.row0);
    assert_int_equal(B.cols, win.col1 - win.col0);
    assert_int_equal(!B.imag, !A->imag);
    for (int64_t i = win.row0; i < win.row1; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            if (A->col[k] < win.col0 || A->col[k] >= win.col1) continue;
            int64_t at = csr_find(&B, i - win.row0, A->col[k] - win.col0);
            if (at < 0 || B.val[at] != A->val[k] || (A->imag && B.imag[at] != A->imag[k]))
                fail_msg("%s: entry (%ld, %d)", name, (long)i, A->col[k]);
            n++;
        }
    assert_int_equal(B.nnz, n);
    csr_free(&B);
}

TEST(test_parts)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 6);
        int64_t r = A.rows, c = A.cols;
        check_part(s->name, &A, (struct window){0, r, 0, c});
        check_part(s->name, &A, (struct window){r / 3, r - r / 4, c / 4, c - c / 3});
        check_part(s->name, &A, (struct window){r / 2, r, 0, c / 2});
        check_part(s->name, &A, (struct window){r / 2, r / 2, c, c});
        csr_free(&A);
    }
}

TEST(test_parts_refused)
{
    static const struct window bad[] = {{-1, 3, 0, 5}, {3, 2, 0, 5}, {0, 6, 0, 5}, {0, 5, 0, 6}, {0, 5, 4, 3}};
    struct csr A = made("random", 5, 2), B;
    for (int i = 0; i < COUNT(bad); i++) {
        struct err e = {0};
        assert_false(csr_extract(&B, &A, bad[i], NULL, &e));
        assert_int_equal(e.code, E_USAGE);
        assert_non_null(strstr(e.text, "from 0 to 5"));
    }
    csr_free(&A);
}

/* ---- scaling ---- */

static double size(const struct csr *A, int64_t k)
{
    return A->imag ? hypot(A->val[k], A->imag[k]) : fabs(A->val[k]);
}

/* The largest |a| in a row or column. */
static double most(const struct csr *A, int64_t row, int64_t col)
{
    double m = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (i == row || A->col[k] == col) m = fmax(m, size(A, k));
    return m;
}

static void near_one(const char *name, const struct csr *A, const struct csr *B, int sides, double tolerance)
{
    for (int64_t i = 0; sides & SCALE_ROWS && i < A->rows; i++)
        if (fabs(most(B, i, -1) - (most(A, i, -1) > 0)) > tolerance)
            fail_msg("%s: row %ld: %g", name, (long)i, most(B, i, -1));
    for (int64_t j = 0; sides & SCALE_COLS && j < A->cols; j++)
        if (fabs(most(B, -1, j) - (most(A, -1, j) > 0)) > tolerance)
            fail_msg("%s: column %ld: %g", name, (long)j, most(B, -1, j));
}

/* All entries of a row, or of a column, must be divided by the same number. */
static void check_by_rows(const char *name, const struct csr *A, const struct csr *B)
{
    for (int64_t i = 0; i < A->rows; i++) {
        double by = most(A, i, -1);
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (by > 0 && (B->val[k] != A->val[k] / by || (A->imag && B->imag[k] != A->imag[k] / by)))
                fail_msg("%s: entry (%ld, %d)", name, (long)i, A->col[k]);
    }
}

TEST(test_scaled)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 7), B;
        if (A.rows * A.nnz > 2000000 || A.cols * A.nnz > 2000000) {
            csr_free(&A);
            continue;
        }
        for (int sides = SCALE_ROWS; sides <= SCALE_BOTH; sides++) {
            struct err e = {0};
            if (!csr_scale(&B, &A, sides, NULL, NULL, NULL, NULL, &e)) fail_msg("%s: %s", s->name, e.text);
            assert_true(csr_check(&B, &e) && B.nnz == A.nnz);
            near_one(s->name, &A, &B, sides, sides == SCALE_BOTH ? 0.02 : 1e-15);
            if (sides == SCALE_ROWS) check_by_rows(s->name, &A, &B);
            csr_free(&B);
        }
        csr_free(&A);
    }
}

/* Scaling both sides keeps symmetry bit for bit. */
TEST(test_scaled_symmetric)
{
    struct csr A = {0}, B, T;
    int64_t n[PARAMS_MAX] = {17, 13};
    uint64_t seed = 3;
    assert_true(generator_find("poisson2d")->make(n, 1, NULL, &A, NULL));
    for (int64_t i = 0; i < A.rows; i++)
        for (int k = A.rowptr[i]; k < A.rowptr[i + 1]; k++)
            if (A.col[k] >= i) A.val[k] = A.val[csr_find(&A, A.col[k], i)] = exp(20 * random_unit(&seed));
    assert_true(csr_scale(&B, &A, SCALE_BOTH, NULL, NULL, NULL, NULL, NULL) && csr_transpose(&T, &B, NULL));
    assert_true(csr_equal(&B, &T));
    csr_free(&A);
    csr_free(&B);
    csr_free(&T);
}

/* The values range from the smallest to the largest doubles; a row of zeros and a row with inf and NaN stay
   unchanged. */
TEST(test_scaled_extremes)
{
    const int row[] = {0, 0, 1, 1, 2, 3, 3, 3, 4}, col[] = {0, 1, 1, 2, 3, 0, 3, 4, 4};
    const double val[] = {5e-324, 1e-310, 1e308, 1e-300, 0, INFINITY, 2, NAN, 1e-200};
    struct csr A, B;
    struct unscaled left;
    assert_true(csr_from_triplets(&A, 5, 5, COUNT(val), row, col, val, NULL, NULL, NULL));
    struct range r = range_of(&A);
    assert_true(r.low == 5e-324 && r.high == 1e308);
    assert_true(csr_scale(&B, &A, SCALE_ROWS, &left, NULL, NULL, NULL, NULL));
    assert_int_equal(left.rows, 2);
    assert_int_equal(left.cols, 0);
    assert_true(B.val[1] == 1 && B.val[2] == 1 && B.val[3] == 1e-300 / 1e308 && B.val[4] == 0);
    assert_true(isinf(B.val[5]) && B.val[6] == 2 && isnan(B.val[7]) && B.val[8] == 1);
    csr_free(&B);
    assert_true(csr_scale(&B, &A, SCALE_BOTH, &left, NULL, NULL, NULL, NULL));
    assert_int_equal(left.rows, 2);
    assert_int_equal(left.cols, 1);
    r = range_of(&B);
    assert_true(r.high < 4);
    csr_free(&B);
    csr_free(&A);
}

/* ---- failing allocations and cancelling of scaling, extraction and differences ---- */

static bool go_cut(const void *user, struct err *e)
{
    const struct csr *A = user;
    struct csr B, C;
    if (!csr_extract(&B, A, (struct window){1, A->rows, 1, A->cols}, NULL, e)) return false;
    bool ok = csr_scale(&C, &B, SCALE_BOTH, NULL, NULL, NULL, NULL, e);
    csr_free(&B);
    if (ok) csr_free(&C);
    return ok;
}

TEST(test_cut_allocations)
{
    const struct shape *s = shapes;
    while (strcmp(s->name, "complex")) s++;
    struct csr A = shape_csr(s, 1);
    assert_true(fail_each(go_cut, &A) == 10);
    csr_free(&A);
}

TEST(test_cut_cancelled)
{
    struct csr A = made("poisson2d", 200, 200), B;
    int left = 2;
    struct watch w = {stop_after, &left};
    struct err e = {0};
    assert_false(csr_extract(&B, &A, (struct window){0, A.rows, 0, A.cols}, &w, &e));
    assert_int_equal(e.code, E_CANCELLED);
    for (int n = 2; n < 20; n++) {
        left = n;
        e = (struct err){0};
        assert_false(csr_scale(&B, &A, SCALE_BOTH, NULL, NULL, NULL, &w, &e));
        assert_int_equal(e.code, E_CANCELLED);
    }
    csr_free(&A);
}

/* ---- the commands ---- */

TEST(test_reorder)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    talk_says(&t, "reorder rcm", "A-rcm");
    assert_string_equal(t.s.current->name, "A-rcm");
    talk_says(&t, "reorder amd A as B", "AMD of SuiteSparse");
    assert_string_equal(t.s.current->name, "B");
    assert_null(strstr(t.out, "larger than before"));
    assert_true(talk_line(&t, "gen stencil 27 5 as W"));
    talk_says(&t, "reorder rcm", "The bandwidth is larger than before; `use W` returns to the narrower order.");
    talk_says(&t, "reorder amd W", "bandwidth before");
    assert_null(strstr(t.out, "larger than before")); /* amd does not aim at the bandwidth */
    talk_refuses(&t, "reorder colamd A", "rcm, blocks, degree, amd, metis");
    talk_refuses(&t, "reorder degree A as B", "called B already");
    assert_true(talk_line(&t, "gen random 6 2 9 as R"));
    talk_refuses(&t, "reorder rcm", "6 rows and 9 columns");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    talk_says(&t, "reorder degree", "\"bandwidth_before\":10,");
    static const char *const keys[] = {"\"bandwidth\":", "\"profile_before\":", "\"profile\":",
                                       "\"order_us\":",  "\"move_us\":",        "\"method\":\"degree\""};
    for (int i = 0; i < COUNT(keys); i++)
        if (!strstr(t.out, keys[i])) fail_msg("no %s in %s", keys[i], t.out);
    talk_close(&t);
}

TEST(test_cut)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    talk_says(&t, "extract 10 30", "A-part");
    assert_true(t.s.current->csr.rows == 20 && t.s.current->csr.cols == 100);
    talk_says(&t, "extract 10 30 20 25 A as B", "B");
    assert_true(t.s.current->csr.rows == 20 && t.s.current->csr.cols == 5);
    talk_says(&t, "extract 5 6 B as C", "C");
    assert_true(t.s.current->csr.rows == 1 && t.s.current->csr.cols == 5);
    talk_refuses(&t, "extract 10 101 A", "rows 10 .. 101 are outside the matrix");
    talk_refuses(&t, "extract 10 20 5 A", "the end of the column range is missing");
    talk_refuses(&t, "extract 10", "an integer");
    talk_says(&t, "scale A", "A-scaled");
    assert_string_equal(t.s.current->name, "A-scaled");
    talk_says(&t, "scale A by rows as R", "each row by its largest");
    talk_refuses(&t, "scale A by diagonal", "rows, cols, both or matching");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10 10 as A"));
    talk_says(&t, "scale by cols", "\"largest_before\":4,\"largest\":1,");
    talk_says(&t, "extract 0 2", "\"row0\":0,\"row1\":2,");
    talk_close(&t);
}

/* ---- diff ---- */

static double number_under(const struct talk *t, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(t->out, quoted);
    if (!at) fail_msg("no %s in %s", key, t->out);
    return strncmp(at + strlen(quoted), "null", 4) ? strtod(at + strlen(quoted), NULL) : NAN;
}

static void give(struct talk *t, const char *name, struct csr A)
{
    struct load_info info = {0};
    if (session_matrix(&t->s, name, NULL)) session_drop(&t->s, session_matrix(&t->s, name, NULL));
    assert_true(session_add(&t->s, name, &A, &info, NULL));
}

static double at(const struct csr *A, int64_t i, int64_t j, bool imag, bool *has)
{
    int64_t k = i < A->rows && j < A->cols ? csr_find(A, i, j) : -1;
    *has = k >= 0;
    if (k < 0 || (imag && !A->imag)) return 0;
    return imag ? A->imag[k] : A->val[k];
}

static void check_diff(struct talk *t, const char *name)
{
    const struct csr *A = &session_matrix(&t->s, "A", NULL)->csr, *B = &session_matrix(&t->s, "B", NULL)->csr;
    int64_t rows = A->rows > B->rows ? A->rows : B->rows, cols = A->cols > B->cols ? A->cols : B->cols;
    int64_t only_a = 0, only_b = 0, equal = 0, other = 0;
    double largest = 0, sum = 0, norm = 0;
    if (session_matrix(&t->s, "D", NULL)) session_drop(&t->s, session_matrix(&t->s, "D", NULL));
    talk_says(t, "diff A B as D", "\"only_a\"");
    const struct csr *D = &t->s.current->csr;
    double row = number_under(t, "row"), col = number_under(t, "col");
    assert_true(csr_check(D, NULL) && D->rows == rows && D->cols == cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            bool in_a, in_b, in_d;
            double ar = at(A, i, j, false, &in_a), ai = at(A, i, j, true, &in_a);
            double br = at(B, i, j, false, &in_b), bi = at(B, i, j, true, &in_b), d = hypot(ar - br, ai - bi);
            bool eq = ar == br && ai == bi;
            only_a += in_a && !in_b;
            only_b += in_b && !in_a;
            equal += in_a && in_b && eq;
            other += in_a && in_b && !eq;
            largest = fmax(largest, d);
            sum += d * d;
            norm += ar * ar + ai * ai;
            assert_true(at(D, i, j, false, &in_d) == ar - br && at(D, i, j, true, &in_d) == ai - bi);
            assert_int_equal(in_d, in_a != in_b || (in_a && !eq));
            if ((double)i == row && (double)j == col)
                assert_true(fabs(d - number_under(t, "largest")) <= 1e-14 * d && number_under(t, "a_value") == ar &&
                            number_under(t, "b_value") == br && number_under(t, "b_imag") == bi);
        }
    if (number_under(t, "only_a") != (double)only_a || number_under(t, "only_b") != (double)only_b ||
        number_under(t, "equal") != (double)equal || number_under(t, "different") != (double)other)
        fail_msg("%s: %s", name, t->out);
    assert_true(fabs(number_under(t, "largest") - largest) <= 1e-14 * largest);
    assert_true(isnan(number_under(t, "row")) == (largest == 0));
    if (norm > 0) assert_true(fabs(number_under(t, "relative") - sqrt(sum / norm)) <= 1e-12 * sqrt(sum / norm));
}

TEST(test_diff)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (const struct shape *s = shapes; s->name; s++) {
        if (s->rows * s->cols > 130000) continue;
        give(&t, "A", shape_csr(s, 5));
        for (const struct shape *o = shapes; o->name; o++) {
            if (o != s && o->rows * o->cols > 5000) continue;
            give(&t, "B", shape_csr(o, o == s ? 8 : 5));
            check_diff(&t, s->name);
        }
        give(&t, "B", shape_csr(s, 5));
        talk_says(&t, "diff A B", "\"differs\":\"nothing\"");
    }
    talk_close(&t);
}

static struct csr two_values(double x, double y)
{
    const int row[] = {0, 1}, col[] = {0, 1};
    const double val[] = {x, y};
    struct csr A;
    assert_true(csr_from_triplets(&A, 2, 2, 2, row, col, val, NULL, NULL, NULL));
    return A;
}

TEST(test_diff_values)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    give(&t, "A", two_values(NAN, INFINITY));
    give(&t, "B", two_values(NAN, INFINITY));
    talk_says(&t, "diff A B", "\"equal\":2,\"different\":0,\"largest\":0");
    give(&t, "B", two_values(1, INFINITY));
    talk_says(&t, "diff A B", "\"different\":1,\"largest\":\"nan\",\"row\":0,\"col\":0");
    give(&t, "A", two_values(5, 2));
    give(&t, "B", two_values(1, NAN));
    talk_says(&t, "diff A B", "\"largest\":\"nan\",\"row\":1,\"col\":1");
    give(&t, "A", two_values(1e300, -1e300));
    give(&t, "B", two_values(1e300, 1e300));
    talk_says(&t, "diff A B", "\"row\":1,\"col\":1");
    assert_true(fabs(number_under(&t, "relative") - sqrt(2)) < 1e-14 && number_under(&t, "largest") == 2e300);
    give(&t, "A", two_values(0, -0.0));
    give(&t, "B", two_values(0, 0));
    talk_says(&t, "diff A B", "\"differs\":\"nothing\"");
    talk_close(&t);
    talk_open(&t, OUT_TEXT);
    give(&t, "A", shape_csr(shapes, 1));
    give(&t, "B", shape_csr(shapes + 1, 1));
    talk_says(&t, "diff A B", "only the shape");
    talk_refuses(&t, "diff A C", "is not a matrix");
    talk_refuses(&t, "diff A", "a matrix");
    talk_refuses(&t, "diff A B as A", "called A already");
    talk_close(&t);
}

TEST(test_diff_allocations)
{
    struct talk t;
    int failed = 0;
    talk_open(&t, OUT_TEXT);
    give(&t, "A", shape_csr(shapes + 14, 1));
    give(&t, "B", shape_csr(shapes + 14, 2));
    for (int n = 1; failed == n - 1; n++) {
        mem_fail_at(n);
        bool ok = talk_line(&t, "diff A B as D");
        mem_fail_at(0);
        if (ok) break;
        failed++;
        if (!strstr(t.err, "memory")) fail_msg("allocation %d: %s", n, t.err);
        /* If only the allocation for the report failed, the matrix exists. */
        if (session_matrix(&t.s, "D", NULL)) session_drop(&t.s, session_matrix(&t.s, "D", NULL));
    }
    assert_true(failed >= 5);
    talk_close(&t);
}

/* On a path in any order, the Fiedler vector is monotonic. On a grid of 30 x 7, it varies along the longer side, so
   that the rows of the grid follow each other. */
static void order_of(const char *name, int n, int edges, const int (*edge)[2], int *perm)
{
    int row[100], col[100], k = 0;
    double val[100];
    struct csr A;
    for (int i = 0; i < n; i++) row[k] = col[k] = i, val[k++] = 1;
    for (int i = 0; i < edges; i++)
        for (int way = 0; way < 2; way++) row[k] = edge[i][way], col[k] = edge[i][!way], val[k++] = 1;
    assert_true(csr_from_triplets(&A, n, n, k, row, col, val, NULL, NULL, NULL));
    assert_true(reorder_find_symmetric(ordering_find(name), &A, perm, NULL, NULL));
    csr_free(&A);
}

/* By hand: the search of a star begins at a leaf, and the order is reversed, so the centre stands before that leaf. In
   the second graph, 0 - 1, and 1 is joined to 2, 3, 4 (a triangle) and 5: the search from 0 ends with 2, 3, 4 and 5,
   and 5, with the fewest neighbours, is the better start. */
TEST(test_rcm_by_hand)
{
    static const int star[][2] = {{3, 0}, {3, 1}, {3, 2}, {3, 4}, {3, 5}, {3, 6}},
                     fork[][2] = {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {3, 4}, {2, 4}};
    int perm[7];
    order_of("rcm", 7, 6, star, perm);
    assert_int_equal(perm[5], 3);
    order_of("rcm", 6, 8, fork, perm);
    assert_int_equal(perm[5], 5);
    assert_int_equal(perm[4], 1);
}

/* Rows 0 and 1, rows 2 and 3, and row 4 are connected parts; rows that nothing tells apart keep their order. */
TEST(test_fiedler_keeps_the_order_of_equals)
{
    static const int row[] = {0, 0, 1, 1, 2, 2, 3, 3, 4}, col[] = {0, 1, 0, 1, 2, 3, 2, 3, 4};
    static const double val[] = {1, -1, -1, 2, 3, -1, -1, 4, 5};
    struct csr A;
    int perm[5];
    if (!present(ordering_find("fiedler"))) return;
    assert_true(csr_from_triplets(&A, 5, 5, 9, row, col, val, NULL, NULL, NULL));
    assert_true(reorder_find_symmetric(ordering_find("fiedler"), &A, perm, NULL, NULL));
    for (int i = 0; i < 5; i++) assert_int_equal(perm[i], i);
    csr_free(&A);
}

TEST(test_fiedler)
{
    static const struct {
        const char *line;
        int64_t bandwidth;
    } cases[] = {
        {"gen band 40 1 as A; reorder fiedler", 1},
        {"gen band 200 1 as A; reorder fiedler", 1},
        {"gen band 200 1 as A; reorder amd; reorder fiedler", 1},
        {"gen poisson2d 30 7; reorder fiedler", 14},
        {"gen poisson2d 30 7; reorder metis; reorder fiedler", 14},
        {"gen poisson2d 3000 1; reorder amd; reorder fiedler", 1}, /* the second eigenvalue is 1e-6 */
    };
    if (!present(ordering_find("fiedler"))) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct talk t;
        struct spread s;
        talk_open(&t, OUT_TEXT);
        talk_says(&t, cases[i].line, "Fiedler vector of each connected part");
        assert_true(spread_of(&t.s.current->csr, &s, NULL));
        if (s.bandwidth > cases[i].bandwidth) fail_msg("%s: bandwidth %ld", cases[i].line, (long)s.bandwidth);
        talk_close(&t);
    }
}
