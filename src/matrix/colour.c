/* Greedy colouring of the rows of a matrix, in ascending order. */
#include "colour.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

/* The pattern of A': row i lists the rows of A that read x[i], in ascending order. */
struct readers {
    int *ptr, *row;
};

static void readers_free(struct readers *t)
{
    mem_free(t->ptr);
    mem_free(t->row);
}

static bool readers_new(const struct csr *A, struct readers *t, struct err *e)
{
    t->ptr = mem_new(A->rows + 1, sizeof *t->ptr, "a transposed pattern", e);
    t->row = t->ptr ? mem_new(A->nnz, sizeof *t->row, "a transposed pattern", e) : NULL;
    if (t->row) csr_pattern_transposed(A, t->ptr, t->row);
    return t->row && loop_tick("colouring", 0, 0, e);
}

/* Mark the colours of the rows in other[from .. end-1] that precede row i. */
static void mark(const int *other, int from, int end, int64_t i, const int *colour, int *marked)
{
    for (int k = from; k < end; k++)
        if (other[k] < i) marked[colour[other[k]]] = (int)i;
}

/* Colour all rows; marked[c] == i means that a neighbour of row i has colour c. Returns the number of colours. */
static int colour_all(const struct csr *A, const struct readers *t, int *colour, int *marked)
{
    int most = 0;
    struct loop l = loop_of("colouring", A->rows);
    loop_fill(marked, A->rows, -1, "colouring", NULL);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        int c = 0;
        mark(A->col, A->rowptr[i], A->rowptr[i + 1], i, colour, marked);
        mark(t->row, t->ptr[i], t->ptr[i + 1], i, colour, marked);
        while (marked[c] == i) c++;
        colour[i] = c;
        if (c >= most) most = c + 1;
    }
    return most;
}

bool colour_of(const struct csr *A, int *colour, int *ncolours, struct err *e)
{
    struct readers t = {0};
    int *marked = mem_new(A->rows + 1, sizeof *marked, "the colours of neighbours", e);
    bool ok = marked && readers_new(A, &t, e);
    if (ok) *ncolours = colour_all(A, &t, colour, marked);
    ok = ok && loop_tick("colouring", 0, 0, e);
    readers_free(&t);
    mem_free(marked);
    return ok;
}
