/* `solve direct`: solves A x = b by a sparse factorisation, and keeps x as the truth for later solves. */
#include "cmd_direct.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "direct/direct.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "machine/device.h"
#include "report/output.h"
#include "report/output_direct.h"
#include "report/output_solve.h"
#include "save_solution.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_line.h"
#include "solvers/solve.h"
#include "symmetry_needed.h"

#include <math.h>
#include <string.h>

/* The word of the line that only a direct solver takes; NULL: none. */
static const char *direct_word(const struct args *a)
{
    static const char *const words[] = {"plan", "keep", "again"};
    return arg(a, "library") ? arg(a, "library") : arg_any(a, words, COUNT(words));
}

bool direct_was_typed(const struct args *a)
{
    const char *solver = arg(a, "solver");
    return solver ? registry_find(&direct_word_registry, solver) != NULL : direct_word(a) != NULL;
}

/* ---- options ---- */

bool direct_options_absent(const struct args *a, struct err *e)
{
    const char *word = direct_word(a);
    return !word || fail(e, E_USAGE, "`%s` is for `solve direct`; %s iterates", word, arg(a, "solver"));
}

/* The word of the line that only an iterative solver takes; NULL: none. */
static const char *iterative_word(const struct args *a)
{
    static const char *const words[] = {"using",   "kernel",    "precond", "block",       "eps",    "omega",
                                        "conlim",  "m",         "orth",    "sums",        "form",   "launches",
                                        "least",   "x0",        "refine",  "step",        "view",   "scaled",
                                        "reorder", "nullspace", "near",    "coordinates", "vectors"};
    return arg_any(a, words, COUNT(words));
}

bool direct_may_be_chosen(struct session *s, const struct args *a)
{
    struct device *d = arg(a, "on") ? session_device(s, arg(a, "on"), NULL) : NULL;
    return !iterative_word(a) && arg_precision(a) == P_F64 && (!d || d->kind == DEV_CPU);
}

/* A direct solver ends with the smallest residual that rounding allows, so tol and maxit have no effect. */
static bool check_options(const struct args *a, struct err *e)
{
    const char *word = iterative_word(a);
    if (arg(a, "tol") || arg(a, "maxit")) word = arg(a, "tol") ? "tol" : "maxit";
    if (arg(a, "within")) word = "within";
    if (word) return fail(e, E_USAGE, "`%s` is for iterative solvers; `solve direct` does not iterate", word);
    if (arg_precision(a) != P_F32) return true;
    return fail(e, E_UNSUPPORTED, "the direct solvers compute in fp64 only; add f64 to the command");
}

static const struct direct_method *method_of(const struct args *a)
{
    return arg(a, "library") ? direct_find(arg(a, "library")) : NULL;
}

/* Without `on`, a session whose default device is a GPU still solves directly on the host. */
static bool check_device(struct session *s, const struct args *a, struct err *e)
{
    if (!arg(a, "on")) return true;
    struct device *d = session_device(s, arg(a, "on"), e);
    if (!d) return false;
    const struct direct_method *m = method_of(a);
    if (m && m->device)
        return !strcmp(d->name, m->device) ||
               fail(e, E_UNSUPPORTED, "%s runs on %s, not on %s", m->name, m->device, d->name);
    return d->kind == DEV_CPU || fail(e, E_UNSUPPORTED, "the direct solvers run on cpu, not on %s", d->name);
}

/* ---- running ---- */

static void drop_direct(struct session *s)
{
    direct_answer_free(s->direct);
    s->direct = NULL;
}

static void drop_factors(struct session *s)
{
    direct_free(s->factors);
    s->factors = NULL;
}

/* A plan leaves the answer of an earlier solve. A factorisation that failed replaces it, although there is no x. */
static void keep(struct session *s, struct direct_answer *a)
{
    if (a->planned) {
        direct_answer_free(a);
        return;
    }
    drop_direct(s);
    s->direct = a;
    s->direct_is_newer = true;
}

/* Where the factorisation goes: into the session if the line says `keep` or `again`. */
static struct direct **place_of(struct session *s, const struct args *a)
{
    return arg_flag(a, "keep") || arg_flag(a, "again") ? &s->factors : NULL;
}

