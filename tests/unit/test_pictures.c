/* Pictures of large matrices. Sums and samples are compared with plain counts, and the pictures of rows by length and
   by warp are compared with naive counts. Other tests check spy's picture before and after counting, and the cursor
   that all views share. */
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "kits/test.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/views/view_layout.h"
#include "ui/views/view_rows.h"
#include "ui/views/view_spy.h"
#include "ui/views/view_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void make(struct csr *A, const char *name, int64_t a, int64_t b, int64_t c)
{
    struct err e = {0};
    const int64_t p[PARAMS_MAX] = {a, b, c};
    if (!generator_find(name)->make(p, 7, NULL, A, &e)) fail_msg("%s: %s", name, e.text);
}

static void make_random(struct csr *A, int64_t rows, int64_t cols, int64_t n, uint64_t seed)
{
    int *row = malloc(sizeof *row * (size_t)(n + 1)), *col = malloc(sizeof *col * (size_t)(n + 1));
    double *val = malloc(sizeof *val * (size_t)(n + 1));
    for (int64_t k = 0; k < n; k++) {
        row[k] = (int)(random_next(&seed) % (uint64_t)rows);
        col[k] = (int)(random_next(&seed) % (uint64_t)cols);
        val[k] = 1;
    }
    assert_true(csr_from_triplets(A, rows, cols, n, row, col, val, NULL, NULL, NULL));
    free(row);
    free(col);
    free(val);
}

static uint32_t *counts(const struct csr *A, struct window win, int h, int w)
{
    uint32_t *n = calloc((size_t)h * (size_t)w, sizeof *n);
    assert_true(density_of(A, win, h, w, n, NULL, NULL));
    return n;
}

/* ---- counts ---- */

/* Compare with counts that compute the cell of each entry by a division. Some widths are powers of two. Some rows of
   cells have more entries than a thread takes at a time. The number of columns goes up to the maximum. */
TEST(counts_agree_with_divisions)
{
    static const struct {
        int64_t rows, cols, n;
        int h, w;
    } table[] = {
        {4096, 4096, 200000, 64, 128},
        {3001, 2999, 1500000, 2, 97},
        {3001, 2999, 1500000, 3, 2048},
        {2048, 2048, 1200000, 1, 64},
        {5000, 100000007, 300000, 7, 1023},
        {900, INT32_MAX, 300000, 5, 333},
        {7, 6, 30, 7, 6},
        {1, 1000000, 700000, 1, 500},
        {1000, 1000, 100000, 10, 3000},
    };
    for (int i = 0; i < COUNT(table); i++) {
        int h = table[i].h, w = table[i].w;
        struct csr A;
        make_random(&A, table[i].rows, table[i].cols, table[i].n, 5 + (uint64_t)i);
        uint32_t *found = counts(&A, (struct window){0, A.rows, 0, A.cols}, h, w);
        for (int64_t r = 0; r < A.rows; r++)
            for (int k = A.rowptr[r]; k < A.rowptr[r + 1]; k++)
                found[r * h / A.rows * w + A.col[k] * (int64_t)w / A.cols]--;
        for (int k = 0; k < h * w; k++) assert_int_equal(found[k], 0);
        free(found);
        csr_free(&A);
    }
}

/* ---- values ---- */

static void make_signed(struct csr *A, int64_t rows, int64_t cols, int64_t n, bool complex_values)
{
    make_random(A, rows, cols, n, 17);
    uint64_t seed = 23;
    if (complex_values) assert_non_null(A->imag = mem_zero(A->nnz, sizeof *A->imag, "values", NULL));
    for (int64_t k = 0; k < A->nnz; k++) {
        double a = (double)(random_next(&seed) % 2001) - 1000;
        A->val[k] = a == 7 ? NAN : ldexp(a, (int)(random_next(&seed) % 900) - 450);
        if (A->imag) A->imag[k] = (double)(random_next(&seed) % 100);
    }
}

static uint8_t sign_of(double a, bool complex_value)
{
    return complex_value || !(a > 0 || a < 0) ? SIGN_NONE : a > 0 ? SIGN_PLUS : SIGN_MINUS;
}

/* Compare the slices with a loop over all entries, for windows inside and beyond the matrix, and for rows that are
   longer than a slice. */
