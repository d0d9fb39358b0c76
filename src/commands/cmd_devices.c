/* devices, device and ceilings: list the devices, choose the device to use, and measure its memory bandwidth. */
#include "base/err.h"
#include "language/args.h"
#include "language/kinds.h"
#include "machine/device.h"
#include "machine/member_rows.h"
#include "machine/peer_library.h"
#include "microscope/gpu_profile.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

static const char *kind_name(enum device_kind k)
{
    return k == DEV_CPU ? "cpu" : k == DEV_EMU ? "emu" : "cuda";
}

/* If a device cannot be opened, show the error instead of its description. */
static void out_device(void *user, const char *name)
{
    struct session *s = user;
    struct err why = {0};
    int64_t free_bytes = -1, total = -1;
    struct device *d = device_open(name, &why);
    const struct device *default_device = s->dev ? s->dev : device_default();
    bool used = default_device && !strcmp(default_device->name, name);
    if (d && !d->lost) d->ops->memory(d, &free_bytes, &total, NULL);
    out_row(s->out);
    out_str(s->out, NULL, "", used ? "*" : "");
    out_rank(s->out, COLUMN_ANSWER);
    out_str(s->out, "name", "device", name);
    out_bool(s->out, "default", NULL, used);
    out_str(s->out, "kind", NULL, d ? kind_name(d->kind) : NULL);
    out_int(s->out, "members", NULL, d && d->members ? d->members : 1);
    out_bool(s->out, "usable", NULL, d && !d->lost);
    out_int(s->out, "units", NULL, d ? d->units : 0);
    if (total >= 0)
        out_bytes(s->out, "memory", "memory", total);
    else
        out_str(s->out, "memory", "memory", NULL);
    if (total >= 0)
        out_bytes(s->out, "memory_free", "free", free_bytes);
    else
        out_str(s->out, "memory_free", "free", NULL);
    out_str(s->out, "cusparse", NULL, d && d->kind == DEV_CUDA ? cusparse_version() : NULL);
    out_str(s->out, "about", "about", !d ? why.text : d->lost ? "lost" : d->about);
}

static bool run_devices(struct session *s, const struct args *a, struct err *e)
{
    struct err why = {0};
    kind_list(kind_find("DEVICE", strlen("DEVICE")), s, NULL, out_device, s);
    if (!device_count(DEV_CUDA) && !device_open("cuda:0", &why)) out_text(s->out, "no GPU: %s", why.text);
    if (device_count(DEV_CUDA) && out_mode(s->out) == OUT_TEXT && cusparse_version())
        out_text(s->out, "Kernels cusparse-*: %s, %s (`set cusparse PATH` chooses another).", cusparse_version(),
                 cusparse_path());
    return true;
}

static bool run_device(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "device");
    struct device *d = session_device(s, name, e);
    if (!d) return false;
    s->dev = d;
    s->undo.now.chose = true;
    out_record(s->out);
    out_str(s->out, "name", "device", d->name);
    out_str(s->out, "about", "about", d->about);
    return true;
}

static void out_ceilings(struct out *o, const struct device *d)
{
    const struct ceilings *c = &d->ceilings;
    out_record(o);
    out_str(o, "device", "device", d->name);
    out_num(o, "read_gbs", "read GB/s", c->read_gbs, "%.1f");
    out_num(o, "copy_gbs", "copy GB/s", c->copy_gbs, "%.1f");
    out_num(o, "cache_gbs", "cache GB/s", c->cache_gbs, "%.1f");
    out_num(o, "gather_gps", "gathers 10^9/s", c->gather_gps, "%.2f");
    out_num(o, "gather_cache_gps", "from the cache 10^9/s", c->gather_cache_gps, "%.2f");
    out_num(o, "launch_us", "launch us", c->launch_us, "%.2f");
    out_num(o, "l1_gbs", c->l1_gbs > 0 ? "L1 GB/s" : NULL, c->l1_gbs > 0 ? c->l1_gbs : NAN, "%.1f");
    out_num(o, "fp64_gflops", c->fp64_gflops > 0 ? "fp64 GFLOP/s" : NULL, c->fp64_gflops > 0 ? c->fp64_gflops : NAN,
            "%.1f");
    out_num(o, "fp32_gflops", c->fp32_gflops > 0 ? "fp32 GFLOP/s" : NULL, c->fp32_gflops > 0 ? c->fp32_gflops : NAN,
            "%.1f");
}

