/* Reads requests from the arguments of a command: an SpMV, a prediction. */
#include "requests.h"
#include "advice/advice.h"
#include "advice/predicted.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "session/front.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>
#include <string.h>

/* Make the vector y0 of o from its word; bench_operation makes a random one. */
static bool y0_make(const struct csr *A, struct spmv_operation *o, struct err *e)
{
    if (!strcmp(o->y0_word, "random")) return true;
    o->y0 = mem_new(A->imag ? 2 * A->rows : A->rows, sizeof *o->y0, "the vector y0", e);
    bool ok = o->y0 && start_vector_make(A, o->y0_word, 0, o->y0, e);
    if (!ok || o->op.beta == 0) spmv_operation_free(o); /* y0 is not read if beta is 0 */
    o->op.y0 = o->y0;
    return ok;
}

bool spmv_request_of(struct session *s, const struct args *a, struct spmv_operation *o, struct spmv_request *out,
                     struct err *e)
{
    int64_t reps;
    const char *y0 = arg(a, "y0"), *on = arg(a, "on");
    enum precision precision = arg_precision(a);
    *o = (struct spmv_operation){{arg_real(a, "alpha", 1), arg_real(a, "beta", 0), NULL}, NULL, y0 ? y0 : "random"};
    if (!arg_within(a, "reps", 0, 0, SPMV_REPS_MAX, &reps, e)) return false;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (m && arg_flag(a, "transposed")) {
        struct device *d = session_device(s, on, e);
        m = d ? session_transposed(m, d, e) : NULL;
    }
    if (!m || !in_parts_vectors_fit(m, 5, e)) return false;
    *out = (struct spmv_request){.matrix = m,
                                 .real = precision_of_values(precision, m->csr.imag != NULL),
                                 .reps = (int)reps,
                                 .force = arg_flag(a, "force"),
                                 .operation = o};
    return y0_make(&m->csr, o, e);
}

/* The device: the named one; otherwise the default device if the named kernel runs on it; otherwise a device on which
   the kernel runs. Without a kernel or a format, A' x is computed in two ways, so no kernel is chosen. */
static bool choose_kernel(struct session *s, const struct args *a, int64_t param[PARAMS_MAX], struct spmv_request *w,
                          struct err *e)
{
    const char *kernel = arg(a, "kernel"), *format = arg(a, "using"), *on = arg(a, "on");
    const struct csr *A = &w->matrix->csr;
    const struct kernel *k = kernel ? kernel_find(kernel) : NULL;
    const struct format *f = format ? format_find(format) : k ? k->format : format_native(A);
    if (k && k->format != f)
        return fail(e, E_USAGE, "%s works on %s, not on %s; choose another kernel or format", kernel, k->format->name,
                    format);
    if (!arg_params(a, f->params, param, e)) return false;
    if (arg_count(a, "params")) w->param = param;
    w->dev = session_device_for(s, w->matrix, on, e);
    if (w->dev && k && !on && !kernel_runs_on(k, w->dev) && !matrix_in_parts(w->matrix)) {
        const char *other = k->host ? "cpu" : k->vendor || device_count(DEV_CUDA) ? "cuda:0" : "emu";
        out_note(s->out, "%s does not run on %s; using %s", k->name, w->dev->name, other);
        w->dev = session_device(s, other, e);
    }
    if (!w->dev || (w->matrix->transpose_of && !kernel && !format)) return w->dev;
    w->kernel = k ? k : kernel_default(f, A, w->dev);
    return w->kernel ||
           fail(e, E_UNSUPPORTED, "no kernel for %s runs on %s; `kernels` lists all kernels", f->name, w->dev->name);
}

bool spmv_with_kernel_of(struct session *s, const struct args *a, struct spmv_operation *o, int64_t param[PARAMS_MAX],
                         struct spmv_request *out, struct err *e)
{
    if (!spmv_request_of(s, a, o, out, e)) return false;
    if (choose_kernel(s, a, param, out, e)) return true;
    spmv_operation_free(o);
    return false;
}

bool view_is_asked(const struct session *s, const struct args *a)
{
    return arg_flag(a, "view") && s->interactive && s->front && s->front->show;
}

const struct kernel *kernel_meant(struct session *s, const struct args *a, struct matrix *m, struct err *e)
{
    struct first_choice first;
    if (arg(a, "kernel")) return kernel_find(arg(a, "kernel"));
    if (!first_choice_of(s, m, INFINITY, &first, e)) return NULL;
    if (!first.modeled)
        fail(e, E_UNSUPPORTED, "no kernel can be predicted for %s; name one", m->name);
    else
        out_note(s->out, "%s is predicted to be the fastest; name another kernel to see that one", first.modeled->name);
    return first.modeled;
}

bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e)
{
    int64_t param[PARAMS_MAX];
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    const struct kernel *k = m ? kernel_meant(s, a, m, e) : NULL;
    struct machine g;
    if (!k || !arg_params(a, k->format->params, param, e) || !modeled_machine(s, &g, e)) return false;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_kernel(s, m, k, arg_count(a, "params") ? param : NULL, arg_precision(a), &g, t, e);
    ok = ok && say(s, m, t, e);
    mem_free(t);
    return ok;
}
