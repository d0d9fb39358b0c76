/* Measures how fast matrices load: a text file of 17-digit values, sorted by rows or by columns, and its binary cache.
   NIST's mmio and fast_matrix_market (if it is installed for the Python that the environment variable PYTHON names)
   load matrices for comparison. All readers take turns within one run. Usage: bench_load [MB [ROUNDS]], where the text
   has about MB million bytes. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"
#include "files/file.h"
#include "files/load_info.h"
#include "matrix/gen.h"

#include <lpsolve/mmio.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int mm_read_mtx_crd(char *path, int *rows, int *cols, int *n, int **row, int **col, double **val, MM_typecode *code);

enum { ROUNDS_MAX = 99, PATH = 256, PER_ROW = 10, LINE = 33 };

struct files {
    char dir[PATH / 2], rows[PATH], cols[PATH], cache[PATH];
    int64_t nnz;
};

static const char script[] = "import sys, time, fast_matrix_market as f\n"
                             "for i in (0, 1):\n"
                             "    t = time.perf_counter()\n"
                             "    a = f.read_coo(sys.argv[1], parallelism=int(sys.argv[2]))\n"
                             "    t = time.perf_counter() - t\n"
                             "print(t, len(a[0][0]))\n";

/* ---- the time of one load, in us; negative if the load failed ---- */

/* Measure the second of two loads, because the caches are cold during the first load. */
static double load_ours(const struct files *f, const char *path, int threads)
{
    double us = -1;
    omp_set_num_threads(threads);
    for (int i = 0; i < 2; i++) {
        struct csr A;
        struct load_info info;
        struct err e = {0};
        double start = now_us();
        if (!file_load(path, NULL, NULL, &A, &info, &e)) return printf("    %s: %s\n", path, e.text), -1;
        us = A.nnz == f->nnz ? now_us() - start : -1;
        csr_free(&A);
    }
    return us;
}

/* Measure fast_matrix_market: the second of two loads, as for our reader. The library only fills triplets, and neither
   sorts nor checks the triplets. */
static double load_peer(const struct files *f, const char *path, int threads)
{
    char command[2 * PATH + sizeof script];
    double s = -1;
    long long n = 0;
    const char *python = getenv("PYTHON");
    snprintf(command, sizeof command, "'%s' -c '%s' '%s' %d 2>/dev/null", python ? python : "python3", script, path,
             threads);
    FILE *p = popen(command, "r");
    bool ok = p && fscanf(p, "%lf %lld", &s, &n) == 2 && n == f->nnz;
    if (p) pclose(p);
    return ok ? 1e6 * s : -1;
}

static double load_mmio(const struct files *f)
{
    int rows, cols, n, *row, *col;
    double *val, start = now_us();
    MM_typecode code;
    char path[PATH];
    snprintf(path, sizeof path, "%s", f->rows);
    if (mm_read_mtx_crd(path, &rows, &cols, &n, &row, &col, &val, &code)) return -1;
    double us = now_us() - start;
    free(row);
    free(col);
    free(val);
    return n == f->nnz ? us : -1;
}

/* ---- tables ---- */

static double gigabytes(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (double)st.st_size / 1e9;
}

/* Print one line: seconds, and GB of this file per second. Returns the median in seconds. */
static double print_line(const char *what, int threads, double gb, double *us, int n)
{
    double spread, median = times_median(n, us, &spread);
    printf("    %-22s %3d %8.3f s +- %-6.3f %7.3f GB/s\n", what, threads, median / 1e6, spread / 1e6,
           gb / median * 1e6);
    fflush(stdout);
    return median;
}

static bool bench_text(const struct files *f, const char *path, int threads, int rounds, bool peer)
{
    double ours[ROUNDS_MAX], theirs[ROUNDS_MAX], gb = gigabytes(path);
    for (int i = 0; i < rounds; i++) {
        if ((ours[i] = load_ours(f, path, threads)) < 0) return false;
        if (peer && (theirs[i] = load_peer(f, path, threads)) < 0) return false;
    }
    double us = print_line("warpspy", threads, gb, ours, rounds);
    if (!peer) return true;
    double other = print_line("fast_matrix_market", threads, gb, theirs, rounds);
    printf("    %-22s %3d %8.2f times as fast\n", "", threads, other / us);
    return true;
}

