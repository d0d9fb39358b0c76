/* formats and convert: how a matrix can be stored, at what cost; and storing it so. */
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

/* "width 3, sigma 32" */
static const char *show_params(const struct stored *S, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; S->format->params[i].name && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s %lld", i ? ", " : "", S->format->params[i].name,
                              (long long)S->param[i]);
    return out;
}

static void out_title(struct out *o, const struct matrix *m, const struct product *p)
{
    char params[160], bytes[32];
    const struct stored *S = &p->S;
    int64_t slots = stored_slots(S), padding = slots - S->nnz;
    show_params(S, params, sizeof params);
    out_text(o, "%s as %s%s%s%s, %s: %s, %lld of %lld slots padding (%.1f%%), packed in %.2f ms", m->name,
             S->format->name, *params ? " (" : "", params, *params ? ")" : "", type_name(S->real),
             show_bytes((double)stored_bytes(S), bytes, sizeof bytes), (long long)padding, (long long)slots,
             slots ? 100 * (double)padding / (double)slots : 0.0, p->prep_us / 1000);
}

/* In text, for a format of diagonals: how balanced it is. */
static void say_balance(struct out *o, const struct stored *S)
{
    struct measures m;
    char operands[40], pieces[40];
    if (format_measures(S, &m, NULL))
        out_text(o, "%s operands in %s pieces for thread blocks, of variance %.4g",
                 show_count(m.operands, operands, sizeof operands), show_count(m.pieces, pieces, sizeof pieces),
                 m.variance);
}

static void out_array(struct out *o, const struct matrix *m, const struct product *p, const struct array *a)
{
    struct measures measures;
    bool diagonals = format_measures(&p->S, &measures, NULL);
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "format", NULL, p->S.format->name);
    out_str(o, "precision", NULL, type_name(p->S.real));
    out_str(o, "array", "array", a->name);
    out_str(o, "type", "type", type_name(a->type));
    out_int(o, "n", "length", a->n);
    out_bytes(o, "bytes", "size", a->n * (int64_t)type_size(a->type));
    out_int(o, "padding", NULL, stored_slots(&p->S) - p->S.nnz);
    out_num(o, "prep_us", NULL, p->prep_us, NULL);
    out_measures(o, diagonals ? &measures : NULL);
}

static bool run_convert(struct session *s, const struct args *a, struct err *e)
{
    const struct format *f = format_find(arg(a, "format"));
    int64_t param[PARAMS_MAX];
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    if (!m || !arg_params(a, f->params, param, e)) return false;
    bool given = arg_count(a, "params") > 0;
    struct device *d = given || !f->suit ? NULL : session_device(s, NULL, NULL);
    const int64_t *chosen = given ? param : d ? params_on(f, d, param) : NULL;
    struct product *p = session_product(s, m, f, chosen, arg_precision(a), arg_flag(a, "force"), e);
    if (!p) return false;
    out_title(s->out, m, p);
    say_balance(s->out, &p->S);
    for (int k = 0; k < p->S.narrays; k++) out_array(s->out, m, p, &p->S.a[k]);
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

const struct command command_convert = {
    .name = "convert",
    .grammar = "FORMAT [PARAMS] [of MATRIX] [f32|f64] [force]",
    .about = "store a matrix in a format and show its arrays",
    .help = "`help FORMAT` lists the parameters of a format. The result is kept and used by spmv, bench and solve.\n"
            "    convert hyb width 2 of A f32",
    .run = run_convert,
};
