/* Takes a terminal from the screen it shows to another one in as few bytes as movements, runs and colours allow. */
#include "ui.h"

#include <string.h>

/* Cells that are drafted at once, and the bytes that one may take: a place, a style, letters printed again, a letter.
 */
enum { STRETCH = 128, CELL_BYTES = 2 * INK_BYTES };

/* The terminal as it will be. x, y: -1 unknown; x = the width behind the last column, where terminals differ. */
struct pen {
    int x, y;
    const struct ink *on; /* NULL: unknown */
};

/* One way to draw a stretch of a line. */
struct draft {
    struct pen pen;
    int n;
    char text[(STRETCH + 2) * CELL_BYTES];
};

struct frame {
    const struct canvas *c;
    const struct cell *shown;
    struct moves can;
    struct inks inks;
    FILE *f;
};

static bool same_look(const struct frame *fr, struct cell a, struct cell b)
{
    if (a.glyph != b.glyph) return false;
    return a.style == b.style || (cell_blank(a) && cell_blank(b)) ||
           ink_same(&fr->inks.of[a.style], &fr->inks.of[b.style]);
}

static bool changed(const struct frame *fr, int i)
{
    return fr->c->cell[i].glyph && !(fr->shown && same_look(fr, fr->c->cell[i], fr->shown[i]));
}

static struct frame frame_of(const struct canvas *c, const struct cell *shown, struct moves can, FILE *f)
{
    struct frame fr = {.c = c, .shown = shown, .can = can, .f = f};
    inks_mix(&fr.inks, c->colours);
    return fr;
}

/* ---- movements ---- */

static void add(struct draft *d, const char *text, int n)
{
    memcpy(d->text + d->n, text, (size_t)n);
    d->n += n;
}

static bool can_print(const struct frame *fr, const struct pen *pen, struct cell k)
{
    if (!pen->on) return false;
    return cell_blank(k) ? !pen->on->reverse : ink_same(pen->on, &fr->inks.of[k.style]);
}

/* The letters of columns from .. to-1 as they are to be seen, in fewer than `most` bytes of the style that is on; their
   bytes, 0: it cannot be. */
static int print_again(const struct frame *fr, const struct pen *pen, int y, int from, int to, int most, char *out)
{
    int n = 0;
    for (int x = from; x < to; x++) {
        struct cell k = fr->c->cell[y * fr->c->w + x];
        bool wide = !k.glyph || (x + 1 < fr->c->w && !fr->c->cell[y * fr->c->w + x + 1].glyph);
        if (wide || n + 4 >= CELL_BYTES || !can_print(fr, pen, k)) return 0;
        n += glyph_utf8(k.glyph, out + n);
        if (n >= most) return 0;
    }
    return n;
}

/* From column `from` to a later one of the same line. The bytes, 0: there is no way. */
static int forward(const struct frame *fr, const struct pen *pen, int y, int from, int to, char *out)
{
    char skip[24];
    int n = to - from == 1 ? 3 : snprintf(skip, sizeof skip, "\033[%dC", to - from);
    int again = print_again(fr, pen, y, from, to, fr->can.right ? n + 1 : CELL_BYTES / 2, out);
    if (again) return again;
    if (!fr->can.right) return 0;
    memcpy(out, to - from == 1 ? "\033[C" : skip, (size_t)n);
    return n;
}

static int place(int x, int y, char *out, size_t size)
{
    if (x) return snprintf(out, size, "\033[%d;%dH", y + 1, x + 1);
    return y ? snprintf(out, size, "\033[%dH", y + 1) : snprintf(out, size, "\033[H");
}

/* Down by line feeds from the first column, which every mode of the terminal takes alike; never below the last line. */
static int return_and_on(const struct frame *fr, const struct pen *pen, int x, int y, char *out)
{
    int down = y - pen->y, n = 0, right;
    if (pen->y < 0 || down < 0 || down > 4) return 0;
    out[n++] = '\r';
    while (down-- > 0) out[n++] = '\n';
    right = x ? forward(fr, pen, y, 0, x, out + n) : 0;
    return x && !right ? 0 : n + right;
}

static void go(const struct frame *fr, struct draft *d, int x, int y)
{
    struct pen *pen = &d->pen;
    char way[CELL_BYTES + 8], direct[32];
    int n = 0, most = place(x, y, direct, sizeof direct);
    if (pen->x == x && pen->y == y) return;
    n = pen->y == y && pen->x >= 0 && pen->x < x ? forward(fr, pen, y, pen->x, x, way)
                                                 : return_and_on(fr, pen, x, y, way);
    if (n && n <= most)
        add(d, way, n);
    else
        add(d, direct, most);
    pen->x = x;
    pen->y = y;
}

