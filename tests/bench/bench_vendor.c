/* Own kernels against cuSPARSE's on cuda:0 in one run: for each matrix, the best kernel of each side, the best own
   kernel for CSR (compared with cuSPARSE's for CSR and COO), and the bound: the time of the fewest bytes that any
   kernel moves, or of the gathers of x. The matrices are twelve generated ones and the real matrices of
   WARPSPY_MATRICES with more than PROBLEM_SMALLEST nonzeros; `more` are other generated ones. `large` are those of
   discretise.py, as they come and in the order of `reorder locality`; they stay in the folder WARPSPY_LARGE, or in
   large/ beside the programs of the build.

   Usage: bench_vendor [f32] [times FILE] [generated|more|real|large|all] [NAME]
   NAME: only the matrix called NAME, with a line for each kernel. `times` writes the time of every kernel on every
   matrix, as lines for bench_model. `all` leaves out `more` and `large`. */
#include <stdio.h>

#include "base/array.h"
#include "base/err.h"
#include "base/precision.h"
#include "files/file.h"
#include "files/load_info.h"
#include "formats/fmt_coo.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "kits/collection.h"
#include "kits/problems.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/packer.h"
#include "machine/peer_library.h"
#include "matrix/csr.h"
#include "matrix/gathers.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 5, MANY = 100, PATIENCE = 2, NAMES = 64 };

/* What the command line asks for. */
static struct {
    enum precision real;
    FILE *times;
} asked = {.real = P_F64};

/* The fastest kernel of one side. */
struct best {
    double us, spread_us;
    const struct kernel *kernel;
};

/* What the kernels did on one matrix. */
struct contest {
    struct best own, csr;           /* csr: own kernels that read CSR */
    struct best vendor, vendor_csr; /* vendor_csr: cuSPARSE's kernels that read CSR or COO */
    int64_t bytes;                  /* the least that a kernel must move, over all formats */
    bool each;                      /* print a line for each kernel */
};

/* The contests of a group of matrices, as sums of logarithms. */
struct total {
    int n, behind; /* behind: contests lost by more than 3 % */
    double ratio, csr_ratio, least, share;
};

static void take(struct best *b, const struct run *r)
{
    if (!b->kernel || r->us < b->us) *b = (struct best){r->us, r->spread_us, r->kernel};
}

/* A kernel that is far from the best of its side is not timed again. */
static bool far_behind(const struct contest *c, const struct run *r)
{
    const struct best *b = r->kernel->vendor ? &c->vendor : &c->own;
    bool csr = r->of->format == &format_csr && !r->kernel->vendor;
    if (csr) b = &c->csr;
    return b->kernel && r->us > PATIENCE * b->us;
}

static void write_time(const struct run *r, const struct csr *A)
{
    if (!asked.times) return;
    fprintf(asked.times,
            "{\"rows\":%lld,\"cols\":%lld,\"nnz\":%lld,\"kernel\":\"%s\",\"precision\":\"%s\",\"bytes\":%lld,"
            "\"time_us\":%.3f,\"spread_us\":%.3f}\n",
            (long long)A->rows, (long long)A->cols, (long long)A->nnz, r->kernel->name, precisions[asked.real].name,
            (long long)r->bytes, r->us, r->spread_us);
}

static bool one_kernel(struct contest *c, const struct kernel *k, const struct csr *A, const struct mat *M)
{
    struct run r;
    struct err e = {0};
    if (!bench_kernel(k, A, M, FEW, NULL, &r, &e) ||
        (!far_behind(c, &r) && !bench_kernel(k, A, M, MANY, NULL, &r, &e))) {
        if (e.code == E_UNSUPPORTED || e.code == E_LIMIT || e.code == E_MEMORY) return true;
        printf("# %s: %s\n", k->name, e.text);
        return false;
    }
    write_time(&r, A);
    if (c->each)
        printf("#   %-12s %-24s %9.2f +- %5.2f us %7.0f GB/s\n", M->of->format->name, k->name, r.us, r.spread_us,
               r.gbs);
    bool csr = M->of->format == &format_csr;
    take(k->vendor ? &c->vendor : &c->own, &r);
    if (csr && !k->vendor) take(&c->csr, &r);
    if (k->vendor && (csr || M->of->format == &format_coo)) take(&c->vendor_csr, &r);
    if (!c->bytes || r.bytes < c->bytes) c->bytes = r.bytes;
    return true;
}

