/* layout: the arrays of a storage format, as a picture or slot by slot. */
#include "cmd_view.h"
#include "screen.h"
#include "view.h"
#include "ui/views/view_layout.h"
#include "ui/views/view_state.h"
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "session/matrix.h"
#include "session/output_candidates.h"
#include "base/mem.h"
#include "session/product.h"
#include "session/session.h"

#include <string.h>

enum { SLOTS_MOST = 100000 };

/* In JSON, print one array with its values, and the row of each slot, which is -1 for padding and for slots that
   belong to no row. */
static void say_array(struct out *o, const struct stored *S, const struct candidates *others, int k, double *value,
                      double *row)
{
    const struct array *x = &S->a[k];
    int64_t n = x->n < SLOTS_MOST ? x->n : SLOTS_MOST, padding = 0;
    for (int64_t i = 0; i < n; i++) {
        struct place p = S->format->where(S, k, i);
        value[i] = array_real(x, i);
        row[i] = p.kind == SLOT_PADDING ? -1 : (double)p.row;
        padding += p.kind == SLOT_PADDING;
    }
    out_row(o);
    out_str(o, "format", NULL, S->format->name);
    out_str(o, "array", "array", x->name);
    out_str(o, "type", "type", type_name(x->type));
    out_int(o, "slots", "slots", x->n);
    out_int(o, "shown", NULL, n);
    out_int(o, "padding", "padding", padding);
    out_nums(o, "values", n, value);
    out_nums(o, "rows", n, row);
    out_candidates(o, others);
}

/* In CSV, print one line per slot. */
static void say_slots(struct out *o, const struct stored *S, int k)
{
    static const char *const kind[] = {[SLOT_ENTRY] = "entry", [SLOT_PADDING] = "padding", [SLOT_POINTER] = "pointer"};
    for (int64_t i = 0; i < S->a[k].n && i < SLOTS_MOST; i++) {
        struct place p = S->format->where(S, k, i);
        out_row(o);
        out_str(o, "array", NULL, S->a[k].name);
        out_int(o, "slot", NULL, i);
        out_num(o, "value", NULL, array_real(&S->a[k], i), "%.17g");
        out_str(o, "kind", NULL, kind[p.kind]);
        out_int(o, "row", NULL, p.row);
        out_int(o, "col", NULL, p.col);
    }
}

static bool layout_data(struct session *s, const struct stored *S, const struct candidates *others, struct err *e)
{
    if (out_mode(s->out) == OUT_CSV) {
        for (int k = 0; k < S->narrays; k++) say_slots(s->out, S, k);
        return true;
    }
    double *value = mem_new(SLOTS_MOST, sizeof *value, "slots", e);
    double *row = mem_new(SLOTS_MOST, sizeof *row, "rows of slots", e);
    for (int k = 0; value && row && k < S->narrays; k++) say_array(s->out, S, others, k, value, row);
    bool ok = value && row;
    mem_free(value);
    mem_free(row);
    return ok;
}

static bool run_layout(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    const struct format *f = arg(a, "format") ? format_find(arg(a, "format")) : &format_csr;
    int64_t param[PARAMS_MAX];
    struct candidates others;
    if (!m || !arg_params(a, f->params, param, e)) return false;
    struct product *p = session_product(s, m, f, param, arg_precision(a), false, e);
    if (!p || !candidates_of(&m->csr, &p->S, &others, e)) return false;
    if (out_mode(s->out) != OUT_TEXT) return layout_data(s, &p->S, &others, e);
    say_candidates(s->out, &p->S, &others);
    if (s->front) {
        struct view_state *st = screen_view_state(s, &view_layout);
        struct layout_state *own = st->own;
        view_reset(st, m);
        own->format = f;
        own->real = arg_precision(a);
        own->param_set = true;
        memcpy(own->param, param, sizeof param);
    }
    return show_view_of(s, m, view_layout.name, arg_flag(a, "view"), e);
}

const struct command command_layout = {
    .name = "layout",
    .grammar = "[FORMAT] [PARAMS] [[of] MATRIX] [f32|f64] [view]",
    .about = "draw the arrays of a storage format slot by slot",
    .help = "All slots of a row have the same colour; * is padding. With `view`, the layout is shown full screen: the\n"
            "arrows choose a slot, and f shows the next format.\n"
            "    layout ell\n"
            "    layout bsr block 2",
    .run = run_layout,
    .rows_only_in_json = true,
};
