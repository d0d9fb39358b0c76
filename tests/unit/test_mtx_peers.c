/* Compare the Matrix Market reader with NIST's mmio and the slow reader, on the collection and on the fuzzers' corpus.
   WARPSPY_ALL=1 includes the large files. */
#include "base/err.h"
#include "base/mem.h"
#include "files/matrix_market.h"
#include "fuzz/fuzz_load.h"
#include "kits/collection.h"
#include "kits/mtx_kit.h"
#include "kits/slow_mtx.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <dirent.h>
#include <lpsolve/mmio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BYTES_MAX = 8000000 };

/* A function that the library's header does not declare. The function uses 1-based indices. Values are NULL for a
   pattern, and pairs for complex numbers. For integers, the function reads the size only. */
int mm_read_mtx_crd(char *path, int *rows, int *cols, int *n, int **row, int **col, double **val, MM_typecode *code);

/* ---- the files of the collection, unpacked ---- */

struct unpacked {
    const char *path; /* the uncompressed text */
    char *text;
    size_t n;
    struct csr A; /* the matrix loaded from the compressed file */
};
typedef void check(const struct unpacked *u);

static bool is_large(const char *packed)
{
    unsigned char tail[4] = {0};
    FILE *f = fopen(packed, "rb");
    assert_non_null(f);
    fseek(f, -4, SEEK_END);
    assert_int_equal(fread(tail, 1, sizeof tail, f), sizeof tail);
    fclose(f);
    return (tail[0] | tail[1] << 8 | (int64_t)tail[2] << 16 | (int64_t)tail[3] << 24) > BYTES_MAX;
}

static char *unpack(const char *packed, size_t *n)
{
    gzFile f = gzopen(packed, "rb");
    char *text = NULL;
    size_t room = 0;
    int got = 1;
    assert_non_null(f);
    for (*n = 0; got > 0; *n += (size_t)got) {
        if (*n == room) text = mem_resize(text, (int64_t)(room = 2 * room + 65536), 1, "text", NULL);
        assert_non_null(text);
        got = gzread(f, text + *n, (unsigned)(room - *n));
    }
    assert_int_equal(got, 0);
    gzclose(f);
    return text;
}

static void check_packed(const char *packed, check *with)
{
    struct unpacked u;
    struct err e = {0};
    u.text = unpack(packed, &u.n);
    u.path = write_file("plain.mtx", u.text, u.n);
    if (!mtx_load(packed, NULL, &u.A, NULL, &e)) fail_msg("%s: %s", e.where, e.text);
    with(&u);
    csr_free(&u.A);
    mem_free(u.text);
}

static void check_collection(check *with)
{
    const char *dir = collection_folder("the collection beside other readers");
    char path[1024];
    int large = 0;
    if (!dir) return;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));) {
        size_t n = strlen(f->d_name);
        if (n < 7 || strcmp(f->d_name + n - 7, ".mtx.gz")) continue;
        snprintf(path, sizeof path, "%s/%s", dir, f->d_name);
        if (!getenv("WARPSPY_ALL") && is_large(path))
            large++;
        else
            check_packed(path, with);
    }
    closedir(d);
    if (large) printf("skip: %d files beyond %d bytes; WARPSPY_ALL=1 takes them too\n", large, BYTES_MAX);
}

/* ---- the slow reader ---- */

static void compare_with_slow(const struct unpacked *u)
{
    char how[1024];
    struct slow_mtx slow;
    struct csr plain;
    struct err e = {0};
    slow_read(u->text, u->n, true, &slow);
    if (!mtx_load(u->path, NULL, &plain, NULL, &e)) fail_msg("%s: %s", e.where, e.text);
    assert_true(csr_equal(&plain, &u->A));
    if (!slow_agrees(&slow, &plain, &e, how, sizeof how)) fail_msg("%.60s: %s", u->text, how);
    csr_free(&plain);
    slow_free(&slow);
}

TEST(the_slow_reader_agrees_on_the_collection)
{
    check_collection(compare_with_slow);
}

