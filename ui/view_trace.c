/* One warp under the microscope: what its lanes do over time, the source of the step looked at, the elements it works
   on, and the sectors that it asks memory for, useful bytes, padding and waste told apart. */
#include "draw.h"
#include "front.h"
#include "term.h"

#include "../src/tracing.h"

#include <stdlib.h>
#include <string.h>

/* Columns: of a step's number with its mark, of what it does, of a lane in the table; lines from which there is room
   for all parts. */
enum { NUMBER = 7, CELLS = NUMBER + LANES, LABEL_LEAST = 10, LABEL_MOST = 18, LANE_WIDTH = 29, WHOLE_FROM = 17 };
enum { LEGENDS = 2, TOTALS_MOST = 3, SOURCE_MOST = 15, SECTORS_MOST = 6, NARROW = 60 };

/* The size of the canvas as drawn last, for clicks. */
struct trace_state {
    int drawn_w, drawn_h;
};

/* How many lines each part has, and which columns. */
struct frame {
    const struct tracing *v;
    int w, head, grid, source, request, sectors, legend, totals;
    int label;    /* columns of what a step does; 0: not told */
    int tables;   /* columns of lanes beside the grid */
    int64_t from; /* the step in the first line of the grid */
};

/* ---- how a step looks ---- */

static const char *const short_touch[TOUCHES] = {"ld", "st", "at", "tex", "sh ld", "sh st", "sh at", "shfl", "sync"};

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool is_letter(char ch)
{
    return lower(ch) >= 'a' && lower(ch) <= 'z';
}

/* Of each array a letter of its name, the first that no other array has. */
static void letters_of(const struct scope *s, char letter[SCOPE_ARRAYS])
{
    bool taken[128] = {false};
    for (int a = 0; a < s->narrays; a++) {
        const char *name = s->array[a].name;
        while (*name && (!is_letter(*name) || taken[(unsigned char)lower(*name)])) name++;
        letter[a] = *name ? lower(*name) : '+';
        taken[(unsigned char)letter[a]] = *name;
    }
}

static enum style style_of(const struct scope_place *p)
{
    return p->array < 0 ? ST_TITLE : ST_ROW + (unsigned)(p->array % ROW_COLOURS);
}

static char glyph_of(const struct scope_place *p, const char *letter)
{
    bool writes = p->touch == TOUCH_STORE || p->touch == TOUCH_ATOMIC || p->touch == TOUCH_SHARED_STORE ||
                  p->touch == TOUCH_SHARED_ATOMIC;
    if (p->array < 0) return p->touch == TOUCH_BARRIER ? '|' : '~';
    return writes ? (char)(letter[p->array] - 'a' + 'A') : letter[p->array];
}

/* ---- room ---- */

/* The running totals, item by item, as many lines as there are; the line below. */
static int draw_totals(struct canvas *c, const struct trace_sums *t, int y, int lines);

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static void columns_of(struct frame *f)
{
    int rest = f->w - CELLS - 1;
    f->label = rest < LABEL_LEAST ? 0 : clamp(rest - 2 * LANE_WIDTH - 1, LABEL_LEAST, LABEL_MOST);
    f->tables = clamp((rest - f->label - 1) / LANE_WIDTH, 0, 4);
}

/* A small screen has one line of each; of what has no room goes first what says least. */
static void lines_of_small(struct frame *f, int room)
{
    f->request = 1;
    f->grid = room - f->request;
    int *const part[] = {&f->source, &f->totals, &f->sectors};
    for (int i = 0; i < COUNT(part) && f->grid > 2; i++) *part[i] = 1, f->grid--;
    if (f->grid < 0) f->grid = 0;
}

/* Lines that the grid and the lanes beside it have no use for go to the source, then to the sectors. */
static void lines_of_whole(struct frame *f, int room, int totals)
{
    f->head = f->request = 1;
    f->legend = LEGENDS;
    f->totals = totals;
    f->sectors = room < 24 ? 2 : room < 34 ? 3 : 5;
    f->source = room < 24 ? 3 : room < 32 ? 5 : 7;
    f->grid = room - f->head - f->request - f->legend - f->totals - f->sectors - f->source;
    int64_t use = f->tables ? LANES / f->tables : 1;
    if (use < f->v->t.nsteps) use = f->v->t.nsteps;
    int spare = f->grid > use ? f->grid - (int)use : 0, more = clamp(spare, 0, SOURCE_MOST - f->source);
    f->grid -= spare;
    f->source += more;
    f->sectors += clamp(spare - more, 0, SECTORS_MOST - f->sectors);
}

/* The parts in `room` lines below the title. */
static struct frame frame_of(const struct tracing *v, int w, int room)
{
    struct canvas none = {.w = w};
    struct frame f = {.v = v, .w = w};
    columns_of(&f);
    if (room < WHOLE_FROM)
        lines_of_small(&f, room);
    else
        lines_of_whole(&f, room, draw_totals(&none, &v->step[v->t.nsteps - 1].sums, 0, TOTALS_MOST));
    f.from = v->at - f.grid / 2;
    if (f.from > v->t.nsteps - f.grid) f.from = v->t.nsteps - f.grid;
    if (f.from < 0) f.from = 0;
    return f;
}

/* ---- steps and lanes ---- */

static void draw_ruler(struct canvas *c, const struct frame *f, int y)
{
    canvas_text(c, 1, y, ST_DIM, "step");
    for (int l = 0; l < LANES; l += 8) canvas_text(c, NUMBER + l, y, ST_DIM, "%d", l);
    canvas_text(c, CELLS - 2, y, ST_DIM, "%d", LANES - 1);
    canvas_style(c, NUMBER + f->v->lane, y, ST_BOLD);
    canvas_put(c, NUMBER + f->v->lane, y, ST_BOLD, 'v');
    if (f->label) canvas_text(c, CELLS + 1, y, ST_DIM, "does");
}

