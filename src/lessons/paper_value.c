/* The numbers of ours in the tables of lessons: counts, measured times, and, without a GPU, predicted times. */
#include "paper_value.h"
#include "advice/predicted.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "formats/measures.h"
#include "language/args.h"
#include "lu/lu.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "paper.h"
#include "paper_predicted.h"
#include "paper_times.h"
#include "report/output.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/product.h"
#include "session/session.h"
#include "session/spmv.h"
#include "solvers/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A measurement, which several rows of a table may share: a kernel's run, or times from paper_times.c. */
struct taken {
    struct matrix *m;
    const struct kernel *kernel;
    char of[64];
    enum precision real;
    struct run run;
    bool predicted; /* run.us is predicted */
    bool sampled;   /* the prediction watched a sample of blocks */
    unsigned used;  /* by the table that is being read: the needs of its rows */
    struct paper_time times[PAPER_TIMES];
    int64_t cycle[OPERATIONS_OF_CYCLE]; /* what a cycle of a solver launched */
    /* if predicted, what the emulator counted: */
    double lanes;     /* mean number of active lanes per step of a warp */
    double sectors;   /* sectors of global memory that the warps request */
    bool counts_only; /* the time is measured, not predicted */
};

/* The inputs from which a quantity is computed; inputs that the quantity does not need are empty. */
struct about {
    struct matrix *m;
    const struct stats *stats;
    const struct stored *S;
    struct measures diagonals;
    const struct taken *t;
};

/* What a quantity needs: one of these, or several times. */
enum needs {
    MATRIX = 1,
    FORMAT = 2,
    DIAGONALS = 4,
    KERNEL = 8,
    COUNTS = 16,
    SOLVER = 32,
    THREAD = 64,
    FACTOR = 128,
    PACKING = 256,
    SYMMETRIZING = 512,
    CYCLE = 1024
};

struct quantity {
    const char *name, *fmt;
    unsigned needs; /* enum needs */
    struct paper_value (*of)(const struct about *x);
};

/* ---- values ---- */

static struct paper_value counted(double value)
{
    return (struct paper_value){value, 0, "counted", "", ""};
}

/* `scale` times a time. */
static struct paper_value timed(const struct paper_time *t, double scale)
{
    struct paper_value v = {scale * t->us, t->spread / t->us, "measured", "", ""};
    snprintf(v.device, sizeof v.device, "%s", t->on ? t->on->name : t->gpu);
    if (t->predicted) snprintf(v.how, sizeof v.how, "predicted");
    return v;
}

/* A value that is proportional to the time of a run, or to its inverse. */
static struct paper_value of_run(const struct taken *t, double value)
{
    const struct run *r = &t->run;
    struct paper_value v = {value, r->reps > 1 ? r->spread_us / r->us : NAN, "measured", "", ""};
    snprintf(v.kernel, sizeof v.kernel, "%s", r->kernel->name);
    snprintf(v.device, sizeof v.device, "%s", t->predicted ? t->of : r->dev->name);
    if (t->predicted) snprintf(v.how, sizeof v.how, "predicted");
    return v;
}

static void join(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    if (*more && !strstr(text, more)) snprintf(text + n, size - n, "%s%s", n ? " / " : "", more);
}

static void join_sources(struct paper_value *a, const struct paper_value *b)
{
    join(a->how, sizeof a->how, b->how);
    join(a->device, sizeof a->device, b->device);
    join(a->kernel, sizeof a->kernel, b->kernel);
}

static struct paper_value divided(struct paper_value a, const struct paper_value *b)
{
    a.value /= b->value;
    a.spread = hypot(a.spread, b->spread);
    join_sources(&a, b);
    return a;
}

/* ---- the quantities ---- */

static struct paper_value count_rows(const struct about *x)
{
    return counted((double)x->m->csr.rows);
}

static struct paper_value count_nonzeros(const struct about *x)
{
    return counted((double)x->m->csr.nnz);
}

static struct paper_value filled_share(const struct about *x)
{
    return counted((double)x->m->csr.nnz / (double)x->m->csr.rows / (double)x->m->csr.cols);
}