/* Check that the comparison detects each kind of change to a matrix and to an error. */
TEST(the_comparison_can_fail)
{
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0\n1 3 2\n2 3 4\n";
    static const char bad[] = "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0\n1 3 2\n2 4 4\n";
    struct slow_mtx slow;
    struct csr A;
    struct err good = {0}, e = {0};
    char how[1024];
    slow_read(text, sizeof text - 1, true, &slow);
    assert_true(mtx_load(write_file("a.mtx", text, sizeof text - 1), NULL, &A, NULL, &good));
    assert_true(slow_agrees(&slow, &A, &good, how, sizeof how));
    A.val[0] = -0.0;
    assert_false(slow_agrees(&slow, &A, &good, how, sizeof how));
    A.val[0] = 0;
    A.col[1] = 1;
    assert_false(slow_agrees(&slow, &A, &good, how, sizeof how));
    A.col[1] = 2;
    A.cols = 4;
    assert_false(slow_agrees(&slow, &A, &good, how, sizeof how));
    A.cols = 3;
    A.rowptr[1] = 1;
    assert_false(slow_agrees(&slow, &A, &good, how, sizeof how));
    A.rowptr[1] = 2;
    fail_at(&e, E_INPUT, "a.mtx:5", "refused");
    assert_false(slow_agrees(&slow, NULL, &e, how, sizeof how));
    slow_free(&slow);
    slow_read(bad, sizeof bad - 1, true, &slow);
    assert_true(slow_agrees(&slow, NULL, &e, how, sizeof how));
    assert_false(slow_agrees(&slow, &A, &good, how, sizeof how));
    memcpy(e.where, "a.mtx:4", sizeof "a.mtx:4");
    assert_false(slow_agrees(&slow, NULL, &e, how, sizeof how));
    slow_free(&slow);
    csr_free(&A);
}

/* ---- mmio ---- */

struct mmio {
    int rows, cols, n, *row, *col;
    double *val;
    MM_typecode code;
};

/* Read the file with mmio. In a file of integers, first change the word `integer` to `real`. */
static void read_by_mmio(const struct unpacked *u, struct mmio *m)
{
    static const char integer[] = " integer ", real[] = " real    ";
    char *eol = memchr(u->text, '\n', u->n), *word = memmem(u->text, (size_t)(eol - u->text), integer, strlen(integer));
    char *path = strdup(u->path);
    memset(m, 0, sizeof *m);
    if (word) {
        memcpy(word, real, strlen(real));
        write_file("plain.mtx", u->text, u->n);
    }
    int r = mm_read_mtx_crd(path, &m->rows, &m->cols, &m->n, &m->row, &m->col, &m->val, &m->code);
    if (r) fail_msg("%.60s: mmio says %d", u->text, r);
    free(path);
}

static void assert_entry(const struct unpacked *u, int row, int col, double re, double im)
{
    int64_t k = csr_find(&u->A, row - 1, col - 1);
    if (k < 0 || u->A.val[k] != re || (u->A.imag ? u->A.imag[k] : 0) != im)
        fail_msg("%.60s: mmio reads %d %d %.17g %.17g, we %.17g", u->text, row, col, re, im, k < 0 ? 0 : u->A.val[k]);
}

static void compare_with_mmio(const struct unpacked *u)
{
    struct mmio m;
    int64_t entries = 0;
    read_by_mmio(u, &m);
    assert_true(m.rows == u->A.rows && m.cols == u->A.cols);
    assert_int_equal(mm_is_complex(m.code), u->A.imag != NULL);
    double mirrored = mm_is_skew(m.code) ? -1 : 1, conjugated = mm_is_skew(m.code) || mm_is_hermitian(m.code) ? -1 : 1;
    for (int k = 0; k < m.n; k++, entries++) {
        bool complex_values = mm_is_complex(m.code);
        double re = !m.val ? 1 : m.val[complex_values ? 2 * k : k], im = complex_values ? m.val[2 * k + 1] : 0;
        assert_entry(u, m.row[k], m.col[k], re, im);
        if (mm_is_general(m.code) || m.row[k] == m.col[k]) continue;
        assert_entry(u, m.col[k], m.row[k], mirrored * re, conjugated * im);
        entries++;
    }
    assert_int_equal(entries, u->A.nnz); /* no file of the collection has duplicates */
    free(m.row);
    free(m.col);
    free(m.val);
}

TEST(mmio_agrees_on_the_collection)
{
    check_collection(compare_with_mmio);
}

/* ---- the fuzzers' corpus ---- */

static void fuzz_folder(const char *dir)
{
    char path[1024], how[1024];
    int files = 0;
    DIR *d = opendir(dir);
    if (!d) fail_msg("no %s", dir);
    for (struct dirent *f; (f = readdir(d));) {
        size_t n;
        if (f->d_name[0] == '.' || f->d_type == DT_DIR) continue;
        snprintf(path, sizeof path, "%s/%s", dir, f->d_name);
        char *data = read_whole(path, &n);
        if (!fuzz_load((const uint8_t *)data, n, how, sizeof how)) fail_msg("%s: %s", path, how);
        mem_free(data);
        files++;
    }
    closedir(d);
    assert_true(files > 10);
}

TEST(the_corpus_of_the_fuzzers_is_read_alike)
{
    fuzz_folder("tests/fuzz/corpus");
    fuzz_folder("tests/files");
}

SUITE(.teardown = tidy);
