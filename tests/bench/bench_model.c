/* Compare predicted with measured times, in fp64: the errors by kernel, and what the advice of `advise` is worth, as
   the best time of all kernels / the time of the kernel that `advise` chooses. Without measuring, that is its first
   kernel; on a GPU, the fastest of its first MEASURED_FIRST kernels and of cuSPARSE's kernels.

   Usage: bench_model [saved FILE]... [gpu PROFILE] [works FILE] [f32] [generated|real|all] [NAME...]
          bench_model times FILE [f32] [generated|real|all] [NAME...]
   The times are measured here, on a GPU, or read from files that `warpspy --json` wrote for `bench`, or `times`; each
   line is assigned to the matrix of the same shape. Predictions are for the GPU that measures, or for PROFILE, or for
   an H200. `times` only measures, and also saves the profile of its GPU as FILE.gpu: predictions take much longer than
   measurements, and need no GPU. NAME selects matrices of kits/problems.h and of the collection. Every third
   matrix is held out: the constants of model.c and black_box.c are not fitted to it, and its errors are also shown
   separately. `works` writes the work of every kernel, from which fit_model.py fits the constants. Exit status 1: the
   advice with measuring is worth less than MEAN on average or less than MIN on a matrix, or the predicted times of
   our kernels are wrong by more than ERROR_MAX on average.
   h200.jsonl beside this file has the times of all kernels on the matrices of kits/problems.h, as `times` measured them
   on an H200 (CUDA 13.0); `make check-model` compares the predictions with them. */
#include <stdio.h>

#include "advice/advice.h"
#include "advice/predicted.h"
#include "advice/predictions.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/precision.h"
#include "files/load_info.h"
#include "formats/format.h"
#include "kits/collection.h"
#include "kits/problems.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "microscope/black_box.h"
#include "microscope/gpu_profile.h"
#include "microscope/modeled.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/spmv.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 32, PAIRS_MAX = 40000, REPS = 50, HOLD_OUT = 3 };
static const double MEAN = 0.99, MIN = 0.9, ERROR_MAX = 8.5; /* percent */

/* The measured time of a kernel on a matrix. */
struct timing {
    int64_t rows, cols, nnz;
    char kernel[NAME_SIZE];
    bool single;
    int64_t bytes; /* minimum traffic, which depends on the parameters of the format */
    double us;
};

/* What the advice is worth on a group of matrices. */
struct worth {
    int n;
    double predicted, least_predicted; /* sums, and the least */
    double measured, least_measured;
};

struct bench {
    struct session s;
    struct matrix *m;
    struct device *gpu; /* NULL if the times are read from files */
    enum precision real;
    struct timing *saved;
    int nsaved, room;
    struct pair {
        char kernel[NAME_SIZE];
        double error;
        bool held_out;
    } pair[PAIRS_MAX];
    int npairs;
    struct worth all, held_out;
    FILE *works, *times;     /* NULL: not written */
    char profile[4096];      /* the file that receives the profile of the GPU, if times are written */
    struct machine on;       /* predictions are for this GPU */
    const char *const *only; /* names of matrices, terminated by NULL; empty: all */
};

/* ---- measured times ---- */

static struct timing *timing_new(struct bench *b)
{
    if (b->nsaved == b->room) {
        b->room = b->room ? 2 * b->room : 1024;
        b->saved = realloc(b->saved, (size_t)b->room * sizeof *b->saved);
        if (!b->saved) exit(1);
    }
    return &b->saved[b->nsaved++];
}

static int64_t whole(const cJSON *row, const char *key)
{
    return (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(row, key));
}

