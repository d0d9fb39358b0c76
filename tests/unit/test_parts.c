/* Partitions and parts. Owners, local matrices, halos and lists of what is sent are compared with a plain reading of
   the matrix, for matrices of every shape, every way and several numbers of parts. */
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/shared.h"
#include "base/watch.h"
#include "files/file.h"
#include "files/load_info.h"
#include "kits/collection.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "parts/exchange.h"
#include "parts/graph_parts.h"
#include "parts/part.h"
#include "parts/partition.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int counts[] = {1, 2, 3, 7, 64};

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

/* ---- what a partition promises ---- */

static void check_order(const char *what, const struct partition *P)
{
    bool *seen = calloc((size_t)P->rows + 1, 1);
    assert_non_null(seen);
    for (int p = 0; p < P->parts; p++)
        for (int64_t at = P->first[p]; at < P->first[p + 1]; at++) {
            int64_t row = partition_row(P, at);
            if (row < 0 || row >= P->rows || seen[row]) fail_msg("%s: row %ld at %ld", what, (long)row, (long)at);
            if (at > P->first[p] && row <= partition_row(P, at - 1))
                fail_msg("%s: %ld does not ascend", what, (long)at);
            seen[row] = true;
            assert_int_equal(partition_position(P, row), at);
            assert_int_equal(partition_owner(P, row), p);
        }
    free(seen);
}

static void check_partition(const char *what, const struct csr *A, const struct partition *P, int parts)
{
    assert_int_equal(P->parts, parts);
    assert_int_equal(P->rows, A->rows);
    assert_int_equal(P->cols, A->cols);
    assert_int_equal(P->first[0] | P->first_col[0], 0);
    assert_int_equal(P->first[parts], A->rows);
    assert_int_equal(P->first_col[parts], A->cols);
    for (int p = 0; p < parts; p++)
        assert_true(P->first[p] <= P->first[p + 1] && P->first_col[p] <= P->first_col[p + 1]);
    assert_true(A->rows == A->cols || (!P->order && P->first_col != P->first));
    check_order(what, P);
}

/* ---- parts, read plainly ---- */

/* Does a row of part p have an entry in column j? */
static bool needs(const struct csr *A, const struct partition *P, int p, int64_t j)
{
    for (int64_t at = P->first[p]; at < P->first[p + 1]; at++)
        if (csr_find(A, partition_row(P, at), j) >= 0) return true;
    return false;
}

/* The column of A of column c of a part's outside, or of its inside. */
static int64_t column_of(const struct partition *P, const struct part *part, bool outside, int c)
{
    return outside ? part->halo[c] : partition_row(P, P->first_col[part->number] + c);
}

/* Every entry of one of the two matrices of a part is that entry of A, on the right side. Returns the entries. */
static int64_t check_entries(const char *what, const struct csr *A, const struct partition *P, const struct part *part,
                             bool outside)
{
    const struct csr *B = outside ? &part->outside : &part->inside;
    struct err e = {0};
    if (!csr_check(B, &e)) fail_msg("%s, part %d: %s", what, part->number, e.text);
    assert_int_equal(!B->imag, !A->imag);
    assert_int_equal(B->rows, partition_rows_of(P, part->number));
    for (int64_t r = 0; r < B->rows; r++)
        for (int k = B->rowptr[r]; k < B->rowptr[r + 1]; k++) {
            int64_t j = column_of(P, part, outside, B->col[k]);
            int64_t from = csr_find(A, partition_row(P, P->first[part->number] + r), j);
            if (from < 0 || A->val[from] != B->val[k] || (A->imag && A->imag[from] != B->imag[k]))
                fail_msg("%s, part %d: entry (%ld, %d)", what, part->number, (long)r, B->col[k]);
            assert_int_equal(partition_col_owner(P, j) != part->number, outside);
        }
    return B->nnz;
}

/* The halo holds every column that the part needs and others own: by owner, and ascending. */
static void check_halo(const char *what, const struct csr *A, const struct partition *P, const struct part *part)
{
    int64_t at = 0;
    int neighbour = 0;
    for (int q = 0; q < P->parts; q++) {
        int64_t from = at;
        for (int64_t c = P->first_col[q]; q != part->number && c < P->first_col[q + 1]; c++) {
            if (!needs(A, P, part->number, partition_row(P, c))) continue;
            if (at >= part_halo(part) || part->halo[at] != partition_row(P, c))
                fail_msg("%s, part %d: item %ld of the halo", what, part->number, (long)at);
            at++;
        }
        if (at == from) continue;
        assert_true(neighbour < part->from.n);
        assert_int_equal(part->from.part[neighbour], q);
        assert_int_equal(part->from.first[neighbour], from);
        assert_int_equal(part->from.first[++neighbour], at);
    }
    assert_int_equal(at, part_halo(part));
    assert_int_equal(neighbour, part->from.n);
}

