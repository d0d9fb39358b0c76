/* Frames: what is sent to a terminal, replayed by a small terminal of our own, shows the canvas; and is short. */
#include "../ui/ui.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <setjmp.h>
#include <cmocka.h>

enum { COLUMNS = 300, LINES = 40 };

/* ---- a terminal that knows little, and fails on all else ---- */

struct seen {
    uint32_t glyph; /* 0: the right half of a wide one */
    bool bold, reverse;
    bool heavy; /* as bold as terminals make it to which a bright colour is bold too */
    int colour; /* -1: its own; 30 .. 37, 90 .. 97, 256 + index, 1 << 24 | rgb */
};

struct terminal {
    int w, h, x, y;
    bool behind; /* the last column was printed, the next letter would begin a new line */
    struct moves can;
    struct seen pen, cell[LINES][COLUMNS];
};

static const struct seen empty = {' ', false, false, false, -1};

static void clear(struct terminal *t, int w, int h, struct moves can)
{
    *t = (struct terminal){
        .w = w, .h = h, .can = can, .pen = {0, true, true, true, 1 << 24 | 0x123456}}; /* left by others */
    for (int i = 0; i < LINES * COLUMNS; i++) t->cell[i / COLUMNS][i % COLUMNS] = empty;
}

/* One parameter of SGR, or the several of a colour; what follows them. */
static const int *paint(struct terminal *t, const int *p)
{
    if (p[0] == 0) t->pen = empty;
    if (p[0] == 1) t->pen.bold = t->pen.heavy = true;
    if (p[0] >= 90 && p[0] <= 97) t->pen.heavy = true;
    if (p[0] == 7) t->pen.reverse = true;
    if ((p[0] >= 30 && p[0] <= 37) || (p[0] >= 90 && p[0] <= 97)) t->pen.colour = p[0];
    if (p[0] == 38 && p[1] == 5) return t->pen.colour = 256 + p[2], p + 3;
    if (p[0] == 38 && p[1] == 2) return t->pen.colour = 1 << 24 | p[2] << 16 | p[3] << 8 | p[4], p + 5;
    if (p[0] > 1 && p[0] != 7 && t->pen.colour != p[0]) fail_msg("style %d is not known", p[0]);
    return p + 1;
}

static void erase(struct terminal *t)
{
    assert_true(t->can.erase);
    assert_false(t->pen.reverse); /* it would be seen */
    for (int x = t->x; x < t->w; x++) t->cell[t->y][x] = empty;
}

/* A control sequence from behind its [; what follows it. */
static const char *control(struct terminal *t, const char *s)
{
    int p[16] = {0}, n = 0;
    char *end = (char *)s;
    for (;; s = end + 1) {
        p[n++] = (int)strtol(s, &end, 10);
        assert_true(n < 16);
        if (*end != ';') break;
    }
    switch (*end) {
    case 'H':
        assert_true(p[0] <= t->h && p[1] <= t->w);
        t->y = p[0] ? p[0] - 1 : 0;
        t->x = p[1] ? p[1] - 1 : 0;
        break;
    case 'C':
        assert_true(t->can.right && !t->behind);
        t->x += p[0] ? p[0] : 1;
        assert_true(t->x < t->w);
        break;
    case 'K':
        assert_true(p[0] == 0 && !t->behind);
        erase(t);
        break;
    case 'm':
        for (const int *q = p; q < p + n;) q = paint(t, q);
        return end + 1;
    default:
        fail_msg("ESC [ %c is not known", *end);
    }
    t->behind = false;
    return end + 1;
}

static void print(struct terminal *t, uint32_t glyph)
{
    int width = wcwidth((wchar_t)glyph);
    assert_true(width > 0 && !t->behind); /* nothing is printed past the edge */
    assert_true(t->x + width <= t->w);
    t->cell[t->y][t->x] = t->pen;
    t->cell[t->y][t->x].glyph = glyph;
    if (width == 2) t->cell[t->y][t->x + 1].glyph = 0;
    t->x += width;
    t->behind = t->x == t->w;
    if (t->behind) t->x--;
}

static void replay(struct terminal *t, const char *s, size_t n)
{
    const char *end = s + n;
    while (s < end) {
        uint32_t glyph;
        if (*s == '\033') {
            assert_int_equal(s[1], '[');
            s = control(t, s + 2);
        } else if (*s == '\r') {
            t->x = 0, t->behind = false, s++;
        } else if (*s == '\n') {
            t->y++, s++;
            assert_true(t->y < t->h); /* it never scrolls */
        } else {
            int length = utf8_decode(s, (size_t)(end - s), &glyph);
            assert_true(length > 0 && glyph >= ' ');
            print(t, glyph);
            s += length;
        }
    }
}