/* All kernels of one format with one set of parameters, on a matrix that is on the device. */
static bool all_kernels(struct contest *c, const struct csr *A, const struct mat *M, const int64_t *param)
{
    bool ok = true;
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        struct err unfit = {0};
        if (k->format != M->of->format || k->param != param || !kernel_runs_on(k, M->dev)) continue;
        if (k->fits && !k->fits(M->of, &unfit)) continue;
        ok &= one_kernel(c, k, A, M);
    }
    return ok;
}

/* Pack A on the device if the format has a packer, else on the host. Some launches read arrays on the host, too.
 * Formats that do not suit A are left out. */
static bool one_format(struct contest *c, const struct csr *A, const struct mat *csr, const struct format *f,
                       const int64_t *param)
{
    struct err e = {0};
    struct packing *p = NULL;
    struct stored S = {0};
    struct mat M = {0};
    bool on_device = packer_find(f, csr->dev) != NULL;
    bool packed =
        on_device ? packing_begin(&p, f, csr, param, false, &e) && packing_take(p, &S, &M, &e) && mat_get(&M, &S, &e)
                  : format_pack(A, f, param, asked.real, false, &S, &e) && mat_put(&M, &S, csr->dev, &e);
    bool ok = !packed || all_kernels(c, A, &M, param);
    if (!packed && e.code != E_LIMIT && e.code != E_UNSUPPORTED && e.code != E_MEMORY) {
        printf("# %s: %s\n", f->name, e.text);
        ok = e.code == E_USAGE;
    }
    if (p) packing_free(p);
    mat_free(&M);
    stored_free(&S);
    return ok;
}

/* Every format with its defaults, and with the parameters that one of its kernels asks for. */
static bool all_formats(struct contest *c, const struct csr *A, const struct mat *csr)
{
    bool ok = all_kernels(c, A, csr, NULL);
    for (int f = 0; formats[f]; f++) {
        const int64_t *done = NULL;
        if (formats[f] == csr->of->format) continue;
        ok &= one_format(c, A, csr, formats[f], NULL);
        for (int i = 0; kernels[i]; i++) {
            const struct kernel *k = kernels[i];
            if (k->format != formats[f] || !k->param || k->param == done || k->host) continue;
            done = k->param;
            ok &= one_format(c, A, csr, formats[f], k->param);
        }
    }
    return ok;
}

static void add(struct total *t, const struct contest *c, double share)
{
    double ratio = c->vendor.us / c->own.us;
    t->ratio += log(ratio);
    t->csr_ratio += log(c->vendor_csr.us / c->csr.us);
    t->share += log(share);
    if (!t->n || ratio < t->least) t->least = ratio;
    t->behind += ratio < 0.97;
    t->n++;
}

static void print_contest(const char *name, const struct csr *A, const struct contest *c, double share, double bound)
{
    printf("%-22.22s %9lld  %-20s %8.2f  %-20s %8.2f  %-20s %8.2f %5.2f %6.2f %8.2f %5.0f%%\n", name, (long long)A->nnz,
           c->own.kernel->name, c->own.us, c->csr.kernel->name, c->csr.us, c->vendor.kernel->name, c->vendor.us,
           c->vendor.us / c->own.us, c->vendor_csr.us / c->csr.us, bound, 100 * share);
    fflush(stdout);
}

/* The time of the fewest bytes that a kernel moves, of the gathers of x, or of a launch, whichever is longest. */
static double bound_us(const struct csr *A, const struct stored *S, const struct device *d, int64_t bytes)
{
    struct run r = {.dev = d, .of = S, .real = asked.real, .bytes = bytes};
    struct err e = {0};
    int64_t gathers = 0;
    if (!csr_gathers(A, SECTOR / (int)type_size(precisions[asked.real].vector), &gathers, &e)) return NAN;
    run_bounds(&r, gathers, &d->ceilings);
    return r.bound_us;
}