/* Copy x to all halos by the lists of what is sent, and look whether every halo then holds the items it names. */
static void check_exchange(const char *what, const struct partition *P, const struct part *part)
{
    int64_t sent = 0, received = 0;
    for (int p = 0; p < P->parts; p++) {
        received += part_halo(&part[p]);
        for (int t = 0; t < part[p].to.n; t++) {
            const struct part *to = &part[part[p].to.part[t]];
            int i = 0;
            assert_true(t == 0 || part[p].to.part[t] > part[p].to.part[t - 1]);
            while (i < to->from.n && to->from.part[i] != p) i++;
            assert_true(i < to->from.n);
            assert_int_equal(to->from.first[i + 1] - to->from.first[i], part[p].to.first[t + 1] - part[p].to.first[t]);
            for (int64_t s = part[p].to.first[t]; s < part[p].to.first[t + 1]; s++, sent++) {
                int64_t item = partition_row(P, P->first_col[p] + part[p].send[s]);
                if (to->halo[to->from.first[i] + s - part[p].to.first[t]] != item)
                    fail_msg("%s: part %d sends %ld to part %d", what, p, (long)item, to->number);
            }
        }
        assert_int_equal(part_sends(&part[p]), part[p].to.n ? part[p].to.first[part[p].to.n] : 0);
    }
    assert_int_equal(sent, received);
}

static bool same_neighbours(const struct neighbours *a, const struct neighbours *b)
{
    return a->n == b->n && !memcmp(a->part, b->part, (size_t)a->n * sizeof *a->part) &&
           !memcmp(a->first, b->first, ((size_t)a->n + 1) * sizeof *a->first);
}

static void check_single(const struct csr *A, const struct partition *P, const struct part *part)
{
    struct part one;
    assert_true(part_extract(&one, A, P, part->number, NULL));
    assert_true(csr_equal(&one.inside, &part->inside) && csr_equal(&one.outside, &part->outside));
    assert_true(same_neighbours(&one.from, &part->from));
    assert_memory_equal(one.halo, part->halo, (size_t)part_halo(part) * sizeof *part->halo);
    assert_int_equal(one.to.n, 0);
    part_free(&one);
}

static void check_parts(const char *what, const struct csr *A, const struct partition *P)
{
    struct err e = {0};
    int64_t nnz = 0;
    struct part *part = parts_extract(A, P, &e);
    if (!part) fail_msg("%s: %s", what, e.text);
    for (int p = 0; p < P->parts; p++) {
        assert_int_equal(part[p].number, p);
        nnz += check_entries(what, A, P, &part[p], false) + check_entries(what, A, P, &part[p], true);
        assert_int_equal(part[p].inside.cols, partition_cols_of(P, p));
        check_halo(what, A, P, &part[p]);
        if (p < 3) check_single(A, P, &part[p]);
    }
    assert_int_equal(nnz, A->nnz);
    check_exchange(what, P, part);
    parts_free(part, P->parts);
}

/* ---- all shapes, ways and numbers of parts ---- */

/* Is the way there, and can it divide A into that many parts? Libraries may be missing, and refuse more parts than
   rows. */
static bool divided(struct partition *P, const struct way *way, const struct csr *A, int parts, const char *what)
{
    struct err e = {0};
    if (partition_new(P, way, A, parts, NULL, &e)) return true;
    if (!way->by_owner || e.code != E_UNSUPPORTED) fail_msg("%s: %s", what, e.text);
    return false;
}

static void check_all(const char *name, const struct csr *A, int n)
{
    for (int i = 0; ways[i]; i++)
        for (int c = 0; c < n; c++) {
            char what[100];
            struct partition P;
            snprintf(what, sizeof what, "%s, %s, %d parts", name, ways[i]->name, counts[c]);
            if (!divided(&P, ways[i], A, counts[c], what)) continue;
            assert_ptr_equal(P.way, ways[i]);
            check_partition(what, A, &P, counts[c]);
            check_parts(what, A, &P);
            partition_free(&P);
        }
}

