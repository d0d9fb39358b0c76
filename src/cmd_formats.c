/* formats: how a matrix can be stored, and at what cost. */
#include "cmd.h"

#include <math.h>
#include <string.h>

/* Failures of one format that the others do not share. */
static bool is_refusal(enum code c)
{
    return c == E_LIMIT || c == E_UNSUPPORTED || c == E_MEMORY || c == E_USAGE;
}

static bool pack_timed(struct matrix *m, const struct format *f, enum type real, struct fit *out, struct err *e)
{
    struct stored S = {0};
    double start = now_us();
    bool ok = format_pack(&m->csr, f, NULL, real, false, &S, e);
    out->prep_us = now_us() - start;
    out->diagonals = ok && format_measures(&S, &out->measures, NULL);
    stored_free(&S);
    return ok;
}

bool fit_of(struct session *s, struct matrix *m, const struct format *f, enum type real, bool pack, struct fit *out,
            struct err *e)
{
    struct err why = {0};
    memset(out, 0, sizeof *out);
    out->prep_us = NAN;
    if (!watch_tick(&s->watch, f->name, 0, 0, e)) return false;
    if (m->csr.imag) fail(&why, E_UNSUPPORTED, "%s is complex; formats hold real values", m->name);
    out->fits = !why.code && format_plan(&m->csr, f, NULL, real, &out->plan, &why) &&
                format_allow(&out->plan, mem_available(), false, &why) && (!pack || pack_timed(m, f, real, out, &why));
    if (!out->fits) out->prep_us = NAN;
    snprintf(out->reason, sizeof out->reason, "%s", why.text);
    return out->fits || is_refusal(why.code) || fail(e, why.code, "%s", why.text);
}

void out_fit(struct out *o, const struct fit *fit)
{
    if (!fit) return;
    double slots = (double)fit->plan.slots;
    out_bool(o, "fits", "fits", fit->fits);
    out_bytes(o, "bytes", "size", fit->plan.bytes);
    out_int(o, "padding", NULL, fit->plan.padding);
    out_num(o, NULL, "padding %", slots > 0 ? 100 * (double)fit->plan.padding / slots : 0, "%.1f");
    out_num(o, "prep_us", "prep us", fit->prep_us, "%.1f");
    out_measures(o, fit->diagonals ? &fit->measures : NULL);
    out_str(o, "reason", NULL, fit->fits ? NULL : fit->reason);
}

static void out_format(struct out *o, const struct format *f, const struct fit *fit)
{
    out_row(o);
    out_str(o, "name", "format", f->name);
    out_fit(o, fit);
    out_str(o, "about", fit ? NULL : "about", f->about);
    out_str(o, "source", fit ? NULL : "source", f->source);
    if (fit) out_str(o, NULL, "why not", fit->fits ? "" : fit->reason);
}

/* In text, below the others: how balanced the formats of diagonals are. */
static void out_balance(struct out *o, const struct fit *fit)
{
    if (out_mode(o) != OUT_TEXT) return;
    out_text(o, "Stored as diagonals; variance of the operands over the pieces that thread blocks process:");
    for (int i = 0; formats[i]; i++) {
        if (!fit[i].diagonals) continue;
        out_row(o);
        out_str(o, NULL, "format", formats[i]->name);
        out_measures_text(o, &fit[i].measures);
    }
}

static bool fits_of(struct session *s, struct matrix *m, enum type real, struct err *e)
{
    int n = 0;
    while (formats[n]) n++;
    struct fit *fit = mem_new(n, sizeof *fit, "how a matrix fits", e);
    bool ok = fit != NULL, any = false;
    for (int i = 0; ok && i < n; i++) {
        ok = fit_of(s, m, formats[i], real, true, &fit[i], e);
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
        out_text(s->out, "%s as each format, %s:", m->name, type_name(arg_precision(a)));
        return fits_of(s, m, arg_precision(a), e);
    }
    for (int i = 0; formats[i]; i++) out_format(s->out, formats[i], NULL);
    return true;
}

const struct command command_formats = {
    .name = "formats",
    .grammar = "[MATRIX] [f32|f64]",
    .about = "the storage formats; of a matrix: size, padding, time to pack, or why it does not fit",
    .help = "A format that would waste memory on padding is not packed; `convert FORMAT force` insists.\n"
            "    formats A f32",
    .run = run_formats,
};
