/* Matrix Market entries in any order and of any kind, read with any number of threads: the rows must equal the sorted
   triplets. */
#include "base/err.h"
#include "base/number.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/mtx_kit.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <archive.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 9000, ENTRIES = 80000, LINE = 96, LONG_ROWS = 3 };

static const int thread_counts[] = {1, 2, 7};
static const int block_sizes[] = {7000, 0};

static const struct kind {
    const char *words;
    int values;
    int mirror, mirror_imag; /* signs of the mirrored entry; 0: not mirrored */
} kinds[] = {
    {"real general", 1, 0, 0},       {"pattern general", 0, 0, 0},       {"integer general", 1, 0, 0},
    {"complex general", 2, 0, 0},    {"real symmetric", 1, 1, 1},        {"pattern symmetric", 0, 1, 1},
    {"complex hermitian", 2, 1, -1}, {"real skew-symmetric", 1, -1, -1},
};

enum order { BY_ROWS, BY_COLUMNS, REPEATED, NO_ORDER, ORDERS };

/* Entries with their mirror images, and the text of the file. */
struct given {
    int64_t n;
    int row[2 * ENTRIES], col[2 * ENTRIES];
    double val[2 * ENTRIES], imag[2 * ENTRIES];
    char *at, text[(ENTRIES + 1) * LINE];
};

/* The position of entry i. With NO_ORDER, the entries are random, have duplicates, and mostly lie in a few long rows.
   With the other orders, the entries form a band: BY_ROWS and BY_COLUMNS sort the entries, and REPEATED sorts the
   entries by rows and adds duplicates. */
static void place_at(enum order order, int64_t i, uint64_t *seed, int *row, int *col)
{
    int a = (int)(i / 9) % SIDE, b = a + (int)(i % 9) / (order == REPEATED ? 2 : 1) * 7 - 50;
    if (order == NO_ORDER) {
        a = (int)(random_next(seed) % (i % 3 ? SIDE : LONG_ROWS));
        b = (int)(random_next(seed) % SIDE);
    }
    *row = order == BY_COLUMNS ? b : a;
    *col = order == BY_COLUMNS ? a : b;
}

static void write_number(struct given *g, char before, double v)
{
    *g->at++ = before;
    g->at += number_print(v, g->at);
}

static void put(struct given *g, int row, int col, double re, double im)
{
    g->row[g->n] = row;
    g->col[g->n] = col;
    g->val[g->n] = re;
    g->imag[g->n++] = im;
}

static void add_entry(struct given *g, const struct kind *k, int64_t i, int row, int col, uint64_t *seed)
{
    double re = k->values > 0 ? random_unit(seed) : 1, im = k->values > 1 ? random_unit(seed) : 0;
    if (!strncmp(k->words, "integer", 7)) re = (double)(int)(1000 * re);
    g->at += sprintf(g->at, "%d %d", row + 1, col + 1);
    if (k->values > 0) write_number(g, ' ', re);
    if (k->values > 1) write_number(g, '\t', im);
    g->at += sprintf(g->at, "%s", i % 1000 ? "\n" : " % a remark\r\n\n");
    put(g, row, col, re, im);
    if (k->mirror && row != col) put(g, col, row, k->mirror * re, k->mirror_imag * im);
}

/* Keep what the symmetry allows: the lower triangle, and the diagonal if it may have any value. */
static bool allowed(const struct kind *k, int row, int col)
{
    return row >= 0 && col >= 0 && row < SIDE && col < SIDE &&
           (!k->mirror || row > col || (row == col && k->mirror + k->mirror_imag == 2));
}

static void give(struct given *g, const struct kind *k, enum order order)
{
    static char body[ENTRIES * LINE];
    uint64_t seed = 3;
    int64_t lines = 0;
    int row, col;
    g->n = 0;
    g->at = body;
    for (int64_t i = 0; i < ENTRIES; i++) {
        place_at(order, i, &seed, &row, &col);
        if (!allowed(k, row, col)) continue;
        add_entry(g, k, i, row, col, &seed);
        lines++;
    }
    size_t size = (size_t)(g->at - body);
    g->at = g->text + sprintf(g->text, "%%%%MatrixMarket matrix coordinate %s\n%d %d %lld\n", k->words, SIDE, SIDE,
                              (long long)lines);
    memcpy(g->at, body, size);
    g->at += size;
}

static void all_loads_are(const char *path, const struct csr *want, const char *what)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    for (int i = 0; i < COUNT(thread_counts) * COUNT(block_sizes); i++) {
        mtx_hooks(block_sizes[i % COUNT(block_sizes)], thread_counts[i / COUNT(block_sizes)]);
        if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", what, e.text);
        if (!csr_check(&A, &e)) fail_msg("%s: %s", what, e.text);
        if (!csr_equal(&A, want)) fail_msg("%s: other rows, way %d", what, i);
        csr_free(&A);
    }
    mtx_hooks(0, 0);
}

static struct given given;

TEST(rows_are_those_of_sorted_triplets)
{
    char what[64];
    struct given *g = &given;
    for (int i = 0; i < COUNT(kinds) * ORDERS; i++) {
        struct csr A;
        int64_t twice;
        const struct kind *k = &kinds[i / ORDERS];
        give(g, k, (enum order)(i % ORDERS));
        snprintf(what, sizeof what, "%s, order %d", k->words, i % ORDERS);
        assert_true(csr_from_triplets(&A, SIDE, SIDE, g->n, g->row, g->col, g->val, k->values > 1 ? g->imag : NULL,
                                      &twice, NULL));
        if (i % ORDERS >= REPEATED && !k->mirror) assert_true(twice > 0);
        all_loads_are(write_file("order.mtx", g->text, (size_t)(g->at - g->text)), &A, what);
        csr_free(&A);
    }
}

/* The length of a compressed file does not confirm the size line, so the memory grows with the entries. */
TEST(memory_grows_with_the_entries_of_compressed_files)
{
    struct csr A;
    struct given *g = &given;
    for (int i = 0; i < ORDERS; i++) {
        give(g, &kinds[3], (enum order)i);
        const struct member m = {"order.mtx", g->text, (size_t)(g->at - g->text)};
        assert_true(csr_from_triplets(&A, SIDE, SIDE, g->n, g->row, g->col, g->val, g->imag, NULL, NULL));
        all_loads_are(pack_file("order.mtx.gz", ARCHIVE_FILTER_GZIP, false, &m, 1), &A, "packed");
        csr_free(&A);
    }
}

/* The file declares the largest possible number of entries but contains one entry; the compressed length does not rule
   out the declared number. */
TEST(a_compressed_size_line_allocates_nothing)
{
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 2147483647\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n46340 46340\n1\n",
    };
    for (int i = 0; i < COUNT(texts); i++) {
        struct csr A;
        struct err e = {0};
        const struct member m = {"lie.mtx", texts[i], strlen(texts[i])};
        assert_false(mtx_load(pack_file("lie.mtx.gz", ARCHIVE_FILTER_GZIP, false, &m, 1), NULL, &A, NULL, &e));
        assert_int_equal(e.code, E_INPUT);
        assert_non_null(strstr(e.text, "after 1 entry; the file is truncated"));
    }
}

SUITE(.teardown = tidy);
