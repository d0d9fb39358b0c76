/* Draws frames on the terminal: each frame is compared with the cells that the terminal shows, and the cells that
   changed are sent with one call of write, because each write wakes the terminal. Capabilities come from terminfo. */
#include "full_screen_draw.h"
#include "base/mem.h"
#include "full_screen.h"
#include "pixels.h"
#include "terminfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

/* GAP: up to this many blanks between two glyphs keep the style of the first glyph. SAME: up to this many unchanged
   cells are sent again, because moving the cursor needs as many bytes. ERASED: blanks in a row that are erased by one
   sequence. */
enum { GAP = 8, SAME = 4, ERASED = 8, LOOK_BYTES = 48 };
/* Glyphs of cells that show an image, and of cells whose content is unknown. */
enum { IMAGE_CELL = 0xfffffffe, UNKNOWN_CELL = 0xffffffff };

/* The usual sequence that positions the cursor; it is written here without tparm, which is slow. */
#define ANSI_ADDRESS "\033[%i%p1%d;%p2%dH"

/* How a style is turned on after plain text, and the colour alone. */
struct look {
    char on[LOOK_BYTES], colour[LOOK_BYTES];
    bool bold, reverse;
};

static struct {
    /* The cells that the screen shows: w * h cells with canonical styles, then one spare line; owned. NULL:
       unknown. */
    struct cell *cell;
    int w, h;
    enum colours colours;
    bool light; /* the theme of the colours */
    struct look look[ST_COUNT];
    uint8_t canonical[ST_COUNT]; /* the first style that looks the same */
    char plain[LOOK_BYTES];      /* turns all attributes off */
    char clear_line[16];         /* erases the rest of the line; "": the terminal cannot do that */
    bool synchronized, ansi_address;
    bool skips_corner; /* a character in the last cell would scroll the screen */
    struct shown_image {
        struct rect at;
        int id;
        uint64_t hash;
        enum pixel_way way;
        bool kept; /* the next frame shows it unchanged */
    } image[IMAGES_MAX];
    int images;
} shown;

/* ---- the bytes of a frame ---- */

static struct {
    char *text; /* owned */
    int64_t n, room;
    bool failed; /* there was not enough memory */
    enum style on;
} frame;

static void put_bytes(const char *bytes, int64_t n)
{
    if (frame.n + n > frame.room) {
        int64_t room = 2 * (frame.n + n) + 4096;
        char *more = frame.failed ? NULL : mem_resize(frame.text, room, 1, "a frame", NULL);
        if (!more) {
            frame.failed = true;
            return;
        }
        frame.text = more;
        frame.room = room;
    }
    memcpy(frame.text + frame.n, bytes, (size_t)n);
    frame.n += n;
}

static void put_text(const char *text)
{
    put_bytes(text, (int64_t)strlen(text));
}

static void put_number(int n)
{
    char digits[12];
    int at = sizeof digits;
    do digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    put_bytes(digits + at, (int64_t)sizeof digits - at);
}

/* If a write fails, all other writes fail too, so the error is ignored. */
static void write_all(const char *bytes, int64_t n)
{
    while (n > 0) {
        ssize_t sent = write(STDOUT_FILENO, bytes, (size_t)n);
        if (sent < 0 && errno != EINTR && errno != EAGAIN) return;
        if (sent > 0) bytes += sent, n -= sent;
    }
}

void full_screen_send(const char *bytes)
{
    write_all(bytes, (int64_t)strlen(bytes));
}

/* ---- capabilities ---- */

static void forget(void)
{
    mem_free(shown.cell);
    shown.cell = NULL;
}

static void make_look(enum style st, enum colours colours)
{
    struct look *k = &shown.look[st];
    int colour = style_colour(st, colours);
    k->bold = style_bold(st);
    k->reverse = style_reverse(st);
    const char *dye[] = {colour < 0 || !set_a_foreground ? NULL : tparm(set_a_foreground, colour)};
    terminfo_bytes(k->colour, sizeof k->colour, 1, dye);
    const char *parts[] = {k->bold ? enter_bold_mode : NULL, k->reverse ? enter_reverse_mode : NULL, k->colour};
    terminfo_bytes(k->on, sizeof k->on, COUNT(parts), parts);
}