static void draw_cell(struct canvas *c, const struct tracing *v, int64_t k, int l, int y, const char *letter)
{
    const struct scope_place *p = tracing_place(v, k);
    struct lane_at at = tracing_lane(v, k, l);
    bool here = k == v->at;
    int x = NUMBER + l;
    if (at.state == LANE_WAITS)
        canvas_put(c, x, y, ST_DIM, 0xb7);
    else if (at.state == LANE_ACTIVE && at.padding)
        canvas_put(c, x, y, here ? ST_CURSOR : ST_PAD, '*');
    else if (at.state == LANE_ACTIVE)
        canvas_put(c, x, y, here ? ST_CURSOR : style_of(p), (uint32_t)glyph_of(p, letter));
}

static void draw_step(struct canvas *c, const struct frame *f, int64_t k, int y, const char *letter)
{
    const struct tracing *v = f->v;
    const struct scope_place *p = tracing_place(v, k);
    bool here = k == v->at;
    if (here) canvas_put(c, 0, y, ST_BOLD, '>');
    canvas_text(c, 1, y, here ? ST_BOLD : ST_DIM, "%5lld", (long long)k);
    for (int l = 0; l < LANES; l++) draw_cell(c, v, k, l, y, letter);
    if (f->label)
        canvas_text(c, CELLS + 1, y, here ? ST_BOLD : style_of(p), "%s %.*s", short_touch[p->touch],
                    f->label - (int)strlen(short_touch[p->touch]) - 2, tracing_array(v, k));
}

/* What a lane is at: row, column, and the element of the array. */
static void draw_lane(struct canvas *c, const struct tracing *v, int l, int x, int y)
{
    static const char *const states[] = {"", "waits for others", "done", "nothing to do"};
    struct lane_at at = tracing_lane(v, v->at, l);
    enum style st = l == v->lane ? ST_BOLD : ST_PLAIN;
    char text[32];
    canvas_text(c, x, y, l == v->lane ? ST_CURSOR : ST_DIM, "%2d", l);
    if (at.state != LANE_ACTIVE) {
        canvas_text(c, x + 4, y, ST_DIM, "%s", states[at.state]);
        return;
    }
    snprintf(text, sizeof text, "%lld", (long long)at.row);
    draw_right(c, x + 10, y, st, at.row < 0 ? "-" : text);
    snprintf(text, sizeof text, "%lld", (long long)at.col);
    draw_right(c, x + 19, y, at.padding ? ST_PAD : st, at.padding ? "*" : at.col < 0 ? "-" : text);
    snprintf(text, sizeof text, "%lld", (long long)at.index);
    draw_right(c, x + 28, y, st, at.has_index ? text : "-");
}

static void draw_lane_head(struct canvas *c, const char *array, int x, int y)
{
    char head[40];
    snprintf(head, sizeof head, "%.6s[]", array);
    canvas_text(c, x, y, ST_DIM, "lane  row");
    draw_right(c, x + 19, y, ST_DIM, "column");
    draw_right(c, x + 28, y, ST_DIM, *array ? head : "-");
}

/* Lanes beside the grid, in columns of like length; where not all have room those around the chosen one. */
static void draw_lanes(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    int lines = (LANES + f->tables - 1) / f->tables, left = CELLS + 2 + f->label;
    if (lines > f->grid) lines = f->grid;
    int shown = lines * f->tables, first = clamp(v->lane - shown / 2, 0, LANES > shown ? LANES - shown : 0);
    for (int i = 0; i < shown && first + i < LANES; i++) {
        int x = left + i / lines * LANE_WIDTH;
        if (i % lines == 0) draw_lane_head(c, tracing_array(v, v->at), x, y);
        draw_lane(c, v, first + i, x, y + 1 + i % lines);
    }
}

/* The line below. */
static int draw_grid(struct canvas *c, const struct frame *f, int y)
{
    char letter[SCOPE_ARRAYS];
    letters_of(&f->v->t.scope, letter);
    if (f->head) draw_ruler(c, f, y);
    if (f->head && f->tables) draw_lanes(c, f, y);
    y += f->head;
    for (int i = 0; i < f->grid && f->from + i < f->v->t.nsteps; i++) draw_step(c, f, f->from + i, y + i, letter);
    return y + f->grid;
}

/* ---- the source ---- */

static bool in_name(char ch)
{
    return is_letter(ch) || ch == '_' || (ch >= '0' && ch <= '9');
}

/* Where the name is that is nearest to the place and has an index, from 0; -1: nowhere. */
static int name_in(const char *text, int length, const char *name, int place)
{
    int best = -1, n = (int)strlen(name);
    for (int i = 0; n && i + n < length; i++) {
        bool whole = (i == 0 || !in_name(text[i - 1])) && text[i + n] == '[';
        if (!whole || strncmp(text + i, name, (size_t)n)) continue;
        if (best < 0 || abs(i + n - place) < abs(best + n - place)) best = i;
    }
    return best;
}

/* What of the line is the access: the array by its name or, as kernels of several formats have it, by its end (ell_col:
   col), else the name before the column; *n letters of it. */
static int access_in(const char *text, int length, const char *array, int column, int *n)
{
    int place = column - 1 < length ? column - 1 : length - 1, at = name_in(text, length, array, place);
    const char *end = strrchr(array, '_');
    *n = (int)strlen(array);
    if (at < 0 && end) at = name_in(text, length, end + 1, place), *n = (int)strlen(end + 1);
    if (at >= 0) return at;
    at = place;
    while (at > 0 && in_name(text[at - 1]) && !in_name(text[place])) at--;
    *n = place - at;
    return at;
}

