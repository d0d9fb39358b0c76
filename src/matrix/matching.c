/* The matching of rows and columns with the largest product of entries, as the cheapest assignment of rows to columns:
   an auction for the first duals, then shortest augmenting paths by the method of Dijkstra, on costs that the duals u,
   v keep at 0 or above. */
#include "matching.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "csr.h"

#include <math.h>

enum { TICK_WORK = 1 << 17 }; /* entries between two calls of watch_tick */
static const char doing[] = "matching rows and columns";

/* A heap of columns; the column with the smallest dist is the first. */
struct heap {
    int n;
    int *column, *place; /* place: of a column in the heap; -1: not in it */
};

struct search {
    const struct csr *A;
    double *cost; /* [nnz] INFINITY: the entry is 0 */
    double *u, *v;
    int *row_of, *column_of; /* of the matching so far; -1: none */
    double *dist;            /* [n] of columns from the root; INFINITY: not reached */
    int *from;               /* [n] the row from which the path reaches a column */
    int *reached;            /* columns with a dist, in the order in which they were reached */
    char *closed;            /* this dist is final */
    int reaches;
    struct heap heap;
    int64_t work, done;
    struct watch *w;
};

/* ---- the heap ---- */

static void put(struct heap *h, int at, int column)
{
    h->column[at] = column;
    h->place[column] = at;
}

static void heap_up(struct heap *h, const double *dist, int at)
{
    int column = h->column[at];
    for (int above; at && dist[column] < dist[h->column[above = (at - 1) / 2]]; at = above)
        put(h, at, h->column[above]);
    put(h, at, column);
}

static void heap_down(struct heap *h, const double *dist, int at)
{
    int column = h->column[at];
    for (int next; (next = 2 * at + 1) < h->n; at = next) {
        next += next + 1 < h->n && dist[h->column[next + 1]] < dist[h->column[next]];
        if (dist[column] <= dist[h->column[next]]) break;
        put(h, at, h->column[next]);
    }
    put(h, at, column);
}

/* The dist of the column became smaller, or it joins the heap. */
static void heap_lower(struct heap *h, const double *dist, int column)
{
    if (h->place[column] < 0) put(h, h->n++, column);
    heap_up(h, dist, h->place[column]);
}

static int heap_pop(struct heap *h, const double *dist)
{
    int first = h->column[0], last = h->column[--h->n];
    h->place[first] = -1;
    if (!h->n) return first;
    put(h, 0, last);
    heap_down(h, dist, 0);
    return first;
}

/* ---- costs ---- */

static double reduced(const struct search *s, int row, int k)
{
    double c = s->cost[k] - s->u[row] - s->v[s->A->col[k]];
    return c > 0 ? c : 0; /* below 0 by a rounding error */
}

/* log2 of the largest |a| of each column, or -INFINITY; s->cost becomes log2 |a|. */
static bool find_sizes(struct search *s, double *most, struct err *e)
{
    const struct csr *A = s->A;
    struct loop l = loop_of(doing, A->nnz);
    for (int64_t j = 0; j < A->cols; j++) most[j] = -INFINITY;
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) {
        double size = csr_abs(A, k);
        if (!isfinite(size))
            return fail(e, E_UNSUPPORTED,
                        "the entry in row %lld, column %d is NaN or inf, so no product of entries is "
                        "the largest; `find entries = nan` lists these entries",
                        (long long)csr_row_of(A, k), A->col[k]);
        s->cost[k] = log2(size);
        most[A->col[k]] = fmax(most[A->col[k]], s->cost[k]);
    }
    return loop_end(&l, e);
}

static bool find_costs(struct search *s, const double *most, struct err *e)
{
    const struct csr *A = s->A;
    struct loop l = loop_of(doing, A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++)
        s->cost[k] = isinf(s->cost[k]) ? INFINITY : most[A->col[k]] - s->cost[k];
    return loop_end(&l, e);
}

