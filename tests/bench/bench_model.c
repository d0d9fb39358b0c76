/* Compare predicted with measured times, for every kernel on generated and given matrices: errors by kernel, including
   the fits of library kernels, and the speed of the advised kernel relative to the best kernel: as predicted, among our
   kernels, and after measuring the first predictions and the library kernels, among all kernels. Usage: bench_model
   [--f32] [--saved BENCH.jsonl] [FILE.mtx
   ...]. The times are measured here, on a GPU, or read from lines that `bench` wrote with --json. Each line is assigned
   to the matrix that has the same shape. */
#include "machine/bench.h"
#include "base/clock.h"
#include "session/command.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "microscope/black_box.h"
#include "microscope/modeled.h"
#include "session/advice.h"
#include "session/predicted.h"
#include "session/session.h"
#include "session/spmv.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAVED_MOST = 4000, KERNELS_MOST = 120, PAIRS_MOST = 4000 };

static const char *const lines[] = {"gen poisson2d 1000 999", "gen poisson3d 100",       "gen fem 300",
                                    "gen rmat 18 16",         "gen random 300000 10",    "gen circuit 300000 4",
                                    "gen band 200000 12",     "gen brokendiag 200000 12"};

struct saved {
    int64_t rows, nnz;
    char kernel[32];
    bool single;
    double us;
};

struct bench {
    struct session s;
    enum type real;
    struct device *gpu; /* NULL if the times were measured on a different machine */
    struct saved *saved;
    int nsaved;
    struct pair {
        int kernel;
        double error;
    } pair[PAIRS_MOST];
    int npairs;
    struct share {
        double sum, worst;
    } predicted, measured;
    int matrices;
    struct err err;
};

static void keep_line(struct bench *b, const cJSON *row)
{
    const cJSON *us = cJSON_GetObjectItem(row, "time_us"), *kernel = cJSON_GetObjectItem(row, "kernel");
    const cJSON *precision = cJSON_GetObjectItem(row, "precision");
    if (!cJSON_IsNumber(us) || !cJSON_IsString(kernel) || !cJSON_IsString(precision) || b->nsaved == SAVED_MOST) return;
    struct saved *s = &b->saved[b->nsaved++];
    s->rows = (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(row, "rows"));
    s->nnz = (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(row, "nnz"));
    s->us = us->valuedouble;
    s->single = !strcmp(precision->valuestring, "fp32");
    snprintf(s->kernel, sizeof s->kernel, "%s", kernel->valuestring);
}

static bool read_saved(struct bench *b, const char *path)
{
    static char line[65536];
    FILE *f = fopen(path, "r");
    b->saved = calloc(SAVED_MOST, sizeof *b->saved);
    while (f && b->saved && fgets(line, sizeof line, f)) {
        cJSON *row = cJSON_Parse(line);
        if (row) keep_line(b, row);
        cJSON_Delete(row);
    }
    if (f) fclose(f);
    return f != NULL && b->nsaved > 0;
}

/* Time in us; NaN if the kernel was not measured. */
static double measured(struct bench *b, struct matrix *m, const struct kernel *k)
{
    struct run r;
    struct err unseen = {0};
    struct spmv_request w = {.matrix = m, .dev = b->gpu, .real = b->real};
    if (b->gpu) return spmv_measure(&b->s, &w, k, &r, &unseen) ? r.us : NAN;
    for (int i = 0; i < b->nsaved; i++)
        if (b->saved[i].rows == m->csr.rows && b->saved[i].nnz == m->csr.nnz && !strcmp(b->saved[i].kernel, k->name) &&
            b->saved[i].single == (b->real == T_F32))
            return b->saved[i].us;
    return NAN;
}

static int kernel_number(const struct kernel *k)
{
    int i = 0;
    while (kernels[i] != k) i++;
    return i;
}

/* The times on one matrix. */
struct times {
    double best, advised; /* of our kernels: the fastest, and the first in the advice */
    double first;         /* the fastest of the first MEASURED_FIRST in the advice */
    double library;       /* the fastest library kernel; infinite: none */
    const struct kernel *fastest, *pick;
    double errors;
    int n;
};

static void keep_error(struct bench *b, const struct kernel *k, double predicted, double us)
{
    if (b->npairs < PAIRS_MOST) b->pair[b->npairs++] = (struct pair){kernel_number(k), predicted / us - 1};
}

static void compare_own(struct bench *b, struct matrix *m, const struct advice *a, struct times *t)
{
    for (int i = 0; i < a->n; i++) {
        const struct kernel *k = a->k[i].kernel;
        double us = measured(b, m, k);
        if (isnan(us)) continue;
        if (!t->n) t->advised = us, t->pick = k;
        if (t->n++ < MEASURED_FIRST) t->first = fmin(t->first, us);
        if (us < t->best) t->best = us, t->fastest = k;
        keep_error(b, k, a->k[i].time.us, us);
        t->errors += fabs(a->k[i].time.us / us - 1);
    }
}

