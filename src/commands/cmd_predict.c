/* predict: predicts a kernel's GPU time with the cost model, for comparison with the time that `spmv` measures. */
#include "advice/correction.h"
#include "advice/predicted.h"
#include "base/text.h"
#include "language/requests.h"
#include "microscope/modeled.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/session.h"

#include <math.h>

static bool say(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e)
{
    struct correction c;
    if (!correction_of(s, m, k->kernel, k->real, &k->on, &c, e)) return false;
    bool corrected = c.kernels && !modeled_run(s, m, k->kernel, k->real);
    out_record(s->out);
    out_modeled(s, m, k);
    out_num(s->out, "corrected_us", corrected ? "corrected, us" : NULL, corrected ? k->time.us * c.factor : NAN,
            "%.2f");
    if (corrected)
        out_text(s->out, "Corrected by what was measured for %s, a similar matrix: %.2f times the prediction (%s).",
                 c.from, c.factor, how_many(c.kernels, "kernel").text);
    say_counted_as(s->out, k->kernel);
    modeled_remarks(s, &k->on, k->work.sampled);
    return true;
}

static bool run_predict(struct session *s, const struct args *a, struct err *e)
{
    return modeled_command(s, a, say, e);
}

/* ---- the keys of the rows ---- */

static const struct field predict_fields[] = {
    {.include = &row_prediction},
    {.include = &row_occupancy},
    {"corrected_us", F_AMOUNT | OR_NULL,
     "the predicted time, corrected by what was measured for a similar matrix, in us; null: not corrected",
     .on = "cuda"},
    {0},
};
static const struct row_kind row_predict = {"predict", "how long a kernel would take on a GPU, by the model",
                                            predict_fields};

const struct command command_predict = {
    .name = "predict",
    .grammar = "[MODEL_KERNEL] [PARAMS] [[of] MATRIX] [f32|f64|[precision] PRECISION]",
    .about = "predicted time of a kernel on a GPU, and its bottleneck",
    .help = "The emulator runs the kernel's real source over the matrix, or over a sample of its blocks. The model\n"
            "combines the kernel's chains of dependent loads, sectors that miss the caches, and atomics with the\n"
            "measured ceilings of the session's GPU, or of an NVIDIA H200 if there is none. `spmv` measures;\n"
            "`explain` gives the reasons for the predicted time. After a `bench` of a similar matrix on a GPU, the\n"
            "time is also shown corrected by what was measured there: similar are matrices with about as many entries\n"
            "per row, and as even ones. PARAMS are the parameters of the kernel's format.\n"
            "Without a kernel, the one that is predicted to be the fastest.\n"
            "    predict csr-scalar; predict sell 32 of A f32",
    .rows = (const struct row_kind *const[]){&row_predict, NULL},
    .run = run_predict,
    .sweeps = true,
};