static void check_values(const struct csr *A, struct window win, int h, int w)
{
    struct cell_values found;
    double *largest = calloc((size_t)h * (size_t)w, sizeof *largest);
    uint8_t *signs = calloc((size_t)h * (size_t)w, 1);
    for (int64_t r = 0; r < A->rows; r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
            int64_t c = A->col[k];
            if (r < win.row0 || r >= win.row1 || c < win.col0 || c >= win.col1) continue;
            int64_t i = (r - win.row0) * h / (win.row1 - win.row0) * w + (c - win.col0) * w / (win.col1 - win.col0);
            double size = A->imag ? hypot(A->val[k], A->imag[k]) : fabs(A->val[k]);
            largest[i] = fmax(largest[i], size);
            signs[i] |= sign_of(A->val[k], A->imag);
        }
    assert_true(cell_values_new(&found, h, w, NULL));
    assert_true(cell_values_of(A, win, &found, NULL, NULL));
    assert_memory_equal(found.signs, signs, (size_t)h * (size_t)w);
    for (int i = 0; i < h * w; i++) assert_true(cell_largest(&found, i) == largest[i]);
    cell_values_free(&found);
    assert_true(cell_values_new(&found, h, w, NULL));
    cell_values_glance(A, win, &found);
    for (int i = 0; i < h * w; i++) { /* a sample contains only part of the entries */
        assert_false(found.signs[i] & ~signs[i]);
        assert_true(cell_largest(&found, i) <= largest[i]);
    }
    cell_values_free(&found);
    free(largest);
    free(signs);
}

TEST(values_agree_with_a_loop)
{
    static const struct {
        int64_t rows, cols, n;
    } shapes[] = {{1, 1, 1}, {300, 300, 5000}, {3, 2000000, 1700000}, {60000, 5, 90000}, {200, 300, 0}};
    for (int i = 0; i < COUNT(shapes) * 2; i++) {
        struct csr A;
        make_signed(&A, shapes[i / 2].rows, shapes[i / 2].cols, shapes[i / 2].n, i % 2);
        check_values(&A, (struct window){0, A.rows, 0, A.cols}, 1, 1);
        check_values(&A, (struct window){0, A.rows, 0, A.cols}, 17, 40);
        check_values(&A, (struct window){A.rows / 3, A.rows + 5, A.cols / 4, A.cols / 4 * 3 + 1}, 7, 11);
        csr_free(&A);
    }
}

/* ---- sums ---- */

/* If sums_fit allows the sums to be used for this number of cells, the picture made from the sums equals the picture
   counted without sums. */
static void check_sums(const struct csr *A)
{
    struct sums s;
    sums_begin(&s, A);
    assert_false(sums_ready(&s));
    while (sums_more(&s)) continue;
    assert_true(sums_ready(&s));
    uint64_t seed = 3;
    for (int t = 0; t < 40; t++) {
        int h = 1 + (int)(random_next(&seed) % 40), w = 1 + (int)(random_next(&seed) % 40);
        int64_t down = (int64_t)(1 + random_next(&seed) % 3) << s.down, across = (int64_t)(1 + random_next(&seed) % 3)
                                                                                 << s.across;
        struct window win = {.row0 = (int64_t)(random_next(&seed) % (uint64_t)s.h) << s.down,
                             .col0 = (int64_t)(random_next(&seed) % (uint64_t)s.w) << s.across};
        win.row1 = win.row0 + h * down;
        win.col1 = win.col0 + w * across;
        assert_true(sums_fit(&s, win, h, w));
        uint32_t *expected = counts(A, win, h, w), *found = calloc((size_t)(h * w), sizeof *found);
        sums_cells(&s, win, h, w, found);
        assert_memory_equal(found, expected, sizeof *found * (size_t)(h * w));
        if (s.down) win.row0++, win.row1++;
        assert_int_equal(sums_fit(&s, win, h, w), !s.down);
        free(expected);
        free(found);
    }
    sums_free(&s);
}

