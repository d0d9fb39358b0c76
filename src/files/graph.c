/* Read the vertices of a graph, line by line, and check that it is undirected. */
#include "graph.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/watch.h"
#include "load_info.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHORT = 1 << 16, LINE_EVERY = 1 << 16 }; /* LINE_EVERY: a line may be long, so ends are counted */

bool graph_begin(struct graph *g, struct source *s, struct watch *w, struct err *e)
{
    bool mark = s->n >= 3 && !memcmp(s->begin, "\xef\xbb\xbf", 3);
    int64_t skip = mark ? 3 : 0;
    *g = (struct graph){.s = s, .watch = w};
    g->lines = (struct lines){.stream = s->stream, .block = mtx_block(), .streamed = s->n};
    return lines_back(&g->lines, s->begin + skip, s->n - skip, e);
}

void graph_close(struct graph *g)
{
    lines_free(&g->lines);
    text_free(&g->text);
    csr_free(&g->C);
    mem_free(g->mark);
    mem_free(g->line_of);
}

static bool bad_at(const struct graph *g, int64_t line, struct err *e, const char *text)
{
    char where[PATH_LINE];
    return fail_at(e, E_INPUT, path_line(g->s->path, line, where), "%s", text);
}

bool graph_bad(const struct graph *g, struct err *e, const char *fmt, ...)
{
    char text[sizeof e->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return bad_at(g, g->line, e, text);
}

/* ---- lines and numbers ---- */

static bool next_text(struct graph *g, struct err *e)
{
    int64_t done, total;
    struct err why = {0};
    stream_progress(g->lines.stream, &done, &total);
    if (!watch_tick(g->watch, "reading", done, total, e)) return false;
    g->lines.streamed_at_entry = g->lines.streamed;
    if (!lines_next(&g->lines, &g->text, &why)) {
        g->line++;
        return why.code == E_CANCELLED || why.code == E_MEMORY ? file_at(g->s, &why, e)
                                                               : graph_bad(g, e, "%s", why.text);
    }
    g->next = g->text.s;
    g->end = g->next + g->text.n;
    return true;
}

bool graph_line(struct graph *g, bool *found, struct err *e)
{
    *found = false;
    do {
        if (g->next == g->end && !next_text(g, e)) return false;
        if (g->next == g->end) return true;
        g->p = g->next;
        g->eol = line_end(g->p, g->end);
        g->next = next_line(g->eol, g->end);
        g->line++;
    } while (*skip_blanks(g->p) == '%');
    *found = true;
    return true;
}

bool graph_more(struct graph *g)
{
    g->p = skip_blanks(g->p);
    return !is_eol(*g->p);
}

bool graph_integer(struct graph *g, const char *what, int64_t *v, struct err *e)
{
    char quote[QUOTE];
    if (!graph_more(g)) return graph_bad(g, e, "the line ends before %s", what);
    const char *end = skip_token(g->p);
    enum integer_fault fault = read_integer(g->p, (size_t)(end - g->p), v);
    if (fault || *v < 0)
        return graph_bad(g, e, "%s is %s: \"%s\"", what, fault ? integer_fault_text[fault] : "a negative number",
                         quoted(g->p, end, quote));
    g->p = end;
    return true;
}

bool graph_weight(struct graph *g, double *v, struct err *e)
{
    char quote[QUOTE];
    unsigned how;
    if (!graph_more(g)) return graph_bad(g, e, "the line ends before the weight of an edge");
    const char *end = skip_token(g->p), *after = number_parse(g->p, end, v, &how);
    if (after != end || !isfinite(*v))
        return graph_bad(g, e, "the weight of an edge is no number: \"%s\"", quoted(g->p, end, quote));
    g->fractions |= *v != nearbyint(*v);
    g->p = end;
    return true;
}

/* ---- vertices and edges ---- */

/* Each vertex has a line, and each number at least one digit and a separator. In a short file, a later error can name
   the line that is wrong. */
static bool fits(const struct graph *g, struct err *e)
{
    int64_t left = lines_left(&g->lines);
    if (left == INT64_MAX) return true;
    left += g->end - g->next;
    if (left < SHORT && g->vertices < SHORT && g->ends < SHORT) return true;
    if (g->vertices <= left + 1 && g->ends <= (left + 1) / (g->weighted ? 4 : 2)) return true;
    return graph_bad(
        g, e,
        "%lld vertices and %lld ends of edges do not fit in the %lld bytes that follow; the file is truncated "
        "or the counts are wrong",
        (long long)g->vertices, (long long)g->ends, (long long)left);
}

bool graph_sizes(struct graph *g, struct err *e)
{
    g->head_line = g->line;
    g->vertex = -1;
    return file_sizes(g->s, g->vertices, g->vertices, g->ends, e) && fits(g, e) &&
           csr_new(&g->C, g->vertices, g->vertices, g->ends, false, e) &&
           (g->mark = mem_zero(g->vertices, sizeof *g->mark, "vertices of the graph", e)) &&
           (g->line_of = mem_new(g->vertices, sizeof *g->line_of, "lines of the graph", e));
}

void graph_vertex(struct graph *g)
{
    g->vertex++;
    g->line_of[g->vertex] = g->line;
    g->C.rowptr[g->vertex + 1] = (int)g->at;
}

bool graph_end(struct graph *g, int64_t neighbour, double weight, struct err *e)
{
    int64_t u = neighbour - g->base, v = g->vertex;
    long long shown = (long long)(v + g->base);
    if (u < 0 || u >= g->vertices)
        return graph_bad(g, e, "vertex %lld lists vertex %lld, which is outside %d .. %lld", shown,
                         (long long)neighbour, g->base, (long long)g->vertices - 1 + g->base);
    if (u == v) return graph_bad(g, e, "vertex %lld lists itself, but a graph has no loops", shown);
    if (g->mark[u] == v + 1) return graph_bad(g, e, "vertex %lld lists vertex %lld twice", shown, (long long)neighbour);
    if (g->at == g->ends)
        return graph_bad(g, e, "this is one neighbour too many: line %lld declares %s, and each stands at both ends",
                         (long long)g->head_line, how_many(g->ends / 2, "edge").text);
    if (g->at % LINE_EVERY == 0 && !loop_tick("reading", g->at, g->ends, e)) return false;
    g->mark[u] = (int)v + 1;
    g->C.col[g->at] = (int)u;
    g->C.val[g->at] = weight;
    g->C.rowptr[v + 1] = (int)++g->at;
    return true;
}

static bool all_vertices(const struct graph *g, struct err *e)
{
    return g->vertex + 1 == g->vertices ||
           graph_bad(g, e, "the file ends after %lld of %s; it is truncated or the count in line %lld is wrong",
                     (long long)g->vertex + 1, how_many(g->vertices, "vertex").text, (long long)g->head_line);
}

static bool all_ends(const struct graph *g, struct err *e)
{
    char text[300];
    if (g->at == g->ends) return true;
    snprintf(text, sizeof text,
             "this line declares %s, which are listed at both ends, but the vertices list %s and not %lld",
             how_many(g->ends / 2, "edge").text, how_many(g->at, "neighbour").text, (long long)g->ends);
    return bad_at(g, g->head_line, e, text);
}

/* The entry of A at the other end of entry k in row i; -1: there is none. */
static int64_t other_end(const struct csr *A, int64_t i, int64_t k)
{
    return csr_find(A, A->col[k], i);
}

/* The first row with an entry whose mirror image is missing or has another value; A->rows: there is none. */
static int64_t one_sided(const struct csr *A, struct loop *l)
{
    int64_t bad = A->rows;
#pragma omp parallel for reduction(min : bad) schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(l, from, A->rows); i < end; i++)
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && i < bad; k++) {
                int64_t other = other_end(A, i, k);
                if (other < 0 || A->val[other] != A->val[k]) bad = i;
            }
    return bad;
}