static void keep_line(struct bench *b, const cJSON *row)
{
    const cJSON *us = cJSON_GetObjectItem(row, "time_us"), *kernel = cJSON_GetObjectItem(row, "kernel");
    const cJSON *precision = cJSON_GetObjectItem(row, "precision");
    if (!cJSON_IsNumber(us) || !cJSON_IsString(kernel) || !cJSON_IsString(precision)) return;
    struct timing *t = timing_new(b);
    *t = (struct timing){.rows = whole(row, "rows"), .cols = whole(row, "cols"), .nnz = whole(row, "nnz")};
    t->bytes = whole(row, "bytes");
    t->us = us->valuedouble;
    t->single = !strcmp(precision->valuestring, type_name(T_F32));
    snprintf(t->kernel, sizeof t->kernel, "%s", kernel->valuestring);
}

static bool read_saved(struct bench *b, const char *path)
{
    static char line[65536];
    FILE *f = fopen(path, "r");
    int before = b->nsaved;
    while (f && fgets(line, sizeof line, f)) {
        cJSON *row = cJSON_Parse(line);
        if (row) keep_line(b, row);
        cJSON_Delete(row);
    }
    if (f) fclose(f);
    if (b->nsaved == before) fprintf(stderr, "%s has no times of `bench`\n", path);
    return b->nsaved > before;
}

static bool is_of(const struct timing *t, const struct csr *A, enum precision real)
{
    return t->rows == A->rows && t->cols == A->cols && t->nnz == A->nnz && t->single == (real == P_F32);
}

static void measure_all(struct bench *b)
{
    const struct csr *A = &b->m->csr;
    struct spmv_request w = {.matrix = b->m, .dev = b->gpu, .real = b->real, .reps = REPS};
    for (int i = 0; kernels[i]; i++) {
        struct run r;
        struct err unfit = {0};
        w.kernel = kernels[i];
        if (!kernel_runs_on(w.kernel, b->gpu) || !spmv_measure(&b->s, &w, &r, &unfit)) continue;
        struct timing *t = timing_new(b);
        *t = (struct timing){
            .rows = A->rows, .cols = A->cols, .nnz = A->nnz, .bytes = r.bytes, .us = r.us, .single = b->real == P_F32};
        snprintf(t->kernel, sizeof t->kernel, "%s", kernels[i]->name);
    }
}

static void write_times(const struct bench *b)
{
    for (int i = 0; i < b->nsaved; i++) {
        const struct timing *t = &b->saved[i];
        fprintf(b->times,
                "{\"rows\":%lld,\"cols\":%lld,\"nnz\":%lld,\"kernel\":\"%s\",\"precision\":\"%s\",\"bytes\":%lld,"
                "\"time_us\":%.6g}\n",
                (long long)t->rows, (long long)t->cols, (long long)t->nnz, t->kernel,
                type_name(t->single ? T_F32 : T_F64), (long long)t->bytes, t->us);
    }
    fflush(b->times);
}

/* The shortest time in us; infinite if the kernel was not measured, or only with other parameters. bytes 0: with any
   parameters. */
static double time_of(const struct bench *b, const char *kernel, int64_t bytes)
{
    double us = INFINITY;
    for (int i = 0; i < b->nsaved; i++) {
        const struct timing *t = &b->saved[i];
        bool same = is_of(t, &b->m->csr, b->real) && !strcmp(t->kernel, kernel) && (!bytes || t->bytes == bytes);
        if (same) us = fmin(us, t->us);
    }
    return us;
}

static bool is_library(const char *kernel)
{
    const struct kernel *k = kernel_find(kernel);
    return k ? k->vendor : kernel_needs_cuda(kernel);
}

/* ---- the work of the kernels, for fit_model.py ---- */

static void write_waits(FILE *f, const char *name, const double *wait)
{
    fprintf(f, ",\"%s\":[", name);
    for (int k = 0; k < WAITS; k++) fprintf(f, "%s%.6g", k ? "," : "", wait[k]);
    fprintf(f, "]");
}