/* *out, which may be NULL, receives what the kernels did. */
static bool contest(const char *name, const struct csr *A, struct device *d, bool each, struct total *t,
                    struct contest *out)
{
    struct err e = {0};
    struct stored S;
    struct mat M;
    struct contest c = {.each = each};
    if (!format_pack(A, &format_csr, NULL, asked.real, false, &S, &e)) return printf("# %s: %s\n", name, e.text), false;
    bool ok = mat_put(&M, &S, d, &e);
    if (ok) {
        ok = all_formats(&c, A, &M);
        mat_free(&M);
    }
    double bound = bound_us(A, &S, d, c.bytes), share = bound / c.own.us;
    stored_free(&S);
    if (!c.own.kernel || !c.csr.kernel || !c.vendor_csr.kernel) return printf("# %s: %s\n", name, e.text), false;
    print_contest(name, A, &c, share, bound);
    add(t, &c, share);
    if (out) *out = c;
    return ok;
}

static void print_total(const char *what, const struct total *t)
{
    if (!t->n) return;
    printf("# %s, %d matrices: geometric mean %.3f, CSR kernels alone %.3f, least %.3f, below 0.97 on %d, share of the "
           "bound %.0f%%\n",
           what, t->n, exp(t->ratio / t->n), exp(t->csr_ratio / t->n), t->least, t->behind, 100 * exp(t->share / t->n));
}

static bool generated(struct device *d, const char *group, const struct problem *p, const char *only)
{
    struct total t = {0};
    bool ok = true;
    for (; p->name; p++) {
        struct err e = {0};
        struct csr A;
        if (only && strcmp(only, p->name)) continue;
        if (!problem_make(p, &A, &e)) return printf("# %s: %s\n", p->name, e.text), false;
        ok &= contest(p->name, &A, d, only != NULL, &t, NULL);
        csr_free(&A);
    }
    print_total(group, &t);
    return ok;
}

/* Complex matrices are left out: cuSPARSE's kernels are compared in fp64. */
static bool real_one(const char *folder, const char *name, struct device *d, bool each, struct total *t)
{
    struct csr A;
    struct err e = {0};
    bool skip;
    if (!problem_load(folder, name, &A, &skip, &e)) {
        if (!skip) printf("# %s: %s\n", name, e.text);
        return true;
    }
    bool ok = contest(name, &A, d, each, t, NULL);
    csr_free(&A);
    return ok;
}

static bool real(struct device *d, const char *only)
{
    const char *folder;
    char line[4096], name[NAMES];
    struct total t = {0};
    bool ok = true;
    FILE *index = collection_index("the real matrices", &folder);
    if (!index) return true;
    while (fgets(line, sizeof line, index))
        if (sscanf(line, "%63s", name) == 1 && strcmp(name, "name") && (!only || !strcmp(only, name)))
            ok &= real_one(folder, name, d, only != NULL, &t);
    fclose(index);
    print_total("real", &t);
    return ok;
}

/* ---- large matrices of discretisers ---- */

