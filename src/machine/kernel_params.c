/* Chooses the parameters of a format with which a kernel reads a matrix. */
#include "kernel_params.h"
#include "device.h"
#include "formats/format.h"
#include "kernel.h"

int multiprocessors_of(const struct device *d)
{
    return d->kind == DEV_CUDA ? d->units : 0;
}

const int64_t *kernel_params(const struct kernel *k, const int64_t *param, const struct csr *A, enum type real,
                             int multiprocessors, int64_t own[PARAMS_MAX])
{
    if (param || k->param) return param ? param : k->param;
    return format_suit(k->format, A, real, multiprocessors, own);
}
