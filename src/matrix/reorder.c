/* Orderings of a matrix's graph: this file implements rcm and degree, and libraries implement amd and metis; fiedler is
   in src/eigen, and orderings of rows and columns are in reorder_sides.c. The file also computes P A Q'. */
#include "reorder.h"
#include "base/err.h"
#include "base/library_thread.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/watch.h"
#include "csr.h"

#include <dlfcn.h>
#include <limits.h>
#include <omp.h>
#include <signal.h>
#include <string.h>
#include <suitesparse/amd.h>

#define ORDERING(id) extern const struct ordering ordering_##id;
#include "orderings.def"
#undef ORDERING

enum { TICK_WORK = 1 << 18, TICK_ROWS = 1 << 15 }; /* entries, and rows, between two calls of watch_tick */

/* ---- the graph of A + A' ---- */

/* The union of row i of A and row i of its transpose T, without column i. Returns its size. If `to` is not NULL, writes
   the columns to it in ascending order. */
static int unite(const struct csr *A, const struct graph *T, int i, int *to)
{
    int k = A->rowptr[i], t = T->ptr[i], n = 0;
    while (k < A->rowptr[i + 1] || t < T->ptr[i + 1]) {
        int a = k < A->rowptr[i + 1] ? A->col[k] : INT_MAX, b = t < T->ptr[i + 1] ? T->adj[t] : INT_MAX;
        int j = a < b ? a : b;
        k += a == j;
        t += b == j;
        if (j == i) continue;
        if (to) to[n] = j;
        n++;
    }
    return n;
}

static bool graph_room(struct graph *g, int64_t n, int64_t entries, struct err *e)
{
    *g = (struct graph){.n = (int)n};
    g->ptr = mem_zero(n + 1, sizeof *g->ptr, "a graph's rows", e);
    g->adj = g->ptr ? mem_new(entries, sizeof *g->adj, "a graph's edges", e) : NULL;
    if (!g->adj) graph_free(g);
    return g->adj != NULL;
}

void graph_free(struct graph *g)
{
    mem_free(g->ptr);
    mem_free(g->adj);
    *g = (struct graph){0};
}

/* Write the number of edges of each row to degree[], or, if degree is NULL, the edges to g->adj. */
static bool pass(struct graph *g, const struct csr *A, const struct graph *T, int *degree, struct watch *w,
                 struct err *e)
{
    struct loop l = loop_of("the graph of A + A'", T->n);
    for (int64_t first = 0, last; first < T->n; first = last) {
        if (!watch_tick(w, "the graph of A + A'", first, T->n, e)) return false;
        last = T->n - first < TICK_ROWS ? T->n : first + TICK_ROWS;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
        for (int64_t from = first; from < last; from += LOOP_EVERY)
            for (int64_t i = from; i < last && i < from + LOOP_EVERY && loop_goes(&l, i); i++) {
                int n = unite(A, T, (int)i, degree ? NULL : g->adj + g->ptr[i]);
                if (degree) degree[i] = n;
            }
    }
    return loop_end(&l, e);
}

/* g->ptr of the number of edges of each row, and room for the edges. */
static bool count_edges(struct graph *g, const struct csr *A, const struct graph *T, struct watch *w, struct err *e)
{
    int *of = mem_new(A->rows, sizeof *of, "degrees", e);
    int64_t edges = 0;
    bool ok = of && pass(NULL, A, T, of, w, e);
    for (int64_t i = 0; ok && i < A->rows; i++) edges += of[i];
    if (ok && edges > INT_MAX)
        ok = fail(e, E_LIMIT, "A + A' has %lld entries off the diagonal; orderings take at most %d", (long long)edges,
                  INT_MAX);
    ok = ok && graph_room(g, A->rows, edges, e);
    for (int64_t i = 0; ok && i < A->rows; i++) g->ptr[i + 1] = g->ptr[i] + of[i];
    mem_free(of);
    return ok;
}

bool reorder_takes(const struct csr *A, struct err *e)
{
    if (A->rows == A->cols) return true;
    return fail(e, E_UNSUPPORTED,
                "%s and %s: an ordering needs a square matrix, since it moves rows and columns together",
                how_many(A->rows, "row").text, how_many(A->cols, "column").text);
}

