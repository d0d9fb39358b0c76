/* The experiments that test the causes of `explain`: see experiments.h. */
#include <stdio.h>

#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "experiments.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csc.h"
#include "formats/fmt_sell.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "microscope/model_watch.h"

#include <math.h>
#include <string.h>

/* A change that an experiment does not intend may take this share of the claimed time, or of the kernel's time. */
static const double SIDE_EFFECT = 0.1;

/* The timer of a GPU counts in steps of this length. */
static const double TICK_US = 0.032;

/* ---- trials ---- */

void trial_free(struct trial *t)
{
    csr_free(&t->A);
    stored_free(&t->S);
    mem_free(t->k);
    *t = (struct trial){0};
}

bool trial_watch(struct trial *t, const struct machine *g, struct err *e)
{
    int64_t own[PARAMS_MAX];
    struct mat M = {0};
    struct device *emu = device_open("emu", e);
    if (!emu || !modeled_can(t->kernel, &t->A, e) || !kernel_takes(t->kernel, t->real, e)) return false;
    const int64_t *param = kernel_params(t->kernel, NULL, &t->A, t->real, g->sms, own);
    if (!format_pack(&t->A, t->kernel->format, param, t->real, false, &t->S, e)) return false;
    if (t->edit) t->edit(&t->S);
    t->k = mem_new(1, sizeof *t->k, "a prediction", e);
    bool ok = t->k && mat_put(&M, &t->S, emu, e) && modeled_mat(&t->A, &M, t->kernel, 0, g, NULL, t->k, e);
    if (M.dev) mat_free(&M);
    return ok;
}

struct product {
    const struct kernel *kernel;
    struct launch launch;
};

static bool launch_product(void *ctx, struct err *e)
{
    const struct product *p = ctx;
    return kernel_launch(p->kernel, &p->launch, e);
}

static bool put_ones(struct device *d, void *to, int64_t n, enum precision real, struct err *e)
{
    struct array a = {.type = precisions[real].part, .n = n};
    a.data = mem_new(n, type_size(a.type), "a vector of ones", e);
    for (int64_t i = 0; a.data && i < n; i++) put_real(&a, i, 1);
    bool ok = a.data && d->ops->put(d, to, a.data, n * (int64_t)type_size(a.type), e);
    mem_free(a.data);
    return ok;
}

/* One round. The result is not checked: other programs check every kernel. */
static bool time_round(const struct trial *t, struct device *gpu, double *us, struct err *e)
{
    struct mat M = {0};
    double spread;
    int reps = TRIAL_REPS;
    int64_t size = (int64_t)type_size(precisions[t->real].vector);
    if (!mat_put(&M, &t->S, gpu, e)) return false;
    void *x = mat_col_vectors(&M, 1, size, "the vector x", e), *y = mat_row_vectors(&M, 1, size, "the vector y", e);
    struct product p = {t->kernel, {.A = &M, .alpha = 1, .x = x, .y = y}};
    struct timed timed = {.dev = gpu, .name = t->kernel->name, .go = launch_product, .ctx = &p};
    bool ok = x && y && put_ones(gpu, x, t->S.cols, t->real, e) && bench_times(&timed, &reps, NULL, us, &spread, e);
    if (x) gpu->ops->free(gpu, x);
    if (y) gpu->ops->free(gpu, y);
    mat_free(&M);
    return ok;
}

bool trial_time(const struct trial *t, struct device *gpu, struct trial_us *out, struct err *e)
{
    double us[TRIAL_ROUNDS], least = INFINITY, most = 0, sum = 0;
    for (int i = 0; i < TRIAL_ROUNDS; i++) {
        if (!time_round(t, gpu, &us[i], e)) return false;
        least = fmin(least, us[i]);
        most = fmax(most, us[i]);
        sum += us[i];
    }
    _Static_assert(TRIAL_ROUNDS == 3, "the median of three is what is neither least nor most");
    *out = (struct trial_us){sum - least - most, fmax((most - least) / 2, TICK_US / 2)};
    return true;
}

/* ---- quantities ---- */

