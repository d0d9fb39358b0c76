/* The ordering `blocks`: rows with the same columns (supervariables, or indistinguishable nodes) side by side, and the
   supervariables in the order of reverse Cuthill-McKee.

   The columns of row i are those of A + A' together with i itself, so that neither a missing diagonal entry nor an
   entry on one side only tells two rows apart. Columns that very many rows have, such as those of a Lagrange
   multiplier, are not compared. The three unknowns of a node of linear elasticity are such a supervariable, however
   they are numbered. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "random.h"
#include "reorder.h"

#include <limits.h>
#include <math.h>

static const char title[] = "rows with the same columns";

struct sets {
    const struct graph *g;
    int dense;      /* a row with more neighbours is dense: it stays alone, and its column is not compared */
    uint64_t *hash; /* of the columns of each row */
    int *head;      /* the first row of a chain by the low bits of the hash; -1: none */
    int *next;      /* the next row of the chain; only the first row of each supervariable is in a chain */
    uint64_t mask;
};

static int degree(const struct graph *g, int i)
{
    return g->ptr[i + 1] - g->ptr[i];
}

/* AMD leaves rows of more than max(16, 10 sqrt(n)) neighbours to the end as dense. */
static int dense_from(int n)
{
    return (int)fmax(16, fmin(10 * sqrt(n), INT_MAX));
}

static uint64_t mixed(int column)
{
    uint64_t state = (uint64_t)column;
    return random_next(&state);
}

/* A sum, which does not depend on the order of the columns. */
static uint64_t hash_of(const struct sets *s, int i)
{
    uint64_t sum = mixed(i);
    for (int k = s->g->ptr[i]; k < s->g->ptr[i + 1]; k++)
        if (degree(s->g, s->g->adj[k]) <= s->dense) sum += mixed(s->g->adj[k]);
    return sum;
}

static bool hash_rows(struct sets *s, struct err *e)
{
    const struct graph *g = s->g;
    struct loop l = loop_of(title, g->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (g->ptr[g->n] > THREADS_FROM)
    for (int64_t from = 0; from < g->n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, g->n); i < end; i++) s->hash[i] = hash_of(s, (int)i);
    return loop_end(&l, e);
}

/* The next column of row i from entry *k on that is neither dense nor `other`; INT_MAX: none. *coupled becomes true if
   `other` is passed. */
static int next_column(const struct sets *s, int i, int *k, int other, bool *coupled)
{
    const struct graph *g = s->g;
    while (*k < g->ptr[i + 1]) {
        int j = g->adj[(*k)++];
        if (j == other)
            *coupled = true;
        else if (degree(g, j) <= s->dense)
            return j;
    }
    return INT_MAX;
}

/* Do rows i and j have the same columns? Each then has the other as a column. */
static bool same_columns(const struct sets *s, int i, int j)
{
    int k = s->g->ptr[i], t = s->g->ptr[j], a, b;
    bool coupled = false;
    do {
        a = next_column(s, i, &k, j, &coupled);
        b = next_column(s, j, &t, i, &coupled);
    } while (a == b && a < INT_MAX);
    return a == b && coupled;
}

/* The first row of the supervariable of row i: i itself if no row before it has the same columns. */
static int first_of(struct sets *s, int i)
{
    if (degree(s->g, i) > s->dense) return i;
    int *head = &s->head[s->hash[i] & s->mask], r = *head;
    while (r >= 0 && !(s->hash[r] == s->hash[i] && same_columns(s, r, i))) r = s->next[r];
    if (r >= 0) return r;
    s->next[i] = *head;
    *head = i;
    return i;
}

static bool number_sets(struct sets *s, int *set, int *sets, struct err *e)
{
    struct loop l = loop_of(title, s->g->n);
    *sets = 0;
    for (int i = 0; i < s->g->n && loop_goes(&l, i); i++) {
        int first = first_of(s, i);
        set[i] = first == i ? (*sets)++ : set[first];
    }
    return loop_end(&l, e);
}

bool reorder_supervariables(const struct graph *g, int *set, int *sets, struct watch *w, struct err *e)
{
    uint64_t chains = 1;
    while (chains < (uint64_t)g->n) chains *= 2;
    struct sets s = {.g = g, .dense = dense_from(g->n), .mask = chains - 1};
    s.hash = mem_new(g->n, sizeof *s.hash, title, e);
    s.head = s.hash ? mem_new((int64_t)chains, sizeof *s.head, title, e) : NULL;
    s.next = s.head ? mem_new(g->n, sizeof *s.next, title, e) : NULL;
    bool ok = s.next && loop_fill(s.head, (int64_t)chains, -1, title, e) && hash_rows(&s, e) &&
              watch_tick(w, title, 0, g->n, e) && number_sets(&s, set, sets, e) && watch_tick(w, title, g->n, g->n, e);
    mem_free(s.hash);
    mem_free(s.head);
    mem_free(s.next);
    return ok;
}

