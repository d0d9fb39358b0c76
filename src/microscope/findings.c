/* The causes of a kernel's time. The cost of a cause is the predicted time minus the time predicted without the
   cause. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "modeled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SECTORS = 4 }; /* sectors of a line of a cache */

/* The counts of a kernel, summed over all launches, from which the causes are computed. */
struct sums {
    const struct modeled *k;
    const struct csr *A;
    const struct work *main; /* the launch that takes longest */
    struct tally loads, stores, atomics, x, values, shared;
    double active;   /* mean active lanes per step */
    double least_us; /* the predicted time on a matrix of one entry */
};

static void add(struct tally *to, struct tally t)
{
    tally_add(to, &t, 1);
}

static const struct work *main_launch(const struct modeled *k)
{
    const struct work *best = &k->work.launch[0];
    double most = -1;
    for (int l = 0; l < k->work.n; l++) {
        struct workload one = k->work;
        one.n = 1;
        one.launch[0] = k->work.launch[l];
        double us = one.launch[0].blocks ? model_predict(&one, &k->on).us : 0;
        if (us > most) most = us, best = &k->work.launch[l];
    }
    return best;
}

/* The predicted time of the kernel on a matrix of one entry: what it takes before it does any work. That is the launch
   and the loads that each block waits for, however little there is to do. */
static double least_us(const struct modeled *k)
{
    struct csr one = {0};
    struct packed p = {0};
    struct err unseen = {0};
    struct modeled *least = mem_new(1, sizeof *least, "a prediction", NULL);
    double us = k->time.launch_us;
    bool ok = least && !k->kernel->remote && csr_new(&one, 1, 1, 1, precisions[k->real].is_complex, &unseen);
    if (ok) {
        one.rowptr[0] = one.col[0] = 0;
        one.rowptr[1] = 1;
        one.val[0] = 1;
        ok = modeled_csr(&one, k->kernel, NULL, k->real, &k->on, NULL, &p, least, &unseen);
    }
    if (ok) us = fmax(us, least->time.us);
    packed_free(&p);
    csr_free(&one);
    mem_free(least);
    return us;
}

static struct sums sums_of(const struct modeled *k, const struct csr *A)
{
    struct sums s = {.k = k, .A = A, .main = main_launch(k), .least_us = least_us(k)};
    const struct counts *c = &k->counts;
    double active = 0, steps = 0;
    add(&s.loads, counts_of(c, ACCESS_LOAD, -1, -1));
    add(&s.loads, counts_of(c, ACCESS_TEXTURE, -1, -1));
    add(&s.stores, counts_of(c, ACCESS_STORE, -1, -1));
    add(&s.atomics, counts_of(c, ACCESS_ATOMIC, -1, -1));
    for (int t = ACCESS_SHARED_LOAD; t <= ACCESS_SHARED_ATOMIC; t++)
        add(&s.shared, counts_of(c, (enum access_kind)t, -1, -1));
    for (int a = 0; a < c->scope.narrays; a++) {
        enum role role = c->scope.array[a].role;
        if (role != ROLE_X && role != ROLE_VALUES) continue;
        add(role == ROLE_X ? &s.x : &s.values, counts_of(c, ACCESS_LOAD, a, -1));
        add(role == ROLE_X ? &s.x : &s.values, counts_of(c, ACCESS_TEXTURE, a, -1));
    }
    for (int l = 0; l < c->scope.nlaunches; l++) {
        active += (double)c->launch[l].active;
        steps += (double)c->launch[l].steps;
    }
    s.active = steps > 0 ? active / steps : 0;
    return s;
}