const char *const quantity_names[QUANTITIES] = {"bytes of padding",
                                                "unevenness of blocks",
                                                "idle lanes",
                                                "uncoalesced sectors",
                                                "scattered sectors of x",
                                                "atomics that meet",
                                                "bank conflicts",
                                                "requests",
                                                "bytes of values",
                                                "entries",
                                                "sectors of x read at least once",
                                                "gathered sectors",
                                                "other sectors",
                                                "lanes with atomics",
                                                "stored sectors",
                                                "waits",
                                                "launches"};

/* The totals of one kind of access to all arrays of a role. */
static struct tally of_role(const struct modeled *k, enum access_kind kind, enum role role)
{
    struct tally sum = {0};
    for (int a = 0; a < k->counts.scope.narrays; a++) {
        if (k->counts.scope.array[a].role != role) continue;
        struct tally t = counts_of(&k->counts, kind, a, -1);
        tally_add(&sum, &t, 1);
    }
    return sum;
}

static struct tally loads_of(const struct modeled *k, enum role role)
{
    struct tally sum = of_role(k, ACCESS_LOAD, role), texture = of_role(k, ACCESS_TEXTURE, role);
    tally_add(&sum, &texture, 1);
    return sum;
}

static struct tally all_loads(const struct modeled *k)
{
    struct tally sum = counts_of(&k->counts, ACCESS_LOAD, -1, -1);
    struct tally texture = counts_of(&k->counts, ACCESS_TEXTURE, -1, -1);
    tally_add(&sum, &texture, 1);
    return sum;
}

static double padding(const struct trial *t)
{
    return (double)all_loads(t->k).padding;
}

static double idle_lanes(const struct trial *t)
{
    struct tally all = all_loads(t->k);
    return (double)(LANES * all.requests - all.lanes);
}

static double scatter(const struct trial *t)
{
    struct tally all = all_loads(t->k), x = loads_of(t->k, ROLE_X);
    return fmax(0, (double)(all.sectors - x.sectors) - (double)(all.bytes - x.bytes) / SECTOR);
}

/* The atomics to a counter hand out rows. */
static double meetings(const struct trial *t)
{
    double counter = 0;
    const struct counts *c = &t->k->counts;
    for (int a = 0; a < c->scope.narrays; a++)
        if (c->scope.array[a].integral) counter += (double)counts_of(c, ACCESS_ATOMIC, a, -1).lanes;
    return (double)counts_of(c, ACCESS_ATOMIC, -1, -1).contended + counter;
}

static double conflicts(const struct trial *t)
{
    double sum = 0;
    for (int kind = ACCESS_SHARED_LOAD; kind <= ACCESS_SHARED_ATOMIC; kind++) {
        struct tally shared = counts_of(&t->k->counts, (enum access_kind)kind, -1, -1);
        sum += (double)(shared.wavefronts - shared.wavefronts_least);
    }
    return sum;
}

static double values(const struct trial *t)
{
    return (double)loads_of(t->k, ROLE_VALUES).bytes;
}

static double entries(const struct trial *t)
{
    return (double)t->A.nnz;
}

static double atomics(const struct trial *t)
{
    return (double)of_role(t->k, ACCESS_ATOMIC, ROLE_Y).lanes;
}

/* Blocks that wait up to this many times as long as the average block are even. */
static const double UNEVEN = 1.2;

static double unevenness(const struct trial *t)
{
    double sum = 0;
    for (int l = 0; l < t->k->work.n; l++) {
        const struct work *w = &t->k->work.launch[l];
        if (w->blocks) sum += fmax(0, model_cost(w->longest) - UNEVEN * model_cost(w->wait) / (double)w->blocks);
    }
    return sum;
}

static double gathers(const struct trial *t)
{
    double sum = 0;
    for (int l = 0; l < t->k->work.n; l++) sum += t->k->work.launch[l].gathered;
    return sum;
}

static double bytes_of_x(const struct trial *t)
{
    return (double)(t->A.cols * (int64_t)type_size(precisions[t->real].vector));
}