static bool worked(struct search *s, int row, struct err *e)
{
    s->work += s->A->rowptr[row + 1] - s->A->rowptr[row] + 1;
    if (s->work < TICK_WORK) return true;
    s->work = 0;
    return watch_tick(s->w, doing, s->done, s->A->rows, e) && loop_tick("", 0, 0, e);
}

/* ---- an auction, for the first duals ---- */

/* Without it, each of many rows that compete for the same columns would raise the same duals again. The auction only
   makes the paths short: whatever duals it leaves, the matching is the best in the end. Bertsekas 1988: a free row
   takes the column that is cheapest for it, from another row if need be, and raises its price, so that the column is
   only just the cheapest, and by `step` more. With smaller and smaller steps, each auction begins with good prices. */
enum { BIDS = 12, STEPS = 7 };         /* bids per row, in one auction; the next step is smaller by this factor */
static const double LEAST_STEP = 1e-4; /* of the mean cost */

struct offer {
    int column;
    double price, next; /* of the cheapest column, and of the second */
};

static struct offer best_offer(const struct search *s, int row)
{
    struct offer o = {-1, INFINITY, INFINITY};
    for (int k = s->A->rowptr[row]; k < s->A->rowptr[row + 1]; k++) {
        double price = s->cost[k] - s->v[s->A->col[k]];
        if (price < o.price) {
            o.next = o.price;
            o.price = price;
            o.column = s->A->col[k];
        } else if (price < o.next)
            o.next = price;
    }
    return o;
}

/* One auction. s->reached is a queue of free rows; s->column_of is not used. *all: each row has a column. */
static bool auction(struct search *s, double step, double most, bool *all, struct err *e)
{
    int n = (int)s->A->rows, head = 0, waiting = n;
    int64_t left = (int64_t)BIDS * n;
    bool empty = false;
    for (int i = 0; i < n; i++) s->reached[i] = i, s->row_of[i] = -1;
    for (; waiting && left; left--, waiting--) {
        int row = s->reached[head];
        head = head + 1 < n ? head + 1 : 0;
        struct offer o = best_offer(s, row);
        if (!worked(s, row, e)) return false;
        empty |= o.column < 0;
        if (o.column < 0) continue;
        int other = s->row_of[o.column];
        s->v[o.column] -= fmin(o.next - o.price, most) + step;
        s->row_of[o.column] = row;
        if (other < 0) continue;
        s->reached[head + waiting - 1 < n ? head + waiting - 1 : head + waiting - 1 - n] = other;
        waiting++;
    }
    *all = !waiting && !empty;
    return true;
}

/* *all: the auctions ended with a column for each row, so the structural rank is full. */
static bool find_prices(struct search *s, bool *all, struct err *e)
{
    const struct csr *A = s->A;
    double sum = 0, most = 0;
    struct loop l = loop_of(doing, A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++)
        if (s->cost[k] < INFINITY) sum += s->cost[k], most = fmax(most, s->cost[k]);
    double least = A->nnz ? LEAST_STEP * sum / (double)A->nnz : 0;
    bool ok = loop_end(&l, e), go = true;
    *all = false;
    for (double step = most / STEPS; ok && go && step > least; step /= STEPS) {
        ok = auction(s, step, most, &go, e);
        *all = go;
    }
    return ok;
}

/* ---- the first matching: entries with the reduced cost 0 ---- */

static void match(struct search *s, int row, int column)
{
    s->row_of[column] = row;
    s->column_of[row] = column;
    s->done++;
}

/* A free column of `row` with the reduced cost 0; -1: none. */
static int free_column(const struct search *s, int row)
{
    for (int k = s->A->rowptr[row]; k < s->A->rowptr[row + 1]; k++)
        if (s->row_of[s->A->col[k]] < 0 && s->cost[k] < INFINITY && reduced(s, row, k) == 0) return s->A->col[k];
    return -1;
}

