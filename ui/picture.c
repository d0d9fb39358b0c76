/* Draws the cells of a canvas with a painter, as rectangles and text. */
#include "base/text.h"
#include "paint.h"

#include <string.h>

/* ---- colours ---- */

uint32_t paint_ground(bool light)
{
    return light ? 0xffffff : 0x101418;
}

uint32_t paint_colour(enum style st, bool light)
{
    uint32_t rgb = style_rgb(st, light);
    return rgb ? rgb : !light ? 0xd8d8d8 : style_bold(st) ? 0 : 0x1a1a1a;
}

/* ---- glyphs drawn as shapes ---- */

static bool is_braille(uint32_t g)
{
    return g >= 0x2800 && g <= 0x28ff;
}

/* The lines of a box-drawing glyph, as bits from the middle of its cell: 1 left, 2 right, 4 up, 8 down; 0: another
   glyph. */
static int arms_of(uint32_t g)
{
    static const struct {
        uint16_t glyph;
        uint8_t arms;
    } table[] = {{0x2500, 3},  {0x2501, 3},  {0x2502, 12}, {0x250c, 10}, {0x2510, 9}, {0x2514, 6},
                 {0x2518, 5},  {0x251c, 14}, {0x2524, 13}, {0x252c, 11}, {0x2534, 7}, {0x253c, 15},
                 {0x256d, 10}, {0x256e, 9},  {0x256f, 5},  {0x2570, 6}};
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].glyph == g) return table[i].arms;
    return 0;
}

static bool is_shape(uint32_t g)
{
    return is_braille(g) || (g >= 0x2580 && g <= 0x2593) || arms_of(g);
}

static void paint_arms(struct painter *p, int x, int y, int arms)
{
    int cx = x + p->cw / 2, cy = y + p->ch / 2;
    if (arms & 3)
        p->rect(p, arms & 1 ? x : cx, cy, arms & 1 && arms & 2 ? p->cw : arms & 1 ? cx - x + 1 : x + p->cw - cx, 1);
    if (arms & 12)
        p->rect(p, cx, arms & 4 ? y : cy, 1, arms & 4 && arms & 8 ? p->ch : arms & 4 ? cy - y + 1 : y + p->ch - cy);
}

/* Light, medium and dark shade: a chequered pattern that fills 1/4, 1/2 or 3/4 of 2 x 4 dots. */
static void paint_shade(struct painter *p, int x, int y, int quarters)
{
    for (int dy = 0; dy < p->ch; dy += 2)
        for (int dx = 0; dx < p->cw; dx += 2) {
            p->rect(p, x + dx, y + dy, quarters > 2 ? 2 : 1, 1);
            if (quarters > 1) p->rect(p, x + dx + 1, y + dy + 1, 1, 1);
        }
}

static void paint_block(struct painter *p, int x, int y, uint32_t g)
{
    int k = (int)(g - 0x2580), up = k * p->ch / 8, across = (0x10 - k) * p->cw / 8;
    if (k == 0)
        p->rect(p, x, y, p->cw, p->ch / 2);
    else if (k <= 8)
        p->rect(p, x, y + p->ch - up, p->cw, up);
    else if (k <= 0xf)
        p->rect(p, x, y, across > 0 ? across : 1, p->ch);
    else if (k == 0x10)
        p->rect(p, x + p->cw / 2, y, p->cw - p->cw / 2, p->ch);
    else
        paint_shade(p, x, y, k - 0x10);
}

/* Is dot (x, y) of the canvas set, and does its cell have this style? A cell has 2 x 4 dots. */
static bool dot_at(const struct canvas *c, int x, int y, int style)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x >= 2 * c->w) return false;
    const struct cell *k = &c->cell[y / 4 * c->w + x / 2];
    return k->style == style && is_braille(k->glyph) && k->glyph & bit[y % 4][x % 2];
}