/* Of the lines around the present one, moved left as far as its column needs. */
static void draw_source_line(struct canvas *c, const struct scope_place *p, const char *array, int line, int shift,
                             int y)
{
    int length = 0, room = c->w - NUMBER;
    bool here = line == p->line;
    const char *text = line > 0 ? kernel_source_line(p->file, line, &length) : NULL;
    if (!text) return;
    canvas_put(c, 0, y, ST_BOLD, here ? '>' : ' ');
    canvas_text(c, 1, y, here ? ST_BOLD : ST_DIM, "%5d", line);
    if (length > shift)
        canvas_text(c, NUMBER, y, here ? ST_BOLD : ST_DIM, "%.*s", clamp(length - shift, 0, room), text + shift);
    if (!here) return;
    int n, at = access_in(text, length, array, p->column, &n);
    for (int i = 0; i < n; i++)
        if (at + i >= shift) canvas_style(c, NUMBER + at + i - shift, y, ST_CURSOR);
}

/* "csr_scalar in k_csr.cu" at the right of the first line that has room. */
static void draw_origin(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    char name[64], text[128];
    int n =
        snprintf(text, sizeof text, "%s in %s", tracing_function(v, name, sizeof name), tracing_place(v, v->at)->file);
    for (int i = 0; i < f->source; i++) {
        const struct cell *line = &c->cell[(y + i) * c->w];
        int end = c->w;
        while (end > 0 && line[end - 1].glyph == ' ') end--;
        if (end + n + 3 > c->w) continue;
        draw_right(c, c->w - 1, y + i, ST_AXIS, text);
        return;
    }
}

static int draw_source(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    const struct scope_place *p = tracing_place(v, v->at);
    int room = c->w - NUMBER, end = p->column + 12, shift = end > room ? end - room : 0, length = 0;
    const char *text = kernel_source_line(p->file, p->line, &length);
    if (length <= room) shift = 0;
    if (f->source == 1 && !shift && text && c->w < NARROW) shift = (int)strspn(text, " ");
    for (int i = 0; i < f->source; i++)
        draw_source_line(c, p, tracing_array(v, v->at), p->line - f->source / 2 + i, shift, y + i);
    if (f->source > 1 && y + f->source <= c->h) draw_origin(c, f, y);
    return y + f->source;
}

/* ---- what the step asks for ---- */

/* "; 3 turns: 3 lanes to y[2]": as many as lanes do it to one element, the first of those that most do. */
static int say_turns(struct canvas *c, int x, int y, const struct tracing *v)
{
    const struct request *r = &v->t.step[v->at];
    int most = 0, lane = 0;
    for (int l = 0; l < LANES; l++) {
        int n = 0;
        for (int k = 0; k < LANES && r->mask >> l & 1; k++) n += r->mask >> k & 1 && r->at[k] == r->at[l];
        if (n > most) most = n, lane = l;
    }
    x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? "; %d turns" : ", asked for in %d turns: ", most);
    if (c->w < NARROW) return x;
    return canvas_text(c, x, y, ST_WARN, "%d lanes add to %s[%lld]", most, tracing_array(v, v->at),
                       (long long)r->at[lane]);
}

static int say_global(struct canvas *c, int x, int y, const struct tracing *v, const struct request_facts *f)
{
    int which[2 * LANES], n = tracing_sectors(f, which), least = (f->bytes + SECTOR - 1) / SECTOR;
    bool more = n > least;
    x = canvas_text(c, x, y, ST_PLAIN, "%d B in ", f->bytes);
    x = canvas_text(c, x, y, more ? ST_WARN : ST_GOOD, "%s", how_many(n, "sector").text);
    if (more) x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? ", not %d" : ", %d would do", least);
    if (f->nsectors > n) return say_turns(c, x, y, v);
    if (f->contended) x = canvas_text(c, x, y, ST_WARN, "; %d contended", f->contended);
    return x;
}

static int say_shared(struct canvas *c, int x, int y, const struct request_facts *f)
{
    bool more = f->turns > f->turns_least;
    x = canvas_text(c, x, y, more ? ST_WARN : ST_GOOD, "%s", how_many(f->turns, "turn").text);
    if (more) x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? ", not %d" : ", %d without conflicts", f->turns_least);
    if (f->contended) x = canvas_text(c, x, y, ST_WARN, "; %d contended", f->contended);
    return x;
}

/* "load val: 3 of 32 lanes, ways parted; 24 B in 1 sector, mask 00000007"; narrow: "ld val 3/32: 24 B in 1 sector" */
static int draw_request(struct canvas *c, const struct tracing *v, const struct request_facts *f, int y)
{
    const struct scope_place *p = tracing_place(v, v->at);
    uint32_t mask = v->t.step[v->at].mask, alive = tracing_alive(v, v->at);
    bool narrow = c->w < NARROW, apart = mask != alive;
    int x = canvas_text(c, 1, y, ST_BOLD, "%s%s%s",
                        narrow    ? short_touch[p->touch]
                        : p->what ? p->what
                                  : touch_names[p->touch],
                        p->array < 0 ? "" : " ", tracing_array(v, v->at));
    enum style st = apart ? ST_WARN : ST_PLAIN;
    if (narrow)
        x = canvas_text(c, x, y, st, " %d/%d: ", f->lanes, __builtin_popcount(alive));
    else
        x = canvas_text(c, x, y, st, apart ? ": %d of %d lanes, ways parted; " : ": %d lanes; ", f->lanes,
                        __builtin_popcount(alive));
    if (touch_global(p->touch)) x = say_global(c, x, y, v, f);
    if (touch_shared(p->touch)) x = say_shared(c, x, y, f);
    if (p->touch == TOUCH_EXCHANGE) x = canvas_text(c, x, y, ST_PLAIN, "registers alone");
    if (p->touch == TOUCH_BARRIER) x = canvas_text(c, x, y, ST_PLAIN, "all warps of a block meet");
    if (x + 15 <= c->w) canvas_text(c, x, y, ST_DIM, ", mask %08x", mask);
    return y + 1;
}

