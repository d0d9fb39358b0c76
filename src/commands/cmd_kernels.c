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

/* A matrix in the format of the kernels that are being listed. */
struct listed {
    const struct format *format;
    struct fit fit;
    struct stored packed; /* empty if the matrix does not fit */
};

/* A kernel may refuse a matrix that its format can store: for the values, or for a kernel with parameters of its own
   for the shape. */
static struct fit narrowed(const struct kernel *k, const struct matrix *m, const struct listed *l)
{
    struct err why = {0};
    struct fit fit = l->fit;
    if (fit.fits && k->param && !format_plan(&m->csr, k->format, k->param, T_F64, &fit.plan, &why)) fit.fits = false;
    if (!fit.fits || !k->fits || k->fits(k->param ? &fit.plan.shape : &l->packed, &why)) return fit;
    fit.fits = false;
    snprintf(fit.reason, sizeof fit.reason, "%s", why.text);
    return fit;
}

/* Pack the matrix in the format, unless that was done for the previous kernel. */
static bool list_format(struct session *s, struct matrix *m, const struct format *f, struct listed *l, struct err *e)
{
    if (l->format == f) return true;
    stored_free(&l->packed);
    l->format = f;
    return fit_of(s, m, f, T_F64, &l->packed, &l->fit, e);
}

static bool run_kernels(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = arg(a, "of") || s->current ? session_matrix(s, arg(a, "of"), e) : NULL;
    const struct format *only = arg(a, "format") ? format_find(arg(a, "format")) : NULL;
    struct listed l = {0};
    bool ok = m || !arg(a, "of");
    for (int i = 0; ok && kernels[i]; i++) {
        if (only && kernels[i]->format != only) continue;
        if (m && !(ok = list_format(s, m, kernels[i]->format, &l, e))) break;
        struct fit own = m ? narrowed(kernels[i], m, &l) : l.fit;
        out_kernel(s->out, kernels[i], m ? &own : NULL);
    }
    stored_free(&l.packed);
    return ok;
}

const struct command command_kernels = {
    .name = "kernels",
    .grammar = "[FORMAT] [[of] MATRIX]",
    .about = "the kernels: format, device, the work of one thread, and whether a matrix fits",
    .help = "A format limits the list to its kernels. A deterministic kernel gives the same bits in every run.\n"
            "`help KERNEL` explains one kernel.\n"
            "    kernels; kernels ell; kernels ell of A",
    .run = run_kernels,
};
