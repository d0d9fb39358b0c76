/* How a matrix would be stored in a format: whether it fits, its size, and the time to pack it. */
#include "format_fit.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "report/fields.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

/* The thread blocks of the largest launch of the format's kernel on a GPU; 0: not known. No block runs. */
static int64_t blocks_for(const struct stored *S)
{
    struct mat M = {0};
    struct device *emu = device_open("emu", NULL);
    const struct kernel *k = emu ? kernel_default(S->format, NULL, emu) : NULL;
    struct scope *launches = k ? mem_new(1, sizeof *launches, "the launches of a kernel", NULL) : NULL;
    int64_t blocks = 0;
    if (launches && mat_borrow(&M, S, emu, NULL) && launches_of_kernel(k, &M, NULL, launches, NULL))
        for (int l = 0; l < launches->nlaunches; l++)
            if (launches->launch[l].blocks > blocks) blocks = launches->launch[l].blocks;
    if (M.dev) mat_free(&M);
    mem_free(launches);
    return blocks;
}

static bool pack_timed(struct matrix *m, const struct format *f, enum precision real, struct stored *packed,
                       struct fit *out, struct err *e)
{
    struct stored S = {0};
    double start = now_us();
    bool ok = format_pack(&m->csr, f, NULL, real, false, &S, e);
    out->prep_us = now_us() - start;
    out->diagonals = ok && format_measures(&S, &out->measures, NULL);
    if (out->diagonals) out->blocks = blocks_for(&S);
    if (packed && ok)
        *packed = S;
    else
        stored_free(&S);
    return ok;
}

bool fit_of(struct session *s, struct matrix *m, const struct format *f, enum precision real, struct stored *packed,
            struct fit *out, struct err *e)
{
    struct err why = {0};
    memset(out, 0, sizeof *out);
    out->prep_us = NAN;
    if (!watch_tick(&s->watch, f->name, 0, 0, e)) return false;
    out->fits = format_plan(&m->csr, f, NULL, real, &out->plan, &why) && pack_timed(m, f, real, packed, out, &why);
    if (!out->fits) out->prep_us = NAN;
    snprintf(out->reason, sizeof out->reason, "%s", why.text);
    return out->fits || err_is_refusal(&why) || fail(e, why.code, "%s", why.text);
}

void out_fit(struct out *o, const struct fit *fit)
{
    if (!fit) return;
    double slots = (double)fit->plan.slots;
    out_bool(o, "fits", "fits", fit->fits);
    out_bytes(o, "bytes", "size", fit->plan.bytes);
    out_int(o, "padding", NULL, fit->plan.padding);
    out_num(o, NULL, "padding %", slots > 0 ? 100 * (double)fit->plan.padding / slots : 0, "%.1f");
    out_num(o, "prep_us", "prep us", fit->prep_us, "%.1f");
    out_measures(o, fit->diagonals ? &fit->measures : NULL);
    out_str(o, "reason", NULL, fit->fits ? NULL : fit->reason);
}

/* ---- the keys of the rows ---- */

static const struct field fit_fields[] = {
    {"fits", F_BOOLEAN, "whether the matrix can be stored so without `force`"},
    {"bytes", F_COUNT, "size of the stored matrix, in bytes"},
    {"padding", F_COUNT, "slots without an entry"},
    {"prep_us", F_AMOUNT | OR_NULL, "time to pack on the host, in us; null: not packed"},
    {"reason", F_TEXT | OR_NULL, "why the format does not fit; null: it fits"},
    {0},
};
const struct row_kind row_fit = {"fit", "how a matrix fits a format", fit_fields};
