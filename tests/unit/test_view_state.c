/* The state of each view is separate: keys of one view change no other view, a different matrix resets all views, and a
   state's memory is released. */
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <stdlib.h>
#include <string.h>

static void start(struct session *s, FILE *f)
{
    struct err e = {0};
    assert_true(session_new(s, f, f, OUT_TEXT, &e));
    assert_true(ui_attach(s, &e));
}

static void stop(struct session *s, FILE *f)
{
    ui_detach(s);
    session_free(s);
    fclose(f);
}

static void show(struct session *s, const struct view *v)
{
    struct view_state *st = screen_view_state(s, v);
    struct canvas c;
    struct err e = {0};
    view_reset(st, s->current);
    st->full = true;
    assert_true(!v->prepare || v->prepare(s, st, &e));
    assert_true(canvas_new(&c, 80, 24, false, NULL));
    view_draw(v, &c, s, st);
    canvas_free(&c);
}

/* ---- the views of the program ---- */

static void keep(const struct session *s, void *kept[VIEWS_MAX])
{
    for (int i = 0; views[i]; i++) {
        const struct view_state *st = screen_view_state((struct session *)s, views[i]);
        kept[i] = malloc(sizeof *st + views[i]->state_size);
        assert_non_null(kept[i]);
        memcpy(kept[i], st, sizeof *st);
        if (st->own) memcpy((char *)kept[i] + sizeof *st, st->own, views[i]->state_size);
    }
}

/* Fail if the state of a view other than `changed` differs from its saved copy. Release the copies. */
static void compare(struct session *s, void *kept[VIEWS_MAX], const struct view *changed)
{
    for (int i = 0; views[i]; i++) {
        const struct view_state *st = screen_view_state(s, views[i]);
        bool same = !memcmp(kept[i], st, sizeof *st) &&
                    (!st->own || !memcmp((char *)kept[i] + sizeof *st, st->own, views[i]->state_size));
        if (views[i] != changed && !same) fail_msg("keys of %s changed the state of %s", changed->name, views[i]->name);
        free(kept[i]);
    }
}

TEST(keys_stay_in_their_view)
{
    static const int keys[] = {UI_DOWN, UI_RIGHT, 't', 'f', 'a', '+', UI_PGDN, 'n', UI_END, 't', UI_UP};
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    void *kept[VIEWS_MAX];
    start(&s, f);
    assert_true(run_line(&s, "gen poisson2d 9; solve gmres m 5"));
    for (int i = 0; views[i]; i++) show(&s, views[i]);
    for (int i = 0; views[i]; i++) {
        keep(&s, kept);
        for (int k = 0; k < COUNT(keys); k++) view_key(&s, views[i], keys[k]);
        compare(&s, kept, views[i]);
    }
    stop(&s, f);
}

TEST(no_two_share_a_state)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    for (int i = 0; views[i]; i++) {
        const struct view_state *st = screen_view_state(&s, views[i]);
        assert_ptr_equal(st->view, views[i]);
        assert_true(!st->own == !views[i]->state_size);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(st, screen_view_state(&s, views[k]));
            assert_true(!st->own || st->own != screen_view_state(&s, views[k])->own);
        }
    }
    stop(&s, f);
}

/* The position of a view is reset when the matrix changes, but options that suit any matrix are kept. */
TEST(another_matrix_resets_all_views)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    assert_true(run_line(&s, "gen poisson2d 9"));
    for (int i = 0; views[i]; i++) {
        show(&s, views[i]);
        for (int k = 0; k < 5; k++) view_key(&s, views[i], UI_DOWN), view_key(&s, views[i], UI_RIGHT);
    }
    assert_true(run_line(&s, "gen poisson2d 7"));
    for (int i = 0; views[i]; i++) {
        struct view_state *st = screen_view_state(&s, views[i]);
        view_reset(st, s.current);
        assert_ptr_equal(st->of, s.current);
        assert_int_equal(st->rows, 49);
        assert_int_equal(st->row + st->col + st->item + st->scroll + st->win.row0 + st->win.col0, 0);
        assert_int_equal(st->win.row1, 49);
        for (size_t b = 0; !views[i]->state_reset && b < views[i]->state_size; b++)
            assert_int_equal(((char *)st->own)[b], 0);
    }
    stop(&s, f);
}