/* The row of a column at cost 0 moves to another free column, if it has one. */
static void match_in_two(struct search *s, int row)
{
    for (int k = s->A->rowptr[row]; k < s->A->rowptr[row + 1]; k++) {
        int column = s->A->col[k], other = s->row_of[column];
        if (other < 0 || s->cost[k] == INFINITY || reduced(s, row, k) > 0) continue;
        int free = free_column(s, other);
        if (free < 0) continue;
        s->column_of[other] = free;
        s->row_of[free] = other;
        s->row_of[column] = row;
        s->column_of[row] = column;
        s->done++;
        return;
    }
}

static bool begin(struct search *s, struct err *e)
{
    const struct csr *A = s->A;
    struct loop l = loop_of(doing, A->rows);
    for (int64_t i = 0; i < A->rows; i++) s->row_of[i] = s->column_of[i] = -1;
    s->done = 0;
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        double least = best_offer(s, (int)i).price;
        s->u[i] = least < INFINITY ? least : 0;
        int column = free_column(s, (int)i);
        if (column >= 0) match(s, (int)i, column);
    }
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        if (s->column_of[i] < 0) match_in_two(s, (int)i);
    return loop_end(&l, e);
}

/* ---- shortest augmenting paths ---- */

/* Reach the columns of `row`, which is `far` from the root. *end: the nearest free column, *end_dist away. */
static void reach(struct search *s, int row, double far, int *end, double *end_dist)
{
    const struct csr *A = s->A;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        int j = A->col[k];
        if (s->closed[j] || s->cost[k] == INFINITY) continue;
        double d = far + reduced(s, row, k);
        if (d >= *end_dist || d >= s->dist[j]) continue;
        if (s->dist[j] == INFINITY) s->reached[s->reaches++] = j;
        s->dist[j] = d;
        s->from[j] = row;
        if (s->row_of[j] < 0)
            *end = j, *end_dist = d;
        else
            heap_lower(&s->heap, s->dist, j);
    }
}

/* The rows and columns of the search get duals with which the path has the reduced cost 0. */
static void update_duals(struct search *s, int root, double end_dist)
{
    s->u[root] += end_dist;
    for (int r = 0; r < s->reaches; r++) {
        int j = s->reached[r];
        if (!s->closed[j]) continue;
        s->v[j] -= end_dist - s->dist[j];
        s->u[s->row_of[j]] += end_dist - s->dist[j];
    }
}

static void augment(struct search *s, int root, int end)
{
    for (int j = end, row = -1; row != root;) {
        row = s->from[j];
        int next = s->column_of[row];
        s->row_of[j] = row;
        s->column_of[row] = j;
        j = next;
    }
    s->done++;
}

static void forget_search(struct search *s)
{
    for (int r = 0; r < s->reaches; r++) {
        int j = s->reached[r];
        s->dist[j] = INFINITY;
        s->heap.place[j] = -1;
        s->closed[j] = 0;
    }
    s->reaches = s->heap.n = 0;
}

/* Match one more row. There is a path, because the structural rank is full. */
static bool match_row(struct search *s, int root, struct err *e)
{
    int end = -1, row = root;
    double end_dist = INFINITY, far = 0;
    for (;;) {
        reach(s, row, far, &end, &end_dist);
        if (!worked(s, row, e)) return false;
        if (!s->heap.n || s->dist[s->heap.column[0]] >= end_dist) break;
        int j = heap_pop(&s->heap, s->dist);
        s->closed[j] = 1;
        far = s->dist[j];
        row = s->row_of[j];
    }
    if (end < 0) return fail(e, E_INTERNAL, "no path leads from row %d to a free column", root);
    update_duals(s, root, end_dist);
    augment(s, root, end);
    forget_search(s);
    return true;
}

static bool match_all(struct search *s, struct err *e)
{
    for (int64_t i = 0; i < s->A->rows; i++)
        if (s->column_of[i] < 0 && !match_row(s, (int)i, e)) return false;
    return true;
}

/* ---- moderate duals ---- */