TEST(test_shapes)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5), C = shape_csr_complex(s, 6);
        check_all(s->name, &A, COUNT(counts));
        check_all(s->name, &C, 2);
        csr_free(&A);
        csr_free(&C);
    }
}

TEST(test_grid)
{
    struct csr A = made("poisson2d", 30, 20), B = made("circuit", 700, 2);
    check_all("poisson2d 30 20", &A, COUNT(counts));
    check_all("circuit 700 2", &B, COUNT(counts));
    csr_free(&A);
    csr_free(&B);
}

/* A grid of 20 x 12 points in 4 contiguous parts: each part has 3 lines of 20 points, and needs one line of each
   neighbour. */
TEST(test_lines)
{
    struct csr A = made("poisson2d", 20, 12);
    struct partition P;
    assert_true(partition_rows(&P, &A, 4, NULL));
    struct part *part = parts_extract(&A, &P, NULL);
    assert_non_null(part);
    for (int p = 0; p < 4; p++) {
        int sides = (p > 0) + (p < 3);
        assert_int_equal(part[p].inside.rows, 60);
        assert_int_equal(part[p].from.n, sides);
        assert_int_equal(part_halo(&part[p]), 20 * sides);
        assert_int_equal(part_sends(&part[p]), 20 * sides);
        assert_int_equal(part[p].outside.nnz, 20 * sides);
    }
    assert_int_equal(part[1].send[0], 0);
    assert_int_equal(part[1].send[20], 40);
    parts_free(part, 4);
    partition_free(&P);
    csr_free(&A);
}

/* Random owners, also with empty parts: the general case of a way of graphs. */
TEST(test_owners)
{
    struct csr A = made("circuit", 400, 3);
    uint64_t seed = 11;
    int owner[400];
    struct partition P, Q;
    for (int i = 0; i < 400; i++) owner[i] = 1 + (int)(random_next(&seed) % 9) / 2 * 2;
    assert_true(partition_of_owners(&P, 400, 11, owner, NULL));
    check_partition("random owners", &A, &P, 11);
    for (int i = 0; i < 400; i++) assert_int_equal(partition_owner(&P, i), owner[i]);
    check_parts("random owners", &A, &P);
    assert_true(partition_copy(&Q, &P, NULL));
    check_partition("a copy", &A, &Q, 11);
    for (int i = 0; i < 400; i++) assert_int_equal(partition_owner(&Q, i), owner[i]);
    partition_free(&Q);
    partition_free(&P);
    csr_free(&A);
}

/* ---- balance ---- */

/* No boundary can be moved and come nearer to its share of the weight: `entry` for a nonzero and `row` for a row. */
static void check_balance(const char *way, int64_t entry, int64_t row)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 9);
        struct partition P;
        assert_true(partition_new(&P, way_find(way), &A, 5, NULL, NULL));
        int64_t whole = A.nnz * entry + A.rows * row;
        for (int p = 1; A.nnz && p < 5; p++) {
            int64_t target = whole * p / 5, at = P.first[p], off = llabs(A.rowptr[at] * entry + at * row - target);
            for (int64_t i = P.first[p - 1]; i <= A.rows; i++)
                if (llabs(A.rowptr[i] * entry + i * row - target) < off)
                    fail_msg("%s, %s: part %d ends badly", s->name, way, p);
        }
        check_partition(s->name, &A, &P, 5);
        partition_free(&P);
        csr_free(&A);
    }
}

TEST(test_balance)
{
    check_balance("nnz", 1, 0);
    check_balance("bytes", 12, 40);
}

/* Three rows of two entries in two parts: half of the entries lies in the middle of the second row, as near to its
   beginning as to its end. The first part ends at the earlier of the two. */
TEST(test_tie)
{
    struct csr A;
    struct partition P;
    assert_true(csr_new(&A, 3, 2, 6, false, NULL));
    for (int k = 0; k < 6; k++) A.col[k] = k % 2;
    for (int i = 0; i <= 3; i++) A.rowptr[i] = 2 * i;
    assert_true(partition_nnz(&P, &A, 2, NULL));
    assert_int_equal(P.first[1], 1);
    assert_int_equal(P.first[2], 3);
    partition_free(&P);
    csr_free(&A);
}