static struct paper_value count_diagonals(const struct about *x)
{
    return counted((double)x->stats->diagonals);
}

static struct paper_value count_padding(const struct about *x)
{
    return counted((double)(stored_slots(x->S) - x->S->nnz));
}

static struct paper_value padding_per_nonzero(const struct about *x)
{
    return counted((double)(stored_slots(x->S) - x->S->nnz) / (double)x->m->csr.nnz);
}

static struct paper_value count_operands(const struct about *x)
{
    return counted((double)x->diagonals.operands);
}

static struct paper_value operand_variance(const struct about *x)
{
    return counted(x->diagonals.variance);
}

static struct paper_value product_us(const struct about *x)
{
    return of_run(x->t, x->t->run.us);
}

/* A kernel prepares its data once, so the spread of that time is not known. */
static struct paper_value whole_us(const struct about *x)
{
    struct paper_value v = of_run(x->t, total_us(&x->t->run));
    if (x->t->run.ready_us > 0) v.spread = NAN;
    return v;
}

static struct paper_value rate(const struct about *x)
{
    return of_run(x->t, x->t->run.gflops);
}

static struct paper_value padded_rate(const struct about *x)
{
    return of_run(x->t, padded_gflops(&x->t->run));
}

static struct paper_value padded_rate_less_rows(const struct about *x)
{
    return of_run(x->t, padded_gflops_less_rows(&x->t->run));
}

/* The emulator counts the same on every machine. */
static struct paper_value of_emulator(const struct taken *t, double value)
{
    struct paper_value v = {value, t->sampled ? NAN : 0, "counted", "emu", ""};
    snprintf(v.kernel, sizeof v.kernel, "%s", t->kernel->name);
    return v;
}

static struct paper_value lanes(const struct about *x)
{
    return of_emulator(x->t, x->t->lanes);
}

static struct paper_value sectors_per_nonzero(const struct about *x)
{
    return of_emulator(x->t, x->t->sectors / (double)x->m->csr.nnz);
}

static struct paper_value iteration_us(const struct about *x)
{
    return timed(&x->t->times[PAPER_DEVICE], 1);
}

static struct paper_value thread_us(const struct about *x)
{
    return timed(&x->t->times[PAPER_THREAD], 1);
}

static struct paper_value speed_up(const struct about *x)
{
    struct paper_value device = iteration_us(x);
    return divided(thread_us(x), &device);
}

static struct paper_value factor_ms(const struct about *x)
{
    return timed(&x->t->times[PAPER_FACTOR], 1e-3);
}

static struct paper_value solve_ms(const struct about *x)
{
    return timed(&x->t->times[PAPER_SOLVE], 1e-3);
}

static struct paper_value packing_ms(const struct about *x)
{
    return timed(&x->t->times[PAPER_PACK], 1e-3);
}

static struct paper_value planning_ms(const struct about *x)
{
    return timed(&x->t->times[PAPER_PLAN], 1e-3);
}

/* A cycle is the same on every device. */
static struct paper_value of_cycle(const struct about *x, enum solve_operation one, enum solve_operation other)
{
    return counted((double)(x->t->cycle[one] + (one == other ? 0 : x->t->cycle[other])));
}

static struct paper_value cycle_spmvs(const struct about *x)
{
    return of_cycle(x, OP_SPMV, OP_SPMV);
}

static struct paper_value cycle_products(const struct about *x)
{
    return of_cycle(x, OP_DOT, OP_NORM);
}

static struct paper_value cycle_basis_products(const struct about *x)
{
    return of_cycle(x, OP_BASIS, OP_BASIS);
}

static struct paper_value cycle_updates(const struct about *x)
{
    return of_cycle(x, OP_UPDATE, OP_SCALE);
}

static struct paper_value cycle_least_squares(const struct about *x)
{
    return of_cycle(x, OP_LEAST_SQUARES, OP_LEAST_SQUARES);
}

static struct paper_value cycle_least_operations(const struct about *x)
{
    return of_cycle(x, OP_LEAST_OPERATIONS, OP_LEAST_OPERATIONS);
}

static struct paper_value symmetrize_ms(const struct about *x)
{
    return timed(&x->t->times[PAPER_SYM], 1e-3);
}

