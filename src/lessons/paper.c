/* The tables of papers in a lesson: each row states a number from a paper, and our own number is measured and printed
   beside it. */
#include "paper.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "formats/measures.h"
#include "base/mem.h"
#include "session/output_run.h"
#include "paper_times.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The inputs from which a quantity is computed; inputs that the quantity does not need are empty. */
struct about {
    struct matrix *m;
    const struct stats *stats;
    const struct stored *S;
    double pack_us;
    struct measures diagonals;
    const struct run *r;
    const struct paper_times *t;
};

enum needs { MATRIX, FORMAT, DIAGONALS, KERNEL, SOLVER, FACTOR };

struct quantity {
    const char *name, *fmt;
    enum needs needs;
    double (*of)(const struct about *x);
};

/* ---- the quantities ---- */

static double count_rows(const struct about *x)
{
    return (double)x->m->csr.rows;
}

static double count_nonzeros(const struct about *x)
{
    return (double)x->m->csr.nnz;
}

static double filled_share(const struct about *x)
{
    return count_nonzeros(x) / (double)x->m->csr.rows / (double)x->m->csr.cols;
}

static double count_diagonals(const struct about *x)
{
    return (double)x->stats->diagonals;
}

static double packing_ms(const struct about *x)
{
    return x->pack_us / 1000;
}

static double count_padding(const struct about *x)
{
    return (double)(stored_slots(x->S) - x->S->nnz);
}

static double padding_per_nonzero(const struct about *x)
{
    return count_padding(x) / count_nonzeros(x);
}

static double count_operands(const struct about *x)
{
    return (double)x->diagonals.operands;
}

static double operand_variance(const struct about *x)
{
    return x->diagonals.variance;
}

static double product_us(const struct about *x)
{
    return x->r->us;
}

static double whole_us(const struct about *x)
{
    return total_us(x->r);
}

static double rate(const struct about *x)
{
    return x->r->gflops;
}

static double padded_rate(const struct about *x)
{
    return padded_gflops(x->r);
}

static double iteration_us(const struct about *x)
{
    return x->t->device_us;
}

static double thread_us(const struct about *x)
{
    return x->t->thread_us;
}

static double speed_up(const struct about *x)
{
    return x->t->thread_us / x->t->device_us;
}

static double factor_ms(const struct about *x)
{
    return x->t->factor_us / 1000;
}

static double solve_ms(const struct about *x)
{
    return x->t->solve_us / 1000;
}

static const struct quantity quantities[] = {
    {"rows", "%.0f", MATRIX, count_rows},
    {"nonzeros", "%.0f", MATRIX, count_nonzeros},
    {"density", "%.6f", MATRIX, filled_share},
    {"diagonals", "%.0f", MATRIX, count_diagonals},
    {"padding", "%.0f", FORMAT, count_padding},
    {"padding/nonzero", "%.2f", FORMAT, padding_per_nonzero},
    {"packing ms", "%.3f", FORMAT, packing_ms},
    {"operands", "%.0f", DIAGONALS, count_operands},
    {"variance", "%.1f", DIAGONALS, operand_variance},
    {"us", "%.2f", KERNEL, product_us},
    {"total us", "%.2f", KERNEL, whole_us},
    {"GFLOP/s", "%.2f", KERNEL, rate},
    {"padded GFLOP/s", "%.2f", KERNEL, padded_rate},
    {"iteration us", "%.2f", SOLVER, iteration_us},
    {"one thread us", "%.2f", SOLVER, thread_us},
    {"speed-up", "%.2f", SOLVER, speed_up},
    {"factor ms", "%.3f", FACTOR, factor_ms},
    {"solve ms", "%.3f", FACTOR, solve_ms},
    {0},
};

static const struct quantity *quantity_find(const char *name, struct err *e)
{
    char known[256] = "";
    for (const struct quantity *q = quantities; q->name; q++) {
        if (!strcmp(q->name, name)) return q;
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", q->name);
    }
    fail(e, E_INPUT, "`%s` is not a quantity; the quantities are %s; append f32 to a quantity for single precision",
         name, known);
    return NULL;
}

/* ---- measuring a quantity ---- */

