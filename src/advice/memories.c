/* The memories of a GPU, from its profile and the constants of the cost model, and those of the host, as the system
   reports them. */
#include "memories.h"
#include "advice/predicted.h"
#include "base/base.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "machine/device.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/session.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Constant memory of every GPU (CUDA C++ Programming Guide), and the bytes of a register. */
enum { CONSTANT_BYTES = 65536, REGISTER_BYTES = 4 };

static const double unknown = NAN;

static void add(struct memories *m, struct memory one)
{
    m->of[m->n++] = one;
}

/* ---- the host ---- */

static const struct host_memories *replaced;

void memories_replace_host(const struct host_memories *host)
{
    replaced = host;
}

static struct host_memories this_host(void)
{
    struct device *cpu = device_open("cpu", NULL);
    int64_t unused, memory = 0;
    if (replaced) return *replaced;
    if (cpu) cpu->ops->memory(cpu, &unused, &memory, NULL);
    return (struct host_memories){.threads = omp_get_num_procs(),
                                  .l1 = (double)sysconf(_SC_LEVEL1_DCACHE_SIZE),
                                  .l2 = (double)sysconf(_SC_LEVEL2_CACHE_SIZE),
                                  .l3 = (double)sysconf(_SC_LEVEL3_CACHE_SIZE),
                                  .memory = (double)memory};
}

static double known(double bytes)
{
    return bytes > 0 ? bytes : unknown;
}

static void add_host(struct memories *m)
{
    const struct host_memories host = this_host();
    const struct device *cpu = device_open("cpu", NULL);
    const struct ceilings *c = cpu && cpu->ceilings.measured ? &cpu->ceilings : NULL;
    add(m, (struct memory){MEMORY_HOST, "L1 cache", "core", unknown, known(host.l1), unknown, NULL, unknown,
                           "data of one core"});
    add(m, (struct memory){MEMORY_HOST, "L2 cache", "core", unknown, known(host.l2), unknown, NULL, unknown,
                           "data and instructions of one core"});
    add(m, (struct memory){MEMORY_HOST, "L3 cache", "host", 1, known(host.l3), c ? c->cache_gbs : unknown,
                           c ? "measured" : NULL, unknown, "shared by cores"});
    add(m, (struct memory){MEMORY_HOST, "memory", "host", 1, known(host.memory), c ? c->read_gbs : unknown,
                           c ? "measured" : NULL, unknown, "a GPU copies from page-locked pages"});
    snprintf(m->host, sizeof m->host, "this host, %.50s", how_many(m->cores, "thread").text);
}

/* ---- the GPU ---- */

static void add_gpu(struct memories *m, const struct machine *g)
{
    struct latencies wait = model_latencies(g);
    const char *how = g->scaled ? "scaled" : "measured";
    double l1 = g->c.l1_gbs > 0 ? g->c.l1_gbs : unknown, bytes = g->memory_gb > 0 ? g->memory_gb * 1e9 : unknown;
    add(m, (struct memory){MEMORY_GPU, "registers", "multiprocessor", g->sms, (double)g->is.registers * REGISTER_BYTES,
                           unknown, NULL, unknown, "each thread has its own"});
    add(m, (struct memory){MEMORY_GPU, "shared memory", "multiprocessor", g->sms, 1024 * g->is.shared_kb, unknown, NULL,
                           unknown, "of a thread block, in 32 banks"});
    add(m, (struct memory){MEMORY_GPU, "L1 cache", "multiprocessor", g->sms, 1024 * g->is.l1_kb, l1,
                           l1 > 0 ? how : NULL, wait.l1, "in the storage of shared memory"});
    add(m, (struct memory){MEMORY_GPU, "constant memory", "GPU", 1, CONSTANT_BYTES, unknown, NULL, unknown,
                           "read only; arguments of a kernel"});
    add(m, (struct memory){MEMORY_GPU, "L2 cache", "GPU", 1, 1024 * 1024 * g->is.l2_mb, g->c.cache_gbs, how, wait.l2,
                           "of all multiprocessors; atomics"});
    add(m, (struct memory){MEMORY_GPU, "global memory", "GPU", 1, bytes, g->c.read_gbs, how, wait.memory,
                           "matrices, vectors, local memory"});
}

