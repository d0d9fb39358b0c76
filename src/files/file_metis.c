/* Graphs of METIS and Chaco: a line `vertices edges [fmt [ncon]]`, then a line for each vertex with its neighbours,
   counted from 1. The digits of fmt say what the lines hold besides: 1xx the size of the vertex (METIS) or its number
   (Chaco), x1x ncon weights of the vertex, xx1 a weight after each neighbour. Comments begin with %.
   Format: G. Karypis, "METIS, a software package for partitioning unstructured graphs", version 5, 4.1.1. */
#include "base/err.h"
#include "base/text.h"
#include "graph.h"
#include "load_info.h"
#include "plain.h"

#include <stdio.h>

enum { NCON_MOST = 1000 };

/* What the lines hold besides the neighbours. */
struct form {
    bool sizes;      /* a size or a number first */
    int64_t weights; /* then so many weights of the vertex */
    bool numbered;   /* the first number of each line so far is the vertex itself */
};

static bool recognises(const char *begin, int64_t n)
{
    struct plain t;
    plain_look(begin, n, n < FILE_BEGIN, &t);
    return t.kind == PLAIN_METIS;
}

static bool read_fmt(struct graph *g, struct form *f, struct err *e)
{
    int64_t fmt = 0;
    f->weights = 0;
    if (graph_more(g) && !graph_integer(g, "fmt", &fmt, e)) return false;
    if (fmt > 111 || fmt / 10 % 10 > 1 || fmt % 10 > 1)
        return graph_bad(g, e, "fmt is %lld, but must consist of three digits 0 or 1", (long long)fmt);
    f->sizes = fmt >= 100;
    g->weighted = fmt % 10 == 1;
    if (fmt / 10 % 10 == 0) return true;
    f->weights = 1;
    if (graph_more(g) && !graph_integer(g, "ncon", &f->weights, e)) return false;
    return (f->weights > 0 && f->weights <= NCON_MOST) ||
           graph_bad(g, e, "ncon is %lld, but must be 1 .. %d", (long long)f->weights, NCON_MOST);
}

static bool read_head(struct graph *g, struct form *f, struct err *e)
{
    int64_t edges = 0;
    bool found;
    if (!graph_line(g, &found, e)) return false;
    while (found && !graph_more(g))
        if (!graph_line(g, &found, e)) return false;
    if (!graph_integer(g, "the number of vertices", &g->vertices, e) ||
        !graph_integer(g, "the number of edges", &edges, e) || !read_fmt(g, f, e))
        return false;
    if (edges > INT64_MAX / 2) return graph_bad(g, e, "%lld edges are too many", (long long)edges);
    g->ends = 2 * edges;
    g->base = 1;
    return graph_sizes(g, e);
}

static bool read_vertex(struct graph *g, struct form *f, struct err *e)
{
    int64_t number = 0, neighbour;
    double weight = 1;
    graph_vertex(g);
    if (f->sizes && !graph_integer(g, "the size of the vertex", &number, e)) return false;
    f->numbered &= number == g->vertex + 1;
    for (int64_t i = 0; i < f->weights; i++)
        if (!graph_integer(g, "a weight of the vertex", &number, e)) return false;
    while (graph_more(g))
        if (!graph_integer(g, "a neighbour", &neighbour, e) || (g->weighted && !graph_weight(g, &weight, e)) ||
            !graph_end(g, neighbour, weight, e))
            return false;
    return true;
}

static bool read_vertices(struct graph *g, struct form *f, struct err *e)
{
    bool found = true;
    while (g->vertex + 1 < g->vertices) {
        if (!graph_line(g, &found, e)) return false;
        if (!found) return true; /* graph_finish complains */
        if (!read_vertex(g, f, e)) return false;
    }
    for (; found;) {
        if (!graph_line(g, &found, e)) return false;
        if (found && graph_more(g))
            return graph_bad(g, e, "this is one line too many: line %lld declares %s", (long long)g->head_line,
                             how_many(g->vertices, "vertex").text);
    }
    return true;
}

static void note_left_out(const struct form *f, struct load_info *info)
{
    if (f->sizes && !f->numbered) file_note(info, "the sizes of the vertices are not part of the matrix");
    if (f->weights)
        file_note(info, "%s per vertex %s not part of the matrix", how_many(f->weights, "weight").text,
                  f->weights == 1 ? "is" : "are");
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct graph g;
    struct form f = {.numbered = true};
    bool ok =
        graph_begin(&g, s, w, e) && read_head(&g, &f, e) && read_vertices(&g, &f, e) && graph_finish(&g, A, info, e);
    if (ok) note_left_out(&f, info);
    graph_close(&g);
    return ok;
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    bool weighted;
    char head[400];
    if (!graph_savable(A, &weighted, e)) return false;
    if (!A->nnz) return fail(e, E_USAGE, "METIS accepts no graph without edges; save it as .grf, for Scotch");
    snprintf(head, sizeof head, "%% %s\n%lld %lld%s\n", comment, (long long)A->rows, (long long)A->nnz / 2,
             weighted ? " 001" : "");
    struct graph_form form = {.head = head, .base = 1, .weights = weighted};
    return graph_write(path, force, A, &form, w, e);
}

const struct file_kind file_metis = {
    .name = "METIS",
    .endings = ".graph .metis",
    .about = "graphs of METIS or Chaco",
    .packed = true,
    .graph = true,
    .recognises = recognises,
    .load = load,
    .save = save,
};