TEST(test_shares)
{
    struct csr A = made("random", 4000, 10);
    static const double share[] = {3, 0, 1, 4}, bad[] = {1, -1, 1, 1}, none[] = {0, 0, 0, 0};
    struct partition P;
    assert_true(partition_shares(&P, &A, 4, share, NULL));
    check_partition("shares", &A, &P, 4);
    for (int p = 0; p < 4; p++) {
        double n = A.rowptr[P.first[p + 1]] - A.rowptr[P.first[p]];
        if (fabs(n / (double)A.nnz - share[p] / 8) > 0.01) fail_msg("part %d has %g nonzeros", p, n);
    }
    assert_int_equal(partition_rows_of(&P, 1), 0);
    check_parts("shares", &A, &P);
    partition_free(&P);
    assert_false(partition_shares(&P, &A, 4, bad, NULL));
    assert_false(partition_shares(&P, &A, 4, none, NULL));
    csr_free(&A);
}

/* ---- what is exchanged ---- */

/* The columns that part p needs of part q, counted by marking them. `mark` has room for all columns and is all 0. */
static int64_t plain_items(const struct csr *A, const struct partition *P, int p, int q, bool *mark)
{
    int64_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t at = P->first[p]; at < P->first[p + 1]; at++) {
            int64_t i = partition_row(P, at);
            for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) {
                int j = A->col[k];
                if (partition_col_owner(P, j) != q) continue;
                n += !pass && !mark[j];
                mark[j] = !pass;
            }
        }
    return n;
}

static int64_t plain_edges(const struct csr *A, const struct partition *P, bool cut)
{
    struct graph g;
    int64_t n = 0;
    assert_true(graph_new(&g, A, NULL, NULL));
    for (int i = 0; i < g.n; i++)
        for (int k = g.ptr[i]; k < g.ptr[i + 1]; k++)
            n += g.adj[k] > i && (!cut || partition_owner(P, i) != partition_owner(P, g.adj[k]));
    graph_free(&g);
    return n;
}

static int64_t plain_outside(const struct csr *A, const struct partition *P, int p)
{
    int64_t n = 0;
    for (int64_t at = P->first[p]; at < P->first[p + 1]; at++) {
        int64_t i = partition_row(P, at);
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) n += partition_col_owner(P, A->col[k]) != p;
    }
    return n;
}

static void check_exchange_of(const char *what, const struct csr *A, const struct partition *P)
{
    struct exchange x;
    struct err e = {0};
    int64_t outside = 0, halo = 0, most = 0, *out = calloc((size_t)P->parts, sizeof *out);
    int *takers = calloc((size_t)P->parts, sizeof *takers);
    bool *mark = calloc((size_t)A->cols + 1, 1);
    assert_true(out && mark && takers);
    if (!exchange_of(&x, A, P, &e)) fail_msg("%s: %s", what, e.text);
    for (int p = 0; p < P->parts; p++) {
        int64_t in = 0, links = 0;
        for (int q = 0; q < P->parts; q++) {
            int64_t n = q == p ? 0 : plain_items(A, P, p, q, mark);
            if (exchange_items(&x, p, q) != n)
                fail_msg("%s: part %d receives %ld of %d, not %ld", what, p, (long)n, q,
                         (long)exchange_items(&x, p, q));
            in += n;
            links += n > 0;
            out[q] += n;
            takers[q] += n > 0;
        }
        assert_int_equal(x.part[p].halo_in, in);
        assert_int_equal(x.part[p].from, links);
        assert_int_equal(x.part[p].rows, partition_rows_of(P, p));
        assert_int_equal(x.part[p].outside, plain_outside(A, P, p));
        int64_t all = x.part[p].inside + x.part[p].outside, entries = 0;
        for (int64_t at = P->first[p]; at < P->first[p + 1]; at++) entries += csr_row_length(A, partition_row(P, at));
        assert_int_equal(all, entries);
        if (entries > most) most = entries;
        outside += x.part[p].outside;
        halo += in;
    }
    struct part_most worst = exchange_most(&x);
    int64_t most_out = 0, most_to = 0;
    for (int p = 0; p < P->parts; p++) {
        assert_int_equal(x.part[p].halo_out, out[p]);
        assert_int_equal(x.part[p].to, takers[p]);
        if (out[p] > most_out) most_out = out[p];
        if (takers[p] > most_to) most_to = takers[p];
    }
    assert_int_equal(worst.most.halo_out, most_out);
    assert_int_equal(worst.most.to, most_to);
    double imbalance = A->nnz ? (double)most * P->parts / (double)A->nnz : 1;
    assert_float_equal(exchange_most(&x).imbalance, imbalance, 1e-12 * imbalance);
    assert_int_equal(x.outside, outside);
    assert_int_equal(x.inside, A->nnz - outside);
    assert_int_equal(x.halo, halo);
    assert_int_equal(x.edges, A->rows == A->cols ? plain_edges(A, P, false) : -1);
    assert_int_equal(x.edge_cut, A->rows == A->cols ? plain_edges(A, P, true) : -1);
    exchange_free(&x);
    free(out);
    free(takers);
    free(mark);
}