/* A sector's bytes, a bit each. */
struct bytes {
    uint32_t asked, padding;
};

static struct bytes bytes_of(const struct tracing *v, uint64_t sector, const struct lane_at *lane)
{
    const struct scope_array *a = &v->t.scope.array[tracing_place(v, v->at)->array];
    struct bytes b = {0, 0};
    for (int l = 0; l < LANES; l++) {
        if (lane[l].state != LANE_ACTIVE) continue;
        int64_t from = (int64_t)(a->base + (uint64_t)lane[l].index * (uint64_t)a->size - sector * SECTOR);
        for (int64_t i = from < 0 ? 0 : from; i < from + a->size && i < SECTOR; i++) {
            b.asked |= 1u << i;
            if (lane[l].padding && a->stored >= 0) b.padding |= 1u << i;
        }
    }
    return b;
}

/* How boxes are drawn: bytes a character, with the index of their first element or without. */
struct boxes {
    int each, index, width, per_line;
};

static struct boxes boxes_of(const struct canvas *c, const struct scope_array *a, int n, int lines)
{
    char text[32];
    int digits = snprintf(text, sizeof text, "%lld", (long long)a->n), element = a->size < 4    ? 4
                                                                                 : a->size > 16 ? 16
                                                                                                : a->size;
    struct boxes b = {0};
    const struct {
        int each, index;
    } tries[] = {{element, digits}, {element, 0}, {8, 0}, {16, 0}};
    for (int i = 0; i < COUNT(tries); i++) {
        int width = SECTOR / tries[i].each + 2 + tries[i].index + 1, per_line = (c->w - 1) / width;
        if (per_line < 1) continue;
        b = (struct boxes){tries[i].each, tries[i].index, width, per_line};
        if ((n + per_line - 1) / per_line <= lines) break;
    }
    return b;
}

static void draw_box(struct canvas *c, const struct boxes *x, const struct scope_array *a, uint64_t sector,
                     struct bytes b, bool again, int left, int y)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)((int64_t)(sector * SECTOR - a->base) / a->size));
    if (x->index) draw_right(c, left + x->index, y, ST_DIM, text);
    left += x->index;
    canvas_put(c, left++, y, again ? ST_WARN : ST_AXIS, again ? '(' : '[');
    for (int at = 0; at < SECTOR; at += x->each) {
        uint32_t part = (x->each == 32 ? ~0u : (1u << x->each) - 1) << at;
        if (b.padding & part)
            canvas_put(c, left++, y, ST_PAD, '*');
        else if (b.asked & part)
            canvas_put(c, left++, y, again ? ST_WARN : ST_GOOD,
                       again ? (c->ascii ? '=' : 0x2592) : (c->ascii ? '#' : 0x2588));
        else
            canvas_put(c, left++, y, ST_DIM, 0xb7);
    }
    canvas_put(c, left, y, again ? ST_WARN : ST_AXIS, again ? ')' : ']');
}

static void draw_boxes(struct canvas *c, const struct tracing *v, const struct request_facts *f, int lines, int y)
{
    const struct scope_array *a = &v->t.scope.array[tracing_place(v, v->at)->array];
    int which[2 * LANES], n = tracing_sectors(f, which);
    struct boxes x = boxes_of(c, a, n, lines);
    struct lane_at lane[LANES];
    if (!x.per_line) return;
    for (int l = 0; l < LANES; l++) lane[l] = tracing_lane(v, v->at, l);
    int room = lines * x.per_line, shown = n <= room ? n : room - 1;
    for (int i = 0; i < shown; i++)
        draw_box(c, &x, a, f->sector[which[i]], bytes_of(v, f->sector[which[i]], lane),
                 v->step[v->at].again >> which[i] & 1, 1 + i % x.per_line * x.width, y + i / x.per_line);
    if (shown < n) canvas_text(c, 1 + shown % x.per_line * x.width, y + shown / x.per_line, ST_DIM, "+ %d", n - shown);
}

/* How many different words of each bank are asked for; more than 9 are a +. */
static void draw_banks(struct canvas *c, const struct tracing *v, int y)
{
    const struct request *r = &v->t.step[v->at];
    const struct scope_array *a = &v->t.scope.array[tracing_place(v, v->at)->array];
    uint64_t word[4 * LANES];
    int n = 0, load[BANKS] = {0};
    for (uint32_t left = r->mask; left; left &= left - 1)
        for (int part = 0; part < (a->size + 3) / 4 && part < 4; part++) {
            uint64_t w = (a->base + (uint64_t)r->at[__builtin_ctz(left)] * (uint64_t)a->size) / 4 + (uint64_t)part;
            bool had = false;
            for (int i = 0; i < n && !had; i++) had = word[i] == w;
            if (!had) word[n++] = w, load[w % BANKS]++;
        }
    if (c->w > CELLS) canvas_text(c, 1, y, ST_DIM, "banks");
    for (int b = 0; b < BANKS; b++)
        canvas_put(c, NUMBER + b, y,
                   load[b] > 1 ? ST_WARN
                   : load[b]   ? ST_GOOD
                               : ST_DIM,
                   !load[b]      ? 0xb7
                   : load[b] > 9 ? '+'
                                 : (uint32_t)('0' + load[b]));
    canvas_text(c, CELLS + 1, y, ST_DIM, "words asked of each of 32 banks");
}

