/* The pager: rows, keys, search, and a change of the window's size. */
#include "base/base.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/options.h"
#include "ui/canvas.h"
#include "ui/pager.h"
#include "ui/term.h"

#include <string.h>

/* ---- rows ---- */

TEST(rows_are_those_of_the_terminal)
{
    static const struct {
        const char *text;
        int w, rows;
    } cases[] = {
        {"", 10, 0},
        {"a\n", 10, 1},
        {"a", 10, 1},
        {"\n\n", 10, 2},
        {"0123456789\n", 10, 1},
        {"0123456789a\n", 10, 2},
        {"\033[1mabc\033[0m\n", 3, 1},
        {"äöü\n", 3, 1},
        {"äöü\n", 2, 2},
        {"日本語\n", 4, 2},
        {"日本語\n", 5, 2},
        {"日\n", 1, 1},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct pager p;
        assert_true(pager_open(&p, cases[i].text, strlen(cases[i].text), cases[i].w, 24, NULL));
        if (p.rows != cases[i].rows) fail_msg("%s in %d: %d rows", cases[i].text, cases[i].w, p.rows);
        pager_close(&p);
    }
}

/* ---- keys ---- */

/* 100 lines "line 0" to "line 99"; lines 50 and 98 also contain "Needle". */
static const char *hundred(void)
{
    static char text[2000];
    size_t n = 0;
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "line %d%s\n", i, i == 50 || i == 98 ? " Needle" : "");
    return text;
}

static struct pager open_hundred(void)
{
    struct pager p;
    assert_true(pager_open(&p, hundred(), strlen(hundred()), 80, 24, NULL));
    return p;
}

static void press(struct pager *p, const char *keys)
{
    for (; *keys; keys++) assert_true(pager_key(p, *keys == '\n' ? UI_ENTER : *keys));
}

static const struct {
    const char *keys;
    int first;
} moves[] = {
    {"", 0},
    {" ", 23},
    {"  ", 46},
    {" b", 0},
    {"f", 23},
    {"j", 1},
    {"\n\n", 2},
    {"jjk", 1},
    {"k", 0},
    {"G", 77},
    {"Gg", 0},
    {"     ", 77},
    {"Gb", 54},
    {"/needle\n", 50},
    {"/needle\nn", 77},
    {"/needle\nnN", 50},
    {"/absent\n", 0},
    {"G/line 99\n", 77},
    {"n", 0},
    {"x", 0},
    {"/neez\b\bed\n", 50},
    {"/needle\nnn", 77},
    {"/line 3\nn", 30},
    {"GN", 77},
    {"G/line 8\nN", 8},
    {"/line 3\nnnN", 30},
    {"/line 3\nnnNN", 3},
};

TEST(keys_move)
{
    for (int i = 0; i < COUNT(moves); i++) {
        struct pager p = open_hundred();
        press(&p, moves[i].keys);
        if (p.first != moves[i].first) fail_msg("%s: first is %d", moves[i].keys, p.first);
        pager_close(&p);
    }
}

TEST(keys_leave)
{
    static const int keys[] = {'q', 'Q', UI_ESC, UI_INTERRUPT};
    for (int i = 0; i < COUNT(keys); i++) {
        struct pager p = open_hundred();
        assert_false(pager_key(&p, keys[i]));
        press(&p, "/qQ"); /* while the user types, these keys are text or end the typing */
        assert_true(pager_key(&p, keys[i]));
        pager_close(&p);
    }
}

/* ---- drawing ---- */

static char *drawn(struct pager *p, int w, int h, size_t *n)
{
    struct canvas c;
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    assert_true(canvas_new(&c, w, h, false, NULL));
    pager_draw(p, &c);
    canvas_print(&c, f, COLOURS_NONE);
    fclose(f);
    canvas_free(&c);
    return text;
}

static void check_drawn(struct pager *p, int w, int h, const char *expected)
{
    size_t n;
    char *text = drawn(p, w, h, &n);
    assert_string_equal(text, expected);
    free(text);
}