static void exchange_all(const char *name, const struct csr *A, int parts)
{
    for (int i = 0; ways[i]; i++) {
        char what[120];
        struct partition P, Q;
        snprintf(what, sizeof what, "%s, %s, %d parts", name, ways[i]->name, parts);
        if (!divided(&P, ways[i], A, parts, what)) continue;
        check_exchange_of(what, A, &P);
        assert_true(partition_sorted(&Q, &P, NULL));
        assert_null(Q.order);
        assert_memory_equal(Q.first, P.first, ((size_t)parts + 1) * sizeof *P.first);
        partition_free(&Q);
        partition_free(&P);
    }
}

TEST(test_exchange)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 8);
        exchange_all(s->name, &A, 5);
        csr_free(&A);
    }
    struct csr A = made("rmat", 9, 6), B = made("poisson3d", 9, 8);
    exchange_all("rmat 9 6", &A, 9);
    exchange_all("poisson3d 9 8", &B, 16);
    csr_free(&A);
    csr_free(&B);
}

/* A part of 10^5 has one row: what it needs are the columns of its row. */
TEST(test_many_parts)
{
    struct csr A = made("poisson2d", 400, 250);
    struct partition P;
    struct exchange x;
    assert_true(partition_rows(&P, &A, 100000, NULL) && exchange_of(&x, &A, &P, NULL));
    for (int p = 0; p < P.parts; p++) {
        assert_int_equal(x.part[p].inside, 1);
        assert_int_equal(x.part[p].from, csr_row_length(&A, p) - 1);
    }
    assert_int_equal(x.edge_cut, x.edges);
    struct part_most most = exchange_most(&x);
    assert_int_equal(most.most.halo_in, 4);
    assert_int_equal(most.least.halo_in, 2);
    exchange_free(&x);
    partition_free(&P);
    csr_free(&A);
}