/* The links between the members of a device; null for an ordinary device, and if the members are not all GPUs. */
static void out_links(struct out *o, const struct device *d)
{
    const struct link_ceilings *c = &d->link;
    bool some = c->measured, flags = some && isfinite(c->flag_us);
    out_num(o, "link_copy_us", some ? "copy of 8 B us" : NULL, some ? c->copy_us : NAN, "%.2f");
    out_num(o, "link_mb_gbs", some ? "copy of 1 MiB GB/s" : NULL, some ? c->mb_gbs : NAN, "%.1f");
    out_num(o, "link_gbs", some ? "copy of 256 MiB GB/s" : NULL, some ? c->far_gbs : NAN, "%.1f");
    out_num(o, "link_flag_us", flags ? "flag and back us" : NULL, flags ? c->flag_us : NAN, "%.2f");
    out_str(o, "link_between", NULL, !some ? NULL : c->one_gpu ? "one GPU" : "GPUs");
    if (!some || out_mode(o) != OUT_TEXT) return;
    if (!flags) out_str(o, NULL, "flag and back", "not measured: no access to each other's memory");
    out_str(o, NULL, "link",
            c->one_gpu ? "the members are one GPU, so these are copies in its own memory, not a link"
                       : "from member 0 to another, the slowest; `whatif parts` takes these numbers");
}

/* A saved profile has the name of the model of the GPU, with which its description begins. Of several GPUs, the profile
   describes the first one and the link between them. */
static bool save_profile(const struct device *d, const char *path, bool force, struct err *e)
{
    const struct device *one = d->members ? d->member[0] : d;
    struct machine g = machine_of(one);
    if (!g.here) return fail(e, E_UNSUPPORTED, "a profile describes a GPU, and %s is not one", one->name);
    snprintf(g.name, sizeof g.name, "%.*s", (int)strcspn(one->about, ","), one->about);
    if (d->link.measured && !d->link.one_gpu) {
        g.link = d->link;
        g.linked = d->members;
    }
    return profile_save(path, &g, force, e);
}

static bool run_ceilings(struct session *s, const struct args *a, struct err *e)
{
    struct device *d = session_device(s, arg(a, "on"), e);
    if (!d) return false;
    if (d->kind == DEV_EMU)
        return fail(e, E_UNSUPPORTED, "%s models accesses, not time; measure cpu or %s", d->name,
                    d->members ? "cuda:0+1" : "cuda:0");
    bool measured = (d->ceilings.measured || device_ceilings(d, &s->watch, e)) &&
                    (!d->members || d->link.measured || device_links(d, &s->watch, e));
    if (!measured) return false;
    out_ceilings(s->out, d);
    out_links(s->out, d);
    return !arg(a, "save") || save_profile(d, arg(a, "save"), arg_flag(a, "force"), e);
}

/* ---- the keys of the rows ---- */

static const struct field ceilings_fields[] = {
    {"device", F_TEXT, "the device"},
    {"read_gbs", F_AMOUNT, "streaming reads, in GB/s"},
    {"copy_gbs", F_AMOUNT, "copies, bytes read and written, in GB/s"},
    {"cache_gbs", F_AMOUNT, "reads from the cache, in GB/s"},
    {"gather_gps", F_AMOUNT, "reads of 8 bytes at random places, in 10^9/s"},
    {"gather_cache_gps", F_AMOUNT, "the same from a vector that fits in the cache, in 10^9/s"},
    {"launch_us", F_AMOUNT, "an empty launch, in us"},
    {"l1_gbs", F_AMOUNT | OR_NULL, "reads from the L1 caches, in GB/s", .on = "cuda"},
    {"fp64_gflops", F_AMOUNT | OR_NULL, "fused operations in fp64, in GFLOP/s", .on = "cuda"},
    {"fp32_gflops", F_AMOUNT | OR_NULL, "fused operations in fp32, in GFLOP/s", .on = "cuda"},
    {"link_copy_us", F_AMOUNT | OR_NULL, "a copy of 8 bytes between two members, in us; null: not several GPUs",
     .on = "cuda"},
    {"link_mb_gbs", F_AMOUNT | OR_NULL, "copies of 1 MiB between them, in GB/s", .on = "cuda"},
    {"link_gbs", F_AMOUNT | OR_NULL, "copies of 256 MiB between them, in GB/s", .on = "cuda"},
    {"link_flag_us", F_AMOUNT | OR_NULL, "a flag there and back, in us; null: no access to each other's memory",
     .on = "cuda"},
    {"link_between", F_TEXT | OR_NULL, "one GPU: the members are the same GPU, so no link was measured",
     .words = "GPUs, one GPU", .on = "cuda"},
    {0},
};
static const struct row_kind row_ceilings = {"ceilings", "what a device's memory can do at most", ceilings_fields};

