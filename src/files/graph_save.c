/* Write graphs, and say why a matrix is none. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/watch.h"
#include "graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_ROOM = 1 << 18, NUMBER_LONGEST = 24 };
static const char cure[] = "append `graph` to leave out values and diagonal";

static bool has_weights(const struct csr *A, bool *weighted, struct err *e)
{
    struct loop l = loop_of("values", A->nnz);
    *weighted = false;
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) {
        double v = A->val[k];
        if (!(v >= 1 && v <= INT32_MAX && v == floor(v)))
            return fail(e, E_USAGE, "the weights of a graph are positive integers, but a value is %g; %s", v, cure);
        *weighted |= v != 1;
    }
    return loop_end(&l, e);
}

/* Is each entry off the diagonal, and does its mirror image have the same value? */
static bool is_graph(const struct csr *A, struct err *e)
{
    struct loop l = loop_of("checking edges", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) {
            int64_t j = A->col[k], other = csr_find(A, j, i);
            if (j == i)
                return fail(e, E_USAGE, "a graph has no loops, but the matrix has a diagonal entry in row %lld; %s",
                            (long long)i, cure);
            if (other < 0)
                return fail(
                    e, E_USAGE,
                    "a graph is symmetric, but entry %lld %lld has no mirror image; `symmetrize` the matrix first",
                    (long long)i, (long long)j);
            if (A->val[other] != A->val[k])
                return fail(e, E_USAGE,
                            "the weights of a graph are symmetric, but entry %lld %lld is %g, and its mirror "
                            "image is %g; %s",
                            (long long)i, (long long)j, A->val[k], A->val[other], cure);
        }
    return loop_end(&l, e);
}

bool graph_savable(const struct csr *A, bool *weighted, struct err *e)
{
    if (A->rows != A->cols || !A->rows)
        return fail(e, E_USAGE, "the matrix is %lld x %lld, but that of a graph is square and not empty",
                    (long long)A->rows, (long long)A->cols);
    if (A->imag)
        return fail(e, E_USAGE, "the weights of a graph are positive integers, but the values are complex; %s", cure);
    return is_graph(A, e) && has_weights(A, weighted, e);
}

bool file_graph_of(const struct csr *A, struct csr *G, int64_t *loops, struct err *e)
{
    struct loop l = loop_of("edges", A->rows);
    int64_t n = 0;
    if (!csr_new_any(G, A->rows, A->cols, A->nnz, false, e)) return false;
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++)
            if (A->col[k] != i) G->col[n] = A->col[k], G->val[n++] = 1;
        csr_set_start(G, i + 1, n);
    }
    *loops = A->nnz - n;
    G->nnz = n;
    if (loop_end(&l, e) && csr_settle(G, e)) return true;
    csr_free(G);
    return false;
}

/* ---- the text ---- */

struct writer {
    struct newfile file;
    char *text;
    int64_t n;
};

static bool flush(struct writer *w, struct err *e)
{
    int64_t n = w->n;
    w->n = 0;
    return newfile_write(&w->file, w->text, n, e);
}

/* Add a number and a blank; the caller made room. */
static void put(struct writer *w, int64_t v)
{
    char digits[NUMBER_LONGEST];
    size_t at = sizeof digits;
    digits[--at] = ' ';
    do digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    memcpy(w->text + w->n, digits + at, sizeof digits - at);
    w->n += (int64_t)(sizeof digits - at);
}

static bool put_vertex(struct writer *w, const struct csr *A, const struct graph_form *f, int64_t i, struct err *e)
{
    if (f->degrees) put(w, csr_row_length(A, i));
    for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) {
        if (w->n > TEXT_ROOM - 4 * NUMBER_LONGEST && !flush(w, e)) return false;
        if (f->weights && f->weight_first) put(w, (int64_t)A->val[k]);
        put(w, A->col[k] + f->base);
        if (f->weights && !f->weight_first) put(w, (int64_t)A->val[k]);
    }
    w->n -= w->n > 0 && w->text[w->n - 1] == ' ';
    w->text[w->n++] = '\n';
    return true;
}

static bool put_vertices(struct writer *w, const struct csr *A, const struct graph_form *f, struct watch *watch,
                         struct err *e)
{
    int64_t next = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        if (w->n > TEXT_ROOM - 4 * NUMBER_LONGEST && !flush(w, e)) return false;
        if (csr_start(A, i) + i >= next) {
            if (!watch_tick(watch, "writing", csr_start(A, i), A->nnz, e)) return false;
            next += LOOP_SHARE;
        }
        if (!put_vertex(w, A, f, i, e)) return false;
    }
    return flush(w, e);
}

bool graph_write(const char *path, bool force, const struct csr *A, const struct graph_form *form, struct watch *watch,
                 struct err *e)
{
    struct writer w = {.text = mem_new(TEXT_ROOM, 1, "text to write", e)};
    if (!w.text) return false;
    bool ok = newfile_open(&w.file, path, force, e) &&
              newfile_write(&w.file, form->head, (int64_t)strlen(form->head), e) && put_vertices(&w, A, form, watch, e);
    ok = newfile_close(&w.file, ok, e);
    mem_free(w.text);
    return ok;
}
