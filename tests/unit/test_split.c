/* The tree of panes: sizes, dividing and closing; and panes in the explorer: the shared cursor, and drawing only what
   has changed. */
#include "base/err.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/matrix.h"
#include "ui/explorer.h"
#include "ui/screen.h"
#include "ui/split.h"
#include "ui/stage.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

static const struct view *a, *b, *c, *d;
static const struct rect area = {0, 1, 160, 48};

/* Check that the panes and the borders between them fill the area exactly, and that no pane is too small. */
static void check_cover(const struct split *t)
{
    int pane[PANES_MAX], n = split_panes(t, pane);
    for (int y = t->area.y; y < t->area.y + t->area.h; y++)
        for (int x = t->area.x; x < t->area.x + t->area.w; x++) {
            int covering = 0;
            for (int i = 0; i < n; i++) {
                struct rect r = t->node[pane[i]].at;
                covering += x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
            }
            assert_true(covering <= 1);
            assert_int_equal(split_at(t, x, y) != NO_NODE, covering);
        }
    for (int i = 0; i < n; i++) {
        struct rect r = t->node[pane[i]].at;
        assert_true(r.w >= PANE_WIDTH_MIN && r.h >= PANE_HEIGHT_MIN);
    }
}

static int set_up(void **state)
{
    a = view_find("spy"), b = view_find("rows"), c = view_find("layout"), d = view_find("trace");
    return !(a && b && c && d);
}

/* The pane with the focus grows, whichever side it is on. */
TEST(the_pane_with_the_focus_is_resized)
{
    struct split t = {0};
    struct err e = {0};
    split_begin(&t, a);
    split_fit(&t, area);
    assert_true(split_divide(&t, SIDE_BY_SIDE, b, &e) && split_divide(&t, ONE_ABOVE_OTHER, c, &e));
    for (int i = 0; i < 3; i++, split_turn(&t, 1)) {
        struct rect before = t.node[t.focus].at;
        assert_true(split_resize(&t, SIDE_BY_SIDE, 6));
        assert_int_equal(t.node[t.focus].at.w, before.w + 6);
        assert_true(split_resize(&t, SIDE_BY_SIDE, -6));
        assert_int_equal(t.node[t.focus].at.w, before.w);
        if (t.node[t.focus].view == a) continue; /* nothing is above or below it */
        assert_true(split_resize(&t, ONE_ABOVE_OTHER, 4));
        assert_int_equal(t.node[t.focus].at.h, before.h + 4);
        assert_true(split_resize(&t, ONE_ABOVE_OTHER, -4));
    }
}

TEST(the_last_pane_is_no_longer_alone)
{
    struct split t = {0};
    struct err e = {0};
    split_begin(&t, a);
    split_fit(&t, area);
    assert_true(split_divide(&t, SIDE_BY_SIDE, b, &e));
    t.alone = true;
    split_fit(&t, area);
    assert_false(split_divide(&t, SIDE_BY_SIDE, c, &e));
    err_clear(&e);
    assert_true(split_close(&t, &e));
    if (!split_divide(&t, SIDE_BY_SIDE, b, &e)) fail_msg("%s", e.text);
    assert_true(split_shows_all(&t));
}

TEST(panes_are_divided_and_closed)
{
    struct split t = {0};
    struct err e = {0};
    assert_int_equal(split_count(&t), 0);
    split_begin(&t, a);
    split_fit(&t, area);
    assert_false(split_shows_all(&t));
    assert_false(split_close(&t, &e));
    assert_true(split_divide(&t, SIDE_BY_SIDE, b, &e) && split_divide(&t, ONE_ABOVE_OTHER, c, &e));
    assert_int_equal(split_count(&t), 3);
    assert_true(split_shows_all(&t) && t.node[t.focus].view == c);
    check_cover(&t);
    split_turn(&t, 1);
    assert_ptr_equal(t.node[t.focus].view, a);
    split_turn(&t, -1);
    assert_ptr_equal(t.node[t.focus].view, c);
    assert_true(split_close(&t, &e));
    assert_ptr_equal(t.node[t.focus].view, b);
    check_cover(&t);
    assert_true(split_close(&t, &e));
    assert_int_equal(split_count(&t), 1);
    assert_int_equal(t.node[t.focus].at.w, area.w);
}

/* A view is in one pane only: showing it again moves the focus. */
TEST(a_view_has_one_pane)
{
    struct split t = {0};
    struct err e = {0};
    split_begin(&t, a);
    split_fit(&t, area);
    assert_true(split_divide(&t, SIDE_BY_SIDE, b, &e));
    split_show(&t, a);
    assert_ptr_equal(t.node[t.focus].view, a);
    split_show(&t, d);
    assert_true(split_find(&t, a) == NO_NODE && split_find(&t, d) == t.focus);
}

TEST(panes_too_small_are_refused)
{
    struct split t = {0};
    struct err e = {0};
    const struct view *two[] = {a, b};
    split_begin(&t, a);
    split_fit(&t, (struct rect){0, 1, 80, 22});
    assert_false(split_divide(&t, SIDE_BY_SIDE, b, &e));
    assert_non_null(strstr(e.text, "this pane of 80 x 22 characters is too small to divide"));
    assert_false(split_divide(&t, ONE_ABOVE_OTHER, b, &e));
    e = (struct err){0};
    assert_false(split_begin_all(&t, 2, two, (struct rect){0, 1, 80, 22}, &e));
    assert_non_null(strstr(e.text, "2 panes need"));
    split_fit(&t, (struct rect){0, 1, 1000, 1000});
    for (int i = 1; i < PANES_MAX; i++) assert_true(split_divide(&t, i % 2 ? SIDE_BY_SIDE : ONE_ABOVE_OTHER, b, &e));
    assert_false(split_divide(&t, SIDE_BY_SIDE, b, &e));
    check_cover(&t);
}

