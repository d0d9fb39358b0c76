/* formats: the storage formats of a matrix and their cost. */
#include "advice/format_fit.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

static void out_format(struct out *o, const struct format *f, const struct fit *fit)
{
    out_row(o);
    out_str(o, "name", "format", f->name);
    out_fit(o, fit);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "about", fit ? NULL : "about", f->about);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "source", fit ? NULL : "source", f->source);
    out_rank(o, COLUMN_ANSWER);
    if (fit) out_str(o, NULL, "why not", fit->fits ? "" : fit->reason);
}

/* In text, print the load balance of the diagonal formats below the table. A thread block takes one piece, several, or
   a part of one: the numbers of both show which. */
static void out_balance(struct out *o, const struct fit *fit)
{
    if (out_mode(o) != OUT_TEXT) return;
    out_text(o,
             "Load balance of the diagonal formats: the operands of a piece are its stored slots, padding included.");
    for (int i = 0; formats[i]; i++) {
        if (!fit[i].diagonals) continue;
        out_row(o);
        out_str(o, NULL, "format", formats[i]->name);
        out_measures_text(o, &fit[i].measures);
        out_int_if(o, NULL, "thread blocks", fit[i].blocks > 0, fit[i].blocks);
    }
}

static bool fits_of(struct session *s, struct matrix *m, enum precision real, struct err *e)
{
    int n = registry_count(&format_registry);
    struct fit *fit = mem_new(n, sizeof *fit, "how a matrix fits", e);
    bool ok = fit != NULL, any = false;
    for (int i = 0; ok && i < n; i++) {
        ok = fit_of(s, m, formats[i], real, NULL, &fit[i], e);
        if (ok) out_format(s->out, formats[i], &fit[i]);
        any |= ok && fit[i].diagonals;
    }
    if (ok && any) out_balance(s->out, fit);
    mem_free(fit);
    return ok;
}

static bool run_formats(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "matrix");
    struct matrix *m = name || s->current ? session_matrix(s, name, e) : NULL;
    if (name && !m) return false;
    if (m) {
        out_text(s->out, "%s as each format, %s:", m->name, precision_of(&m->csr, arg_precision(a)));
        return fits_of(s, m, arg_precision(a), e);
    }
    for (int i = 0; formats[i]; i++) out_format(s->out, formats[i], NULL);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field formats_format_fields[] = {
    {"name", F_TEXT, "the format"},
    {"about", F_TEXT, "what it is"},
    {"source", F_TEXT, "where it is published"},
    {0},
};
static const struct row_kind row_formats_format = {"format", "a storage format", formats_format_fields};

static const struct field formats_fitted_fields[] = {
    {.include = &row_fit},
    {.include = &row_diagonals},
    {.include = &row_formats_format},
    {0},
};
static const struct row_kind row_formats_fitted = {"fitted", "a storage format, and how the matrix fits it",
                                                   formats_fitted_fields};

const struct command command_formats = {
    .name = "formats",
    .grammar = "[MATRIX] [f32|f64|[precision] PRECISION]",
    .about = "the storage formats; for a matrix: size, padding, packing time, or why it does not fit",
    .help = "A format that would consist mostly of padding is not packed; `convert FORMAT force` packs it anyway.\n"
            "    formats A f32",
    .rows = (const struct row_kind *const[]){&row_formats_format, &row_formats_fitted, NULL},
    .run = run_formats,
    .sweeps = true,
    .large = true,
};