bool graph_new(struct graph *g, const struct csr *A, struct watch *w, struct err *e)
{
    struct graph T = {0};
    *g = (struct graph){0};
    if (!reorder_takes(A, e)) return false;
    bool ok = graph_room(&T, A->rows, A->nnz, e);
    if (ok) csr_pattern_transposed(A, T.ptr, T.adj);
    ok = ok && loop_tick("the graph of A + A'", 0, 0, e) && count_edges(g, A, &T, w, e) && pass(g, A, &T, NULL, w, e) &&
         watch_tick(w, "the graph of A + A'", A->rows, A->rows, e);
    graph_free(&T);
    if (!ok) graph_free(g);
    return ok;
}

static int degree(const struct graph *g, int i)
{
    return g->ptr[i + 1] - g->ptr[i];
}

/* ---- degree ---- */

static bool order_degree(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    int *at = mem_zero((int64_t)g->n + 1, sizeof *at, "degrees", e);
    if (!at) return false;
    struct loop l = loop_of("ordering by degree", g->n);
    for (int i = 0; i < g->n && loop_goes(&l, i); i++) at[degree(g, i) + 1]++;
    for (int d = 1; d <= g->n && loop_goes(&l, d); d++) at[d] += at[d - 1];
    for (int i = 0; i < g->n && loop_goes(&l, i); i++) perm[at[degree(g, i)]++] = i;
    mem_free(at);
    return watch_tick(w, "ordering by degree", g->n, g->n, e) && loop_end(&l, e);
}

const struct ordering ordering_degree = {
    .name = "degree",
    .about = "rows with few neighbours first",
    .source = "a counting sort of the degrees, stable",
    .order = order_degree,
};

/* ---- colours ---- */

/* Give each row the smallest colour that no earlier neighbour has; marked[c] is the last row with a neighbour of colour
   c. Returns the number of colours. */
static int colour_rows(const struct graph *g, int *colour, int *marked)
{
    int most = 0;
    struct loop l = loop_of("ordering by colour", g->n);
    for (int i = 0; i < g->n; i++) marked[i] = -1;
    for (int i = 0; i < g->n && loop_goes(&l, i); i++) {
        int c = 0;
        for (int k = g->ptr[i]; k < g->ptr[i + 1] && g->adj[k] < i; k++) marked[colour[g->adj[k]]] = i;
        while (marked[c] == i) c++;
        colour[i] = c;
        if (c >= most) most = c + 1;
    }
    return most;
}

static bool order_colours(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    int *colour = mem_zero(g->n, sizeof *colour, "the colours of rows", e);
    int *at = colour ? mem_new((int64_t)g->n + 1, sizeof *at, "the colours of rows", e) : NULL;
    bool ok = at != NULL;
    struct loop l = loop_of("ordering by colour", g->n);
    int n = ok ? colour_rows(g, colour, at) : 0;
    for (int c = 0; c <= n && ok; c++) at[c] = 0;
    for (int i = 0; i < g->n && ok && loop_goes(&l, i); i++) at[colour[i] + 1]++;
    for (int c = 1; c < n; c++) at[c] += at[c - 1];
    for (int i = 0; i < g->n && ok && loop_goes(&l, i); i++) perm[at[colour[i]]++] = i;
    mem_free(colour);
    mem_free(at);
    return ok && watch_tick(w, "ordering by colour", g->n, g->n, e) && loop_end(&l, e);
}

const struct ordering ordering_colours = {
    .name = "colours",
    .aliases = "colors colour color",
    .about = "colour by colour: rows of one colour are not coupled, so a triangular solve has few levels",
    .source = "first fit, in the order of the rows",
    .looks_back = true,
    .order = order_colours,
};

/* ---- reverse Cuthill-McKee ---- */

enum { SEARCHES = 16 }; /* maximum number of searches for a peripheral node of a component */

struct cuthill {
    struct graph g; /* the neighbours of each node are sorted by ascending degree */
    bool *seen;
    int64_t work;
    struct watch *w;
};

/* Sort each node's neighbours by degree. The function visits the nodes by ascending degree and appends each node to the
   lists of its neighbours. Because the graph is symmetric, each list then contains all neighbours of its node, sorted
   by degree. */