/* A measurement, which several rows of a table may share: a kernel's run, or the times of a solver or LU method. */
struct taken {
    struct matrix *m;
    const struct kernel *kernel;
    char of[64];
    enum type real;
    struct run run;
    struct paper_times times;
};

static struct taken *taken_find(const struct papers *p, const struct matrix *m, const struct kernel *k, const char *of)
{
    for (int i = 0; i < p->ntaken; i++) {
        struct taken *t = &p->taken[i];
        if (t->m == m && t->kernel == k && t->real == p->real && !strcmp(t->of, of)) return t;
    }
    return NULL;
}

/* Make room for one more measurement; the caller increments ntaken after the measurement succeeds. */
static struct taken *taken_new(struct papers *p, struct matrix *m, const struct kernel *k, const char *of,
                               struct err *e)
{
    struct taken *grown = mem_resize(p->taken, p->ntaken + 1, sizeof *grown, "the runs of a table", e);
    if (!grown) return NULL;
    p->taken = grown;
    struct taken *t = &grown[p->ntaken];
    *t = (struct taken){.m = m, .kernel = k, .real = p->real};
    snprintf(t->of, sizeof t->of, "%s", of);
    return t;
}

static const struct run *run_of(struct session *s, struct papers *p, struct matrix *m, const struct kernel *k,
                                struct err *e)
{
    struct spmv_request w = {m, p->dev, p->real, p->reps, true, NULL};
    struct taken *t = taken_find(p, m, k, "");
    if (t) return &t->run;
    t = taken_new(p, m, k, "", e);
    if (!t || !spmv_measure(s, &w, k, &t->run, e)) return NULL;
    p->ntaken++;
    return &t->run;
}

static const struct paper_times *times_of(struct session *s, struct papers *p, struct matrix *m, const char *of,
                                          bool solver, struct err *e)
{
    struct taken *t = taken_find(p, m, NULL, of);
    if (t) return &t->times;
    t = taken_new(p, m, NULL, of, e);
    if (!t || !(solver ? paper_solver : paper_factor)(s, m, p->dev, p->real, of, p->reps, &t->times, e)) return NULL;
    p->ntaken++;
    return &t->times;
}

/* Report an unknown name. */
static bool unknown(const char *name, struct err *e)
{
    if (kernel_needs_cuda(name)) return fail(e, E_UNSUPPORTED, "%s needs a build with CUDA", name);
    return fail(e, E_INPUT, "`%s` is neither a kernel nor a format", name);
}

/* The kernel called `name` if the device runs it, otherwise the device's default kernel for the same format. */
static const struct kernel *kernel_called(const struct papers *p, const char *name, const struct csr *A, struct err *e)
{
    const struct kernel *k = kernel_find(name);
    const struct format *f = k ? k->format : format_find(name);
    if (k && kernel_runs_on(k, p->dev)) return k;
    k = f ? kernel_default(f, A, p->dev) : NULL;
    if (!f)
        unknown(name, e);
    else if (!k)
        fail(e, E_UNSUPPORTED, "no kernel for %s runs on %s", f->name, p->dev->name);
    return k;
}

static bool find_format(struct session *s, const struct papers *p, const char *name, const struct quantity *q,
                        struct about *x, struct err *e)
{
    const struct kernel *k = kernel_find(name);
    const struct format *f = k ? k->format : format_find(name);
    if (!f) return unknown(name, e);
    const struct product *made = session_product(s, x->m, f, NULL, p->real, true, e);
    if (!made) return false;
    x->S = &made->S;
    x->pack_us = made->prep_us;
    return q->needs != DIAGONALS || format_measures(x->S, &x->diagonals, e);
}

static bool take(struct session *s, struct papers *p, struct matrix *m, const char *name, const struct quantity *q,
                 double *value, struct err *e)
{
    struct about x = {.m = m};
    const struct kernel *k;
    if (q->needs == MATRIX && !(x.stats = session_stats(s, m, e))) return false;
    if ((q->needs == FORMAT || q->needs == DIAGONALS) && !find_format(s, p, name, q, &x, e)) return false;
    if (q->needs == KERNEL) {
        if (!(k = kernel_called(p, name, &m->csr, e)) || !(x.r = run_of(s, p, m, k, e))) return false;
        p->timed = true;
    }
    if (q->needs == SOLVER || q->needs == FACTOR) {
        p->timed = true;
        if (!(x.t = times_of(s, p, m, name, q->needs == SOLVER, e))) return false;
    }
    *value = q->of(&x);
    return true;
}

