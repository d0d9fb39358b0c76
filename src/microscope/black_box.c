/* The constants of the fits, by least squares of the relative errors. tests/unit/test_black_box.c holds the measured
   times, repeats the fits and verifies the stated errors. */
#include "black_box.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_sell.h"
#include "formats/format.h"
#include "matrix/csr.h"
#include "matrix/gathers.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

static const int64_t unsorted[PARAMS_MAX] = {32, 1}; /* cuSPARSE's SELL does not permute rows */

const struct black_box black_boxes[] = {
    {"cusparse-csr1", &format_csr, NULL, 12.1, 3280, 237, 15, 125004, 6},
    {"cusparse-csr1-prep", &format_csr, NULL, 8.2, 3400, 234, 15, 125004, 5},
    {"cusparse-coo1", &format_coo, NULL, 7.1, 4010, 226, 15, 125004, 6},
    {"cusparse-sell", &format_sell, unsorted, 5.0, 4910, 197, 8, 81, 12},
    {0},
};

double black_box_us(const struct black_box *b, int64_t bytes, int64_t gathers)
{
    return b->launch_us + (double)bytes / b->gbs / 1e3 + (double)gathers / b->gather_gps / 1e3;
}

/* Does A resemble the matrices to which the time was fitted? */
static bool covers(const struct black_box *b, const struct csr *A, struct err *e)
{
    if (A->imag) return fail(e, E_UNSUPPORTED, "its time was fitted to real matrices only");
    int64_t longest = csr_longest_row(A);
    return longest <= b->longest ||
           fail(e, E_UNSUPPORTED, "its time was fitted to rows of at most %s, but a row of this matrix has %lld",
                how_many(b->longest, "entry").text, (long long)longest);
}

bool black_box_fit(const struct black_box *b, const struct csr *A, enum type real, int64_t *gathers, double *us,
                   struct err *e)
{
    struct plan p;
    int value_bytes = (int)type_size(real);
    if (!covers(b, A, e)) return false;
    if (!format_plan(A, b->format, b->param, real, &p, e) || !format_allow(&p, mem_available(), false, e)) return false;
    if (!*gathers && !csr_gathers_in_runs(A, SECTOR / value_bytes, BLACK_BOX_RUN, gathers, e)) return false;
    *us = black_box_us(b, p.bytes + value_bytes * (A->rows + A->cols), *gathers);
    return true;
}