static double share(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* ---- the kernel without a cause ---- */

/* Remove the fraction `less` of the waits, steps and bytes of all launches. */
static void without_share(struct workload *w, double less)
{
    for (int l = 0; l < w->n; l++) {
        struct work *k = &w->launch[l];
        for (int q = 0; q < WAITS; q++) k->wait[q] *= 1 - less, k->longest[q] *= 1 - less;
        k->steps *= 1 - less;
        k->lines *= 1 - less;
        k->l2_loads *= 1 - less;
        k->l2_lines *= 1 - less;
        k->lost *= 1 - less;
        k->footprint *= 1 - less;
    }
    w->footprint *= 1 - less;
    w->in_lines *= 1 - less;
}

static double padding_share(const struct sums *s)
{
    return share((double)s->loads.padding, (double)s->loads.sectors * SECTOR);
}

static void no_padding(const struct sums *s, struct workload *w)
{
    without_share(w, padding_share(s));
}

/* Limit the time of each block to the mean of its launch. */
static void no_long_block(const struct sums *s, struct workload *w)
{
    for (int l = 0; l < w->n; l++)
        for (int q = 0; q < WAITS; q++) {
            double mean = w->launch[l].blocks ? w->launch[l].wait[q] / (double)w->launch[l].blocks : 0;
            if (w->launch[l].longest[q] > mean) w->launch[l].longest[q] = mean;
        }
}

static void no_long_row(const struct sums *s, struct workload *w)
{
    if (s->main->longest_row < 0 || s->k->kernel->shares) return;
    if ((double)csr_row_length(s->A, s->main->longest_row) < 4 * share((double)s->A->nnz, (double)s->A->rows) + 16)
        return;
    no_long_block(s, w);
}

static void no_imbalance(const struct sums *s, struct workload *w)
{
    struct workload with = *w;
    const struct work *m = s->main;
    if (m->longest[WAIT_STEP] < 1.5 * share(m->wait[WAIT_STEP], (double)m->blocks)) return;
    no_long_row(s, &with);
    if (memcmp(&with, w, sizeof with) == 0) no_long_block(s, w); /* only if no long row explains the longest block */
}

/* The fraction of sectors that would be saved if neighbouring lanes loaded neighbouring elements. Loads of x are not
   counted. */
static double scattered_share(const struct sums *s)
{
    double sectors = (double)(s->loads.sectors - s->x.sectors), bytes = (double)(s->loads.bytes - s->x.bytes);
    return sectors > 0 ? fmax(0, 1 - bytes / SECTOR / sectors) : 0;
}

/* If all lanes loaded values, proportionally fewer steps would do. Where the lanes of a warp share a row, a warp would
   have more rows, or longer ones, and fewer warps would do, too. Lanes that each have a row of their own look up as
   many lines as before. */
static void no_idle_lanes(const struct sums *s, struct workload *w)
{
    double lanes = share((double)s->values.lanes, (double)s->values.requests), less = 1 - lanes / LANES;
    bool apart = 2 * s->values.sectors > s->values.lanes; /* most lanes load a sector of their own */
    double shared = apart ? 0 : less;
    for (int l = 0; l < w->n && lanes > 0; l++) {
        struct work *k = &w->launch[l];
        k->blocks -= (int64_t)((double)k->blocks * shared);
        k->steps *= 1 - less;
        k->lines *= 1 - shared;
        for (int q = 0; q < WAITS; q++) k->wait[q] *= 1 - less;
    }
}

/* The share of x in the loads that a warp waits for one after another: pointers, indices and x. */
static double waits_for_x(const struct sums *s)
{
    return share((double)s->x.requests, (double)(s->loads.requests - s->values.requests));
}

/* A request waits for its slowest sector, so that fewer sectors per request do not shorten the waits. On the contrary,
   each request then needs new sectors, where scattered lanes find most of theirs in L1. */
static void no_scatter(const struct sums *s, struct workload *w)
{
    double less = scattered_share(s) * share((double)(s->loads.sectors - s->x.sectors), (double)s->loads.sectors);
    double indices = 1 - waits_for_x(s);
    for (int l = 0; l < w->n; l++) {
        struct work *k = &w->launch[l];
        double most = k->sectors > 0 ? fmin(1, k->footprint / SECTOR / k->sectors)
                                     : 1; /* the fraction of the sectors that must be fetched in any case */
        k->lines *= 1 - less;
        k->lost *= 1 - less;
        k->l2_loads -= fmax(0, k->l2_loads - k->gathered) * less * (1 - most);
        k->l2_lines -= fmax(0, k->l2_lines - k->gathered_lines) * less * (1 - most);
        k->wait[WAIT_FIRST] += less * indices * k->wait[WAIT_L1];
        k->wait[WAIT_L1] *= 1 - less * indices;
    }
}

/* The share of the requests for x that wait for L2 or memory, on the slowest warp of a block, if `sectors` of x come
   from there. If each warp makes a single request, one request of the block's warps is enough. */
static double slow_requests(const struct sums *s, const struct work *k, double sectors)
{
    double warps = ceil((double)k->threads / LANES), requests = (double)s->x.requests;
    double of_warp = fmax(1, requests / ((double)k->blocks * warps));
    return fmin(1, (1 + (warps - 1) / of_warp) * share(sectors, requests));
}

/* The lines of the requests for x if the lanes of each request read x in order. */
static double lines_in_order(const struct sums *s, const struct work *k)
{
    double least = fmax((double)s->x.requests, (double)s->x.bytes / (LINE_SECTORS * SECTOR));
    return k->x_lines * fmin(1, share(least, (double)s->x.sectors));
}

/* Remove the cost of gathering x, as if x were read once, in order. */
static void no_gather(const struct sums *s, struct workload *w)
{
    double once = (double)s->A->cols * (double)type_size(precisions[s->k->real].vector) / SECTOR;
    w->again = 0;
    for (int l = 0; l < w->n; l++) {
        struct work *k = &w->launch[l];
        if (k->gathered <= once) continue;
        double more = k->gathered - once;
        double part = waits_for_x(s) * (1 - slow_requests(s, k, once) / slow_requests(s, k, k->gathered));
        k->l2_loads -= more;
        k->l2_lines -= fmax(0, k->gathered_lines - once / LINE_SECTORS);
        k->wait[WAIT_L2] *= 1 - part;
        k->wait[WAIT_FIRST] *= 1 - part;
        k->lines -= fmax(0, k->x_lines - lines_in_order(s, k));
    }
}

/* As if the lanes of a warp added to elements side by side, and all rows got as many atomics. A counter that hands out
   work is left out altogether. */
static void no_atomics(const struct sums *s, struct workload *w)
{
    double item = (double)type_size(precisions[s->k->real].vector), sectors = item * (double)s->A->rows / SECTOR;
    for (int l = 0; l < w->n; l++) {
        struct work *k = &w->launch[l];
        bool counter = s->k->kernel->shares;
        k->hot = counter ? 0 : fmin(k->hot, model_even_hot(k->atomics, sectors));
        k->atomic_sectors = counter ? 0 : fmin(k->atomic_sectors, k->atomics * item / SECTOR);
    }
}

static void no_conflicts(const struct sums *s, struct workload *w)
{
    double less = 1 - share((double)s->shared.wavefronts_least, (double)s->shared.wavefronts);
    for (int l = 0; l < w->n && s->shared.wavefronts; l++) {
        w->launch[l].wait[WAIT_SHARED] *= 1 - less;
        w->launch[l].longest[WAIT_SHARED] *= 1 - less;
    }
}

/* Remove all waits, as if enough warps were running to hide the waits; bytes and instructions remain. */
static void no_waits(const struct sums *s, struct workload *w)
{
    struct workload with = *w;
    no_long_block(s, &with);
    for (int l = 0; l < w->n; l++)
        for (int q = 0; q < WAITS; q++) {
            w->launch[l].wait[q] = 0;
            w->launch[l].longest[q] -= with.launch[l].longest[q]; /* a long row is a separate cause */
        }
}

/* Remove half of the bytes of the matrix: a product cannot do without any, but values can be stored in fewer bits. The
   bytes of x and y remain. */
static void half_bytes(const struct sums *s, struct workload *w)
{
    double vectors = (double)((s->A->cols + s->A->rows) * (int64_t)type_size(precisions[s->k->real].vector));
    for (int l = 0; l < w->n; l++) {
        struct work *k = &w->launch[l];
        k->l2_loads -= fmax(0, k->l2_loads - k->gathered) / 2;
        k->l2_lines -= fmax(0, k->l2_lines - k->gathered_lines) / 2;
        k->lost /= 2;
        k->footprint -= fmax(0, k->footprint - vectors) / 2;
    }
    w->footprint -= fmax(0, w->footprint - vectors) / 2;
    w->in_lines -= fmax(0, w->in_lines - vectors) / 2;
}

/* ---- text and remedy of each cause ---- */

#define TEXT(f, ...) snprintf((f)->text, sizeof(f)->text, __VA_ARGS__)
#define REMEDY(f, ...) snprintf((f)->remedy, sizeof(f)->remedy, __VA_ARGS__)

static double mean_row(const struct sums *s)
{
    return share((double)s->A->nnz, (double)s->A->rows);
}

static int64_t longest_of(const struct csr *A, int64_t *row)
{
    int64_t most = 0;
    *row = 0;
    for (int64_t i = 0; i < A->rows; i++)
        if (csr_row_length(A, i) > most) most = csr_row_length(A, i), *row = i;
    return most;
}

static const struct format *spilling_format(void)
{
    const struct format *const *f = formats;
    while (!(*f)->spills) f++;
    return *f;
}

/* The number of slots per nonzero if A were stored in format f with the default width. */
static double slots_per_nonzero(const struct csr *A, const struct format *f, int64_t *width)
{
    struct plan p;
    struct err unseen = {0};
    if (!format_plan(A, f, NULL, P_F64, &p, &unseen)) return NAN;
    *width = p.shape.param[0];
    return share((double)p.slots, (double)A->nnz);
}

static void say_padding(const struct sums *s, struct finding *f)
{
    int64_t row, width = 0, most = longest_of(s->A, &row);
    const struct plan *p = &s->k->plan;
    const struct format *spills = spilling_format();
    double stored = share((double)p->slots, (double)s->A->nnz), less = slots_per_nonzero(s->A, spills, &width);
    TEXT(f,
         "%.0f%% of the %lld slots of %s are padding, which takes %.0f%% of the bytes read: row %lld has %lld entries, "
         "and the mean is %.1f",
         100 * share((double)p->padding, (double)p->slots), (long long)p->slots, p->shape.format->name,
         100 * padding_share(s), (long long)row, (long long)most, mean_row(s));
    if (!p->shape.format->spills && less < stored)
        REMEDY(f, "%s with width %lld would store %.2f slots per nonzero; %s stores %.2f, csr stores 1", spills->name,
               (long long)width, less, p->shape.format->name, stored);
    else
        REMEDY(f, "csr stores no padding");
}

static void say_long_row(const struct sums *s, struct finding *f)
{
    const struct work *w = s->main;
    int64_t row = w->longest_row;
    double times = share(w->longest[WAIT_STEP], share(w->wait[WAIT_STEP], (double)w->blocks));
    TEXT(f,
         "row %lld has %lld entries, and the mean is %.1f: block %lld, which stores this row, waits %.*f times as "
         "long as the average block and finishes last",
         (long long)row, (long long)csr_row_length(s->A, row), mean_row(s), (long long)w->longest_block,
         times < 9.95 ? 1 : 0, times);
    REMEDY(f, "split long rows across threads, or partition by nonzeros");
}

static void say_imbalance(const struct sums *s, struct finding *f)
{
    const struct work *w = s->main;
    char which[32] = "one block";
    /* Where blocks take rows dynamically, the longest block has no number. */
    if (w->longest_block >= 0) snprintf(which, sizeof which, "block %lld", (long long)w->longest_block);
    TEXT(f,
         "%s of %lld takes %.0f steps, and the average block takes %.0f: the other multiprocessors are idle at the end",
         which, (long long)w->blocks, w->longest[WAIT_STEP], share(w->wait[WAIT_STEP], (double)w->blocks));
    REMEDY(f, "sort rows by length, or partition by nonzeros");
}

static void say_idle(const struct sums *s, struct finding *f)
{
    TEXT(f, "on average %.1f of 32 lanes are active in a load of values; rows have %.1f entries",
         share((double)s->values.lanes, (double)s->values.requests), mean_row(s));
    REMEDY(f, "use fewer threads per row, or partition by nonzeros");
}

static void say_scatter(const struct sums *s, struct finding *f)
{
    double sectors = (double)(s->loads.sectors - s->x.sectors), requests = (double)(s->loads.requests - s->x.requests);
    TEXT(f,
         "a warp's request for the matrix fetches %.1f sectors of 32 bytes, but the requested bytes would fill only "
         "%.1f sectors: the lanes read addresses that are far apart",
         share(sectors, requests), share((double)(s->loads.bytes - s->x.bytes) / SECTOR, requests));
    REMEDY(f, "let neighbouring lanes read neighbouring elements, along rows or stored columns first");
}

/* Reordering saves only part of the cost of x, and sorting the matrix takes time, so reordering is not suggested if x
   costs less than this share of the time. */
#define REORDER_PAYS 0.15

static void say_gather(const struct sums *s, struct finding *f)
{
    TEXT(f,
         "x is gathered: %.2f sectors of 32 bytes for each nonzero, %.1f per request; reading x in order would take "
         "%.2f per nonzero",
         share((double)s->x.sectors, (double)s->A->nnz), share((double)s->x.sectors, (double)s->x.requests),
         (double)type_size(precisions[s->k->real].vector) / SECTOR);
    if (f->us > REORDER_PAYS * s->k->time.us)
        REMEDY(f, "bring columns of neighbouring rows together: `whatif reorder rcm` predicts what that gains%s",
               precisions[s->k->real].part == T_F64 ? "; fp32 halves x" : "");
}

static void say_atomics(const struct sums *s, struct finding *f)
{
    double hot = 0, all = (double)s->atomics.lanes;
    for (int l = 0; l < s->k->work.n; l++) hot = fmax(hot, s->k->work.launch[l].hottest);
    if (!s->k->kernel->shares) { /* each atomic adds one or more entries to the y of its row */
        all = fmin(all, (double)s->k->plan.slots);
        hot = fmin(hot, (double)csr_most_entries(s->A, SECTOR / (int64_t)type_size(precisions[s->k->real].vector)));
    }
    TEXT(f,
         "%.0f atomics, %.0f%% of which wait for another lane of the warp at the same address; up to %.0f go to one "
         "sector, one after another",
         all, 100 * share((double)s->atomics.contended, (double)s->atomics.lanes), hot);
    REMEDY(f, "sum within the warp first, or let one thread own each row");
}

static void say_launches(const struct sums *s, struct finding *f)
{
    int n = 0;
    char us[32];
    for (int l = 0; l < s->k->work.n; l++) n += s->k->work.launch[l].blocks > 0;
    TEXT(f, "%s cost%s %s before any work is done", how_many(n, "launch").text, n == 1 ? "s" : "",
         show_us(f->us, us, sizeof us));
    REMEDY(f, n > 1 ? "use a kernel with one launch, a larger matrix, or several SpMVs per launch"
                    : "nothing to fix in the kernel; use a larger matrix or several SpMVs per launch");
}

static void say_conflicts(const struct sums *s, struct finding *f)
{
    TEXT(f, "%lld shared-memory wavefronts; %lld without bank conflicts", (long long)s->shared.wavefronts,
         (long long)s->shared.wavefronts_least);
    REMEDY(f, "pad the shared array so that the lanes of a warp use different banks");
}

static void say_waits(const struct sums *s, struct finding *f)
{
    const struct work *w = s->main;
    double loads = w->longest[WAIT_L1] + w->longest[WAIT_L2] + w->longest[WAIT_FIRST];
    double full = (double)w->blocks * (double)w->threads / ((double)s->k->on.is.threads * s->k->on.sms);
    struct counted blocks = how_many(w->blocks, "block"), chain = how_many(llround(loads), "load");
    if (full < 1)
        TEXT(f,
             "warps wait for dependent loads (pointer, column, x) in chains of up to %s, and the launch "
             "(%s of %lld threads) fills only %.2g%% of the GPU",
             chain.text, blocks.text, (long long)w->threads, fmin(99, 100 * full));
    else
        TEXT(f,
             "warps wait for dependent loads (pointer, column, x) in chains of up to %s, which other warps hide only "
             "partly; %s would fill the GPU %.1f times",
             chain.text, blocks.text, full);
    REMEDY(f, full < 1 ? "a larger matrix fills the GPU; more threads per row shorten the chain"
                       : "more threads per row shorten the chain");
}

/* Bytes from L2 divided by the bytes that must move: up to this ratio, better access gains nothing. */
#define NEAR_MIN 1.15

/* How to make the values of the matrix smaller, in a precision that the kernel takes. */
static const char *fewer_bits(const struct modeled *k)
{
    bool wide = precisions[k->real].part == T_F64;
    if (precisions[k->real].narrow) return "store fewer entries";
    if (precisions[k->real].is_complex || !kernel_takes(k->kernel, P_NARROW, NULL))
        return wide ? "use fp32" : "store fewer entries";
    return wide ? "use fp32, store the values in fewer bits (`bench precisions`)"
                : "store the values in fewer bits (`bench precisions`)";
}

static void say_bytes(const struct sums *s, struct finding *f)
{
    char l2[32], dram[32], least[32];
    const struct modeled *k = s->k;
    bool memory = k->time.dram_bytes > 0 && k->time.bound_us[BOUND_DRAM] >= k->time.bound_us[BOUND_L2];
    TEXT(f,
         "%s: %s from L2, %s of that from memory; at least %s must move%s; half of the bytes of "
         "the matrix cost this time",
         memory ? "bound by memory bandwidth" : "bound by the bandwidth of the L2 cache",
         show_bytes(k->time.l2_bytes, l2, sizeof l2), show_bytes(k->time.dram_bytes, dram, sizeof dram),
         show_bytes((double)k->bytes, least, sizeof least),
         k->time.l2_bytes < NEAR_MIN * (double)k->bytes ? ": as good as it gets with these bytes" : "");
    REMEDY(f,
           "to move fewer bytes, %s or use a format with fewer or narrower indices (packed, bsell, bsr, dia, "
           "dia-symmetric)",
           fewer_bits(k));
}

/* Is there more padding than entries? Padding costs memory even if the kernel does not read it. */
static bool pads_much(const struct sums *s)
{
    return s->k->plan.padding > s->A->nnz;
}

/* A kernel is suggested only if its predicted time is below this fraction of the current kernel's. */
#define FASTER 0.97

static const struct rule {
    const char *cause;
    /* remove the cause; NULL: the cause is the cost of the launches */
    void (*without)(const struct sums *s, struct workload *w);
    void (*say)(const struct sums *s, struct finding *f);
    bool (*also)(const struct sums *s); /* report the cause even if it costs no time; may be NULL */
    const char *instead[INSTEAD_MAX];   /* kernels that apply the remedy */
} rules[] = {
    {"padding", no_padding, say_padding, pads_much, {"hyb", "csr-vector", "csr-stream", "csr-ends"}},
    {"long row", no_long_row, say_long_row, NULL, {"csr-ends", "csr-merge", "coo-segmented", "csr-vector"}},
    {"imbalance", no_imbalance, say_imbalance, NULL, {"sell", "sc-csr", "csr-ends"}},
    {"idle lanes", no_idle_lanes, say_idle, NULL, {"csr-cusp", "csr-stream", "csr-ends"}},
    {"uncoalesced loads", no_scatter, say_scatter, NULL, {"csr-vector", "csr-stream", "ell", "sell"}},
    {"x gather", no_gather, say_gather, NULL, {NULL}},
    {"atomics", no_atomics, say_atomics, NULL, {"coo-segmented", "csr-vector", "csr-stream", "csr-ends"}},
    {"bank conflicts", no_conflicts, say_conflicts, NULL, {"csr-stream-padded"}},
    {"launches", NULL, say_launches, NULL, {NULL}},
    {"waits", no_waits, say_waits, NULL, {"csr-vector", "csr-stream", "csr-ends"}},
    {"bytes", half_bytes, say_bytes, NULL, {NULL}},
};

const char *finding_cause(int i)
{
    return i < COUNT(rules) ? rules[i].cause : NULL;
}

bool finding_names(const struct finding *f, const char *kernel)
{
    for (int i = 0; i < INSTEAD_MAX && f->instead[i]; i++)
        if (!strcmp(f->instead[i], kernel)) return true;
    return false;
}

void finding_finish(struct finding *f, const struct modeled *k, const struct modeled *other, int n)
{
    char us[32];
    int named = 0;
    if (!f->instead[0]) return;
    for (int i = 0; i < n; i++) {
        size_t used = strlen(f->remedy);
        if (!finding_names(f, other[i].kernel->name) || other[i].kernel == k->kernel) continue;
        if (other[i].time.us > FASTER * k->time.us) continue;
        snprintf(f->remedy + used, sizeof f->remedy - used, "%s %s %s", named++ ? "," : ":", other[i].kernel->name,
                 show_us(other[i].time.us, us, sizeof us));
    }
    if (!named) *f->remedy = 0;
}

static int costlier(const void *a, const void *b)
{
    double x = ((const struct finding *)a)->us, y = ((const struct finding *)b)->us;
    return (x < y) - (x > y);
}

/* Do the waits of blocks take at least half as long as any other limit of the time? */
static bool waits_matter(const struct modeled *k)
{
    const double *us = k->time.bound_us;
    double rate = 0;
    for (int b = BOUND_DRAM; b <= BOUND_ATOMICS; b++) rate = fmax(rate, us[b]);
    return 2 * us[BOUND_LATENCY] >= rate;
}

/* What the waits take of the time, if the model says `us`. The first waits are those of a launch with nothing to do. If
   all blocks run at the same time, the model leaves too much without waits: on an H100, as many blocks more on each
   multiprocessor took about half of that (tests/kits/experiments.c). */
static double waits_us(const struct sums *s, double us)
{
    const struct modeled *k = s->k;
    double left = k->time.us - k->time.launch_us - us;
    bool one_wave = (double)s->main->blocks <= k->on.sms * model_resident(&k->on, s->main);
    return us + (one_wave && waits_matter(k) ? left / 2 : 0) - (s->least_us - k->time.launch_us);
}

/* A cause that takes less than this share of the time is not listed: the prediction itself may be wrong by as much. */
#define SAVING_MIN 0.05

int findings_of(const struct modeled *k, const struct csr *A, struct finding out[FINDINGS_MAX])
{
    struct sums s = sums_of(k, A);
    struct workload *w = mem_new(1, sizeof *w, "a workload without one cause", NULL);
    int n = 0;
    for (int r = 0; r < COUNT(rules) && w; r++) {
        *w = k->work;
        if (rules[r].without) rules[r].without(&s, w);
        double us = rules[r].without ? k->time.us - model_without(&k->work, w, &k->on) : s.least_us;
        if (rules[r].without == no_waits) us = waits_us(&s, us);
        if (us < SAVING_MIN * k->time.us && !(rules[r].also && rules[r].also(&s))) continue;
        out[n] = (struct finding){.cause = rules[r].cause, .us = us, .instead = rules[r].instead};
        rules[r].say(&s, &out[n++]);
    }
    mem_free(w);
    qsort(out, (size_t)n, sizeof *out, costlier);
    return n;
}