static bool sort_neighbours(struct graph *out, const struct graph *g, const int *by_degree, struct err *e)
{
    if (!graph_room(out, g->n, g->ptr[g->n], e)) return false;
    if (!loop_copy(out->ptr + 1, g->ptr, g->n * (int64_t)sizeof *g->ptr, "sorting neighbours", e)) return false;
    struct loop l = loop_of("sorting neighbours", g->n);
    for (int r = 0; r < g->n && loop_goes(&l, r); r++) {
        int i = by_degree[r];
        for (int k = g->ptr[i]; k < g->ptr[i + 1]; k++) out->adj[out->ptr[g->adj[k] + 1]++] = i;
    }
    return loop_end(&l, e);
}

static bool visited(struct cuthill *c, int row, int64_t done, struct err *e)
{
    c->work += degree(&c->g, row) + 1;
    if (c->work < TICK_WORK) return true;
    c->work = 0;
    return watch_tick(c->w, "reverse Cuthill-McKee", done, c->g.n, e);
}

/* Breadth-first search from root: writes the nodes that can be reached from root to queue, in the order of Cuthill and
   McKee. Returns the number of these nodes, or -1 if cancelled. *depth is the number of levels below the root; *last is
   the index in queue of the first node of the last level. */
static int search(struct cuthill *c, int root, int *queue, int64_t before, int *depth, int *last, struct err *e)
{
    int n = 1, end = 1;
    queue[0] = root;
    c->seen[root] = true;
    *depth = *last = 0;
    for (int q = 0; q < n; q++) {
        if (q == end) *last = q, end = n, ++*depth;
        if (!visited(c, queue[q], before + q, e)) return -1;
        for (int k = c->g.ptr[queue[q]]; k < c->g.ptr[queue[q] + 1]; k++) {
            int j = c->g.adj[k];
            if (c->seen[j]) continue;
            c->seen[j] = true;
            queue[n++] = j;
        }
    }
    return n;
}

static int fewest_neighbours(const struct graph *g, const int *row, int n)
{
    int best = row[0];
    for (int i = 1; i < n; i++)
        if (degree(g, row[i]) < degree(g, best)) best = row[i];
    return best;
}

/* Order one component, starting from a pseudo-peripheral node. To find such a node, repeat the search from a node of
   the last level until the number of levels stops growing. The order of the last search is the result. */
static int component(struct cuthill *c, int root, int *queue, int64_t before, struct err *e)
{
    for (int i = 0, depth, last, best = 0;; i++) {
        int n = search(c, root, queue, before, &depth, &last, e);
        if (n < 0 || depth <= best || i == SEARCHES) return n;
        best = depth;
        root = fewest_neighbours(&c->g, queue + last, n - last);
        for (int q = 0; q < n; q++) c->seen[queue[q]] = false;
    }
}

static void reverse(int *p, int n)
{
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        int t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
}

static bool order_rcm(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    struct cuthill c = {.w = w};
    int n = 0;
    int *first = mem_new(g->n, sizeof *first, "rows by degree", e);
    c.seen = first ? mem_zero(g->n, sizeof *c.seen, "rows seen", e) : NULL;
    bool ok = c.seen && order_degree(g, first, w, e) && sort_neighbours(&c.g, g, first, e);
    for (int i = 0; ok && i < g->n; i++) {
        if (c.seen[first[i]]) continue;
        int more = component(&c, first[i], perm + n, n, e);
        ok = more > 0;
        n += ok ? more : 0;
    }
    if (ok) reverse(perm, n);
    graph_free(&c.g);
    mem_free(c.seen);
    mem_free(first);
    return ok;
}

const struct ordering ordering_rcm = {
    .name = "rcm",
    .aliases = "cuthill-mckee reverse-cuthill-mckee",
    .narrows = true,
    .local = true,
    .about = "reverse Cuthill-McKee: moves entries close to the diagonal, component by component",
    .source = "Cuthill and McKee 1969, reversed (George 1971); start node of George and Liu 1979",
    .order = order_rcm,
};

/* ---- libraries, which cannot be cancelled and therefore run on a worker thread ---- */

struct library_job {
    struct graph g;
    int *perm, *inverse;
    int (*work)(struct library_job *job);
    int state;
};

static void library_work(void *p)
{
    struct library_job *job = p;
    job->state = job->work(job);
}

static void library_done(void *p)
{
    struct library_job *job = p;
    graph_free(&job->g);
    mem_free(job->perm);
    mem_free(job->inverse);
    mem_free(job);
}

