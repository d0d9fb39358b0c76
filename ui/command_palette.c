/* The palette: commands, aliases, views, topics of help and typed lines, found by a few of their letters. */
#include "command_palette.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/words.h"
#include "canvas.h"
#include "draw.h"
#include "language/kinds.h"
#include "line_history.h"
#include "session/alias.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "term.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SORT_AT = 1, NAME_AT = 10, NAME_WIDTH = 18, WIDE_FROM = 120, NAME_WIDE = 30, LINES_MAX = 20, LINE_SHOWN = 1000 };

static const char *const sorts[] = {
    [PALETTE_COMMAND] = "command", [PALETTE_VIEW] = "view",  [PALETTE_ALIAS] = "alias",
    [PALETTE_TOPIC] = "help",      [PALETTE_LINE] = "typed",
};

/* ---- the items ---- */

static bool add(struct palette *p, enum palette_sort sort, const char *name, const char *about, struct err *e)
{
    if (!about) about = "";
    if (p->n == p->room) {
        int room = p->room ? 2 * p->room : 1024;
        struct palette_item *more = mem_resize(p->item, room, sizeof *more, "the palette", e);
        if (!more) return false;
        p->item = more;
        p->room = room;
    }
    size_t n = strlen(name) + 1, k = strlen(about) + 1;
    char *text = mem_new((int64_t)(n + k), 1, "the palette", e);
    if (!text) return false;
    p->item[p->n++] = (struct palette_item){sort, memcpy(text, name, n), memcpy(text + n, about, k)};
    return true;
}

static bool add_registry(struct palette *p, enum palette_sort sort, const struct registry *r, struct err *e)
{
    const struct named *entry;
    for (int i = 0; r && (entry = registry_at(r, i)); i++)
        if (!add(p, sort, entry->name, entry->about, e)) return false;
    return true;
}

static bool add_aliases(struct palette *p, const struct session *s, struct err *e)
{
    for (const struct alias *a = s->aliases; a; a = a->next)
        if (!add(p, PALETTE_ALIAS, a->name, a->line, e)) return false;
    return true;
}

struct topics {
    struct palette *palette;
    const struct session *session;
    struct err *err;
    bool failed;
};

/* Commands and views have items of their own. */
static void add_topic(void *user, const char *name)
{
    struct topics *t = user;
    const struct registry *shown = t->session->front ? t->session->front->views : NULL;
    if (t->failed || command_find(name) || (shown && registry_find(shown, name))) return;
    t->failed = !add(t->palette, PALETTE_TOPIC, name, topic_about(t->session, name), t->err);
}

static bool add_topics(struct palette *p, const struct session *s, struct err *e)
{
    struct topics t = {p, s, e, false};
    kind_list(kind_find("TOPIC", strlen("TOPIC")), s, NULL, add_topic, &t);
    return !t.failed;
}

/* Was the line typed again, later? Only the last lines are compared, which keeps the palette quick. */
static bool is_repeated(int i, int n)
{
    enum { COMPARED = 50 };
    for (int k = i + 1; k < n && k <= i + COMPARED; k++)
        if (!strcmp(line_history_at(i), line_history_at(k))) return true;
    return false;
}

static bool add_lines(struct palette *p, struct err *e)
{
    for (int n = line_history_count(), i = n; i-- > 0;)
        if (!is_repeated(i, n) && !add(p, PALETTE_LINE, line_history_at(i), NULL, e)) return false;
    return true;
}

/* ---- matching ---- */

/* Scores of a word: the better a match, the higher. A later place costs 1 per letter, up to COST_MAX. */
enum { EXACT = 1000, PREFIX = 800, WORD_START = 600, INSIDE = 400, LETTERS = 200, IN_ABOUT = 100, COST_MAX = 99 };

static int less(int score, size_t cost)
{
    return score - (int)(cost < COST_MAX ? cost : COST_MAX);
}

static const char *find(const char *text, const char *word, size_t n)
{
    for (; *text; text++)
        if (!strncasecmp(text, word, n)) return text;
    return NULL;
}

/* The letters of the word in this order, not far from each other: 0 if they are not there. */
static int score_letters(const char *name, const char *word, size_t n)
{
    size_t k = 0, first = 0, at = 0;
    for (; name[at] && k < n; at++) {
        if (tolower((unsigned char)name[at]) != tolower((unsigned char)word[k])) continue;
        if (!k++) first = at;
    }
    return k < n || n < 2 || at - first > 3 * n ? 0 : less(LETTERS, at - n);
}