TEST(sums_agree_with_counts)
{
    static const struct {
        int64_t rows, cols, n;
    } shapes[] = {{1, 1, 1},         {300, 300, 5000},    {9000, 7000, 90000}, {3, 40000, 100000},
                  {40000, 2, 30000}, {100000, 100000, 0}, {1, 500000, 400000}, {5000, 5000, 3000000}};
    for (int i = 0; i < COUNT(shapes); i++) {
        struct csr A;
        make_random(&A, shapes[i].rows, shapes[i].cols, shapes[i].n, 11);
        check_sums(&A);
        csr_free(&A);
    }
}

/* Counting takes many slices, and each slice is short. */
TEST(counting_goes_in_slices)
{
    struct csr A;
    make(&A, "poisson2d", 1500, 0, 0);
    struct window all = {0, A.rows, 0, A.cols};
    uint32_t *expected = counts(&A, all, 77, 77), *found = calloc(77 * 77, sizeof *found);
    struct density d;
    int slices = 1;
    assert_true(density_begin(&d, &A, all, 77, 77, found, NULL));
    for (; density_more(&d); slices++) assert_true(d.done > 0 && d.done < 77);
    assert_true(slices >= 3);
    assert_memory_equal(found, expected, sizeof *found * 77 * 77);
    free(expected);
    free(found);
    csr_free(&A);
}

/* ---- samples ---- */

TEST(a_sample_of_a_dense_matrix_is_exact)
{
    for (int64_t n = 900; n < 2300; n += 331) {
        struct csr A;
        make(&A, "dense", n, n, 0);
        struct window all = {0, n, 0, n};
        uint32_t *expected = counts(&A, all, 61, 83), *found = calloc(61 * 83, sizeof *found);
        assert_true(density_sample(&A, all, 61, 83, found, NULL));
        assert_memory_equal(found, expected, sizeof *found * 61 * 83);
        free(expected);
        free(found);
        csr_free(&A);
    }
}

TEST(a_sample_is_close)
{
    struct csr A;
    make(&A, "random", 1000000, 8, 0);
    struct window all = {0, A.rows, 0, A.cols};
    uint32_t *found = calloc(20 * 20, sizeof *found);
    assert_true(density_sample(&A, all, 20, 20, found, NULL));
    for (int i = 0; i < 400; i++) assert_true(found[i] > 18000 && found[i] < 22000); /* 20,000 expected */
    free(found);
    csr_free(&A);
}

/* ---- spy ---- */

struct shown {
    struct session s;
    struct canvas c;
    FILE *f;
    const struct view *v;
    struct view_state *st;
};

static void draw_again(struct shown *x)
{
    canvas_clear(&x->c);
    view_draw(x->v, &x->c, &x->s, x->st);
}

static void open_view(struct shown *x, const char *name)
{
    struct err e = {0};
    x->v = view_find(name);
    x->st = screen_view_state(&x->s, x->v);
    view_reset(x->st, x->s.current);
    x->st->full = true;
    assert_true(!x->v->prepare || x->v->prepare(&x->s, x->st, &e));
    cursor_follow(&x->s, x->v);
    draw_again(x);
}

static void begin(struct shown *x, struct csr *A, int w, int h)
{
    struct err e = {0};
    struct load_info info = {.file = "made"};
    x->f = fopen("/dev/null", "w");
    assert_true(session_new(&x->s, x->f, x->f, OUT_TEXT, &e));
    assert_true(ui_attach(&x->s, &e));
    assert_true(session_add(&x->s, "made", A, &info, &e));
    assert_true(canvas_new(&x->c, w, h, false, NULL));
    open_view(x, "spy");
}

static void end(struct shown *x)
{
    canvas_free(&x->c);
    ui_detach(&x->s);
    session_free(&x->s);
    fclose(x->f);
}

static void press(struct shown *x, int key)
{
    assert_true(view_key(&x->s, x->v, key));
    draw_again(x);
}

static const struct grid *grid_of(const struct shown *x)
{
    return &((const struct spy_state *)x->st->own)->grid;
}

/* Do the work that the main loop does while no key is pressed. */
static int work_all(struct shown *x)
{
    int slices = 0;
    for (enum work done; (done = x->v->work(&x->s, x->st)) != WORK_NONE; slices++)
        if (done == WORK_DRAW) draw_again(x);
    assert_false(grid_of(x)->guessed);
    return slices;
}