/* Makes the files of `large` that are missing. Returns the exit status of discretise.py, 77 if it cannot run. */
static int make_large(const char *folder, const char *programs, const char *only)
{
    const char *python = getenv("PYTHON");
    char program[1100];
    snprintf(program, sizeof program, "%s/warpspy", programs);
    pid_t child = fork();
    if (child == 0) {
        execlp(python ? python : "python3", "python3", "tests/bench/discretise.py", folder, "--warpspy", program, only,
               (char *)NULL);
        _exit(77);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

static bool large_file(const char *path, const char *name, struct device *d, bool each, struct total *t,
                       struct contest *c)
{
    struct csr A;
    struct err e = {0};
    struct load_info info = {0};
    if (!file_load(path, NULL, NULL, &A, &info, &e)) return printf("# %s: %s\n", name, e.text), false;
    bool ok = contest(name, &A, d, each, t, c);
    csr_free(&A);
    return ok;
}

/* The pair NAME.wsb and NAME-locality.wsb of a folder; suffix: where the name ends in the path of the second. */
static bool large_pair(char *path, char *suffix, struct device *d, bool each, struct total *given, struct total *moved)
{
    struct contest was = {0}, is = {0};
    struct total alone = {0};
    char name[NAMES];
    const char *begin = strrchr(path, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)(suffix - begin), begin);
    bool ok = large_file(path, "  by locality", d, each, &alone, &is);
    snprintf(suffix, sizeof ".wsb", ".wsb");
    ok &= large_file(path, name, d, each, given, &was);
    if (!was.vendor.kernel || !is.own.kernel) return ok;
    is.vendor = was.vendor;
    is.vendor_csr = was.vendor_csr;
    add(moved, &is, exp(alone.share));
    printf("# %s: cuSPARSE in the order given %.2f us, own in the order of `reorder locality` %.2f us: %.2f\n", name,
           was.vendor.us, is.own.us, was.vendor.us / is.own.us);
    return ok;
}

static bool large(struct device *d, const char *programs, const char *only)
{
    const char *kept = getenv("WARPSPY_LARGE");
    char folder[1100], pattern[2200];
    struct total given = {0}, moved = {0};
    glob_t found;
    bool ok = true;
    snprintf(folder, sizeof folder, "%s%s", kept ? kept : programs, kept ? "" : "/large");
    int status = make_large(folder, programs, only);
    if (status == 77) return true; /* it has said why */
    if (status) return printf("# discretise.py ended with status %d\n", status), false;
    snprintf(pattern, sizeof pattern, "%s/%s-locality.wsb", folder, only ? only : "*");
    if (glob(pattern, 0, NULL, &found)) return true;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i];
        ok &= large_pair(path, strrchr(path, '-'), d, only != NULL, &given, &moved);
    }
    globfree(&found);
    print_total("large, in the order given", &given);
    print_total("large, own in the order of `reorder locality`, cuSPARSE in the order given", &moved);
    return ok;
}

/* Returns the number of options, which stand before the group of matrices. */
static int read_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc; i++) {
        bool file = !strcmp(argv[i], "times") && i + 1 < argc;
        if (!file && strcmp(argv[i], "f32") != 0) break;
        if (!file) asked.real = P_F32;
        if (file && !(asked.times = fopen(argv[++i], "w"))) exit((perror(argv[i]), 1));
    }
    return i - 1;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    char programs[1024];
    const char *end = strrchr(argv[0], '/');
    snprintf(programs, sizeof programs, "%.*s/../..", end ? (int)(end - argv[0]) : 1, end ? argv[0] : ".");
    int options = read_options(argc, argv);
    argc -= options, argv += options;
    const char *which = argc > 1 ? argv[1] : "all", *only = argc > 2 ? argv[2] : NULL;
    bool all = !strcmp(which, "all"), ok = true;
    if (device_count(DEV_CUDA) == 0) return printf("# own kernels against cuSPARSE's: skipped, there is no GPU\n"), 0;
    struct device *d = device_open("cuda:0", &e);
    if (!d || !device_ceilings(d, NULL, &e)) return printf("# %s\n", e.text), 1;
    printf("# %s: %s\n# %s\n# %s, read %.0f GB/s, cache %.0f GB/s, launch %.2f us\n", d->name, d->about,
           cusparse_version() ? cusparse_version() : "no cuSPARSE", precisions[asked.real].name, d->ceilings.read_gbs,
           d->ceilings.cache_gbs, d->ceilings.launch_us);
    printf("%-22s %9s  %-20s %8s  %-20s %8s  %-20s %8s %5s %6s %8s %6s\n", "matrix", "nonzeros", "own kernel", "us",
           "own CSR kernel", "us", "cuSPARSE", "us", "ratio", "csr", "bound us", "share");
    if (all || !strcmp(which, "generated")) ok &= generated(d, "generated", problems, only);
    if (!strcmp(which, "more")) ok &= generated(d, "more", more_problems, only);
    if (all || !strcmp(which, "real")) ok &= real(d, only);
    if (!strcmp(which, "large")) ok &= large(d, programs, only);
    if (asked.times) fclose(asked.times);
    devices_close();
    return !ok;
}
