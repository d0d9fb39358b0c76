/* Writes the solutions of linear systems to the files that lines name after `save`. */
#include "save_solution.h"
#include "base/newfile.h"
#include "files/matrix_market.h"
#include "language/args.h"
#include "report/output.h"
#include "session/session.h"

bool save_allowed(const struct args *a, struct err *e)
{
    return !arg(a, "save") || newfile_allowed(arg(a, "save"), arg_flag(a, "force"), e);
}

bool save_solution(struct session *s, const struct args *a, const struct mtx_columns *x, struct err *e)
{
    const char *file = arg(a, "save");
    if (!file) return true;
    if (!mtx_save_columns(file, arg_flag(a, "force"), x, "the solution of a linear system", &s->watch, e)) return false;
    if (x->columns == 1)
        out_text(s->out, "x was written to %s", file);
    else
        out_text(s->out, "the %lld columns of x were written to %s", (long long)x->columns, file);
    return true;
}