/* ---- cells ---- */

static void use(struct draft *d, const struct ink *ink)
{
    d->n += ink_change(d->pen.on, ink, d->text + d->n);
    d->pen.on = ink;
}

/* What terminals do behind a wide letter at the edge is not known. */
static void put(const struct frame *fr, struct draft *d, int x, int y)
{
    struct cell k = fr->c->cell[y * fr->c->w + x];
    go(fr, d, x, y);
    if (!can_print(fr, &d->pen, k)) use(d, &fr->inks.of[k.style]);
    d->n += glyph_utf8(k.glyph, d->text + d->n);
    d->pen.x++;
    if (x + 1 < fr->c->w && !fr->c->cell[y * fr->c->w + x + 1].glyph) d->pen.x = d->pen.y = -1;
}

/* From left to right. */
static void draw_along(const struct frame *fr, struct draft *d, int y, int from, int to)
{
    for (int x = from; x < to; x++)
        if (changed(fr, y * fr->c->w + x)) put(fr, d, x, y);
}

/* One style after another, the one that is on first: over neighbours of other styles a movement is shorter than two
   changes of colour. */
static void draw_by_style(const struct frame *fr, struct draft *d, int y, int from, int to)
{
    bool left[STRETCH];
    for (int x = from; x < to; x++) left[x - from] = changed(fr, y * fr->c->w + x);
    for (int first = from; first < to;) {
        bool is_on = false; /* is a cell left for which nothing need be turned on? */
        for (int x = from; x < to && !is_on; x++)
            is_on = left[x - from] && can_print(fr, &d->pen, fr->c->cell[y * fr->c->w + x]);
        while (!is_on && first < to && !left[first - from]) first++;
        if (!is_on && first < to) put(fr, d, first, y), left[first - from] = false;
        for (int x = from; x < to; x++)
            if (left[x - from] && can_print(fr, &d->pen, fr->c->cell[y * fr->c->w + x]))
                put(fr, d, x, y), left[x - from] = false;
    }
}

static void send(const struct frame *fr, struct draft *d, struct pen *pen)
{
    fwrite(d->text, 1, (size_t)d->n, fr->f);
    *pen = d->pen;
}

/* Both ways, and the shorter one is sent. */
static void draw_stretch(const struct frame *fr, struct pen *pen, int y, int from, int to)
{
    struct draft along, by_style;
    along.pen = by_style.pen = *pen;
    along.n = by_style.n = 0;
    draw_along(fr, &along, y, from, to);
    draw_by_style(fr, &by_style, y, from, to);
    send(fr, by_style.n < along.n ? &by_style : &along, pen);
}

/* Nothing has a background, so that what is erased looks like blanks. */
static void erase(const struct frame *fr, struct pen *pen, int x, int y)
{
    struct draft d = {.pen = *pen};
    go(fr, &d, x, y);
    if (!d.pen.on || d.pen.on->reverse) use(&d, &fr->inks.of[ST_PLAIN]);
    add(&d, "\033[K", 3);
    send(fr, &d, pen);
}

static void draw_line(const struct frame *fr, struct pen *pen, int y)
{
    int w = fr->c->w, first = 0, last = w, end = canvas_line_end(fr->c, y);
    while (first < w && !changed(fr, y * w + first)) first++;
    if (first == w) return;
    while (!changed(fr, y * w + last - 1)) last--;
    if (end < first) end = first;
    bool rest = fr->can.erase && last - end > 3;
    int to = rest ? end : last;
    for (int x = first; x < to; x += STRETCH) draw_stretch(fr, pen, y, x, x + STRETCH < to ? x + STRETCH : to);
    if (rest) erase(fr, pen, end, y);
}

bool frame_changes(const struct canvas *c, const struct cell *shown)
{
    struct frame fr = frame_of(c, shown, (struct moves){0}, NULL);
    for (int i = 0; i < c->w * c->h; i++)
        if (changed(&fr, i)) return true;
    return false;
}

void frame_write(const struct canvas *c, const struct cell *shown, struct moves can, FILE *f)
{
    struct frame fr = frame_of(c, shown, can, f);
    struct pen pen = {-1, -1, NULL};
    char text[INK_BYTES];
    for (int y = 0; y < c->h; y++) draw_line(&fr, &pen, y);
    if (pen.on) fwrite(text, 1, (size_t)ink_change(pen.on, &fr.inks.of[ST_PLAIN], text), f);
}
