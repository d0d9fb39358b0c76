/* The machine code of a kernel below its source lines: the hot loop, loads in flight, registers in use. */
#include "base/base.h"
#include "commands/cmd_sass.h"
#include "commands/sass_rows.h"
#include "lab/machine_code.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "microscope/tracing.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Widths in columns. ADDRESS: what stands before an instruction. TEXT: of an instruction, before its note. WIDE_FROM:
   the least width with the source lines in a column of their own; PAIR_FROM: with two functions side by side. VALUE: of
   a quantity in the head. */
enum {
    ADDRESS = 11,
    TEXT = 50,
    WIDE_FROM = 132,
    PAIR_FROM = 140,
    NAME = 20,
    VALUE = 19,
    HEAD_MAX = 9,
    SUMMARY_FROM = 30
};

struct sass_state {
    const struct machine_codes *of; /* the codes for which the rest is meant */
    int chosen;                     /* of two functions */
    int at[2];                      /* instruction at the cursor, in each function */
    char wanted[24];                /* text that was looked for last */
    int64_t step;                   /* 1 + the step of the trace when the last key came */
};

/* A line of the listing: an instruction or, above it, its source line. */
static bool begins_line(const struct sass *s, int i)
{
    return i == 0 || !sass_same_line(&s->at[i], &s->at[i - 1]);
}

/* ---- the traced step ---- */

/* The instruction of the current step of the trace; -1: another kernel is traced, or none. */
static int traced_instruction(const struct session *s, const struct machine_code *c)
{
    const struct tracing *v = s->trace;
    if (!v || !v->t.nsteps || strcmp(v->name, c->kernel)) return -1;
    const struct access_site *p = tracing_site(v, v->at);
    return machine_code_at_line(c, p->file, p->line);
}

static bool is_traced_line(const struct session *s, const struct machine_code *c, int i)
{
    int at = traced_instruction(s, c);
    return at >= 0 && sass_same_line(&c->sass.at[at], &c->sass.at[i]);
}

/* ---- the head ---- */

static int draw_quantities(struct canvas *c, const struct machine_codes *codes, int y, int lines)
{
    char a[SASS_VALUE], b[SASS_VALUE];
    int x = 1, top = y, bottom = y, width = NAME + codes->n * (VALUE + 1);
    for (const struct sass_quantity *q = sass_quantities; q->name; q++) {
        if (!q->short_list && lines < HEAD_MAX) continue;
        if (y == top + lines) y = top, x += width;
        if (x + width > c->w + 2 && x > 1) break;
        q->show(&codes->of[0], a, sizeof a);
        canvas_text(c, x, y, ST_DIM, "%.*s", NAME - 1, q->name);
        canvas_text(c, x + NAME, y, ST_PLAIN, "%.*s", VALUE, a);
        if (codes->n > 1) {
            q->show(&codes->of[1], b, sizeof b);
            canvas_text(c, x + NAME + VALUE + 1, y, strcmp(a, b) ? ST_BOLD : ST_PLAIN, "%.*s", VALUE, b);
        }
        if (++y > bottom) bottom = y;
    }
    return bottom;
}

static int draw_head(struct canvas *c, const struct machine_codes *codes, int chosen)
{
    const struct machine_code *k = &codes->of[chosen];
    char title[256];
    draw_title(c, "sass", NULL, "%s: %s", k->kernel, sass_title(k, title, sizeof title));
    for (int i = 0; i < codes->n && codes->n > 1; i++)
        canvas_text(c, 1 + NAME + i * (VALUE + 1), 1, i == chosen ? ST_BOLD : ST_DIM, "%.*s", VALUE,
                    codes->of[i].kernel);
    int lines = c->h >= SUMMARY_FROM ? HEAD_MAX : c->h >= 16 ? 4 : 0;
    return draw_quantities(c, codes, 1 + (codes->n > 1), lines);
}

/* ---- the listing ---- */

static enum style style_of(const struct machine_code *c, int i)
{
    const struct sass_instruction *at = &c->sass.at[i];
    bool global = at->space == SASS_GLOBAL || at->space == SASS_TEXTURE;
    if (at->diverged || at->unreachable) return ST_DIM;
    if (at->kind == INSTRUCTION_ATOMIC || at->space == SASS_LOCAL) return ST_BAD;
    if (global) return ST_WARN;
    if (at->kind == INSTRUCTION_FP64 || at->kind == INSTRUCTION_FP32) return ST_GOOD;
    return ST_PLAIN;
}

static void draw_source(struct canvas *c, const struct session *s, const struct machine_code *k, int i, int x, int w,
                        int y)
{
    const struct sass_instruction *at = &k->sass.at[i];
    enum style st = is_traced_line(s, k, i) ? ST_CURSOR : ST_TITLE;
    char text[512];
    int length = 0;
    const char *line = at->file ? kernel_source_line(at->file, at->line, &length) : NULL;
    while (length > 0 && isspace((unsigned char)*line)) line++, length--;
    snprintf(text, sizeof text, "%s:%d  %.*s", at->file ? at->file : "?", at->line, length, line ? line : "");
    canvas_text(c, x, y, st, "%.*s", w > 0 ? w : 0, text);
}