/* `of` is one name, or "a / b" for the ratio of the quantity of a to the quantity of b. */
static bool take_ratio(struct session *s, struct papers *p, struct matrix *m, const char *of, const struct quantity *q,
                       double *value, struct err *e)
{
    const char *by = strstr(of, " / ");
    char first[64];
    double below;
    if (!by) return take(s, p, m, of, q, value, e);
    snprintf(first, sizeof first, "%.*s", (int)(by - of), of);
    if (!take(s, p, m, first, q, value, e) || !take(s, p, m, by + 3, q, &below, e)) return false;
    *value /= below;
    return true;
}

/* ---- mean, highest and lowest over all matrices of the lesson ---- */

static double mean_of(double mean, double value, int n)
{
    return mean + (value - mean) / n;
}

static double highest_of(double most, double value, int n)
{
    (void)n;
    return value > most ? value : most;
}

static double lowest_of(double least, double value, int n)
{
    (void)n;
    return value < least ? value : least;
}

static const struct whole {
    const char *name;
    double (*add)(double so_far, double value, int n);
} wholes[] = {{"mean", mean_of}, {"highest", highest_of}, {"lowest", lowest_of}, {0}};

static bool take_whole(struct session *s, struct papers *p, const struct whole *over, const char *of,
                       const struct quantity *q, double *value, struct err *e)
{
    int n = 0;
    *value = NAN;
    for (struct matrix *m = s->matrices; m; m = m->next) {
        double one;
        if (!m->lesson) continue;
        if (!take_ratio(s, p, m, of, q, &one, e)) return false;
        if (!isfinite(one)) continue;
        n++;
        *value = n == 1 ? one : over->add(*value, one, n);
    }
    return true;
}

/* ---- rows ---- */

enum { CELLS = 4 };

/* Split "| a | b |" into its cells, without blanks around them. */
static bool split(char *line, char *cell[CELLS], struct err *e)
{
    int n = 0;
    char *at = line + 1;
    for (char *bar; (bar = strchr(at, '|')); at = bar + 1) {
        char *end = bar;
        at += strspn(at, " \t");
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        *end = 0;
        if (n < CELLS) cell[n] = at;
        n++;
    }
    if (n == CELLS && !at[strspn(at, " \t\r")]) return true;
    return fail(e, E_INPUT, "the row has %d cells: write %d cells between bars, as in | matrix | of | what | GPU |", n,
                CELLS);
}

static bool head(struct papers *p, char *cell[CELLS], struct session *s, struct err *e)
{
    static const char *const names[] = {"matrix", "of", "what"};
    for (int i = 0; i < COUNT(names); i++)
        if (strcmp(cell[i], names[i]))
            return fail(e, E_INPUT,
                        "the first row of the table has `%s` instead of `%s`: begin with | matrix | of | what | GPU |",
                        cell[i], names[i]);
    p->dev = session_device(s, NULL, e);
    snprintf(p->gpu, sizeof p->gpu, "%s", cell[3]);
    p->open = true;
    return p->dev != NULL;
}

/* Read the quantity in the third cell; "us f32" means single precision. */
static const struct quantity *read_quantity(struct papers *p, char *what, struct err *e)
{
    size_t n = strlen(what);
    bool single = n > 4 && !strcmp(what + n - 4, " f32");
    p->real = single ? T_F32 : T_F64;
    if (single) what[n - 4] = 0;
    const struct quantity *q = quantity_find(what, e);
    if (single) what[n - 4] = ' ';
    return q;
}

static bool number(const char *text, double *value, struct err *e)
{
    char *end;
    *value = !strcmp(text, "-") ? NAN : strtod(text, &end);
    if (isnan(*value) || (end != text && !*end)) return true;
    return fail(e, E_INPUT, "`%s` is not a number: give the number from the paper, or - if the paper has no number",
                text);
}

