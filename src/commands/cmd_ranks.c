/* ranks: processes of PETSc on one machine or many: start and end them, show the partition and the log; multiply. */
#include "cmd_ranks.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "language/options.h"
#include "machine/device_sorts.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "ranks/ranks.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_ranks.h"
#include "session/spmv.h"

#include <math.h>
#include <string.h>

enum { RANKS_MAX = 1000000 };
static const double wait_s = 60; /* for the greeting, unless the user says otherwise */

bool on_ranks(const struct args *a)
{
    return arg(a, "on") && !strcmp(arg(a, "on"), device_ranks);
}

/* ---- starting and ending ---- */

/* The hosts, each once, as words, as far as they fit. */
static void hosts_of(const struct ranks *r, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < r->n; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++) seen = !strcmp(r->rank[k].host, r->rank[i].host);
        if (seen) continue;
        bool fits = strlen(out) + strlen(r->rank[i].host) + 2 < size;
        if (fits) text_append(out, size, "%s%s", *out ? " " : "", r->rank[i].host);
    }
}

static const struct matrix *held_by(const struct session *s, const struct ranks *r)
{
    const struct matrix *m = s->matrices;
    while (m && m->number != r->loaded) m = m->next;
    return r->loaded ? m : NULL;
}

static void out_state(struct session *s)
{
    struct out *o = s->out;
    const struct ranks *r = s->ranks;
    const struct matrix *m = r ? held_by(s, r) : NULL;
    char hosts[400] = "";
    if (r) hosts_of(r, hosts, sizeof hosts);
    out_record(o);
    out_bool(o, "running", NULL, r != NULL);
    out_int_if(o, "ranks", "ranks", r != NULL, r ? r->n : 0);
    out_str(o, "launcher", "launcher", r ? r->launcher : option_value(s, OPTION_LAUNCHER));
    out_str(o, "petsc", r ? "PETSc" : NULL, r ? r->petsc : NULL);
    out_words(o, "hosts", r ? "hosts" : NULL, hosts);
    out_str(o, "folder", r ? "files in" : NULL, r ? r->folder : NULL);
    out_str(o, "matrix", m ? "hold" : NULL, m ? m->name : NULL);
    if (!r) out_text(o, "no ranks are running; `ranks 4` starts 4");
}

static bool start(struct session *s, int64_t n, double wait, struct err *e)
{
    if (s->ranks)
        return fail(e, E_USAGE, "%s running already; `ranks off` ends them",
                    s->ranks->n == 1 ? "1 rank is" : how_many(s->ranks->n, "rank").text);
    struct ranks *r = NULL;
    if (!ranks_start(&r, option_value(s, OPTION_LAUNCHER), (int)n, wait, &s->watch, e)) return false;
    session_swap_ranks(s, r);
    out_state(s);
    return true;
}

static bool run_off(struct session *s, struct err *e)
{
    if (!s->ranks) return fail(e, E_USAGE, "no ranks are running");
    session_end_ranks(s);
    out_state(s);
    return true;
}

/* ---- the partition ---- */

/* "0: 30, 2: 30", as far as it fits. */
static void owners_of(const struct rank *r, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < r->nfrom; i++) {
        if (strlen(out) + 30 > size) {
            text_append(out, size, ", ...");
            return;
        }
        text_append(out, size, "%s%d: %lld", i ? ", " : "", r->from[i].rank, (long long)r->from[i].columns);
    }
}

static void out_rank_row(struct out *o, const struct matrix *m, const struct ranks *r, int i)
{
    const struct rank *p = &r->rank[i];
    char owners[120];
    owners_of(p, owners, sizeof owners);
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_int(o, "rank", "rank", i);
    out_str(o, "host", "host", p->host);
    out_int(o, "pid", NULL, p->pid);
    out_int(o, "first_row", "first row", p->first);
    out_int(o, "rows", "rows", p->rows);
    out_int(o, "inside", "inside", p->inside);
    out_int(o, "outside", "outside", p->outside);
    out_int(o, "halo", "halo", p->halo);
    out_int(o, "gives", "gives", p->gives);
    out_int(o, "owners", NULL, p->nfrom);
    out_int(o, "takers", NULL, p->nto);
    out_str(o, NULL, "halo by owner", owners);
    out_list(o, "halo_by_owner");
    for (int k = 0; k < p->nfrom && out_within(o, "halo_by_owner"); k++) {
        out_int(o, "rank", NULL, p->from[k].rank);
        out_int(o, "columns", NULL, p->from[k].columns);
    }
    out_without(o);
}