static int score_word(const struct palette_item *item, const char *word, size_t n)
{
    const char *name = item->name, *at = find(name, word, n);
    if (at == name) return name[n] ? less(PREFIX, strlen(name) - n) : EXACT;
    if (at) return less(isalnum((unsigned char)at[-1]) ? INSIDE : WORD_START, (size_t)(at - name));
    int letters = score_letters(name, word, n);
    return letters ? letters : find(item->about, word, n) ? IN_ABOUT : 0;
}

int palette_score(const char *typed, const struct palette_item *item)
{
    int score = PALETTE_LINE + 1 - (int)item->sort;
    for (const char *word = typed + strspn(typed, " "); *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        int one = score_word(item, word, n);
        if (!one) return 0;
        score += one;
        word += n;
    }
    return score;
}

static int by_score(const void *a, const void *b)
{
    const struct palette_match *x = a, *y = b;
    return x->score != y->score ? y->score - x->score : x->item - y->item;
}

static void search(struct palette *p)
{
    p->nfound = p->at = p->first = 0;
    for (int i = 0; i < p->n; i++) {
        int score = palette_score(p->typed, &p->item[i]);
        if (score) p->found[p->nfound++] = (struct palette_match){i, score};
    }
    qsort(p->found, (size_t)p->nfound, sizeof *p->found, by_score);
}

/* ---- opening and closing ---- */

bool palette_open(struct palette *p, struct session *s, struct err *e)
{
    *p = (struct palette){0};
    line_history_open(s->out);
    bool ok = add_registry(p, PALETTE_COMMAND, &command_registry, e) &&
              add_registry(p, PALETTE_VIEW, s->front ? s->front->views : NULL, e) && add_aliases(p, s, e) &&
              add_topics(p, s, e) && add_lines(p, e) &&
              (p->found = mem_new(p->n, sizeof *p->found, "the palette", e)) != NULL;
    if (!ok) return palette_close(p), false;
    search(p);
    return true;
}

void palette_close(struct palette *p)
{
    for (int i = 0; i < p->n; i++) mem_free(p->item[i].name);
    mem_free(p->item);
    mem_free(p->found);
    *p = (struct palette){0};
}

const struct palette_item *palette_choice(const struct palette *p)
{
    return &p->item[p->found[p->at].item];
}

void palette_line(const struct palette_item *item, char *line, size_t size, bool *runs)
{
    static const char *const before[] = {[PALETTE_VIEW] = "view ", [PALETTE_TOPIC] = "help ", [PALETTE_LINE] = ""};
    bool begins = item->sort == PALETTE_COMMAND || item->sort == PALETTE_ALIAS; /* arguments follow */
    *runs = item->sort == PALETTE_VIEW || item->sort == PALETTE_TOPIC;
    snprintf(line, size, "%s%s%s", begins ? "" : before[item->sort], item->name, begins ? " " : "");
}

/* ---- drawing ---- */

static void draw_row(struct canvas *c, int y, const struct palette_item *item, bool here)
{
    char name[LINE_SHOWN], about[LINE_SHOWN];
    int taken;
    print_safe(item->name, strlen(item->name), sizeof name / 4 - 4, name, sizeof name);
    print_safe(item->about, strlen(item->about), sizeof about / 4 - 4, about, sizeof about);
    name[text_fit(name, c->w - NAME_AT - 1, &taken)] = 0;
    draw_fill(c, 0, y, c->w, here ? ST_CURSOR : ST_PLAIN, ' ');
    canvas_text(c, SORT_AT, y, here ? ST_CURSOR : ST_DIM, "%s", sorts[item->sort]);
    int x = canvas_text(c, NAME_AT, y, here ? ST_CURSOR : ST_BOLD, "%s", name) + 2;
    int about_at = NAME_AT + (c->w < WIDE_FROM ? NAME_WIDTH : NAME_WIDE);
    if (x < about_at) x = about_at;
    if (x + 1 >= c->w) return;
    about[text_fit(about, c->w - x - 1, &taken)] = 0;
    canvas_text(c, x, y, here ? ST_CURSOR : ST_PLAIN, "%s", about);
}