int64_t reorder_rows_each(int64_t rows, const int *set, int sets)
{
    int *count = sets ? mem_zero(sets, sizeof *count, title, NULL) : NULL;
    if (!count) return 0;
    for (int64_t i = 0; i < rows; i++) count[set[i]]++;
    int64_t each = count[0];
    for (int c = 0; c < sets && each; c++)
        if (count[c] != each) each = 0;
    mem_free(count);
    return each;
}

/* ---- the order ---- */

/* The rows of supervariable c are row[start[c]] .. row[start[c + 1] - 1], ascending. */
struct members {
    int sets;
    int *set; /* of each row */
    int *start, *row;
    int *seen; /* for each supervariable, the last one that counted it as a neighbour */
};

static void members_free(struct members *m)
{
    mem_free(m->set);
    mem_free(m->start);
    mem_free(m->row);
    mem_free(m->seen);
}

/* Fills start and row, by a counting sort of set; the ends of the sets move to their starts. */
static bool list_members(struct members *m, int n, struct err *e)
{
    m->start = mem_zero((int64_t)m->sets + 1, sizeof *m->start, title, e);
    m->row = m->start ? mem_new(n, sizeof *m->row, title, e) : NULL;
    m->seen = m->row ? mem_new(m->sets, sizeof *m->seen, title, e) : NULL;
    if (!m->seen) return false;
    struct loop l = loop_of(title, n);
    for (int i = 0; i < n && loop_goes(&l, i); i++) m->start[m->set[i]]++;
    for (int c = 0; c < m->sets && loop_goes(&l, c); c++) m->start[c + 1] += m->start[c];
    for (int i = n - 1; i >= 0 && loop_goes(&l, i); i--) m->row[--m->start[m->set[i]]] = i;
    return loop_end(&l, e);
}

/* The neighbours of supervariable c. Returns their number. If `to` is not NULL, writes them to it. */
static int neighbours(const struct graph *g, struct members *m, int c, int *to)
{
    int n = 0;
    m->seen[c] = c;
    for (int q = m->start[c]; q < m->start[c + 1]; q++)
        for (int k = g->ptr[m->row[q]]; k < g->ptr[m->row[q] + 1]; k++) {
            int d = m->set[g->adj[k]];
            if (m->seen[d] == c) continue;
            m->seen[d] = c;
            if (to) to[n] = d;
            n++;
        }
    return n;
}

/* The graph whose nodes are the supervariables. Unlike that of rows, its neighbours do not ascend. */
static bool compress(const struct graph *g, struct members *m, struct graph *out, struct err *e)
{
    struct loop l = loop_of(title, m->sets);
    *out = (struct graph){.n = m->sets, .ptr = mem_zero((int64_t)m->sets + 1, sizeof *out->ptr, title, e)};
    if (!out->ptr || !loop_fill(m->seen, m->sets, -1, title, e)) return false;
    for (int c = 0; c < m->sets && loop_goes(&l, c); c++) out->ptr[c + 1] = out->ptr[c] + neighbours(g, m, c, NULL);
    if (!loop_end(&l, e) || !loop_fill(m->seen, m->sets, -1, title, e)) return false;
    out->adj = mem_new(out->ptr[m->sets], sizeof *out->adj, title, e);
    for (int c = 0; out->adj && c < m->sets && loop_goes(&l, c); c++) neighbours(g, m, c, out->adj + out->ptr[c]);
    return out->adj && loop_end(&l, e);
}

/* Order the supervariables, and put their rows in their places. */
static bool order_sets(const struct graph *g, struct members *m, int *perm, struct watch *w, struct err *e)
{
    struct graph of_sets = {0};
    int *order = mem_new(m->sets, sizeof *order, title, e), to = 0;
    bool ok =
        order && list_members(m, g->n, e) && compress(g, m, &of_sets, e) && ordering_rcm.order(&of_sets, order, w, e);
    struct loop l = loop_of(title, m->sets);
    for (int q = 0; ok && q < m->sets && loop_goes(&l, q); q++)
        for (int k = m->start[order[q]]; k < m->start[order[q] + 1]; k++) perm[to++] = m->row[k];
    graph_free(&of_sets);
    mem_free(order);
    return ok && loop_end(&l, e);
}

static bool order_blocks(struct graph *g, int *perm, struct watch *w, struct err *e)
{
    struct members m = {.set = mem_new(g->n, sizeof *m.set, title, e)};
    bool ok = m.set && reorder_supervariables(g, m.set, &m.sets, w, e);
    if (ok) ok = m.sets == g->n ? ordering_rcm.order(g, perm, w, e) : order_sets(g, &m, perm, w, e);
    members_free(&m);
    return ok;
}

const struct ordering ordering_blocks = {
    .name = "blocks",
    .aliases = "supervariables",
    .local = true,
    .about = "rows with the same columns side by side, such as the unknowns of a node; otherwise as rcm",
    .source = "indistinguishable nodes, as minimum degree compresses them (Ashcraft 1995); then rcm",
    .order = order_blocks,
};