static void assert_counted(const struct shown *x)
{
    const struct grid *g = grid_of(x);
    uint32_t *expected = counts(&x->s.current->csr, g->win, g->h, g->w);
    assert_false(g->guessed);
    assert_memory_equal(g->n, expected, sizeof *g->n * (size_t)(g->h * g->w));
    free(expected);
}

static bool says(const struct shown *x, const char *text)
{
    char *all = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&all, &size);
    canvas_print(&x->c, f, COLOURS_NONE);
    fclose(f);
    bool found = strstr(all, text);
    free(all);
    return found;
}

/* spy shows a sample first, then exact counts. If the user then moves around and the sums suffice, nothing is counted
   again. */
TEST(spy_samples_then_counts)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 1100, 0, 0);
    begin(&x, &A, 120, 40);
    assert_true(grid_of(&x)->guessed && says(&x, "sampled; counting all"));
    assert_true(work_all(&x) >= 2);
    assert_counted(&x);
    assert_false(says(&x, "sampled"));
    press(&x, '+');
    assert_counted(&x); /* the counts come from the sums, immediately */
    for (int i = 0; i < 20; i++) {
        static const int keys[] = {UI_DOWN, UI_RIGHT, UI_PGDN, '+', UI_RIGHT};
        press(&x, keys[i % COUNT(keys)]);
        work_all(&x);
        assert_counted(&x);
    }
    press(&x, 'g');
    assert_counted(&x);
    end(&x);
}

TEST(counts_are_kept_while_other_panes_show)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 1100, 0, 0);
    begin(&x, &A, 120, 40);
    work_all(&x);
    open_view(&x, "rows");
    open_view(&x, "spy");
    assert_counted(&x);
    press(&x, '+');
    assert_counted(&x); /* the sums were also kept */
    end(&x);
}

/* The picture as text, as the command spy prints it. */
static struct cell *printed(struct shown *x)
{
    size_t size = sizeof(struct cell) * (size_t)(x->c.w * x->c.h);
    struct cell *copy = malloc(size);
    x->st->full = false;
    draw_again(x);
    assert_non_null(copy);
    memcpy(copy, x->c.cell, size);
    return copy;
}

TEST(printed_spy_ignores_the_screen)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 1100, 0, 0);
    begin(&x, &A, 120, 40);
    struct cell *first = printed(&x), *sampled, *counted;
    open_view(&x, "spy");
    sampled = printed(&x);
    open_view(&x, "spy");
    work_all(&x);
    counted = printed(&x);
    for (int i = 0; i < x.c.w * x.c.h; i++) {
        assert_true(first[i].glyph == sampled[i].glyph && first[i].style == sampled[i].style);
        assert_true(first[i].glyph == counted[i].glyph && first[i].style == counted[i].style);
    }
    free(first);
    free(sampled);
    free(counted);
    end(&x);
}

/* If a key is pressed between any two slices, the view can still be drawn. */
TEST(keys_are_handled_between_slices)
{
    static const int keys[] = {'+', UI_DOWN, '+', UI_PGDN, '-', 'g', UI_END, '+', '-'};
    struct csr A;
    struct shown x;
    make(&A, "random", 300000, 12, 0);
    begin(&x, &A, 80, 24);
    for (int i = 0; i < COUNT(keys); i++) {
        if (x.v->work(&x.s, x.st) == WORK_DRAW) draw_again(&x);
        press(&x, keys[i]);
    }
    work_all(&x);
    assert_counted(&x);
    end(&x);
}

/* If there is not enough memory for exact counts, the sample stays, and a message is shown. */
TEST(spy_without_memory)
{
    struct csr A;
    struct shown x;
    make(&A, "random", 150000, 10, 0);
    begin(&x, &A, 80, 24);
    assert_true(grid_of(&x)->guessed);
    mem_fail_at(1); /* the allocation of the sums fails, so the picture is counted directly */
    while (x.v->work(&x.s, x.st) == WORK_ON) mem_fail_at(0);
    draw_again(&x);
    work_all(&x);
    assert_counted(&x);
    end(&x);
}

