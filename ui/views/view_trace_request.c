/* The request of the current step: its lanes, and the sectors or banks. */
#include "base/text.h"
#include "microscope/tracing.h"
#include "ui/draw.h"
#include "view_trace.h"

/* Text such as ", 3-way conflict: 3 lanes add to y[2]". The text names the element that the most lanes
   update, or the first of several such elements. */
static int say_conflict(struct canvas *c, int x, int y, const struct tracing *v)
{
    const struct request *r = &v->t.step[v->at];
    int most = 0, lane = 0;
    for (int l = 0; l < LANES; l++) {
        int n = 0;
        for (int k = 0; k < LANES && r->mask >> l & 1; k++) n += r->mask >> k & 1 && r->at[k] == r->at[l];
        if (n > most) most = n, lane = l;
    }
    x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? "; %d-way conflict" : ", %d-way conflict: ", most);
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
    if (more) x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? ", not %d" : " (%d needed)", least);
    if (f->nsectors > n) return say_conflict(c, x, y, v);
    if (f->contended) x = canvas_text(c, x, y, ST_WARN, "; %d contended", f->contended);
    return x;
}

static int say_shared(struct canvas *c, int x, int y, const struct request_facts *f)
{
    bool more = f->wavefronts > f->wavefronts_least;
    x = canvas_text(c, x, y, more ? ST_WARN : ST_GOOD, "%s", how_many(f->wavefronts, "wavefront").text);
    if (more)
        x = canvas_text(c, x, y, ST_WARN, c->w < NARROW ? ", not %d" : " (%d without bank conflicts)",
                        f->wavefronts_least);
    if (f->contended) x = canvas_text(c, x, y, ST_WARN, "; %d contended", f->contended);
    return x;
}

/* Draw, for example, "load val: 3 of 32 lanes (diverged); 24 B in 1 sector, mask 00000007", or, on a narrow screen, "ld
   val 3/32: 24 B in 1 sector". */
int trace_view_request(struct canvas *c, const struct tracing *v, const struct request_facts *f, int y)
{
    const struct access_site *p = tracing_site(v, v->at);
    uint32_t mask = v->t.step[v->at].mask, alive = tracing_alive(v, v->at);
    bool narrow = c->w < NARROW, diverged = mask != alive;
    int x = canvas_text(c, 1, y, ST_BOLD, "%s%s%s",
                        narrow    ? trace_view_short[p->kind]
                        : p->what ? p->what
                                  : access_names[p->kind],
                        p->array < 0 ? "" : " ", tracing_array(v, v->at));
    enum style st = diverged ? ST_WARN : ST_PLAIN;
    if (narrow)
        x = canvas_text(c, x, y, st, " %d/%d: ", f->lanes, __builtin_popcount(alive));
    else
        x = canvas_text(c, x, y, st, diverged ? ": %d of %d lanes (diverged); " : ": %d lanes; ", f->lanes,
                        __builtin_popcount(alive));
    if (accesses_global(p->kind)) x = say_global(c, x, y, v, f);
    if (accesses_shared(p->kind)) x = say_shared(c, x, y, f);
    if (p->kind == ACCESS_COLLECTIVE) x = canvas_text(c, x, y, ST_PLAIN, "registers only");
    if (p->kind == ACCESS_BARRIER) x = canvas_text(c, x, y, ST_PLAIN, "all warps of a block meet");
    if (x + 15 <= c->w) canvas_text(c, x, y, ST_DIM, ", mask %08x", mask);
    return y + 1;
}

/* The bytes of a sector, one bit each. */
struct bytes {
    uint32_t asked, padding;
};

static struct bytes bytes_of(const struct tracing *v, uint64_t sector, const struct lane_at *lane)
{
    const struct access_site *p = tracing_site(v, v->at);
    const struct scope_array *a = &v->t.scope.array[p->array];
    struct bytes b = {0, 0};
    for (int l = 0; l < LANES; l++) {
        if (lane[l].state != LANE_ACTIVE) continue;
        int64_t from = (int64_t)(a->base + (uint64_t)lane[l].index * (uint64_t)a->size - sector * SECTOR);
        for (int64_t i = from < 0 ? 0 : from; i < from + a->size * p->elements && i < SECTOR; i++) {
            b.asked |= 1u << i;
            if (lane[l].padding && a->stored >= 0) b.padding |= 1u << i;
        }
    }
    return b;
}

/* How boxes are drawn: the bytes per character, and whether the index of the first element is shown. */
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
    const struct scope_array *a = &v->t.scope.array[tracing_site(v, v->at)->array];
    int which[2 * LANES], n = tracing_sectors(f, which);
    struct boxes x = boxes_of(c, a, n, lines);
    struct lane_at lane[LANES];
    if (!x.per_line) return;
    for (int l = 0; l < LANES; l++) lane[l] = tracing_lane(v, v->at, l);
    int room = lines * x.per_line, shown = n <= room ? n : room - 1;
    for (int i = 0; i < shown; i++)
        draw_box(c, &x, a, f->sector[which[i]], bytes_of(v, f->sector[which[i]], lane),
                 v->step[v->at].refetched >> which[i] & 1, 1 + i % x.per_line * x.width, y + i / x.per_line);
    if (shown < n) canvas_text(c, 1 + shown % x.per_line * x.width, y + shown / x.per_line, ST_DIM, "+ %d", n - shown);
}

/* Draw the number of different words requested from each bank, as a digit, or + for more than 9. */
static void draw_banks(struct canvas *c, const struct tracing *v, int y)
{
    const struct request *r = &v->t.step[v->at];
    const struct scope_array *a = &v->t.scope.array[tracing_site(v, v->at)->array];
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
    canvas_text(c, CELLS + 1, y, ST_DIM, "words requested from each of 32 banks");
}

int trace_view_sectors(struct canvas *c, const struct frame *f, const struct request_facts *facts, int y)
{
    enum access_kind touch = tracing_site(f->v, f->v->at)->kind;
    if (f->sectors && accesses_global(touch)) draw_boxes(c, f->v, facts, f->sectors, y);
    if (f->sectors && accesses_shared(touch)) draw_banks(c, f->v, y);
    return y + f->sectors;
}