static double scatter_of_x(const struct trial *t)
{
    struct tally x = loads_of(t->k, ROLE_X);
    double beyond = fmax(0, gathers(t) - bytes_of_x(t) / SECTOR);
    return beyond + fmax(0, (double)x.sectors - (double)x.bytes / SECTOR);
}

static double whole_x(const struct trial *t)
{
    return fmin(gathers(t), bytes_of_x(t) / SECTOR);
}

static double streams(const struct trial *t)
{
    double sum = 0;
    for (int l = 0; l < t->k->work.n; l++) sum += t->k->work.launch[l].l2_loads - t->k->work.launch[l].gathered;
    return sum;
}

static double stores(const struct trial *t)
{
    double sum = 0;
    for (int l = 0; l < t->k->work.n; l++) sum += t->k->work.launch[l].l2_stores;
    return sum;
}

static double work(const struct trial *t)
{
    double sum = 0;
    for (int l = 0; l < t->k->work.n; l++) sum += t->k->work.launch[l].steps;
    return sum;
}

static double waiting(const struct trial *t)
{
    return 1000 * t->k->time.bound_us[BOUND_LATENCY];
}

static double launches(const struct trial *t)
{
    int n = 0;
    for (int l = 0; l < t->k->work.n; l++) n += t->k->work.launch[l].blocks > 0;
    return (double)n;
}

double quantity_of(const struct trial *t, enum quantity q)
{
    static double (*const of[QUANTITIES])(const struct trial *) = {
        [PADDING] = padding, [UNEVENNESS] = unevenness, [IDLE_LANES] = idle_lanes,
        [SCATTER] = scatter, [GATHERS] = gathers,       [SCATTER_OF_X] = scatter_of_x,
        [WHOLE_X] = whole_x, [MEETINGS] = meetings,     [CONFLICTS] = conflicts,
        [WORK] = work,       [VALUES] = values,         [ENTRIES] = entries,
        [STREAMS] = streams, [ATOMICS] = atomics,       [STORES] = stores,
        [WAITING] = waiting, [LAUNCHES] = launches,
    };
    return of[q](t);
}

/* ---- matrices with the same entries in other rows ---- */

/* The entries of A in their order, in rows of the given lengths, whose sum must be A->nnz. Columns are not sorted
   again, so that each entry gathers the same element of x. */
static bool cut(struct csr *out, const struct csr *A, int64_t rows, const int *length, struct err *e)
{
    if (!csr_new(out, rows, A->cols, A->nnz, false, e)) return false;
    out->rowptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) out->rowptr[i + 1] = out->rowptr[i] + length[i];
    memcpy(out->col, A->col, (size_t)A->nnz * sizeof *A->col);
    memcpy(out->val, A->val, (size_t)A->nnz * sizeof *A->val);
    return true;
}

/* Part i of n nearly equal parts of a whole. */
static int part(int64_t whole, int64_t n, int64_t i)
{
    return (int)((i + 1) * whole / n - i * whole / n);
}

/* The lengths of A's rows, levelled within each group of neighbouring rows. */
static void level(const struct csr *A, int64_t group, int *length)
{
    for (int64_t i = 0; i < A->rows; i += group) {
        int64_t end = i + group < A->rows ? i + group : A->rows;
        for (int64_t k = i; k < end; k++) length[k] = part(A->rowptr[end] - A->rowptr[i], end - i, k - i);
    }
}

/* The lengths of A's rows, but what is beyond `most` in a row goes to the rows that are shorter, in equal parts. */
static void shorten(const struct csr *A, int64_t most, int *length)
{
    int64_t beyond = 0, others = 0, other = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t n = csr_row_length(A, i);
        beyond += n > most ? n - most : 0;
        others += n < most;
    }
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t n = csr_row_length(A, i);
        length[i] = (int)(n < most ? n + part(beyond, others, other++) : most);
    }
}

static bool by_columns(const struct trial *t)
{
    return t->kernel->format == &format_csc;
}