static bool is_undirected(const struct graph *g, const struct csr *A, struct err *e)
{
    char text[200];
    struct loop l = loop_of("checking edges", A->rows);
    int64_t i = one_sided(A, &l), other = -1;
    if (!loop_end(&l, e)) return false;
    if (i == A->rows) return true;
    int64_t k = A->rowptr[i];
    while ((other = other_end(A, i, k)) >= 0 && A->val[other] == A->val[k]) k++;
    int64_t u = A->col[k];
    if (other < 0)
        snprintf(text, sizeof text,
                 "vertex %lld lists vertex %lld, but line %lld, of vertex %lld, does not list vertex %lld",
                 (long long)i + g->base, (long long)u + g->base, (long long)g->line_of[u], (long long)u + g->base,
                 (long long)i + g->base);
    else
        snprintf(text, sizeof text, "the edge to vertex %lld has weight %g here and weight %g in line %lld",
                 (long long)u + g->base, A->val[k], A->val[other], (long long)g->line_of[u]);
    return bad_at(g, g->line_of[i], e, text);
}

bool graph_finish(struct graph *g, struct csr *A, struct load_info *info, struct err *e)
{
    if (!all_vertices(g, e) || !file_finish(g->s, &g->C, false, MIRROR_NOT, g->watch, A, info, e)) return false;
    if (!is_undirected(g, A, e) || !all_ends(g, e)) {
        csr_free(A);
        return false;
    }
    snprintf(info->field, sizeof info->field, "%s", !g->weighted ? "pattern" : g->fractions ? "real" : "integer");
    snprintf(info->symmetry, sizeof info->symmetry, "symmetric");
    return true;
}