/* Draw all dots of a style; dots that touch become one rectangle. */
static void paint_dots(struct painter *p, const struct canvas *c, int row, int style)
{
    for (int y = 4 * row; y < 4 * row + 4; y++)
        for (int x = 0, from; x < 2 * c->w; x++) {
            for (from = x; dot_at(c, x, y, style);) x++;
            int top = y * p->ch / 4, bottom = (y + 1) * p->ch / 4, left = from * p->cw / 2, right = x * p->cw / 2;
            if (x > from) p->rect(p, left, top, right - left, bottom - top);
        }
}

/* Draw block glyphs of a style; adjacent equal glyphs that span the width of their cells become one rectangle. */
static void paint_shapes(struct painter *p, const struct canvas *c, int row, int style)
{
    bool dots = false;
    for (int x = 0; x < c->w; x++) {
        const struct cell *k = &c->cell[row * c->w + x];
        if (k->style != style || !is_shape(k->glyph)) continue;
        if (is_braille(k->glyph))
            dots = true;
        else if (arms_of(k->glyph))
            paint_arms(p, x * p->cw, row * p->ch, arms_of(k->glyph));
        else if (k->glyph != 0x2588)
            paint_block(p, x * p->cw, row * p->ch, k->glyph);
        else {
            int from = x;
            while (x + 1 < c->w && k[x + 1 - from].style == style && k[x + 1 - from].glyph == 0x2588) x++;
            p->rect(p, from * p->cw, row * p->ch, (x + 1 - from) * p->cw, p->ch);
        }
    }
    if (dots) paint_dots(p, c, row, style);
}

/* ---- cells ---- */

static bool has_style(const struct canvas *c, int style, bool shapes)
{
    for (int i = 0; i < c->w * c->h; i++)
        if (c->cell[i].style == style && (!shapes || is_shape(c->cell[i].glyph))) return true;
    return false;
}

/* A cursor swaps the colours of background and text. */
static void paint_cursors(struct painter *p, const struct canvas *c, bool light)
{
    if (!has_style(c, ST_CURSOR, false)) return;
    p->fill(p, paint_colour(ST_CURSOR, light));
    for (int i = 0; i < c->w * c->h; i++)
        if (c->cell[i].style == ST_CURSOR) p->rect(p, i % c->w * p->cw, i / c->w * p->ch, p->cw, p->ch);
    p->done(p);
}

static bool is_letter(struct cell k, int style)
{
    return k.style == style && k.glyph > ' ' && !is_shape(k.glyph);
}

/* Collect the text of the cells that begin at x and have one style, at most `most` bytes; it may contain single blanks.
 */
static int text_run(const struct canvas *c, int row, int x, char *text, size_t most)
{
    const struct cell *k = &c->cell[row * c->w];
    int style = k[x].style, end = x;
    size_t n = 0;
    while (end < c->w && n + 8 < most) {
        bool blank = k[end].glyph == ' ' && end + 1 < c->w && is_letter(k[end + 1], style);
        if (!blank && k[end].glyph && !is_letter(k[end], style)) break;
        if (k[end].glyph) n += (size_t)glyph_utf8(k[end].glyph, text + n);
        end++;
    }
    text[n] = 0;
    return end - x;
}

static void paint_words(struct painter *p, const struct canvas *c, int row, bool light)
{
    char text[512];
    for (int x = 0; x < c->w;) {
        struct cell k = c->cell[row * c->w + x];
        if (!is_letter(k, k.style)) {
            x++;
            continue;
        }
        int cells = text_run(c, row, x, text, sizeof text);
        uint32_t rgb = k.style == ST_CURSOR ? paint_ground(light) : paint_colour(k.style, light);
        p->text(p, x * p->cw, row * p->ch, rgb, style_bold(k.style), text, cells);
        x += cells;
    }
}

void paint_canvas(struct painter *p, const struct canvas *c, bool light)
{
    paint_cursors(p, c, light);
    for (int style = 0; style < ST_COUNT; style++) {
        if (!has_style(c, style, true)) continue;
        p->fill(p, style == ST_CURSOR ? paint_ground(light) : paint_colour(style, light));
        for (int y = 0; y < c->h; y++) paint_shapes(p, c, y, style);
        p->done(p);
    }
    for (int y = 0; y < c->h; y++) paint_words(p, c, y, light);
}