static void assert_even(const struct shown *x)
{
    int seen = 0;
    for (int i = 0; i < x->c.w * x->c.h; i++) {
        if (x->c.cell[i].glyph <= 0x2800 || x->c.cell[i].glyph > 0x28ff) continue;
        if (x->c.cell[i].style == ST_CURSOR) continue;
        if (x->c.cell[i].style != ST_RAMP + RAMP_STEPS - 1) {
            canvas_print(&x->c, stdout, COLOURS_NONE);
            fail_msg("column %d, line %d: shade %d", i % x->c.w, i / x->c.w, x->c.cell[i].style - ST_RAMP);
        }
        seen++;
    }
    assert_true(seen > 200);
}

/* A full matrix of any size has one shade, whether it is sampled, counted, or shown in part. */
TEST(a_dense_matrix_has_one_shade)
{
    for (int64_t n = 1025; n < 2600; n += 301) {
        struct csr A;
        struct shown x;
        make(&A, "dense", n, n, 0);
        begin(&x, &A, 80 + (int)(n % 60), 24 + (int)(n % 20));
        assert_true(grid_of(&x)->guessed);
        assert_even(&x);
        work_all(&x);
        assert_even(&x);
        press(&x, '+');
        work_all(&x);
        assert_even(&x);
        end(&x);
    }
}

/* The picture of a symmetric matrix is symmetric for any size. */
TEST(symmetric_stays_symmetric)
{
    static const int64_t side[] = {5, 19, 47, 101, 333, 512, 901};
    for (int i = 0; i < COUNT(side) * 3; i++) {
        struct csr A;
        struct shown x;
        make(&A, "poisson2d", side[i / 3], i % 2 ? side[i / 3] : 7, 0);
        begin(&x, &A, 60 + 37 * (i % 3), 20 + 13 * (i % 4));
        work_all(&x);
        const struct grid *g = grid_of(&x);
        assert_int_equal(g->h, g->w);
        for (int y = 0; y < g->h; y++)
            for (int k = 0; k < y; k++) assert_int_equal(g->n[y * g->w + k], g->n[k * g->w + y]);
        end(&x);
    }
}

/* A single entry far from a million other entries has a dot as soon as all entries are counted. */
TEST(a_single_entry_is_seen)
{
    enum { BLOCK = 1100, N = 1000000 };
    struct csr A;
    struct shown x;
    int64_t n = BLOCK * BLOCK;
    int *row = malloc(sizeof *row * (size_t)(n + 1)), *col = malloc(sizeof *col * (size_t)(n + 1));
    double *val = malloc(sizeof *val * (size_t)(n + 1));
    for (int64_t k = 0; k <= n; k++) {
        row[k] = k < n ? (int)(k / BLOCK) : 700001;
        col[k] = k < n ? (int)(k % BLOCK) : 900003;
        val[k] = 1;
    }
    assert_true(csr_from_triplets(&A, N, N, n + 1, row, col, val, NULL, NULL, NULL));
    free(row);
    free(col);
    free(val);
    begin(&x, &A, 100, 40);
    work_all(&x);
    const struct grid *g = grid_of(&x);
    assert_int_equal(g->n[700001LL * g->h / g->win.row1 * g->w + 900003LL * g->w / g->win.col1], 1);
    int marks = 0;
    for (int i = 0; i < x.c.w * (x.c.h - 4); i++)
        marks += i / x.c.w > 2 && x.c.cell[i].glyph > 0x2800 && x.c.cell[i].glyph <= 0x28ff;
    assert_int_equal(marks, 2); /* one dot of the block and one dot of the entry */
    end(&x);
}

static const struct spy_state *spy_of(const struct shown *x)
{
    return x->st->own;
}

static void assert_values(const struct shown *x)
{
    const struct grid *g = grid_of(x);
    struct cell_values all;
    assert_false(g->values_guessed);
    assert_true(cell_values_new(&all, g->h, g->w, NULL));
    assert_true(cell_values_of(&x->s.current->csr, g->win, &all, NULL, NULL));
    assert_memory_equal(g->values.signs, all.signs, (size_t)(g->h * g->w));
    assert_memory_equal(g->values.largest, all.largest, sizeof *all.largest * (size_t)(g->h * g->w));
    cell_values_free(&all);
}

/* The values of a large matrix are sampled first. All values are then examined in slices, even after zooming, when the
   counts come from the sums. No work is done twice. */