TEST(a_page_shows_its_place)
{
    struct pager p = open_hundred();
    check_drawn(&p, 48, 4, "line 0\nline 1\nline 2\n1-3 of 100  space next  b back  q leave\n");
    check_drawn(&p, 30, 4, "line 0\nline 1\nline 2\nspace next  b back  q leave\n");
    press(&p, "G");
    check_drawn(&p, 30, 4, "line 97\nline 98 Needle\nline 99\nspace next  b back  q leave\n");
    press(&p, "/need");
    check_drawn(&p, 30, 4, "line 97\nline 98 Needle\nline 99\n/need \n");
    press(&p, "les\n");
    check_drawn(&p, 40, 4, "line 97\nline 98 Needle\nline 99\n`needles` is not below\n");
    check_drawn(&p, 30, 1, "line 97\n");
    pager_close(&p);
}

/* The columns of the row `y` that are marked, as text: x for a marked cell. */
static const char *marks_of(struct pager *p, int w, int y, char *out)
{
    struct canvas c;
    assert_true(canvas_new(&c, w, 4, false, NULL));
    pager_draw(p, &c);
    for (int x = 0; x < w; x++) out[x] = c.cell[y * w + x].style == ST_CURSOR ? 'x' : '.';
    out[w] = 0;
    canvas_free(&c);
    return out;
}

/* A Chinese character takes two columns and three bytes, an accented one takes one column and two bytes, and an escape
   sequence takes no column. */
TEST(every_match_is_marked)
{
    static const struct {
        const char *text, *keys, *marks;
    } cases[] = {
        {"a needle\n", "/needle\n", "..xxxxxx............"},
        {"NeedleneedlE\n", "/needle\n", "xxxxxxxxxxxx........"},
        {"日本 needle\n", "/needle\n", ".....xxxxxx........."},
        {"äö needle 語needle\n", "/needle\n", "...xxxxxx...xxxxxx.."},
        {"\033[1mbold\033[0m needle\n", "/needle\n", ".....xxxxxx........."},
        {"a needle\n", "/need", "...................."},
        {"a needle\n", "/noodle\n", "...................."},
    };
    char marks[32];
    for (int i = 0; i < COUNT(cases); i++)
        for (int margin = 0; margin < 2; margin++) {
            struct pager p;
            assert_true(pager_open(&p, cases[i].text, strlen(cases[i].text), 20, 4, NULL));
            p.margin = margin;
            press(&p, cases[i].keys);
            marks_of(&p, 20 + margin, 0, marks);
            assert_string_equal(marks + margin, cases[i].marks);
            pager_close(&p);
        }
}

/* p.shown is the end of the text that has been on the screen; this text stays in the scrollback. */
TEST(the_shown_text_is_known)
{
    struct pager p = open_hundred();
    size_t n;
    free(drawn(&p, 80, 24, &n));
    assert_ptr_equal(p.text + p.shown, strstr(hundred(), "line 23\n"));
    press(&p, " ");
    free(drawn(&p, 80, 24, &n));
    press(&p, "g");
    free(drawn(&p, 80, 24, &n));
    assert_ptr_equal(p.text + p.shown, strstr(hundred(), "line 46\n"));
    press(&p, "G");
    free(drawn(&p, 80, 24, &n));
    assert_int_equal(p.shown, p.n);
    pager_close(&p);
}

TEST(the_place_is_kept_in_a_new_size)
{
    struct pager p = open_hundred();
    press(&p, "/needle\n");
    check_drawn(&p, 8, 4, "line 50\nNeedle\nline 51\nfound in\n");
    check_drawn(&p, 40, 3, "line 50 Needle\nline 51\nfound in line 51; n next, N previous\n");
    pager_close(&p);
}

/* ---- the option ---- */

TEST(a_program_needs_permission)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    const struct setting *o = option_find("pager");
    struct err e = {0};
    assert_string_equal(option_value(&t.s, OPTION_PAGER), "on");
    assert_true(option_set(&t.s, o, "cat -n", &e));
    assert_true(option_set(&t.s, o, "X=1 /bin/cat", &e));
    assert_string_equal(option_value(&t.s, OPTION_PAGER), "X=1 /bin/cat");
    assert_false(option_set(&t.s, o, "onn", &e));
    assert_non_null(strstr(e.text, "did you mean `on`?"));
    err_clear(&e);
    t.s.lines = (struct lines){.from = "a script"};
    assert_true(option_set(&t.s, o, "off", &e));
    assert_false(option_set(&t.s, o, "cat x", &e));
    assert_non_null(strstr(e.text, "a script may not run shell commands"));
    assert_string_equal(option_value(&t.s, OPTION_PAGER), "off");
    t.s.lines = (struct lines){0};
    talk_close(&t);
}
