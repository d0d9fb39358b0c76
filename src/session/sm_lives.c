/* Records a kernel on the emulator at several occupancies, and simulates a multiprocessor for each. */
#include "sm_lives.h"
#include "base/text.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "holding.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "microscope/modeled.h"
#include "microscope/tape.h"
#include "predicted.h"
#include "product.h"
#include "session.h"

#include <math.h>
#include <stdio.h>

static void free_lives(struct sm_lives *l)
{
    for (int i = 0; l && i < l->n; i++) sm_free(&l->life[i]);
    mem_free(l);
}

static void drop(struct session *s)
{
    free_lives(s->sm);
    s->sm = NULL;
}

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->sm && s->sm->matrix == m;
}

const struct holding holding_sm = {.drop = drop, .belongs_to = is_of};

/* ---- making ---- */

struct making {
    const struct matrix *m;
    const struct mat *M;
    const struct kernel *k;
    struct machine on;
    struct watch *watch;
    int64_t sample;
    struct counts counts;
    struct workload work;
};

static int most_blocks(const struct machine *g, const struct work *w)
{
    int64_t warps = (w->threads + LANES - 1) / LANES;
    int n = (int)model_resident(g, w), shown = warps ? (int)(SM_WARPS / warps) : 1;
    return n < shown ? n : shown < 1 ? 1 : shown;
}

static void describe(struct sm_lives *l, const struct making *v, const struct work *w)
{
    snprintf(l->launch, sizeof l->launch, "%s", w->name);
    l->blocks = w->blocks;
    l->of_sm = (w->blocks + v->on.sms - 1) / v->on.sms;
    l->threads = w->threads;
    l->registers = w->registers;
    struct residency most = model_residency(&v->on, w);
    l->blocks_most = (int64_t)most.blocks;
    l->limited_by = residency_limit_names[most.by];
    l->sampled = v->work.sampled;
}

/* Record the kernel with this many blocks at a time, and simulate it. */
static bool add_life(struct sm_lives *l, struct making *v, int at_once, struct err *e)
{
    struct tape t = {.at_once = at_once};
    bool ok = model_record(v->k, &v->m->csr, v->M, &v->on, v->sample, v->watch, &v->counts, &t, &v->work, e);
    struct sm_costs c;
    if (ok) {
        const struct work *launch = workload_busiest(&v->work);
        describe(l, v, launch);
        c = model_sm_costs(&v->work, &v->on);
        l->cut |= t.cut;
        int blocks = l->of_sm < TAPE_BLOCKS ? (int)l->of_sm : TAPE_BLOCKS;
        ok = sm_simulate(&t, (int)(launch - v->work.launch), l->threads, blocks, &c, &l->life[l->n], e);
        if (ok)
            l->n++;
        else
            sm_free(&l->life[l->n]);
    }
    tape_free(&t);
    return ok;
}

static bool has_life(const struct sm_lives *l, int at_once)
{
    for (int i = 0; i < l->n; i++)
        if (l->life[i].at_once == at_once) return true;
    return false;
}

/* The number of blocks at a time that use about `warps` warps. */
static int blocks_for_warps(const struct work *w, int warps, int most)
{
    int per_block = (int)((w->threads + LANES - 1) / LANES), n = warps / (per_block ? per_block : 1);
    return n < 1 ? 1 : n < most ? n : most;
}

static bool make_lives(struct sm_lives *l, struct making *v, int warps, struct err *e)
{
    static const int occupancies[] = {8, 16, 32, SM_WARPS};
    if (!model_watch(v->k, &v->m->csr, v->M, &v->on, v->sample, v->watch, &v->counts, &v->work, e)) return false;
    const struct work shape = *workload_busiest(&v->work);
    int most = most_blocks(&v->on, &shape), wanted = blocks_for_warps(&shape, warps ? warps : SM_WARPS, most);
    int64_t of_sm = (shape.blocks + v->on.sms - 1) / v->on.sms;
    if (most > of_sm) most = of_sm < 1 ? 1 : (int)of_sm;
    for (int at_once = 1; at_once <= most; at_once++) {
        bool shown = at_once == wanted || (at_once == most && wanted > most);
        for (int i = 0; i < COUNT(occupancies); i++) shown |= at_once == blocks_for_warps(&shape, occupancies[i], most);
        if (!shown || has_life(l, at_once) || l->n == LIVES_MOST) continue;
        if (!add_life(l, v, at_once, e)) return false;
        if (at_once <= wanted) l->chosen = l->n - 1;
    }
    return true;
}

static bool prepare(struct session *s, struct matrix *m, struct making *v, enum type real, struct err *e)
{
    int64_t own[PARAMS_MAX];
    struct device *emu = device_open("emu", e);
    if (!emu || !modeled_matrix(m, e) || !modeled_can(v->k, &m->csr, e) || !kernel_takes(v->k, real, e)) return false;
    if (!modeled_machine(s, &v->on, e)) return false;
    const int64_t *param = modeled_params(v->k, NULL, &m->csr, real, &v->on, own);
    struct product *p = session_product(s, m, v->k->format, param, real, false, e);
    v->M = p ? session_mat(s, p, emu, e) : NULL;
    return v->M && (!v->k->fits || v->k->fits(v->M->of, e));
}

