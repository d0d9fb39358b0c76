/* rows: the lengths of the rows, as a picture or as numbers. */
#include "base/err.h"
#include "cmd_view.h"
#include "language/args.h"
#include "matrix/rows.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
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
    .run = run_rows,
    .large = true,
    .rows_only_in_json = true,
};