static void write_launch(FILE *f, const struct work *w)
{
    fprintf(f,
            "{\"name\":\"%s\",\"blocks\":%lld,\"threads\":%lld,\"shared\":%lld,\"registers\":%lld,\"l2_lines\":%.6g,"
            "\"steps\":%.6g,"
            "\"lines\":%.6g,"
            "\"sectors\":%.6g,\"l2_loads\":%.6g,"
            "\"l2_stores\":%.6g,\"atomics\":%.6g,\"atomic_sectors\":%.6g,\"hot\":%.6g,\"gathered\":%.6g,"
            "\"wavefronts\":%.6g,\"footprint\":%.6g,\"lost\":%.6g,\"warp_steps\":%.6g,\"longest_steps\":%.6g",
            w->name, (long long)w->blocks, (long long)w->threads, (long long)w->shared_bytes, (long long)w->registers,
            w->l2_lines, w->steps, w->lines, w->sectors, w->l2_loads, w->l2_stores, w->atomics, w->atomic_sectors,
            w->hot, w->gathered, w->wavefronts, w->footprint, w->lost, w->warp_steps, w->longest_steps);
    write_waits(f, "wait", w->wait);
    write_waits(f, "longest", w->longest);
    fprintf(f, "}");
}

static void write_machine(FILE *f, const struct machine *g, enum precision real)
{
    fprintf(f,
            ",\"sms\":%d,\"read_gbs\":%.6g,\"cache_gbs\":%.6g,\"launch_us\":%.6g,\"cache_mb\":%.6g,"
            "\"gather_gps\":%.6g,\"single\":%d",
            g->sms, g->c.read_gbs, g->c.cache_gbs, g->c.launch_us, g->is.l2_mb, g->c.gather_gps, real == P_F32);
}

static void write_works(const struct bench *b, const char *name, bool held_out, const struct predictions *a)
{
    struct black_box_terms t = {0};
    for (int i = 0; i < a->n; i++) {
        const struct modeled *k = &a->k[i];
        double us = time_of(b, k->kernel->name, k->bytes);
        fprintf(b->works, "{\"matrix\":\"%s\",\"held_out\":%d,\"kernel\":\"%s\",\"shares\":%d,\"bytes\":%lld", name,
                held_out, k->kernel->name, k->kernel->shares, (long long)k->bytes);
        write_machine(b->works, &k->on, b->real);
        fprintf(b->works,
                ",\"predicted\":%.6g,\"us\":%.6g,\"footprint\":%.6g,\"in_lines\":%.6g,\"once\":%.6g,\"again\":%.6g,"
                "\"launches\":[",
                k->time.us, isinf(us) ? 0 : us, k->work.footprint, k->work.in_lines, k->work.once, k->work.again);
        for (int l = 0; l < k->work.n; l++) {
            if (l) fprintf(b->works, ",");
            write_launch(b->works, &k->work.launch[l]);
        }
        fprintf(b->works, "]}\n");
    }
    for (const struct black_box *x = black_boxes; x->name; x++) {
        double us = time_of(b, x->name, 0);
        if (isinf(us) || !black_box_terms_of(x, &b->m->csr, b->real, &t, NULL)) continue;
        fprintf(b->works,
                "{\"matrix\":\"%s\",\"held_out\":%d,\"box\":\"%s\",\"us\":%.6g,\"bytes\":%lld,\"gathers\":%lld,"
                "\"longest\":%lld}\n",
                name, held_out, x->name, us, (long long)t.bytes, (long long)t.gathers, (long long)t.longest);
    }
    fflush(b->works);
}

/* ---- the worth of the advice on a matrix ---- */

/* What the advice leads to. */
struct outcome {
    double best, first, measured;
    const char *best_name, *first_name, *measured_name;
    int rank; /* of the best kernel among ours, counted from 1; 0: a library's kernel is best */
};

static void take(double *best, const char **best_name, double us, const char *name)
{
    if (us < *best) *best = us, *best_name = name;
}

static void note_error(struct bench *b, bool held_out, const char *kernel, double predicted, double us)
{
    if (b->npairs == PAIRS_MAX || isnan(predicted)) return;
    struct pair *p = &b->pair[b->npairs++];
    *p = (struct pair){.error = predicted / us - 1, .held_out = held_out};
    snprintf(p->kernel, sizeof p->kernel, "%s", kernel);
}

