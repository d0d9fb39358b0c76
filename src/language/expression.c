/* Matrices by expression: the parser, which checks names and sizes, and the evaluation.

       sum     = product { (+|-) product }
       product = signed { * signed }
       signed  = { +|- } operand { ' }
       operand = number | I | name | ( sum )

   Numbers and multiples of I are folded into the factors of nodes, so that 2*A + 3*I needs one sum and no product. */
#include "expression.h"
#include "base/err.h"
#include "base/number.h"
#include "base/suggest.h"
#include "base/text.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/matrix_name.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 60 }; /* bytes of an expression that a message shows */

struct parser {
    struct expression *x;
    const struct session *s;
    const char *text, *at; /* the expression, and the position up to which it has been read */
    int depth;             /* open parentheses */
    struct err *e;
};

static int parse_sum(struct parser *p);

/* ---- errors and characters ---- */

/* Report a fault at a position in the text. Returns -1, which stands for no node. */
static int wrong(struct parser *p, const char *where, const char *fault)
{
    char safe[4 * SHOWN + 8];
    print_safe(p->text, strlen(p->text), SHOWN, safe, sizeof safe);
    if (*where)
        fail(p->e, E_USAGE, "%s (character %d of `%s`)", fault, (int)(where - p->text) + 1, safe);
    else
        fail(p->e, E_USAGE, "%s (at the end of `%s`)", fault, safe);
    return -1;
}

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t");
}

