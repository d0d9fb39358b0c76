/* The canvas: text that was drawn is read back. Other tests check the bounds, the columns, the colours, and the ASCII
   characters that replace others on terminals that can only show ASCII. */
#include "base/err.h"
#include "base/mem.h"
#include "kits/test.h"
#include "ui/draw.h"

#include <stdlib.h>
#include <string.h>

/* The canvas as text; the caller frees it. */
static char *printed(const struct canvas *c, enum colours colours)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    canvas_print(c, f, colours);
    fclose(f);
    return text;
}

static void assert_prints(const struct canvas *c, enum colours colours, const char *expected)
{
    char *text = printed(c, colours);
    assert_string_equal(text, expected);
    free(text);
}

TEST(text_is_placed_by_columns)
{
    static const struct {
        const char *text;
        bool ascii;
        int end;
        const char *printed;
    } table[] = {
        {"plain", false, 6, " plain\n"},
        {"é", false, 2, " é\n"},
        {"漢字", false, 5, " 漢字\n"},
        {"e\u0301x", false, 3, " ex\n"},
        {"a\xff"
         "b",
         false, 4, " a?b\n"},
        {"\x1b[31m", false, 6, " ?[31m\n"},
        {"×·─│", true, 5, " x.-|\n"},
        {"漢", true, 3, " ?\n"},
        {"", false, 1, ""},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct canvas c;
        assert_true(canvas_new(&c, 20, 2, table[i].ascii, NULL));
        assert_int_equal(canvas_text(&c, 1, 0, ST_PLAIN, "%s", table[i].text), table[i].end);
        assert_prints(&c, COLOURS_NONE, table[i].printed);
        canvas_free(&c);
    }
}

TEST(outside_is_ignored)
{
    struct canvas c;
    assert_true(canvas_new(&c, 3, 2, false, NULL));
    canvas_put(&c, -1, 0, ST_PLAIN, 'a');
    canvas_put(&c, 3, 1, ST_PLAIN, 'b');
    canvas_put(&c, 0, 2, ST_PLAIN, 'c');
    canvas_style(&c, 5, 5, ST_CURSOR);
    canvas_text(&c, 1, 1, ST_PLAIN, "long");
    assert_prints(&c, COLOURS_NONE, "\n lo\n");
    canvas_free(&c);
}

TEST(colours_by_depth)
{
    static const struct {
        enum colours colours;
        const char *printed;
    } table[] = {
        {COLOURS_NONE, "ab\n"},
        {COLOURS_16, "a\033[36mb\033[m\n"},
        {COLOURS_256, "a\033[38;5;74mb\033[m\n"},
        {COLOURS_24BIT, "a\033[38;2;86;180;233mb\033[m\n"},
    };
    struct canvas c;
    assert_true(canvas_new(&c, 4, 1, false, NULL));
    canvas_put(&c, 0, 0, ST_PLAIN, 'a');
    canvas_put(&c, 1, 0, ST_BAR, 'b');
    for (int i = 0; i < COUNT(table); i++) assert_prints(&c, table[i].colours, table[i].printed);
    canvas_free(&c);
}

TEST(colours_from_environment)
{
    static const struct {
        const char *term, *colorterm, *no;
        bool terminal;
        enum colours expected;
    } table[] = {
        {"xterm-256color", "truecolor", "", true, COLOURS_24BIT},
        {"xterm-256color", "", "", true, COLOURS_256},
        {"xterm", "", "", true, COLOURS_16},
        {"dumb", "truecolor", "", true, COLOURS_NONE},
        {"vt100", "", "", true, COLOURS_NONE},
        {"xterm-256color", "24bit", "1", true, COLOURS_NONE},
        {"xterm-256color", "24bit", "", false, COLOURS_NONE},
        {"", "", "", true, COLOURS_NONE},
        {"xterm-direct", "", "", true, COLOURS_24BIT},
        {"linux", "truecolor", "", true, COLOURS_8},
        {"screen-256color", "truecolor", "", true, COLOURS_256}, /* COLORTERM describes the outer terminal */
        {"tmux-256color", "truecolor", "", true, COLOURS_24BIT},
    };
    unsetenv("TMUX");
    for (int i = 0; i < COUNT(table); i++) {
        setenv("TERM", table[i].term, 1);
        setenv("COLORTERM", table[i].colorterm, 1);
        setenv("NO_COLOR", table[i].no, 1);
        assert_int_equal(colours_of_env(table[i].terminal), table[i].expected);
    }
}

/* Every braille pattern has an ASCII substitute, and the substitute of a pattern with dots is never blank. */
TEST(braille_survives_ascii)
{
    struct canvas c;
    assert_true(canvas_new(&c, 1, 1, true, NULL));
    for (uint32_t dots = 1; dots < 256; dots++) {
        canvas_put(&c, 0, 0, ST_PLAIN, 0x2800 + dots);
        assert_int_not_equal(c.cell[0].glyph, ' ');
        assert_true(c.cell[0].glyph < 0x7f);
    }
    canvas_free(&c);
}

TEST(bars_have_eighths_of_a_cell)
{
    static const struct {
        double share;
        const char *printed;
    } table[] = {
        {0, ""}, {1e-9, "▏\n"}, {0.5, "██\n"}, {0.53125, "██▏\n"}, {1, "████\n"}, {7, "████\n"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct canvas c;
        assert_true(canvas_new(&c, 6, 1, false, NULL));
        draw_bar(&c, 0, 0, 4, table[i].share, ST_BAR);
        assert_prints(&c, COLOURS_NONE, table[i].printed);
        canvas_free(&c);
    }
}

TEST(text_is_wrapped_between_words)
{
    struct canvas c;
    assert_true(canvas_new(&c, 10, 4, false, NULL));
    draw_wrapped(&c, 1, 0, 4, ST_PLAIN, "one two three incomprehensible");
    assert_prints(&c, COLOURS_NONE, " one two\n three\n incompre\n hensible\n");
    canvas_free(&c);
}

TEST(no_memory_is_an_error)
{
    struct canvas c;
    struct err e = {0};
    mem_fail_at(1);
    assert_false(canvas_new(&c, 80, 24, false, &e));
    mem_fail_at(0);
    assert_int_equal(e.code, E_MEMORY);
}
