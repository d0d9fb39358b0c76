/* The command find: the rows and entries that it finds are compared with plain loops, for every measure, comparison and
   order. Other tests check the limit, hostile conditions, failing allocations and cancelling. */
#include "base/loop.h"
#include "base/watch.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/find.h"
#include "session/matrix.h"

#include <math.h>

/* ---- measures ---- */

/* The expected value of a measure, computed by a plain loop. */
static double expected(const struct csr *A, int64_t row, const char *measure)
{
    double length = 0, re = 0, im = 0, diagonal = 0, max = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        double size = A->imag ? hypot(A->val[k], A->imag[k]) : fabs(A->val[k]);
        length++;
        re += A->val[k];
        im += A->imag ? A->imag[k] : 0;
        if (A->col[k] == row) diagonal = A->imag ? size : A->val[k];
        max = size > max ? size : max;
    }
    return !strcmp(measure, "length")     ? length
           : !strcmp(measure, "sum")      ? (A->imag ? hypot(re, im) : re)
           : !strcmp(measure, "diagonal") ? diagonal
                                          : max;
}

TEST(measures_match_plain_loops)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 3);
        for (const struct row_measure *m = row_measures; m->name; m++)
            for (int64_t i = 0; i < A.rows; i++)
                if (m->of(&A, i) != expected(&A, i, m->name)) fail_msg("%s: %s of row %ld", s->name, m->name, (long)i);
        csr_free(&A);
    }
}

/* ---- searches ---- */

static bool is_match(const struct csr *A, const struct search *q, int64_t at)
{
    for (int i = 0; i < q->n; i++) {
        const struct condition *c = &q->condition[i];
        double a = c->measure ? c->measure->of(A, at) : csr_abs(A, at), b = c->value;
        const char *name = c->comparison->name;
        bool ok = *name == '<'   ? a < b || (name[1] && a == b)
                  : *name == '>' ? a > b || (name[1] && a == b)
                  : *name == '!' ? a != b
                                 : a == b;
        if (!ok) return false;
    }
    return true;
}

/* Check that all matches are counted, that the kept items are matches in order, and that no match that was left out
   comes before the last kept match. */
static void check_found(const char *what, const struct csr *A, const struct search *q, int64_t all,
                        const struct found *f)
{
    int64_t n = 0, missing = 0;
    bool *kept = calloc((size_t)all + 1, sizeof *kept);
    assert_non_null(kept);
    for (int64_t k = 0; k < f->n; k++) {
        const struct match_key *a = &f->item[k], *b = a - 1;
        if (!is_match(A, q, a->at) || kept[a->at]) fail_msg("%s: %ld is no match", what, (long)a->at);
        kept[a->at] = true;
        if (k && (b->key < a->key || (b->key == a->key && b->at > a->at))) fail_msg("%s: order of %ld", what, (long)k);
    }
    for (int64_t i = 0; i < all; i++) {
        if (!is_match(A, q, i)) continue;
        n++;
        double key = q->sort ? q->sort->of(A, i) : q->sorted ? csr_abs(A, i) : 0;
        if (q->ascending) key = -key;
        const struct match_key *last = f->item + f->n - 1;
        missing += !kept[i] && f->n && (key > last->key || (key == last->key && i < last->at));
    }
    if (f->matches != n || missing || f->n != (n < q->limit ? n : q->limit))
        fail_msg("%s: %ld of %ld matches, %ld kept, %ld missing", what, (long)f->matches, (long)n, (long)f->n,
                 (long)missing);
    free(kept);
}

TEST(every_search_is_complete)
{
    static const int64_t limits[] = {0, 1, 5, INT64_MAX};
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5);
        for (const struct row_measure *m = row_measures; A.rows <= 1000 && m->name; m++)
            for (const struct comparison *c = comparisons; c->name; c++)
                for (int i = 0; i < 4 * COUNT(limits); i++) {
                    struct search q = {.n = 1, .condition = {{m, c, A.rows ? m->of(&A, A.rows / 2) : 0}}};
                    struct found f;
                    q.limit = limits[i / 4];
                    q.sort = i & 1 ? m : NULL;
                    q.ascending = i & 1 && i & 2;
                    assert_true(rows_find(&A, &q, &f, NULL));
                    check_found(s->name, &A, &q, A.rows, &f);
                    found_free(&f);
                    if (!m->single) continue;
                    q.condition[0].measure = NULL;
                    q.sorted = q.sort != NULL;
                    q.sort = NULL;
                    assert_true(entries_find(&A, &q, &f, NULL));
                    check_found(s->name, &A, &q, A.nnz, &f);
                    found_free(&f);
                }
        csr_free(&A);
    }
}

