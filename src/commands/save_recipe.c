/* save FILE recipe: the last solve as a program. */
#include "save_recipe.h"
#include "advice/recipe.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "direct/direct.h"
#include "language/args.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <string.h>

static bool write_file(const char *path, bool force, const char *text, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, force, e) && newfile_write(&f, text, (int64_t)strlen(text), e);
    return newfile_close(&f, ok, e);
}

static void out_recipe(struct out *o, const struct recipe *r, const struct recipe_request *q, const char *file)
{
    out_row(o);
    out_str(o, "name", "name", q->m->name);
    out_str(o, "file", "file", file);
    out_str(o, "recipe", "recipe", r->name);
    out_str(o, "solver", NULL, q->solver ? q->solver->name : "direct");
    out_str(o, "precond", NULL, q->pre ? q->pre->name : NULL);
    out_str(o, NULL, "solve", q->method);
    out_str(o, "b", "b", q->b_file ? q->b_file : q->right->name);
    out_str(o, "matrix_file", "reads", q->file);
    out_bool(o, "matrix_file_there", NULL, q->there);
    if (!q->there) out_note(o, "the program reads %s, which `save %s %s` writes", q->file, q->file, q->m->name);
}

bool save_recipe(struct session *s, const struct args *a, struct err *e)
{
    const char *file = arg(a, "file");
    const struct recipe *r = recipe_find(arg(a, "recipe"));
    struct recipe_request q;
    if (arg_flag(a, "amgx")) return fail(e, E_USAGE, "`amgx` is for matrices, not for `recipe`");
    if (!newfile_allowed(file, arg_flag(a, "force"), e)) return false;
    char *text = mem_new(RECIPE_ROOM, 1, "the program", e);
    bool ok = text && recipe_write(s, r, arg(a, "matrix"), file, &q, text, e) &&
              write_file(file, arg_flag(a, "force"), text, e);
    mem_free(text);
    if (ok) out_recipe(s->out, r, &q, file);
    return ok;
}

/* ---- the keys of the row ---- */

static const struct field recipe_fields[] = {
    {"name", F_TEXT, "name of the matrix that was solved"},
    {"file", F_TEXT, "the program"},
    {"recipe", F_TEXT, "the kind of program", .entries = &recipe_registry},
    {"solver", F_TEXT, "the solver, or direct"},
    {"precond", F_TEXT | OR_NULL, "the preconditioner; null: none"},
    {"b", F_TEXT, "the right side: a word or a file; given: in the file of the matrix"},
    {"matrix_file", F_TEXT, "the file of the matrix that the program reads"},
    {"matrix_file_there", F_BOOLEAN, "whether that file is there; if not, `save` writes it"},
    {0},
};
const struct row_kind row_recipe = {"recipe", "the last solve, written as a program", recipe_fields};