static void make_looks(enum colours wanted)
{
    enum colours colours = terminfo_colours(wanted);
    for (int st = 0; st < ST_COUNT; st++) {
        int first = 0;
        make_look((enum style)st, colours);
        while (strcmp(shown.look[first].on, shown.look[st].on)) first++;
        shown.canonical[st] = (uint8_t)first;
    }
}

static void put_clear(void)
{
    char clear[64];
    const char *parts[] = {exit_attribute_mode, clear_screen};
    terminfo_bytes(clear, sizeof clear, COUNT(parts), parts);
    put_text(clear);
}

void frames_begin(bool synchronized)
{
    const char *plain[] = {exit_attribute_mode}, *clear[] = {clr_eol};
    forget();
    shown.synchronized = synchronized;
    shown.ansi_address = !strncmp(cursor_address, ANSI_ADDRESS, strlen(ANSI_ADDRESS));
    shown.skips_corner = auto_right_margin && !eat_newline_glitch;
    terminfo_bytes(shown.plain, sizeof shown.plain, 1, plain);
    terminfo_bytes(shown.clear_line, sizeof shown.clear_line, 1, clear);
}

/* kitty keeps images until they are deleted; id 0: delete all. */
static void put_delete(enum pixel_way way, int id)
{
    char text[48];
    if (way != PIXELS_KITTY) return;
    snprintf(text, sizeof text, id ? "\033_Ga=d,d=I,i=%d,q=2\033\\" : "\033_Ga=d,d=A,q=2\033\\", id);
    put_text(text);
}

static void forget_images(void)
{
    for (int i = 0; i < shown.images; i++) put_delete(shown.image[i].way, shown.image[i].id);
    shown.images = 0;
}

void frames_end(void)
{
    frame.n = 0;
    forget_images();
    write_all(frame.text, frame.n);
    forget();
    mem_free(frame.text);
    frame.text = NULL;
    frame.n = frame.room = 0;
}

/* If the size or the colours have changed, clear the screen. Returns false if there is not enough memory. */
static bool fit(const struct canvas *c)
{
    bool resized = shown.w != c->w || shown.h != c->h;
    if (shown.cell && !resized && shown.colours == c->colours && shown.light == theme_is_light()) return true;
    forget_images();
    put_clear();
    make_looks(c->colours);
    forget();
    int64_t n = (int64_t)c->w * (c->h + 1);
    shown.cell = mem_new(n, sizeof *shown.cell, "the screen's record", NULL);
    for (int64_t i = 0; shown.cell && i < n; i++) shown.cell[i] = (struct cell){' ', ST_PLAIN};
    shown.w = c->w;
    shown.h = c->h;
    shown.colours = c->colours;
    shown.light = theme_is_light();
    return shown.cell;
}

/* ---- lines ---- */

static bool is_wide(uint32_t glyph)
{
    bool drawing = (glyph & ~0xffu) == 0x2500 || (glyph & ~0xffu) == 0x2800; /* boxes, blocks; braille */
    return glyph >= 0x1100 && !drawing && wcwidth((wchar_t)glyph) > 1;
}

/* The cell as it is sent: half of a wide glyph becomes a blank, and a blank has no style. */
static struct cell to_show(const struct canvas *c, int x, int y)
{
    const struct cell *k = &c->cell[y * c->w + x];
    bool right_follows = x + 1 < c->w && !k[1].glyph;
    bool alone = k->glyph ? is_wide(k->glyph) && !right_follows : x == 0 || !is_wide(k[-1].glyph);
    if (alone || cell_blank(*k)) return (struct cell){' ', ST_PLAIN};
    return (struct cell){k->glyph, shown.canonical[k->style]};
}

/* Fill `line` with the cells of line y. Up to GAP blanks between two glyphs keep the style of the first glyph, because
   turning the style off needs more bytes. */
static void make_line(const struct canvas *c, int y, struct cell *line)
{
    enum style on = ST_PLAIN;
    int blanks = 0;
    for (int x = 0; x < c->w; x++) {
        line[x] = to_show(c, x, y);
        if (cell_blank(line[x])) {
            blanks++;
            continue;
        }
        for (int i = 1; i <= blanks && blanks <= GAP && !style_reverse(on); i++) line[x - i].style = (uint8_t)on;
        blanks = 0;
        on = line[x].style;
    }
}

