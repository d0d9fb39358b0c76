/* Predictions for the matrices of the session: get the matrix, product and GPU from the session, then call the
   model. */
#include "predicted.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "machine/bench.h"
#include "machine/compiled.h"
#include "machine/kernel.h"
#include "machine/remote.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "report/fields.h"
#include "session/kept_predictions.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

bool modeled_machine(struct session *s, struct machine *g, struct err *e)
{
    if (s->gpu) return *g = *s->gpu, true;
    struct device *d = session_device(s, NULL, e);
    if (!d) return false;
    if (d->kind == DEV_CUDA && !d->ceilings.measured && !device_ceilings(d, &s->watch, e)) return false;
    *g = machine_of(d);
    return true;
}

bool modeled_matrix(const struct matrix *m, struct err *e)
{
    if (m->csr.nnz == 0) return fail(e, E_UNSUPPORTED, "%s has no entries: there is nothing to predict", m->name);
    return true;
}

bool modeled_kernel(struct session *s, struct matrix *m, const struct kernel *k, const int64_t *param,
                    enum precision real, const struct machine *g, struct modeled *out, struct err *e)
{
    const struct modeled *kept = param ? NULL : prediction_kept(m, k, real, g);
    if (kept && !kept->first_look_only) return *out = *kept, true;
    bool usual = !param;
    if (!modeled_can(k, &m->csr, e)) return false;
    struct device *emu = device_open("emu", e);
    struct product *p = emu ? session_product(s, form_for(m, k, param, real, g->sms), e) : NULL;
    struct mat *M = p ? session_mat(s, p, emu, e) : NULL;
    if (!p) refusal_without_force(e, k->format->name, real, true);
    if (!M) return false;
    bool ok = modeled_mat(&m->csr, M, k, p->prep_us, g, &s->watch, out, e);
    if (ok && usual) prediction_keep(m, out, real, g);
    return ok;
}

const char *reason_without_name(const char *name, const char *why)
{
    size_t n = strlen(name);
    return !strncmp(why, name, n) && !strncmp(why + n, ": ", 2) ? why + n + 2 : why;
}

void refusal_without_force(struct err *e, const char *format, enum precision real, bool first)
{
    bool plain = precisions[real].part == T_F64 && !precisions[real].narrow;
    if (e && e->advice)
        err_advise(e, "`convert %s %s%sforce` %s", format,
                   plain                     ? ""
                   : precisions[real].narrow ? precisions[real].name
                                             : "f32",
                   plain ? "" : " ", first ? "first" : "stores it anyway");
}

const struct run *modeled_run(const struct session *s, const struct matrix *m, const struct kernel *k,
                              enum precision real)
{
    for (int i = 0; i < s->nruns && s->runs_of == m && !s->gpu; i++)
        if (s->runs[i].kernel == k && s->runs[i].real == real && s->runs[i].dev->kind == DEV_CUDA &&
            s->runs[i].beta == 0)
            return &s->runs[i];
    return NULL;
}

static void explain_model(const struct session *s, const struct machine *g)
{
    char remark[640];
    const char *basis =
        g->here     ? "Predicted for %s, from its measured ceilings."
        : !s->gpu   ? "Predicted for an %s, because no measured GPU is available."
        : g->scaled ? "Predicted for an %s, from its specifications and the times of an NVIDIA H200 (`set gpu`)."
                    : "Predicted for %s, from the ceilings in its profile (`set gpu`).";
    out_text(s->out, basis, g->name);
    if (g->scaled) out_text(s->out, "The error of predictions for this GPU was not measured.");
    compiled_remark(g->is.capability, remark, sizeof remark);
    if (*remark) out_text(s->out, "%s", remark);
    out_text(s->out,
             "Model error on H200s and H100s: median 4%%, mean 6%%; near the best kernel 3%%, 5%% (not fitted).");
}

void modeled_remarks(struct session *s, const struct machine *g, bool sampled)
{
    struct explained *before = &s->explained, none = {0};
    if (out_stands_alone(s->out)) before = &none;
    bool known = !strncmp(before->machine, g->name, sizeof before->machine - 1);
    bool mark = sampled && before->sampling;
    if (!known) explain_model(s, g);
    if (known) out_text(s->out, "[model: %s%s]", g->name, mark ? ", sampled" : "");
    if (sampled && !mark)
        out_text(s->out,
                 "Only a sample of the blocks (of the rows, where blocks take rows dynamically) was watched: about %d "
                 "lane accesses or more of each kernel, with the longest row.",
                 +MODELED_FIRST);
    snprintf(before->machine, sizeof before->machine, "%s", g->name);
    before->sampling |= sampled;
}

/* The blocks of the busiest launch that a multiprocessor can hold, and what limits their number. */
static void out_occupancy(struct out *o, const struct modeled *k)
{
    const struct work *w = workload_busiest(&k->work);
    struct residency r = model_residency(&k->on, w);
    char text[160], registers[48] = "";
    if (r.by == LIMITED_BY_REGISTERS)
        snprintf(registers, sizeof registers, ", %lld per thread", (long long)w->registers);
    if (!w->registers) snprintf(registers, sizeof registers, "; registers not known");
    snprintf(text, sizeof text, "at most %.0f%%: %s of %lld threads%s%s%s", 100 * r.share,
             how_many((int64_t)r.blocks, "block").text, (long long)w->threads, r.share < 1 ? ", limited by " : "",
             r.share < 1 ? residency_limit_names[r.by] : "", registers);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "occupancy", text);
    out_num(o, "occupancy_percent", NULL, 100 * r.share, "%.1f");
    out_str(o, "limited_by", NULL, residency_limit_names[r.by]);
    out_int(o, "blocks_per_sm", NULL, (int64_t)r.blocks);
    out_int(o, "threads_per_block", NULL, w->threads);
    out_int_if(o, "registers", NULL, w->registers > 0, w->registers);
}

