/* lu-cusolver: NVIDIA's getrf, for comparison. */
#include "lu.h"

static bool work(struct lu *v, int64_t *bytes, struct err *e)
{
    return lu_vendor_cuda.work(v->dev, v->real, v->n, bytes, e);
}

static bool factor(struct lu *v, struct err *e)
{
    struct lu_at A = {v->A, v->n, v->piv, v->info};
    return lu_vendor_cuda.factor(v->dev, v->real, A, v->work, e);
}

const struct lu_method lu_cusolver = {
    .name = "lu-cusolver",
    .about = "cuSOLVER's getrf",
    .source = "cuSOLVER",
    .lesson = "The source is closed. Neither the panel's width nor the parts that run concurrently are documented.\n",
    .vendor = true,
    .work = work,
    .factor = factor,
};