TEST(values_come_in_slices)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 1100, 0, 0);
    begin(&x, &A, 120, 40);
    work_all(&x);
    press(&x, 'c');
    assert_int_equal(spy_of(&x)->by, SPY_SIGN);
    assert_true(grid_of(&x)->values_guessed && says(&x, "spy by sign") && says(&x, "sampled; counting all"));
    assert_true(work_all(&x) >= 4);
    assert_values(&x);
    press(&x, 'c');
    assert_true(says(&x, "spy by magnitude") && !says(&x, "sampled"));
    assert_int_equal(work_all(&x), 0);
    press(&x, '+');
    work_all(&x);
    assert_values(&x);
    assert_counted(&x);
    press(&x, 'c');
    assert_int_equal(spy_of(&x)->by, SPY_COUNT);
    end(&x);
}

/* If there is not enough memory for the values, the sample stays. */
TEST(values_without_memory)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 1100, 0, 0);
    begin(&x, &A, 120, 40);
    work_all(&x);
    press(&x, 'c');
    mem_fail_at(1);
    assert_int_equal(x.v->work(&x.s, x.st), WORK_NONE);
    mem_fail_at(0);
    draw_again(&x);
    assert_true(says(&x, "not enough memory to count all"));
    end(&x);
}

/* A pattern matrix has no signs: the key c skips to the magnitude and shows the reason. */
TEST(a_pattern_has_no_signs)
{
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 9, 0, 0);
    begin(&x, &A, 80, 24);
    strcpy(x.s.current->info.field, "pattern");
    press(&x, 'c');
    assert_int_equal(spy_of(&x)->by, SPY_MAGNITUDE);
    assert_true(says(&x, "a pattern matrix has no values and no signs"));
    end(&x);
}

/* ---- rows ---- */

static const struct csr *sorting;

static int by_length(const void *a, const void *b)
{
    int i = *(const int *)a, k = *(const int *)b;
    int64_t d = csr_row_length(sorting, i) - csr_row_length(sorting, k);
    return d ? d < 0 ? -1 : 1 : i - k;
}

TEST(rows_by_length)
{
    for (int t = 0; t < 4; t++) {
        struct csr A;
        struct row_lengths l;
        if (t == 0) make_random(&A, 1, 9, 4, 5);
        if (t == 1) make_random(&A, 701, 80, 9000, 5);
        if (t == 2) make(&A, "rmat", 11, 9, 0);
        if (t == 3) make_random(&A, 40, 40, 0, 5);
        int *order = malloc(sizeof *order * (size_t)A.rows);
        for (int r = 0; r < A.rows; r++) order[r] = r;
        sorting = &A;
        qsort(order, (size_t)A.rows, sizeof *order, by_length);
        assert_true(row_lengths_of(&A, &l, NULL));
        assert_int_equal(l.below[l.n], A.rows);
        assert_int_equal(l.entries[l.n], A.nnz);
        for (int i = 0; i < A.rows; i += 1 + t) {
            assert_int_equal(row_length_at(&l, i), csr_row_length(&A, order[i]));
            assert_int_equal(row_at_rank(&l, i), order[i]);
            assert_int_equal(rank_of_row(&l, order[i]), i);
        }
        for (int percent = 1; percent <= 100; percent++) {
            int64_t i = 0; /* the first row, in this order, up to which there are `percent` % of the rows */
            while (100 * (i + 1) < percent * A.rows) i++;
            assert_int_equal(row_length_quantile(&l, percent), csr_row_length(&A, order[i]));
        }
        for (int bins = 1; bins <= 64; bins += 7) {
            struct histogram g, h;
            histogram_of(&A, bins, &g);
            histogram_from(&l, bins, &h);
            assert_memory_equal(&g, &h, sizeof g);
        }
        free(order);
        row_lengths_free(&l);
        csr_free(&A);
    }
}

/* Costs computed by hand: 32 rows of 3 entries cost 96, and one row of 64 entries among 31 empty rows costs 32 x 64. A
   warp with 8 rows wastes 24 threads. Warps without entries are listed separately. */
