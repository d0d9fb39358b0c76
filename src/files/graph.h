/* Files of undirected graphs, which list each edge at both of its ends. The matrix of a graph is symmetric and has an
   empty diagonal. */
#ifndef GRAPH_H
#define GRAPH_H

#include "file.h"
#include "matrix/csr.h"
#include "mtx.h"

/* A graph that is being read. Vertices count from 0 in memory. */
struct graph {
    struct source *s;
    struct watch *watch;
    struct lines lines;
    struct text text;
    const char *next, *end; /* the text that has not been read yet */
    const char *p, *eol;    /* the rest of the current line */
    int64_t line;           /* number of the current line, counted from 1 */
    int64_t head_line;      /* number of the line that declares the sizes */
    int64_t vertices, ends; /* declared: vertices, and ends of edges, which are two per edge */
    int base;               /* number of the first vertex in the file */
    int64_t vertex, at;     /* the vertex that is being read; ends read so far */
    struct csr C;           /* the rows that were read so far */
    int *mark;              /* [vertices]: 1 + the last vertex that listed this one; 0: none */
    int64_t *line_of;       /* [vertices]: number of the line of a vertex */
    bool weighted;          /* the edges have weights */
    bool fractions;         /* some weight is no integer */
};
bool graph_begin(struct graph *g, struct source *s, struct watch *w, struct err *e);
void graph_close(struct graph *g);
/* Fail with E_INPUT in the current line. Returns false. */
bool graph_bad(const struct graph *g, struct err *e, const char *fmt, ...) PRINTF(3, 4);
/* Move to the next line that is not a comment (%). *found: false at the end of the file. */
bool graph_line(struct graph *g, bool *found, struct err *e);
/* Does the current line have another number? */
bool graph_more(struct graph *g);
/* Read a non-negative integer of the current line; `what` names it in an error. */
bool graph_integer(struct graph *g, const char *what, int64_t *v, struct err *e);
bool graph_weight(struct graph *g, double *v, struct err *e);
/* After vertices, ends, base and weighted were set: check that the file is long enough for them, and make room. */
bool graph_sizes(struct graph *g, struct err *e);
/* Begin the next vertex, which is in the current line. */
void graph_vertex(struct graph *g);
/* Add an end of an edge: `neighbour` is a number of the file. */
bool graph_end(struct graph *g, int64_t neighbour, double weight, struct err *e);
/* Check that each edge stands at both ends with the same weight, and make the matrix. */
bool graph_finish(struct graph *g, struct csr *A, struct load_info *info, struct err *e);

/* ---- graph_save.c ---- */

/* Can A be saved as a graph: symmetric, an empty diagonal, and positive integers as values? The error names the cure.
 *weighted: not all values are 1. */
bool graph_savable(const struct csr *A, bool *weighted, struct err *e);
/* Write a graph: the text `head`, then a line for each vertex. `degrees`: the line begins with the number of
   neighbours. A weight stands before or after its neighbour. */
struct graph_form {
    const char *head;
    int base;
    bool degrees, weights, weight_first;
};
bool graph_write(const char *path, bool force, const struct csr *A, const struct graph_form *form, struct watch *w,
                 struct err *e);

#endif
