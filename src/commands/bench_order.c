/* Puts the kernels that `bench` measures in order: those that move the fewest bytes are likely to be the fastest, and
   the slower ones then need few launches. */
#include "bench_order.h"
#include "base/mem.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"

#include <stdlib.h>

/* The sample has at most this many rows and entries, so that all formats are planned in a few milliseconds. */
enum { SAMPLE_ROWS = 4096, SAMPLE_ENTRIES = 1 << 17 };

/* Set *out to rows from the middle of A, whose entries it shares; the caller frees out->rowptr. Consecutive rows keep
   the diagonals and blocks of A. */
static bool sample_of(const struct csr *A, struct csr *out)
{
    int64_t rows = A->rows < SAMPLE_ROWS ? A->rows : SAMPLE_ROWS, first = (A->rows - rows) / 2;
    while (rows > 1 && csr_start(A, first + rows) - csr_start(A, first) > SAMPLE_ENTRIES) rows /= 2;
    int64_t from = csr_start(A, first);
    *out = (struct csr){.rows = rows, .cols = A->cols, .nnz = csr_start(A, first + rows) - from};
    if (A->source || csr_size_is_large(rows, out->nnz)) return false;
    out->rowptr = mem_new(rows + 1, sizeof *out->rowptr, "a sample of the rows", NULL);
    for (int64_t i = 0; out->rowptr && i <= rows; i++) out->rowptr[i] = (int)(csr_start(A, first + i) - from);
    out->col = A->col + from;
    out->val = A->val + from;
    out->imag = A->imag ? A->imag + from : NULL;
    return out->rowptr != NULL;
}

static int64_t bytes_for(const struct csr *sample, const struct entrant *t, const struct device *d,
                         const int64_t *param)
{
    int64_t suited[PARAMS_MAX];
    struct plan plan;
    param = kernel_params(t->kernel, param, sample, t->real, multiprocessors_of(d), suited);
    return format_plan(sample, t->kernel->format, param, t->real, &plan, NULL) ? kernel_bytes(t->kernel, &plan.shape, 0)
                                                                               : INT64_MAX;
}

static int by_promise(const void *a, const void *b)
{
    const struct entrant *x = a, *y = b;
    if (x->precision != y->precision) return x->precision - y->precision;
    if (x->group != y->group) return x->group - y->group;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->at - y->at;
}

void bench_order(struct entrant *list, int n, const struct csr *A, const struct device *d, const int64_t *param)
{
    struct csr sample;
    const struct format *f = NULL;
    const struct kernel *first = NULL;
    bool known = sample_of(A, &sample);
    for (int i = 0; i < n; i++) {
        if (f != list[i].kernel->format) f = list[i].kernel->format, first = kernel_default(f, A, d);
        list[i].at = i;
        list[i].group = list[i].kernel != first ? 2 : f == format_native(A) ? 0 : 1;
        list[i].bytes = known ? bytes_for(&sample, &list[i], d, param) : 0;
    }
    mem_free(sample.rowptr);
    qsort(list, (size_t)n, sizeof *list, by_promise);
}