/* Real matrices: symmetric and not, square and rectangular. */
TEST(test_real)
{
    static const char *const names[] = {"cat_ears_3_1", "illc1033", "lp_e226_transposed",
                                        "lp_share1b",   "young1c",  "Chebyshev1",
                                        "add32",        "arc130",   "bfwa398",
                                        "bp_0",         "bp_1000",  "bwm200",
                                        "1138_bus",     "3elt",     "Erdos971",
                                        "G51",          "GD97_a",   "Trefethen_150",
                                        "ash292",       "3elt_dual"};
    const char *folder = collection_folder("parts of real matrices");
    if (!folder) skip();
    for (int i = 0; i < COUNT(names); i++) {
        char path[1024];
        struct csr A;
        struct load_info info = {0};
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, names[i]);
        if (!file_load(path, NULL, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
        exchange_all(names[i], &A, 4);
        exchange_all(names[i], &A, 13);
        csr_free(&A);
    }
}

/* ---- libraries ---- */

/* Edges of the graph of A + A' between parts. */
static int64_t edges_cut(const struct graph *g, const struct partition *P)
{
    int64_t cut = 0;
    for (int i = 0; i < g->n; i++)
        for (int k = g->ptr[i]; k < g->ptr[i + 1]; k++)
            cut += g->adj[k] > i && partition_owner(P, i) != partition_owner(P, g->adj[k]);
    return cut;
}

static int64_t most_nonzeros(const struct csr *A, const struct partition *P)
{
    int64_t most = 0;
    for (int p = 0; p < P->parts; p++) {
        int64_t n = 0;
        for (int64_t at = P->first[p]; at < P->first[p + 1]; at++) n += csr_row_length(A, partition_row(P, at));
        most = n > most ? n : most;
    }
    return most;
}

/* A shuffled grid has no contiguous parts with few edges between them; a library finds the grid again. Two runs agree.
 */
TEST(test_cuts)
{
    struct csr A = made("poisson2d", 60, 60), S;
    struct graph g;
    int perm[3600];
    uint64_t seed = 3;
    for (int i = 0; i < 3600; i++) {
        int j = (int)(random_next(&seed) % (uint64_t)(i + 1));
        perm[i] = perm[j];
        perm[j] = i;
    }
    assert_true(reorder_apply(&S, &A, perm, NULL, NULL) && graph_new(&g, &S, NULL, NULL));
    for (int i = 0; ways[i]; i++) {
        struct partition P, Q;
        if (!ways[i]->by_owner || !divided(&P, ways[i], &S, 9, ways[i]->name)) continue;
        assert_true(partition_new(&Q, ways[i], &S, 9, NULL, NULL));
        assert_memory_equal(P.order, Q.order, 3600 * sizeof *P.order);
        int64_t cut = edges_cut(&g, &P), most = most_nonzeros(&S, &P);
        if (cut > 340 || cut < 200) fail_msg("%s: %ld edges cut", ways[i]->name, (long)cut); /* 9 squares: 240 */
        if ((double)most > 1.05 * (double)S.nnz / 9) fail_msg("%s: %ld nonzeros", ways[i]->name, (long)most);
        partition_free(&P);
        partition_free(&Q);
    }
    graph_free(&g);
    csr_free(&A);
    csr_free(&S);
}

typedef int kway_fn(int *, int *, int *, int *, int *, int *, int *, int *, float *, float *, int *, int *, int *);

/* The edges that we count between METIS's parts are METIS's own count. */
static void check_objective(const char *name, kway_fn *kway, const struct csr *A, int parts)
{
    struct graph g;
    struct partition P;
    assert_true(graph_new(&g, A, NULL, NULL));
    assert_true(partition_new(&P, way_find("metis"), A, parts, NULL, NULL));
    int one = 1, cut = -1, *owner = calloc((size_t)g.n, sizeof *owner), *weight = calloc((size_t)g.n, sizeof *weight);
    float imbalance = 1.03f;
    assert_true(owner && weight);
    for (int i = 0; i < g.n; i++) weight[i] = csr_row_length(A, i) ? (int)csr_row_length(A, i) : 1;
    kway(&g.n, &one, g.ptr, g.adj, weight, NULL, NULL, &parts, NULL, &imbalance, NULL, &cut, owner);
    struct exchange x;
    assert_true(exchange_of(&x, A, &P, NULL));
    if (x.edge_cut != cut || edges_cut(&g, &P) != cut)
        fail_msg("%s: %ld and %ld edges, METIS counts %d", name, (long)x.edge_cut, (long)edges_cut(&g, &P), cut);
    exchange_free(&x);
    for (int i = 0; i < g.n; i++) assert_int_equal(owner[i], partition_owner(&P, i));
    free(owner);
    free(weight);
    partition_free(&P);
    graph_free(&g);
}

/* A square matrix of the collection. */
static bool square_matrix(const char *folder, const char *name, struct csr *A)
{
    char path[1024];
    struct load_info info = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, name);
    if (!file_load(path, NULL, NULL, A, &info, &e)) fail_msg("%s: %s", path, e.text);
    return A->rows == A->cols || (csr_free(A), false);
}

TEST(test_objective_real)
{
    static const char *const names[] = {
        "1138_bus", "494_bus",       "662_bus",       "685_bus",     "3elt",       "3elt_dual",  "add32",
        "arc130",   "bfwa398",       "bp_0",          "bp_1000",     "bwm200",     "Chebyshev1", "Erdos971",
        "G51",      "Trefethen_150", "Trefethen_300", "USpowerGrid", "airfoil_2d", "Harvard500",
    };
    const char *folder = collection_folder("edge cuts of real matrices");
    void *library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
    kway_fn *kway = NULL;
    if (library) *(void **)&kway = dlsym(library, "METIS_PartGraphKway");
    if (!kway || !folder) skip();
    for (int i = 0; i < COUNT(names); i++) {
        struct csr A;
        if (!square_matrix(folder, names[i], &A)) fail_msg("%s is not square", names[i]);
        check_objective(names[i], kway, &A, 4);
        csr_free(&A);
    }
    dlclose(library);
}