static const struct quantity quantities[] = {
    {"rows", "%.0f", MATRIX, count_rows},
    {"nonzeros", "%.0f", MATRIX, count_nonzeros},
    {"density", "%.6f", MATRIX, filled_share},
    {"diagonals", "%.0f", MATRIX, count_diagonals},
    {"padding", "%.0f", FORMAT, count_padding},
    {"padding/nonzero", "%.2f", FORMAT, padding_per_nonzero},
    {"packing ms", "%.3f", PACKING, packing_ms},
    {"planning ms", "%.3f", PACKING, planning_ms},
    {"symmetrize ms", "%.3f", SYMMETRIZING, symmetrize_ms},
    {"SpMVs/cycle", "%.0f", CYCLE, cycle_spmvs},
    {"inner products/cycle", "%.0f", CYCLE, cycle_products},
    {"basis products/cycle", "%.0f", CYCLE, cycle_basis_products},
    {"vector updates/cycle", "%.0f", CYCLE, cycle_updates},
    {"least squares/cycle", "%.0f", CYCLE, cycle_least_squares},
    {"least-squares operations", "%.0f", CYCLE, cycle_least_operations},
    {"operands", "%.0f", DIAGONALS, count_operands},
    {"variance", "%.1f", DIAGONALS, operand_variance},
    {"us", "%.2f", KERNEL, product_us},
    {"total us", "%.2f", KERNEL, whole_us},
    {"GFLOP/s", "%.2f", KERNEL, rate},
    {"padded GFLOP/s", "%.2f", KERNEL, padded_rate},
    {"padded GFLOP/s -N", "%.2f", KERNEL, padded_rate_less_rows},
    {"lanes", "%.1f", COUNTS, lanes},
    {"sectors/nonzero", "%.2f", COUNTS, sectors_per_nonzero},
    {"iteration us", "%.2f", SOLVER, iteration_us},
    {"one thread us", "%.2f", THREAD, thread_us},
    {"speed-up", "%.2f", SOLVER | THREAD, speed_up},
    {"factor ms", "%.3f", FACTOR, factor_ms},
    {"solve ms", "%.3f", FACTOR, solve_ms},
    {0},
};

const struct quantity *quantity_find(const char *name, struct err *e)
{
    char known[512] = "";
    for (const struct quantity *q = quantities; q->name; q++) {
        if (!strcmp(q->name, name)) return q;
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", q->name);
    }
    fail(e, E_INPUT, "`%s` is not a quantity; the quantities are %s; append f32 to a quantity for single precision",
         name, known);
    return NULL;
}

const char *quantity_format(const struct quantity *q)
{
    return q->fmt;
}

/* ---- measuring ---- */

static struct taken *taken_find(const struct papers *p, const struct matrix *m, const struct kernel *k, const char *of,
                                unsigned needs)
{
    for (int i = 0; i < p->ntaken; i++) {
        struct taken *t = &p->taken[i];
        if (t->m != m || t->kernel != k || t->real != p->real || (!k && strcmp(t->of, of))) continue;
        if (t->counts_only) continue;
        t->used |= needs;
        return t;
    }
    return NULL;
}

/* Make room for one more measurement; the caller increments ntaken after the measurement succeeds. */
static struct taken *taken_new(struct papers *p, struct matrix *m, const struct kernel *k, const char *of,
                               unsigned needs, struct err *e)
{
    struct taken *grown = mem_resize(p->taken, p->ntaken + 1, sizeof *grown, "the runs of a table", e);
    if (!grown) return NULL;
    p->taken = grown;
    struct taken *t = &grown[p->ntaken];
    *t = (struct taken){.m = m, .kernel = k, .real = p->real, .used = needs};
    snprintf(t->of, sizeof t->of, "%s", of);
    return t;
}

/* The device that measures k: the session's GPU, or cpu for a host kernel. NULL: none. */
static struct device *where(const struct papers *p, const struct kernel *k)
{
    if (k->host) return device_open("cpu", NULL);
    return p->dev->kind == DEV_CUDA && kernel_runs_on(k, p->dev) ? p->dev : NULL;
}

