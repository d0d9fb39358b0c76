/* The canvas: cells with a glyph and a style. A canvas is printed as plain text or with ANSI colours. Views draw only
   on canvases. */
#include "canvas.h"
#include "base/mem.h"
#include "base/text.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Colours that colour-blind readers can distinguish: Okabe and Ito's set for rows, viridis for density.
   tests/unit/test_palette.c measures the distances in each palette. */
struct look {
    uint32_t rgb; /* 0: the terminal's own colour */
    uint8_t ansi; /* SGR number of one of 16 colours; 0: the terminal's own colour */
    bool bold, reverse;
    uint8_t eight; /* SGR number of one of 8 colours; 0: `ansi`, or its dark variant if `ansi` is bright */
    uint8_t index; /* number of one of 256 colours; 0: the number nearest to rgb */
};
static const struct look on_dark[ST_COUNT] = {
    [ST_PLAIN] = {0},
    [ST_DIM] = {0x8a8a8a, 90, false, false},
    [ST_BOLD] = {0, 0, true, false},
    [ST_TITLE] = {0x87d7ff, 96, true, false},
    [ST_GOOD] = {0x2fbf8f, 32, false, false, .eight = 36},
    [ST_WARN] = {0xe69f00, 93, false, false},
    [ST_BAD] = {0xff5f5f, 91, true, false},
    [ST_PAD] = {0x767676, 90, false, false},
    [ST_CURSOR] = {0, 0, false, true},
    [ST_AXIS] = {0x8a8a8a, 90, false, false},
    [ST_BAR] = {0x56b4e9, 36, false, false},
    [ST_PLOT_A] = {0x56b4e9, 96, false, false},
    [ST_PLOT_B] = {0xe69f00, 33, false, false},
    [ST_RAMP] = {0x4a5aa8, 34, false, false, .eight = 34, .index = 24},
    [ST_RAMP + 1] = {0x3a729a, 94, false, false, .eight = 34, .index = 61},
    [ST_RAMP + 2] = {0x26828e, 32, false, false, .eight = 35, .index = 30},
    [ST_RAMP + 3] = {0x1f9e89, 36, false, false, .eight = 35, .index = 36},
    [ST_RAMP + 4] = {0x35b779, 92, false, false, .eight = 32, .index = 77},
    [ST_RAMP + 5] = {0x6ece58, 92, false, false, .eight = 36, .index = 149},
    [ST_RAMP + 6] = {0xb5de2b, 93, false, false, .eight = 36, .index = 190},
    [ST_RAMP + 7] = {0xfde725, 97, false, false, .eight = 37, .index = 226},
    [ST_ROW] = {0x56b4e9, 96, false, false},
    [ST_ROW + 1] = {0xe69f00, 33, false, false},
    [ST_ROW + 2] = {0x5fd787, 37, false, false},
    [ST_ROW + 3] = {0xcc79a7, 35, false, false},
    [ST_ROW + 4] = {0xf0e442, 93, false, false},
    [ST_ROW + 5] = {0x6f8fff, 94, false, false},
    [ST_ROW + 6] = {0xe5672e, 32, false, false},
    [ST_ROW + 7] = {0xc6c6c6, 31, false, false},
};
/* The same hues, but dark enough to be read on white. Colours of density go from green to dark violet. */
static const struct look on_light[ST_COUNT] = {
    [ST_PLAIN] = {0},
    [ST_DIM] = {0x6a6a6a, 90, false, false},
    [ST_BOLD] = {0, 0, true, false},
    [ST_TITLE] = {0x005f87, 34, true, false},
    [ST_GOOD] = {0x00734f, 32, false, false},
    [ST_WARN] = {0x8f5f00, 35, false, false},
    [ST_BAD] = {0xc00000, 31, true, false},
    [ST_PAD] = {0x8a8a8a, 90, false, false},
    [ST_CURSOR] = {0, 0, false, true},
    [ST_AXIS] = {0x6a6a6a, 90, false, false},
    [ST_BAR] = {0x2f7fb8, 34, false, false},
    [ST_PLOT_A] = {0x1a6faf, 34, false, false},
    [ST_PLOT_B] = {0xb36b00, 31, false, false},
    [ST_RAMP] = {0x5ec962, 36, false, false, .index = 120},
    [ST_RAMP + 1] = {0x35b779, 36, false, false, .index = 78},
    [ST_RAMP + 2] = {0x21a585, 32, false, false, .index = 36},
    [ST_RAMP + 3] = {0x23898e, 32, false, false, .index = 30},
    [ST_RAMP + 4] = {0x2e6f8e, 35, false, false, .index = 60},
    [ST_RAMP + 5] = {0x3b528b, 35, false, false, .index = 24},
    [ST_RAMP + 6] = {0x46327e, 34, false, false, .index = 54},
    [ST_RAMP + 7] = {0x440154, 30, false, false, .index = 53},
    [ST_ROW] = {0x1a6faf, 34, false, false},
    [ST_ROW + 1] = {0xb36b00, 31, false, false},
    [ST_ROW + 2] = {0x00734f, 32, false, false},
    [ST_ROW + 3] = {0xa8467f, 35, false, false, .index = 133},
    [ST_ROW + 4] = {0x7a7000, 36, false, false},
    [ST_ROW + 5] = {0x3b52c8, 30, false, false},
    [ST_ROW + 6] = {0xb8421a, 31, false, false},
    [ST_ROW + 7] = {0x505050, 90, false, false, .eight = 35},
};
static const struct look *looks = on_dark; /* of the terminal's background */