TEST(test_objective)
{
    void *library = dlopen("libmetis.so.5", RTLD_NOW | RTLD_LOCAL);
    kway_fn *kway = NULL;
    if (library) *(void **)&kway = dlsym(library, "METIS_PartGraphKway");
    if (!kway) skip();
    struct csr A = made("poisson2d", 50, 41), B = made("circuit", 3000, 2), C = made("rmat", 10, 8);
    check_objective("poisson2d", kway, &A, 8);
    check_objective("circuit", kway, &B, 16);
    check_objective("rmat", kway, &C, 5);
    csr_free(&A);
    csr_free(&B);
    csr_free(&C);
    dlclose(library);
}

static bool is_installed(const struct way *way, const struct csr *A)
{
    struct partition P;
    struct err e = {0};
    if (!partition_new(&P, way, A, 2, NULL, &e)) return false;
    partition_free(&P);
    return true;
}

/* No part is empty, not even with one row for each. */
TEST(test_no_part_is_empty)
{
    static const struct {
        int64_t a, b;
        int parts;
    } few[] = {{3, 1, 2}, {3, 1, 3}, {10, 6, 60}, {10, 6, 41}, {7, 1, 6}};
    static const char *const names[] = {"metis", "scotch"};
    for (int k = 0; k < COUNT(few); k++) {
        struct csr A = made("poisson2d", few[k].a, few[k].b);
        for (int i = 0; i < COUNT(names); i++) {
            struct partition P;
            if (!is_installed(way_find(names[i]), &A)) continue;
            assert_true(partition_new(&P, way_find(names[i]), &A, few[k].parts, NULL, NULL));
            for (int p = 0; p < P.parts; p++)
                if (P.first[p] == P.first[p + 1])
                    fail_msg("%s: part %d of %d of %ld rows is empty", names[i], p, P.parts, (long)A.rows);
            check_order(names[i], &P);
            partition_free(&P);
        }
        csr_free(&A);
    }
}

/* Scotch's parts do not depend on the number of threads that its environment asks for. */
TEST(test_threads_of_scotch)
{
    struct csr A = made("rmat", 12, 8);
    struct partition P, Q;
    if (!is_installed(way_find("scotch"), &A)) skip();
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    assert_true(partition_new(&P, way_find("scotch"), &A, 8, NULL, NULL));
    for (int threads = 2; threads <= 4; threads++) {
        char number[12];
        snprintf(number, sizeof number, "%d", threads);
        setenv("SCOTCH_PTHREAD_NUMBER", number, 1);
        assert_true(partition_new(&Q, way_find("scotch"), &A, 8, NULL, NULL));
        for (int64_t row = 0; row < A.rows; row++) assert_int_equal(partition_owner(&P, row), partition_owner(&Q, row));
        partition_free(&Q);
    }
    unsetenv("SCOTCH_PTHREAD_NUMBER");
    partition_free(&P);
    csr_free(&A);
}

TEST(test_missing_library)
{
    struct shared_library *library[] = {&partition_metis, &partition_scotch};
    struct csr A = made("poisson2d", 6, 6);
    for (int i = 0; i < COUNT(library); i++) {
        const char *file = library[i]->file;
        struct partition P;
        struct err e = {0};
        library[i]->file = "libparts-that-is-not-there.so.5";
        assert_false(partition_new(&P, way_find(i ? "scotch" : "metis"), &A, 2, NULL, &e));
        assert_int_equal(e.code, E_UNSUPPORTED);
        assert_non_null(strstr(e.text, "libparts-that-is-not-there.so.5, which is not installed; install the package"));
        assert_non_null(strstr(e.text, library[i]->package));
        library[i]->file = file;
    }
    csr_free(&A);
}

struct time_limit {
    double begin;
};

static bool stop_after_20_ms(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct time_limit *t = w->user;
    return now_us() - t->begin < 20000;
}

/* Ctrl-C ends a library at once, though the library does not know of it. */
TEST(test_library_cancelled)
{
    struct csr A = made("poisson2d", 700, 700);
    for (int i = 0; ways[i]; i++) {
        struct time_limit t = {now_us()};
        struct watch w = {stop_after_20_ms, &t};
        struct partition P;
        struct err e = {0};
        if (!ways[i]->by_owner || !divided(&P, ways[i], &A, 2, ways[i]->name)) continue;
        partition_free(&P);
        t.begin = now_us();
        assert_false(partition_new(&P, ways[i], &A, 64, &w, &e));
        assert_int_equal(e.code, E_CANCELLED);
        double late = now_us() - t.begin - 20000;
        if (late > 1e6) fail_msg("%s: cancelled after %g us", ways[i]->name, late);
    }
    csr_free(&A);
}

