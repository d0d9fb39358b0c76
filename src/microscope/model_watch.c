/* Watches the launches of a kernel for the cost model: it replays the requests of each block through a model of L1 and
   sums the waits of the block's warps.

   Blocks are assigned to multiprocessors round robin. The blocks that share a multiprocessor are replayed together:
   their warps take turns and use the same L1 cache. The cache keeps the sectors that earlier blocks loaded. If only a
   sample of blocks is watched, the model treats the sample as the blocks of one multiprocessor. */
#include <stdio.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/compiled.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/remote.h"
#include "matrix/csr.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

/* The lines of an L1 cache: three quarters of the memory of a multiprocessor, because the rest is shared memory. */
static int lines_of(const struct machine *g)
{
    int sets = (int)(0.75 * g->is.l1_kb * 1024 / LINE / WAYS);
    return (sets < 1 ? 1 : sets) * WAYS;
}

/* Formats that sort rows store the original row numbers in an array; invert that array. */
static bool find_positions(struct watching *v)
{
    const struct stored *S = v->M->of;
    for (int k = 0; k < S->narrays; k++) {
        if (S->a[k].role != ROLE_ROW_ORDER || !S->a[k].n) continue;
        v->position = mem_zero(S->rows, sizeof *v->position, "the places of rows", &v->err);
        for (int64_t i = 0; v->position && i < S->a[k].n; i++) {
            int64_t row = S->format->where(S, k, i).row;
            if (row >= 0 && row < S->rows) v->position[row] = (int)i;
        }
        return v->position != NULL;
    }
    return true;
}

/* Does the kernel load an array of the matrix as sectors that L2 should replace first? */
static bool is_read_once(const struct scope *s, int array)
{
    bool once = false;
    for (int k = 0; k < s->nsites; k++) once |= s->site[k].array == array && s->site[k].once;
    return once && s->array[array].stored >= 0;
}

/* Scale the counts of a sample up to all blocks. An array cannot have more sectors than its size allows. */
static void finish(struct watching *v, const struct counts *c)
{
    struct workload *out = v->out;
    out->n = c->scope.nlaunches;
    for (int l = 0; l < out->n; l++) {
        struct work *w = &out->launch[l];
        const struct scope_launch *at = &c->scope.launch[l];
        snprintf(w->name, sizeof w->name, "%s", at->name);
        w->blocks = at->blocks;
        w->threads = at->threads;
        w->registers = model_registers(v, at);
        w->seen = at->seen;
        out->sampled |= at->seen < at->blocks;
        double warps = (double)at->blocks * (double)((at->threads + LANES - 1) / LANES);
        w->warp_steps = warps > 0 ? w->warp_steps / warps : 0;
        for (int a = 0; a < c->scope.narrays; a++)
            w->footprint += SECTOR * fmin(v->distinct[l][a], (double)scope_sectors(&c->scope.array[a]));
    }
    for (int a = 0; a < c->scope.narrays; a++) {
        double sectors = v->all[a], lines = v->lines_all[a], most = (double)scope_sectors(&c->scope.array[a]);
        for (int l = 0; l < out->n; l++) {
            sectors = fmax(sectors, fmin(v->distinct[l][a], most));
            lines = fmax(lines, fmin(v->lines_distinct[l][a], most * SECTOR / LINE));
        }
        out->footprint += SECTOR * sectors;
        out->in_lines += LINE * lines;
        if (is_read_once(&c->scope, a)) out->once += SECTOR * sectors;
    }
    if (out->footprint > 0) out->once /= out->footprint;
}

/* Without a table, the registers are not known, and the remarks on a prediction say so (compiled_remark). */
static const struct compiled_column *compiled_of(struct watching *v)
{
    struct err why = {0};
    const struct compiled_column *c = compiled_column(v->gpu->is.capability, &why);
    if (why.code == E_MEMORY) fail(&v->err, E_MEMORY, "%s", why.text);
    return c;
}

bool model_watch(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                 int64_t accesses, struct watch *w, struct counts *counts, struct workload *out, struct err *e)
{
    return model_record(k, A, M, g, accesses, w, counts, NULL, out, e);
}

bool model_record(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                  int64_t accesses, struct watch *w, struct counts *counts, struct tape *tape, struct workload *out,
                  struct err *e)
{
    if (k->remote) return k->remote->model(k, A, M, g, accesses, w, counts, tape, out, e);
    bool complex = precisions[M->of->real].is_complex;
    *out = (struct workload){.kernel = k,
                             .flops = (complex ? 8.0 : 2.0) * (double)stored_slots(M->of),
                             .single = precisions[M->of->real].part == T_F32};
    struct watching *v = mem_zero(1, sizeof *v, "the microscope", e);
    struct counts *own = counts || !v ? NULL : mem_zero(1, sizeof *own, "the counts of a kernel", e);
    struct counts *c = counts ? counts : own;
    if (v)
        *v = (struct watching){.M = M,
                               .gpu = g,
                               .sms = g->sms,
                               .lines = lines_of(g),
                               .out = out,
                               .launch = -1,
                               .row = -1,
                               .row_length = -1,
                               .A = A,
                               .tape = tape};
    if (v) v->compiled = compiled_of(v);
    if (v) model_find_longest(v);
    if (v && c) v->queue = mem_zero(g->sms, sizeof *v->queue, "the multiprocessors", e);
    bool ok = v && !v->err.code && c && v->queue && find_positions(v);
    if (v && v->err.code) fail(e, v->err.code, "%s", v->err.text);
    if (ok) {
        struct scope_sink sink = {model_request, model_block_end, v};
        double start = now_us();
        ok = count_within(k, M, accesses, &sink, w, c, e);
        if (ok && v->err.code) ok = fail(e, v->err.code, "%s", v->err.text);
        v->scope = &c->scope;
        if (ok) finish(v, c);
        ok = ok && model_follow_longest(v, c, w, e);
        out->us = now_us() - start;
    }
    if (v) watching_free(v);
    mem_free(v);
    mem_free(own);
    return ok;
}