static struct outcome outcome_of(struct bench *b, const struct choices *all, bool held_out)
{
    struct outcome o = {INFINITY, INFINITY, INFINITY, NULL, NULL, NULL, 0};
    int own = 0;
    for (int i = 0; i < b->nsaved; i++) {
        const struct timing *t = &b->saved[i];
        if (!is_of(t, &b->m->csr, b->real) || !is_library(t->kernel)) continue;
        take(&o.best, &o.best_name, t->us, t->kernel);
        take(&o.measured, &o.measured_name, t->us, t->kernel);
    }
    for (int i = 0; i < all->n; i++) {
        const struct choice *c = &all->c[i];
        double us = time_of(b, c->name, c->model ? c->model->bytes : 0);
        if (isinf(us)) continue;
        note_error(b, held_out, c->name, c->predicted_us, us);
        if (!o.first_name) o.first = us, o.first_name = c->name;
        if (!c->kernel || is_library(c->name)) continue;
        if (us < o.best) o.rank = own + 1;
        take(&o.best, &o.best_name, us, c->name);
        if (own++ < MEASURED_FIRST) take(&o.measured, &o.measured_name, us, c->name);
    }
    return o;
}

static void add_worth(struct worth *w, const struct outcome *o)
{
    double predicted = o->best / o->first, measured = o->best / o->measured;
    w->predicted += predicted;
    w->measured += measured;
    if (!w->n || predicted < w->least_predicted) w->least_predicted = predicted;
    if (!w->n || measured < w->least_measured) w->least_measured = measured;
    w->n++;
}

/* A number that does not depend on which matrices are looked at. */
static bool is_held_out(const struct csr *A)
{
    return (A->rows + 7 * A->nnz) % HOLD_OUT == 0;
}

static void judge(struct bench *b, const char *name, const struct choices *all, bool held_out, double took_us)
{
    struct outcome o = outcome_of(b, all, held_out);
    char rank[16] = "-";
    if (!o.first_name) return;
    if (o.rank) snprintf(rank, sizeof rank, "%d", o.rank);
    printf("%-22.22s %9lld %c %-20.20s %8.2f %4s  %-20.20s %8.2f %5.3f  %-20.20s %8.2f %5.3f %6.1f\n", name,
           (long long)b->m->csr.nnz, held_out ? '*' : ' ', o.best_name, o.best, rank, o.first_name, o.first,
           o.best / o.first, o.measured_name, o.measured, o.best / o.measured, took_us / 1e6);
    fflush(stdout);
    add_worth(&b->all, &o);
    if (held_out) add_worth(&b->held_out, &o);
}

static bool advise_and_judge(struct bench *b, const char *name, struct err *e)
{
    struct predictions a = {0};
    struct choices all = {0};
    bool held_out = is_held_out(&b->m->csr);
    double start = now_us();
    bool ok = predictions_of(&b->s, b->m, NULL, 0, b->real, &b->on, &a, e) && choices_of(&b->s, b->m, &a, 0, &all, e) &&
              choices_fit(&all, &b->s, b->m, b->real, e);
    double took = now_us() - start;
    if (ok && b->gpu) measure_all(b);
    if (ok && b->works) write_works(b, name, held_out, &a);
    if (ok) judge(b, name, &all, held_out, took);
    choices_free(&all);
    predictions_free(&a);
    return ok;
}

/* Measure the matrix, and write the times. */
static bool only_measure(struct bench *b, const char *name)
{
    double start = now_us();
    b->nsaved = 0;
    measure_all(b);
    write_times(b);
    printf("%-22.22s %9lld: %d kernels measured in %.1f s\n", name, (long long)b->m->csr.nnz, b->nsaved,
           (now_us() - start) / 1e6);
    fflush(stdout);
    return b->nsaved > 0;
}