static int draw_sectors(struct canvas *c, const struct frame *f, const struct request_facts *facts, int y)
{
    enum touch touch = tracing_place(f->v, f->v->at)->touch;
    if (f->sectors && touch_global(touch)) draw_boxes(c, f->v, facts, f->sectors, y);
    if (f->sectors && touch_shared(touch)) draw_banks(c, f->v, y);
    return y + f->sectors;
}

/* ---- legends and totals ---- */

static int draw_legend(struct canvas *c, const struct frame *f, int y)
{
    const struct scope *s = &f->v->t.scope;
    char letter[SCOPE_ARRAYS];
    int x = 1;
    if (!f->legend) return y;
    letters_of(s, letter);
    x = canvas_text(c, x, y, ST_PAD, "*");
    x = canvas_text(c, x, y, ST_DIM, " padding  ");
    canvas_put(c, x, y, ST_DIM, 0xb7);
    x = canvas_text(c, x + 1, y, ST_DIM, " waits  blank done  capitals write ");
    for (int a = 0; a < s->narrays && x + (int)strlen(s->array[a].name) + 5 < c->w; a++) {
        struct scope_place p = {.array = a};
        x = canvas_text(c, x + 2 - !a, y, style_of(&p), "%c", letter[a]);
        if (s->array[a].name[1]) x = canvas_text(c, x, y, ST_DIM, " %s", s->array[a].name);
    }
    canvas_put(c, 1, y + 1, ST_GOOD, c->ascii ? '#' : 0x2588);
    x = canvas_text(c, 3, y + 1, ST_DIM, "useful  ");
    canvas_put(c, x, y + 1, ST_WARN, c->ascii ? '=' : 0x2592);
    x = canvas_text(c, x + 2, y + 1, ST_DIM, "useful, but fetched again: ");
    x = canvas_text(c, x, y + 1, ST_WARN, "( )");
    x = canvas_text(c, x + 2, y + 1, ST_PAD, "*");
    x = canvas_text(c, x, y + 1, ST_DIM, " padding  ");
    canvas_put(c, x, y + 1, ST_DIM, 0xb7);
    canvas_text(c, x + 1, y + 1, ST_DIM, " fetched, not used");
    return y + f->legend;
}

struct pen {
    int x, y, end; /* nothing is drawn from line `end` on */
};

static void item(struct canvas *c, struct pen *at, const char *name, const char *value)
{
    if (at->x > 1 && at->x + text_width(name) + 1 + text_width(value) > c->w) *at = (struct pen){1, at->y + 1, at->end};
    if (at->y >= at->end) return;
    int x = canvas_text(c, at->x, at->y, ST_DIM, "%s ", name);
    at->x = canvas_text(c, x, at->y, ST_BOLD, "%s", value) + 2;
}

static void item_count(struct canvas *c, struct pen *at, const char *name, int64_t n)
{
    char text[32];
    item(c, at, name, show_count(n, text, sizeof text));
}

static void item_ratio(struct canvas *c, struct pen *at, const char *name, int64_t a, int64_t b)
{
    char text[32] = "-";
    if (b) snprintf(text, sizeof text, "%.2f", (double)a / (double)b);
    item(c, at, name, text);
}

static void item_of(struct canvas *c, struct pen *at, const char *name, int64_t n, int64_t least)
{
    char text[64], a[32], b[32];
    if (!n) return;
    snprintf(text, sizeof text, "%s (least %s)", show_count(n, a, sizeof a), show_count(least, b, sizeof b));
    item(c, at, name, text);
}

static void item_bytes(struct canvas *c, struct pen *at, const char *name, int64_t n, int64_t all)
{
    char text[64], a[32];
    snprintf(text, sizeof text, "%s B %.0f%%", show_count(n, a, sizeof a), all ? 100.0 * (double)n / (double)all : 0.0);
    item(c, at, name, text);
}

static int draw_totals(struct canvas *c, const struct trace_sums *t, int y, int lines)
{
    struct pen at = {1, y, y + lines};
    int64_t fetched = t->sectors * SECTOR;
    item_count(c, &at, "requests", t->requests);
    item_of(c, &at, "sectors", t->sectors, t->least);
    item_ratio(c, &at, "a request", t->sectors, t->requests);
    item_ratio(c, &at, "active lanes", t->lanes, t->steps);
    item_bytes(c, &at, "useful", t->bytes - t->padding, fetched);
    item_bytes(c, &at, "padding", t->padding, fetched);
    item_bytes(c, &at, "unused", t->unused, fetched);
    item_bytes(c, &at, "fetched again", t->again * SECTOR, fetched);
    item_of(c, &at, "bank turns", t->turns, t->turns_least);
    if (t->contended) item_count(c, &at, "contended", t->contended);
    return at.y + 1 < y + lines ? at.y + 1 : y + lines;
}

/* "lane 3: val[6], byte 48, row 2, column 3" */
static void draw_chosen(struct canvas *c, const struct tracing *v, int y)
{
    static const char *const states[] = {"takes part", "waits: its way parted from the others'", "is done",
                                         "has nothing to do"};
    struct lane_at at = tracing_lane(v, v->at, v->lane);
    int x = canvas_text(c, 1, y, ST_BOLD, "lane %d: ", v->lane), array = tracing_place(v, v->at)->array;
    if (at.has_index)
        x = canvas_text(c, x, y, ST_PLAIN, "%s[%lld], byte %lld", tracing_array(v, v->at), (long long)at.index,
                        (long long)at.index * v->t.scope.array[array].size);
    else
        x = canvas_text(c, x, y, ST_PLAIN, "%s", states[at.state]);
    if (at.row >= 0) x = canvas_text(c, x, y, ST_PLAIN, ", row %lld", (long long)at.row);
    if (at.padding) x = canvas_text(c, x, y, ST_PAD, ", padding");
    if (!at.padding && at.col >= 0) canvas_text(c, x, y, ST_PLAIN, ", column %lld", (long long)at.col);
}