void memories_list(const struct machine *g, struct memories *out)
{
    *out = (struct memories){
        .sms = g->sms, .threads = g->is.threads, .fp32_gflops = g->is.fp32_gflops, .cores = this_host().threads};
    snprintf(out->gpu, sizeof out->gpu, "%.63s", g->name);
    add_host(out);
    add_gpu(out, g);
}

/* From now on, the explorer lists the view. */
static void note_asked(struct session *s)
{
    SCREEN_EDIT;
    s->memories_asked = true;
}

bool memories_of(struct session *s, struct memories *out, struct err *e)
{
    struct machine g;
    if (!modeled_machine(s, &g, e)) return false;
    note_asked(s);
    struct device *d = g.here && !s->gpu ? session_device(s, NULL, e) : NULL;
    int64_t unused, total = 0;
    if (d && d->ops->memory(d, &unused, &total, NULL)) g.memory_gb = (double)total / 1e9;
    memories_list(&g, out);
    return true;
}

/* ---- rows ---- */

static void out_size(struct out *o, const char *key, const char *heading, double bytes)
{
    if (bytes > 0)
        out_bytes(o, key, heading, (int64_t)bytes);
    else
        out_str(o, key, heading, NULL);
}

void out_memories(struct session *s, const struct memories *m)
{
    struct out *o = s->out;
    out_text(o, "%s: %s, each with up to %s", m->gpu, how_many(m->sms, "multiprocessor").text,
             how_many(m->threads, "thread").text);
    for (int i = 0; i < m->n; i++) {
        const struct memory *one = &m->of[i];
        out_row(o);
        out_str(o, "side", "of", one->side == MEMORY_GPU ? "gpu" : "host");
        out_str(o, "gpu", NULL, m->gpu);
        out_rank(o, COLUMN_ANSWER);
        out_str(o, "memory", "memory", one->name);
        out_str(o, "each", "each", one->of);
        out_num(o, "count", "count", one->count, "%.0f");
        out_size(o, "bytes", "size", one->bytes);
        out_size(o, "bytes_all", "all", one->bytes * one->count);
        out_num(o, "read_gbs", "GB/s", one->gbs, "%.0f");
        out_str(o, "read_how", NULL, one->gbs_how);
        out_num(o, "latency_ns", "latency ns", one->latency_ns, "%.0f");
        out_rank(o, COLUMN_DETAIL);
        out_str(o, "about", NULL, one->about);
    }
    out_prose(o,
              "GB/s are reads by the whole GPU or host; `ceilings on cpu` measures those of the host. Latencies are\n"
              "those of the cost model, fitted to times of an H200 and scaled by the clock; - is not known.");
}

static const struct field memory_fields[] = {
    {"side", F_TEXT, "where the memory is", .words = "host, gpu"},
    {"gpu", F_TEXT, "the GPU that is compared with this host"},
    {"memory", F_TEXT, "the memory"},
    {"each", F_TEXT, "what has such a memory", .words = "multiprocessor, GPU, core, host"},
    {"count", F_COUNT | OR_NULL, "how many there are; null: not known", .min = 1},
    {"bytes", F_COUNT | OR_NULL, "size of one of them; null: not known"},
    {"bytes_all", F_COUNT | OR_NULL, "size of all of them; null: not known"},
    {"read_gbs", F_AMOUNT | OR_NULL, "bandwidth of reads from all of them, in GB/s; null: not known"},
    {"read_how", F_TEXT | OR_NULL,
     "measured; scaled: from the ceilings of an H200 by the specification; null: there is no bandwidth",
     .words = "measured, scaled"},
    {"latency_ns", F_AMOUNT | OR_NULL, "what the cost model waits for a load, in ns; null: not known"},
    {"about", F_TEXT, "what it is for"},
    {0},
};
const struct row_kind row_memory = {"memory", "a memory of a GPU or of this host", memory_fields};