void theme_choose(bool light)
{
    looks = light ? on_light : on_dark;
}

bool theme_is_light(void)
{
    return looks == on_light;
}

bool canvas_new(struct canvas *c, int w, int h, bool ascii, struct err *e)
{
    *c = (struct canvas){.w = w, .h = h, .ascii = ascii};
    c->cell = mem_new((int64_t)w * h, sizeof *c->cell, "a screen", e);
    if (!c->cell) return *c = (struct canvas){0}, false;
    canvas_clear(c);
    return true;
}

void canvas_free(struct canvas *c)
{
    mem_free(c->cell);
    *c = (struct canvas){0};
}

void canvas_clear(struct canvas *c)
{
    for (int i = 0; i < c->w * c->h; i++) c->cell[i] = (struct cell){' ', ST_PLAIN};
}

/* The ASCII character that replaces a glyph; braille and blocks are replaced according to how full they are. */
static uint32_t ascii_of(uint32_t g)
{
    if (g < 0x7f) return g;
    if (g >= 0x2800 && g <= 0x28ff) return (uint32_t) " .:-=+*#%"[__builtin_popcount(g & 0xff)];
    if (g >= 0x2581 && g <= 0x2588) return (uint32_t) "..--==##"[g - 0x2581];
    if (g >= 0x2589 && g <= 0x258f) return g <= 0x258c ? '#' : '-';
    if (g == 0x2500 || g == 0x2014) return '-';
    if (g == 0x2502) return '|';
    if (g == 0x2501) return '=';
    if (g >= 0x2500 && g <= 0x257f) return '+';
    return g == 0xb7 || g == 0x2591 ? '.' : g == 0xd7 ? 'x' : '?';
}

void canvas_put(struct canvas *c, int x, int y, enum style st, uint32_t glyph)
{
    if (x < 0 || y < 0 || x >= c->w || y >= c->h) return;
    c->cell[y * c->w + x] = (struct cell){c->ascii ? ascii_of(glyph) : glyph, (uint8_t)st};
}

void canvas_style(struct canvas *c, int x, int y, enum style st)
{
    if (x < 0 || y < 0 || x >= c->w || y >= c->h) return;
    c->cell[y * c->w + x].style = (uint8_t)st;
}

/* The number of columns of a glyph; 1 if the locale does not define the glyph. */
static int glyph_width(uint32_t g)
{
    int w = g < 0x7f ? 1 : wcwidth((wchar_t)g);
    return w < 0 ? 1 : w;
}

int canvas_text(struct canvas *c, int x, int y, enum style st, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0, n = strlen(text); i < n;) {
        uint32_t glyph = '?';
        int len = utf8_decode(text + i, n - i, &glyph), width = glyph_width(glyph);
        i += len ? (size_t)len : 1;
        if (width == 0) continue;
        canvas_put(c, x, y, st, glyph < 0x20 ? '?' : glyph);
        if (width == 2) canvas_put(c, x + 1, y, st, c->ascii ? ' ' : 0);
        x += width;
    }
    return x;
}