/* 1.5e308 + 1e308 - 1e308 */
TEST(no_sum_overflows_on_its_way)
{
    static const char text[] =
        "%%MatrixMarket matrix coordinate real general\n1 3 3\n1 1 1.5e308\n1 2 1e308\n1 3 -1e308\n";
    struct talk t;
    char line[200];
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "load %s; find rows sort sum", write_file("sum.mtx", text, strlen(text)));
    assert_true(talk_line(&t, line));
    const char *sum = strstr(t.out, "\"sum\":");
    assert_true(sum && strtod(sum + strlen("\"sum\":"), NULL) == 1.5e308);
    talk_close(&t);
    scratch_remove();
}

/* NaN satisfies no comparison except !=, and comes last. */
TEST(nan_stands_last)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "load tests/golden/nan.mtx as N"));
    talk_says(&t, "find rows sum > -1e300", "\"matches\":2}");
    talk_says(&t, "find rows sum != 0", "\"matches\":3}");
    talk_says(&t, "find rows > 99", "\"what\":\"row\",\"matches\":0}");
    talk_says(&t, "find rows sort sum", "\"sum\":\"nan\",\"diagonal\":\"nan\",\"max\":\"nan\",\"matches\":3}");
    talk_forget(&t);
    assert_true(talk_line(&t, "find rows sort sum limit 2; find entries sort max limit 2"));
    assert_null(strstr(t.out, "\"nan\""));
    talk_close(&t);
}

/* 3 x 3: NaN, 5, -7 and NaN, 0.5, with the indices 0 to 4 */
TEST(entries_are_sorted_both_ways)
{
    static const int row[] = {0, 0, 1, 2, 2}, col[] = {0, 1, 1, 0, 2};
    static const double val[] = {NAN, 5, -7, NAN, 0.5};
    static const int64_t down[] = {2, 1, 4, 0, 3}, up[] = {4, 1, 2, 0, 3}; /* NaN last, by position */
    struct csr A;
    assert_true(csr_from_triplets(&A, 3, 3, 5, row, col, val, NULL, NULL, NULL));
    for (int ascending = 0; ascending < 2; ascending++) {
        struct search s = {.sorted = true, .ascending = ascending, .limit = 5};
        struct found f;
        assert_true(entries_find(&A, &s, &f, NULL));
        assert_int_equal(f.n, 5);
        for (int i = 0; i < 5; i++) assert_int_equal(f.item[i].at, (ascending ? up : down)[i]);
        found_free(&f);
    }
    csr_free(&A);
}

/* Of equal keys, and of several NaN, the first are kept. */
TEST(the_first_of_equals_are_kept)
{
    static const int row[] = {0, 1, 2, 3, 4, 5, 6}, col[7] = {0};
    static const double nans[] = {NAN, NAN, NAN, NAN, NAN, NAN, 5}, equals[] = {2, 2, 2, 2, 2, 2, 5};
    static const int64_t kept[] = {6, 0, 1};
    for (int k = 0; k < 2; k++) {
        struct csr A;
        struct search s = {.sorted = true, .limit = 3};
        struct found f;
        assert_true(csr_from_triplets(&A, 7, 1, 7, row, col, k ? nans : equals, NULL, NULL, NULL));
        assert_true(entries_find(&A, &s, &f, NULL));
        assert_int_equal(f.matches, 7);
        for (int i = 0; i < 3; i++) assert_int_equal(f.item[i].at, kept[i]);
        found_free(&f);
        csr_free(&A);
    }
}

/* ---- the command ---- */