/* Below the table: what a product moves, and how even the parts are. */
static void say_totals(struct out *o, const struct ranks *r)
{
    int64_t nnz = 0, most = 0, halo = 0, most_halo = 0, messages = 0;
    char bytes[32], write[32], load[32];
    for (int i = 0; i < r->n; i++) {
        int64_t own = r->rank[i].inside + r->rank[i].outside;
        nnz += own;
        halo += r->rank[i].halo;
        messages += r->rank[i].nfrom;
        if (own > most) most = own;
        if (r->rank[i].halo > most_halo) most_halo = r->rank[i].halo;
    }
    out_text(
        o,
        "A product moves %s of x between ranks, in %s; at most %s. The largest part has %.3g times the mean of the "
        "nonzeros.",
        show_bytes(8.0 * (double)halo, bytes, sizeof bytes), how_many(messages, "message").text,
        how_many(most_halo, "column").text, nnz ? (double)most * r->n / (double)nnz : 1);
    out_text(o,
             "Counted by PETSc. Inside: nonzeros whose column the rank owns; halo: columns that it needs from others. "
             "Written in %s, read in parallel in %s.",
             show_us(r->write_us, write, sizeof write), show_us(r->load_us, load, sizeof load));
}

static bool run_parts(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct ranks *r = m ? session_ranks(s, m, e) : NULL;
    if (!r) return false;
    for (int i = 0; i < r->n; i++) out_rank_row(s->out, m, r, i);
    say_totals(s->out, r);
    return true;
}

/* ---- the log ---- */

static double ratio(double most, double least)
{
    return least > 0 ? most / least : NAN;
}

static void out_event(struct out *o, const struct rank_event *v)
{
    out_row(o);
    out_str(o, "phase", "phase", v->phase);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "event", "event", v->event);
    out_num(o, "calls", "calls", v->calls, "%.0f");
    out_num(o, "time_ms_max", "ms", 1e3 * v->time_max, "%.3f");
    out_num(o, "time_ms_min", NULL, 1e3 * v->time_min, NULL);
    out_num(o, "time_ratio", "ms max/min", ratio(v->time_max, v->time_min), "%.2f");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "mflop", "Mflop", v->flops / 1e6, "%.3g");
    out_num(o, "flops_ratio", "flop max/min", ratio(v->flops_max, v->flops_min), "%.2f");
    out_num(o, "messages", "messages", v->messages, "%.0f");
    out_num(o, "bytes", "bytes", v->bytes, "%.0f");
    out_num(o, "reductions", "reductions", v->reductions, "%.0f");
}

static bool run_log(struct session *s, struct err *e)
{
    struct rank_event *events;
    int n;
    struct ranks *r = session_ranks(s, NULL, e);
    if (!r) return false;
    if (!ranks_log(r, &events, &n, &s->watch, e)) return session_ranks_failed(s);
    for (int i = 0; i < n; i++) out_event(s->out, &events[i]);
    mem_free(events);
    if (!n)
        out_text(s->out, "the ranks have done nothing yet; `spmv on ranks` or `solve cg on ranks`");
    else
        out_text(s->out,
                 "Logged by PETSc for the last load, product, set-up and solve: ms of the slowest rank, and how "
                 "many times that of the fastest; messages and bytes of all ranks. Events contain each other.");
    return true;
}

/* ---- the command ---- */