static void draw_instruction(struct canvas *c, const struct machine_code *k, int i, int x, int w, int y, bool here)
{
    const struct sass_instruction *at = &k->sass.at[i];
    char note[SASS_VALUE], mark = sass_mark(k, i);
    canvas_text(c, x, y, here ? ST_CURSOR : ST_AXIS, "%04x", (unsigned)at->address);
    canvas_text(c, x + 5, y, ST_DIM, "%3d", at->live);
    canvas_put(c, x + 9, y, mark == '#' ? ST_BAR : ST_DIM, (uint32_t)mark);
    if (w <= ADDRESS) return;
    canvas_text(c, x + ADDRESS, y, style_of(k, i), "%.*s", w - ADDRESS, at->text);
    int room = w - ADDRESS - (int)strlen(at->text) - 1, n = (int)strlen(sass_note(k, i, false, note, sizeof note));
    if (n > room) n = (int)strlen(sass_note(k, i, true, note, sizeof note));
    if (n == 0 || n > room) return;
    int from = ADDRESS + TEXT > w - n ? w - n : ADDRESS + TEXT, end = w - room;
    canvas_text(c, x + (from > end ? from : end), y, ST_DIM, "%s", note);
}

/* The lines of the listing from instruction `from` on, each with its source line beside it (beside: its width) or above
   it. Returns the number of instructions. */
static int draw_listing(struct canvas *c, const struct session *s, const struct machine_code *k, int from, int cursor,
                        int x, int w, int beside, int y, int end)
{
    int i = from;
    for (; i < k->sass.n && y < end; i++) {
        bool begins = i == from || begins_line(&k->sass, i);
        if (begins) draw_source(c, s, k, i, x, beside ? beside - 2 : w, y);
        if (begins && !beside && ++y == end) break;
        draw_instruction(c, k, i, x + beside, w - beside, y++, i == cursor);
    }
    return i - from;
}

/* The first instruction to show, so that the cursor is in the middle of `lines` lines. */
static int first_shown(const struct machine_code *k, int cursor, int lines, bool beside)
{
    int used = 1 + !beside, i = cursor;
    while (i > 0 && used < lines / 2) {
        i--;
        used += 1 + (!beside && begins_line(&k->sass, i));
    }
    return i;
}

/* Until the next key, the cursor is at the traced step, if that has moved. */
static bool follows(const struct session *s, const struct sass_state *own, const struct machine_code *c)
{
    return traced_instruction(s, c) >= 0 && own->step != 1 + s->trace->at;
}

static int cursor_of(const struct session *s, const struct sass_state *own, int k)
{
    const struct machine_code *c = &s->sass->of[k];
    if (follows(s, own, c)) return traced_instruction(s, c);
    int at = own->of == s->sass ? own->at[k] : c->sass.hot >= 0 ? c->sass.loop[c->sass.hot].first : 0;
    return at < c->sass.n ? at : c->sass.n - 1;
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct sass_state *own = st->own;
    if (!s->sass) {
        draw_title(c, "sass", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "nothing to show yet: `sass csr-vector` shows machine code");
        return;
    }
    int chosen = own->of == s->sass ? own->chosen : 0, end = c->h - (st->full ? 1 : 0);
    bool pair = s->sass->n > 1 && c->w >= PAIR_FROM;
    int y = draw_head(c, s->sass, chosen), columns = pair ? 2 : 1, w = c->w / columns;
    for (int k = 0; k < columns; k++) {
        int which = pair ? k : chosen, cursor = cursor_of(s, own, which);
        const struct machine_code *code = &s->sass->of[which];
        int beside = w >= WIDE_FROM ? w * 2 / 5 : 0;
        if (pair) canvas_text(c, k * w + 1, y, which == chosen ? ST_BOLD : ST_DIM, "%s", code->kernel);
        draw_listing(c, s, code, first_shown(code, cursor, end - y - pair, beside), cursor, k * w + 1, w - 2, beside,
                     y + pair, end);
    }
}

/* ---- keys ---- */

/* The state for the codes of the session, with the cursors where they are drawn. */
static struct sass_state *state_of(const struct session *s, struct view_state *st)
{
    struct sass_state *own = st->own, now = *own;
    if (own->of != s->sass) now.chosen = 0;
    now.of = s->sass;
    now.step = s->trace ? 1 + s->trace->at : 0;
    for (int k = 0; k < s->sass->n; k++) now.at[k] = cursor_of(s, own, k);
    *own = now;
    return own;
}