/* Cells of images and unknown cells are not blank: nothing erases them as a part of a blank line. Blanks look the same
   in all styles without reverse. */
static bool same(struct cell a, struct cell b)
{
    return a.glyph == b.glyph && (a.style == b.style || (cell_blank(a) && cell_blank(b)));
}

/* The column after the last cell that is not blank. */
static int end_of(const struct cell *line, int w)
{
    while (w > 0 && cell_blank(line[w - 1])) w--;
    return w;
}

/* ---- sending lines ---- */

static void put_style(enum style st)
{
    const struct look *was = &shown.look[frame.on], *now = &shown.look[st];
    if (frame.on == st) return;
    frame.on = st;
    if (was->bold == now->bold && was->reverse == now->reverse && *was->colour && *now->colour) {
        put_text(now->colour);
        return;
    }
    if (*was->on) put_text(shown.plain);
    put_text(now->on);
}

static void put_address(int x, int y)
{
    if (!shown.ansi_address) {
        char text[32];
        const char *parts[] = {tparm(cursor_address, y, x)};
        terminfo_bytes(text, sizeof text, 1, parts);
        put_text(text);
        return;
    }
    put_bytes("\033[", 2);
    put_number(y + 1);
    put_bytes(";", 1);
    put_number(x + 1);
    put_bytes("H", 1);
}

static void put_cell(struct cell k)
{
    char text[5];
    if (!k.glyph) return; /* the left half has filled this cell */
    if (k.glyph == IMAGE_CELL) k = (struct cell){' ', ST_PLAIN};
    put_style((enum style)k.style);
    put_bytes(text, glyph_utf8(k.glyph, text));
}

static int blanks_from(const struct cell *line, int x, int to)
{
    int n = 0;
    while (x + n < to && cell_blank(line[x + n])) n++;
    return n;
}

/* Erase n blanks without moving the cursor, unless there are too few of them. Returns true if the cursor did not move
   and must be positioned. */
static bool erase_blanks(int n)
{
    if (n < ERASED || !erase_chars) return false;
    char text[32];
    const char *parts[] = {tparm(erase_chars, n)};
    terminfo_bytes(text, sizeof text, 1, parts);
    put_style(ST_PLAIN);
    put_text(text);
    return true;
}

/* Send the cells [from, to) of line y. */
static void put_span(const struct cell *line, int y, int from, int to)
{
    put_address(from, y);
    for (int x = from; x < to;) {
        int n = blanks_from(line, x, to);
        if (erase_blanks(n)) {
            x += n;
            if (x < to) put_address(x, y);
        } else {
            put_cell(line[x++]);
        }
    }
}

/* The end of the changes that begin at x; at most SAME unchanged cells separate two changes. */
static int span_end(const struct cell *line, const struct cell *was, int w, int x)
{
    int end = x + 1;
    for (int alike = 0; x < w && alike <= SAME; x++) {
        alike = same(line[x], was[x]) ? alike + 1 : 0;
        if (alike && line[x].glyph == IMAGE_CELL) break; /* text would erase the image */
        if (!alike) end = x + 1;
    }
    while (end < w && !line[end].glyph) end++; /* the right half of a wide glyph */
    return end;
}

/* Send the changes of line y. Returns false if nothing changed. */
static bool put_line(const struct cell *line, const struct cell *was, int w, int y)
{
    bool changes = false;
    int end = end_of(line, w), last = y == shown.h - 1 && shown.skips_corner ? w - 1 : w;
    for (int x = 0; x < last; x++) {
        if (same(line[x], was[x])) continue;
        int from = x > 0 && !line[x].glyph ? x - 1 : x, to = span_end(line, was, w, x);
        bool tail = *shown.clear_line && to > end && to - (from > end ? from : end) > SAME;
        if (to > last) to = last;
        changes = true;
        put_span(line, y, from, tail && end > from ? end : tail ? from : to);
        if (tail) {
            put_style(ST_PLAIN);
            put_text(shown.clear_line);
            break;
        }
        x = to - 1;
    }
    return changes;
}

/* ---- images ---- */

