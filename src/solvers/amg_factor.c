/* The matrices of multigrid on a device: each is stored as CSR and multiplied by the default kernel for its rows. */
#include "amg_factor.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"

/* Rows of coarse matrices have about 30 entries, too few for a warp per row: if not all rows are short, take the kernel
   that divides the entries evenly, which is the default for rows of unknown lengths. */

enum { SHORT = 32 };

static const struct kernel *kernel_for(const struct csr *A, const struct device *d)
{
    return kernel_default(&format_csr, csr_has_row_above(A, SHORT) ? NULL : A, d);
}

bool amg_factor_put(struct amg_factor *f, struct device *d, enum type real, const struct csr *A, struct err *e)
{
    f->mat = &f->M;
    f->kernel = kernel_for(A, d);
    return format_pack(A, &format_csr, NULL, precision_of_type(real), true, &f->S, e) && mat_put(&f->M, &f->S, d, e);
}

bool amg_factor_multiply(const struct amg_factor *f, double alpha, const void *x, double beta, void *y, struct err *e)
{
    struct launch L = {.A = f->mat, .alpha = alpha, .beta = beta, .x = x, .y = y};
    return kernel_launch(f->kernel, &L, e);
}

double amg_factor_bytes(const struct amg_factor *f)
{
    return f->S.format ? (double)stored_bytes(&f->S) : 0;
}

int64_t amg_factor_held(const struct amg_factor *f)
{
    if (!f->M.dev) return 0;
    int64_t bytes = kernel_runs_on(f->kernel, f->M.dev) && f->kernel->scratch ? f->kernel->scratch(&f->M) : 0;
    for (int k = 0; k < f->S.narrays; k++)
        if (!f->M.lent[k]) bytes += f->S.a[k].n * (int64_t)type_size(f->S.a[k].type);
    return bytes;
}

void amg_factor_free(struct amg_factor *f)
{
    if (f->M.dev) mat_free(&f->M);
    stored_free(&f->S);
}
