/* rows: the lengths of the rows, as a picture or as numbers. */
#include "base/err.h"
#include "cmd_view.h"
#include "language/args.h"
#include "matrix/rows.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/views.h"
#include "view.h"

#include <math.h>

/* Print quantiles: a fraction `share` of the rows has at most `length` entries. */
static void say_quantiles(struct out *o, const struct row_lengths *l)
{
    static const int percent[] = {1, 5, 25, 50, 75, 95, 99};
    int64_t rows = l->A->rows;
    for (int i = 0; i < COUNT(percent) && rows; i++) {
        out_row(o);
        out_str(o, "kind", NULL, "quantile");
        out_num(o, "share", NULL, percent[i] / 100.0, NULL);
        out_int(o, "length", "length", row_length_quantile(l, percent[i]));
    }
}

/* Print the cost of a warp in a kernel with one thread per row: 32 times the length of the longest of its 32 rows,
   divided by the number of entries of these rows. */
static void say_warps(struct out *o, const struct csr *A)
{
    struct warps w;
    warps_of(A, &w);
    out_row(o);
    out_str(o, "kind", NULL, "warps");
    out_int(o, "warps", NULL, w.n);
    out_int(o, "idle", NULL, w.idle);
    out_num(o, "cost", NULL, w.whole, NULL);
    out_num(o, "cost_mean", NULL, w.mean, NULL);
    out_num(o, "cost_worst", NULL, w.worst, NULL);
    out_num(o, "row", NULL, w.worst > 0 ? (double)w.worst_row : NAN, NULL);
    for (int k = 0; k < w.costs.n; k++) {
        out_row(o);
        out_str(o, "kind", NULL, "warp_bin");
        out_num(o, "cost", NULL, (double)w.costs.from[k] / HUNDREDTHS, NULL);
        out_num(o, "cost_end", NULL, (double)w.costs.from[k + 1] / HUNDREDTHS, NULL);
        out_int(o, "warps", NULL, w.costs.count[k]);
    }
}

static bool rows_data(struct session *s, struct matrix *m, struct err *e)
{
    const struct stats *t = session_stats(s, m, e);
    struct histogram g;
    struct row_lengths lengths;
    if (!t || !row_lengths_of(&m->csr, &lengths, e)) return false;
    histogram_from(&lengths, 64, &g);
    for (int k = 0; k < g.n; k++) {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "bin");
        out_int(s->out, "length", "length", g.from[k]);
        out_int(s->out, "length_end", NULL, g.from[k + 1]);
        out_int(s->out, "rows", "rows", g.count[k]);
    }
    for (int i = 0; i < t->nlongest; i++) {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "longest");
        out_int(s->out, "row", NULL, t->longest[i]);
        out_int(s->out, "length", "length", csr_row_length(&m->csr, t->longest[i]));
    }
    say_quantiles(s->out, &lengths);
    say_warps(s->out, &m->csr);
    row_lengths_free(&lengths);
    return true;
}

static bool run_rows(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (out_mode(s->out) != OUT_TEXT) return rows_data(s, m, e);
    return show_view_of(s, m, view_rows.name, false, e);
}

/* ---- the keys of the rows ---- */

static const struct field rows_bin_fields[] = {
    {"kind", F_TEXT, "rows by length", .words = "bin"},
    {"length", F_COUNT, "smallest length of a row in the bin"},
    {"length_end", F_COUNT, "one more than the largest length of the bin"},
    {"rows", F_COUNT, "rows in the bin"},
    {0},
};
const struct row_kind row_rows_bin = {"bin", "rows of similar length", rows_bin_fields};

static const struct field rows_longest_fields[] = {
    {"kind", F_TEXT, "a long row", .words = "longest"},
    {"row", F_COUNT, "its number, from 0"},
    {"length", F_COUNT, "its entries"},
    {0},
};
const struct row_kind row_rows_longest = {"longest", "one of the longest rows", rows_longest_fields};

static const struct field rows_quantile_fields[] = {
    {"kind", F_TEXT, "a quantile", .words = "quantile"},
    {"share", F_AMOUNT, "share of the rows with at most this length, from 0 to 1"},
    {"length", F_COUNT, "entries of a row"},
    {0},
};
const struct row_kind row_rows_quantile = {"quantile", "a quantile of the lengths", rows_quantile_fields};

static const struct field rows_warps_fields[] = {
    {"kind", F_TEXT, "the cost of warps of 32 neighbouring rows in a kernel with one thread per row", .words = "warps"},
    {"warps", F_COUNT, "warps"},
    {"idle", F_COUNT, "warps without an entry"},
    {"cost", F_AMOUNT,
     "total time of the warps relative to the same entries spread evenly over the lanes; 0 without entries"},
    {"cost_mean", F_AMOUNT, "mean of the ratios of the single warps; 0 without entries"},
    {"cost_worst", F_AMOUNT, "largest ratio of a warp; 0 without entries"},
    {"row", F_COUNT | OR_NULL, "first row of the worst warp, from 0; null: none"},
    {0},
};
const struct row_kind row_rows_warps = {"warps", "the warps of 32 rows", rows_warps_fields};

static const struct field rows_warp_bin_fields[] = {
    {"kind", F_TEXT, "warps by cost", .words = "warp_bin"},
    {"cost", F_AMOUNT, "lowest cost of a warp in the bin"},
    {"cost_end", F_AMOUNT, "upper end of the costs in the bin"},
    {"warps", F_COUNT, "warps in the bin"},
    {0},
};
const struct row_kind row_rows_warp_bin = {"warp_bin", "warps of similar cost", rows_warp_bin_fields};

const struct command command_rows = {
    .name = "rows",
    .grammar = "[MATRIX]",
    .about = "draw the lengths of the rows",
    .help = "Draws a histogram of the row lengths, and prints their quantiles, the numbers of the longest rows, and\n"
            "the cost of a warp. This cost is the time of a warp that processes 32 neighbouring rows, one row per\n"
            "thread, relative to its time if the same entries were spread evenly over the threads. `view rows` lists\n"
            "the rows of each length; its key t switches to the cumulative histogram, the rows sorted by length, and\n"
            "the warps.\n"
            "    rows",
    .rows = (const struct row_kind *const[]){&row_rows_bin, &row_rows_longest, &row_rows_quantile, &row_rows_warps,
                                             &row_rows_warp_bin, NULL},
    .run = run_rows,
    .large = true,
    .rows_only_in_json = true,
};