/* Many duals prove that the matching is the best, and those of the auction may be far from 0. Take the largest with
   v <= 0, so that no column is scaled down more than some other column needs: v_j = min(0, v_h + c_ij - c_ih) over all
   rows i that are matched with a column h, by the method of Dijkstra for the change of v. */
static bool moderate(struct search *s, struct err *e)
{
    const struct csr *A = s->A;
    s->heap.n = 0;
    for (int64_t j = 0; j < A->cols; j++) {
        s->dist[j] = -s->v[j];
        heap_lower(&s->heap, s->dist, (int)j);
        if (!worked(s, 0, e)) return false;
    }
    while (s->heap.n) {
        int column = heap_pop(&s->heap, s->dist), row = s->row_of[column];
        s->closed[column] = 1;
        for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
            int j = A->col[k];
            double d = s->dist[column] + reduced(s, row, k);
            if (s->closed[j] || d >= s->dist[j]) continue;
            s->dist[j] = d;
            heap_lower(&s->heap, s->dist, j);
        }
        if (!worked(s, row, e)) return false;
    }
    for (int64_t j = 0; j < A->cols; j++) s->v[j] += s->dist[j];
    return true;
}

/* ---- the structural rank ---- */

/* A path from a row through columns of other rows to a free column. look: the entries of each row before this one are
   in columns that have a row; next: those before this one have been tried. */
struct walk {
    int *stack, *next, *look;
};

/* The next column of `row` from entry *k on that is not closed, or, with `free`, has no row; -1: none. */
static int next_column(const struct search *s, int row, int *k, bool free)
{
    for (; *k < s->A->rowptr[row + 1]; ++*k) {
        int j = s->A->col[*k];
        if (s->cost[*k] < INFINITY && (free ? s->row_of[j] < 0 : !s->closed[j])) return j;
    }
    return -1;
}

/* Each row of the stack passes its column on to the row before it. */
static void pass_on(struct search *s, const struct walk *v, int depth, int column)
{
    for (; depth >= 0; depth--) {
        int row = v->stack[depth], before = s->column_of[row];
        s->column_of[row] = column;
        s->row_of[column] = row;
        column = before;
    }
    s->done++;
}

/* Depth first. Columns that were tried stay closed in this pass. */
static bool find_path(struct search *s, const struct walk *v, int root, struct err *e)
{
    int depth = 0;
    v->stack[0] = root;
    v->next[root] = s->A->rowptr[root];
    while (depth >= 0) {
        int row = v->stack[depth], free = next_column(s, row, &v->look[row], true);
        if (!worked(s, row, e)) return false;
        if (free >= 0) return pass_on(s, v, depth, free), true;
        int j = next_column(s, row, &v->next[row], false);
        if (j < 0) {
            depth--;
            continue;
        }
        s->closed[j] = 1;
        v->stack[++depth] = s->row_of[j];
        v->next[s->row_of[j]] = s->A->rowptr[s->row_of[j]];
    }
    return true;
}

/* A matching of the most entries, whatever their values (Pothen and Fan 1990): passes over the free rows, until one
   finds no path. */
static bool match_any(struct search *s, struct err *e)
{
    int64_t n = s->A->rows, before = -1;
    struct walk v = {s->reached, s->from, s->heap.column};
    for (int64_t i = 0; i < n; i++) s->row_of[i] = s->column_of[i] = -1, v.look[i] = s->A->rowptr[i];
    for (s->done = 0; s->done > before && s->done < n;) {
        before = s->done;
        if (!loop_zero(s->closed, n, doing, e)) return false;
        for (int64_t i = 0; i < n; i++)
            if (s->column_of[i] < 0 && !find_path(s, &v, (int)i, e)) return false;
    }
    return loop_zero(s->closed, n, doing, e);
}

/* ---- the whole search ---- */

