/* The ordering `fiedler`: each connected part of the graph is sorted by its Fiedler vector, the eigenvector of the
   second smallest eigenvalue of the Laplacian (Fiedler 1973; for envelopes: Barnard, Pothen and Simon 1995). */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "dense_symmetric.h"
#include "eigen.h"
#include "eigen_measure.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"

#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 60 }; /* the Laplacian of a part of this many nodes is stored as a dense matrix */
/* The Laplacian is singular, so the shift is below 0: -1e-6 times a bound of the norm. */
static const double below = 1e-6;
static const double tol = 1e-6;
static const char title[] = "ordering by Fiedler vectors";

/* The connected parts: part k has the nodes node[start[k]] .. node[start[k + 1] - 1], ascending. */
struct parts {
    int n;
    int *start, *node;
    int *local;     /* the position of each node in its part */
    int *of;        /* the part of each node */
    double *vector; /* [nodes], in the order of `node` */
};

static void parts_free(struct parts *p)
{
    mem_free(p->start);
    mem_free(p->node);
    mem_free(p->local);
    mem_free(p->of);
    mem_free(p->vector);
}

static bool parts_room(struct parts *p, int64_t n, struct err *e)
{
    *p = (struct parts){0};
    p->start = mem_zero(n + 1, sizeof *p->start, title, e);
    p->node = p->start ? mem_new(n, sizeof *p->node, title, e) : NULL;
    p->local = p->node ? mem_new(n, sizeof *p->local, title, e) : NULL;
    p->of = p->local ? mem_new(n, sizeof *p->of, title, e) : NULL;
    p->vector = p->of ? mem_new(n, sizeof *p->vector, title, e) : NULL;
    return p->vector && loop_fill(p->of, n, -1, title, e);
}

/* Label the nodes that are connected with `from`, by breadth-first search; p->node serves as the queue. */
static void label(struct parts *p, const struct graph *g, int from, struct loop *l)
{
    int head = 0, tail = 0;
    p->of[from] = p->n;
    p->node[tail++] = from;
    while (head < tail && loop_goes(l, head)) {
        int i = p->node[head++];
        for (int k = g->ptr[i]; k < g->ptr[i + 1]; k++) {
            int j = g->adj[k];
            if (p->of[j] >= 0) continue;
            p->of[j] = p->n;
            p->node[tail++] = j;
        }
    }
    p->start[++p->n] = tail;
}

static bool find_parts(struct parts *p, const struct graph *g, struct err *e)
{
    if (!parts_room(p, g->n, e)) return false;
    struct loop l = loop_of(title, g->n);
    for (int i = 0; i < g->n && loop_goes(&l, i); i++)
        if (p->of[i] < 0) label(p, g, i, &l);
    for (int k = 0; k < p->n; k++) p->start[k + 1] += p->start[k];
    int *at = mem_zero((int64_t)p->n + 1, sizeof *at, title, e);
    if (!at || !loop_end(&l, e)) {
        mem_free(at);
        return false;
    }
    for (int i = 0; i < g->n && loop_goes(&l, i); i++) {
        int k = p->of[i];
        p->local[i] = at[k];
        p->node[p->start[k] + at[k]++] = i;
    }
    mem_free(at);
    return loop_end(&l, e);
}

/* ---- the Laplacian of a part ---- */

static int size_of(const struct parts *p, int k)
{
    return p->start[k + 1] - p->start[k];
}

static bool laplacian(struct csr *L, const struct graph *g, const struct parts *p, int k, struct err *e)
{
    int n = size_of(p, k), at = 0;
    const int *node = p->node + p->start[k];
    int64_t nnz = n;
    for (int i = 0; i < n; i++) nnz += g->ptr[node[i] + 1] - g->ptr[node[i]];
    if (!csr_limits(n, n, nnz, e) || !csr_new(L, n, n, nnz, false, e)) return false;
    struct loop l = loop_of(title, n);
    for (int i = 0; i < n && loop_goes(&l, i); i++) {
        int from = g->ptr[node[i]], end = g->ptr[node[i] + 1];
        for (int j = from; j <= end; j++) { /* the diagonal comes before the first neighbour of a higher number */
            bool after = j == end || g->adj[j] > node[i], first = j == from || g->adj[j - 1] < node[i];
            if (after && first) L->col[at] = i, L->val[at++] = end - from;
            if (j < end) L->col[at] = p->local[g->adj[j]], L->val[at++] = -1;
        }
        csr_set_start(L, i + 1, at);
    }
    if (loop_end(&l, e)) return true;
    csr_free(L);
    return false;
}

