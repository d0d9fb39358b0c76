/* Kernels watched and their times predicted, for the commands that explain and advise. */
#include "modeled.h"

#include <math.h>
#include <string.h>

/* Accesses of lanes that are watched of a kernel, about: 0.1 s on a core. Blocks to try a large matrix on. */
enum { ACCESSES = 250 * 1000, PILOT = 32, SHARED_MOST = 8 * ACCESSES };

/* Packings that are timed, as long as all of them have taken less than that. */
enum { PACKINGS = 3, PACKING_US = 50 * 1000 };

bool modeled_machine(struct session *s, struct machine *g, struct err *e)
{
    struct device *d = session_device(s, NULL, e);
    if (!d) return false;
    if (d->kind == DEV_CUDA && !d->ceilings.measured && !device_ceilings(d, &s->watch, e)) return false;
    *g = machine_of(d);
    return true;
}

/* Blocks to watch of each launch; 0: all. */
static bool choose_sample(const struct kernel *k, const struct mat *M, struct watch *w, struct counts *c,
                          int64_t *sample, struct err *e)
{
    double all = 0, most = 0, estimate = 3.0 * (double)stored_slots(M->of) + 2.0 * (double)M->of->rows;
    *sample = 0;
    if (estimate < ACCESSES) return true;
    if (k->shares && estimate > SHARED_MOST)
        return fail(e, E_UNSUPPORTED,
                    "the blocks of %s share out the work as they come to it, so that only watching all of it could "
                    "tell, and this matrix is too large for that; `count %s` does",
                    k->name, k->name);
    if (k->shares) return true;
    if (!count_kernel(k, M, PILOT, NULL, w, c, e)) return false;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        const struct scope_launch *at = &c->scope.launch[l];
        if (at->seen) all += (double)c->launch[l].active * (double)at->blocks / (double)at->seen;
        most = fmax(most, (double)at->blocks);
    }
    if (all > ACCESSES) *sample = (int64_t)fmax(2 * PILOT, most * ACCESSES / all);
    return true;
}

static bool can_be_watched(const struct kernel *k, const struct csr *A, struct err *e)
{
    if (k->vendor)
        return fail(e, E_UNSUPPORTED, "%s is a library's: its source is not here to be watched; `bench` measures it",
                    k->name);
    if (k->host)
        return fail(e, E_UNSUPPORTED, "%s runs on the host; the model is one of GPUs. `spmv kernel %s` measures it",
                    k->name, k->name);
    if (k->host_part)
        return fail(e, E_UNSUPPORTED, "%s has its last step done by the host, of which the model knows nothing",
                    k->name);
    if (A->imag) return fail(e, E_UNSUPPORTED, "the matrix is complex and %s multiplies real matrices only", k->name);
    if (A->nnz == 0) return fail(e, E_UNSUPPORTED, "the matrix has no entries: there is nothing to predict");
    return true;
}

bool modeled_matrix(const struct matrix *m, struct err *e)
{
    if (m->csr.imag)
        return fail(e, E_UNSUPPORTED, "%s is complex and all kernels multiply real matrices only", m->name);
    if (m->csr.nnz == 0) return fail(e, E_UNSUPPORTED, "%s has no entries: there is nothing to predict", m->name);
    return true;
}

static bool watch_mat(const struct csr *A, const struct mat *M, struct watch *w, struct modeled *out, struct err *e)
{
    int64_t sample;
    const struct kernel *k = out->kernel;
    if (k->fits && !k->fits(M->of, e)) return false;
    out->plan = plan_of(M->of);
    out->bytes = kernel_bytes(k, M->of, 0);
    if (!choose_sample(k, M, w, &out->counts, &sample, e)) return false;
    if (!model_watch(k, A, M, out->on.sms, sample, w, &out->counts, &out->work, e)) return false;
    out->time = model_predict(&out->work, &out->on);
    return true;
}

/* The parameters that suit a GPU. */
static const int64_t *params_for(const struct kernel *k, const struct format *f, const int64_t *param,
                                 const struct machine *g, int64_t *own)
{
    if (param || k->param || !f->suit) return param ? param : k->param;
    for (int i = 0; i < PARAMS_MAX; i++) own[i] = f->params[i].name ? f->params[i].usual : 0;
    f->suit(g->sms, own);
    return own;
}

bool modeled_kernel(struct session *s, struct matrix *m, const struct kernel *k, const int64_t *param, enum type real,
                    const struct machine *g, struct modeled *out, struct err *e)
{
    int64_t own[PARAMS_MAX];
    const struct format *f = k->format;
    *out = (struct modeled){.kernel = k, .real = real, .on = *g};
    if (!can_be_watched(k, &m->csr, e)) return false;
    struct device *emu = device_open("emu", e);
    struct product *p = emu ? session_product(s, m, f, params_for(k, f, param, g, own), real, false, e) : NULL;
    struct mat *M = p ? session_mat(s, p, emu, e) : NULL;
    if (!p) refusal_without_force(e, f->name, real, true);
    if (!M || !watch_mat(&m->csr, M, &s->watch, out, e)) return false;
    out->prep_us = p->prep_us;
    out->counts.scope.of = NULL;
    return true;
}

void packed_free(struct packed *p)
{
    if (p->M.dev) mat_free(&p->M);
    stored_free(&p->S);
    *p = (struct packed){0};
}

