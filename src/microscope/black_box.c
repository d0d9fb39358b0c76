/* The constants of the fits, by least squares of the relative errors. tests/unit/test_black_box.c holds the measured
   times, repeats the fits and verifies the stated errors. */
#include "black_box.h"
#include "base/err.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_sell.h"
#include "formats/format.h"
#include "matrix/csr.h"
#include "matrix/gathers.h"

static const int64_t unsorted[PARAMS_MAX] = {32, 1}; /* cuSPARSE's SELL does not permute rows */

const struct black_box black_boxes[] = {
    {"cusparse-csr1", &format_csr, NULL, 11.5, 3033, 222, 0, 45, 125004, 4},
    {"cusparse-csr1-prep", &format_csr, NULL, 8.0, 3350, 214.3, 0, 45, 125004, 5},
    {"cusparse-coo1", &format_coo, NULL, 7.1, 4002, 223.4, 0, 45, 125004, 4},
    {"cusparse-sell", &format_sell, unsorted, 4.6, 5181, 208.1, 39.6, 38, 893, 9},
    {"cusparse-op1", &format_csr, NULL, 7.0, 4003, 146.1, 0, 41, 93261, 11},
    {"cusparse-op2", &format_csr, NULL, 6.8, 4079, 157.6, 0, 41, 93261, 10},
    {0},
};

double black_box_us(const struct black_box *b, const struct black_box_terms *t)
{
    return b->launch_us + (double)t->bytes / b->gbs / 1e3 + (double)t->gathers / b->gather_gps / 1e3 +
           (double)t->longest * b->entry_ns / 1e3;
}

/* Does A resemble the matrices to which the time was fitted? */
static bool covers(const struct black_box *b, const struct csr *A, int64_t longest, struct err *e)
{
    if (A->imag) return fail(e, E_UNSUPPORTED, "its time was fitted to real matrices only");
    return longest <= b->longest ||
           fail(e, E_UNSUPPORTED, "its time was fitted to rows of at most %s, but a row of this matrix has %lld",
                how_many(b->longest, "entry").text, (long long)longest);
}

bool black_box_terms_of(const struct black_box *b, const struct csr *A, enum precision real, struct black_box_terms *t,
                        struct err *e)
{
    struct plan p;
    int value_bytes = (int)type_size(precisions[real].vector);
    t->longest = csr_longest_row(A);
    if (!covers(b, A, t->longest, e)) return false;
    if (!format_plan(A, b->format, b->param, real, &p, e) || !format_allow_here(&p, false, e)) return false;
    t->bytes = p.bytes + value_bytes * (A->rows + A->cols);
    return t->gathers || csr_gathers_in_runs(A, SECTOR / value_bytes, BLACK_BOX_RUN, &t->gathers, e);
}
