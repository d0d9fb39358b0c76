/* `symmetrize step`: the arrays after each step of the patent's method, as the kernels of sym-paper leave them. */
#include "sym_steps.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "machine/device.h"
#include "machine/symmetrize.h"
#include "report/fields.h"
#include "report/listing.h"
#include "session/matrix.h"
#include "session/session.h"

#include <string.h>

/* A larger matrix would fill many screens. */
enum { ENTRIES_MAX = 100, LABEL = 5 };

/* ---- the values of the arrays ---- */

static double row_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return (double)(t->key[a][i] >> 32);
}

static double column_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return (double)(uint32_t)t->key[a][i];
}

static double value_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return t->value[a][i];
}

static double flag_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return (double)(1 - t->first[i]);
}

static double ptr_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return t->result.rowptr[i];
}

static double col_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return t->result.col[i];
}

static double val_of(const struct sym_steps *t, enum sym_array a, int64_t i)
{
    return t->result.val[i];
}

/* How many values an array has. T1 is the first half of T2. */
enum size { HALF, ALL, ROWS, ENTRIES };

/* The steps of the patent, S102 to S105. A line that begins a group has a title. */
static const struct {
    const char *step, *array, *type;
    enum sym_array from;
    enum size size;
    double (*value)(const struct sym_steps *t, enum sym_array a, int64_t i);
    const char *title;
} steps[] = {
    {"T1", "p", "int32", SYM_T2, HALF, row_of, "T1: a triple (p, q, v) = (row, column, value) of each entry (S102)"},
    {"T1", "q", "int32", SYM_T2, HALF, column_of, NULL},
    {"T1", "v", "fp64", SYM_T2, HALF, value_of, NULL},
    {"T2", "p", "int32", SYM_T2, ALL, row_of, "T2: T1, then the mirrored triples (q, p, v) (S103)"},
    {"T2", "q", "int32", SYM_T2, ALL, column_of, NULL},
    {"T2", "v", "fp64", SYM_T2, ALL, value_of, NULL},
    {"T3", "p", "int32", SYM_T3, ALL, row_of,
     "T3: T2 sorted by the key p << 32 | q (S103); F: 1 marks a repeated key (S104)"},
    {"T3", "q", "int32", SYM_T3, ALL, column_of, NULL},
    {"T3", "v", "fp64", SYM_T3, ALL, value_of, NULL},
    {"F", "F", "int32", SYM_T3, ALL, flag_of, NULL},
    {"T4", "p", "int32", SYM_T4, ALL, row_of, "T4: the triples of T3 with F = 0, with the values of the mode (S104)"},
    {"T4", "q", "int32", SYM_T4, ALL, column_of, NULL},
    {"T4", "v", "fp64", SYM_T4, ALL, value_of, NULL},
    {"CSR", "ptr", "int32", SYM_T4, ROWS, ptr_of, "CSR: ptr[i] is the first triple of row i (S105)"},
    {"CSR", "col", "int32", SYM_T4, ENTRIES, col_of, "col and val: q and v of T4"},
    {"CSR", "val", "fp64", SYM_T4, ENTRIES, val_of, NULL},
};

static int64_t size_of(const struct sym_steps *t, int k)
{
    const int64_t size[] = {
        [HALF] = t->n[SYM_T2] / 2, [ALL] = t->n[steps[k].from], [ROWS] = t->result.rows + 1, [ENTRIES] = t->result.nnz};
    return size[steps[k].size];
}

/* ---- rows of JSON and CSV ---- */

static void print_array(struct session *s, const struct matrix *m, const struct device *d, const struct sym_steps *t,
                        enum sym_mode mode, int k, double *value)
{
    struct out *o = s->out;
    int64_t n = size_of(t, k);
    bool csv = out_mode(o) == OUT_CSV;
    for (int64_t i = 0; i < n; i++) value[i] = steps[k].value(t, steps[k].from, i);
    for (int64_t i = 0; i < (csv ? n : 1); i++) {
        out_row(o);
        out_str(o, "of", NULL, m->name);
        out_str(o, "mode", NULL, sym_modes[mode].name);
        out_str(o, "device", NULL, d->name);
        out_str(o, "step", NULL, steps[k].step);
        out_str(o, "array", NULL, steps[k].array);
        out_str(o, "type", NULL, steps[k].type);
        out_int(o, "slots", NULL, n);
        if (csv) out_int(o, "slot", NULL, i);
        if (csv) out_num(o, "value", NULL, value[i], NULL);
        out_values(o, "values", n, value);
    }
}