static bool run_ranks(struct session *s, const struct args *a, struct err *e)
{
    int64_t n;
    double wait = arg_real(a, "wait", wait_s);
    bool begin = arg(a, "n") || arg_flag(a, "start");
    session_ranks_failed(s); /* forget ranks that have ended */
    if (!arg_within(a, "n", 0, 1, RANKS_MAX, &n, e)) return false;
    if (!(wait > 0)) return fail(e, E_USAGE, "wait is %g: give a time above 0, in seconds", wait);
    if (arg(a, "matrix") && !arg_flag(a, "parts"))
        return fail(e, E_USAGE, "`ranks parts %s` shows how the ranks share a matrix", arg(a, "matrix"));
    if (begin) return start(s, n, wait, e);
    if (arg_flag(a, "off")) return run_off(s, e);
    if (arg_flag(a, "parts")) return run_parts(s, a, e);
    if (arg_flag(a, "log")) return run_log(s, e);
    out_state(s);
    return true;
}

/* ---- spmv on ranks ---- */

static bool check_spmv(const struct args *a, struct err *e)
{
    static const char *const keys[] = {"using", "params", "kernel", "alpha", "beta", "y0", "precision"};
    const char *word = arg_flag(a, "transposed") ? "transposed" : NULL;
    for (int i = 0; i < COUNT(keys); i++) word = arg(a, keys[i]) ? keys[i] : word;
    if (arg_flag(a, "f32")) word = "f32";
    return !word ||
           fail(e, E_USAGE, "`%s` is not for the ranks: they compute y = A x in fp64 by PETSc's MatMult", word);
}

struct product_times {
    double us, spread_us, first_us;
    int64_t n;
};

/* The minimum traffic of CSR: each nonzero and row pointer, x and y once. */
static double csr_traffic(const struct csr *A)
{
    return 12.0 * (double)A->nnz + 4.0 * (double)A->rows + 8.0 * (double)(A->rows + A->cols);
}

static void out_product(struct out *o, const struct matrix *m, const struct ranks *r, const struct product_times *t,
                        const struct verdict *v)
{
    double halo = 0, bytes = csr_traffic(&m->csr);
    for (int i = 0; i < r->n; i++) halo += 8.0 * (double)r->rank[i].halo;
    out_record(o);
    out_str(o, "matrix", "matrix", m->name);
    out_str(o, "device", "device", device_ranks);
    out_int(o, "ranks", "ranks", r->n);
    out_str(o, "kernel", "kernel", "MatMult");
    out_str(o, "petsc", "PETSc", r->petsc);
    out_str(o, "precision", "precision", precision_of(&m->csr, P_F64));
    out_time(o, "time_us", "time", t->us);
    out_time(o, "spread_us", "+-", t->spread_us);
    out_time(o, "first_us", "first", t->first_us);
    out_int(o, "reps", "repetitions", t->n);
    out_num(o, "bytes", "bytes", bytes, "%.0f");
    out_num(o, "gbs", "GB/s", bytes / t->us / 1e3, "%.2f");
    out_num(o, "gflops", "GFLOP/s", 2 * (double)m->csr.nnz / t->us / 1e3, "%.2f");
    out_num(o, "halo_bytes", "bytes between ranks", halo, "%.0f");
    out_num(o, "error", "error", v->relative, "%.1e");
    out_num(o, "error_to_bound", "worst error / bound", v->worst, "%.3g");
    out_text(o, "The time is the median of the times of the slowest rank, measured between two barriers.");
}

static bool check_product(const struct csr *A, const double *x, const double *y, double *room, struct verdict *v,
                          struct err *e)
{
    double *ref = room, *bound = room + A->rows;
    reference_spmv(A, 1, x, 0, ref, P_F64, bound);
    *v = verdict_of(A->rows, y, ref, bound);
    return product_is_right(v, "the product of the ranks", e);
}