/* Cut with->A into rows of the lengths that `set` writes; a kernel that works by columns gets other columns. */
static bool recut(const struct trial *with, int64_t rows, void (*set)(const struct csr *, int64_t, int *),
                  int64_t number, struct trial *without, struct err *e)
{
    struct csr T = {0}, cut_T = {0};
    if (by_columns(with) && !csr_transpose(&T, &with->A, e)) return false;
    const struct csr *A = by_columns(with) ? &T : &with->A;
    if (!rows) rows = A->rows;
    int *length = mem_new(rows, sizeof *length, "the lengths of rows", e);
    if (length) set(A, number, length);
    bool ok = length && cut(by_columns(with) ? &cut_T : &without->A, A, rows, length, e);
    if (ok && by_columns(with)) ok = csr_transpose(&without->A, &cut_T, e);
    mem_free(length);
    csr_free(&T);
    csr_free(&cut_T);
    return ok;
}

/* ---- the experiments ----
   Each comment says what the experiment changes and what it keeps. */

/* padding: the same entries in rows of equal length, within each window of rows that the format sorts. Without padding,
   the kernel loads the same entries and gathers the same elements of x. */
static bool level_windows(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    int64_t window = with->kernel->format == &format_sell ? with->S.param[1] : with->A.rows;
    if (padding(with) == 0) return fail(e, E_UNSUPPORTED, "the kernel reads no padding");
    return recut(with, 0, level, window > 0 ? window : with->A.rows, without, e);
}

/* long row: no row is longer than 4 mean rows and 16 entries, as in findings.c. The entries beyond go to the other
   rows, in order. The kernel loads the same entries in as many rows. */
static bool shorten_rows(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    return recut(with, 0, shorten, 4 * with->A.nnz / with->A.rows + 16, without, e);
}

/* imbalance: the same entries in as many rows, of equal length. */
static bool level_rows(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    return recut(with, 0, level, by_columns(with) ? with->A.cols : with->A.rows, without, e);
}

/* idle lanes, one row per lane: the same entries in rows whose length is the same within each warp. */
static bool level_warps(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    return recut(with, 0, level, LANES, without, e);
}

static void level_all(const struct csr *A, int64_t rows, int *length)
{
    for (int64_t i = 0; i < rows; i++) length[i] = part(A->nnz, rows, i);
}

/* idle lanes, several lanes per row: the same entries in rows that are longer by the share of idle lanes, so that their
   last step has no idle lanes. There are fewer rows, and fewer loads of pointers and stores of y. */
static bool fill_lanes(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    struct tally v = loads_of(with->k, ROLE_VALUES);
    double length = (double)with->A.nnz / (double)with->A.rows * (double)(LANES * v.requests) / (double)v.lanes;
    int64_t rows = (int64_t)fmax(1, (double)with->A.nnz / round(length));
    if (by_columns(with)) return fail(e, E_UNSUPPORTED, "the number of columns is that of the elements of x");
    return recut(with, rows, level_all, rows, without, e);
}

/* The kernel that differs only in the cause: the second one of the pair. */
static bool twin(const struct trial *with, const char *const (*pairs)[2], struct trial *without, struct err *e)
{
    for (; (*pairs)[0]; pairs++)
        if (!strcmp((*pairs)[0], with->kernel->name)) without->kernel = kernel_find((*pairs)[1]);
    return without->kernel != with->kernel ||
           fail(e, E_UNSUPPORTED, "no kernel differs from %s in this only", with->kernel->name);
}

/* uncoalesced loads: the kernel whose lanes do the same work, and whose format stores what neighbouring lanes load side
   by side. */
static bool side_by_side_padded(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    static const char *const pairs[][2] = {{"csr-scalar", "ell-padded"}, {NULL, NULL}};
    return twin(with, pairs, without, e);
}

/* The same if rows are padded: the twin stops at the end of a row, but its loads of a row wait for each other. */
static bool side_by_side(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    static const char *const pairs[][2] = {{"csr-scalar", "ell"}, {NULL, NULL}};
    return twin(with, pairs, without, e);
}

/* The entries of row i get the columns from step * i on. The rows are as long as before. */
static bool columns_from(const struct trial *with, double step, struct trial *without, struct err *e)
{
    const struct csr *A = &with->A;
    struct csr *B = &without->A;
    if (!csr_copy(B, A, e)) return false;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i], col = (int64_t)(step * (double)i); k < A->rowptr[i + 1]; k++)
            B->col[k] = (int)(col++ % A->cols);
    return true;
}