static struct library_job *library_new(struct graph *g, int (*work)(struct library_job *), struct err *e)
{
    struct library_job *job = mem_zero(1, sizeof *job, "an ordering", e);
    if (!job) return NULL;
    job->perm = mem_new(g->n, sizeof *job->perm, "an ordering", e);
    job->inverse = job->perm ? mem_new(g->n, sizeof *job->inverse, "an ordering", e) : NULL;
    job->work = work;
    if (job->inverse) {
        job->g = *g;
        *g = (struct graph){0};
        return job;
    }
    library_done(job);
    return NULL;
}

/* Order g by a library; the job takes ownership of g's arrays. `good` is the value that `work` returns on success. */
static bool by_library(struct graph *g, int *perm, const char *what, int (*work)(struct library_job *), int good,
                       struct watch *w, struct err *e)
{
    int n = g->n;
    struct library_job *job = library_new(g, work, e);
    if (!job || !worker_run(library_work, library_done, job, what, w, e)) return false;
    bool ok = job->state == good;
    if (!ok) fail(e, E_MEMORY, "out of memory: %s (the library returned %d)", what, job->state);
    ok = ok && loop_copy(perm, job->perm, n * (int64_t)sizeof *perm, what, e);
    library_done(job);
    return ok;
}

static int work_amd(struct library_job *job)
{
    return amd_order(job->g.n, job->g.ptr, job->g.adj, job->perm, NULL, NULL);
}

static bool order_amd(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    return by_library(g, perm, "ordering by AMD", work_amd, AMD_OK, w, e);
}

const struct ordering ordering_amd = {
    .name = "amd",
    .aliases = "minimum-degree",
    .about = "approximate minimum degree: little fill in a Cholesky factor",
    .source = "AMD of SuiteSparse; Amestoy, Davis, Duff 1996",
    .order = order_amd,
};

/* ---- METIS: the library is opened at first use ---- */

enum { METIS_OPTIONS = 40, METIS_GOOD = 1 };

struct metis {
    void *library;
    const char *opened;
    bool wide; /* built with 64-bit integers */
    int (*options)(void *options);
    int (*order)(int *n, int *ptr, int *adj, int *weight, int *options, int *perm, int *inverse);
};
static struct metis metis;
const char *reorder_metis_name = "libmetis.so.5";

static bool symbol(void *to, const char *name)
{
    void *at = dlsym(metis.library, name);
    *(void **)to = at;
    return at != NULL;
}

/* The width of METIS's integers is a build option, which shows only in the number of bytes that METIS writes. */
static bool metis_suits(void)
{
    int64_t options[METIS_OPTIONS] = {0};
    if (!symbol(&metis.options, "METIS_SetDefaultOptions") || !symbol(&metis.order, "METIS_NodeND")) return false;
    metis.options(options);
    metis.wide = options[METIS_OPTIONS - 1] != 0;
    return !metis.wide;
}

static bool metis_open(struct err *e)
{
    if (metis.opened != reorder_metis_name) {
        struct err why = {0};
        metis.library = shared_open(1, &reorder_metis_name, &why);
        if (why.code) return fail(e, why.code, "%s", why.text);
        metis.opened = reorder_metis_name;
        metis.wide = false;
        if (metis.library && !metis_suits()) {
            dlclose(metis.library);
            metis.library = NULL;
        }
    }
    if (metis.library) return true;
    if (metis.wide)
        return fail(e, E_UNSUPPORTED,
                    "metis needs %s built with 32-bit integers, but the installed library has 64-bit integers",
                    reorder_metis_name);
    return fail(e, E_UNSUPPORTED, "metis needs %s, which is not installed; try amd, which also reduces fill",
                reorder_metis_name);
}

static int work_metis(struct library_job *job)
{
    return metis.order(&job->g.n, job->g.ptr, job->g.adj, NULL, NULL, job->perm, job->inverse);
}

struct saved_signal {
    struct sigaction term;
    struct watch *w;
};

/* METIS installs a SIGTERM handler that crashes if another thread runs it, so restore the previous handler. METIS also
   installs a SIGABRT handler, through which it returns when memory runs out. The SIGABRT handler may stay installed. */
static bool restore_signal(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct saved_signal *k = w->user;
    sigaction(SIGTERM, &k->term, NULL);
    return !k->w || !k->w->tick || k->w->tick(k->w, what, done, total);
}