static void compare_library(struct bench *b, struct matrix *m, struct times *t)
{
    int64_t gathers = 0;
    double us, fitted;
    for (int i = 0; kernels[i]; i++)
        if (kernels[i]->vendor && !isnan(us = measured(b, m, kernels[i]))) t->library = fmin(t->library, us);
    for (const struct black_box *x = black_boxes; x->name; x++) {
        const struct kernel *k = kernel_find(x->name);
        if (k && !isnan(us = measured(b, m, k)) && black_box_fit(x, &m->csr, b->real, &gathers, &fitted, NULL))
            keep_error(b, k, fitted, us);
    }
}

static void add_share(struct share *s, double share)
{
    s->sum += share;
    s->worst = fmin(s->worst, share);
}

/* Compare every kernel on the current matrix, and find the advised kernel. */
static bool one_matrix(struct bench *b, const char *line)
{
    struct machine g;
    struct advice a;
    struct err e = {0};
    struct matrix *m;
    struct times t = {.best = INFINITY, .advised = NAN, .first = INFINITY, .library = INFINITY};
    if (!run_line(&b->s, line) || !(m = session_matrix(&b->s, NULL, &e)) || !modeled_machine(&b->s, &g, &e))
        return false;
    double start = now_us();
    if (!advice_of(&b->s, m, NULL, b->real, &g, &a, &e)) return fail(&b->err, e.code, "%s", e.text);
    double took = now_us() - start;
    compare_own(b, m, &a, &t);
    compare_library(b, m, &t);
    advice_free(&a);
    if (!t.n) return true;
    double share = t.best / t.advised, all = fmin(t.best, t.library) / fmin(t.first, t.library);
    printf("%-34s mean error %5.1f%%  advised %-16s best %-16s share %5.1f%%, measured %5.1f%%   advice took %.1f s\n",
           line, 100 * t.errors / t.n, t.pick->name, t.fastest->name, 100 * share, 100 * all, took / 1e6);
    add_share(&b->predicted, share);
    add_share(&b->measured, all);
    b->matrices++;
    return session_drop(&b->s, m);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* kernel == -1 selects all of our kernels. */
static void say_errors(const struct bench *b, int kernel, const char *name)
{
    static double error[PAIRS_MOST];
    double sum = 0, bias = 0;
    int n = 0;
    for (int i = 0; i < b->npairs; i++)
        if (kernel < 0 ? !kernels[b->pair[i].kernel]->vendor : b->pair[i].kernel == kernel) {
            error[n] = fabs(b->pair[i].error);
            sum += error[n++];
            bias += b->pair[i].error;
        }
    if (!n) return;
    qsort(error, (size_t)n, sizeof *error, by_size);
    printf("%-18s %4d  mean %6.1f%%  median %6.1f%%  worst %6.1f%%  bias %+6.1f%%\n", name, n, 100 * sum / n,
           100 * error[n / 2], 100 * error[n - 1], 100 * bias / n);
}

int main(int argc, char **argv)
{
    static struct bench b = {.real = T_F64, .predicted.worst = 1, .measured.worst = 1};
    const char *file = NULL;
    char line[1024];
    bool ok = session_new(&b.s, stderr, stderr, OUT_TEXT, &b.err);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--f32")) b.real = T_F32;
        if (!strcmp(argv[i], "--saved") && i + 1 < argc) file = argv[i + 1];
    }
    if (file && !read_saved(&b, file)) return fprintf(stderr, "%s has no lines of bench\n", file), 1;
    if (!file && device_count(DEV_CUDA) == 0) return printf("no GPU here: nothing to hold the model against\n"), 0;
    b.gpu = file ? NULL : device_open("cuda:0", &b.err);
    for (int i = 0; ok && i < COUNT(lines); i++) ok = one_matrix(&b, lines[i]);
    for (int i = 1; ok && i < argc; i++) {
        bool value = !strcmp(argv[i], "--saved");
        if (value) i++;
        if (value || argv[i][0] == '-') continue;
        snprintf(line, sizeof line, "load '%s'", argv[i]);
        ok = one_matrix(&b, line);
    }
    if (!ok) fprintf(stderr, "%s\n", b.err.text);
    for (int k = 0; kernels[k]; k++) say_errors(&b, k, kernels[k]->name);
    say_errors(&b, -1, "all kernels");
    if (b.matrices)
        printf("the advised kernel reaches %.1f%% of the best on average, %.1f%% at worst, on %d matrices, %s\n"
               "after measuring the first %d and the library's kernels: %.1f%% of the best of all, %.1f%% at worst\n",
               100 * b.predicted.sum / b.matrices, 100 * b.predicted.worst, b.matrices, type_name(b.real),
               +MEASURED_FIRST, 100 * b.measured.sum / b.matrices, 100 * b.measured.worst);
    session_free(&b.s);
    devices_close();
    free(b.saved);
    return !ok;
}
