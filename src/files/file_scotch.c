/* Graphs of Scotch, version 0: the version, the numbers of vertices and arcs, the number of the first vertex and three
   flags; then for each vertex [label] [weight] degree ([weight] neighbour)... Line ends do not count. An arc is an edge
   seen from one end. Format: F. Pellegrini, "Scotch and libScotch 7.0 user's guide", 5.1. */
#include "base/mem.h"
#include "base/text.h"
#include "graph.h"
#include "load_info.h"
#include "plain.h"

#include <stdio.h>

struct form {
    bool labels, vertex_weights;
};

static bool recognises(const char *begin, int64_t n)
{
    struct plain t;
    plain_look(begin, n, n < FILE_BEGIN, &t);
    return t.kind == PLAIN_SCOTCH;
}

/* Move to the next number, in this line or a later one. */
static bool reach(struct graph *g, const char *what, struct err *e)
{
    bool found = true;
    while (found && !(g->p && graph_more(g)))
        if (!graph_line(g, &found, e)) return false;
    return found || graph_bad(g, e, "the file ends before %s; it is truncated", what);
}

static bool integer(struct graph *g, const char *what, int64_t *v, struct err *e)
{
    return reach(g, what, e) && graph_integer(g, what, v, e);
}

static bool read_head(struct graph *g, struct form *f, struct err *e)
{
    int64_t version, base, flags;
    if (!integer(g, "the version", &version, e) || !integer(g, "the number of vertices", &g->vertices, e) ||
        !integer(g, "the number of arcs", &g->ends, e) || !integer(g, "the number of the first vertex", &base, e) ||
        !integer(g, "the flags", &flags, e))
        return false;
    if (version) return graph_bad(g, e, "the version is %lld, but must be 0", (long long)version);
    if (base > 1) return graph_bad(g, e, "the first vertex is %lld, but must be 0 or 1", (long long)base);
    if (flags > 111 || flags / 10 % 10 > 1 || flags % 10 > 1)
        return graph_bad(g, e, "the flags are %lld, but must be three digits 0 or 1", (long long)flags);
    f->labels = flags >= 100;
    f->vertex_weights = flags % 10 == 1;
    g->weighted = flags / 10 % 10 == 1;
    g->base = (int)base;
    if (f->labels) return graph_bad(g, e, "graphs with labels of vertices cannot be read; save it without labels");
    return graph_sizes(g, e);
}

static bool read_vertex(struct graph *g, const struct form *f, struct err *e)
{
    int64_t weight, degree, neighbour;
    double value = 1;
    if (!reach(g, "a vertex", e)) return false;
    graph_vertex(g);
    if ((f->vertex_weights && !integer(g, "the weight of the vertex", &weight, e)) ||
        !integer(g, "the degree of the vertex", &degree, e))
        return false;
    for (int64_t i = 0; i < degree; i++) {
        if (g->weighted && !(reach(g, "the weight of an edge", e) && graph_weight(g, &value, e))) return false;
        if (!integer(g, "a neighbour", &neighbour, e) || !graph_end(g, neighbour, value, e)) return false;
    }
    return true;
}

static bool read_vertices(struct graph *g, const struct form *f, struct err *e)
{
    bool found = true;
    while (g->vertex + 1 < g->vertices)
        if (!read_vertex(g, f, e)) return false;
    while (found && !graph_more(g))
        if (!graph_line(g, &found, e)) return false;
    return !found || graph_bad(g, e, "the file goes on after its last vertex");
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct graph g;
    struct form f = {0};
    bool ok =
        graph_begin(&g, s, w, e) && read_head(&g, &f, e) && read_vertices(&g, &f, e) && graph_finish(&g, A, info, e);
    if (ok && f.vertex_weights) file_note(info, "the weights of the vertices are not part of the matrix");
    graph_close(&g);
    return ok;
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    bool weighted;
    char head[100];
    if (!graph_savable(A, &weighted, e)) return false;
    snprintf(head, sizeof head, "0\n%lld %lld\n0 %s\n", (long long)A->rows, (long long)A->nnz,
             weighted ? "010" : "000");
    struct graph_form form = {.head = head, .degrees = true, .weights = weighted, .weight_first = true};
    return graph_write(path, force, A, &form, w, e);
}

const struct file_kind file_scotch = {
    .name = "Scotch",
    .endings = ".grf .src",
    .about = "graphs of Scotch",
    .packed = true,
    .graph = true,
    .recognises = recognises,
    .load = load,
    .save = save,
};