/* x gather: row i has the columns from i on, so that neighbouring lanes gather neighbouring elements of x, whether they
   are in a row or in neighbouring rows. */
static bool columns_in_order(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    return columns_from(with, 1, without, e);
}

/* The same for several lanes per row, if A has many more columns than rows: the rows cover all of x. */
static bool columns_in_proportion(const struct trial *with, const struct machine *g, struct trial *without,
                                  struct err *e)
{
    return columns_from(with, (double)with->A.cols / (double)with->A.rows, without, e);
}

/* atomics: each entry adds to another row than the lanes beside it. All other arrays are as before. */
static void rows_by_entry(struct stored *S)
{
    int k = S->format == &format_csc ? CSC_ROW : COO_ROW;
    int *row = S->a[k].data;
    for (int64_t i = 0; i < S->a[k].n; i++) row[i] = (int)(i % S->rows);
}

/* The same if each lane has a column: entry k of column c adds to row c + 32 k. */
static void rows_by_column(struct stored *S)
{
    const int *start = S->a[CSC_PTR].data;
    int *row = S->a[CSC_ROW].data;
    for (int64_t c = 0; c < S->cols; c++)
        for (int64_t k = start[c]; k < start[c + 1]; k++) row[k] = (int)((c + LANES * (k - start[c])) % S->rows);
}

static bool atomics_apart(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    static const struct {
        const char *kernel;
        void (*edit)(struct stored *S);
    } edits[] = {{"coo-atomic", rows_by_entry}, {"csc-atomic", rows_by_column}, {"csc-vector", rows_by_entry}};
    for (int i = 0; i < COUNT(edits); i++)
        if (!strcmp(edits[i].kernel, with->kernel->name)) without->edit = edits[i].edit;
    return without->edit ||
           fail(e, E_UNSUPPORTED, "the atomics of %s come from the order of its rows", with->kernel->name);
}

/* atomics to a counter that hands out rows: the kernel whose threads do the same, but have fixed rows. */
static bool fixed_rows(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    static const char *const pairs[][2] = {
        {"csr-light-vector", "csr-cusp"}, {"csr-light-warp", "csr-cusp"}, {NULL, NULL}};
    return twin(with, pairs, without, e);
}

/* bank conflicts: the kernel that differs only in where it stores its products in shared memory. */
static bool padded_banks(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    static const char *const pairs[][2] = {{"csr-stream", "csr-stream-padded"}, {NULL, NULL}};
    return twin(with, pairs, without, e);
}

/* launches: the same kernel on a matrix of one row, on which there is nothing else to do. */
static bool nothing_to_do(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    if (!csr_new(&without->A, 1, 1, 1, false, e)) return false;
    without->A.rowptr[0] = without->A.col[0] = 0;
    without->A.rowptr[1] = 1;
    without->A.val[0] = 1;
    return true;
}

bool trial_of_launches(const struct trial *t, struct trial *out, struct err *e)
{
    *out = (struct trial){.kernel = t->kernel, .real = t->real};
    return nothing_to_do(t, NULL, out, e);
}

/* bytes: the same kernel with values of 2 bytes instead of 8; x, y and the sums stay in fp64. */
static bool narrow_values(const struct trial *with, const struct machine *g, struct trial *without, struct err *e)
{
    without->real = P_BF16_F64;
    return kernel_takes(with->kernel, P_BF16_F64, NULL) ||
           fail(e, E_UNSUPPORTED, "%s takes no values of 2 bytes", with->kernel->name);
}

/* ---- waits ---- */

/* Row i of `rows` rows that represent the `all` rows of a matrix: stretches of neighbouring rows, evenly spread, or all
   rows again and again. */
static int64_t spread_row(int64_t i, int64_t rows, int64_t all)
{
    enum { STRETCH = 1024 };
    int64_t stretches = (rows + STRETCH - 1) / STRETCH;
    return rows < all ? (i / STRETCH * all / stretches + i % STRETCH) % all : i % all;
}