/* Read this character if it comes next. */
static bool take(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

/* ---- nodes ---- */

/* Append a node. Returns its index, or -1. */
static int new_node(struct parser *p, struct node node, const char *where)
{
    if (p->x->n == NODES_MAX) return wrong(p, where, "the expression is too long; split it");
    p->x->node[p->x->n] = node;
    return p->x->n++;
}

static bool is_constant(const struct node *v)
{
    return v->kind == NODE_NUMBER || v->kind == NODE_IDENTITY;
}

/* Multiply the factor of a node. */
static int scale_node(struct parser *p, int i, double factor, const char *where)
{
    struct node *v = &p->x->node[i];
    v->factor *= factor;
    return isfinite(v->factor) ? i : wrong(p, where, "the factor is too large for a double");
}

static int wrong_sizes(struct parser *p, const char *where, const char *what, const struct node *a,
                       const struct node *b)
{
    char fault[200];
    snprintf(fault, sizeof fault, "the sizes do not fit: %lld x %lld %s %lld x %lld", (long long)a->rows,
             (long long)a->cols, what, (long long)b->rows, (long long)b->cols);
    return wrong(p, where, fault);
}

static int transpose_node(struct parser *p, int i, const char *where)
{
    struct node *v = &p->x->node[i];
    if (is_constant(v)) return i;
    return new_node(p, (struct node){NODE_TRANSPOSE, 1, NULL, i, -1, v->cols, v->rows}, where);
}

static int product_node(struct parser *p, int i, int j, const char *where)
{
    const struct node *a = &p->x->node[i], *b = &p->x->node[j];
    if (a->kind == NODE_NUMBER || (a->kind == NODE_IDENTITY && b->kind != NODE_NUMBER))
        return scale_node(p, j, a->factor, where);
    if (is_constant(b)) return scale_node(p, i, b->factor, where);
    if (a->cols != b->rows) return wrong_sizes(p, where, "times", a, b);
    return new_node(p, (struct node){NODE_PRODUCT, 1, NULL, i, j, a->rows, b->cols}, where);
}

/* If operand a of a sum is the identity, give it the size of the other operand, b. */
static bool size_identity(struct parser *p, struct node *a, const struct node *b, const char *where)
{
    if (a->kind != NODE_IDENTITY) return true;
    a->rows = b->rows;
    a->cols = b->cols;
    if (b->rows == b->cols) return true;
    char fault[120];
    snprintf(fault, sizeof fault, "I is square, but the other matrix is %lld x %lld", (long long)b->rows,
             (long long)b->cols);
    wrong(p, where, fault);
    return false;
}

static int sum_node(struct parser *p, int i, int j, double sign, const char *where)
{
    struct node *a = &p->x->node[i], *b = &p->x->node[j];
    b->factor *= sign;
    if (is_constant(a) && a->kind == b->kind) {
        a->factor += b->factor;
        return scale_node(p, i, 1, where);
    }
    if (a->kind == NODE_NUMBER || b->kind == NODE_NUMBER)
        return wrong(p, where, "a number and a matrix cannot be added; write 2*I for twice the identity");
    if (!size_identity(p, a, b, where) || !size_identity(p, b, a, where)) return -1;
    if (a->rows != b->rows || a->cols != b->cols) return wrong_sizes(p, where, sign < 0 ? "minus" : "plus", a, b);
    return new_node(p, (struct node){NODE_SUM, 1, NULL, i, j, a->rows, a->cols}, where);
}

/* ---- operands ---- */

static int parse_number(struct parser *p, size_t n)
{
    double value = 0;
    unsigned how = 0;
    const char *where = p->at;
    if (!number_parse(p->at, p->at + n, &value, &how) || !isfinite(value))
        return wrong(p, where, "the number is too large for a double");
    p->at += n;
    return new_node(p, (struct node){NODE_NUMBER, value, NULL, -1, -1, -1, -1}, where);
}

/* The matrix with the longest name that begins the text; NULL: none. */
static const struct matrix *named_at(const struct session *s, const char *at)
{
    const struct matrix *best = NULL;
    for (const struct matrix *m = s->matrices; m; m = m->next) {
        size_t n = strlen(m->name);
        bool longer = !best || n > strlen(best->name);
        if (longer && !strncmp(at, m->name, n) && !name_character(at[n])) best = m;
    }
    return best;
}

static int unknown_name(struct parser *p)
{
    char name[80], safe[200], fault[400];
    int n = 0;
    while (name_character(p->at[n])) n++;
    snprintf(name, sizeof name, "%.*s", n, p->at);
    struct suggest near = suggest_for(name);
    for (const struct matrix *m = p->s->matrices; m; m = m->next) suggest_offer(&near, m->name);
    print_safe(name, strlen(name), 40, safe, sizeof safe);
    snprintf(fault, sizeof fault, "no matrix is called %s%s%s%s", safe, *near.best ? "; did you mean `" : "", near.best,
             *near.best ? "`?" : "");
    return wrong(p, p->at, fault);
}

static int parse_name(struct parser *p)
{
    const char *where = p->at;
    const struct matrix *m = named_at(p->s, p->at);
    if (!m && *p->at == 'I' && !name_character(p->at[1])) {
        p->at++;
        return new_node(p, (struct node){NODE_IDENTITY, 1, NULL, -1, -1, -1, -1}, where);
    }
    if (!m) return unknown_name(p);
    if (!session_takes(p->s, m, p->e)) return -1;
    p->at += strlen(m->name);
    return new_node(p, (struct node){NODE_MATRIX, 1, &m->csr, -1, -1, m->csr.rows, m->csr.cols}, where);
}

static int parse_parenthesis(struct parser *p)
{
    const char *where = p->at++;
    if (p->depth == NESTING_MAX) return wrong(p, where, "the parentheses are nested too deeply; at most 100 levels");
    p->depth++;
    int i = parse_sum(p);
    p->depth--;
    if (i < 0 || take(p, ')')) return i;
    return wrong(p, p->at, *p->at ? "an operator or ) is missing" : "the closing ) is missing");
}

static int parse_operand(struct parser *p)
{
    skip_blanks(p);
    size_t n = name_number(p->at);
    if (named_at(p->s, p->at)) return parse_name(p); /* the name may begin with a number or I, such as I-2 */
    if (n) return parse_number(p, n);
    if (*p->at == '(') return parse_parenthesis(p);
    if (name_character(*p->at)) return parse_name(p);
    return wrong(p, p->at, "a matrix, a number or ( is missing");
}

/* ---- operators ---- */

static int parse_signed(struct parser *p)
{
    double sign = 1;
    const char *where = p->at;
    for (bool more = true; more;) {
        bool minus = take(p, '-');
        more = minus || take(p, '+');
        if (minus) sign = -sign;
    }
    int i = parse_operand(p);
    while (i >= 0 && take(p, '\'')) i = transpose_node(p, i, p->at - 1);
    return i < 0 ? i : scale_node(p, i, sign, where);
}

static int parse_product(struct parser *p)
{
    int i = parse_signed(p);
    while (i >= 0 && take(p, '*')) {
        const char *where = p->at - 1;
        int j = parse_signed(p);
        i = j < 0 ? j : product_node(p, i, j, where);
    }
    return i;
}

static int parse_sum(struct parser *p)
{
    int i = parse_product(p);
    while (i >= 0) {
        bool minus = take(p, '-');
        if (!minus && !take(p, '+')) break;
        const char *where = p->at - 1;
        int j = parse_product(p);
        i = j < 0 ? j : sum_node(p, i, j, minus ? -1 : 1, where);
    }
    return i;
}

bool expression_read(struct expression *x, const struct session *s, const char *text, struct err *e)
{
    struct parser p = {x, s, text, text, 0, e};
    x->n = 0;
    x->root = parse_sum(&p);
    skip_blanks(&p);
    if (x->root < 0) return false;
    if (*p.at == ')') return wrong(&p, p.at, "the opening ( is missing") >= 0;
    if (*p.at) return wrong(&p, p.at, "+, -, * or ' is missing") >= 0;
    const struct node *v = &x->node[x->root];
    if (v->kind == NODE_NUMBER) return wrong(&p, p.at, "the result is a number, not a matrix") >= 0;
    if (v->rows < 0) return wrong(&p, p.at, "I has no size here; add it to a matrix") >= 0;
    return true;
}

/* ---- evaluation ---- */

/* The value of a node: `factor` times a matrix, which is a matrix of the session (`lent`) or a computed matrix
   (`own`). */
struct value {
    double factor;
    const struct csr *lent; /* NULL: own */
    struct csr own;
};

static const struct csr *value_csr(const struct value *v)
{
    return v->lent ? v->lent : &v->own;
}

static bool evaluate(const struct expression *x, int i, struct value *out, struct err *e);

static bool evaluate_transpose(const struct expression *x, const struct node *node, struct value *out, struct err *e)
{
    struct value v;
    if (!evaluate(x, node->left, &v, e)) return false;
    bool ok = csr_transpose(&out->own, value_csr(&v), e);
    csr_free(&v.own);
    out->factor *= v.factor;
    if (ok && csr_conjugate(&out->own, e)) return true;
    csr_free(&out->own);
    return false;
}

static bool evaluate_pair(const struct expression *x, const struct node *node, struct value *out, struct err *e)
{
    struct value a, b;
    if (!evaluate(x, node->left, &a, e)) return false;
    bool ok = evaluate(x, node->right, &b, e);
    if (ok && node->kind == NODE_SUM) {
        ok = csr_sum(&out->own, a.factor, value_csr(&a), b.factor, value_csr(&b), e);
    } else if (ok) {
        ok = csr_multiply(&out->own, value_csr(&a), value_csr(&b), e);
        out->factor *= a.factor * b.factor;
    }
    csr_free(&a.own);
    csr_free(&b.own);
    return ok;
}

static bool evaluate(const struct expression *x, int i, struct value *out, struct err *e)
{
    const struct node *node = &x->node[i];
    *out = (struct value){.factor = node->factor};
    switch (node->kind) {
    case NODE_MATRIX:
        out->lent = node->matrix;
        return true;
    case NODE_TRANSPOSE:
        return evaluate_transpose(x, node, out, e);
    case NODE_IDENTITY:
        return csr_identity(&out->own, 1, node->rows, e);
    case NODE_NUMBER:
        break; /* numbers are folded into factors */
    case NODE_SUM:
    case NODE_PRODUCT:
        return evaluate_pair(x, node, out, e);
    }
    return fail(e, E_INTERNAL, "a number was left in the expression");
}

bool expression_value(const struct expression *x, struct csr *out, struct err *e)
{
    struct value v;
    *out = (struct csr){0};
    if (!evaluate(x, x->root, &v, e)) return false;
    if (v.lent) return csr_multiple(out, v.factor, v.lent, e);
    if (v.factor == 1 || csr_scale_values(&v.own, v.factor, e)) {
        *out = v.own;
        return true;
    }
    csr_free(&v.own);
    return false;
}
