/* Measures beside time and size: how well diagonals store a matrix, and the total time of a kernel that prepares
   something on the device before its first product. */
#include "cmd.h"

#include <math.h>

double total_us(const struct run *r)
{
    return r->ready_us + r->us;
}

double padded_gflops(const struct run *r)
{
    struct measures m;
    return format_measures(r->of, &m, NULL) ? 2.0 * (double)m.operands / r->us / 1000 : NAN;
}

void out_measures(struct out *o, const struct measures *m)
{
    out_num(o, "operands", NULL, m ? (double)m->operands : NAN, NULL);
    out_num(o, "pieces", NULL, m ? (double)m->pieces : NAN, NULL);
    out_num(o, "variance", NULL, m ? m->variance : NAN, NULL);
}

void out_measures_text(struct out *o, const struct measures *m)
{
    out_int(o, NULL, "zero padding", m->padding);
    out_int(o, NULL, "operands", m->operands);
    out_int(o, NULL, "pieces", m->pieces);
    out_num(o, NULL, "variance", m->variance, "%.4g");
}

void out_diagonals(struct out *o, const struct run *r, int n)
{
    bool first = true;
    struct measures m;
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        if (!format_measures(r[i].of, &m, NULL)) continue;
        if (first) out_text(o, "Stored as diagonals; padded GFLOP/s count the padding as work, as DRM's paper does:");
        first = false;
        out_row(o);
        out_str(o, NULL, "kernel", r[i].kernel->name);
        out_measures_text(o, &m);
        out_num(o, NULL, "GFLOP/s", r[i].gflops, "%.2f");
        out_num(o, NULL, "padded GFLOP/s", padded_gflops(&r[i]), "%.2f");
    }
}

void out_prepared(struct out *o, const struct run *r, int n)
{
    bool first = true;
    for (int i = 0; i < n && out_mode(o) == OUT_TEXT; i++) {
        if (!(r[i].ready_us > 0)) continue;
        if (first) out_text(o, "Prepared on the device beside the matrix; total is that and one product:");
        first = false;
        out_row(o);
        out_str(o, NULL, "kernel", r[i].kernel->name);
        out_num(o, NULL, "prepared us", r[i].ready_us, "%.2f");
        out_num(o, NULL, "us", r[i].us, "%.2f");
        out_num(o, NULL, "total us", total_us(&r[i]), "%.2f");
    }
}