/* Sizes are kept while the window is too small for all panes, and when it becomes large again. */
TEST(sizes_are_kept)
{
    struct split t = {0};
    struct err e = {0};
    split_begin(&t, a);
    split_fit(&t, area);
    assert_true(split_divide(&t, SIDE_BY_SIDE, b, &e));
    int before = t.node[t.focus].at.w;
    assert_true(split_resize(&t, SIDE_BY_SIDE, 10));
    assert_int_equal(t.node[t.focus].at.w, before + 10);
    assert_false(split_resize(&t, ONE_ABOVE_OTHER, 2));
    split_show(&t, c);
    split_fit(&t, (struct rect){0, 1, 79, 22});
    assert_false(split_shows_all(&t));
    split_fit(&t, area);
    assert_int_equal(t.node[t.focus].at.w, before + 10);
    check_cover(&t);
    while (split_resize(&t, SIDE_BY_SIDE, 10)) continue;
    check_cover(&t);
    assert_int_equal(t.node[t.node[t.root].first].at.w, PANE_WIDTH_MIN);
    assert_true(split_resize(&t, SIDE_BY_SIDE, -10));
}

TEST(arrangements_suit_the_screen)
{
    static const struct {
        int n, w, h, count;
    } table[] = {{4, 80, 22, 1},  {4, 160, 48, 4}, {4, 200, 58, 4}, {4, 120, 38, 4},
                 {4, 160, 22, 2}, {4, 80, 48, 2},  {3, 160, 48, 3}, {4, 40, 10, 1}};
    const struct view *all[] = {a, b, c, d};
    struct err e = {0};
    for (int i = 0; i < COUNT(table); i++) {
        struct split t;
        int n = split_count_for(table[i].n, table[i].w, table[i].h);
        if (n != table[i].count) fail_msg("%d panes in %d x %d", n, table[i].w, table[i].h);
        assert_true(split_begin_all(&t, n, all, (struct rect){0, 1, table[i].w, table[i].h}, &e));
        assert_int_equal(split_count(&t), n);
        if (n > 1) check_cover(&t);
    }
}

/* ---- in the explorer ---- */

static const struct view_state *state_of(struct talk *t, const char *view)
{
    return screen_view_state(&t->s, view_find(view));
}

TEST(panes_share_the_cursor)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20; trace csr-scalar");
    assert_true(talk_line(&t, "keys \"/ '150 151' Enter\" view all size 160x50"));
    assert_int_equal(state_of(&t, "spy")->row, 150);
    assert_int_equal(state_of(&t, "rows")->row, 150);
    int64_t row, col;
    assert_true(c->at(&t.s, state_of(&t, "layout"), &row, &col));
    assert_true(row == 150 && col == 151);
    assert_true(d->at(&t.s, state_of(&t, "trace"), &row, &col)); /* the trace has moved to another warp */
    assert_true(row == 150 && col == 151);
    /* The trace moves the others. */
    assert_true(talk_line(&t, "keys \"g Tab Tab Tab Tab BackTab Right\" size 160x50"));
    assert_true(d->at(&t.s, state_of(&t, "trace"), &row, &col));
    assert_int_equal(state_of(&t, "spy")->row, row);
    assert_int_equal(state_of(&t, "rows")->row, row);
    talk_close_screen(&t);
}

/* The key t changes the picture in rows only: spy and bench are not drawn again. */
TEST(only_changed_panes_are_drawn)
{
    struct talk t;
    talk_open_screen(&t);
    struct explorer *x = screen_explorer(&t.s);
    talk_line(&t, "gen poisson2d 20");
    assert_true(talk_line(&t, "keys \"2 t\" view spy,rows,bench size 160x50"));
    int64_t before = x->panes_drawn;
    assert_true(talk_line(&t, "keys t size 160x50"));
    int64_t once = x->panes_drawn - before; /* opening draws all panes, then t draws rows */
    before = x->panes_drawn;
    assert_true(talk_line(&t, "keys \"t t t t t\" size 160x50"));
    assert_int_equal(x->panes_drawn - before, once + 4);
    talk_close_screen(&t);
}

TEST(keys_and_mouse_change_the_focus)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20");
    const struct explorer *x = screen_explorer(&t.s);
    static const struct {
        const char *keys, *view;
        int panes;
    } table[] = {
        {"Tab", "rows", 4},        {"Tab Tab", "layout", 4}, {"BackTab", "trace", 4}, {"Click:100,5", "layout", 4},
        {"Click:5,40", "rows", 4}, {"3", "layout", 4},       {"4", "bench", 4},       {"X", "rows", 3},
        {"X X X X", "trace", 1},   {"F Tab", "rows", 4},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char line[120];
        snprintf(line, sizeof line, "keys \"%s\" view all size 160x50", table[i].keys);
        assert_true(talk_line(&t, line));
        if (strcmp(x->pane->name, table[i].view) || split_count(&x->split) != table[i].panes)
            fail_msg("%s: %s, %d panes", table[i].keys, x->pane->name, split_count(&x->split));
    }
    talk_refuses(&t, "keys j view spy,rows", "2 panes need");
    talk_refuses(&t, "keys j view spy,nothing", "is not");
    talk_says(&t, "keys '|' view spy; screendump", "too small to divide");
    talk_close_screen(&t);
}

SUITE(.setup = set_up);
