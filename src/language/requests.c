/* Reads requests from the arguments of a command: an SpMV, a prediction. */
#include "requests.h"
#include "advice/predicted.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/spmv.h"

#include <string.h>

/* Read the options alpha, beta and y0. */
static bool operation_read(const struct args *a, const struct csr *A, struct spmv_operation *out, struct err *e)
{
    const char *word = arg(a, "y0") ? arg(a, "y0") : "random";
    *out = (struct spmv_operation){{arg_real(a, "alpha", 1), arg_real(a, "beta", 0), NULL}, NULL, word};
    if (!strcmp(word, "random")) return true; /* bench_operation makes a random y */
    out->y0 = mem_new(A->imag ? 2 * A->rows : A->rows, sizeof *out->y0, "the vector y0", e);
    if (!out->y0 || !start_vector_make(A, word, 0, out->y0, e)) {
        spmv_operation_free(out);
        return false;
    }
    if (out->op.beta == 0) spmv_operation_free(out); /* y0 is not read */
    out->op.y0 = out->y0;
    return true;
}

/* The matrix that the command names, or its transpose if the command says so. */
static struct matrix *operand_of(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !arg_flag(a, "transposed")) return m;
    struct device *d = session_device(s, arg(a, "on"), e);
    return d ? session_transposed(m, d, e) : NULL;
}

bool spmv_request_of(struct session *s, const struct args *a, struct spmv_operation *o, struct spmv_request *out,
                     struct err *e)
{
    int64_t reps;
    struct matrix *m = operand_of(s, a, e);
    if (!m || !in_parts_vectors_fit(m, 5, e) || !arg_within(a, "reps", 0, 0, SPMV_REPS_MAX, &reps, e) ||
        !operation_read(a, &m->csr, o, e))
        return false;
    *out = (struct spmv_request){.matrix = m,
                                 .real = type_of_values(arg_precision(a), m->csr.imag != NULL),
                                 .reps = (int)reps,
                                 .force = arg_flag(a, "force"),
                                 .operation = o};
    return true;
}

/* The device for the kernel k if no device was named: the default device if k runs on it, otherwise a device on which k
 * runs. */
static struct device *device_for(struct session *s, const struct matrix *m, const struct kernel *k, const char *on,
                                 struct err *e)
{
    struct device *d = session_device_for(s, m, on, e);
    if (!d || on || kernel_runs_on(k, d) || matrix_in_parts(m)) return d;
    const char *other = k->host ? "cpu" : k->vendor || device_count(DEV_CUDA) ? "cuda:0" : "emu";
    out_note(s->out, "%s does not run on %s; using %s", k->name, d->name, other);
    return session_device(s, other, e);
}

/* The named kernel, or the default kernel of the format on the device. */
static const struct kernel *kernel_for(const struct args *a, const struct csr *A, const struct device *d, struct err *e)
{
    const char *name = arg(a, "kernel"), *format = arg(a, "using");
    const struct format *f = format ? format_find(format) : format_native(A);
    const struct kernel *k = name ? kernel_find(name) : kernel_default(f, A, d);
    if (!k) fail(e, E_UNSUPPORTED, "no kernel for %s runs on %s; `kernels` lists all kernels", f->name, d->name);
    if (!k || !format || k->format == f) return k;
    fail(e, E_USAGE, "%s works on %s, not on %s; choose another kernel or format", name, k->format->name, format);
    return NULL;
}

/* Without a kernel or a format, A' x is computed in two ways. */
static bool is_in_both_ways(const struct args *a, const struct matrix *m)
{
    return m->transpose_of && !arg(a, "kernel") && !arg(a, "using");
}

/* Choose the device and the kernel of w, and read the parameters of its format. */
static bool choose_kernel(struct session *s, const struct args *a, int64_t param[PARAMS_MAX], struct spmv_request *w,
                          struct err *e)
{
    const struct kernel *named = arg(a, "kernel") ? kernel_find(arg(a, "kernel")) : NULL;
    const char *on = arg(a, "on");
    w->dev = named ? device_for(s, w->matrix, named, on, e) : session_device_for(s, w->matrix, on, e);
    if (!w->dev || is_in_both_ways(a, w->matrix)) return w->dev;
    w->kernel = kernel_for(a, &w->matrix->csr, w->dev, e);
    if (!w->kernel || !arg_params(a, w->kernel->format->params, param, e)) return false;
    if (arg_count(a, "params")) w->param = param;
    return true;
}

bool spmv_with_kernel_of(struct session *s, const struct args *a, struct spmv_operation *o, int64_t param[PARAMS_MAX],
                         struct spmv_request *out, struct err *e)
{
    if (!spmv_request_of(s, a, o, out, e)) return false;
    if (choose_kernel(s, a, param, out, e)) return true;
    spmv_operation_free(o);
    return false;
}

bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e)
{
    int64_t param[PARAMS_MAX];
    const struct kernel *k = kernel_find(arg(a, "kernel"));
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    struct machine g;
    if (!m || !arg_params(a, k->format->params, param, e) || !modeled_machine(s, &g, e)) return false;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_kernel(s, m, k, arg_count(a, "params") ? param : NULL, arg_precision(a), &g, t, e);
    ok = ok && say(s, m, t, e);
    mem_free(t);
    return ok;
}
