/* let: makes a new matrix from an expression, such as A*A' or A + 2*I. */
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "language/args.h"
#include "language/expression.h"
#include "language/kinds.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/pattern.h"
#include "session/session.h"

#include <string.h>

enum { FORMULA_MAX = 4000 };

/* Join the words of the command, separated by blanks. */
static bool join_words(const struct args *a, char *out, size_t size, struct err *e)
{
    size_t n = 0;
    for (int i = 0; i < arg_count(a, "formula"); i++) {
        int more = snprintf(out + n, size - n, "%s%s", i ? " " : "", arg_at(a, "formula", i));
        n += (size_t)more;
        if (n >= size) return fail(e, E_LIMIT, "the expression is longer than %d bytes; split it", FORMULA_MAX);
    }
    return true;
}

/* Split "B = A*A'" into the name and the expression; both point into `text`. */
static bool split_at_equals(struct session *s, char *text, const char **name, const char **formula, struct err *e)
{
    char *equals = strchr(text, '=');
    if (!equals) return fail(e, E_USAGE, "the = is missing: `let B = A*A'`");
    *equals = 0;
    *formula = equals + 1 + strspn(equals + 1, " ");
    *name = text + strspn(text, " ");
    char *end = text + strlen(text);
    while (end > *name && end[-1] == ' ') *--end = 0;
    if (!**name) return fail(e, E_USAGE, "the name before = is missing: `let B = A*A'`");
    return kind_check("NAME", s, "let", *name, e);
}

static void out_made(struct out *o, const struct matrix *m)
{
    out_record(o);
    out_str(o, "name", "name", m->name);
    out_str(o, "of", "made of", m->info.file);
    out_int(o, "rows", "rows", m->csr.rows);
    out_int(o, "cols", "columns", m->csr.cols);
    out_int(o, "nnz", "nonzeros", m->csr.nnz);
    out_time(o, "time_us", "time", 1000 * m->info.ms);
}

/* Copy the right sides if the expression is a matrix alone, as in `let B = A`. For every other expression, note that
   the right sides of its matrices are left out, because the result is another system. */
static bool carry_sides(struct session *s, const struct expression *x, struct err *e)
{
    static const struct carried same = {0};
    const struct node *root = &x->node[x->root];
    bool copies = root->kind == NODE_MATRIX && root->factor == 1, ok = true;
    for (int i = 0; i < x->n && ok; i++) {
        const struct matrix *m = x->node[i].kind == NODE_MATRIX ? session_matrix_of(s, x->node[i].matrix) : NULL;
        bool again = false;
        for (int k = 0; k < i; k++) again |= x->node[k].kind == NODE_MATRIX && x->node[k].matrix == x->node[i].matrix;
        if (m && !again) ok = session_carry_sides(s, m, copies ? &same : NULL, e);
    }
    return ok;
}

/* Is the expression a pattern of the session, or its transpose? */
static bool is_pattern(const struct session *s, const struct expression *x)
{
    const struct node *n = &x->node[x->root];
    double factor = n->factor;
    while (n->kind == NODE_TRANSPOSE) n = &x->node[n->left], factor *= n->factor;
    const struct matrix *m = n->kind == NODE_MATRIX ? session_matrix_of(s, n->matrix) : NULL;
    return m && factor == 1 && matrix_is_pattern(m);
}

static bool make_matrix(struct session *s, const char *name, const char *formula, struct err *e)
{
    struct expression x = {.n = 0};
    struct csr A;
    double begin = now_us();
    if (!expression_read(&x, s, formula, e)) return false;
    if (!expression_value(&x, &A, e)) return false;
    struct load_info info = {.object = "matrix", .symmetry = "general", .nnz_stored = A.nnz};
    info.ms = (now_us() - begin) / 1000;
    snprintf(info.field, sizeof info.field, "%s", A.imag ? "complex" : is_pattern(s, &x) ? "pattern" : "real");
    print_safe(formula, strlen(formula), sizeof info.file / 4 - 4, info.file, sizeof info.file);
    bool ok = session_add(s, name, &A, &info, e) && carry_sides(s, &x, e);
    csr_free(&A);
    if (ok) out_made(s->out, s->current);
    return ok;
}

static bool run_let(struct session *s, const struct args *a, struct err *e)
{
    char text[FORMULA_MAX + 1];
    const char *name = "", *formula = "";
    if (!join_words(a, text, sizeof text, e) || !split_at_equals(s, text, &name, &formula, e) ||
        !session_name_is_free(s, name, e))
        return false;
    return make_matrix(s, name, formula, e);
}

/* ---- the keys of the rows ---- */

static const struct field let_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the expression"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"time_us", F_AMOUNT, "all of it, in us"},
    {0},
};
static const struct row_kind row_let = {"let", "a matrix by an expression", let_fields};

const struct command command_let = {
    .name = "let",
    .grammar = "FORMULA...",
    .about = "a new matrix from an expression: products, sums, multiples, transposes",
    .help = "NAME = EXPRESSION, with names of matrices, numbers, I (the identity, of the size that fits), + - * ( )\n"
            "and ' for the transpose (the conjugate transpose of a complex matrix). Names and sizes are checked\n"
            "before anything is computed. Products are computed by CXSparse on all threads, and their entries are\n"
            "counted before memory is allocated. Entries that become 0 stay stored; `prune` drops them. A-scaled is\n"
            "one name if a matrix is called A-scaled, so put blanks around operators. The new matrix becomes the\n"
            "current one.\n"
            "    let B = A*A'; let C = A + 2*I; let D = -0.5*(A - A')",
    .rows = (const struct row_kind *const[]){&row_let, NULL},
    .run = run_let,
    .formula = true,
};