static const struct field device_fields[] = {
    {"name", F_TEXT, "the device"},
    {"about", F_TEXT, "what it is"},
    {0},
};
static const struct row_kind row_device = {"device", "the device in use", device_fields};

static const struct field devices_fields[] = {
    {"name", F_TEXT, "the device"},
    {"default", F_BOOLEAN, "whether commands use it if they name none"},
    {"kind", F_TEXT | OR_NULL, "a description of the device; null: it cannot be opened", .words = "cpu, emu, cuda",
     .on = "cuda"},
    {"members", F_COUNT, "devices that share the rows of each matrix; 1: an ordinary device", .min = 1},
    {"usable", F_BOOLEAN, "whether it can be used"},
    {"units", F_COUNT, "number of processors: threads of the cpu, multiprocessors of a GPU"},
    {"memory", F_COUNT | OR_NULL, "memory in bytes; null: not known", .on = "cuda"},
    {"memory_free", F_COUNT | OR_NULL, "free memory in bytes; null: not known", .on = "cuda"},
    {"cusparse", F_TEXT | OR_NULL, "the cuSPARSE whose kernels it runs; null: not a GPU, or none was found",
     .on = "cuda"},
    {"about", F_TEXT, "a description of the device, or why it cannot be used"},
    {0},
};
static const struct row_kind row_devices = {"devices", "a device", devices_fields};

const struct command command_devices = {
    .name = "devices",
    .grammar = "",
    .about = "list the devices and their memory; the device in use is marked",
    .help = "cpu runs plain loops, emu runs the GPU kernels lane by lane in an emulator, cuda:N is a GPU.\n"
            "Several devices together, which share the rows of each matrix: cuda:0+1 (or more numbers), cuda:all,\n"
            "cpu+cuda:0, and emu*N, which is N emulated GPUs with memories of their own. cuda:0+0 is one GPU twice,\n"
            "to try several members on one GPU; that is never faster. `timeline` shows what each member does.\n"
            "    devices",
    .rows = (const struct row_kind *const[]){&row_devices, NULL},
    .run = run_devices,
};

const struct command command_device = {
    .name = "device",
    .grammar = "[DEVICE]",
    .about = "choose the device that commands use, or show it",
    .help = "The default is the first GPU, or the host if there is no GPU.\n"
            "`spmv`, `bench`, `solve` and `timeline` also run on several devices together (see `help devices`).\n"
            "    device emu; device cuda:0+1",
    .rows = (const struct row_kind *const[]){&row_device, NULL},
    .run = run_device,
    .several = true,
};

const struct command command_ceilings = {
    .name = "ceilings",
    .grammar = "[on DEVICE] [save FILE] [force]",
    .about = "measure a device's memory bandwidth, the upper limit for kernels that do not run from cache",
    .help = "Measures streaming reads and copies, reads from the cache, random gathers, and the cost of an empty\n"
            "launch, once per session; on a GPU also reads from L1, and the rates of fp64 and fp32. `bench` shows\n"
            "bandwidth as a percentage of the bandwidth of streaming reads; `roofline` draws all of these limits.\n"
            "On several GPUs, such as cuda:0+1, also measures the link between them: copies of 8 bytes, 1 MiB and\n"
            "256 MiB, and a flag there and back that launches set in each other's memory. `whatif parts` then takes\n"
            "the measured link instead of the one in its table.\n"
            "`save FILE` writes the specification of the GPU and its ceilings as a profile, with which `set gpu FILE`\n"
            "predicts times for this GPU on another computer; on cuda:0+1 also the link, for `whatif parts`. force\n"
            "replaces a file that exists.\n"
            "    ceilings on cpu; ceilings on cuda:0 save lab.txt; ceilings on cuda:0+1",
    .rows = (const struct row_kind *const[]){&row_ceilings, NULL},
    .run = run_ceilings,
    .several = true,
};