int glyph_utf8(uint32_t g, char out[5])
{
    int n = g < 0x80 ? 1 : g < 0x800 ? 2 : g < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, g >>= 6) out[i] = (char)(0x80 | (g & 0x3f));
    out[0] = (char)(lead[n] | g);
    out[n] = 0;
    return n;
}

/* The nearest of the 6 levels of the 256-colour cube: 0 95 135 175 215 255. */
static int cube_level(uint32_t v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (int)(v - 35) / 40;
}

/* The index, 0 to 15, of the colour that has this SGR number. */
static int index_of_sgr(int sgr)
{
    return sgr >= 90 ? sgr - 82 : sgr - 30;
}

/* The index of one of 8 colours; -1 for grey, which terminals with 8 colours would show as black. */
static int eight_of(const struct look *k)
{
    int sgr = k->eight ? k->eight : k->ansi > 90 ? k->ansi - 60 : k->ansi;
    return sgr == 90 ? -1 : index_of_sgr(sgr);
}

int style_colour(enum style st, enum colours colours)
{
    const struct look *k = &looks[st];
    uint32_t r = k->rgb >> 16, g = k->rgb >> 8 & 255, b = k->rgb & 255;
    if (!k->rgb || colours == COLOURS_NONE) return -1;
    if (colours == COLOURS_8) return eight_of(k);
    if (colours == COLOURS_16) return index_of_sgr(k->ansi);
    if (colours == COLOURS_24BIT) return (int)k->rgb;
    return k->index ? k->index : 16 + 36 * cube_level(r) + 6 * cube_level(g) + cube_level(b);
}

bool style_bold(enum style st)
{
    return looks[st].bold;
}

bool style_reverse(enum style st)
{
    return looks[st].reverse;
}

/* ---- escape sequences for coloured text ---- */

enum { INK_BYTES = 40 };
struct ink {
    bool bold, reverse;
    char colour[20]; /* an SGR parameter; "": the terminal's own colour */
};
struct inks {
    struct ink of[ST_COUNT];
};

static void write_colour(int colour, enum colours colours, char *out, size_t size)
{
    *out = 0;
    if (colour < 0) return;
    if (colours == COLOURS_24BIT)
        snprintf(out, size, "38;2;%d;%d;%d", colour >> 16, colour >> 8 & 255, colour & 255);
    else if (colours == COLOURS_256)
        snprintf(out, size, "38;5;%d", colour);
    else
        snprintf(out, size, "%d", colour < 8 ? 30 + colour : 82 + colour);
}

static void inks_mix(struct inks *inks, enum colours colours)
{
    for (int i = 0; i < ST_COUNT; i++) {
        struct ink *k = &inks->of[i];
        *k = (struct ink){.bold = looks[i].bold, .reverse = looks[i].reverse};
        write_colour(style_colour((enum style)i, colours), colours, k->colour, sizeof k->colour);
    }
}

static char *add_parameter(char *at, const char *text)
{
    *at++ = ';';
    while (*text) *at++ = *text++;
    return at;
}

/* Some terminals show a bright colour (90 .. 97) as a colour plus bold, and the next colour leaves bold on. */
static bool is_heavy(const struct ink *k)
{
    return k->bold || k->colour[0] == '9';
}

/* Write the shortest escape sequence that changes the style from `was` (NULL: unknown) to `now`. Returns the length of
   the sequence, or 0 if no sequence is needed. Attributes are never turned off one by one: old
   terminals cannot do that, and turning all of them off needs no more bytes. */