static bool rows_of(const struct csr *A, int64_t rows, struct csr *out, struct err *e)
{
    int64_t nnz = 0;
    for (int64_t i = 0; i < rows; i++) nnz += csr_row_length(A, spread_row(i, rows, A->rows));
    if (!csr_new(out, rows, A->cols, nnz, false, e)) return false;
    out->rowptr[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = spread_row(i, rows, A->rows), n = csr_row_length(A, row), at = out->rowptr[i];
        out->rowptr[i + 1] = (int)(at + n);
        memcpy(out->col + at, A->col + A->rowptr[row], (size_t)n * sizeof *A->col);
        memcpy(out->val + at, A->val + A->rowptr[row], (size_t)n * sizeof *A->val);
    }
    return true;
}

/* The given number of rows of with->A, or of columns for a kernel that works by columns. */
static bool resize(const struct trial *with, int64_t rows, struct csr *out, struct err *e)
{
    struct csr T = {0}, some = {0};
    if (!by_columns(with)) return rows_of(&with->A, rows, out, e);
    bool ok = csr_transpose(&T, &with->A, e) && rows_of(&T, rows, &some, e) && csr_transpose(out, &some, e);
    csr_free(&some);
    csr_free(&T);
    return ok;
}

/* Per entry, L2 must deliver as many sectors as before. */
static bool same_traffic(const struct trial *with, const struct trial *t, struct err *e)
{
    double before = (streams(with) + gathers(with)) / entries(with), after = (streams(t) + gathers(t)) / entries(t);
    return fabs(after / before - 1) <= 2 * SIDE_EFFECT ||
           fail(e, E_UNSUPPORTED, "sectors of an entry: %+.0f%%", 100 * (after / before - 1));
}

/* A kernel may give its blocks more rows instead of starting more blocks. */
static bool has_blocks(const struct trial *t, double blocks, struct err *e)
{
    double has = (double)workload_busiest(&t->k->work)->blocks;
    return fabs(has / blocks - 1) <= SIDE_EFFECT ||
           fail(e, E_UNSUPPORTED, "%s does not start more blocks for more rows", t->kernel->name);
}

/* The time of the kernel on so many rows, of which it must make so many blocks, measured on gpu or predicted, and the
   number of their entries. */
static bool time_of_rows(const struct trial *with, int64_t rows, double blocks, const struct machine *g,
                         struct device *gpu, struct trial_us *out, double *nnz, struct err *e)
{
    struct trial t = {.kernel = with->kernel, .real = with->real};
    bool ok = resize(with, rows, &t.A, e) && trial_watch(&t, g, e) && has_blocks(&t, blocks, e) &&
              same_traffic(with, &t, e) && (!gpu || trial_time(&t, gpu, out, e));
    if (ok && !gpu) *out = (struct trial_us){t.k->time.us, 0};
    *nnz = (double)t.A.nnz;
    trial_free(&t);
    return ok;
}

/* waits: 2n blocks on each multiprocessor, all at the same time, wait as long as n blocks do, so that n more blocks
   take only the time of their bytes and instructions. From this follows the time of all blocks if none of them waited.
   This holds for a launch whose blocks all run at the same time: blocks that follow one another are out of step, and
   use different parts of a multiprocessor at the same time, while blocks in step take turns. The rows of the matrix are
   used as often as it takes, and must stay in L2 in any case. */
