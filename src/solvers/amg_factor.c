/* The matrices of multigrid on a device: each is stored as CSR and multiplied by the default kernel for its rows. */
#include "amg_factor.h"
#include "base/mem.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"

bool amg_factor_put(struct amg_factor *f, struct device *d, enum type real, const struct csr *A, struct err *e)
{
    f->mat = &f->M;
    f->kernel = kernel_default(&format_csr, A, d);
    return format_pack(A, &format_csr, NULL, real, true, &f->S, e) && mat_put(&f->M, &f->S, d, e);
}

/* The kernel depends on the lengths of the rows, so the row pointers are copied to the host. */
static bool choose_kernel(struct amg_factor *f, struct device *d, enum type real, const struct amg_csr *A,
                          struct err *e)
{
    struct csr rows = {.rows = A->rows, .cols = A->cols, .nnz = A->nnz};
    struct plan plan = {0};
    rows.rowptr = mem_new(A->rows + 1, sizeof *rows.rowptr, "row pointers", e);
    bool ok = rows.rowptr && d->ops->get(d, rows.rowptr, A->ptr, (A->rows + 1) * (int64_t)sizeof *rows.rowptr, e) &&
              format_plan(&rows, &format_csr, NULL, real, &plan, e);
    if (ok) {
        f->kernel = kernel_default(&format_csr, &rows, d);
        f->S = plan.shape;
    }
    mem_free(rows.rowptr);
    return ok;
}

bool amg_factor_lend(struct amg_factor *f, struct device *d, enum type real, const struct amg_csr *A, bool *suits,
                     struct err *e)
{
    if (!choose_kernel(f, d, real, A, e)) return false;
    *suits = !f->kernel->prepare;
    f->mat = &f->M;
    f->M = (struct mat){.of = &f->S, .dev = d};
    f->M.ptr[CSR_PTR] = A->ptr;
    f->M.ptr[CSR_COL] = A->col;
    f->M.ptr[CSR_VAL] = A->val;
    for (int k = 0; k < f->S.narrays; k++) f->M.lent[k] = true;
    return (f->M.scratch = mem_zero(1, sizeof *f->M.scratch, "a matrix on a device", e)) != NULL;
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

void amg_factor_free(struct amg_factor *f)
{
    if (f->M.dev) mat_free(&f->M);
    stored_free(&f->S);
}