static void draw_typed(const struct palette *p, struct canvas *c)
{
    int y = c->h - 1;
    draw_fill(c, 0, y, c->w, ST_PLAIN, ' ');
    canvas_put(c, SORT_AT, y, ST_BOLD, '>');
    int x = canvas_text(c, SORT_AT + 2, y, ST_PLAIN, "%s", p->typed);
    canvas_style(c, x, y, ST_CURSOR);
    draw_keys_at(c, x + 3, y, p->nfound ? "Enter choose  up/down  Esc close" : "Esc close");
}

void palette_draw(struct palette *p, struct canvas *c)
{
    char count[64];
    int room = c->h - 3 < LINES_MAX ? c->h - 3 : LINES_MAX, y = c->h - 1 - room;
    p->shown = room > 1 ? room : 1;
    if (p->at < p->first) p->first = p->at;
    if (p->at >= p->first + p->shown) p->first = p->at - p->shown + 1;
    draw_fill(c, 0, y - 1, c->w, ST_AXIS, 0x2500);
    canvas_text(c, 1, y - 1, ST_TITLE, " palette ");
    snprintf(count, sizeof count, " %d of %d ", p->nfound, p->n);
    draw_right(c, c->w - 1, y - 1, ST_DIM, count);
    for (int i = 0; i < p->shown && y + i < c->h - 1; i++) {
        int k = p->first + i;
        draw_fill(c, 0, y + i, c->w, ST_PLAIN, ' ');
        if (k < p->nfound) draw_row(c, y + i, &p->item[p->found[k].item], k == p->at);
    }
    if (!p->nfound) canvas_text(c, NAME_AT, y, ST_DIM, "nothing has these letters");
    draw_typed(p, c);
}

/* ---- keys ---- */

static const struct {
    int key, rows, pages;
} moves[] = {
    {UI_DOWN, 1, 0},     {UI_UP, -1, 0},       {UI_TAB, 1, 0},        {UI_BACKTAB, -1, 0}, {'N' & 0x1f, 1, 0},
    {'P' & 0x1f, -1, 0}, {UI_WHEEL_UP, -1, 0}, {UI_WHEEL_DOWN, 1, 0}, {UI_PGDN, 0, 1},     {UI_PGUP, 0, -1},
};

static void move(struct palette *p, int key)
{
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == key) p->at += moves[i].rows + moves[i].pages * p->shown;
    if (key == UI_HOME) p->at = 0;
    if (key == UI_END || p->at >= p->nfound) p->at = p->nfound - 1;
    if (p->at < 0) p->at = 0;
}

static bool type(struct palette *p, int key)
{
    size_t n = strlen(p->typed);
    bool erases = key == 0x7f || key == '\b';
    if (erases && !n) return false;
    if (erases) p->typed[n - 1] = 0;
    if (key == ('U' & 0x1f)) p->typed[0] = 0;
    if (key >= ' ' && key < 0x7f && n + 1 < sizeof p->typed) p->typed[n] = (char)key, p->typed[n + 1] = 0;
    if (n != strlen(p->typed)) search(p);
    return true;
}

enum palette_state palette_key(struct palette *p, int key)
{
    if (key < 0 || key == UI_RESIZE) return PALETTE_ON;
    if (key == UI_ESC || key == UI_INTERRUPT || key == ('G' & 0x1f)) return PALETTE_LEFT;
    if (key == UI_ENTER) return p->nfound ? PALETTE_CHOSEN : PALETTE_ON;
    move(p, key);
    return type(p, key) ? PALETTE_ON : PALETTE_LEFT;
}

bool palette_run(struct palette *p, struct session *s)
{
    struct canvas c = {0};
    enum palette_state state = PALETTE_ON;
    int w, h;
    if (!palette_open(p, s, NULL) || !term_open(NULL)) return false;
    while (state == PALETTE_ON) {
        term_size(&w, &h);
        if (c.w != w || c.h != h) canvas_free(&c);
        if (!c.cell && !canvas_new(&c, w, h, s->front->ascii, NULL)) break;
        c.colours = s->plain ? COLOURS_NONE : term_colours();
        canvas_clear(&c);
        palette_draw(p, &c);
        term_draw(&c);
        state = palette_key(p, term_key(-1));
    }
    term_close();
    canvas_free(&c);
    return state == PALETTE_CHOSEN;
}