static bool more_blocks(const struct trial *with, const struct machine *g, struct device *gpu, struct trial_us *out,
                        struct err *e)
{
    enum { MAX = 8 };
    const struct work *w = workload_busiest(&with->k->work);
    double layers = (double)w->blocks / g->sms, rows = (double)(by_columns(with) ? with->A.cols : with->A.rows);
    double l2 = 0.8e6 * g->is.l2_mb / g->is.l2_copies, nnz_of[2];
    struct trial_us of[2];
    int64_t n = (int64_t)fmin(MAX, fmin(model_resident(g, w), l2 / (with->k->work.footprint / layers)) / 2);
    if (with->kernel->shares) return fail(e, E_UNSUPPORTED, "the number of warps does not depend on that of rows");
    if (layers > model_resident(g, w))
        return fail(e, E_UNSUPPORTED,
                    "blocks follow one another: they are out of step, those of the experiment are not");
    if (with->k->time.dram_bytes > SIDE_EFFECT / 4 * with->k->time.l2_bytes)
        return fail(e, E_UNSUPPORTED, "a part of the matrix would stay in L2, the matrix does not");
    if (n < 1) return fail(e, E_UNSUPPORTED, "a multiprocessor holds a single block, or its rows do not stay in L2");
    if (unevenness(with) > 1000 * SIDE_EFFECT * with->k->time.us)
        return fail(e, E_UNSUPPORTED, "one block waits longer than the others");
    for (int k = 0; k < 2; k++)
        if (!time_of_rows(with, (int64_t)(rows / layers * (double)(n << k)), (double)((n << k) * g->sms), g, gpu,
                          &of[k], &nnz_of[k], e))
            return false;
    /* a launch of fewer blocks than multiprocessors takes as long as one block on each of them */
    double times = entries(with) / (nnz_of[1] - nnz_of[0]) * fmax(1, 1 / layers);
    *out = (struct trial_us){times * (of[1].us - of[0].us), times * hypot(of[0].error, of[1].error)};
    return true;
}

/* ---- gains ---- */

/* Two kernels may have different launches. What is left of the cause is assumed to take its share. */
static double difference(const struct gained *t)
{
    return ((t->with_us - t->with_launch_us) - (t->without_us - t->without_launch_us)) / t->removed;
}

static double all_of_it(const struct gained *t)
{
    return t->without_us;
}

/* The claim is for half of the bytes of the matrix. */
static double for_half(const struct gained *t)
{
    const struct trial *with = t->with, *without = t->without;
    double xy = bytes_of_x(with) + (double)(with->A.rows * (int64_t)type_size(precisions[with->real].vector));
    double part = 1 - streams(without) / streams(with);
    if (with->k->time.bound_us[BOUND_DRAM] > with->k->time.bound_us[BOUND_L2])
        part = 1 - (without->k->work.footprint - xy) / (with->k->work.footprint - xy);
    return (t->with_us - t->without_us) * 0.5 / part;
}

#define KEEPS(q) (1u << (q))
enum {
    LOADED = KEEPS(ENTRIES) | KEEPS(GATHERS) | KEEPS(LAUNCHES),
    LOADS = KEEPS(ENTRIES) | KEEPS(GATHERS) | KEEPS(STREAMS),
    ORDERED = KEEPS(ENTRIES) | KEEPS(STREAMS) | KEEPS(WHOLE_X) | KEEPS(WORK) | KEEPS(LAUNCHES),
    SAME = LOADS | KEEPS(WORK) | KEEPS(ATOMICS) | KEEPS(LAUNCHES)
};

const struct experiment experiments[] = {
    {"padding", level_windows, NULL, difference, PADDING, 0.4, LOADED | KEEPS(UNEVENNESS), 0.2},
    {"long row", shorten_rows, NULL, difference, UNEVENNESS, 0.2, LOADS | KEEPS(LAUNCHES), 0.1},
    {"imbalance", level_rows, NULL, difference, UNEVENNESS, 0.4, SAME, 0.1},
    {"idle lanes", level_warps, NULL, difference, IDLE_LANES, 0.4,
     LOADS | KEEPS(MEETINGS) | KEEPS(UNEVENNESS) | KEEPS(LAUNCHES), 0.1},
    {"idle lanes", fill_lanes, NULL, difference, IDLE_LANES, 0.4,
     LOADS | KEEPS(MEETINGS) | KEEPS(UNEVENNESS) | KEEPS(LAUNCHES), 0.1},
    {"uncoalesced loads", side_by_side_padded, NULL, difference, SCATTER, 0.3, LOADED | KEEPS(WORK) | KEEPS(WAITING),
     0.15},
    {"uncoalesced loads", side_by_side, NULL, difference, SCATTER, 0.3, LOADED | KEEPS(WORK) | KEEPS(WAITING), 0.15},
    {"x gather", columns_in_order, NULL, difference, SCATTER_OF_X, 0.5, ORDERED, 0.15},
    {"x gather", columns_in_proportion, NULL, difference, SCATTER_OF_X, 0.5, ORDERED, 0.15},
    {"atomics", atomics_apart, NULL, difference, MEETINGS, 0.1, SAME, 0.05},
    {"atomics", fixed_rows, NULL, difference, MEETINGS, 0.1, LOADS, 0.1},
    {"bank conflicts", padded_banks, NULL, difference, CONFLICTS, 0.2, SAME, 0.05},
    {"launches", nothing_to_do, NULL, all_of_it, WORK, 0.1, KEEPS(LAUNCHES), 0},
    {"waits", NULL, more_blocks, difference, WORK, 1, 0, 0},
    {"bytes", narrow_values, NULL, for_half, VALUES, 0.6,
     KEEPS(ENTRIES) | KEEPS(WORK) | KEEPS(LAUNCHES) | KEEPS(SCATTER), 0.1},
    {0},
};