static bool print_arrays(struct session *s, const struct matrix *m, const struct device *d, const struct sym_steps *t,
                         enum sym_mode mode, struct err *e)
{
    int64_t most = t->n[SYM_T2] > t->result.rows ? t->n[SYM_T2] : t->result.rows + 1;
    double *value = mem_new(most, sizeof *value, "an array of a step", e);
    for (int k = 0; value && k < COUNT(steps); k++) print_array(s, m, d, t, mode, k, value);
    mem_free(value);
    return value != NULL;
}

/* ---- text ---- */

static int text_of(const struct sym_steps *t, int k, int64_t i, char *out, size_t size)
{
    return snprintf(out, size, "%.4g", steps[k].value(t, steps[k].from, i));
}

/* The width of a slot in the lines from .. to-1, including a gap. */
static int width_of(const struct sym_steps *t, int from, int to)
{
    char text[32];
    int width = snprintf(text, sizeof text, "%lld", (long long)size_of(t, from) - 1);
    for (int k = from; k < to; k++)
        for (int64_t i = 0; i < size_of(t, k); i++) {
            int w = text_of(t, k, i, text, sizeof text);
            if (w > width) width = w;
        }
    return width + 1;
}

/* Print one line of slots; k < 0: the slots' numbers. */
static void print_line(struct out *o, const struct sym_steps *t, int k, int64_t from, int64_t to, int width)
{
    char line[1100], text[32];
    int at = snprintf(line, sizeof line, " %-*s", LABEL, k < 0 ? "slot" : steps[k].array);
    for (int64_t i = from; i < to && at < (int)sizeof line - width - 1; i++) {
        if (k < 0)
            snprintf(text, sizeof text, "%lld", (long long)i);
        else
            text_of(t, k, i, text, sizeof text);
        at += snprintf(line + at, sizeof line - (size_t)at, "%*s", width, text);
    }
    out_text(o, "%s", line);
}

/* Print the lines from .. to-1, which have the same slots, in pieces as wide as the screen. */
static void print_group(struct out *o, const struct sym_steps *t, int from, int to)
{
    int width = width_of(t, from, to);
    int64_t n = size_of(t, from), fit = (listing_width(o) - 1 - LABEL) / width;
    if (fit < 1) fit = 1;
    out_text(o, "%s", "");
    out_text(o, "%s", steps[from].title);
    for (int64_t i = 0; i < n; i += fit) {
        int64_t end = i + fit < n ? i + fit : n;
        print_line(o, t, -1, i, end, width);
        for (int k = from; k < to; k++) print_line(o, t, k, i, end, width);
    }
}

static void print_text(struct out *o, const struct matrix *m, const struct device *d, const struct sym_steps *t,
                       enum sym_mode mode)
{
    out_text(o, "%s, %s, mode %s: the arrays of sym-paper on %s", m->name, how_many(m->csr.nnz, "entry").text,
             sym_modes[mode].name, d->name);
    for (int from = 0, to; from < COUNT(steps); from = to) {
        for (to = from + 1; to < COUNT(steps) && !steps[to].title;) to++;
        print_group(o, t, from, to);
    }
}

bool sym_steps_print(struct session *s, const struct matrix *m, enum sym_mode mode, struct device *d, struct err *e)
{
    struct sym_steps t;
    if (m->csr.nnz > ENTRIES_MAX)
        return fail(e, E_LIMIT, "`step` shows matrices of at most %d entries, but %s has %lld; try samples/thesis4.mtx",
                    ENTRIES_MAX, m->name, (long long)m->csr.nnz);
    if (!sym_steps_take(&t, &m->csr, mode, d, &s->watch, e)) return false;
    bool ok = !out_shows_rows(s->out) || print_arrays(s, m, d, &t, mode, e);
    if (ok) print_text(s->out, m, d, &t, mode);
    sym_steps_free(&t);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field symmetrize_step_fields[] = {
    {"of", F_TEXT, "the matrix from which the arrays were made"},
    {"mode", F_TEXT, "how the result is computed from A and its transpose", .entries = &sym_mode_registry},
    {"device", F_TEXT, "device whose kernels made the arrays"},
    {"step", F_TEXT, "step of the patent", .words = "T1, T2, T3, F, T4, CSR"},
    {"array", F_TEXT, "array of the step: rows, columns and values of triples; flags of repeated keys; CSR",
     .words = "p, q, v, F, ptr, col, val"},
    {"type", F_TEXT, "type of its values", .words = "int32, int64, fp16, bf16, fp32, fp64, complex fp32, complex fp64"},
    {"slots", F_COUNT, "slots it has"},
    {"values", F_LIST, "the values", .item = F_NUMBER | OR_NAN},
    {0},
};
const struct row_kind row_symmetrize_step = {"step", "an array of a step of the method", symmetrize_step_fields};