/* METIS does not accept graphs without edges. */
static bool order_metis(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    struct saved_signal saved = {.w = w};
    struct watch watch = {restore_signal, &saved};
    if (!metis_open(e)) return false;
    if (g->ptr[g->n] == 0) return order_degree(g, perm, w, e);
    sigaction(SIGTERM, NULL, &saved.term);
    return by_library(g, perm, "ordering by METIS", work_metis, METIS_GOOD, &watch, e);
}

const struct ordering ordering_metis = {
    .name = "metis",
    .aliases = "nd nested-dissection",
    .local = true,
    .slow = true,
    .about = "nested dissection: little fill in a Cholesky factor of a large mesh",
    .source = "METIS_NodeND; Karypis and Kumar 1998",
    .order = order_metis,
};

/* ---- P A Q' ---- */

bool moves_new(struct moves *v, int64_t n, bool alike, struct err *e)
{
    *v = (struct moves){.n = n};
    v->rows = mem_new(n, sizeof *v->rows, "an ordering", e);
    v->cols = alike || !v->rows ? v->rows : mem_new(n, sizeof *v->cols, "an ordering", e);
    if (!v->cols) moves_free(v);
    return v->cols;
}

void moves_free(struct moves *v)
{
    if (v->cols != v->rows) mem_free(v->cols);
    mem_free(v->rows);
    mem_free(v->row_exponent);
    mem_free(v->col_exponent);
    *v = (struct moves){0};
}

bool reorder_moves(const struct ordering *o, const struct csr *A, struct moves *out, struct watch *w, struct err *e)
{
    *out = (struct moves){0};
    bool ok = reorder_takes(A, e) &&
              (o->order_sides ? o->order_sides(A, out, w, e)
                              : moves_new(out, A->rows, true, e) && reorder_find(o, A, out->rows, w, e));
    if (!ok) moves_free(out);
    return ok;
}

bool reorder_find(const struct ordering *o, const struct csr *A, int *perm, struct watch *w, struct err *e)
{
    struct graph g;
    if (!o->order)
        return fail(e, E_UNSUPPORTED,
                    "%s moves rows and columns differently, but one order for both is needed here; "
                    "`reorder %s` makes such a matrix",
                    o->name, o->name);
    if (!graph_new(&g, A, w, e)) return false;
    bool ok = o->order(&g, perm, w, e);
    graph_free(&g);
    return ok;
}

bool reorder_find_symmetric(const struct ordering *o, const struct csr *A, int *perm, struct watch *w, struct err *e)
{
    struct graph g = {(int)A->rows, A->rowptr, A->col};
    return o->looks_back ? o->order(&g, perm, w, e) : reorder_find(o, A, perm, w, e);
}

static bool invert(int *inverse, const int *perm, int64_t n, struct err *e)
{
    struct loop l = loop_of("inverting the order", n);
    if (!loop_fill(inverse, n, -1, "inverting the order", e)) return false;
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        if (perm[i] < 0 || perm[i] >= n || inverse[perm[i]] >= 0)
            return fail(e, E_INTERNAL, "the ordering is not a permutation: position %lld has row %d", (long long)i,
                        perm[i]);
        inverse[perm[i]] = (int)i;
    }
    return loop_end(&l, e);
}

bool reorder_swaps(const int *perm, int64_t n, int *swap, struct err *e)
{
    int *at = mem_new(n, sizeof *at, "exchanges", e), *where = at ? mem_new(n, sizeof *where, "exchanges", e) : NULL;
    struct loop l = loop_of("exchanges", n);
    for (int64_t i = 0; where && i < n; i++) at[i] = where[i] = (int)i; /* the element at a place, and its place */
    for (int64_t i = 0; where && i < n && loop_goes(&l, i); i++) {
        int to = where[perm[i]];
        swap[i] = to;
        at[to] = at[i];
        where[at[i]] = to;
    }
    bool ok = where && loop_end(&l, e);
    mem_free(at);
    mem_free(where);
    return ok;
}

/* Room for csr_sort_keys, for each of several threads; shorter rows need none. */
enum { SHORT_ROW = 16 };
struct spares {
    uint64_t *key;
    int64_t each;
    int threads;
};

/* The rows of a matrix with a very long row are sorted by fewer threads, so that the room is no larger than the
   matrix. */
