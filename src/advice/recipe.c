/* Finds out what the last solve of the session was, whether a target can express it, and writes the program. */
#include "recipe.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text.h"
#include "direct/direct.h"
#include "matrix/csr.h"
#include "recipe_rights.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <string.h>
#include <unistd.h>

#define RECIPE(id) extern const struct recipe recipe_##id;
#include "recipes.def"
#undef RECIPE
#define RECIPE(id) &recipe_##id,
static const struct recipe *const recipes[] = {
#include "recipes.def"
    NULL};
#undef RECIPE

const struct registry recipe_registry = {.entries = recipes};

const struct recipe *recipe_find(const char *name)
{
    return registry_find(&recipe_registry, name);
}

/* ---- what no program does ---- */

/* What the user chose for a preconditioner and other libraries have no words for. */
static const char *own_precond(const struct solve_precond *p)
{
    const struct triangle_settings *t = &p->triangles;
    const struct schur_settings *c = &p->schur;
    if (!p->method) return NULL;
    if (p->method->triangles && t->way == TRIANGLES_SWEEPS) return "its triangles were solved by sweeps";
    if (p->method->triangles && t->order) return "its rows were factored in another order";
    if (p->method->triangles && t->shift.set) return "its pivots were shifted";
    if (p->method->blocks && p->block) return "the size of its blocks was chosen";
    if (p->method->near && p->near.kind != NEAR_DEFAULT) return "its near-null vectors were chosen";
    if (p->method->saddle && (c->inner || c->complement || c->mass)) return "its parts were chosen";
    return NULL;
}

/* Did the solve of a scaled system go on with a smaller tol by itself (solve_tighten)? */
static bool was_tightened(const struct solve *v)
{
    return v->scaling.row && v->set.tol < v->scaling.tol;
}

/* Why a program for another library would not be the solve v; NULL: it would. */
static const char *own_solve(const struct solve *v)
{
    if (v->reason == RUNNING) return "it is paused: `continue` ends it";
    if (v->engine.runs) return "PETSc solved on ranks, and the solve showed its options";
    if (v->matrix.csr->imag) return "it is complex, and the programs solve real systems";
    if (v->refine.on) return "it refines in two precisions";
    if (v->real != T_F64) return "it was in fp32, and the programs solve in fp64";
    if (v->base && !was_tightened(v)) return "its settings were changed on the way";
    if (!v->from_zero) return "x0 is not 0";
    if (v->null.of.right.count) return "a null space was projected out";
    if (v->scaling.row_swap) return "rows were reordered; `reorder` makes that matrix, to solve and to save";
    if (v->set.eps > 0) return "eps ends it";
    if (v->solver->omega > 0 && v->set.omega != v->solver->omega) return "omega was chosen";
    if (v->b_norm == 0) return "b is 0, and so is x";
    return own_precond(&v->pre);
}

static bool refuse_direct(const struct recipe *r, const struct direct_method *d, struct err *e)
{
    struct name_list direct = registry_names(&direct_registry, r->has_direct, NULL);
    struct name_list iterative = registry_names(&solver_registry, r->has_solver, NULL);
    return fail(e, E_UNSUPPORTED, "a program for %s cannot solve by direct %s; it has %s%s", r->name, d->name,
                direct.n ? "direct " : "", direct.n ? direct.text : iterative.text);
}

static bool expressible(const struct recipe *r, const struct recipe_request *q, struct err *e)
{
    const char *own = q->solve ? own_solve(q->solve) : NULL;
    if (own) return fail(e, E_UNSUPPORTED, "no program can repeat the last solve: %s", own);
    if (q->direct && !r->has_direct(q->direct)) return refuse_direct(r, q->direct, e);
    if (q->solver && !r->has_solver(q->solver))
        return fail(e, E_UNSUPPORTED, "a program for %s cannot solve by %s; it has %s", r->name, q->solver->name,
                    registry_names(&solver_registry, r->has_solver, NULL).text);
    if (q->pre && !r->has_precond(q->pre))
        return fail(e, E_UNSUPPORTED, "a program for %s cannot use precond %s; it has %s", r->name, q->pre->name,
                    registry_names(&precond_registry, r->has_precond, NULL).text);
    if (q->scaled && !r->scales)
        return fail(e, E_UNSUPPORTED,
                    "a program for %s cannot scale rows and columns; `scale` makes that matrix, to solve and to save",
                    r->name);
    return !r->accepts || r->accepts(q, e);
}

/* ---- the right side ---- */

/* Is b the right side of this name? */
static bool is_right(const struct matrix *m, const char *name, const double *b, bool *same, struct err *e)
{
    struct right_sides r;
    if (!right_sides_make(m, name, 0, &r, e)) return false;
    *same = !memcmp(r.b, b, (size_t)r.each * sizeof *b);
    right_sides_free(&r);
    return true;
}

/* Let q->right be the right side with a name that b is, if there is one. */
static bool find_word(struct recipe_request *q, const double *b, struct err *e)
{
    bool same = false;
    for (const struct recipe_right *k = recipe_rights; k->name && !same; k++) {
        if (!is_right(q->m, k->name, b, &same, e)) return false;
        if (same) q->right = k;
    }
    return true;
}

/* May the path stand in quotes in a program? */
static bool is_plain(const char *path)
{
    char safe[2400];
    return !strpbrk(path, "\"\\?") && strlen(path) < 500 &&
           !strcmp(print_safe(path, strlen(path), sizeof safe / 4 - 4, safe, sizeof safe), path);
}

static bool ends_with_one(const char *path, const char *endings)
{
    char copy[80], *rest = copy;
    snprintf(copy, sizeof copy, "%s", endings);
    for (const char *end; (end = strsep(&rest, " "));)
        if (strlen(path) > strlen(end) && !strcmp(path + strlen(path) - strlen(end), end)) return true;
    return false;
}