/* If the auctions did not end, the structural rank is found next. If it is not full, nothing else is needed. */
static bool match_by_cost(struct search *s, struct err *e)
{
    bool full;
    if (!find_prices(s, &full, e) || (!full && !match_any(s, e))) return false;
    if (!full && s->done < s->A->rows) return true;
    return begin(s, e) && match_all(s, e) && moderate(s, e);
}

static bool search_new(struct search *s, struct matching *m, const struct csr *A, struct err *e)
{
    int64_t n = A->rows;
    *s = (struct search){.A = A, .u = m->row_log, .v = m->col_log, .row_of = m->row};
    s->cost = mem_new(A->nnz, sizeof *s->cost, doing, e);
    s->dist = s->cost ? mem_new(n, sizeof *s->dist, doing, e) : NULL;
    int *room = s->dist ? mem_new(5 * n, sizeof *room, doing, e) : NULL;
    s->closed = room ? mem_zero(n, 1, doing, e) : NULL;
    s->column_of = room;
    if (!s->closed) return false;
    s->from = room + n;
    s->reached = room + 2 * n;
    s->heap.column = room + 3 * n;
    s->heap.place = room + 4 * n;
    for (int64_t i = 0; i < n; i++) {
        s->heap.place[i] = -1;
        s->dist[i] = INFINITY;
    }
    return true;
}

static void search_free(struct search *s)
{
    mem_free(s->cost);
    mem_free(s->dist);
    mem_free(s->column_of);
    mem_free(s->closed);
}

/* The scales: the dual of a row, and that of a column less log2 of its largest |a|. Those of the rows follow from those
   of the columns, so that the matched entries become 1; the mean of their logarithms becomes 0. */
static void set_scales(const struct search *s, struct matching *m, const double *most)
{
    const struct csr *A = s->A;
    double mean = 0;
    for (int64_t j = 0; j < m->n; j++) {
        int row = m->row[j];
        int64_t k = csr_find(A, row, j);
        m->row_log[row] = s->cost[k] - s->v[j];
        mean += m->row_log[row] / (double)m->n;
    }
    for (int64_t j = 0; j < m->n; j++) {
        m->row_log[j] -= mean;
        m->col_log[j] += mean - most[j];
    }
}

static bool matching_new(struct matching *m, int64_t n, struct err *e)
{
    *m = (struct matching){.n = n};
    m->row = mem_new(n, sizeof *m->row, doing, e);
    m->row_log = m->row ? mem_zero(2 * n, sizeof *m->row_log, doing, e) : NULL;
    m->col_log = m->row_log ? m->row_log + n : NULL;
    return m->row_log;
}

bool matching_find(struct matching *m, const struct csr *A, struct watch *w, struct err *e)
{
    struct search s = {0};
    *m = (struct matching){0};
    if (A->rows != A->cols)
        return fail(e, E_UNSUPPORTED, "%s and %s: only a square matrix has a diagonal to which entries can be moved",
                    how_many(A->rows, "row").text, how_many(A->cols, "column").text);
    double *most = mem_new(A->cols, sizeof *most, doing, e);
    bool ok = most && matching_new(m, A->rows, e) && search_new(&s, m, A, e);
    s.w = w;
    ok = ok && find_sizes(&s, most, e) && find_costs(&s, most, e) && match_by_cost(&s, e) &&
         watch_tick(w, doing, A->rows, A->rows, e);
    m->rank = s.done;
    if (ok && m->rank == m->n) set_scales(&s, m, most);
    search_free(&s);
    mem_free(most);
    if (!ok) matching_free(m);
    return ok;
}

void matching_free(struct matching *m)
{
    mem_free(m->row);
    mem_free(m->row_log);
    *m = (struct matching){0};
}

bool matching_is_full(const struct matching *m, struct err *e)
{
    char rank[32], rows[32];
    return m->rank == m->n ||
           fail(
               e, E_UNSUPPORTED,
               "structural rank %s of %s: no order fills the diagonal, and A is singular for any values of its entries",
               show_count(m->rank, rank, sizeof rank), show_count(m->n, rows, sizeof rows));
}