void say_counted_as(struct out *o, const struct kernel *k)
{
    const char *how = k->remote ? k->remote->counted_as(k) : "";
    if (*how) out_text(o, "%s is counted %s.", k->name, how);
}

void say_registers(struct out *o, const struct modeled *k)
{
    const struct work *w = workload_busiest(&k->work);
    struct residency r = model_residency(&k->on, w);
    if (!w->registers) out_text(o, "The registers of a thread are not known, so that the occupancy may be lower.");
    if (r.by == LIMITED_BY_REGISTERS)
        out_text(
            o,
            "Registers limit the occupancy: %lld per thread, so a multiprocessor holds %s of %lld threads, %.0f%% of "
            "its warps.",
            (long long)w->registers, how_many((int64_t)r.blocks, "block").text, (long long)w->threads, 100 * r.share);
}

void out_machine(struct out *o, const struct machine *g)
{
    out_str(o, "machine", NULL, g->name);
    out_bool(o, "machine_here", NULL, g->here);
    out_bool(o, "machine_scaled", NULL, g->scaled);
}

void out_modeled(struct session *s, const struct matrix *m, const struct modeled *k)
{
    const struct run *r = modeled_run(s, m, k->kernel, k->real);
    struct out *o = s->out;
    out_str(o, "kernel", "kernel", k->kernel->name);
    out_str(o, "matrix", "matrix", m->name);
    out_str(o, "format", NULL, k->kernel->format->name);
    out_str(o, "precision", "precision", precision_of(&m->csr, k->real));
    out_machine(o, &k->on);
    out_time(o, "predicted_us", "predicted", k->time.us);
    out_time(o, "launch_us", "launch overhead", k->time.launch_us);
    if (!isnan(k->time.chain_us) || out_mode(o) != OUT_TEXT) out_time(o, "chain_us", "in a chain", k->time.chain_us);
    out_str(o, "bound", "bound by", bound_names[k->time.bound]);
    out_occupancy(o, k);
    out_bytes(o, "bytes", "bytes that must move", k->bytes);
    out_bytes(o, "l2_bytes", "bytes from L2", (int64_t)k->time.l2_bytes);
    out_bytes(o, "dram_bytes", "bytes from memory", (int64_t)k->time.dram_bytes);
    out_num(o, "padding_percent", "padding %",
            k->plan.slots ? 100 * (double)k->plan.padding / (double)k->plan.slots : 0, "%.1f");
    out_bool(o, "sampled", NULL, k->work.sampled);
    out_num(o, "measured_us", r ? "measured, us" : NULL, r ? r->us : NAN, "%.2f");
}

/* ---- the keys of the rows ---- */

static const struct field occupancy_fields[] = {
    {"occupancy_percent", F_AMOUNT,
     "percentage of its warps that a multiprocessor can hold at a time, of the launch with the most requests",
     .max = 100},
    {"limited_by", F_TEXT, "what limits the number of blocks that a multiprocessor can hold",
     .names = residency_limit_names, .name_count = RESIDENCY_LIMITS},
    {"blocks_per_sm", F_COUNT, "blocks that a multiprocessor can hold at a time", .min = 1},
    {"threads_per_block", F_COUNT, "threads of a block of this launch", .min = 1},
    {"registers", F_COUNT | OR_NULL,
     "registers per thread, as nvcc compiled the kernel; null: not known, for a kernel of yours", .min = 1},
    {0},
};
const struct row_kind row_occupancy = {"occupancy", "the occupancy of a kernel", occupancy_fields};

static const struct field machine_fields[] = {
    {"machine", F_TEXT, "GPU that the prediction is for"},
    {"machine_here", F_BOOLEAN,
     "whether the GPU is in this machine and its ceilings were measured; false: the built-in GPU"},
    {"machine_scaled", F_BOOLEAN,
     "whether ceilings of the GPU were scaled from those of the built-in GPU, by its specifications"},
    {0},
};
const struct row_kind row_machine = {"machine", "the GPU of a prediction", machine_fields};

static const struct field prediction_fields[] = {
    {"kernel", F_TEXT, "the emulated kernel"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"format", F_TEXT, "storage format"},
    {.include = &row_precision},
    {.include = &row_machine},
    {"predicted_us", F_AMOUNT, "predicted time of one SpMV, in us"},
    {"launch_us", F_AMOUNT, "the part of that time that the launches take, in us"},
    {"chain_us", F_AMOUNT | OR_NULL,
     "predicted time of a product in a graph of products that each read what the one before wrote, in us; null: not "
     "known for this GPU, or the kernel needs several launches"},
    {"bound", F_TEXT, "what limits the kernel", .names = bound_names, .name_count = BOUNDS + 1},
    {"bytes", F_COUNT, "minimum bytes that must move: the arrays that the kernel reads, and x and y, once each"},
    {"l2_bytes", F_COUNT, "bytes to and from the L2 cache, according to the model"},
    {"dram_bytes", F_COUNT, "bytes to and from memory, according to the model, if SpMVs follow one another"},
    {"padding_percent", F_AMOUNT, "percentage of the slots of the format"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {"measured_us", F_AMOUNT | OR_NULL, "time measured on a GPU in this session, in us; null: not measured",
     .on = "cuda"},
    {0},
};
const struct row_kind row_prediction = {"prediction", "a kernel, as the model predicts it", prediction_fields};
