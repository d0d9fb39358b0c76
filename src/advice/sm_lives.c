/* Records a kernel on the emulator at several occupancies, and simulates a multiprocessor for each. */
#include "sm_lives.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "machine/kernel.h"
#include "machine/remote.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "microscope/tape.h"
#include "predicted.h"
#include "report/fields.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>

static void free_lives(struct sm_lives *l)
{
    for (int i = 0; l && i < l->n; i++) sm_free(&l->life[i]);
    mem_free(l);
}

static void put(struct session *s, struct sm_lives *l)
{
    struct sm_lives *before = s->sm;
    SCREEN_EDIT;
    s->sm = l;
    free_lives(before);
}

static void drop(struct session *s)
{
    put(s, NULL);
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
    int64_t accesses;                   /* to watch, as in model_watch */
    int64_t longest_block, longest_row; /* as in struct sm_lives */
    struct counts counts;
    struct workload work;
};

static int most_blocks(const struct machine *g, const struct work *w)
{
    int64_t warps = (w->threads + LANES - 1) / LANES;
    int n = (int)model_resident(g, w), shown = warps ? (int)(SM_WARPS / warps) : 1;
    return n < shown ? n : shown < 1 ? 1 : shown;
}

/* The multiprocessor that is shown. */
static int sm_of(const struct making *v)
{
    return v->longest_block < 0 ? 0 : (int)(v->longest_block % v->on.sms);
}

/* The blocks of the launch that this multiprocessor gets. */
static int64_t blocks_of_sm(const struct making *v, const struct work *w)
{
    return (w->blocks - 1 - sm_of(v)) / v->on.sms + 1;
}

static void describe(struct sm_lives *l, const struct making *v, const struct work *w)
{
    snprintf(l->launch, sizeof l->launch, "%s", w->name);
    l->blocks = w->blocks;
    l->of_sm = blocks_of_sm(v, w);
    l->threads = w->threads;
    l->registers = w->registers;
    struct residency most = model_residency(&v->on, w);
    l->blocks_most = (int64_t)most.blocks;
    l->limited_by = residency_limit_names[most.by];
    l->sampled = v->work.sampled;
    l->longest_block = v->longest_block;
    l->longest_row = v->longest_row;
}

/* Record the kernel with this many blocks at a time, and simulate it. */
static bool add_life(struct sm_lives *l, struct making *v, int at_once, struct err *e)
{
    struct tape t = {.at_once = at_once, .sm = sm_of(v), .must_show = v->longest_block};
    bool ok = model_record(v->k, &v->m->csr, v->M, &v->on, v->accesses, v->watch, &v->counts, &t, &v->work, e);
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

/* Does one block of the launch that is shown take much longer than the others? */
static void find_longest(struct making *v)
{
    struct terms t;
    const struct work *w = workload_busiest(&v->work);
    model_terms(&v->work, &v->on, &t);
    bool longest = t.us[w - v->work.launch][BOUND_LONGEST] > 0;
    v->longest_block = longest ? w->longest_block : -1;
    v->longest_row = longest ? w->longest_row : -1;
}

static bool make_lives(struct sm_lives *l, struct making *v, int warps, struct err *e)
{
    static const int occupancies[] = {8, 16, 32, SM_WARPS};
    if (!model_watch(v->k, &v->m->csr, v->M, &v->on, v->accesses, v->watch, &v->counts, &v->work, e)) return false;
    const struct work shape = *workload_busiest(&v->work);
    find_longest(v);
    int most = most_blocks(&v->on, &shape), wanted = blocks_for_warps(&shape, warps ? warps : SM_WARPS, most);
    int64_t of_sm = blocks_of_sm(v, &shape);
    if (most > of_sm) most = of_sm < 1 ? 1 : (int)of_sm;
    for (int at_once = 1; at_once <= most; at_once++) {
        bool shown = at_once == wanted || (at_once == most && wanted > most);
        for (int i = 0; i < COUNT(occupancies); i++) shown |= at_once == blocks_for_warps(&shape, occupancies[i], most);
        if (!shown || has_life(l, at_once) || l->n == LIVES_MAX) continue;
        if (!add_life(l, v, at_once, e)) return false;
        if (at_once <= wanted) l->chosen = l->n - 1;
    }
    return true;
}

static bool prepare(struct session *s, struct matrix *m, struct making *v, enum precision real, struct err *e)
{
    struct device *emu = device_open("emu", e);
    if (!emu || !modeled_matrix(m, e) || !modeled_can(v->k, &m->csr, e) || !kernel_takes(v->k, real, e)) return false;
    if (!modeled_machine(s, &v->on, e)) return false;
    struct product *p = session_product(s, form_for(m, v->k, NULL, real, v->on.sms), e);
    v->M = p ? session_mat(s, p, emu, e) : NULL;
    return v->M != NULL;
}

/* A user's kernel is not in the table of compiled functions: ask nvcc. Without an answer, its registers stay unknown.
   Returns false if the user cancelled. */
static bool ask_registers(struct sm_lives *l, const struct making *v, struct err *e)
{
    struct err why = {0};
    if (!v->k->remote) return true;
    l->compiled_for = v->on.is.capability;
    if (v->k->remote->find_code(v->k, v->on.is.capability, v->M->of->real, v->watch, &why)) return true;
    snprintf(l->unknown, sizeof l->unknown, "%.159s", why.text);
    return why.code != E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text);
}

