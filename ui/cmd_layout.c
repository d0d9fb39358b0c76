/* layout: the arrays of a storage format, as a picture or slot by slot. */
#include "base/err.h"
#include "base/loop.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "cmd_view.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/interval.h"
#include "report/fields.h"
#include "report/output.h"
#include "report/output_candidates.h"
#include "screen.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "ui/views/view_layout.h"
#include "ui/views/view_state.h"
#include "ui/views/views.h"
#include "view.h"

#include <math.h>
#include <string.h>

/* The slots of one array that are printed. */
struct part {
    const struct stored *S;
    int array;
    struct interval slots;
    int64_t padding; /* counted while the rows of the slots are printed */
};

/* The slots of array k within the range of the user; without a range, all slots. */
static struct part part_of(const struct stored *S, int k, struct interval range)
{
    struct part p = {.S = S, .array = k, .slots = range};
    if (p.slots.last >= S->a[k].n) p.slots.last = S->a[k].n - 1;
    if (p.slots.first > p.slots.last) p.slots.first = p.slots.last + 1;
    return p;
}

static double value_of(void *user, int64_t i)
{
    const struct part *p = user;
    return array_real(&p->S->a[p->array], p->slots.first + i);
}

static double imag_of(void *user, int64_t i)
{
    const struct part *p = user;
    return array_imag(&p->S->a[p->array], p->slots.first + i);
}

/* The row of a slot; -1 for padding and for slots that are part of no row. */
static double row_of(void *user, int64_t i)
{
    struct part *p = user;
    struct place at = p->S->format->where(p->S, p->array, p->slots.first + i);
    p->padding += at.kind == SLOT_PADDING;
    return at.kind == SLOT_PADDING ? -1 : (double)at.row;
}

/* If the matrix is complex, print the imaginary parts of an array; null for an array of indices. */
static bool say_imag(struct out *o, struct part *p, struct err *e)
{
    if (!precisions[p->S->real].is_complex) return true;
    if (type_is_complex(p->S->a[p->array].type)) return out_stream(o, "imag", interval_size(p->slots), imag_of, p, e);
    out_str(o, "imag", NULL, NULL);
    return true;
}

/* In JSON, print one array with its values and the rows of its slots. */
static bool say_array(struct out *o, struct part *p, const struct candidates *others, struct err *e)
{
    const struct array *x = &p->S->a[p->array];
    int64_t n = interval_size(p->slots);
    out_row(o);
    out_str(o, "format", NULL, p->S->format->name);
    out_str(o, "array", NULL, x->name);
    out_str(o, "type", NULL, type_name(x->type));
    out_int(o, "slots", NULL, x->n);
    out_int(o, "first", NULL, p->slots.first);
    out_int(o, "shown", NULL, n);
    bool ok = out_stream(o, "values", n, value_of, p, e) && say_imag(o, p, e) && out_stream(o, "rows", n, row_of, p, e);
    out_int(o, "padding", NULL, p->padding);
    out_candidates(o, others);
    return ok;
}

/* In CSV, and in text with a range, print one line per slot. */
static bool say_slots(struct out *o, const struct part *p, struct err *e)
{
    static const char *const kind[] = {[SLOT_ENTRY] = "entry", [SLOT_PADDING] = "padding", [SLOT_POINTER] = "pointer"};
    const struct array *x = &p->S->a[p->array];
    bool text = out_mode(o) == OUT_TEXT;
    struct loop l = loop_of("printing", p->slots.last);
    for (int64_t i = p->slots.first; i <= p->slots.last && loop_goes(&l, i); i++) {
        struct place at = p->S->format->where(p->S, p->array, i);
        out_row(o);
        out_str(o, "array", "array", x->name);
        out_int(o, "slot", "slot", i);
        char mask[16];
        snprintf(mask, sizeof mask, "0x%x", x->role == ROLE_BITS ? (unsigned)(int)array_real(x, i) : 0);
        if (text && x->role == ROLE_BITS)
            out_str(o, "value", "value", mask);
        else
            out_num(o, "value", "value", array_real(x, i), text ? "%.10g" : "%.17g");
        if (precisions[p->S->real].is_complex)
            out_num(o, "imag", "imaginary", type_is_complex(x->type) ? array_imag(x, i) : NAN,
                    text ? "%.10g" : "%.17g");
        out_str(o, "kind", "kind", kind[at.kind]);
        out_int_if(o, "row", "row", !text || at.row >= 0, at.row);
        out_int_if(o, "col", "column", !text || at.col >= 0, at.col);
    }
    return loop_end(&l, e);
}