/* Blank cells of line y show the images that are there. */
static void mark_images(struct cell *line, const struct image *const *image, int n, int y)
{
    for (int i = 0; i < n; i++) {
        const struct rect *r = &image[i]->at;
        for (int x = r->x; x < r->x + r->w && y >= r->y && y < r->y + r->h; x++)
            if (cell_blank(line[x])) line[x].glyph = IMAGE_CELL, line[x].style = ST_PLAIN;
    }
}

static void set_cells(struct rect r, uint32_t glyph)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) shown.cell[y * shown.w + x] = (struct cell){glyph, ST_PLAIN};
}

/* Sixels below text are gone: has text been removed from the image? */
static bool has_hole(const struct canvas *c, const struct image *im)
{
    const struct rect *r = &im->at;
    for (int y = r->y; im->on.way == PIXELS_SIXEL && y < r->y + r->h; y++)
        for (int x = r->x; x < r->x + r->w; x++)
            if (shown.cell[y * c->w + x].glyph != IMAGE_CELL && cell_blank(c->cell[y * c->w + x])) return true;
    return false;
}

static struct shown_image *find_shown(const struct image *im)
{
    for (int i = 0; i < shown.images; i++) {
        struct shown_image *k = &shown.image[i];
        bool there = k->at.x == im->at.x && k->at.y == im->at.y && k->at.w == im->at.w && k->at.h == im->at.h;
        if (k->id == im->id && k->hash == im->hash && k->way == im->on.way && there) return k;
    }
    return NULL;
}

/* Remove the images that this frame does not show, or shows differently. */
static bool drop_images(const struct canvas *c, const struct image *const *image, int n)
{
    int left = 0;
    for (int i = 0; i < shown.images; i++) shown.image[i].kept = false;
    for (int i = 0; i < n; i++) {
        struct shown_image *k = find_shown(image[i]);
        if (k) k->kept = !has_hole(c, image[i]);
    }
    for (int i = 0; i < shown.images; i++) {
        struct shown_image *k = &shown.image[i];
        if (k->kept) {
            shown.image[left++] = *k;
            continue;
        }
        put_delete(k->way, k->id);
        set_cells(k->at, UNKNOWN_CELL);
    }
    bool dropped = left < shown.images;
    shown.images = left;
    return dropped;
}

/* Erase the cells of a new image and send it; text in these cells is sent after it. */
static void put_image(const struct image *im)
{
    for (int y = im->at.y; y < im->at.y + im->at.h; y++) {
        put_address(im->at.x, y);
        if (!erase_blanks(im->at.w))
            for (int x = 0; x < im->at.w; x++) put_text(" ");
    }
    put_address(im->at.x, im->at.y);
    put_bytes(im->bytes, im->n);
    set_cells(im->at, IMAGE_CELL);
    shown.image[shown.images++] = (struct shown_image){.at = im->at, .id = im->id, .hash = im->hash, .way = im->on.way};
}

/* Send the images that the terminal does not show yet. */
static bool put_images(const struct image *const *image, int n)
{
    bool sent = false;
    for (int i = 0; i < n && shown.images < IMAGES_MAX; i++) {
        if (find_shown(image[i])) continue;
        put_image(image[i]);
        sent = true;
    }
    return sent;
}

void full_screen_draw(const struct canvas *c, const struct image *const *image, int n)
{
    frame.n = 0;
    frame.failed = false;
    frame.on = ST_PLAIN;
    if (shown.synchronized) put_text(FRAME_BEGIN);
    bool changes = !shown.cell;
    if (!fit(c)) return;
    changes |= drop_images(c, image, n);
    changes |= put_images(image, n);
    struct cell *line = shown.cell + (ptrdiff_t)c->w * c->h;
    for (int y = 0; y < c->h; y++) {
        struct cell *was = shown.cell + (ptrdiff_t)c->w * y;
        make_line(c, y, line);
        mark_images(line, image, n, y);
        if (!put_line(line, was, c->w, y)) continue;
        memcpy(was, line, (size_t)c->w * sizeof *line);
        changes = true;
    }
    put_style(ST_PLAIN);
    if (shown.synchronized) put_text(FRAME_END);
    if (frame.failed)
        forget(); /* the next frame is drawn as a whole */
    else if (changes)
        write_all(frame.text, frame.n);
}
