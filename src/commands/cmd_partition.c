/* partition: divides a matrix into parts, and shows what each part holds and what the parts exchange. */
#include "cmd_partition.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"

#include <stdio.h>

enum { LISTED_MAX = 64 }; /* text lists the parts themselves up to this number */

struct parts_report {
    struct out *o;
    const struct matrix *m, *of; /* of: the matrix that m was made of; NULL: m itself was divided */
    const struct parting *p;
    struct part_most most;
};

void out_part_counts(struct out *o, const struct part_counts *c)
{
    out_int(o, "rows", "rows", c->rows);
    out_int(o, "inside", "inside", c->inside);
    out_int(o, "outside", "outside", c->outside);
    out_rank(o, COLUMN_ANSWER);
    out_int(o, "halo_in", "halo in", c->halo_in);
    out_int(o, "halo_out", "halo out", c->halo_out);
    out_rank(o, COLUMN_NORMAL);
    out_int(o, "from", "from", c->from);
    out_int(o, "to", "to", c->to);
}

static double moved_bytes(const struct parts_report *r)
{
    return (double)r->p->x.halo * parting_item_bytes(r->m);
}

static void out_part(const struct parts_report *r, int k)
{
    struct out *o = r->o;
    const struct exchange *x = &r->p->x;
    out_row(o);
    out_str(o, "matrix", NULL, r->m->name);
    out_str(o, "of", NULL, r->of ? r->of->name : NULL);
    out_str(o, "way", NULL, r->p->P.way->name);
    out_int(o, "parts", NULL, x->parts);
    out_rank(o, COLUMN_ANSWER);
    out_int(o, "part", "part", k);
    out_rank(o, COLUMN_NORMAL);
    out_part_counts(o, &x->part[k]);
    out_num(o, "imbalance", NULL, r->most.imbalance, NULL);
    out_int_if(o, "edges", NULL, x->edges >= 0, x->edges);
    out_int_if(o, "edge_cut", NULL, x->edge_cut >= 0, x->edge_cut);
    out_int(o, "moved_bytes", NULL, (int64_t)moved_bytes(r));
    out_time(o, "partition_us", NULL, r->p->us);
}

/* In text only: the least and the most of each column, when the parts are too many to list. */
static void out_extreme(const struct parts_report *r, const char *name, const struct part_counts *c)
{
    out_row(r->o);
    out_rank(r->o, COLUMN_ANSWER);
    out_str(r->o, NULL, "part", name);
    out_rank(r->o, COLUMN_NORMAL);
    out_int(r->o, NULL, "rows", c->rows);
    out_int(r->o, NULL, "inside", c->inside);
    out_int(r->o, NULL, "outside", c->outside);
    out_rank(r->o, COLUMN_ANSWER);
    out_int(r->o, NULL, "halo in", c->halo_in);
    out_int(r->o, NULL, "halo out", c->halo_out);
    out_rank(r->o, COLUMN_NORMAL);
    out_int(r->o, NULL, "from", c->from);
    out_int(r->o, NULL, "to", c->to);
}

static void out_summary(const struct parts_report *r)
{
    char cut[32], edges[32], bytes[32], items[32], us[32];
    const struct exchange *x = &r->p->x;
    out_text(r->o, "%s of %s by %s in %s. The largest part has %.2f times the mean of the nonzeros.",
             how_many(x->parts, "part").text, r->m->name, r->p->P.way->name, show_us(r->p->us, us, sizeof us),
             r->most.imbalance);
    if (x->edges > 0)
        out_text(r->o, "%s of the %s edges of the graph of A + A' are between parts (%.3g%%).",
                 show_count(x->edge_cut, cut, sizeof cut), show_count(x->edges, edges, sizeof edges),
                 100 * (double)x->edge_cut / (double)x->edges);
    out_text(r->o, "A product moves %s items of x between parts: %s in fp64.", show_count(x->halo, items, sizeof items),
             show_bytes(moved_bytes(r), bytes, sizeof bytes));
}

static bool out_report(struct session *s, const struct matrix *m, const struct matrix *of, struct err *e)
{
    struct parts_report r = {s->out, m, of, m->parting, exchange_most(&m->parting->x)};
    int n = m->parting->x.parts;
    bool text = out_mode(s->out) == OUT_TEXT, few = n <= LISTED_MAX;
    struct loop l = loop_of("", n);
    for (int k = 0; k < n && (few || !text) && loop_goes(&l, k); k++) out_part(&r, k);
    if (!loop_end(&l, e)) return false;
    if (text && !few) {
        out_extreme(&r, "least", &r.most.least);
        out_extreme(&r, "most", &r.most.most);
    }
    if (!out_flush(s->out, e)) return false;
    out_summary(&r);
    if (text && !few) out_text(s->out, "`view parts` lists all parts, and `export parts a.csv` writes them.");
    return true;
}

/* ---- the matrix sorted by part ---- */