/* ---- canvases against it ---- */

/* What a style is: of its full sequence, replayed alone. */
static struct seen seen_of(enum style st, enum colours colours)
{
    static struct terminal t;
    char text[64];
    clear(&t, 1, 1, (struct moves){0});
    style_escape(st, colours, text, sizeof text);
    replay(&t, text, strlen(text));
    return t.pen;
}

static bool looks_like(struct seen a, struct seen b)
{
    if (a.glyph != b.glyph) return false;
    if (!a.glyph || (a.glyph == ' ' && !a.reverse && !b.reverse)) return true;
    return a.bold == b.bold && a.heavy == b.heavy && a.reverse == b.reverse && a.colour == b.colour;
}

static void assert_shows(const struct terminal *t, const struct canvas *c)
{
    struct seen style[ST_COUNT];
    for (int i = 0; i < ST_COUNT; i++) style[i] = seen_of((enum style)i, c->colours);
    for (int i = 0; i < c->w * c->h; i++) {
        struct seen wanted = style[c->cell[i].style], found = t->cell[i / c->w][i % c->w];
        wanted.glyph = c->cell[i].glyph;
        if (!looks_like(found, wanted))
            fail_msg("column %d of line %d: U+%04x in colour %x, expected U+%04x in %x", i % c->w, i / c->w,
                     found.glyph, (unsigned)found.colour, wanted.glyph, (unsigned)wanted.colour);
    }
}

/* Send it, and compare; the bytes. */
static size_t show(struct terminal *t, const struct canvas *c, struct cell *shown)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool changes = frame_changes(c, shown);
    frame_write(c, shown, t->can, f);
    fclose(f);
    replay(t, text, size);
    free(text);
    assert_shows(t, c);
    assert_int_equal(changes, size > 0);
    if (size) assert_true(looks_like(t->pen, (struct seen){t->pen.glyph, false, false, false, -1}));
    memcpy(shown, c->cell, sizeof *shown * (size_t)(c->w * c->h));
    return size;
}

static struct cell *nothing_shown(int n)
{
    struct cell *shown = malloc(sizeof *shown * (size_t)n);
    assert_non_null(shown);
    for (int i = 0; i < n; i++) shown[i] = (struct cell){' ', ST_PLAIN};
    return shown;
}

static int below(uint64_t *seed, int n)
{
    return (int)(random_next(seed) % (uint64_t)n);
}

/* Patches of text, of noise in few or many styles, of blanks in any style, and of wide letters. */
static void scribble(struct canvas *c, uint64_t *seed)
{
    int x0 = below(seed, c->w), y0 = below(seed, c->h), w = 1 + below(seed, c->w), h = 1 + below(seed, 4);
    int kind = below(seed, 6), styles = 1 + below(seed, ST_COUNT), base = below(seed, ST_COUNT);
    for (int y = y0; y < y0 + h && y < c->h; y++)
        for (int x = x0; x < x0 + w && x < c->w; x++) {
            enum style st = (enum style)((base + below(seed, styles)) % ST_COUNT);
            if (kind == 5 && (x - x0) % 2 == 0 && x + 1 < c->w) {
                canvas_put(c, x, y, st, 0x6f22);
                canvas_put(c, x + 1, y, st, 0);
            } else if (kind != 5) {
                canvas_put(c, x, y, st, kind < 2 ? 0x2800u + (unsigned)below(seed, 256) : kind < 4 ? 'a' : ' ');
            }
        }
    /* What was a half of a wide letter is no letter. */
    for (int i = 0; i < c->w * c->h; i++) {
        bool first = c->cell[i].glyph == 0x6f22, right = i % c->w + 1 < c->w && c->cell[i + 1].glyph == 0;
        if (first && !right) c->cell[i].glyph = '?';
        if (!c->cell[i].glyph && (i % c->w == 0 || c->cell[i - 1].glyph != 0x6f22)) c->cell[i].glyph = '?';
    }
}

static void frames_show_the_canvas(void **state)
{
    (void)state;
    static struct terminal t;
    static const int sizes[][2] = {{80, 24}, {1, 1}, {COLUMNS, LINES}, {2, 9}, {129, 3}, {33, 12}};
    uint64_t seed = 42;
    for (int i = 0; i < COUNT(sizes) * 4 * 5; i++) {
        struct canvas c;
        assert_true(canvas_new(&c, sizes[i % COUNT(sizes)][0], sizes[i % COUNT(sizes)][1], false, NULL));
        c.colours = (enum colours)(i / COUNT(sizes) / 4);
        int can = i / COUNT(sizes) % 4;
        clear(&t, c.w, c.h, (struct moves){.right = can & 1, .erase = can & 2});
        struct cell *shown = nothing_shown(c.w * c.h);
        for (int round = 0; round < 12; round++) {
            for (int n = below(&seed, 8); n >= 0; n--) scribble(&c, &seed);
            if (below(&seed, 5) == 0) canvas_clear(&c);
            canvas_style(&c, below(&seed, c.w), below(&seed, c.h), ST_CURSOR);
            for (int k = 0; k < c.w * c.h; k++)
                if (!c.cell[k].glyph) c.cell[k].style = c.cell[k - 1].style;
            show(&t, &c, shown);
        }
        free(shown);
        canvas_free(&c);
    }
}