static bool dense_vector(const struct csr *L, double *x, struct watch *w, struct err *e)
{
    int n = (int)L->rows;
    double a[DENSE_MAX * DENSE_MAX] = {0}, value[DENSE_MAX];
    for (int i = 0; i < n; i++)
        for (int64_t k = csr_start(L, i); k < csr_start(L, i + 1); k++) a[L->col[k] * n + i] = L->val[k];
    if (!small_eigen(n, a, value, w, e)) return false;
    memcpy(x, a + n, (size_t)n * sizeof *x);
    eigen_normalise(n, x); /* LAPACK chooses the sign */
    return true;
}

static bool sparse_vector(const struct csr *L, double *x, struct watch *w, struct err *e)
{
    int64_t n = L->rows, longest = csr_longest_row(L);
    struct eigen *v = NULL;
    struct eigen_matrix A = {.name = "the Laplacian", .csr = L, .dev = device_open("cpu", e)};
    struct eigen_options o = {.part = EIGEN_NEAR,
                              .shift = -below * 2 * (double)longest,
                              .pairs = 2,
                              .restarts = 100,
                              .tol = tol,
                              .seed = 1,
                              .quick = true,
                              .watch = w};
    struct err why = {0};
    bool ok = A.dev && eigen_find(&v, &A, &o, &why);
    if (!A.dev) return false;
    if (why.code == E_CANCELLED || (ok && v->cancelled)) ok = fail(e, E_CANCELLED, "%s: cancelled", title);
    if (why.code && why.code != E_CANCELLED) fail_at(e, why.code, why.where, "%s", why.text);
    if (ok && v->pair[1].status == EIGEN_OPEN)
        ok = fail(e, E_NUMERIC,
                  "the Fiedler vector does not converge; try rcm, which also moves entries close to the "
                  "diagonal");
    if (ok) memcpy(x, v->vector + n, (size_t)n * sizeof *x);
    eigen_free(v);
    return ok;
}

static bool vector_of_part(const struct graph *g, struct parts *p, int k, struct watch *w, struct err *e)
{
    double *x = p->vector + p->start[k];
    struct csr L = {0};
    int n = size_of(p, k);
    if (n <= 2) {
        memset(x, 0, (size_t)n * sizeof *x);
        return true;
    }
    bool ok = laplacian(&L, g, p, k, e) && (n <= DENSE_MAX ? dense_vector : sparse_vector)(&L, x, w, e);
    csr_free(&L);
    return ok;
}

/* ---- sorting ---- */

/* Merge two sorted runs of positions, [from, middle) and [middle, end), of equal values in ascending order. */
static void merge(const double *x, const int *in, int *out, int from, int middle, int end, struct loop *l)
{
    int a = from, b = middle;
    for (int i = from; i < end && loop_goes(l, i); i++)
        out[i] = b == end || (a < middle && !(x[in[b]] < x[in[a]])) ? in[a++] : in[b++];
}

/* Merge sort of the positions 0 .. n-1 by x, in `order`; Ctrl-C can end it. */
static bool sort_by(const double *x, int n, int *order, int *room, struct err *e)
{
    int *in = order, *out = room;
    struct loop l = loop_of(title, n);
    for (int i = 0; i < n; i++) order[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t from = 0; from < n; from += 2 * run) {
            int64_t middle = from + run < n ? from + run : n, end = from + 2 * run < n ? from + 2 * run : n;
            merge(x, in, out, (int)from, (int)middle, (int)end, &l);
        }
        int *t = in;
        in = out;
        out = t;
    }
    if (in != order) memcpy(order, in, (size_t)n * sizeof *order);
    return loop_end(&l, e);
}

static bool order_part(const struct graph *g, struct parts *p, int k, int *perm, struct watch *w, struct err *e)
{
    int n = size_of(p, k), from = p->start[k];
    int *room = mem_new(2 * (int64_t)n, sizeof *room, title, e), *order = room;
    bool ok = room && vector_of_part(g, p, k, w, e) && sort_by(p->vector + from, n, order, room + n, e);
    for (int i = 0; ok && i < n; i++) perm[from + i] = p->node[from + order[i]];
    mem_free(room);
    return ok;
}

static bool order_fiedler(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    struct parts p = {0};
    bool ok = small_ready(e) && find_parts(&p, g, e);
    for (int k = 0; ok && k < p.n; k++) ok = order_part(g, &p, k, perm, w, e) && loop_tick(title, p.start[k], g->n, e);
    parts_free(&p);
    return ok;
}

const struct ordering ordering_fiedler = {
    .name = "fiedler",
    .aliases = "spectral",
    .narrows = true,
    .about = "by the Fiedler vector of each connected part: neighbours close, the halves of a part at its ends",
    .source = "Fiedler 1973; Barnard, Pothen and Simon 1995; shift and invert by thick-restart Lanczos",
    .order = order_fiedler,
};