/* The best of a few, as the first finds its memory cold; of what takes long, one. */
static bool pack_warm(struct packed *p, const struct csr *A, const struct format *f, const int64_t *param,
                      enum type real, struct err *e)
{
    double begin = now_us(), best = INFINITY;
    for (int i = 0; i < PACKINGS && now_us() - begin < PACKING_US; i++) {
        stored_free(&p->S);
        double start = now_us();
        if (!format_pack(A, f, param, real, false, &p->S, e)) return false;
        best = fmin(best, now_us() - start);
    }
    p->us = best;
    return true;
}

/* Is A packed like that already? If not, it is now. */
static bool pack(struct packed *p, const struct csr *A, const struct format *f, const int64_t *param, enum type real,
                 struct err *e)
{
    int64_t asked[PARAMS_MAX] = {-1};
    if (param) memcpy(asked, param, sizeof asked);
    if (p->M.dev && p->S.format == f && p->real == real && !memcmp(p->param, asked, sizeof asked)) return true;
    packed_free(p);
    struct device *emu = device_open("emu", e);
    if (!emu || !pack_warm(p, A, f, param, real, e)) return false;
    p->real = real;
    memcpy(p->param, asked, sizeof asked);
    return mat_put(&p->M, &p->S, emu, e);
}

bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum type real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e)
{
    int64_t own[PARAMS_MAX];
    const struct format *f = k->format;
    *out = (struct modeled){.kernel = k, .real = real, .on = *g};
    if (!can_be_watched(k, A, e) || !pack(last, A, f, params_for(k, f, param, g, own), real, e)) return false;
    out->prep_us = last->us;
    bool ok = watch_mat(A, &last->M, w, out, e);
    out->counts.scope.of = NULL;
    return ok;
}

bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e)
{
    int64_t param[PARAMS_MAX];
    const struct kernel *k = kernel_find(arg(a, "kernel"));
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    struct machine g;
    if (!m || !arg_params(a, k->format->params, param, e) || !modeled_machine(s, &g, e)) return false;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_kernel(s, m, k, arg_count(a, "params") ? param : NULL, arg_precision(a), &g, t, e);
    ok = ok && say(s, m, t, e);
    mem_free(t);
    return ok;
}

char *show_us(double us, char *out, size_t size)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{1e6, 1e6, "s"}, {1e4, 1e3, "ms"}, {-INFINITY, 1, "us"}};
    int k = 0;
    while (us < units[k].from) k++;
    double v = us / units[k].unit;
    snprintf(out, size, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[k].name);
    return out;
}

const char *reason_without_name(const char *name, const char *why)
{
    size_t n = strlen(name);
    return !strncmp(why, name, n) && !strncmp(why + n, ": ", 2) ? why + n + 2 : why;
}

void refusal_without_force(struct err *e, const char *format, enum type real, bool first)
{
    static const char ending[] = "`force` converts all the same";
    char *at = e ? strstr(e->text, ending) : NULL;
    if (!at) return;
    snprintf(at, sizeof e->text - (size_t)(at - e->text), "`convert %s %sforce` %s", format,
             real == T_F32 ? "f32 " : "", first ? "first" : "stores it all the same");
}

const struct run *modeled_run(const struct session *s, const struct matrix *m, const struct kernel *k, enum type real)
{
    for (int i = 0; i < s->nruns && s->runs_of == m; i++)
        if (s->runs[i].kernel == k && s->runs[i].real == real && s->runs[i].dev->kind == DEV_CUDA) return &s->runs[i];
    return NULL;
}

void modeled_remarks(struct out *o, const struct machine *g, bool sampled)
{
    out_text(o, g->here ? "Predicted for %s, by its measured ceilings." : "Predicted for an %s; no GPU here.", g->name);
    out_text(o, "Its error against an NVIDIA H200: within 6%% half of the time, 11%% on average (24 matrices, fp64).");
    if (sampled)
        out_text(o, "Blocks were sampled, and the longest row looked for: about %d accesses of lanes were watched.",
                 +ACCESSES);
}

void out_modeled(struct session *s, const struct matrix *m, const struct modeled *k)
{
    const struct run *r = modeled_run(s, m, k->kernel, k->real);
    struct out *o = s->out;
    out_str(o, "kernel", "kernel", k->kernel->name);
    out_str(o, "matrix", "matrix", m->name);
    out_str(o, "format", NULL, k->kernel->format->name);
    out_str(o, "precision", "precision", type_name(k->real));
    out_str(o, "machine", NULL, k->on.name);
    out_bool(o, "machine_here", NULL, k->on.here);
    out_time(o, "predicted_us", "predicted", k->time.us);
    out_time(o, "launch_us", "of that to launch", k->time.launch_us);
    out_str(o, "bound", "bound by", bound_names[k->time.bound]);
    out_bytes(o, "bytes", "bytes that must move", k->bytes);
    out_bytes(o, "l2_bytes", "bytes from L2", (int64_t)k->time.l2_bytes);
    out_bytes(o, "dram_bytes", "bytes from memory", (int64_t)k->time.dram_bytes);
    out_num(o, "padding_percent", "padding %",
            k->plan.slots ? 100 * (double)k->plan.padding / (double)k->plan.slots : 0, "%.1f");
    out_bool(o, "sampled", NULL, k->work.sampled);
    out_num(o, "measured_us", r ? "measured, us" : NULL, r ? r->us : NAN, "%.2f");
}