static bool sort_rows(struct csr *out, const struct matrix *m, struct watch *w, struct err *e)
{
    const struct partition *P = &m->parting->P;
    return P->order ? reorder_apply(out, &m->csr, P->order, w, e) : csr_copy(out, &m->csr, e);
}

static bool keep_sorted(struct session *s, const struct args *a, struct matrix *m, struct err *e)
{
    struct csr B = {0};
    const int *order = m->parting->P.order;
    struct carried c = {.rows = order, .cols = order};
    if (order) c.says = "is sorted like the rows, so x of the new matrix is P x";
    double begin = now_us();
    bool ok = sort_rows(&B, m, &s->watch, e);
    ok = ok && session_add_derived(s, arg(a, "as"), m, "parts", &B, &c, now_us() - begin, e);
    csr_free(&B);
    return ok && session_keep_parts(s->current, m, e);
}

static bool choose(struct session *s, const struct args *a, struct matrix *m, struct err *e)
{
    int64_t parts;
    if (!arg_within(a, "n", m->parting ? m->parting->P.parts : 0, 1, PARTS_MAX, &parts, e)) return false;
    const struct way *way = arg(a, "way")                ? way_find(arg(a, "way"))
                            : m->parting && !arg(a, "n") ? m->parting->P.way
                                                         : way_find("nnz");
    if (!parts) {
        fail(e, E_USAGE, "the number of parts is missing");
        err_advise(e, "for example `partition 8`");
        return false;
    }
    return session_divide(s, m, way, (int)parts, e);
}

static bool run_partition(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    bool again = m->parting && !arg(a, "n") && !arg(a, "way");
    if (!again && !choose(s, a, m, e)) return false;
    if (!arg(a, "as")) return out_report(s, m, NULL, e);
    return keep_sorted(s, a, m, e) && out_report(s, s->current, m, e);
}

/* ---- the keys of the rows ---- */

static const struct field part_counts_fields[] = {
    {"rows", F_COUNT, "rows that the part owns"},
    {"inside", F_COUNT, "nonzeros in columns that the part owns"},
    {"outside", F_COUNT, "nonzeros in columns of other parts"},
    {"halo_in", F_COUNT, "items of x that the part receives in a product"},
    {"halo_out", F_COUNT, "items of x that it sends; one sent to two parts counts twice"},
    {"from", F_COUNT, "parts that it receives from"},
    {"to", F_COUNT, "parts that it sends to"},
    {0},
};
const struct row_kind row_part_counts = {"part_counts", "what a part owns and exchanges", part_counts_fields};

static const struct field partition_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"of", F_TEXT | OR_NULL, "the matrix that `as` sorted by part; null: none"},
    {"way", F_TEXT, "how the rows were divided: rows, nnz, metis, scotch"},
    {"parts", F_COUNT, "number of parts", .min = 1},
    {"part", F_COUNT, "number of the part, from 0"},
    {.include = &row_part_counts},
    {"imbalance", F_AMOUNT, "the most nonzeros of a part / their mean", .min = 1},
    {"edges", F_COUNT | OR_NULL, "edges of the graph of A + A'; null: the matrix is not square"},
    {"edge_cut", F_COUNT | OR_NULL, "edges between parts; null: the matrix is not square"},
    {"moved_bytes", F_COUNT, "bytes of x that all parts receive in a product in fp64"},
    {"partition_us", F_AMOUNT, "time to divide the matrix and to count, in us"},
    {0},
};
static const struct row_kind row_partition = {"partition", "a part of a matrix", partition_fields};

const struct command command_partition = {
    .name = "partition",
    .grammar = "[MATRIX] [N] [WAY] [as NAME]",
    .about = "divide the rows among N parts, and show what the parts exchange in a product",
    .help =
        "Part p owns some rows, and the same items of x and y. `inside` counts its nonzeros in its own columns,\n"
        "`outside` those in columns of others. The distinct columns among these are its halo: the items of x that\n"
        "it receives before a product (`halo in`). `from` and `to` count the parts that it exchanges with.\n"
        "The ways: `rows`, `nnz` (the default) and `bytes` make contiguous parts with equal numbers of rows,\n"
        "nonzeros, or bytes per product, as several devices divide a matrix; `metis` and `scotch` divide the graph\n"
        "of A + A', so that few edges are between parts. These libraries are opened at first use (packages\n"
        "libmetis5 and libscotch-7.0). Of a rectangular matrix, the items of x are divided into equal contiguous\n"
        "shares.\n"
        "`as` makes a new matrix whose rows and columns are sorted by part, with the same parts. The parts stay\n"
        "with the matrix for later commands: `view parts` lists them, `view halo` shows who receives how much\n"
        "from whom, `spy by owner` colours the nonzeros, and `whatif parts` predicts the time on several GPUs.\n"
        "Without a number, `partition` prints the parts again.\n"
        "    partition 8; partition A 4 metis as P; spy by owner",
    .rows = (const struct row_kind *const[]){&row_partition, NULL},
    .run = run_partition,
    .large = true,
};