static struct direct_options options_of(struct session *s, const struct args *a)
{
    return (struct direct_options){.method = method_of(a),
                                   .plan_only = arg_flag(a, "plan"),
                                   .force = arg_flag(a, "force"),
                                   .trust = true,
                                   .keep = place_of(s, a),
                                   .tol = arg_real(a, "tol", 0),
                                   .watch = &s->watch};
}

static void take_right(struct direct_options *o, const struct right_sides *r, int64_t i)
{
    o->b = r->b + i * r->each;
    o->known_ones = r->known_ones;
    o->truth = r->x ? r->x + i * r->x_each : NULL;
    o->truth_from = r->x_from;
}

static void name_right(struct direct_answer *a, const struct right_sides *r, int64_t i)
{
    struct solve_right right = solve_right_of(r, i);
    if (r->from_file || r->replaces_ones) solve_right_text(&right, a->b_name, sizeof a->b_name);
}

/* There is no x if A is singular. */
static bool save(const struct solve_line *l, const struct direct_answer *d, struct err *e)
{
    struct mtx_columns x = {d->x, d->A->cols, 1, d->A->imag != NULL};
    if (arg(l->a, "save") && !d->x) return fail(e, E_USAGE, "there is no x to save: %s", d->why);
    return save_solution(l->s, l->a, &x, e);
}

/* ---- several right sides ---- */

/* The sums over all right sides. */
struct columns {
    int64_t done, met;
    double solve_us, us;
    double *x; /* [n * x_numbers]: the solutions, one after another; NULL: they are not saved */
};

static bool take_column(struct columns *c, const struct direct_answer *a, int64_t i, struct err *e)
{
    c->done++;
    c->met += a->met;
    c->solve_us += a->solve_us;
    c->us += a->us;
    return !c->x || loop_copy(c->x + i * a->x_numbers, a->x, a->x_numbers * (int64_t)sizeof *c->x, "copying x", e);
}

static void say_columns(struct out *o, const struct direct_answer *a, const struct columns *c, int64_t n)
{
    char factors[32], solves[32], all[32];
    out_text(
        o,
        "%lld of %lld right sides solved by %s with one factorisation: factorisation %s, substitutions %s, in all %s",
        (long long)c->met, (long long)n, a->method->name, show_us(a->factor_us, factors, sizeof factors),
        show_us(c->solve_us, solves, sizeof solves), show_us(c->us, all, sizeof all));
}

/* The answer keeps b and x of all columns, so that iterative solves with the same b show their error. */
static bool room_for_columns(struct direct_answer *a, int64_t n, struct err *e)
{
    int64_t b, x;
    bool fits = !__builtin_mul_overflow(n, a->b_numbers, &b) && !__builtin_mul_overflow(n, a->x_numbers, &x);
    if (!fits) return fail(e, E_LIMIT, "there are too many right sides");
    a->columns_b = mem_new(b, sizeof *a->columns_b, "the right sides", e);
    a->columns_x = a->columns_b ? mem_new(x, sizeof *a->columns_x, "the solutions", e) : NULL;
    return a->columns_x;
}

static bool keep_column(struct direct_answer *a, struct err *e)
{
    if (!a->accurate || !a->unique || !isnan(a->normal)) return true;
    int64_t i = a->columns++, size = sizeof(double);
    a->columns_error = max_or_nan(a->trust.error, i ? a->columns_error : 0);
    return loop_copy(a->columns_b + i * a->b_numbers, a->b, a->b_numbers * size, "copying b", e) &&
           loop_copy(a->columns_x + i * a->x_numbers, a->x, a->x_numbers * size, "copying x", e);
}

/* The answer holds the solution of column 0. Solve the others by the same factors. */
static bool solve_others(struct session *s, struct direct **v, struct direct_answer *answer, struct direct_options *o,
                         const struct right_sides *r, struct columns *c, struct err *e)
{
    if (!room_for_columns(answer, r->n, e)) return false;
    for (int64_t i = 0; i < r->n; i++) {
        take_right(o, r, i);
        if (i && !direct_solve_again(v, answer, o, e)) return false;
        name_right(answer, r, i);
        out_direct_column(s->out, answer, r->name, i);
        if (!take_column(c, answer, i, e) || !keep_column(answer, e)) return false;
    }
    say_columns(s->out, answer, c, r->n);
    return true;
}