static void take_prediction(const struct matrix *m, const struct modeled *k, const struct stored *S, struct taken *t)
{
    t->predicted = true;
    snprintf(t->of, sizeof t->of, "%.63s", k->on.name);
    t->run = (struct run){.kernel = k->kernel, .of = S, .real = k->real, .us = k->time.us, .spread_us = NAN};
    t->run.gflops = 2e-3 * (double)m->csr.nnz / k->time.us;
}

/* Totals over all launches; launches whose blocks were sampled are scaled up. */
static void take_counts(const struct counts *c, struct taken *t)
{
    double steps = 0, active = 0;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        const struct scope_launch *at = &c->scope.launch[l];
        double scale = at->seen ? (double)at->blocks / (double)at->seen : 0;
        steps += scale * (double)c->launch[l].steps;
        active += scale * (double)c->launch[l].active;
        t->sectors += scale * c->launch[l].sectors_sum;
    }
    t->lanes = active / steps;
}

/* Emulate k and predict its time on g. The matrix is packed even if the format needs much padding; modeled_kernel finds
   the product that is stored here. */
static bool predict(struct session *s, struct papers *p, struct matrix *m, const struct kernel *k,
                    const struct machine *g, struct taken *t, struct err *e)
{
    if (k->vendor) return fail(e, E_UNSUPPORTED, "%s is a library kernel, which runs only on a GPU", k->name);
    if (!modeled_can(k, &m->csr, e)) return false;
    struct form w = form_for(m, k, NULL, p->real, g->sms);
    w.force = true;
    const struct product *made = session_product(s, w, e);
    struct modeled *v = made ? mem_new(1, sizeof *v, "a prediction", e) : NULL;
    bool ok = v && modeled_kernel(s, m, k, NULL, p->real, g, v, e);
    if (ok) take_prediction(m, v, &made->S, t), take_counts(&v->counts, t);
    if (ok) t->sampled = v->work.sampled;
    mem_free(v);
    return ok;
}

static const struct taken *run_of(struct session *s, struct papers *p, struct matrix *m, const struct kernel *k,
                                  struct err *e)
{
    struct device *d = where(p, k);
    struct spmv_request w = {.matrix = m, .kernel = k, .dev = d, .real = p->real, .reps = p->reps, .force = true};
    struct taken *t = taken_find(p, m, k, "", KERNEL);
    if (t) return t;
    t = taken_new(p, m, k, "", KERNEL, e);
    bool here = d || modeled_machine(s, &p->machine, e);
    if (!t || !here || !(d ? spmv_measure(s, &w, &t->run, e) : predict(s, p, m, k, &p->machine, t, e))) return NULL;
    p->ntaken++;
    return t;
}

/* The emulator's counts of k; found with its predicted time, if that is known already. */
static const struct taken *emulated(struct session *s, struct papers *p, struct matrix *m, const struct kernel *k,
                                    struct err *e)
{
    struct machine g = machine_of(NULL);
    for (int i = 0; i < p->ntaken; i++) {
        struct taken *t = &p->taken[i];
        if (t->m == m && t->kernel == k && t->real == p->real && t->predicted) return t;
    }
    struct taken *t = taken_new(p, m, k, "", 0, e);
    if (!t || !predict(s, p, m, k, &g, t, e)) return NULL;
    t->counts_only = true;
    p->ntaken++;
    return t;
}

/* How each time is measured. */
static const struct timing {
    enum needs needs;
    int time; /* its index in the times of a taken */
    bool (*measure)(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of,
                    int reps, struct paper_time *out, struct err *e);
} timings[] = {{SOLVER, PAPER_DEVICE, paper_solver},
               {THREAD, PAPER_THREAD, paper_thread},
               {FACTOR, PAPER_FACTOR, paper_factor},
               {PACKING, PAPER_PACK, paper_packing},
               {SYMMETRIZING, PAPER_SYM, paper_symmetrizing}};

/* Can a time only be predicted, because there is no GPU here? A host method is measured on cpu. */
static bool to_predict(const struct papers *p, const struct timing *t, const char *of)
{
    const struct lu_method *lu = t->needs == FACTOR ? lu_find(of) : NULL;
    if (p->dev->kind == DEV_CUDA) return false;
    return t->needs == SOLVER || (lu && !lu->host);
}

