/* kernels: lists the kernels of SpMV or SpMM, and shows whether each kernel fits a matrix. */
#include "advice/format_fit.h"
#include "base/err.h"
#include "base/precision.h"
#include "base/registry.h"
#include "language/args.h"
#include "machine/kernel.h"
#include "machine/spmm.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <string.h>

/* A line of the list: a kernel of SpMV or of SpMM. */
struct entry {
    const char *name, *about, *work, *source;
    const struct format *format;
    bool host, vendor, emulated_only, deterministic;
    bool real; /* the kernel multiplies real matrices only */
    const int64_t *param;
    bool (*fits)(const struct stored *S, struct err *e);
};

static struct entry entry_of(const struct kernel *k)
{
    return (struct entry){.name = k->name,
                          .about = k->about,
                          .work = k->work,
                          .source = k->source,
                          .format = k->format,
                          .host = k->host,
                          .vendor = k->vendor,
                          .emulated_only = k->emulated_only,
                          .deterministic = k->deterministic,
                          .param = k->param,
                          .fits = k->fits};
}

static struct entry entry_of_spmm(const struct spmm_kernel *k)
{
    return (struct entry){.name = k->name,
                          .about = k->about,
                          .work = k->work,
                          .format = k->format,
                          .host = k->host,
                          .vendor = k->vendor,
                          .deterministic = k->deterministic,
                          .real = true,
                          .fits = k->fits};
}

static void out_kernel(struct out *o, const struct entry *k, const struct fit *fit)
{
    out_row(o);
    out_str(o, "name", "kernel", k->name);
    out_str(o, "format", "format", k->format->name);
    out_words(o, "devices", "runs on", k->host ? "cpu" : k->vendor ? "cuda" : k->emulated_only ? "emu" : "emu cuda");
    out_rank(o, COLUMN_DETAIL);
    out_bool(o, "deterministic", "deterministic", k->deterministic);
    out_rank(o, COLUMN_NORMAL);
    out_fit(o, fit);
    out_rank(o, fit ? COLUMN_NORMAL : COLUMN_ANSWER);
    out_str(o, "work", fit ? NULL : "one thread's work", k->work);
    out_str(o, "about", NULL, k->about);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "source", fit || !k->source ? NULL : "source", k->source);
}

/* A matrix in the format of the kernels that are being listed. */
struct listed {
    const struct format *format;
    struct fit fit;
    struct stored packed; /* empty if the matrix does not fit */
};

/* A kernel may refuse a matrix that its format can store: for the values, or for a kernel with parameters of its own
   for the shape. */
static bool takes(const struct entry *k, const struct matrix *m, const struct listed *l, struct plan *plan,
                  struct err *why)
{
    if (k->real && m->csr.imag) return fail(why, E_UNSUPPORTED, "spmm multiplies real matrices only");
    if (k->param && !format_plan(&m->csr, k->format, k->param, P_F64, plan, why)) return false;
    return !k->fits || k->fits(k->param ? &plan->shape : &l->packed, why);
}

static struct fit narrowed(const struct entry *k, const struct matrix *m, const struct listed *l)
{
    struct err why = {0};
    struct fit fit = l->fit;
    if (!fit.fits || takes(k, m, l, &fit.plan, &why)) return fit;
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
    return fit_of(s, m, f, P_F64, &l->packed, &l->fit, e);
}

static bool run_kernels(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = arg(a, "of") || s->current ? session_matrix(s, arg(a, "of"), e) : NULL;
    const struct format *only = arg(a, "format") ? format_find(arg(a, "format")) : NULL;
    struct listed l = {0};
    bool ok = m || !arg(a, "of"), spmm = arg_flag(a, "spmm");
    int n = registry_count(spmm ? &spmm_registry : &kernel_registry);
    for (int i = 0; ok && i < n; i++) {
        struct entry k = spmm ? entry_of_spmm(spmm_kernels[i]) : entry_of(kernels[i]);
        if (only && k.format != only) continue;
        if (m && !(ok = list_format(s, m, k.format, &l, e))) break;
        struct fit own = m ? narrowed(&k, m, &l) : l.fit;
        out_kernel(s->out, &k, m ? &own : NULL);
    }
    stored_free(&l.packed);
    if (ok && !spmm && !only) out_text(s->out, "`kernels spmm` lists the kernels that multiply several vectors.");
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field kernels_kernel_fields[] = {
    {"name", F_TEXT, "the kernel"},
    {"format", F_TEXT, "storage format it works on"},
    {"devices", F_LIST, "devices it runs on: cpu, emu, cuda", .item = F_TEXT},
    {"deterministic", F_BOOLEAN, "the same bits every run"},
    {"work", F_TEXT, "what one thread does"},
    {"about", F_TEXT, "strengths and weaknesses of the kernel"},
    {"source", F_TEXT | OR_NULL, "where it is published; null: a kernel of spmm"},
    {0},
};
static const struct row_kind row_kernels_kernel = {"kernel", "a kernel", kernels_kernel_fields};

static const struct field kernels_fitted_fields[] = {
    {.include = &row_fit},
    {.include = &row_diagonals},
    {.include = &row_kernels_kernel},
    {0},
};
static const struct row_kind row_kernels_fitted = {"fitted", "a kernel, and how the matrix fits it",
                                                   kernels_fitted_fields};

const struct command command_kernels = {
    .name = "kernels",
    .grammar = "[spmm] [FORMAT] [[of] MATRIX]",
    .about = "the kernels: format, device, the work of one thread, and whether a matrix fits",
    .help = "A format limits the list to its kernels. A deterministic kernel gives the same bits in every run.\n"
            "`help KERNEL` explains one kernel. `kernels spmm` lists the kernels of the command spmm, which multiply\n"
            "several vectors at a time.\n"
            "    kernels; kernels ell; kernels ell of A; kernels spmm",
    .rows = (const struct row_kind *const[]){&row_kernels_kernel, &row_kernels_fitted, NULL},
    .run = run_kernels,
    .sweeps = true,
    .large = true,
};