static bool answer(struct session *s, struct papers *p, char *cell[CELLS], const struct quantity *q, double *ours,
                   struct err *e)
{
    for (const struct whole *w = wholes; w->name; w++)
        if (!strcmp(w->name, cell[0])) return take_whole(s, p, w, cell[1], q, ours, e);
    struct matrix *m = session_matrix(s, cell[0], e);
    return m && take_ratio(s, p, m, cell[1], q, ours, e);
}

static void out_answer(struct out *o, const struct papers *p, char *cell[CELLS], const struct quantity *q, double paper,
                       double ours, const char *reason)
{
    bool divided = strstr(cell[1], " / ") != NULL;
    out_row(o);
    out_str(o, "matrix", "matrix", cell[0]);
    out_str(o, "of", "of", cell[1]);
    out_str(o, "what", "what", cell[2]);
    out_num(o, "paper", NULL, paper, NULL);
    out_num(o, NULL, p->gpu, paper, "%.10g");
    out_str(o, "paper_device", NULL, p->gpu);
    out_num(o, "ours", "ours", ours, divided ? "%.2f" : q->fmt);
    out_str(o, "device", NULL, q->needs >= KERNEL ? p->dev->name : NULL);
    out_num(o, "ratio", "ours/paper", ours / paper, "%.3g");
    out_str(o, "reason", NULL, reason);
}

bool paper_line(struct session *s, struct papers *p, char *line, struct err *e)
{
    char *cell[CELLS];
    double paper, ours = NAN;
    struct err why = {0};
    if (!split(line, cell, e)) return false;
    if (!p->open) return head(p, cell, s, e);
    const struct quantity *q = read_quantity(p, cell[2], e);
    if (!q || !number(cell[3], &paper, e)) return false;
    bool ok = answer(s, p, cell, q, &ours, &why);
    if (!ok && why.code != E_LIMIT && why.code != E_UNSUPPORTED && why.code != E_MEMORY)
        return fail_at(e, why.code, why.where, "%s", why.text);
    if (!ok) ours = NAN;
    if (!ok && !*p->reason) snprintf(p->reason, sizeof p->reason, "%s", why.text);
    out_answer(s->out, p, cell, q, paper, ours, ok ? NULL : why.text);
    out_str(s->out, "file", NULL, s->script);
    out_int(s->out, "line", NULL, s->script_line);
    return true;
}

/* Whether any measurement of the table satisfies the condition `is`. */
static bool some(const struct papers *p, bool (*is)(const struct taken *t))
{
    for (int i = 0; i < p->ntaken; i++)
        if (is(&p->taken[i])) return true;
    return false;
}

static bool of_kernel(const struct taken *t)
{
    return t->kernel != NULL;
}

static bool of_solver(const struct taken *t)
{
    return !t->kernel && isfinite(t->times.device_us);
}

static bool on_host(const struct taken *t)
{
    return !t->kernel && (isfinite(t->times.thread_us) || isfinite(t->times.factor_us));
}

static void remarks(struct out *o, const struct papers *p)
{
    const struct device *host = some(p, on_host) ? device_open("cpu", NULL) : NULL;
    if (p->timed) out_text(o, "Ours: %s, %s", p->dev->name, p->dev->about);
    if (host && host != p->dev)
        out_text(o, "Single-thread times and all other times of the host were measured on: cpu, %s", host->about);
    if (p->timed && p->dev->kind == DEV_EMU)
        out_text(o, "The emulator models accesses, not time: rows that need a time have no number (-).");
    if (p->dev->kind == DEV_CPU && some(p, of_kernel))
        out_text(o, "No GPU: the times are those of the host's loops for the same formats, not of the named kernels.");
    if (p->dev->kind == DEV_CPU && some(p, of_solver))
        out_text(o, "No GPU: the solvers run on all cores of the host instead.");
    if (*p->reason) out_text(o, "Without a number (-): %s", p->reason);
}

void papers_free(struct papers *p)
{
    mem_free(p->taken);
    *p = (struct papers){.reps = p->reps};
}

bool paper_end(struct session *s, struct papers *p, struct err *e)
{
    if (!p->open) return true;
    remarks(s->out, p);
    bool ok = out_end(s->out, e); /* end the table before papers_free, because p owns the heading of a column */
    papers_free(p);
    return ok;
}