static bool predict_time(struct session *s, struct papers *p, struct matrix *m, const struct timing *t, const char *of,
                         struct paper_time *out, struct err *e)
{
    if (!modeled_machine(s, &p->machine, e)) return false;
    return t->needs == SOLVER ? predicted_solver(s, m, &p->machine, p->real, of, out, e)
                              : predicted_factor(m, &p->machine, p->real, of, out, e);
}

/* Measure or predict the times that a row needs and that are not known from another row. */
static const struct taken *times_of(struct session *s, struct papers *p, struct matrix *m, const char *of,
                                    unsigned needs, struct err *e)
{
    struct taken *known = taken_find(p, m, NULL, of, needs), *t = known;
    if (!known) t = taken_new(p, m, NULL, of, needs, e);
    for (int i = 0; t && i < COUNT(timings); i++) {
        const struct timing *one = &timings[i];
        if (!(needs & one->needs) || t->times[one->time].us > 0) continue;
        if (to_predict(p, one, of) ? !predict_time(s, p, m, one, of, t->times, e)
                                   : !one->measure(s, m, p->dev, p->real, of, p->reps, t->times, e))
            return NULL;
    }
    p->ntaken += t && !known;
    return t;
}

/* What a cycle of a solver that restarts launches. */
static const struct taken *cycle_of(struct session *s, struct papers *p, struct matrix *m, const char *of,
                                    struct err *e)
{
    struct taken *t = taken_find(p, m, NULL, of, CYCLE);
    if (t && t->cycle[OP_PASS]) return t;
    bool known = t != NULL;
    if (!known) t = taken_new(p, m, NULL, of, CYCLE, e);
    if (!t || !paper_cycle(s, m, of, t->cycle, e)) return NULL;
    p->ntaken += !known;
    return t;
}

/* Report an unknown name. */
static bool unknown(const char *name, struct err *e)
{
    if (kernel_needs_cuda(name)) return fail(e, E_UNSUPPORTED, "%s needs a build with CUDA", name);
    return fail(e, E_INPUT, "`%s` is neither a kernel nor a format", name);
}

static const struct format *format_called(const char *name, struct err *e)
{
    const struct kernel *k = kernel_find(name);
    const struct format *f = k ? k->format : format_find(name);
    if (!f) unknown(name, e);
    return f;
}

/* The kernel called `name`, or the default GPU kernel for the format called `name`. */
static const struct kernel *kernel_called(const struct papers *p, const char *name, const struct csr *A, struct err *e)
{
    const struct kernel *k = kernel_find(name);
    const struct format *f = k ? k->format : format_called(name, e);
    const struct device *gpu = p->dev->kind == DEV_CUDA ? p->dev : device_open("emu", e);
    if (k || !f || !gpu) return k;
    if (!(k = kernel_default(f, A, gpu))) fail(e, E_UNSUPPORTED, "no kernel for %s runs on a GPU", f->name);
    return k;
}

/* Read the parameters of f in `text`, such as "min 32 piece 128", into param[PARAMS_MAX]; the others have the defaults.
 */
static bool read_params(const struct format *f, const char *text, int64_t *param, struct err *e)
{
    char key[32];
    long long value;
    int n;
    for (int i = 0; i < PARAMS_MAX; i++) param[i] = f->params[i].name ? f->params[i].default_value : 0;
    for (; *text; text += n) {
        int at = sscanf(text, "%31s %lld %n", key, &value, &n) == 2 ? param_index(f->params, key) : -1;
        if (at < 0)
            return fail(e, E_INPUT, "%s has no parameters `%s`: write, for example, brcsd1 piece 64", f->name, text);
        param[at] = value;
    }
    return true;
}