static bool bench_order(const struct files *f, const char *name, const char *path, int rounds, bool peer)
{
    bool ok = true;
    int all = omp_get_num_procs();
    printf("%s: %.1f MB\n", name, 1e3 * gigabytes(path));
    for (int t = 1; ok && t < all; t *= 2) ok = bench_text(f, path, t, rounds, peer);
    return ok && bench_text(f, path, all, rounds, peer);
}

static bool bench_others(const struct files *f, int rounds)
{
    double us[ROUNDS_MAX];
    int all = omp_get_num_procs();
    printf("the same otherwise: GB/s of its own file\n");
    for (int i = 0; i < rounds; i++)
        if ((us[i] = load_ours(f, f->cache, all)) < 0) return false;
    print_line("warpspy, from .wsb", all, gigabytes(f->cache), us, rounds);
    us[0] = load_mmio(f);
    if (us[0] < 0) return false;
    print_line("mmio, once", 1, gigabytes(f->rows), us, 1);
    return true;
}

/* ---- files ---- */

/* Write a file sorted by columns: row c of T is column c of the matrix. */
static bool write_columns(const char *path, const struct csr *T)
{
    char number[NUMBER_ROOM];
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n", (long long)T->cols,
            (long long)T->rows, (long long)T->nnz);
    for (int64_t c = 0; c < T->rows; c++)
        for (int k = T->rowptr[c]; k < T->rowptr[c + 1]; k++)
            fprintf(out, "%d %lld %.*s\n", T->col[k] + 1, (long long)c + 1, (int)number_print(T->val[k], number),
                    number);
    return fclose(out) == 0;
}

static bool make_files(struct files *f, int64_t mb, struct err *e)
{
    struct csr A = {0}, T = {0};
    int64_t p[PARAMS_MAX] = {mb * 1000000 / (LINE * PER_ROW), PER_ROW};
    const char *tmp = getenv("TMPDIR");
    snprintf(f->dir, sizeof f->dir, "%.80s/warpspy_load_XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir)) return f->dir[0] = 0, fail(e, E_IO, "no directory can be made in %s", tmp ? tmp : "/tmp");
    snprintf(f->rows, sizeof f->rows, "%s/rows.mtx", f->dir);
    snprintf(f->cols, sizeof f->cols, "%s/columns.mtx", f->dir);
    snprintf(f->cache, sizeof f->cache, "%s/cache.wsb", f->dir);
    bool ok = generator_find("random")->make(p, 1, NULL, &A, e) && csr_transpose(&T, &A, e) &&
              file_save(f->rows, true, &A, NULL, "", NULL, e) && file_save(f->cache, true, &A, NULL, "", NULL, e) &&
              (write_columns(f->cols, &T) || fail(e, E_IO, "%s cannot be written", f->cols));
    f->nnz = A.nnz;
    csr_free(&A);
    csr_free(&T);
    return ok;
}

static void remove_files(const struct files *f)
{
    if (!f->dir[0]) return;
    unlink(f->rows);
    unlink(f->cols);
    unlink(f->cache);
    rmdir(f->dir);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct files f = {0};
    int64_t mb = argc > 1 ? atoll(argv[1]) : 335;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (mb < 1 || mb > 1 << 16 || rounds < 1 || rounds > ROUNDS_MAX)
        return fprintf(stderr, "bench_load [MB [ROUNDS]]: from 1 to 65536 and from 1 to %d expected\n", ROUNDS_MAX), 2;
    bool ok = make_files(&f, mb, &e);
    if (ok) {
        bool peer = load_peer(&f, f.rows, 1) > 0;
        printf("loading %lld entries: medians of %d rounds, threads, time, GB of text per second\n", (long long)f.nnz,
               rounds);
        if (!peer)
            printf("skip fast_matrix_market: %s does not have it; PYTHON=... names one that does\n",
                   getenv("PYTHON") ? getenv("PYTHON") : "python3");
        ok = bench_order(&f, "text by rows", f.rows, rounds, peer) &&
             bench_order(&f, "text by columns", f.cols, rounds, peer) && bench_others(&f, rounds);
        if (!ok) fail(&e, E_INTERNAL, "a load failed, or gave another number of entries");
    }
    remove_files(&f);
    if (!ok) fprintf(stderr, "bench_load: %s\n", e.text);
    return !ok;
}