/* ---- large matrices, refusals, failures, cancelling ---- */

/* The matrix has wide row pointers, its parts do not need them. */
TEST(test_large)
{
    struct csr A = made("poisson2d", 30, 20);
    csr_set_most_small(2000);
    struct csr L = made("poisson2d", 30, 20);
    assert_true(csr_is_large(&L));
    struct partition P, Q;
    for (int i = 0; i < 2; i++) {
        assert_true(partition_new(&P, ways[i], &A, 4, NULL, NULL));
        assert_true(partition_new(&Q, ways[i], &L, 4, NULL, NULL));
        struct part *small = parts_extract(&A, &P, NULL), *large = parts_extract(&L, &Q, NULL);
        assert_true(small && large);
        for (int p = 0; p < 4; p++) {
            assert_true(csr_equal(&small[p].inside, &large[p].inside));
            assert_true(csr_equal(&small[p].outside, &large[p].outside));
            assert_false(csr_is_large(&large[p].inside));
        }
        parts_free(small, 4);
        parts_free(large, 4);
        partition_free(&P);
        partition_free(&Q);
    }
    csr_set_most_small(0);
    csr_free(&A);
    csr_free(&L);
}

TEST(test_refused)
{
    struct csr A = made("random", 5, 2);
    int owner[] = {0, 1, 2, 0, 0};
    struct partition P;
    for (int i = 0; i < 3; i++) {
        static const int bad[] = {0, -1, PARTS_MAX + 1};
        struct err e = {0};
        assert_false(partition_rows(&P, &A, bad[i], &e));
        assert_int_equal(e.code, E_USAGE);
        assert_non_null(strstr(e.text, "from 1 to 1048576"));
        assert_null(P.first);
    }
    struct err e = {0};
    assert_false(partition_of_owners(&P, 5, 2, owner, &e));
    assert_int_equal(e.code, E_INTERNAL);
    assert_non_null(strstr(e.text, "row 2 belongs to part 2"));
    csr_free(&A);
}

static const struct way *failing;

static bool go(const void *user, struct err *e)
{
    const struct csr *A = user;
    struct partition P, Q;
    if (!partition_new(&P, failing, A, 3, NULL, e)) return false;
    struct part *part = parts_extract(A, &P, e);
    bool ok = part && partition_copy(&Q, &P, e);
    if (ok) partition_free(&Q);
    parts_free(part, 3);
    partition_free(&P);
    return ok;
}

static bool present(const struct way *way)
{
    struct csr A = made("poisson2d", 6, 6);
    struct partition P;
    bool ok = divided(&P, way, &A, 2, way->name);
    if (ok) partition_free(&P);
    if (!ok) print_message("skipped: %s is not here\n", way->name);
    csr_free(&A);
    return ok;
}

TEST(test_allocations)
{
    struct csr A = made("random", 40, 3), B = made("poisson2d", 8, 8);
    B.cols++;
    for (int i = 0; ways[i]; i++) {
        if (!present(failing = ways[i])) continue;
        assert_true(fail_each(go, &A) > 10);
        if (!ways[i]->by_owner) assert_true(fail_each(go, &B) > 10);
    }
    csr_free(&A);
    csr_free(&B);
}

static bool stop_after(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return --*(int *)w->user > 0;
}

/* Cancel at each of the first calls of the watch, then at ever fewer of them, until nothing is left to cancel. */
TEST(test_cancelled)
{
    struct csr A = made("poisson2d", 60, 60);
    for (int i = 0; ways[i]; i++) {
        if (!present(ways[i])) continue;
        int ticks = 0;
        for (bool done = false; !done; ticks += 1 + ticks / 8) {
            int left = ticks;
            struct watch w = {stop_after, &left};
            struct partition P;
            struct err e = {0};
            loop_check_all(true);
            struct watch *was = loop_enter(&w);
            bool ok = partition_new(&P, ways[i], &A, 5, &w, &e);
            struct part *part = ok ? parts_extract(&A, &P, &e) : NULL;
            done = part != NULL;
            loop_enter(was);
            loop_check_all(false);
            if (!done) assert_int_equal(e.code, E_CANCELLED);
            parts_free(part, 5);
            partition_free(&P);
        }
        if (ticks < 5) fail_msg("%s: only %d ticks", ways[i]->name, ticks);
    }
    csr_free(&A);
}
