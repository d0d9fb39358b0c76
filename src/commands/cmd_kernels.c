/* kernels: lists the SpMV kernels, and shows whether each kernel fits a matrix. */
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "session/fit.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "session/session.h"

#include <string.h>

static void out_kernel(struct out *o, const struct kernel *k, const struct fit *fit)
{
    out_row(o);
    out_str(o, "name", "kernel", k->name);
    out_str(o, "format", "format", k->format->name);
    out_words(o, "devices", "runs on", k->host ? "cpu" : k->vendor ? "cuda" : "emu cuda");
    out_rank(o, COLUMN_DETAIL);
    out_bool(o, "deterministic", "deterministic", k->deterministic);
    out_rank(o, COLUMN_NORMAL);
    out_fit(o, fit);
    out_rank(o, fit ? COLUMN_NORMAL : COLUMN_ANSWER);
    out_str(o, "work", fit ? NULL : "one thread's work", k->work);
    out_str(o, "about", NULL, k->about);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "source", fit ? NULL : "source", k->source);
}

/* A kernel may refuse a matrix that its format can store. The decision depends only on the shape of the plan, so
   nothing needs to be packed. */
static struct fit narrowed(const struct kernel *k, const struct matrix *m, struct fit fit)
{
    struct err why = {0};
    if (m && fit.fits && k->param && !format_plan(&m->csr, k->format, k->param, T_F64, &fit.plan, &why))
        fit.fits = false;
    if (!fit.fits || !k->fits || k->fits(&fit.plan.shape, &why)) return fit;
    fit.fits = false;
    snprintf(fit.reason, sizeof fit.reason, "%s", why.text);
    return fit;
}

static bool run_kernels(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = arg(a, "matrix") || s->current ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    struct fit fit = {0};
    if (arg(a, "matrix") && !m) return false;
    for (int i = 0; kernels[i]; i++) {
        const struct format *f = kernels[i]->format;
        bool same = i && kernels[i]->format == kernels[i - 1]->format;
        if (m && f && !same && !fit_of(s, m, f, T_F64, true, &fit, e)) return false;
        struct fit own = narrowed(kernels[i], m, fit);
        out_kernel(s->out, kernels[i], m && f ? &own : NULL);
    }
    return true;
}

const struct command command_kernels = {
    .name = "kernels",
    .grammar = "[MATRIX]",
    .about = "the kernels: format, device, the work of one thread, and whether a matrix fits",
    .help = "A deterministic kernel gives the same bits in every run. `help KERNEL` explains one kernel.\n"
            "    kernels",
    .run = run_kernels,
};
