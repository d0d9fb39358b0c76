/* Awkward shapes, and the loop that makes each allocation fail in turn. */
#include "shapes.h"
#include "base/err.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

const struct shape shapes[] = {
    {.name = "0 x 0", .long_row = -1},
    {.name = "0 x 5", .cols = 5, .long_row = -1},
    {.name = "5 x 0", .rows = 5, .long_row = -1},
    {.name = "1 x 1, empty", .rows = 1, .cols = 1, .long_row = -1},
    {.name = "1 x 1", .rows = 1, .cols = 1, .entries = 3, .long_row = -1},
    {.name = "mostly empty rows", .rows = 50, .cols = 50, .entries = 9, .long_row = -1},
    {.name = "31 rows", .rows = 31, .cols = 31, .entries = 100, .long_row = -1},
    {.name = "32 rows", .rows = 32, .cols = 32, .entries = 100, .long_row = -1, .mirrored = true},
    {.name = "33 rows", .rows = 33, .cols = 33, .entries = 100, .long_row = -1},
    {.name = "one long row", .rows = 40, .cols = 3000, .entries = 60, .long_row = 7},
    {.name = "one row", .rows = 1, .cols = 70000, .entries = 5, .long_row = 0},
    {.name = "tall", .rows = 300, .cols = 7, .entries = 900, .long_row = -1},
    {.name = "wide", .rows = 7, .cols = 300, .entries = 900, .long_row = 6},
    {.name = "dense", .rows = 9, .cols = 9, .entries = 2000, .long_row = -1},
    {.name = "complex", .rows = 60, .cols = 60, .entries = 700, .long_row = -1, .complex_values = true},
    {.name = "complex symmetric",
     .rows = 20,
     .cols = 20,
     .entries = 90,
     .long_row = -1,
     .complex_values = true,
     .mirrored = true},
    {.name = "symmetric", .rows = 70, .cols = 70, .entries = 400, .long_row = -1, .mirrored = true},
    {.name = "arrow", .rows = 200, .cols = 200, .entries = 100, .long_row = 0, .mirrored = true},
    {.name = "many rows", .rows = 5000, .cols = 4000, .entries = 40000, .long_row = 4999},
    {.name = "one long row among empty ones", .rows = 60, .cols = 3000, .long_row = 3},
    {0},
};

static double eighths(uint64_t *state)
{
    return (double)(int64_t)(random_next(state) % 2001 - 1000) / 8;
}

static void put(struct triplets *t, int64_t row, int64_t col, double re, double im)
{
    t->row[t->n] = (int)row;
    t->col[t->n] = (int)col;
    t->val[t->n] = re;
    if (t->imag) t->imag[t->n] = im;
    t->n++;
}

struct triplets shape_triplets(const struct shape *s, uint64_t seed)
{
    int64_t drawn = s->entries + (s->long_row >= 0 ? s->cols : 0), most = s->mirrored ? 2 * drawn : drawn;
    struct triplets t = {.row = mem_new(most, sizeof *t.row, "rows", NULL),
                         .col = mem_new(most, sizeof *t.col, "columns", NULL),
                         .val = mem_new(most, sizeof *t.val, "values", NULL)};
    if (s->complex_values) t.imag = mem_new(most, sizeof *t.imag, "values", NULL);
    for (int64_t k = 0; k < drawn; k++) {
        int64_t row = k < s->entries ? (int64_t)(random_next(&seed) % (uint64_t)s->rows) : s->long_row;
        int64_t col = k < s->entries ? (int64_t)(random_next(&seed) % (uint64_t)s->cols) : drawn - 1 - k;
        double re = eighths(&seed), im = eighths(&seed);
        put(&t, row, col, re, im);
        if (s->mirrored && row != col) put(&t, col, row, re, im);
    }
    return t;
}

void triplets_free(struct triplets *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
    mem_free(t->imag);
}

struct csr shape_csr(const struct shape *s, uint64_t seed)
{
    struct csr A;
    struct err e = {0};
    struct triplets t = shape_triplets(s, seed);
    if (!csr_from_triplets(&A, s->rows, s->cols, t.n, t.row, t.col, t.val, t.imag, NULL, &e))
        fail_msg("%s: %s", s->name, e.text);
    triplets_free(&t);
    return A;
}

struct csr shape_csr_complex(const struct shape *s, uint64_t seed)
{
    struct shape with_imag = *s;
    with_imag.complex_values = true;
    return shape_csr(&with_imag, seed);
}

int fail_each(bool (*go)(const void *user, struct err *e), const void *user)
{
    for (int n = 1;; n++) {
        struct err e = {0};
        mem_fail_at(n);
        bool ok = go(user, &e);
        mem_fail_at(0);
        if (ok) return n - 1;
        assert_int_equal(e.code, E_MEMORY);
    }
}