/* ---- the view ---- */

static const char nothing_text[] = "nothing was traced yet; `trace csr-scalar` does";

/* "step 5 of 0..11  block 2 of 0..3  ...", counted from 0 as in the grid; short: "step 5 block 2 ...". */
static void say_where(const struct tracing *v, bool brief, char *out, size_t size)
{
    const struct scope *s = &v->t.scope;
    const struct {
        const char *what;
        int64_t k, n;
    } parts[] = {{"step", v->at, v->t.nsteps},
                 {"block", v->t.block, s->launch[v->t.launch].blocks},
                 {"warp", v->t.warp, v->t.warps},
                 {"launch", v->t.launch, s->nlaunches}};
    size_t n = 0;
    for (int i = 0; i < COUNT(parts) && n < size; i++) {
        if (i == 3 && parts[i].n < 2) continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s %lld", i ? " " : "", parts[i].what, (long long)parts[i].k);
        if (!brief && parts[i].n > 1 && n < size)
            n += (size_t)snprintf(out + n, size - n, " of 0..%lld%s", (long long)parts[i].n - 1,
                                  i == 0 && v->t.cut ? "+" : "");
    }
    if (!brief && n < size) snprintf(out + n, size - n, " %s", type_name(v->real));
}

/* What has no room goes: the size of the matrix first, then its name, how many there are of all, the kernel. */
static void title(struct canvas *c, const struct tracing *v)
{
    char where[160], brief[160], name[256], size[128], rows[32], cols[32], nnz[32];
    const struct csr *A = &v->matrix->csr;
    say_where(v, false, where, sizeof where);
    say_where(v, true, brief, sizeof brief);
    show_safe(v->matrix->name, name, sizeof name);
    snprintf(size, sizeof size, "%s x %s, %s nnz  ", show_count(A->rows, rows, sizeof rows),
             show_count(A->cols, cols, sizeof cols), show_count(A->nnz, nnz, sizeof nnz));
    int room = c->w - 1, kernel = (int)strlen(v->kernel->name) + 2, matrix = text_width(name) + 2;
    bool whole = kernel + text_width(where) <= room;
    const char *told = whole ? where : brief;
    room -= text_width(told);
    int x = 1;
    if (kernel <= room) x = canvas_text(c, x, 0, ST_TITLE, "%s  ", v->kernel->name);
    if (kernel + matrix <= room) x = canvas_text(c, x, 0, ST_BOLD, "%s  ", name);
    if (kernel + matrix + text_width(size) <= room) x = canvas_text(c, x, 0, ST_PLAIN, "%s", size);
    canvas_text(c, x, 0, ST_DIM, "%s", told);
}

static int room_of(int h, bool full)
{
    return h - 2 - full; /* the title, the chosen lane, and on a screen the keys */
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct tracing *v = s->trace;
    struct request_facts facts;
    if (!v) {
        draw_title(c, "trace", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 4, ST_PLAIN, st->message[0] ? st->message : nothing_text);
        return;
    }
    title(c, v);
    if (!v->t.nsteps) {
        draw_wrapped(c, 1, 2, 4, ST_PLAIN, "this warp has nothing to do: none of its lanes touches memory");
        return;
    }
    struct frame f = frame_of(v, c->w, room_of(c->h, st->full));
    *(struct trace_state *)st->own = (struct trace_state){.drawn_w = c->w, .drawn_h = c->h};
    facts_of(&v->t.scope, &v->t.step[v->at], &facts);
    int y = draw_source(c, &f, draw_grid(c, &f, 1));
    y = draw_sectors(c, &f, &facts, draw_request(c, v, &facts, y));
    y = draw_legend(c, &f, y);
    if (f.totals) y = draw_totals(c, &v->step[v->at].sums, y, f.totals);
    draw_chosen(c, v, st->full ? c->h - 2 : c->h - 1);
}

/* Where nothing was traced yet the plainest kernel is, on the current matrix; if that cannot be, draw says why. */
static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct err why = {0};
    struct trace_wanted w = {
        .matrix = s->current, .kernel = kernel_find("csr-scalar"), .real = s->single ? T_F32 : T_F64, .launch = -1};
    if (s->trace || !s->current || tracing_begin(s, &w, &why)) return true;
    snprintf(st->message, sizeof st->message, "%.119s", why.text);
    return why.code != E_MEMORY || fail_at(e, why.code, why.where, "%s", why.text);
}

/* ---- keys ---- */

enum { COUNT_LIMIT = 1000000, LARGE = 1 << 20 };

static bool take_count(struct view_state *st, int k)
{
    if (k < '0' || k > '9' || st->count > COUNT_LIMIT / 10) return false;
    st->count = 10 * st->count + k - '0';
    snprintf(st->message, sizeof st->message, "%lld: s so many steps, b so many back, d, u, p or w so many times",
             (long long)st->count);
    return true;
}

static bool say(struct view_state *st, const char *text)
{
    snprintf(st->message, sizeof st->message, "%.119s", text);
    return true;
}