/* The answer of the last column is kept; after Ctrl-C, that of none. */
static bool solve_columns(const struct solve_line *l, const struct direct_options *given, struct err *e)
{
    struct direct *own = NULL, **factors = given->keep ? given->keep : &own;
    struct direct_answer *answer = NULL;
    struct direct_options o = *given;
    struct columns c = {0};
    const struct csr *A = &l->m->csr;
    const struct right_sides *r = &l->right.all;
    take_right(&o, r, 0);
    o.keep = factors;
    if (!direct_solve(&answer, A, &o, e)) return false;
    answer->name = l->m->name;
    bool ok = true, solved = answer->x, saves = arg(l->a, "save") && solved;
    if (!solved) out_direct(l->s->out, answer, l->s->solve);
    if (saves) ok = (c.x = mem_zero(r->n * answer->x_numbers, sizeof *c.x, "the solutions", e));
    struct mtx_columns x = {c.x, A->cols, r->n, A->imag != NULL};
    if (solved) ok = ok && solve_others(l->s, factors, answer, &o, r, &c, e);
    ok = ok && (solved ? save_solution(l->s, l->a, &x, e) : save(l, answer, e));
    direct_free(own);
    mem_free(c.x);
    if (solved || ok)
        keep(l->s, answer);
    else
        direct_answer_free(answer);
    return ok;
}

/* ---- one right side ---- */

static bool solve_one(const struct solve_line *l, const struct direct_options *given, struct err *e)
{
    struct direct_answer *answer = NULL;
    struct direct_options o = *given;
    take_right(&o, &l->right.all, l->right.column);
    if (!direct_solve(&answer, &l->m->csr, &o, e)) return false;
    name_right(answer, &l->right.all, l->right.column);
    answer->name = l->m->name;
    if (answer->method->hermitian) note_rounding(l->s, l->m, "one triangle is factored");
    out_direct(l->s->out, answer, l->s->solve);
    bool ok = save(l, answer, e);
    keep(l->s, answer);
    return ok;
}

/* Does the line fit what is kept? Any other line frees it, to make room for its own. */
static bool check_kept(struct session *s, const struct args *a, struct err *e)
{
    const struct direct_method *m = method_of(a);
    if (!arg_flag(a, "again")) {
        drop_factors(s);
        return true;
    }
    if (!s->factors) return fail(e, E_USAGE, "no factorisation is kept; `solve direct keep` keeps one");
    return !m || m == direct_method_of(s->factors) ||
           fail(e, E_USAGE,
                "the factorisation that is kept is one of %s; leave out `%s`, or use `solve direct %s keep`",
                direct_method_of(s->factors)->name, m->name, m->name);
}

bool solve_direct(const struct solve_line *l, struct err *e)
{
    if (!check_kept(l->s, l->a, e)) return false;
    struct direct_options o = options_of(l->s, l->a);
    if (!save_allowed(l->a, e) || !matrix_is_hermitian(l->s, l->m, &o.symmetric, e)) return false;
    return (l->right.several ? solve_columns : solve_one)(l, &o, e);
}

bool solve_direct_typed(struct solve_line *l, struct err *e)
{
    return check_options(l->a, e) && check_device(l->s, l->a, e) && sides_request_of(l->m, l->a, &l->right, e) &&
           solve_direct(l, e);
}

/* ---- what the session keeps ---- */

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->direct && s->direct->A == &m->csr;
}

/* The factorisation has its own copy of the matrix, and serves other matrices with the same pattern. */
static bool is_of_none(const struct session *s, const struct matrix *m)
{
    return false;
}

const struct holding holding_factors = {.drop = drop_factors, .belongs_to = is_of_none};
const struct holding holding_direct = {.drop = drop_direct, .belongs_to = is_of};