/* Takes ownership of A. */
static bool one_matrix(struct bench *b, const char *name, struct csr *A)
{
    struct err e = {0};
    struct load_info info = {0};
    snprintf(info.file, sizeof info.file, "%s", name); /* the session makes a name of it: it may hold blanks */
    bool known = b->gpu || !b->nsaved;
    for (int i = 0; i < b->nsaved && !known; i++) known = is_of(&b->saved[i], A, b->real);
    if (!known) return csr_free(A), true;
    bool ok = session_add(&b->s, NULL, A, &info, &e);
    b->m = ok ? session_matrix(&b->s, NULL, &e) : NULL;
    ok = b->m && (b->times ? only_measure(b, name) : advise_and_judge(b, name, &e));
    if (!ok) printf("# %s: %s\n", name, e.text);
    if (b->m) session_drop(&b->s, b->m);
    return ok;
}

/* ---- the matrices ---- */

static bool is_wanted(const struct bench *b, const char *name)
{
    bool wanted = !b->only[0];
    for (int i = 0; b->only[i] && !wanted; i++) wanted = !strcmp(b->only[i], name);
    return wanted;
}

static bool generated(struct bench *b, const struct problem *p)
{
    bool ok = true;
    for (; p->name; p++) {
        struct err e = {0};
        struct csr A;
        if (!is_wanted(b, p->name)) continue;
        if (problem_make(p, &A, &e))
            ok &= one_matrix(b, p->name, &A);
        else
            ok = (printf("# %s: %s\n", p->name, e.text), false);
    }
    return ok;
}

static bool real(struct bench *b)
{
    const char *folder;
    char line[4096], name[64];
    long long stored;
    bool ok = true;
    FILE *index = collection_index("the real matrices", &folder);
    while (index && fgets(line, sizeof line, index)) {
        struct csr A;
        struct err e = {0};
        bool skip;
        if (sscanf(line, "%63s %*s %*s %lld", name, &stored) != 2 || !is_wanted(b, name)) continue;
        if (2 * stored <= PROBLEM_SMALLEST) continue; /* too small even if only half of it is stored */
        if (problem_load(folder, name, &A, &skip, &e))
            ok &= one_matrix(b, name, &A);
        else if (!skip)
            printf("# %s: %s\n", name, e.text);
    }
    if (index) fclose(index);
    return ok;
}

/* ---- the summary ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* kernel NULL: all of our kernels. Returns the mean in percent. */
static double print_errors(const struct bench *b, const char *kernel, bool held_out)
{
    static double error[PAIRS_MAX];
    double sum = 0, bias = 0;
    int n = 0;
    for (int i = 0; i < b->npairs; i++) {
        const struct pair *p = &b->pair[i];
        if (kernel ? strcmp(p->kernel, kernel) != 0 : is_library(p->kernel)) continue;
        if (held_out && !p->held_out) continue;
        error[n] = fabs(p->error);
        sum += error[n++];
        bias += p->error;
    }
    if (!n) return 0;
    qsort(error, (size_t)n, sizeof *error, by_size);
    printf("%-26s %5d  mean %6.1f%%  median %6.1f%%  worst %7.1f%%  bias %+6.1f%%\n", kernel ? kernel : "all of ours",
           n, 100 * sum / n, 100 * error[n / 2], 100 * error[n - 1], 100 * bias / n);
    return 100 * sum / n;
}

/* Returns the mean error of our kernels in percent. */
static double print_kernel_errors(const struct bench *b)
{
    for (int i = 0; i < b->npairs; i++) {
        bool first = true;
        for (int j = 0; j < i && first; j++) first = strcmp(b->pair[i].kernel, b->pair[j].kernel) != 0;
        if (first) print_errors(b, b->pair[i].kernel, false);
    }
    double mean = print_errors(b, NULL, false);
    printf("held out: ");
    print_errors(b, NULL, true);
    return mean;
}

