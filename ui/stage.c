/* A simulated terminal: its keys come from a list and its canvas can be read. */
#include "stage.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "session/session.h"
#include "term.h"

#include <ctype.h>
#include <string.h>

static struct stage *stage; /* NULL: a real terminal is used */

void stage_begin(struct stage *g)
{
    SCREEN_EDIT;
    stage = g;
}

void stage_end(void)
{
    SCREEN_EDIT;
    stage = NULL;
}

struct stage *stage_now(void)
{
    return stage;
}

bool stage_over(void)
{
    return stage && stage->over;
}

int stage_key(int wait_ms, bool bytes)
{
    struct stage *g = stage;
    bool polls = wait_ms == 0;
    if (session_take_interrupt()) return UI_INTERRUPT;
    for (;;) {
        if (!g->held && !g->over) g->held = g->next(g->user, &g->press);
        if (!g->held && polls && !g->eager) return -1;
        if (!g->held) return g->over = true, UI_ESC; /* Escape closes whatever is open, one level at a time */
        struct press p = g->press;
        if (p.key == UI_WAIT && polls) return -1;
        g->held = false;
        if (g->pressed) g->pressed(p.key);
        if (p.key == UI_RESIZE) g->w = p.x, g->h = p.y;
        if (p.key == UI_CLICK || p.key == UI_WHEEL_UP || p.key == UI_WHEEL_DOWN) g->mouse_x = p.x, g->mouse_y = p.y;
        if (p.key != UI_WAIT && (bytes || p.key < 0x80 || p.key >= UI_UP)) return p.key;
    }
}

/* ---- keys by name ---- */

static const struct {
    const char *name;
    int key;
} names[] = {
    {"Up", UI_UP},           {"Down", UI_DOWN}, {"Left", UI_LEFT}, {"Right", UI_RIGHT}, {"Home", UI_HOME},
    {"End", UI_END},         {"PgUp", UI_PGUP}, {"PgDn", UI_PGDN}, {"Enter", UI_ENTER}, {"Tab", UI_TAB},
    {"BackTab", UI_BACKTAB}, {"Esc", UI_ESC},   {"Space", ' '},    {"Backspace", 0x7f}, {"Wait", UI_WAIT},
    {"Quote", '\''},         {"F1", UI_F1},
};

/* Keys with two numbers: a cell or a size. */
static const struct {
    const char *format;
    int key;
} places[] = {
    {"Click:%d,%d", UI_CLICK},
    {"WheelUp:%d,%d", UI_WHEEL_UP},
    {"WheelDown:%d,%d", UI_WHEEL_DOWN},
    {"Size:%dx%d", UI_RESIZE},
};

static bool find_name(const char *word, struct press *p)
{
    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(word, names[i].name)) return *p = (struct press){names[i].key, 0, 0}, true;
    return false;
}

static bool find_place(const char *word, struct press *p)
{
    char format[24], end;
    for (int i = 0; i < COUNT(places); i++) {
        int x, y, least = places[i].key == UI_RESIZE;
        snprintf(format, sizeof format, "%s%%c", places[i].format);
        if (sscanf(word, format, &x, &y, &end) != 2 || x < least || y < least || x > STAGE_MAX || y > STAGE_MAX)
            continue;
        return *p = (struct press){places[i].key, x, y}, true;
    }
    return false;
}

/* C-a to C-y; C-z and similar keys are signals. */
static bool find_control(const char *word, struct press *p)
{
    if (word[0] != 'C' || word[1] != '-' || word[2] < 'a' || word[2] > 'y' || word[3]) return false;
    int c = word[2] & 0x1f;
    *p = (struct press){c == 3 ? UI_INTERRUPT : c == '\t' ? UI_TAB : c == '\r' || c == '\n' ? UI_ENTER : c, 0, 0};
    return true;
}

/* Refuse a word that looks like the name of a key, because the user probably did not mean to type its letters. */
static bool refuse(const char *word, struct err *e)
{
    struct suggest near = suggest_for(word);
    char safe[128];
    for (int i = 0; i < COUNT(names); i++) suggest_offer(&near, names[i].name);
    print_safe(word, strlen(word), 30, safe, sizeof safe);
    if (*near.best)
        return fail(e, E_USAGE, "there is no key `%s`; did you mean `%s`? To enter it as text, write '%s'", safe,
                    near.best, safe);
    return fail(e, E_USAGE, "there is no key `%s`; to enter it as text, write '%s'", safe, safe);
}

static bool add(struct presses *all, struct press p, struct err *e)
{
    if (all->n == all->room) {
        int room = all->room ? 2 * all->room : 64;
        struct press *more = mem_resize(all->press, room, sizeof *more, "keys", e);
        if (!more) return false;
        all->press = more;
        all->room = room;
    }
    all->press[all->n++] = p;
    return true;
}

static bool add_text(struct presses *all, const char *text, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!add(all, (struct press){(unsigned char)text[i], 0, 0}, e)) return false;
    return true;
}

static bool add_word(struct presses *all, const char *text, size_t n, struct err *e)
{
    char word[32];
    struct press p;
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    bool whole = n < sizeof word;
    if (whole && (find_name(word, &p) || find_place(word, &p) || find_control(word, &p))) return add(all, p, e);
    if (n > 1 && isupper((unsigned char)word[0]) && (isalpha((unsigned char)word[1]) || word[1] == '-'))
        return refuse(word, e);
    return add_text(all, text, n, e);
}

bool presses_add(struct presses *all, const char *text, struct err *e)
{
    for (const char *t = text + strspn(text, " \t\n"); *t; t += strspn(t, " \t\n")) {
        size_t n = *t == '\'' ? strcspn(t + 1, "'") : strcspn(t, " \t\n");
        bool quoted = *t == '\'' && t[1 + n] == '\'';
        if (*t == '\'' && !quoted) n = strcspn(t, " \t\n");
        if (!(quoted ? add_text(all, t + 1, n, e) : add_word(all, t, n, e))) return false;
        t += n + (quoted ? 2 : 0);
    }
    return true;
}

void presses_free(struct presses *all)
{
    mem_free(all->press);
    *all = (struct presses){0};
}

bool presses_next(void *user, struct press *p)
{
    struct presses *all = user;
    if (all->next == all->n) return false;
    *p = all->press[all->next++];
    return true;
}

void press_name(struct press p, char *out, size_t size)
{
    for (int i = 0; i < COUNT(places); i++)
        if (places[i].key == p.key) snprintf(out, size, places[i].format, p.x, p.y);
    for (int i = 0; i < COUNT(names); i++)
        if (names[i].key == p.key) snprintf(out, size, "%s", names[i].name);
    if (p.key == UI_INTERRUPT) snprintf(out, size, "C-c");
    if (p.key >= UI_UP || p.key == ' ' || p.key == 0x7f || p.key == '\'') return;
    if (p.key < 0x20)
        snprintf(out, size, "C-%c", p.key | 0x60);
    else
        snprintf(out, size, "%c", p.key);
}