static bool multiply(struct session *s, struct matrix *m, struct ranks *r, int64_t reps, struct err *e)
{
    const struct csr *A = &m->csr;
    struct verdict v;
    struct product_times t = {0};
    double *x = mem_new(A->cols, sizeof *x, "the vectors of a product", e);
    double *y = x ? mem_new(3 * A->rows, sizeof *y, "the vectors of a product", e) : NULL;
    double *us = y ? mem_new(RANKS_REPS_MAX, sizeof *us, "the times of a product", e) : NULL;
    bool ok = us != NULL;
    if (ok) random_fill(x, A->cols, 1);
    if (ok && !ranks_multiply(r, x, y, reps, us, &t.n, &s->watch, e)) ok = session_ranks_failed(s);
    if (ok) {
        t.first_us = us[0];
        t.us = times_median(t.n, us, &t.spread_us);
    }
    ok = ok && check_product(A, x, y, y + A->rows, &v, e);
    if (ok) out_product(s->out, m, r, &t, &v);
    mem_free(us);
    mem_free(y);
    mem_free(x);
    return ok;
}

bool run_spmv_ranks(struct session *s, const struct args *a, struct err *e)
{
    int64_t reps;
    if (!check_spmv(a, e) || !arg_within(a, "reps", 0, 0, RANKS_REPS_MAX, &reps, e)) return false;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct ranks *r = m && in_parts_refused(m, "ranks read from a file", e) ? session_ranks(s, m, e) : NULL;
    return r && multiply(s, m, r, reps, e);
}

/* ---- the keys of the rows ---- */

static const struct field ranks_state_fields[] = {
    {"running", F_BOOLEAN, "whether ranks are running"},
    {"ranks", F_COUNT | OR_NULL, "their number; null: none", .min = 1, .on = "ranks"},
    {"launcher", F_TEXT, "the command that starts them, without -n"},
    {"petsc", F_TEXT | OR_NULL, "version of PETSc; null: none are running", .on = "ranks"},
    {"hosts", F_LIST, "the machines on which they run; empty: none are running", .item = F_TEXT},
    {"folder", F_TEXT | OR_NULL, "the folder of the files of matrix and vectors; null: none are running",
     .on = "ranks"},
    {"matrix", F_TEXT | OR_NULL, "the matrix that they hold; null: none", .on = "ranks"},
    {0},
};
static const struct row_kind row_ranks_state = {"state", "the processes of PETSc", ranks_state_fields};

static const struct field ranks_part_halo_by_owner_fields[] = {
    {"rank", F_COUNT, "the owner"},
    {"columns", F_COUNT, "elements of x from there", .min = 1},
    {0},
};
static const struct field ranks_part_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"rank", F_COUNT, "number of the rank"},
    {"host", F_TEXT, "its machine"},
    {"pid", F_COUNT, "its process there", .min = 1},
    {"first_row", F_COUNT, "its first row, counted from 0"},
    {"rows", F_COUNT, "its rows"},
    {"inside", F_COUNT, "its nonzeros in columns that it owns"},
    {"outside", F_COUNT, "its nonzeros in columns of other ranks"},
    {"halo", F_COUNT, "elements of x that it needs from other ranks"},
    {"gives", F_COUNT, "elements of x that it sends, counted per receiver"},
    {"owners", F_COUNT, "ranks from which it receives"},
    {"takers", F_COUNT, "ranks to which it sends"},
    {"halo_by_owner", F_LIST, "its halo by the rank that owns it", .item = F_OBJECT,
     .of = ranks_part_halo_by_owner_fields},
    {0},
};
static const struct row_kind row_ranks_part = {"part", "a rank and its part of the matrix, as PETSc counts it",
                                               ranks_part_fields, .on = "ranks"};