/* The column of the right sides of the matrix that b is; -1: none. */
static int64_t given_column(const struct matrix *m, const double *b)
{
    for (int64_t i = 0; i < m->sides.n; i++)
        if (!memcmp(m->sides.b + i * m->csr.rows, b, (size_t)m->csr.rows * sizeof *b)) return i;
    return -1;
}

static bool find_right(const struct recipe *r, struct recipe_request *q, const double *b, struct err *e)
{
    const struct solve_right *from = q->solve ? &q->solve->right : NULL;
    if (!find_word(q, b, e)) return false;
    if (q->right) return true;
    q->b_column = given_column(q->m, b);
    if (r->reads_right && q->b_column >= 0) return q->right = &recipe_right_given, true;
    bool file = from && from->from_file && !from->given && ends_with_one(from->name, ".mtx") && is_plain(from->name);
    if (!file)
        return fail(e, E_UNSUPPORTED,
                    "a program for %s cannot make this b; solve with b aones, or with b in an .mtx file", r->name);
    q->right = &recipe_right_of_file;
    q->b_file = from->name;
    q->b_column = from->column;
    return true;
}

/* ---- the matrix ---- */

/* Does the file that m was loaded from still hold m, as far as a simple reader understands it? */
static bool reads_back(const struct session *s, const struct recipe *r, const struct recipe_request *q)
{
    const struct load_info *info = &q->m->info;
    bool mtx = ends_with_one(info->file, ".mtx .mtx.gz"), derived = false;
    for (const struct matrix *m = s->matrices; m; m = m->next) derived = derived || !strcmp(m->name, info->file);
    bool plain = !derived && !info->nwarnings && is_plain(info->file) && ends_with_one(info->file, r->reads);
    bool skew = strcmp(info->symmetry, "general") && strcmp(info->symmetry, "symmetric");
    return plain && !skew && !(mtx && q->m->sides.n) && !access(info->file, R_OK);
}

static void find_file(const struct session *s, const struct recipe *r, struct recipe_request *q)
{
    q->there = reads_back(s, r, q);
    if (q->there)
        snprintf(q->file, sizeof q->file, "%s", q->m->info.file);
    else
        snprintf(q->file, sizeof q->file, "%s%s", q->m->name, q->right == &recipe_right_given ? ".npz" : ".mtx");
}

/* ---- the last solve ---- */

static void take_solve(struct recipe_request *q, const struct solve *v)
{
    q->solve = v;
    q->solver = v->solver;
    q->pre = v->pre.method;
    q->scaled = v->scaling.of && v->scaling.row;
    q->symmetric = v->solver->symmetric;
    q->peer = (struct peer_request){.solver = &v->solver->peers,
                                    .pre = q->pre ? &q->pre->peers : NULL,
                                    .takes_precond = !v->solver->no_precond,
                                    .krylov = true,
                                    .tol = v->set.tol,
                                    .maxit = v->set.maxit,
                                    .m = v->solver->restarts ? v->set.m : 0};
    snprintf(q->method, sizeof q->method, "%s%s%s%s", v->solver->name, q->pre ? " precond " : "",
             q->pre ? q->pre->name : "", q->scaled ? " scaled" : "");
    snprintf(q->reached, sizeof q->reached, "%s, %s, true residual %.1e", how_many(v->iterations, "iteration").text,
             reason_name(v->reason), v->result.residual_true);
}

static void take_direct(struct recipe_request *q, const struct direct_answer *a)
{
    q->direct = a->method;
    q->symmetric = a->method->hermitian;
    q->peer = (struct peer_request){.solver = &a->method->peers};
    snprintf(q->method, sizeof q->method, "direct %s", a->method->name);
    snprintf(q->reached, sizeof q->reached, "true residual %.1e", a->residual_true);
}

/* Find the last solve; *b receives its right side. */
static bool find_solve(struct session *s, const char *name, struct recipe_request *q, const double **b, struct err *e)
{
    const struct direct_answer *a = s->direct_is_newer ? s->direct : NULL;
    const struct solve *v = a ? NULL : s->solve;
    if (!a && !v) return fail(e, E_USAGE, "nothing was solved yet; `solve` first, then save its recipe");
    q->m = session_matrix_of(s, a ? a->A : v->scaling.of ? v->scaling.of : v->matrix.csr);
    if (!q->m) return fail(e, E_USAGE, "the matrix of the last solve is gone");
    if (q->m->parts_on || csr_is_large(&q->m->csr))
        return fail(e, E_UNSUPPORTED, "%s is too large for the programs", q->m->name);
    if (name && strcmp(name, q->m->name))
        return fail(e, E_USAGE, "the last solve is of %s, not of %s", q->m->name, name);
    if (a && !a->x) return fail(e, E_UNSUPPORTED, "the last solve found no x: %s", a->why);
    if (a && a->A->imag) return fail(e, E_UNSUPPORTED, "%s is complex, and the programs solve real systems", a->name);
    *b = a ? a->b : v->b;
    if (a)
        take_direct(q, a);
    else
        take_solve(q, v);
    return true;
}

bool recipe_write(struct session *s, const struct recipe *r, const char *name, const char *program,
                  struct recipe_request *q, char *out, struct err *e)
{
    const double *b = NULL;
    *q = (struct recipe_request){0};
    *out = 0;
    if (!find_solve(s, name, q, &b, e) || !expressible(r, q, e) || !find_right(r, q, b, e)) return false;
    find_file(s, r, q);
    snprintf(q->program, sizeof q->program, "%s", is_plain(program) ? program : "FILE");
    r->write(q, out, RECIPE_ROOM);
    return true;
}