/* What was there is not known: all is sent, over anything. */
static void an_unknown_screen_is_overwritten(void **state)
{
    (void)state;
    static struct terminal t;
    struct canvas c;
    uint64_t seed = 7;
    char *text = NULL;
    size_t size = 0;
    assert_true(canvas_new(&c, 60, 20, false, NULL));
    c.colours = COLOURS_256;
    for (int n = 0; n < 9; n++) scribble(&c, &seed);
    clear(&t, c.w, c.h, (struct moves){true, true});
    for (int i = 0; i < LINES * COLUMNS; i++) t.cell[i / COLUMNS][i % COLUMNS].glyph = 'X';
    FILE *f = open_memstream(&text, &size);
    frame_write(&c, NULL, t.can, f);
    fclose(f);
    replay(&t, text, size);
    assert_shows(&t, &c);
    free(text);
    canvas_free(&c);
}

/* ---- and short ---- */

static void expect_bytes(struct canvas *c, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct cell *shown = nothing_shown(c->w * c->h);
    FILE *f = open_memstream(&text, &size);
    frame_write(c, shown, (struct moves){true, true}, f);
    fclose(f);
    assert_string_equal(text, expected);
    free(text);
    free(shown);
    canvas_clear(c);
}

static void frames_are_short(void **state)
{
    (void)state;
    struct canvas c;
    assert_true(canvas_new(&c, 80, 24, false, NULL));
    c.colours = COLOURS_16;
    expect_bytes(&c, "");
    /* bright, and then not: a bare 32 would stay bold in some */
    canvas_text(&c, 0, 0, ST_DIM, "b");
    canvas_text(&c, 1, 0, ST_GOOD, "g");
    expect_bytes(&c, "\033[H\033[0;90mb\033[0;32mg\033[m");
    draw_fill(&c, 0, 0, 80, ST_DIM, ' '); /* a blank has no style */
    expect_bytes(&c, "");
    canvas_text(&c, 3, 1, ST_BAR, "ab");
    canvas_put(&c, 8, 1, ST_BAR, 'c'); /* over a gap */
    canvas_put(&c, 0, 2, ST_BAR, 'd'); /* and to the next line */
    expect_bytes(&c, "\033[2;4H\033[0;36mab   c\r\nd\033[m");
    canvas_text(&c, 0, 0, ST_DIM, "x");
    canvas_text(&c, 1, 0, ST_AXIS, "y"); /* two styles of one look */
    canvas_text(&c, 2, 0, ST_TITLE, "z");
    canvas_text(&c, 40, 0, ST_TITLE, "t");
    expect_bytes(&c, "\033[H\033[0;90mxy\033[1;96mz\033[37Ct\033[m");
    for (int x = 0; x < 12; x++) canvas_put(&c, x, 0, x % 2 ? ST_BAR : ST_GOOD, 'a'); /* one style after another */
    expect_bytes(&c, "\033[H\033[0;32ma\033[Ca\033[Ca\033[Ca\033[Ca\033[Ca" /* back over the first, which is as it is */
                     "\ra\033[36ma\033[Ca\033[Ca\033[Ca\033[Ca\033[Ca\033[m");
    canvas_free(&c);
}

static void what_goes_is_erased(void **state)
{
    (void)state;
    struct canvas c;
    char *text = NULL;
    size_t size = 0;
    assert_true(canvas_new(&c, 80, 2, false, NULL));
    struct cell *shown = nothing_shown(160);
    for (int x = 0; x < 60; x++) shown[x].glyph = 'x';
    canvas_text(&c, 0, 0, ST_PLAIN, "xxxxx");
    FILE *f = open_memstream(&text, &size);
    frame_write(&c, shown, (struct moves){true, true}, f);
    fclose(f);
    assert_string_equal(text, "\033[1;6H\033[m\033[K");
    free(text);
    free(shown);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_show_the_canvas),
        cmocka_unit_test(an_unknown_screen_is_overwritten),
        cmocka_unit_test(frames_are_short),
        cmocka_unit_test(what_goes_is_erased),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
