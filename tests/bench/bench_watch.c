/* The time to run and to watch kernels on the emulator at 10^7 nonzeros: a launch that is not watched, and what
   `count`, `trace` and `predict` take once the matrix is packed and the kernel prepared, each the least of RUNS runs.
   Usage: bench_watch [KERNEL]... */
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 2 };
static const double SLOW_S = 1;
static const char *const matrices[] = {"gen poisson3d 113", "gen rmat 20 10 seed 1", "gen circuit 2250000 3",
                                       "gen fem 352", "gen random 400000 25 seed 1"};
static const char *const watches[] = {"count", "trace", "predict"};

/* Seconds of a command line; negative: it failed. */
static double watch_s(struct session *s, const char *command, const char *kernel)
{
    char line[200];
    double least = -1;
    snprintf(line, sizeof line, "%s %s", command, kernel);
    for (int i = 0; i < RUNS; i++) {
        double start = now_us();
        if (!run_line(s, line)) return -1;
        double t = (now_us() - start) / 1e6;
        if (least < 0 || t < least) least = t;
    }
    return least;
}

/* Seconds of a launch that is not watched; the first one prepares the kernel. */
static double launch_s(const struct kernel *k, const struct mat *M, struct err *e)
{
    const struct stored *S = M->of;
    double *x = mem_zero(S->cols, sizeof *x, "x", e), *y = mem_zero(S->rows, sizeof *y, "y", e), least = -1;
    struct launch L = {.A = M, .alpha = 1, .x = x, .y = y};
    for (int i = 0; x && y && i <= RUNS; i++) {
        double start = now_us();
        if (!kernel_launch(k, &L, e) || !M->dev->ops->sync(M->dev, e)) break;
        double t = (now_us() - start) / 1e6;
        if (i && (least < 0 || t < least)) least = t;
    }
    mem_free(x);
    mem_free(y);
    return least;
}

static void time_kernel(struct session *s, const struct kernel *k, struct device *emu)
{
    struct err e = {0};
    double start = now_us();
    struct product *p = session_product(s, form_of(s->current, k->format, k->param, P_F64), &e);
    double packed = (now_us() - start) / 1e6;
    struct mat *M = p ? session_mat(s, p, emu, &e) : NULL;
    double launch = M ? launch_s(k, M, &e) : -1;
    printf("%-24s", k->name);
    if (launch < 0) {
        printf(" %s\n", e.text);
        return;
    }
    printf(" %7.2f %7.2f %7.2f %7.0f", packed, kernel_prepared_us(k, M) / 1e6, launch,
           launch * 1e9 / (double)s->current->csr.nnz);
    bool slow = false;
    for (int i = 0; i < COUNT(watches); i++) {
        double t = watch_s(s, watches[i], k->name);
        slow |= t > SLOW_S;
        printf(t < 0 ? " refused" : " %7.2f", t);
    }
    printf("%s\n", slow ? "  slow" : "");
    fflush(stdout);
}

static bool asked(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name)) return true;
    return argc < 2;
}

static bool time_matrix(const char *line, int argc, char **argv)
{
    struct session s;
    struct err e = {0};
    FILE *quiet = fopen("/dev/null", "w");
    if (!quiet || !session_new(&s, quiet, quiet, OUT_TEXT, &e) || !run_line(&s, line)) return false;
    struct device *emu = session_device(&s, "emu", &e);
    printf("\n%s: %lld nonzeros, seconds\n%-24s %7s %7s %7s %7s", line, (long long)s.current->csr.nnz, "kernel", "pack",
           "prepare", "launch", "ns/nnz");
    for (int i = 0; i < COUNT(watches); i++) printf(" %7s", watches[i]);
    printf("\n");
    for (int i = 0; emu && kernels[i]; i++)
        if (kernel_runs_on(kernels[i], emu) && asked(kernels[i]->name, argc, argv)) time_kernel(&s, kernels[i], emu);
    session_free(&s);
    fclose(quiet);
    return emu != NULL;
}

int main(int argc, char **argv)
{
    bool ok = true;
    for (int i = 0; ok && i < COUNT(matrices); i++) ok = time_matrix(matrices[i], argc, argv);
    return ok ? 0 : 1;
}