TEST(a_warp_costs_its_longest_row)
{
    int row[500], col[500], n = 0;
    double val[500] = {0};
    for (int k = 0; k < 96; k++) row[n] = k / 3, col[n++] = k % 3;
    for (int k = 0; k < 64; k++) row[n] = 40, col[n++] = k;
    for (int k = 0; k < 8; k++) row[n] = 96 + k, col[n++] = k;
    struct csr A;
    struct warps w;
    assert_true(csr_from_triplets(&A, 104, 64, n, row, col, val, NULL, NULL, NULL));
    warps_of(&A, &w);
    assert_int_equal(w.n, 4);
    assert_int_equal(w.idle, 1);
    assert_int_equal(w.worst_row, 32);
    assert_true(w.worst == 32 && warp_cost(&A, 0) == 1 && warp_cost(&A, 96) == 4);
    assert_true(fabs(w.mean - 37.0 / 3) < 1e-12);
    assert_true(fabs(w.whole - 32.0 * (3 + 64 + 1) / (96 + 64 + 8)) < 1e-12);
    assert_int_equal(w.costs.count[0], 1);
    assert_int_equal(w.costs.count[w.costs.n - 1], 1);
    csr_free(&A);
}

/* Every picture of rows can be drawn on screens of any size, even if keys move the cursor beyond either end. */
TEST(rows_on_all_screens)
{
    static const int keys[] = {UI_DOWN, UI_RIGHT, UI_RIGHT, UI_LEFT, UI_END, UI_LEFT,
                               UI_LEFT, UI_HOME,  UI_UP,    UI_PGDN, UI_PGUP};
    static const int sizes[][2] = {{1, 1}, {3, 2}, {40, 10}, {41, 7}, {80, 24}, {120, 40}};
    for (int i = 0; i < COUNT(sizes) * 3; i++) {
        struct csr A;
        struct shown x;
        if (i % 3 == 0) make(&A, "rmat", 9, 6, 0);
        if (i % 3 == 1) make_random(&A, 1, 1, 1, 2);
        if (i % 3 == 2) make_random(&A, 50, 50, 0, 2);
        begin(&x, &A, sizes[i / 3][0], sizes[i / 3][1]);
        open_view(&x, "rows");
        for (int mode = 0; mode < 5; mode++) {
            for (int k = 0; k < COUNT(keys); k++) {
                press(&x, keys[k]);
                assert_in_range(x.st->row, 0, x.st->rows - 1);
                assert_in_range(((struct rows_state *)x.st->own)->rank, 0, x.st->rows - 1);
            }
            press(&x, 't');
        }
        end(&x);
    }
}

/* ---- one cursor ---- */

static void assert_slot(const struct shown *x, int64_t row, int64_t col)
{
    const struct layout_state *own = x->st->own;
    struct place p = own->product->S.format->where(&own->product->S, own->array, x->st->item);
    assert_int_equal(p.kind, SLOT_ENTRY);
    assert_int_equal(p.row, row);
    assert_int_equal(p.col, col);
}

TEST(views_share_a_cursor)
{
    static const char *const formats_tried[] = {"csr", "ell", "coo", "csc", "bsr"};
    struct csr A;
    struct shown x;
    make(&A, "poisson2d", 20, 0, 0);
    begin(&x, &A, 80, 24);
    for (int i = 0; i < COUNT(formats_tried); i++) {
        int64_t row = 200 + 20 * i, col = row + 20;
        char there[32];
        snprintf(there, sizeof there, "/%lld %lld", (long long)row, (long long)col);
        open_view(&x, "spy");
        for (const char *k = there; *k; k++) press(&x, *k);
        press(&x, UI_ENTER);
        open_view(&x, "rows");
        assert_int_equal(x.st->row, row);
        struct layout_state *own = screen_view_state(&x.s, view_find("layout"))->own;
        own->format = format_find(formats_tried[i]);
        open_view(&x, "layout");
        assert_slot(&x, row, col);
        press(&x, 'g'); /* the cursors of other views move to a different element */
        open_view(&x, "layout");
        for (int k = 0; k < 3 || !x.v->at(&x.s, x.st, &row, &col) || col < 0; k++) press(&x, UI_DOWN);
        assert_true(x.v->at(&x.s, x.st, &row, &col));
        open_view(&x, "spy");
        assert_int_equal(x.st->row, row);
        assert_int_equal(x.st->col, col);
    }
    open_view(&x, "rows");
    press(&x, UI_END);
    int64_t row = x.st->row;
    open_view(&x, "spy");
    assert_int_equal(x.st->row, row);
    end(&x);
}