bool sm_begin(struct session *s, struct matrix *m, const struct kernel *k, enum precision real, int warps,
              struct err *e)
{
    struct sm_lives *l = mem_zero(1, sizeof *l, "the life of a multiprocessor", e);
    struct making *v = l ? mem_zero(1, sizeof *v, "the life of a multiprocessor", e) : NULL;
    if (v) *v = (struct making){.m = m, .k = k, .watch = &s->watch};
    bool ok = v && prepare(s, m, v, real, e);
    if (ok) {
        *l = (struct sm_lives){.matrix = m,
                               .kernel = k,
                               .real = v->M->of->real,
                               .here = v->on.here,
                               .scaled = v->on.scaled,
                               .capability = v->on.is.capability};
        snprintf(l->machine, sizeof l->machine, "%s", v->on.name);
        ok = modeled_accesses(k, v->M, &v->accesses, e) && ask_registers(l, v, e) && make_lives(l, v, warps, e);
    }
    mem_free(v);
    if (!ok) return free_lives(l), false;
    put(s, l);
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

/* The time for all blocks of the multiprocessor, at the rate of those that were simulated; NaN: not known, because one
   of these takes much longer than the others. */
static double all_blocks_us(const struct sm_lives *all, const struct sm_life *l)
{
    if (l->blocks >= all->of_sm) return l->us;
    return all->longest_block >= 0 ? NAN : l->us * (double)all->of_sm / l->blocks;
}

static bool is_part(const struct sm_lives *l)
{
    return l->cut || l->life[0].blocks < l->of_sm;
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
    out_num(o, "all_blocks_us", is_part(all) && all->longest_block < 0 ? "all blocks us" : NULL, all_blocks_us(all, l),
            "%.2f");
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

static void say_part(struct out *o, const struct sm_lives *l)
{
    char row[48] = "";
    if (l->longest_row >= 0) snprintf(row, sizeof row, ", which stores row %lld,", (long long)l->longest_row);
    const struct sm_life *chosen = &l->life[l->chosen];
    if (l->longest_block >= 0)
        out_text(o,
                 chosen->shows ? "It is the multiprocessor that gets block %lld%s the longest of all."
                               : "The longest block, %lld%s was not watched, and its time is left out; `predict` "
                                 "includes it.",
                 (long long)l->longest_block, *row ? row : ",");
    if (!is_part(l)) return;
    double us = all_blocks_us(l, chosen);
    if (isnan(us))
        out_text(o, "Only %d of its %lld blocks were simulated.", chosen->blocks, (long long)l->of_sm);
    else
        out_text(o,
                 "The columns show only the first %d of its %lld blocks. All of them take about %.1f us, at the same "
                 "rate.",
                 chosen->blocks, (long long)l->of_sm, us);
}

static void say_registers_of(struct out *o, const struct sm_lives *l)
{
    if (l->registers && l->compiled_for)
        out_text(o, "nvcc gives each thread %lld registers, for sm_%d.", (long long)l->registers, l->compiled_for);
    if (!l->registers)
        out_text(o,
                 "The registers of a thread are not known%s%s, so a multiprocessor may hold fewer blocks than shown: "
                 "their number, and the occupancy, is an upper bound.",
                 *l->unknown ? ": " : "", l->unknown);
}

void out_sm(struct session *s, const struct sm_lives *l)
{
    struct out *o = s->out;
    struct machine g = {.here = l->here, .scaled = l->scaled, .is.capability = l->capability};
    snprintf(g.name, sizeof g.name, "%s", l->machine);
    out_text(o, "%s on %s: %s of %lld threads, so one multiprocessor gets %lld.", l->kernel->name, l->matrix->name,
             how_many(l->blocks, "block").text, (long long)l->threads, (long long)l->of_sm);
    if (l->limited_by == residency_limit_names[LIMITED_BY_REGISTERS])
        out_text(o, "It holds at most %lld of them at a time, because each thread needs %lld registers.",
                 (long long)l->blocks_most, (long long)l->registers);
    say_registers_of(o, l);
    say_counted_as(o, l->kernel);
    for (int i = 0; i < l->n; i++) out_life(o, l, &l->life[i]);
    out_text(o, "Predicted by a simulation of one multiprocessor, with the latencies of the model.");
    if (l->n == 1 && l->of_sm < l->blocks_most)
        out_text(o, "Each multiprocessor has only so few blocks; a larger matrix shows more occupancies.");
    say_part(o, l);
    modeled_remarks(s, &g, l->sampled);
}

/* ---- the keys of the rows ---- */

static const struct field sm_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "the kernel"},
    {"launch", F_TEXT, "the launch with the most steps"},
    {.include = &row_precision},
    {"machine", F_TEXT, "GPU that the prediction is for"},
    {"machine_here", F_BOOLEAN, "whether the GPU is in this machine and its ceilings were measured"},
    {"warps", F_COUNT, "warps at a time: the occupancy", .min = 1, .max = 64},
    {"blocks_at_once", F_COUNT, "blocks at a time", .min = 1, .max = 32},
    {"warps_per_block", F_COUNT, "warps per block", .min = 1, .max = 32},
    {"blocks", F_COUNT, "blocks simulated", .min = 1},
    {"blocks_of_sm", F_COUNT, "blocks that one multiprocessor gets", .min = 1},
    {"blocks_most", F_COUNT, "blocks that a multiprocessor can hold at a time", .min = 1},
    {"limited_by", F_TEXT, "what limits the number of blocks that a multiprocessor can hold",
     .names = residency_limit_names, .name_count = RESIDENCY_LIMITS},
    {"registers", F_COUNT, "registers per thread, as nvcc compiled the kernel", .min = 1},
    {"time_us", F_AMOUNT, "time of the simulated blocks, in us"},
    {"all_blocks_us", F_AMOUNT | OR_NULL,
     "time of all blocks of the multiprocessor, at the rate of those that were simulated, in us; null: not known, "
     "because one of these takes much longer than the others"},
    {"ready_percent", F_AMOUNT, "share of the time in which at least one warp is ready", .max = 100.001},
    {"memory_percent", F_AMOUNT, "share of the time in which none is ready, as far as the warps wait for memory",
     .max = 100.001},
    {"barrier_percent", F_AMOUNT, "the same, as far as they wait at a barrier", .max = 100.001},
    {"working_percent", F_AMOUNT, "the same, as far as they do arithmetic or access shared memory", .max = 100.001},
    {"empty_percent", F_AMOUNT, "share of the time in which no block runs", .max = 100.001},
    {"mean_ready", F_AMOUNT, "ready warps on average"},
    {"mean_resident", F_AMOUNT, "warps on average that have not finished"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {"ready", F_LIST, "ready, in 60 equal parts of the time: warps on average", .item = F_NUMBER},
    {"working", F_LIST, "arithmetic, shared memory, collectives, in 60 equal parts of the time: warps on average",
     .item = F_NUMBER},
    {"memory", F_LIST, "waiting for memory, in 60 equal parts of the time: warps on average", .item = F_NUMBER},
    {"barrier", F_LIST, "at a barrier, in 60 equal parts of the time: warps on average", .item = F_NUMBER},
    {"finished", F_LIST, "finished, in a block that runs, in 60 equal parts of the time: warps on average",
     .item = F_NUMBER},
    {"empty", F_LIST, "slots without a block, in 60 equal parts of the time: warps on average", .item = F_NUMBER},
    {0},
};
const struct row_kind row_sm = {"sm", "the warps of one multiprocessor over time, predicted, one row per occupancy",
                                sm_fields};