/* The format that `of` names, with parameters if any follow the name. */
static bool find_format(struct session *s, const struct papers *p, const char *of, bool diagonals, struct about *x,
                        struct err *e)
{
    char name[64];
    int64_t param[PARAMS_MAX];
    const char *rest = of + strcspn(of, " ");
    snprintf(name, sizeof name, "%.*s", (int)(rest - of), of);
    const struct format *f = format_called(name, e);
    if (!f || !read_params(f, rest + strspn(rest, " "), param, e)) return false;
    struct form w = form_of(x->m, f, *rest ? param : NULL, p->real);
    w.force = true;
    const struct product *made = session_product(s, w, e);
    if (!made) return false;
    x->S = &made->S;
    return !diagonals || format_measures(x->S, &x->diagonals, e);
}

/* Find the inputs of the quantity. */
static bool find_inputs(struct session *s, struct papers *p, const char *name, const struct quantity *q,
                        struct about *x, struct err *e)
{
    const struct kernel *k;
    switch (q->needs) {
    case MATRIX:
        return (x->stats = session_stats(s, x->m, e)) != NULL;
    case FORMAT:
    case DIAGONALS:
        return find_format(s, p, name, q->needs == DIAGONALS, x, e);
    case KERNEL:
        return (k = kernel_called(p, name, &x->m->csr, e)) && (x->t = run_of(s, p, x->m, k, e));
    case COUNTS:
        return (k = kernel_called(p, name, &x->m->csr, e)) && (x->t = emulated(s, p, x->m, k, e));
    case CYCLE:
        return (x->t = cycle_of(s, p, x->m, name, e)) != NULL;
    case PACKING:
        if (!format_called(name, e)) return false;
        break;
    default:
        break;
    }
    return (x->t = times_of(s, p, x->m, name, q->needs, e)) != NULL;
}

/* Fails if the cost model does not cover the quantity. */
static bool is_modeled(const struct quantity *q, const struct taken *t, const char *name, struct err *e)
{
    if (!t->predicted || q->of != whole_us || !t->kernel->prepare) return true;
    return fail(e, E_UNSUPPORTED, "the cost model does not cover the preparation of %s", name);
}

static bool take(struct session *s, struct papers *p, struct matrix *m, const char *name, const struct quantity *q,
                 struct paper_value *out, struct err *e)
{
    struct about x = {.m = m};
    if (!find_inputs(s, p, name, q, &x, e)) return false;
    *out = q->of(&x);
    return !x.t || is_modeled(q, x.t, name, e);
}

static bool take_ratio(struct session *s, struct papers *p, struct matrix *m, const char *of, const struct quantity *q,
                       struct paper_value *out, struct err *e)
{
    const char *by = strstr(of, " / ");
    char first[64];
    struct paper_value below;
    if (!by) return take(s, p, m, of, q, out, e);
    snprintf(first, sizeof first, "%.*s", (int)(by - of), of);
    if (!take(s, p, m, first, q, out, e) || !take(s, p, m, by + 3, q, &below, e)) return false;
    *out = divided(*out, &below);
    return true;
}

/* ---- mean, highest and lowest over all matrices of the lesson ---- */

/* The spread of a mean follows from the spreads of its n + 1 values, which are independent of one another. */
static void mean_of(struct paper_value *mean, const struct paper_value *v, int n)
{
    double sum = n * mean->value, spread = hypot(sum * mean->spread, v->value * v->spread);
    mean->value = (sum + v->value) / (n + 1);
    mean->spread = spread / fabs(sum + v->value);
    join_sources(mean, v);
}

static void highest_of(struct paper_value *most, const struct paper_value *v, int n)
{
    if (v->value > most->value) *most = *v;
}

static void lowest_of(struct paper_value *least, const struct paper_value *v, int n)
{
    if (v->value < least->value) *least = *v;
}

static const struct whole {
    const char *name;
    void (*add)(struct paper_value *so_far, const struct paper_value *v, int n);
} wholes[] = {{"mean", mean_of}, {"highest", highest_of}, {"lowest", lowest_of}, {0}};

static bool take_whole(struct session *s, struct papers *p, const struct whole *over, const char *of,
                       const struct quantity *q, struct paper_value *out, struct err *e)
{
    int n = 0;
    for (struct matrix *m = s->matrices; m; m = m->next) {
        struct paper_value one;
        if (!m->lesson) continue;
        if (!take_ratio(s, p, m, of, q, &one, e)) return false;
        if (!isfinite(one.value)) continue;
        n ? over->add(out, &one, n) : (void)(*out = one);
        n++;
    }
    return true;
}