static void go(const struct session *s, struct sass_state *own, int at)
{
    int n = s->sass->of[own->chosen].sass.n;
    own->at[own->chosen] = at < 0 ? 0 : at < n ? at : n - 1;
}

/* Go to the next instruction, in the direction `by`, for which `is` is true. */
static bool seek(const struct session *s, struct sass_state *own, int by,
                 bool (*is)(const struct machine_code *c, int i, const char *text))
{
    const struct machine_code *c = &s->sass->of[own->chosen];
    for (int i = own->at[own->chosen] + by; i >= 0 && i < c->sass.n; i += by)
        if (is(c, i, own->wanted)) return go(s, own, i), true;
    return false;
}

static bool is_load(const struct machine_code *c, int i, const char *text)
{
    const struct sass_instruction *at = &c->sass.at[i];
    return at->space == SASS_GLOBAL || at->space == SASS_TEXTURE;
}

static bool begins_loop(const struct machine_code *c, int i, const char *text)
{
    for (int k = 0; k < c->sass.nloops; k++)
        if (c->sass.block[c->sass.loop[k].header].first == i) return true;
    return false;
}

/* In the instruction, or in the number of its line. */
static bool has_text(const struct machine_code *c, int i, const char *text)
{
    char line[24];
    snprintf(line, sizeof line, "%d", c->sass.at[i].line);
    return strcasestr(c->sass.at[i].text, text) || (begins_line(&c->sass, i) && !strcmp(line, text));
}

static bool key(struct session *s, struct view_state *st, int k)
{
    static const struct {
        int key, by;
    } moves[] = {{UI_DOWN, 1}, {'s', 1}, {UI_UP, -1}, {'b', -1}, {UI_PGDN, 10}, {'n', 10}, {UI_PGUP, -10}, {'B', -10}};
    if (!s->sass) return true;
    struct sass_state *own = state_of(s, st);
    const struct sass *code = &s->sass->of[own->chosen].sass;
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == k) go(s, own, own->at[own->chosen] + moves[i].by);
    if (k == 'g' || k == UI_HOME) go(s, own, 0);
    if (k == 'G' || k == UI_END) go(s, own, code->n - 1);
    if (k == 'u' || k == 'U') seek(s, own, k == 'u' ? 1 : -1, is_load);
    if (k == 'l' || k == 'L') seek(s, own, k == 'l' ? 1 : -1, begins_loop);
    if (k == 'k' && s->sass->n > 1) own->chosen = !own->chosen;
    if (k == 'r') return view_ask(st, k, "on to text or line: ");
    if (k == 'R') return view_ask(st, k, "back to text or line: ");
    int traced = k == 'w' ? traced_instruction(s, &s->sass->of[own->chosen]) : -1;
    if (traced >= 0) go(s, own, traced);
    if (k == 'w' && traced < 0)
        snprintf(st->message, sizeof st->message, "no step of this kernel is traced: `trace %s`",
                 s->sass->of[own->chosen].kernel);
    return true;
}

static void answer(struct session *s, struct view_state *st)
{
    if (!s->sass) return;
    struct sass_state *own = state_of(s, st);
    snprintf(own->wanted, sizeof own->wanted, "%s", st->typed);
    if (!seek(s, own, st->question_key == 'r' ? 1 : -1, has_text))
        snprintf(st->message, sizeof st->message, "no %s instruction has `%.20s`",
                 st->question_key == 'r' ? "later" : "earlier", st->typed);
}

/* ---- the view ---- */

static bool exists(const struct session *s)
{
    return s->sass;
}

static bool has_traced(const struct session *s)
{
    return s->trace && s->trace->kernel && s->trace->kernel->functions[0].name;
}

/* Without code, that of the traced kernel. */
static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    return s->sass || !has_traced(s) || sass_begin(s, s->trace->kernel, s->trace->real, e);
}

static const char *nothing(const struct session *s)
{
    return s->sass || has_traced(s) ? NULL : "nothing to show yet; run `sass csr-vector`";
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    if (!s->sass && !prepare(s, NULL, e)) return false;
    out_sass(s, s->sass);
    return true;
}

static void state_copy(void *to, const void *from)
{
    *(struct sass_state *)to = *(const struct sass_state *)from;
}

const struct view view_sass = {
    .name = "sass",
    .about = "the machine code of a kernel below its source lines: loops, loads in flight, registers in use",
    .keys = "? help  q leave  s/b step, back  l/L loop  u/U access  r/R to text or line  k kernel  w traced step  "
            "n/B ten on, back  g/G first, last",
    .rows = (const struct row_kind *const[]){&row_sass_function, &row_sass_instruction, NULL},
    .any = true,
    .large = true,
    .state_size = sizeof(struct sass_state),
    .state_copy = state_copy,
    .exists = exists,
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .answer = answer,
    .nothing = nothing,
    .numbers = numbers,
};