bool sm_begin(struct session *s, struct matrix *m, const struct kernel *k, enum type real, int warps, struct err *e)
{
    struct sm_lives *l = mem_zero(1, sizeof *l, "the life of a multiprocessor", e);
    struct making *v = l ? mem_zero(1, sizeof *v, "the life of a multiprocessor", e) : NULL;
    if (v) *v = (struct making){.m = m, .k = k, .watch = &s->watch};
    bool ok = v && prepare(s, m, v, real, e);
    if (ok) {
        *l = (struct sm_lives){
            .matrix = m, .kernel = k, .real = v->M->of->real, .here = v->on.here, .scaled = v->on.scaled};
        snprintf(l->machine, sizeof l->machine, "%s", v->on.name);
        bool gave = screen_lock_give();
        ok = modeled_sample(k, v->M, &s->watch, &v->counts, &v->sample, e) && make_lives(l, v, warps, e);
        screen_lock_back(gave);
    }
    mem_free(v);
    if (!ok) return free_lives(l), false;
    drop(s);
    s->sm = l;
    return true;
}

/* ---- output ---- */

enum { PARTS = 60 }; /* the parts of the time that JSON lists */

static void out_parts(struct out *o, const struct sm_life *l)
{
    static const char *const keys[SM_STATES] = {"ready", "working", "memory", "barrier", "finished", "empty"};
    double mean[PARTS];
    for (int k = 0; k < SM_STATES; k++) {
        for (int i = 0; i < PARTS; i++)
            mean[i] = sm_warps(l, (enum sm_state)k, (double)i / PARTS, (double)(i + 1) / PARTS);
        out_nums(o, keys[k], PARTS, mean);
    }
}

static void out_life(struct out *o, const struct sm_lives *all, const struct sm_life *l)
{
    out_row(o);
    out_str(o, "matrix", NULL, all->matrix->name);
    out_str(o, "kernel", NULL, all->kernel->name);
    out_str(o, "launch", NULL, all->launch);
    out_str(o, "precision", NULL, precision_of(&all->matrix->csr, all->real));
    out_str(o, "machine", NULL, all->machine);
    out_bool(o, "machine_here", NULL, all->here);
    out_rank(o, COLUMN_ANSWER);
    out_int(o, "warps", "warps", l->slots);
    out_rank(o, COLUMN_NORMAL);
    out_int(o, "blocks_at_once", "blocks", l->at_once);
    out_int(o, "warps_per_block", NULL, l->warps_per_block);
    out_int(o, "blocks", NULL, l->blocks);
    out_int(o, "blocks_of_sm", NULL, all->of_sm);
    out_int(o, "blocks_most", NULL, all->blocks_most);
    out_str(o, "limited_by", NULL, all->limited_by);
    out_int_if(o, "registers", NULL, all->registers > 0, all->registers);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "time_us", "us", l->us, "%.2f");
    out_num(o, "ready_percent", "a warp is ready %", 100 * l->ready, "%.1f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "memory_percent", "all wait: memory %", 100 * l->idle[SM_MEMORY], "%.1f");
    out_num(o, "barrier_percent", "barrier %", 100 * l->idle[SM_BARRIER], "%.1f");
    out_num(o, "working_percent", "arithmetic %", 100 * l->idle[SM_WORKING], "%.1f");
    out_num(o, "empty_percent", "no block %", 100 * l->idle[SM_EMPTY], "%.1f");
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "mean_ready", "ready warps", l->mean_ready, "%.2f");
    out_num(o, "mean_resident", "resident", l->mean_resident, "%.1f");
    out_rank(o, COLUMN_NORMAL);
    out_bool(o, "sampled", NULL, all->sampled);
    out_parts(o, l);
}

void out_sm(struct session *s, const struct sm_lives *l)
{
    struct out *o = s->out;
    struct machine g = {.here = l->here, .scaled = l->scaled};
    snprintf(g.name, sizeof g.name, "%s", l->machine);
    out_text(o, "%s on %s: %s of %lld threads, so one multiprocessor gets %lld.", l->kernel->name, l->matrix->name,
             how_many(l->blocks, "block").text, (long long)l->threads, (long long)l->of_sm);
    if (l->limited_by == residency_limit_names[LIMITED_BY_REGISTERS])
        out_text(o, "It holds at most %lld of them at a time, because each thread needs %lld registers.",
                 (long long)l->blocks_most, (long long)l->registers);
    for (int i = 0; i < l->n; i++) out_life(o, l, &l->life[i]);
    out_text(o, "Predicted by a simulation of one multiprocessor, with the latencies of the model.");
    if (l->n == 1) out_text(o, "Each multiprocessor has only so few blocks; a larger matrix shows more occupancies.");
    if (l->cut || l->life[0].blocks < l->of_sm)
        out_text(o, "Only the first %d of its %lld blocks were simulated.", l->life[0].blocks, (long long)l->of_sm);
    modeled_remarks(s, &g, l->sampled);
}