const struct experiment *experiment_next(const char *cause, const struct experiment *after)
{
    const struct experiment *x = after ? after + 1 : experiments;
    while (x->cause && strcmp(x->cause, cause) != 0) x++;
    return x->cause ? x : NULL;
}

bool experiment_alter(const struct experiment *x, const struct trial *with, const struct machine *g,
                      struct trial *without, struct err *e)
{
    *without = (struct trial){.kernel = with->kernel, .real = with->real};
    bool ok = x->alter(with, g, without, e) && (without->A.rowptr || csr_copy(&without->A, &with->A, e)) &&
              trial_watch(without, g, e);
    if (!ok) trial_free(without);
    return ok;
}

double experiment_removed(const struct experiment *x, const struct trial *with, const struct trial *without)
{
    return x->rest ? 1 : 1 - quantity_of(without, x->removes) / quantity_of(with, x->removes);
}

/* The time in us of a changed number of sectors at the rate of L2, or of changed waits; infinite for other quantities.
 */
static double side_effect_us(enum quantity q, double change, const struct machine *g)
{
    if (q == UNEVENNESS || q == WAITING) return fabs(change) / 1000;
    bool sectors = q == GATHERS || q == STREAMS || q == STORES || q == SCATTER;
    return sectors ? fabs(change) * SECTOR / g->c.cache_gbs / 1000 : INFINITY;
}

bool experiment_is_clean(const struct experiment *x, const struct trial *with, const struct trial *without,
                         double claimed_us, struct err *e)
{
    double before = quantity_of(with, x->removes), left = quantity_of(without, x->removes);
    if (before <= 0) return fail(e, E_UNSUPPORTED, "there are no %s to remove", quantity_names[x->removes]);
    if (left > x->left * before)
        return fail(e, E_UNSUPPORTED, "%.0f%% of the %s are left", 100 * left / before, quantity_names[x->removes]);
    for (int q = 0; q < QUANTITIES; q++) {
        double a = quantity_of(with, q), change = quantity_of(without, q) - a;
        if (!(x->keeps & KEEPS(q)) || fabs(change) <= x->kept * a) continue;
        if (side_effect_us(q, change, &with->k->on) > SIDE_EFFECT * claimed_us)
            return fail(e, E_UNSUPPORTED, "%s: %+.0f%%", quantity_names[q], 100 * change / a);
    }
    return true;
}

const struct experiment *experiment_find(const struct finding *f, const struct trial *with, const struct machine *g,
                                         struct trial *without, struct err *e)
{
    const struct experiment *x = NULL;
    struct err why = {0}; /* that an experiment is not clean says more than that another one does not suit the kernel */
    bool suits = false;
    while ((x = experiment_next(f->cause, x))) {
        struct err now = {0};
        *without = (struct trial){0};
        if (x->rest) return x;
        bool made = experiment_alter(x, with, g, without, &now);
        if (made && experiment_is_clean(x, with, without, f->us, &now)) return x;
        trial_free(without);
        if (made || !suits) why = now;
        suits |= made;
    }
    fail(e, E_UNSUPPORTED, "%s", why.code ? why.text : "there is no experiment for this cause");
    return NULL;
}