static bool print_slots(struct out *o, const struct stored *S, struct interval range, const struct candidates *others,
                        struct err *e)
{
    bool ok = true;
    for (int k = 0; ok && k < S->narrays; k++) {
        struct part p = part_of(S, k, range);
        ok = out_mode(o) == OUT_JSON ? say_array(o, &p, others, e) : say_slots(o, &p, e);
    }
    return ok;
}

/* Read the range of slots. Slots are numbered in each array, so a range may reach beyond the end of the shorter
   arrays. */
static bool read_slots(const struct stored *S, const char *text, struct interval *r, struct err *e)
{
    int64_t longest = 0;
    for (int k = 0; k < S->narrays; k++) longest = S->a[k].n > longest ? S->a[k].n : longest;
    *r = (struct interval){0, longest - 1};
    return !text || interval_read(text, "slot", longest, r, e);
}

/* The view shows m in this format. */
static void choose(struct view_state *st, const struct matrix *m, const struct format *f, enum precision real,
                   const int64_t param[PARAMS_MAX])
{
    struct layout_state *own = st->own;
    SCREEN_EDIT;
    view_reset(st, m);
    own->format = f;
    own->real = real;
    own->param_set = true;
    memcpy(own->param, param, sizeof own->param);
}

static bool run_layout(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    const struct format *f = arg(a, "format") ? format_find(arg(a, "format")) : format_native(m ? &m->csr : NULL);
    int64_t param[PARAMS_MAX];
    struct candidates others;
    if (!m || !arg_params(a, f->params, param, e)) return false;
    struct product *p = session_product(s, form_of(m, f, param, arg_precision(a)), e);
    struct interval range;
    if (!p || !candidates_of(&m->csr, &p->S, &others, e) || !read_slots(&p->S, arg(a, "slots"), &range, e))
        return false;
    if (arg(a, "slots") && arg_flag(a, "view"))
        return fail(e, E_USAGE, "`slots` prints a range of slots as a table; leave out `slots` or `view`");
    if (arg(a, "slots") || out_mode(s->out) != OUT_TEXT) return print_slots(s->out, &p->S, range, &others, e);
    say_candidates(s->out, &p->S, &others);
    if (s->front) choose(screen_view_state(s, &view_layout), m, f, arg_precision(a), param);
    return show_view_of(s, m, view_layout.name, arg_flag(a, "view"), e);
}

/* ---- the keys of the rows ---- */

static const struct field layout_array_fields[] = {
    {.include = &row_candidates},
    {"format", F_TEXT, "storage format"},
    {"array", F_TEXT, "name of the array"},
    {"type", F_TEXT, "type of its values", .words = "int32, int64, fp16, bf16, fp32, fp64, complex fp32, complex fp64"},
    {"slots", F_COUNT, "slots it has"},
    {"first", F_COUNT, "the first slot listed in values and rows"},
    {"shown", F_COUNT, "the number of slots listed in values and rows"},
    {"padding", F_COUNT, "the number of listed slots without an entry"},
    {"values", F_LIST, "the values, or the real parts if the values are complex", .item = F_NUMBER | OR_NAN},
    {"rows", F_LIST, "row of each slot, from 0; -1 for padding and for slots without a row", .item = F_INTEGER},
    {0},
};
const struct row_kind row_layout_array = {"array", "an array of a stored matrix", layout_array_fields};

static const struct field layout_complex_array_fields[] = {
    {.include = &row_layout_array},
    {"imag", F_LIST | OR_NULL, "the imaginary parts of the values; null for an array of indices",
     .item = F_NUMBER | OR_NAN},
    {0},
};
const struct row_kind row_layout_complex_array = {"complex_array", "an array of a complex matrix",
                                                  layout_complex_array_fields};

const struct command command_layout = {
    .name = "layout",
    .grammar = "[FORMAT] [PARAMS] [[of] MATRIX] [slots RANGE] [f32|f64|[precision] PRECISION] [view]",
    .about = "draw the arrays of a storage format slot by slot",
    .help = "All slots of a row have the same colour; * is padding. With `view`, the layout is shown full screen: the\n"
            "arrows choose a slot, and f shows the next format. The drawing shows the part that fits on the screen.\n"
            "`slots 100:199` prints the slots 100 to 199 of every array as a table, and `slots 100:` those from 100\n"
            "to the end. JSON and CSV list all slots, or those of the range.\n"
            "    layout ell\n"
            "    layout bsr block 2\n"
            "    layout csr slots 0:4",
    .rows = (const struct row_kind *const[]){&row_layout_array, &row_layout_complex_array, NULL},
    .run = run_layout,
    .large = true,
    .rows_only_in_json = true,
};