/* The n-th step of its kind. */
static void find_step(struct tracing *v, struct view_state *st, enum trace_mark mark, int by, int64_t n)
{
    static const char *const what[] = {"where ways part", "of more sectors than its bytes need",
                                       "that touches padding"};
    int64_t at = v->at;
    for (int64_t i = 0; i < n && at >= 0; i++) at = tracing_find(v, at, by, mark);
    if (at >= 0)
        tracing_go(v, at);
    else
        snprintf(st->message, sizeof st->message, "there is no %s step %s", by > 0 ? "later" : "earlier", what[mark]);
}

/* The same matrix, format and precision. */
static struct trace_wanted same_of(const struct tracing *v)
{
    return (struct trace_wanted){v->matrix, v->kernel, v->real, v->product->asked, v->t.launch, v->t.block, v->t.warp};
}

/* Of a large matrix it may take a while: say so meanwhile. */
static bool begin(struct session *s, struct view_state *st, const struct trace_wanted *w)
{
    struct err e = {0};
    if (w->matrix->csr.nnz > LARGE && term_is_open()) {
        snprintf(st->message, sizeof st->message, "tracing %s ... Ctrl-C stops it", w->kernel->name);
        front_draw(s);
    }
    st->message[0] = 0;
    session_take_interrupt();
    bool ok = tracing_begin(s, w, &e);
    session_take_interrupt();
    return ok || (say(st, e.text), false);
}

/* The n-th warp from here, block after block. */
static void go_warp(struct session *s, struct view_state *st, int64_t n, const char *what)
{
    const struct tracing *v = s->trace;
    int64_t all = v->t.scope.launch[v->t.launch].blocks * v->t.warps, at = v->t.block * v->t.warps + v->t.warp + n;
    struct trace_wanted w = same_of(v);
    if (at < 0 || at >= all) {
        snprintf(st->message, sizeof st->message, n < 0 ? "there is no %s before" : "there is no further %s", what);
        return;
    }
    w.block = at / v->t.warps;
    w.warp = (int)(at % v->t.warps);
    begin(s, st, &w);
}

static void go_launch(struct session *s, struct view_state *st, int64_t n)
{
    const struct tracing *v = s->trace;
    struct trace_wanted w = same_of(v);
    int64_t at = w.launch + n;
    w.launch = (int)at;
    w.block = w.warp = 0;
    if (at < 0 || at >= v->t.scope.nlaunches)
        snprintf(st->message, sizeof st->message, "%s consists of %s", v->kernel->name,
                 how_many(v->t.scope.nlaunches, "launch").text);
    else
        begin(s, st, &w);
}

static bool go_kernel(struct session *s, struct view_state *st, const struct kernel *k)
{
    struct trace_wanted w = same_of(s->trace);
    if (k->param || strcmp(k->format, w.kernel->format)) w.param = NULL;
    w.kernel = k;
    w.launch = -1;
    w.block = w.warp = 0;
    return begin(s, st, &w);
}

/* The next kernel of the format that can be traced. */
static void next_kernel(struct session *s, struct view_state *st)
{
    const struct kernel *was = s->trace->kernel;
    const struct device *emu = device_open("emu", NULL);
    int at = 0, n = 0;
    while (kernels[n]) n++;
    while (kernels[at] != was) at++;
    for (int i = 1; emu && i < n; i++) {
        const struct kernel *k = kernels[(at + i) % n];
        if (!strcmp(k->format, was->format) && kernel_runs_on(k, emu) && go_kernel(s, st, k)) {
            st->message[0] = 0;
            return;
        }
    }
    if (!st->message[0])
        snprintf(st->message, sizeof st->message, "%s has no other kernel here; K asks for one of any format",
                 was->format);
}

static bool ask(struct view_state *st, int k, const char *question)
{
    st->asks = true;
    st->asks_for = k;
    snprintf(st->question, sizeof st->question, "%s", question);
    return true;
}

static void choose_lane(struct tracing *v, int64_t n)
{
    v->lane = (int)(((v->lane + n) % LANES + LANES) % LANES);
}

/* What a key moves by; other keys are below. */
enum move { MOVE_STEP, MOVE_LANE, MOVE_APART, MOVE_UNCOALESCED, MOVE_PADDING, MOVE_WARP, MOVE_BLOCK, MOVE_LAUNCH };
static const struct {
    int key;
    enum move move;
    int by;
} moves[] = {
    {'s', MOVE_STEP, 1},    {' ', MOVE_STEP, 1},       {UI_DOWN, MOVE_STEP, 1},    {UI_ENTER, MOVE_STEP, 1},
    {'b', MOVE_STEP, -1},   {UI_UP, MOVE_STEP, -1},    {'n', MOVE_STEP, 10},       {UI_PGDN, MOVE_STEP, 10},
    {'B', MOVE_STEP, -10},  {UI_PGUP, MOVE_STEP, -10}, {UI_RIGHT, MOVE_LANE, 1},   {UI_LEFT, MOVE_LANE, -1},
    {'d', MOVE_APART, 1},   {'D', MOVE_APART, -1},     {'u', MOVE_UNCOALESCED, 1}, {'U', MOVE_UNCOALESCED, -1},
    {'p', MOVE_PADDING, 1}, {'P', MOVE_PADDING, -1},   {'w', MOVE_WARP, 1},        {'W', MOVE_WARP, -1},
    {'t', MOVE_BLOCK, 1},   {'T', MOVE_BLOCK, -1},     {'l', MOVE_LAUNCH, 1},      {'L', MOVE_LAUNCH, -1},
};

