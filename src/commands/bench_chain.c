/* `bench chain`: measures each kernel in a chain of products, and prints what the table cannot say. */
#include "bench_chain.h"
#include "base/err.h"
#include "language/args.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "report/output.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>

bool chain_allowed(const struct args *a, const struct spmv_request *w, struct err *e)
{
    const struct csr *A = &w->matrix->csr;
    if (arg(a, "alpha") || arg(a, "beta") || arg(a, "y0"))
        return fail(e, E_USAGE, "a chain multiplies by A alone; leave out `chain`, or alpha, beta and y0");
    if (matrix_in_parts(w->matrix))
        return fail(e, E_UNSUPPORTED, "%s is made in parts, and a chain needs all its rows; choose a smaller matrix",
                    w->matrix->name);
    return A->rows == A->cols ||
           fail(e, E_UNSUPPORTED, "a chain multiplies its result again, so it needs a square matrix; %s is %lld x %lld",
                w->matrix->name, (long long)A->rows, (long long)A->cols);
}

bool chain_measure(struct session *s, const struct spmv_request *w, struct run *run, struct err *e)
{
    struct err why = {0};
    struct product *p = session_product(s, spmv_form(w), e);
    struct mat *M = p ? session_mat(s, p, w->dev, e) : NULL;
    if (!M) return false;
    run->chain_us = NAN;
    if (bench_chain(w->bench, w->kernel, &w->matrix->csr, M, run->us, w->reps, &s->watch, &run->chain_us, NULL, &why))
        return true;
    run->chain_us = NAN;
    if (!err_is_refusal(&why) || why.code == E_NUMERIC || w->dev->lost)
        return fail_at(e, why.code, why.where, "%s", why.text);
    snprintf(run->chain_why, sizeof run->chain_why, "%.*s", (int)sizeof run->chain_why - 1, why.text);
    return true;
}

void out_chains(struct out *o, const struct run *r, int n)
{
    if (!n || r->chain_us == 0) return;
    if (r->dev->kind == DEV_EMU)
        out_text(o, "In a chain, a product reads what the one before wrote: the first two are checked.");
    else
        out_text(o, "In a chain of %d products, each reads what the one before wrote; %s.", CHAIN_PRODUCTS,
                 r->dev->ops->capture ? "the chain is one graph"
                                      : "the device has no graphs, so they are launched one by one");
    for (int i = 0; i < n; i++)
        if (*r[i].chain_why) out_text(o, "%s is not timed in a chain: %s.", r[i].kernel->name, r[i].chain_why);
}