/* The matrix that stands in for the original in a lesson, "like-crystk", gives its rows to the original if the session
   has loaded that: a matrix whose name begins with "crystk". NULL: it has not. */
static struct matrix *original_of(struct session *s, const char *text)
{
    static const char like[] = "like-";
    size_t n = strlen(like);
    if (strncmp(text, like, n) || strlen(text) < n + 3) return NULL;
    for (struct matrix *m = s->matrices; m; m = m->next)
        if (!m->lesson && !strncmp(m->name, text + n, strlen(text + n))) return m;
    return NULL;
}

/* The matrix of a row. "(NAME)" is a matrix that does not come with the program; the session may have loaded it. */
static struct matrix *matrix_of(struct session *s, const char *text, struct err *e)
{
    char name[64];
    struct matrix *original = original_of(s, text);
    if (original) return session_takes(s, original, e) ? original : NULL;
    if (*text != '(') return session_matrix(s, text, e);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + 1, ")"), text + 1);
    for (struct matrix *m = s->matrices; m; m = m->next)
        if (!strcmp(m->name, name)) return session_takes(s, m, e) ? m : NULL;
    fail(e, E_UNSUPPORTED, "%s is not here; if it is loaded under this name before the lesson, it is measured", name);
    return NULL;
}

bool paper_find(struct session *s, struct papers *p, const char *matrix, const char *of, const struct quantity *q,
                struct paper_value *out, struct err *e)
{
    *out = (struct paper_value){.value = NAN, .spread = NAN};
    for (const struct whole *w = wholes; w->name; w++)
        if (!strcmp(w->name, matrix)) return take_whole(s, p, w, of, q, out, e);
    struct matrix *m = matrix_of(s, matrix, e);
    if (m && m != p->original && original_of(s, matrix)) {
        out_note(s->out, "%s, which is loaded, answers in the rows of %s", m->name, matrix);
        p->original = m;
    }
    return m && take_ratio(s, p, m, of, q, out, e);
}

/* ---- sources ---- */

enum { DEVICES = 4 };

static void add_device(const struct device *on[DEVICES], const struct device *d)
{
    int i = 0;
    while (i < DEVICES && on[i] && on[i] != d) i++;
    if (d && i < DEVICES) on[i] = d;
}

static void out_devices(struct out *o, const struct papers *p)
{
    const struct device *on[DEVICES] = {0};
    for (int i = 0; i < p->ntaken; i++) {
        const struct taken *t = &p->taken[i];
        if (t->used & KERNEL) add_device(on, t->run.dev);
        for (int k = 0; k < COUNT(timings); k++)
            if (t->used & timings[k].needs) add_device(on, t->times[timings[k].time].on);
    }
    for (int i = 0; i < DEVICES && on[i]; i++) out_text(o, "Measured on %s: %s", on[i]->name, on[i]->about);
}

/* The predictions of these are coarser than those of products. */
static void out_coarse(struct out *o, unsigned predicted)
{
    if (predicted & SOLVER)
        out_text(o, "Iterations are predicted: products by the cost model, other launches by their number and bytes.");
    if (predicted & FACTOR)
        out_text(o,
                 "lu-paper is predicted from its launches and bytes: a lower bound, not compared with measurements.");
}

void paper_sources(struct session *s, struct papers *p)
{
    bool predicted = false, sampled = false;
    unsigned coarse = 0;
    out_devices(s->out, p);
    for (int i = 0; i < p->ntaken; i++) {
        struct taken *t = &p->taken[i];
        predicted |= t->used && t->predicted;
        for (int k = 0; k < COUNT(timings); k++)
            if (t->times[timings[k].time].predicted) coarse |= t->used & timings[k].needs;
        sampled |= t->used && t->sampled;
        t->used = 0;
    }
    out_coarse(s->out, coarse);
    if (predicted || coarse) modeled_remarks(s, &p->machine, sampled);
}

void paper_forget(struct papers *p)
{
    mem_free(p->taken);
    p->taken = NULL;
    p->ntaken = 0;
}