/* ---- a view of this test ---- */

struct toy {
    int chosen;
    void *computed;
};
static int freed;

static void toy_free(void *own)
{
    struct toy *toy = own;
    freed += toy->computed != NULL;
    mem_free(toy->computed);
    toy->computed = NULL;
}

static void toy_copy(void *to, const void *from)
{
    ((struct toy *)to)->chosen = ((const struct toy *)from)->chosen;
}

static const struct view toy_view = {
    .name = "toy", .state_size = sizeof(struct toy), .state_free = toy_free, .state_copy = toy_copy};

static void compute(struct view_state *st)
{
    struct toy *toy = st->own;
    toy->computed = mem_new(1, 8, "a toy", NULL);
    assert_non_null(toy->computed);
}

TEST(a_state_is_released)
{
    struct view_state st, copy;
    struct err e = {0};
    static const struct matrix a = {.csr = {.rows = 3, .cols = 3}}, b = {.csr = {.rows = 4, .cols = 4}};
    freed = 0;
    assert_true(view_state_new(&st, &toy_view, &e));
    assert_true(view_state_new(&copy, &toy_view, &e));
    struct toy *toy = st.own, *other = copy.own;
    view_reset(&st, &a);
    view_reset(&copy, &a);
    compute(&st);
    toy->chosen = 5;
    view_state_copy(&copy, &st);
    assert_int_equal(other->chosen, 5);
    assert_null(other->computed);
    view_reset(&st, &a); /* the matrix is the same, so only computed results are discarded */
    assert_int_equal(freed, 1);
    assert_int_equal(toy->chosen, 5);
    compute(&st);
    view_reset(&st, &b);
    assert_int_equal(freed, 2);
    assert_int_equal(toy->chosen, 0);
    view_state_copy(&copy, &st); /* the state is that of a different matrix */
    assert_int_equal(other->chosen, 5);
    compute(&st);
    view_state_free(&st);
    view_state_free(&st);
    view_state_free(&copy);
    assert_int_equal(freed, 3);
}

TEST(lasting_results_go_with_their_matrix)
{
    struct view lasting = toy_view;
    struct view_state st;
    struct matrix a = {.csr = {.rows = 3, .cols = 3}, .number = 1};
    lasting.lasts = true;
    freed = 0;
    assert_true(view_state_new(&st, &lasting, NULL));
    view_reset(&st, &a);
    compute(&st);
    view_reset(&st, &a);
    assert_int_equal(freed, 0);
    assert_non_null(((struct toy *)st.own)->computed);
    a.number = 2; /* a different matrix at the same address */
    view_reset(&st, &a);
    assert_int_equal(freed, 1);
    view_state_free(&st);
}

TEST(no_memory_for_a_state)
{
    FILE *f = fopen("/dev/null", "w");
    struct err e = {0};
    struct session s;
    bool ok = false;
    assert_true(session_new(&s, f, f, OUT_TEXT, &e));
    for (int nth = 1; !ok; nth++) {
        err_clear(&e);
        mem_fail_at(nth);
        ok = ui_attach(&s, &e);
        mem_fail_at(0);
        if (ok) break;
        assert_int_equal(e.code, E_MEMORY);
        assert_null(s.front);
        assert_true(nth < 100);
    }
    stop(&s, f);
}

/* The cursor of a view may be far beyond the end of the next format's arrays. */
TEST(a_cursor_beyond_the_end)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    struct canvas c;
    start(&s, f);
    assert_true(run_line(&s, "gen poisson2d 30"));
    assert_true(canvas_new(&c, 120, 40, false, NULL));
    for (int i = 0; formats[i]; i++) {
        struct view_state *st = screen_view_state(&s, view_find("layout"));
        char line[80];
        struct err e = {0};
        snprintf(line, sizeof line, "layout %s", formats[i]->name);
        if (!run_line(&s, line)) continue; /* the format cannot store the matrix */
        st->full = true;
        st->item = 1 << 30;
        assert_true(view_find("layout")->prepare(&s, st, &e));
        view_draw(view_find("layout"), &c, &s, st);
    }
    canvas_free(&c);
    stop(&s, f);
}