static void move(struct session *s, struct view_state *st, enum move m, int by, int64_t n)
{
    struct tracing *v = s->trace;
    if (m == MOVE_STEP) tracing_go(v, n ? v->at + (by > 0 ? n : -n) : v->at + by);
    if (!n) n = 1;
    if (m == MOVE_LANE) choose_lane(v, by * n);
    if (m == MOVE_WARP) go_warp(s, st, by * n, "warp");
    if (m == MOVE_BLOCK) go_warp(s, st, by * n * v->t.warps, "block");
    if (m == MOVE_LAUNCH) go_launch(s, st, by * n);
    if (m >= MOVE_APART && m <= MOVE_PADDING && v->t.nsteps) find_step(v, st, (enum trace_mark)(m - MOVE_APART), by, n);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct tracing *v = s->trace;
    if (!v) return false;
    if (take_count(st, k)) return true;
    int64_t n = st->count;
    if (k >= 0) st->count = 0;
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == k) return move(s, st, moves[i].move, moves[i].by, n), true;
    if (k == UI_HOME || k == 'g') tracing_go(v, 0);
    if (k == UI_END || k == 'G') tracing_go(v, v->t.nsteps - 1);
    if (k == 'k') next_kernel(s, st);
    if (k == 'K') return ask(st, k, "kernel: ");
    if (k == 'r') return ask(st, k, "on to line: ");
    if (k == 'R') return ask(st, k, "back to line: ");
    return true;
}

static void go_line(struct tracing *v, struct view_state *st, int by)
{
    long line = strtol(st->asked, NULL, 10);
    int64_t at = line > 0 && line < INT32_MAX ? tracing_line(v, v->at, by, (int)line) : -1;
    if (at >= 0)
        tracing_go(v, at);
    else
        snprintf(st->message, sizeof st->message, "no %s step is of line %.20s", by > 0 ? "later" : "earlier",
                 st->asked);
}

static void answer(struct session *s, struct view_state *st)
{
    const struct kernel *k = kernel_find(st->asked);
    if (!s->trace) return;
    if (st->asks_for != 'K')
        go_line(s->trace, st, st->asks_for == 'r' ? 1 : -1);
    else if (k)
        go_kernel(s, st, k);
    else
        snprintf(st->message, sizeof st->message, "there is no kernel `%.40s`; `kernels` lists them", st->asked);
}

/* A click takes the step and the lane of a cell. */
static bool click(struct session *s, struct view_state *st, int x, int y)
{
    struct tracing *v = s->trace;
    const struct trace_state *own = st->own;
    if (!v || !v->t.nsteps || own->drawn_w < 1) return false;
    struct frame f = frame_of(v, own->drawn_w, room_of(own->drawn_h, st->full));
    int line = y - 1 - f.head;
    if (line < 0 || line >= f.grid || f.from + line >= v->t.nsteps || x >= CELLS) return false;
    if (x >= NUMBER) v->lane = x - NUMBER;
    tracing_go(v, f.from + line);
    return true;
}

/* ---- one cursor with the other views ---- */

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    const struct tracing *v = s->trace;
    (void)st;
    if (!v || v->matrix != s->current || !v->t.nsteps) return false;
    struct lane_at l = tracing_lane(v, v->at, v->lane);
    *row = l.row;
    *col = l.padding ? -1 : l.col;
    return l.row >= 0 && l.row < v->matrix->csr.rows;
}

/* Why the warp is not at (row, col), and where the row is if all warps take rows as this one does. */
static void say_absent(const struct tracing *v, struct view_state *st, int64_t row, int64_t col)
{
    int64_t first, last, all = v->t.scope.launch[v->t.launch].blocks * v->t.warps;
    int64_t here = v->t.block * v->t.warps + v->t.warp, there = -1;
    size_t size = sizeof st->message;
    if (col >= 0 && tracing_has_row(v, row)) {
        snprintf(st->message, size, "no lane of this warp is at (%lld, %lld)", (long long)row, (long long)col);
        return;
    }
    if (tracing_rows(v, &first, &last) && first == here * (last - first + 1)) there = row / (last - first + 1);
    if (there >= 0 && there < all && there != here)
        snprintf(st->message, size, "row %lld: block %lld warp %lld (%lld%c), as rows are dealt out; not this warp",
                 (long long)row, (long long)(there / v->t.warps), (long long)(there % v->t.warps),
                 (long long)llabs(there - here), there > here ? 'w' : 'W');
    else
        snprintf(st->message, size, "row %lld is not this warp's; t/T block, w/W warp", (long long)row);
}

static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    if (!s->trace || s->trace->matrix != s->current) return false;
    if (tracing_seek(s->trace, row, col)) return true;
    say_absent(s->trace, st, row, col);
    return false;
}

static const char *nothing(const struct session *s)
{
    return s->trace || s->current ? NULL : nothing_text;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    (void)st, (void)w, (void)h;
    if (!s->trace) return fail(e, E_USAGE, "%s", nothing_text);
    out_trace(s->out, s->trace);
    return true;
}

static bool exists(const struct session *s)
{
    return s->trace;
}

/* Digits are a count. */
static bool claims(const struct session *s, int k)
{
    return s->trace && k >= '0' && k <= '9';
}

const struct view view_trace = {
    .name = "trace",
    .about = "one warp of a kernel step by step: lanes, elements, source, sectors",
    .keys = "? help  q leave  s/b step, back  d/D ways part  u/U uncoalesced  p/P padding  w/W warp  t/T block  "
            "k/K kernel, which  r/R to a line  l/L launch  n/B ten on, back  g/G first, last step  Left/Right lane  "
            "0-9 a count before a key  / to a row",
    .any = true,
    .state_size = sizeof(struct trace_state),
    .exists = exists,
    .claims = claims,
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .click = click,
    .answer = answer,
    .nothing = nothing,
    .numbers = numbers,
};