TEST(rows_are_listed)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; gen poisson2d 3 as B"));
    talk_says(&t, "find rows > 4 of A", "9 of 25 rows match\n");
    talk_says(&t, "gen poisson2d 1 as one; find rows > 9", "0 of 1 row matches\n");
    talk_says(&t, "load tests/golden/nan.mtx; find rows sum = nan", "1 of 3 rows matches\n");
    talk_says(&t, "find entries = nan", "  nan");
    talk_says(&t, "find entries < inf; drop nan; drop one; use B", "match");
    talk_says(&t, "find rows > 4", "1 of 9 rows matches\n");
    talk_says(&t, "find rows>=4 of A", "21 of 25 rows match; `limit N` shows more than 20\n");
    talk_says(&t, "find rows length = 3 and sum > 1 of A", "4 of 25 rows match\n");
    talk_says(&t, "find rows len = 3", "4 of 9 rows match\n");
    talk_says(&t, "find rows sort length limit 1", "  4       5    0         4            4\n");
    talk_says(&t, "find rows sort length ascending limit 1", "  0       3    2         4            4\n");
    talk_says(&t, "find rows > 4 limit 0 of A", "9 of 25 rows match; `limit N` shows more than 0\n");
    talk_says(&t, "find rows diagonal = 0", "0 of 9 rows match\n");
    talk_says(&t, "find entries > 1 limit 1", "9 of 33 entries match; `limit N` shows more than 1\n");
    talk_says(&t, "find entries >= 4", "  8       8      4    4\n");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    talk_says(&t, "find rows >= 4", "\"row\":23,\"length\":4,\"sum\":1,\"diagonal\":4,\"max\":4,\"matches\":21}");
    talk_close(&t);
}

TEST(wrong_conditions_are_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"find", "is missing after `find`"},
        {"find cols", "`cols` in the condition is not something to find: rows or entries"},
        {"find > 100", "`>` in the condition is not something to find: rows or entries, such as `rows > 100`"},
        {"find rows width > 3", "`width` in the condition is not a measure of rows: length, sum, diagonal or max"},
        {"find rows sum", "a comparison: < <= > >= = != is missing at the end"},
        {"find rows sum = ", "a number is missing at the end of the condition"},
        {"find rows sum = x", "`x` in the condition is not a number"},
        {"find rows > abc", "`abc` in the condition is not a number; `> ./FILE` writes the output to a file"},
        {"find rows sum = 1e", "`1e` in the condition is not a number"},
        {"find rows sum = nann", "`nann` in the condition is not a number"},
        {"find rows sum =< 3", "`<` in the condition is not a number"},
        {"find rows = 3 or sum = 2", "`or` in the condition is not `and`"},
        {"find rows = 3 and", "is missing at the end of the condition"},
        {"find rows = 3 4", "`4` in the condition is not `and`"},
        {"find rows = 1 and = 1 and = 1 and = 1 and = 1 and = 1 and = 1 and = 1 and = 1", "at most 8 conditions"},
        {"find entries sum = 3", "`sum` in the condition is not a comparison"},
        {"find entries sort length", "entries are sorted by |a|"},
        {"find rows ascending", "`ascending` needs an order"},
        {"find rows limit -1", "`limit -1` is negative"},
        {"find rows sort width", "width"},
        {"find rows of Z", "Z"},
        {"find rows = 1e9999999999999999999999999999999999999999999999999999999999999999999999", "not a number"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "find rows > 3", "no matrix is loaded");
    assert_true(talk_line(&t, "gen poisson2d 3 as A"));
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i].line, cases[i].message);
    talk_close(&t);
}

TEST(empty_matrices_have_no_matches)
{
    struct talk t;
    struct csr E;
    struct load_info info = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_new(&E, 0, 0, 0, false, NULL) && session_add(&t.s, "E", &E, &info, NULL));
    talk_says(&t, "find rows > 3", "0 of 0 rows match\n");
    talk_says(&t, "find entries sort max", "0 of 0 entries match\n");
    talk_close(&t);
}

/* ---- failing allocations and cancelling ---- */

static bool go(const void *user, struct err *e)
{
    struct found f;
    struct search q = {.sort = row_measures, .limit = 3};
    if (!rows_find(user, &q, &f, e)) return false;
    found_free(&f);
    return true;
}

TEST(allocations_fail)
{
    struct csr A = shape_csr(shapes, 1);
    assert_int_equal(fail_each(go, &A), 1);
    csr_free(&A);
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return false;
}

TEST(a_search_is_cancelled)
{
    struct talk t;
    struct found f;
    struct err e = {0};
    struct watch w = {stop, NULL};
    struct search q = {.sort = row_measures, .limit = INT64_MAX};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 1500 as A"));
    struct watch *before = loop_enter(&w);
    assert_false(rows_find(&t.s.current->csr, &q, &f, &e));
    loop_enter(before);
    assert_int_equal(e.code, E_CANCELLED);
    assert_null(f.item);
    talk_close(&t);
}