static const struct field ranks_event_fields[] = {
    {"phase", F_TEXT, "the phase", .words = "load, product, set-up, solve"},
    {"event", F_TEXT, "PETSc's name of the event"},
    {"calls", F_COUNT, "calls, on the rank that has the most"},
    {"time_ms_max", F_AMOUNT, "time of the slowest rank, in ms"},
    {"time_ms_min", F_AMOUNT, "time of the fastest rank, in ms"},
    {"time_ratio", F_AMOUNT | OR_NULL, "their ratio; null: no time was measured", .min = 1},
    {"mflop", F_AMOUNT, "operations of all ranks, in 10^6"},
    {"flops_ratio", F_AMOUNT | OR_NULL, "most / least of a rank; null: none", .min = 1},
    {"messages", F_COUNT, "messages sent by all ranks"},
    {"bytes", F_COUNT, "bytes sent by all ranks"},
    {"reductions", F_COUNT, "reductions over all ranks"},
    {0},
};
static const struct row_kind row_ranks_event = {"event",
                                                "an event that PETSc logged in the last load, product, set-up or solve",
                                                ranks_event_fields, .on = "ranks"};

static const struct field spmv_on_ranks_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"device", F_TEXT, "the device", .words = "ranks"},
    {"ranks", F_COUNT, "processes of PETSc", .min = 1},
    {"kernel", F_TEXT, "PETSc's function", .words = "MatMult"},
    {"petsc", F_TEXT, "version of PETSc"},
    {.include = &row_precision},
    {"time_us", F_AMOUNT, "median time of a product in us: that of the slowest rank, between two barriers"},
    {"spread_us", F_AMOUNT, "half the interquartile range of the times, in us"},
    {"first_us", F_AMOUNT, "time of the first product after the warm-up, in us"},
    {"reps", F_COUNT, "products that were timed", .min = 1},
    {"bytes", F_COUNT, "minimum traffic: the arrays of CSR, x and y once"},
    {"gbs", F_AMOUNT, "bytes / time_us, in GB/s, of all ranks"},
    {"gflops", F_AMOUNT, "2 nonzeros / time_us, in GFLOP/s, of all ranks"},
    {"halo_bytes", F_COUNT, "bytes of x that a product moves between ranks"},
    {"error", F_AMOUNT | OR_NULL, "relative 2-norm of the error of y"},
    {"error_to_bound", F_AMOUNT, "the largest error of a row, relative to its rounding-error bound"},
    {0},
};
const struct row_kind row_spmv_on_ranks = {"on_ranks", "PETSc's product on the ranks that `ranks` started",
                                           spmv_on_ranks_fields, .on = "ranks"};

const struct command command_ranks = {
    .name = "ranks",
    .grammar = "[N] [start|off|parts|log] [MATRIX] [wait R]",
    .about = "processes of PETSc, on this machine or on many, for `spmv on ranks` and `solve on ranks`",
    .help =
        "`ranks 4` starts 4 processes of warpspy-ranks through mpiexec, or through the launcher that you name, such "
        "as\n"
        "`set launcher \"srun -p short\"`; `ranks start` leaves the number to the launcher. `ranks` shows them, and\n"
        "`ranks off` ends them. If none answers within 60 s, or the seconds after wait, the start has failed.\n"
        "The matrix is written once, in PETSc's binary format, to a folder in $XDG_CACHE_HOME/warpspy (or ~/.cache),\n"
        "which all machines must see; the ranks read it in parallel, and the folder is removed at the end.\n"
        "`ranks parts` shows how PETSc shares the matrix: the rows of each rank, the nonzeros inside its own columns\n"
        "and outside of them, the halo (columns of x that it needs from other ranks), and by whom.\n"
        "`spmv on ranks` checks and times PETSc's product. `solve cg on ranks precond gamg` solves: precond is "
        "jacobi,\n"
        "gamg, hypre, asm, icc or ilu, `solve direct mumps on ranks` factors, and `options \"-ksp_view\"` passes "
        "options\n"
        "of PETSc, which take precedence. `ranks log` shows what PETSc has logged of the last load, product, set-up "
        "and\n"
        "solve: for each event the time of the slowest rank, compared with the fastest, messages and reductions.\n"
        "Ctrl-C ends a command, and keeps the ranks.\n"
        "    ranks 4; ranks parts; solve cg on ranks precond gamg; ranks log; ranks off",
    .rows = (const struct row_kind *const[]){&row_ranks_state, &row_ranks_part, &row_ranks_event, NULL},
    .run = run_ranks,
    .large = true,
};
