/* predict: how long a kernel would take on a GPU, by the model; to be held against what spmv measures. */
#include "cmd.h"
#include "predicted.h"

static bool say(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e)
{
    (void)e;
    out_record(s->out);
    out_modeled(s, m, k);
    modeled_remarks(s->out, &k->on, k->work.sampled);
    return true;
}

static bool run_predict(struct session *s, const struct args *a, struct err *e)
{
    return modeled_command(s, a, say, e);
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
