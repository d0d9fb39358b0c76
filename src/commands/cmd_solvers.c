/* solvers: lists the solvers, the direct solvers and the preconditioners. */
#include "direct/direct.h"
#include "ranks/ranks.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <stdio.h>

/* In text, print one line per method, wrapped at a terminal, because a table would cut long lines. */
static void out_method(struct out *o, const char *kind, const char *name, const char *about, const char *needs,
                       const char *source)
{
    char text[400];
    if (out_mode(o) == OUT_TEXT) {
        snprintf(text, sizeof text, "%s; needs %s [%s]", about, needs, source);
        out_str(o, name, name, text);
        return;
    }
    out_row(o);
    out_str(o, "kind", NULL, kind);
    out_str(o, "name", NULL, name);
    out_str(o, "about", NULL, about);
    out_str(o, "needs", NULL, needs);
    out_str(o, "source", NULL, source);
}

static void out_kind(struct out *o, const char *title)
{
    if (out_mode(o) != OUT_TEXT) return;
    out_text(o, "%s", title);
    out_record(o);
}

static void out_rank_methods(struct out *o, const char *title, const char *kind, const struct registry *r)
{
    const struct rank_method *m;
    out_kind(o, title);
    for (int i = 0; (m = (const struct rank_method *)registry_at(r, i)); i++)
        out_method(o, kind, m->name, m->about, "`ranks N`", m->source);
}

static bool run_solvers(struct session *s, const struct args *a, struct err *e)
{
    out_kind(s->out, "Solvers");
    for (int i = 0; solvers[i]; i++)
        out_method(s->out, "solver", solvers[i]->name, solvers[i]->about, solvers[i]->needs, solvers[i]->source);
    out_kind(s->out, "Direct solvers, for `solve direct`");
    for (int i = 0; directs[i]; i++)
        out_method(s->out, "direct", directs[i]->name, directs[i]->about, directs[i]->needs, directs[i]->source);
    out_kind(s->out, "Preconditioners");
    for (int i = 0; preconds[i]; i++)
        out_method(s->out, "precond", preconds[i]->name, preconds[i]->about, preconds[i]->needs, preconds[i]->source);
    out_rank_methods(s->out, "Direct solvers on ranks", "rank_direct", &rank_direct_registry);
    out_rank_methods(s->out, "Preconditioners on ranks", "rank_precond", &rank_precond_registry);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field solvers_fields[] = {
    {"kind", F_TEXT, "what it is; rank_: on ranks", .words = "solver, direct, precond, rank_direct, rank_precond"},
    {"name", F_TEXT, "its name"},
    {"about", F_TEXT, "what it does"},
    {"needs", F_TEXT, "what it needs of a matrix"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_solvers = {
    "solvers", "a solver, a direct solver or a preconditioner, also those on ranks", solvers_fields};

const struct command command_solvers = {
    .name = "solvers",
    .grammar = "",
    .about = "list the solvers, direct solvers and preconditioners",
    .help = "Shows what each solver requires of the matrix, and where the solver was published.\n"
            "    solvers",
    .rows = (const struct row_kind *const[]){&row_solvers, NULL},
    .run = run_solvers,
};
