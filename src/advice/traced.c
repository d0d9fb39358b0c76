/* Makes the trace that the session keeps: gets the stored matrix or the column of an LU method, traces a warp, and
   finds the elements and slots that views highlight. */
#include "traced.h"
#include "base/err.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "lu/lu.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "session/product.h"

#include <string.h>

static bool can_trace(const struct trace_request *w, const struct device *emu, struct err *e)
{
    const struct kernel *k = w->kernel;
    char others[256] = "";
    if (!w->matrix->csr.rows) return fail(e, E_USAGE, "%s has no rows: %s launches nothing", w->matrix->name, k->name);
    if (kernel_runs_on(k, emu)) return true;
    for (int i = 0; kernels[i]; i++) {
        size_t n = strlen(others);
        if (kernels[i]->format == k->format && kernel_runs_on(kernels[i], emu))
            snprintf(others + n, sizeof others - n, "%s%s", n ? ", " : "", kernels[i]->name);
    }
    return fail(e, E_UNSUPPORTED,
                "%s does not run on the emulator, so it cannot be traced; kernels of %s that run there: %s", k->name,
                k->format->name, *others ? others : "none");
}

/* The launches of an LU method follow one another, so the default is the first one. */
static struct tracing *trace_launches(struct session *s, const struct trace_request *w, const struct watched *of,
                                      struct err *e)
{
    const struct warp_at at = {w->launch < 0 && !w->kernel ? 0 : w->launch, w->block, w->warp};
    struct tracing *v = tracing_new(of, &w->matrix->csr, w->real, &at, &s->watch, e);
    if (v) v->matrix = w->matrix;
    return v;
}

static struct tracing *trace_kernel(struct session *s, const struct trace_request *w, struct device *emu, struct err *e)
{
    const struct kernel *k = w->kernel;
    if (!can_trace(w, emu, e)) return NULL;
    struct product *p = session_product(s, form_for(w->matrix, k, w->param, w->real, 0), e);
    const struct mat *M = p ? session_mat(s, p, emu, e) : NULL;
    if (!M) return NULL;
    const struct watched of = watched_kernel(k, M);
    struct tracing *v = trace_launches(s, w, &of, e);
    if (v) v->product = p;
    return v;
}

/* The column that `lu step` does next, or the last column if `lu step` has done all columns. */
static int64_t next_column(const struct session *s, const struct csr *A)
{
    int64_t next = s->lu && s->lu->of == A ? s->lu->k : 0;
    return next < A->rows ? next : A->rows - 1;
}

/* NaN and inf are accepted: of all accesses, only the row of the pivot depends on values. */
static struct tracing *trace_lu(struct session *s, const struct trace_request *w, struct device *emu, struct err *e)
{
    const struct csr *A = &w->matrix->csr;
    if (precisions[w->real].narrow)
        return fail(e, E_UNSUPPORTED, "LU does not work in %s; use f32 or f64", precisions[w->real].name), NULL;
    const struct lu_options o = {.method = w->lu.method, .dev = emu, .real = w->real, .b = w->lu.b, .force = true};
    int64_t k = w->lu.column < 0 ? next_column(s, A) : w->lu.column;
    struct lu_column column;
    if (!lu_column_begin(&column, A, k, &o, e)) return NULL;
    const struct watched of = lu_column_watched(&column);
    struct tracing *v = trace_launches(s, w, &of, e);
    if (v) v->lu = (struct traced_lu){w->lu.method, k, column.v->b};
    lu_column_free(&column);
    return v;
}

bool tracing_begin(struct session *s, const struct trace_request *w, struct err *e)
{
    struct device *emu = session_device(s, "emu", e);
    if (!emu) return false;
    struct tracing *v = w->kernel ? trace_kernel(s, w, emu, e) : trace_lu(s, w, emu, e);
    if (!v) return false;
    SCREEN_EDIT;
    if (s->trace) v->lane = s->trace->lane;
    tracing_open(v, 0);
    tracing_free(s->trace);
    s->trace = v;
    return true;
}

/* ---- for the views that draw the matrix or its formats ---- */

/* The elements that the lanes access in the current step, without repetition; returns their number. */
static int elements_of(const struct tracing *v, struct place element[LANES])
{
    int n = 0;
    for (int l = 0; l < LANES && v->t.nsteps; l++) {
        struct lane_at at = tracing_lane(v, v->at, l);
        bool skip = at.row < 0 || at.col < 0 || at.padding;
        for (int k = 0; k < n && !skip; k++) skip = element[k].row == at.row && element[k].col == at.col;
        if (!skip) element[n++] = (struct place){SLOT_ENTRY, at.row, at.col};
    }
    return n;
}

int traced_elements(const struct session *s, const struct matrix *m, struct place element[LANES])
{
    const struct tracing *v = s->trace;
    return v && v->matrix == m && v->kernel ? elements_of(v, element) : 0;
}

int traced_lu_elements(const struct session *s, const struct matrix *m, int64_t column, struct place element[LANES])
{
    const struct tracing *v = s->trace;
    return v && v->matrix == m && !v->kernel && v->lu.column == column ? elements_of(v, element) : 0;
}

bool traced_slot(const struct session *s, const struct stored *S, int a, int64_t i)
{
    const struct tracing *v = s->trace;
    if (!v || !v->t.nsteps || !v->product || &v->product->S != S) return false;
    const struct request *r = &v->t.step[v->at];
    int array = tracing_site(v, v->at)->array;
    if (array < 0 || v->t.scope.array[array].stored != a) return false;
    for (uint32_t left = r->mask; left; left &= left - 1)
        if (r->at[__builtin_ctz(left)] == i) return true;
    return false;
}