static bool spares_new(struct spares *s, const struct csr *A, struct err *e)
{
    int64_t longest = csr_longest_row(A), most = omp_get_max_threads();
    *s = (struct spares){.each = longest > SHORT_ROW ? longest : 0, .threads = (int)most};
    if (s->each && A->nnz / s->each < most) s->threads = (int)(A->nnz / s->each);
    if (A->nnz <= THREADS_FROM) s->threads = 1;
    s->key = mem_new(s->each * s->threads, sizeof *s->key, "keys of a row", e);
    return s->key != NULL;
}

/* Row i of P A Q' is row rows[i] of A, with other columns. While its entries are sorted, their keys replace its
   values. */
static void move_row(struct csr *out, const struct csr *A, const int *rows, const int *inverse, int64_t i,
                     uint64_t *spare)
{
    int to = out->rowptr[i], n = out->rowptr[i + 1] - to, from = A->rowptr[rows[i]];
    void *keys = out->val + to;
    for (int k = from; k < from + n; k++) {
        uint64_t key = (uint64_t)inverse[A->col[k]] << 32 | (uint64_t)k;
        memcpy(out->val + to + (k - from), &key, sizeof key);
    }
    csr_sort_keys(keys, spare, n, A->cols);
    for (int k = to; k < to + n; k++) {
        uint64_t key;
        memcpy(&key, out->val + k, sizeof key);
        out->col[k] = (int)(key >> 32);
        out->val[k] = A->val[(uint32_t)key];
        if (A->imag) out->imag[k] = A->imag[(uint32_t)key];
    }
}

static bool move_rows(struct csr *out, const struct csr *A, const int *rows, const int *inverse, const struct spares *s,
                      struct err *e)
{
    struct loop l = loop_of("moving entries", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        out->rowptr[i + 1] = out->rowptr[i] + A->rowptr[rows[i] + 1] - A->rowptr[rows[i]];
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, LOOP_SHARES) if (s->threads > 1)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from; i < A->rows && i < from + LOOP_EVERY && loop_goes(&l, i); i++)
            move_row(out, A, rows, inverse, i, s->key + s->each * omp_get_thread_num());
    return loop_end(&l, e);
}

bool reorder_apply_moves(struct csr *out, const struct csr *A, const int *rows, const int *cols, struct watch *w,
                         struct err *e)
{
    struct spares s = {0};
    int *inverse = mem_new(A->rows, sizeof *inverse, "an ordering", e);
    bool ok = inverse && (rows == cols || invert(inverse, rows, A->rows, e)) && invert(inverse, cols, A->rows, e) &&
              spares_new(&s, A, e) && csr_new(out, A->rows, A->cols, A->nnz, A->imag != NULL, e);
    if (ok && !(move_rows(out, A, rows, inverse, &s, e) && watch_tick(w, "moving entries", A->nnz, A->nnz, e))) {
        csr_free(out);
        ok = false;
    }
    mem_free(inverse);
    mem_free(s.key);
    return ok;
}

bool reorder_apply(struct csr *out, const struct csr *A, const int *perm, struct watch *w, struct err *e)
{
    return reorder_apply_moves(out, A, perm, perm, w, e);
}

/* ---- distances from the diagonal ---- */

bool spread_of(const struct csr *A, struct spread *out, struct err *e)
{
    bool *seen = mem_zero(A->cols, sizeof *seen, "columns seen", e);
    *out = (struct spread){0};
    if (!seen) return false;
    struct loop l = loop_of("the profile", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) {
            int64_t right = A->col[k] - i, away = right < 0 ? -right : right;
            if (away > out->bandwidth) out->bandwidth = away;
            out->diagonal += away == 0 && csr_abs(A, k) > 0;
            if (k == A->rowptr[i] && right < 0) out->profile += away;
            if (!seen[A->col[k]] && right > 0) out->profile += away;
            seen[A->col[k]] = true;
        }
    mem_free(seen);
    return loop_end(&l, e);
}

#define ORDERING(id) &ordering_##id,
const struct ordering *const orderings[] = {
#include "orderings.def"
    NULL};
#undef ORDERING

const struct registry ordering_registry = {.entries = orderings, .aliases = offsetof(struct ordering, aliases)};

const struct ordering *ordering_find(const char *name)
{
    return registry_find(&ordering_registry, name);
}
