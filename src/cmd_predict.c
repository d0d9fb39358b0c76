/* predict: how long a kernel would take on a GPU, by the model; to be held against what spmv measures. */
#include "cmd.h"
#include "modeled.h"

static bool run_predict(struct session *s, const struct args *a, struct err *e)
{
    int64_t param[PARAMS_MAX];
    const struct kernel *k = kernel_find(arg(a, "kernel"));
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    struct machine g;
    if (!m || !arg_params(a, format_find(k->format)->params, param, e) || !modeled_machine(s, &g, e)) return false;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_kernel(s, m, k, arg_count(a, "params") ? param : NULL, arg_precision(a), &g, t, e);
    if (ok) {
        out_record(s->out);
        out_modeled(s, m, t);
        modeled_remarks(s->out, &g, t->work.sampled);
    }
    mem_free(t);
    return ok;
}

const struct command command_predict = {
    .name = "predict",
    .grammar = "KERNEL [PARAMS] [of MATRIX] [f32|f64]",
    .about = "how long a kernel would take on a GPU, by the model, and what holds it up",
    .help =
        "The emulator watches the kernel's real source over the matrix, or over a sample of its blocks; its chains\n"
        "of waits, the sectors that the caches do not hold and the atomics are held against the ceilings of the\n"
        "GPU: the one of the session, or an NVIDIA H200 where there is none. `spmv` measures; `explain` tells why.\n"
        "Parameters are those of the kernel's format.\n"
        "    predict csr-scalar; predict sell 32 of A f32",
    .run = run_predict,
};