static int ink_change(const struct ink *was, const struct ink *now, char out[INK_BYTES])
{
    static const struct ink plain;
    bool unknown = !was;
    if (unknown) was = &plain;
    bool off = unknown || (is_heavy(was) && !is_heavy(now)) || (was->bold && !now->bold) ||
               (was->reverse && !now->reverse) || (*was->colour && !*now->colour);
    bool dye = *now->colour && (off || strcmp(was->colour, now->colour) != 0);
    char *at = out + 1; /* replace the first ; by [ */
    if (off) at = add_parameter(at, "0");
    if (now->bold && (off || !was->bold)) at = add_parameter(at, "1");
    if (now->reverse && (off || !was->reverse)) at = add_parameter(at, "7");
    if (dye) at = add_parameter(at, now->colour);
    if (at == out + 1) return out[0] = 0, 0;
    if (off && at == out + 3) at--; /* ESC [ m */
    memcpy(out, "\033[", 2);
    memcpy(at, "m", 2);
    return (int)(at - out) + 1;
}

void style_escape(enum style st, enum colours colours, char *out, size_t size)
{
    struct inks inks;
    char text[INK_BYTES];
    inks_mix(&inks, colours);
    ink_change(NULL, &inks.of[st], text);
    snprintf(out, size, "%s", text);
}

uint32_t style_rgb(enum style st, bool light)
{
    return (light ? on_light : on_dark)[st].rgb;
}

bool cell_blank(struct cell k)
{
    return k.glyph == ' ' && !looks[k.style].reverse;
}

int canvas_line_end(const struct canvas *c, int y)
{
    int end = c->w;
    while (end > 0 && cell_blank(c->cell[y * c->w + end - 1])) end--;
    return end;
}

static void print_line(const struct canvas *c, int y, FILE *f, const struct inks *inks)
{
    const struct ink *plain = &inks->of[ST_PLAIN], *on = plain;
    int end = canvas_line_end(c, y);
    char text[INK_BYTES] = "";
    for (int x = 0; x < end; x++) {
        struct cell k = c->cell[y * c->w + x];
        if (!k.glyph) continue;
        if (!cell_blank(k) || on->reverse) {
            fwrite(text, 1, (size_t)ink_change(on, &inks->of[k.style], text), f);
            on = &inks->of[k.style];
        }
        fwrite(text, 1, (size_t)glyph_utf8(k.glyph, text), f);
    }
    fwrite(text, 1, (size_t)ink_change(on, plain, text), f);
}

void canvas_print_line(const struct canvas *c, int y, FILE *f, enum colours colours)
{
    struct inks inks = {0};
    if (colours) inks_mix(&inks, colours);
    print_line(c, y, f, &inks);
}

static void print_cells(const struct canvas *c, FILE *f, const struct inks *inks)
{
    int last = c->h - 1;
    while (last >= 0 && !canvas_line_end(c, last)) last--;
    for (int y = 0; y <= last; y++) {
        print_line(c, y, f, inks);
        putc('\n', f);
    }
}

void canvas_print(const struct canvas *c, FILE *f, enum colours colours)
{
    static const struct inks none;
    if (colours)
        canvas_print_ansi(c, f, colours);
    else
        print_cells(c, f, &none);
}

void canvas_print_ansi(const struct canvas *c, FILE *f, enum colours colours)
{
    struct inks inks;
    inks_mix(&inks, colours);
    print_cells(c, f, &inks);
}

static int chosen = -1;

void colours_choose(int colours)
{
    chosen = colours;
}

/* Inside GNU screen, COLORTERM may describe the outer terminal; GNU screen itself has at most 256 colours. */
static bool is_screen(const char *term)
{
    return !strncmp(term, "screen", 6) && !getenv("TMUX");
}

enum colours colours_of_env(bool terminal)
{
    const char *no = getenv("NO_COLOR"), *deep = getenv("COLORTERM"), *term = getenv("TERM");
    if (terminal && chosen >= 0) return (enum colours)chosen;
    if (!terminal || (no && *no) || !term || !*term || !strcmp(term, "dumb") || !strncmp(term, "vt", 2))
        return COLOURS_NONE;
    if (!strcmp(term, "linux")) return COLOURS_8;
    if (deep && !is_screen(term) && (!strcmp(deep, "truecolor") || !strcmp(deep, "24bit"))) return COLOURS_24BIT;
    if (strstr(term, "direct")) return COLOURS_24BIT;
    return strstr(term, "256") ? COLOURS_256 : COLOURS_16;
}

bool utf8_locale(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}
