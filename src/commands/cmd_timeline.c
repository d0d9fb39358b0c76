/* timeline: what each member of a device with several members does in a product. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/requests.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "report/fields.h"
#include "report/output_timeline.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"

#include <stdio.h>

static const struct kernel *kernel_for(const struct args *a, const struct csr *A, const struct device *d, struct err *e)
{
    const char *name = arg(a, "kernel"), *format = arg(a, "using");
    const struct format *f = format ? format_find(format) : format_native(A);
    const struct kernel *k = name ? kernel_find(name) : kernel_default(f, A, d);
    if (!k || !kernel_runs_on(k, d))
        return fail(e, E_UNSUPPORTED, "%s%s does not run on %s; `kernels` lists all kernels", k ? "" : "the format ",
                    k ? k->name : f->name, d->name),
               NULL;
    if (!format || k->format == f) return k;
    fail(e, E_USAGE, "%s works on %s, not on %s; choose another kernel or format", name, k->format->name, format);
    return NULL;
}

/* The matrix on the device, in the format of the kernel. */
static struct mat *mat_for(struct session *s, const struct spmv_request *w, const struct kernel *k, struct err *e)
{
    struct form form = form_for(w->matrix, k, NULL, w->real, 0);
    form.force = w->force;
    struct product *p = session_product(s, form, e);
    return p ? session_mat(s, p, w->dev, e) : NULL;
}

static bool measure(struct session *s, const struct args *a, const struct spmv_request *w, struct timeline *t,
                    struct err *e)
{
    const struct kernel *k = kernel_for(a, &w->matrix->csr, w->dev, e);
    struct mat *M = k ? mat_for(s, w, k, e) : NULL;
    if (!M) return false;
    bool ok = timeline_of(M, k, t, &s->watch, e);
    snprintf(t->matrix, sizeof t->matrix, "%s", w->matrix->name);
    return ok;
}

static void put(struct session *s, struct timeline *t)
{
    SCREEN_EDIT;
    mem_free(s->timeline);
    s->timeline = t;
}

static bool run_timeline(struct session *s, const struct args *a, struct err *e)
{
    struct spmv_operation o;
    struct spmv_request w;
    if (!spmv_request_of(s, a, &o, &w, e)) return false;
    spmv_operation_free(&o);
    w.operation = NULL;
    w.dev = session_device_for(s, w.matrix, arg(a, "on"), e);
    if (!w.dev) return false;
    if (!w.dev->members)
        return fail(e, E_USAGE, "%s is one device; name several after `on`, such as emu*2 or cuda:0+1", w.dev->name);
    struct timeline *t = mem_zero(1, sizeof *t, "a timeline", e);
    if (!t || !measure(s, a, &w, t, e)) return mem_free(t), false;
    put(s, t);
    out_timeline(s->out, t);
    return true;
}

const struct command command_timeline = {
    .name = "timeline",
    .grammar = "[MATRIX] [[using] FORMAT] [[kernel] KERNEL] [on DEVICE] [f32|f64|[precision] PRECISION] [force]",
    .about = "what each device of several does in one SpMV and one inner product",
    .help = "push: a member sends the elements of x that others need. local: it multiplies the entries in its own\n"
            "columns. wait: it waits for the elements from others. outside: it adds the entries in other columns.\n"
            "sums: it sends its part of an inner product to every member, and adds all parts in the order of the\n"
            "members. On GPUs, the times are measured by events; the members' first events are aligned by the\n"
            "host's clock, and each phase includes the time until the host has queued it. The emulator has no\n"
            "clock: it counts the sectors of 32 bytes that the launches of each phase read and write.\n"
            "`view timeline` draws the last timeline; `set exchange` compares the ways to send.\n"
            "    timeline on emu*3; timeline A sell on cuda:0+1 f32; export timeline timeline.svg",
    .rows = (const struct row_kind *const[]){&row_timeline, NULL},
    .run = run_timeline,
    .sweeps = true,
    .in_parts = true,
    .several = true,
};
