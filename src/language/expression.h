/* Matrices by expression: A*A', A + 2*I, -(A - B)'. An expression is read completely, with its names and sizes, before
   anything is computed. */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csr;
struct err;
struct session;

/* Every node is a factor times one of these. */
enum node_kind { NODE_NUMBER, NODE_IDENTITY, NODE_MATRIX, NODE_TRANSPOSE, NODE_SUM, NODE_PRODUCT };
struct node {
    enum node_kind kind;
    double factor;
    const struct csr *matrix; /* NODE_MATRIX: lent by the session; otherwise NULL */
    int left, right;          /* indices of the operands; a transpose has only a left operand */
    int64_t rows, cols;       /* -1: an identity that has no size yet */
};
enum { NODES_MAX = 1000, NESTING_MAX = 100 };
struct expression {
    struct node node[NODES_MAX]; /* operands precede the nodes that use them */
    int n, root;
};
/* Read an expression. Each name is a matrix of the session, except I, which is the identity. The longest name wins: if
   a matrix is called A-B, then A-B is that matrix, and `A - B` is a difference. */
bool expression_read(struct expression *x, const struct session *s, const char *text, struct err *e);
/* Compute the matrix. The caller frees *out with csr_free; on failure, *out is empty. Needs no lock, but no matrix of
   the session may be dropped meanwhile. */
bool expression_value(const struct expression *x, struct csr *out, struct err *e);

#endif