static void print_worth(const char *what, const struct worth *w)
{
    if (!w->n) return;
    printf("# %s, %d matrices: best time / time of the choice: as predicted %.4f on average, %.3f at least; after "
           "measuring the first %d and cuSPARSE's %.4f, %.3f\n",
           what, w->n, w->predicted / w->n, w->least_predicted, +MEASURED_FIRST, w->measured / w->n, w->least_measured);
}

/* ---- the command line ---- */

/* Remove the word at position i, and `count` words after it. */
static void drop_words(int *argc, char **argv, int i, int count)
{
    memmove(argv + i, argv + i + 1 + count, (size_t)(*argc - i - count) * sizeof *argv);
    *argc -= 1 + count;
}

static bool open_times(struct bench *b, const char *path)
{
    snprintf(b->profile, sizeof b->profile, "%s.gpu", path);
    return (b->times = fopen(path, "w")) != NULL;
}

/* Take the options out of argv; the names of matrices remain. */
static bool read_options(struct bench *b, int argc, char **argv, const char **group, struct err *e)
{
    static const char *const groups[] = {"generated", "real", "all"};
    static const char *const with_value[] = {"saved", "works", "times", "gpu"};
    for (int i = 1; i < argc;) {
        bool given = i + 1 < argc;
        const char *named = NULL;
        for (int k = 0; k < COUNT(groups); k++)
            if (!strcmp(argv[i], groups[k])) named = groups[k];
        if (named) *group = named;
        if (!strcmp(argv[i], "f32")) b->real = P_F32;
        if (given && !strcmp(argv[i], "saved") && !read_saved(b, argv[i + 1])) return false;
        if (given && !strcmp(argv[i], "works") && !(b->works = fopen(argv[i + 1], "w"))) return false;
        if (given && !strcmp(argv[i], "times") && !open_times(b, argv[i + 1])) return false;
        if (given && !strcmp(argv[i], "gpu") && !profile_load(argv[i + 1], &b->on, e)) return false;
        bool option = false;
        for (int k = 0; k < COUNT(with_value); k++) option |= given && !strcmp(argv[i], with_value[k]);
        if (option || named || !strcmp(argv[i], "f32"))
            drop_words(&argc, argv, i, option);
        else
            i++;
    }
    b->only = (const char *const *)argv + 1;
    return true;
}

int main(int argc, char **argv)
{
    static struct bench b = {.real = P_F64};
    const char *group = "all";
    struct err e = {0};
    b.on = machine_of(NULL);
    bool ok = session_new(&b.s, stderr, stderr, OUT_TEXT, &e) && read_options(&b, argc, argv, &group, &e);
    if (ok && !b.nsaved && (!b.works || b.times) && device_count(DEV_CUDA) == 0)
        return printf("# the model against measured times: skipped, there is no GPU\n"), 0;
    if (ok && !b.nsaved && device_count(DEV_CUDA)) b.gpu = device_open("cuda:0", &e);
    ok = ok && (!b.gpu || device_ceilings(b.gpu, NULL, &e));
    if (ok && b.gpu) b.on = machine_of(b.gpu);
    ok = ok && (!b.times || profile_save(b.profile, &b.on, true, &e));
    if (e.code) printf("# %s\n", e.text);
    printf("%-22s %9s * %-20s %8s %4s  %-20s %8s %5s  %-20s %8s %5s %6s\n", "matrix, * held out", "nonzeros", "best",
           "us", "rank", "as predicted", "us", "worth", "after measuring", "us", "worth", "took s");
    if (ok && strcmp(group, "real") != 0) ok &= generated(&b, problems) & generated(&b, more_problems);
    if (ok && strcmp(group, "generated") != 0) ok &= real(&b);
    double error = print_kernel_errors(&b);
    print_worth("all", &b.all);
    print_worth("held out", &b.held_out);
    if (b.works) fclose(b.works);
    if (b.times) fclose(b.times);
    session_free(&b.s);
    devices_close();
    free(b.saved);
    bool worth = !b.all.n || (b.all.measured >= MEAN * b.all.n && b.all.least_measured >= MIN);
    return !ok || !worth || error > ERROR_MAX;
}
