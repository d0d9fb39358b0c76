/* `solve on ranks`: solves by PETSc, with the options and the output of other solves. */
#include "base/err.h"
#include "base/mem.h"
#include "cmd_ranks.h"
#include "direct/direct.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "ranks/ranks.h"
#include "ranks/ranks_solve.h"
#include "save_solution.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_ranks.h"
#include "session/session_solve.h"
#include "solve_line.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <string.h>

/* ---- the words of the line ---- */

bool ranks_words_absent(const struct args *a, struct err *e)
{
    const char *pre = arg(a, "precond"), *library = arg(a, "library"), *word = NULL;
    const struct precond *found;
    if (pre && !precond_typed(pre, &found)) word = pre;
    if (library && !direct_find(library)) word = library;
    if (word) return fail(e, E_USAGE, "%s is a method of PETSc: add `on ranks`, after `ranks 4`", word);
    return !arg(a, "options") || fail(e, E_USAGE, "options are those of PETSc: add `on ranks`, after `ranks 4`");
}

/* The words that PETSc's solvers do not take here. */
static bool check_words(const struct args *a, struct err *e)
{
    static const char *const words[] = {
        "using", "kernel",   "block",      "triangles", "sweeps",      "order",   "shift",    "drop",
        "fill",  "inner",    "complement", "mass",      "eps",         "omega",   "orth",     "sums",
        "form",  "launches", "least",      "refine",    "within",      "plan",    "keep",     "again",
        "f32",   "scaled",   "reorder",    "near",      "coordinates", "vectors", "nullspace"};
    const char *word = arg_any(a, words, COUNT(words));
    if (!word) return true;
    return fail(e, E_USAGE, "`%s` is not for the ranks; `options \"-ksp_...\"` passes an option of PETSc", word);
}

/* "jacobi, gamg, hypre" */
static const char *names_of(const struct registry *r, char *out, size_t size)
{
    const struct named *entry;
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; (entry = registry_at(r, i)) && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? ", " : "", entry->name);
    return out;
}

static bool choose_direct(const struct args *a, struct ranks_request *q, struct err *e)
{
    const char *library = arg(a, "library");
    char names[160];
    if (arg(a, "precond")) return fail(e, E_USAGE, "a direct solver takes no preconditioner");
    q->direct = library ? rank_direct_find(library) : registry_find(&rank_direct_registry, "mumps");
    if (q->direct) return true;
    return fail(e, E_USAGE, "%s runs on cpu only; the direct solvers on ranks are %s", library,
                names_of(&rank_direct_registry, names, sizeof names));
}

static bool choose_precond(const struct args *a, struct ranks_request *q, struct err *e)
{
    const char *pre = arg(a, "precond");
    char names[160];
    if (!pre || !strcmp(pre, precond_none)) return true;
    if (q->solver && q->solver->no_precond) return fail(e, E_USAGE, "%s takes no preconditioner", q->solver->name);
    const struct named *own = registry_find(&precond_registry, pre), *entry;
    q->pre = rank_precond_find(pre);
    for (int i = 0; own && !q->pre && (entry = registry_at(&rank_precond_registry, i)); i++) /* ilu0 is ilu there */
        if (has_word(registry_aliases(&precond_registry, own), entry->name)) q->pre = rank_precond_find(entry->name);
    if (q->pre) return true;
    return fail(e, E_USAGE, "%s is a preconditioner of cpu, emu and cuda; those on ranks are %s", pre,
                names_of(&rank_precond_registry, names, sizeof names));
}

/* cg, if A is symmetric, else gmres: unless raw options say what to do. */
static bool choose(struct session *s, struct matrix *m, const struct args *a, struct ranks_request *q, struct err *e)
{
    const char *name = arg(a, "solver");
    bool direct = (name && registry_find(&direct_word_registry, name)) || arg(a, "library");
    *q = (struct ranks_request){.options = arg(a, "options"), .step = arg_flag(a, "step")};
    if (!check_words(a, e)) return false;
    if (direct) return choose_direct(a, q, e);
    if (name)
        q->solver = solver_find(name);
    else if (!q->options) {
        const struct stats *stats = session_stats(s, m, e);
        if (!stats) return false;
        q->solver = solver_find(stats->symmetry.rounding ? "cg" : "gmres");
    }
    if (q->solver && q->solver->least_squares)
        return fail(e, E_UNSUPPORTED, "%s runs on cpu, emu and cuda only: the ranks solve square systems",
                    q->solver->name);
    if (q->solver && !q->solver->peers.petsc) return fail(e, E_UNSUPPORTED, "PETSc has no %s", q->solver->name);
    return choose_precond(a, q, e);
}

/* ---- the solve ---- */

static struct solve_options options_of(const struct args *a)
{
    return (struct solve_options){.real = P_F64,
                                  .tol = arg_real(a, "tol", 1e-8),
                                  .maxit = arg_int(a, "maxit", 10000),
                                  .m = arg_int(a, "m", 0),
                                  .force = arg_flag(a, "force")};
}

static bool begin(struct solve_line *l, const struct ranks_request *q, struct err *e)
{
    struct session *s = l->s;
    struct matrix *m = l->m;
    struct solve_matrix A = {.name = m->name, .csr = &m->csr, .facts = &m->facts, .watch = &s->watch};
    double *x0 = guess_of(m, l->a, l->right.column, e);
    struct ranks *r = x0 ? session_ranks(s, m, e) : NULL;
    struct solve *v = NULL;
    l->o = options_of(l->a);
    if (r) {
        solve_take_right(&l->o, &l->right.all, m, l->right.column);
        session_solve_truth(s, m, &l->o);
        l->o.x0 = x0;
        if (!ranks_solve(&v, r, q, &A, &l->o, e)) r = NULL, session_ranks_failed(s);
    }
    if (r) session_swap_solve(s, v);
    l->o.x0 = NULL;
    mem_free(x0);
    return r != NULL;
}

/* Also print what the options of PETSc, such as -ksp_view, have it print. */
static bool run(const struct solve_line *l, struct err *e)
{
    const struct session *s = l->s;
    bool ok = solve_line_run(l, e) || session_ranks_failed(l->s);
    if (ok && s->ranks && s->ranks->nprints) out_verbatim(s->out, s->ranks->prints);
    return ok;
}

bool solve_on_ranks(struct solve_line *l, struct err *e)
{
    struct ranks_request q;
    if (!save_allowed(l->a, e)) return false;
    if (!ranks_take(&l->m->csr, e) || !choose(l->s, l->m, l->a, &q, e) || !sides_request_of(l->m, l->a, &l->right, e))
        return false;
    if (l->right.several)
        return fail(e, E_USAGE, "b has %lld columns, and the ranks solve one at a time; add `column 0`",
                    (long long)l->right.all.n);
    session_drop_solve(l->s);
    return begin(l, &q, e) && run(l, e);
}
