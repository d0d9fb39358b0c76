/* The explorer's menu: all views with their numbers and what they show, or why they have nothing to show yet. Arrows, a
   number or a first letter move its cursor, Enter shows the view. */
#include "base/registry.h"
#include "base/text.h"
#include "draw.h"
#include "explore.h"
#include "explorer.h"
#include "screen.h"
#include "session/front.h"
#include "session/session.h"
#include "term.h"

#include <ctype.h>
#include <string.h>

enum { NAME_AT = 4, ABOUT_AT = 16 };

static int all_views(const struct session *s, const struct view *all[VIEWS_MAX + 1])
{
    int n = 0;
    while ((all[n] = explorer_numbered(s, n + 1))) n++;
    return n;
}

void menu_open(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    x->menu = x->pane;
    x->menu_digits = 0;
}

/* ---- drawing ---- */

/* The lines of the menu: `first` is the index of the first view that is shown, at line y of the screen. */
struct menu_lines {
    int first, n, y;
};

static struct menu_lines lines_of(int h, int n, int at)
{
    int room = h - 3 > 1 ? h - 3 : 1, shown = n < room ? n : room;
    int first = at < shown ? 0 : at - shown + 1;
    return (struct menu_lines){first, shown, h - 1 - shown};
}

/* The first sentence of the text, cut to the room. */
static void draw_sentence(struct canvas *c, int y, enum style st, const char *text)
{
    char one[256];
    const char *end = strstr(text, ". ");
    int taken, n = end ? (int)(end - text) : (int)strlen(text);
    snprintf(one, sizeof one, "%.*s", n, text);
    one[text_fit(one, c->w - ABOUT_AT - 1, &taken)] = 0;
    canvas_text(c, ABOUT_AT, y, st, "%s", one);
}

void menu_draw(struct canvas *c, struct session *s)
{
    const struct view *all[VIEWS_MAX + 1];
    int n = all_views(s, all), at = explorer_number(s, screen_explorer(s)->menu) - 1;
    struct menu_lines l = lines_of(c->h, n, at);
    draw_fill(c, 0, l.y - 1, c->w, ST_AXIS, 0x2500);
    canvas_text(c, 1, l.y - 1, ST_TITLE, " views ");
    for (int i = 0; i < l.n; i++) {
        const struct view *v = all[l.first + i];
        bool here = l.first + i == at, there = explorer_lists(s, v);
        const char *nothing = there || !v->nothing ? NULL : v->nothing(s);
        int y = l.y + i;
        draw_fill(c, 0, y, c->w, here ? ST_CURSOR : ST_PLAIN, ' ');
        canvas_text(c, 1, y, here ? ST_CURSOR : ST_DIM, "%2d", explorer_number(s, v));
        canvas_text(c, NAME_AT, y, here ? ST_CURSOR : there ? ST_BOLD : ST_DIM, "%s", v->name);
        draw_sentence(c, y, here ? ST_CURSOR : there ? ST_PLAIN : ST_DIM, nothing ? nothing : v->about);
    }
    draw_keys(c, "Enter show  up/down  1-9 a number  a-z a first letter  Esc close");
}

/* ---- keys ---- */

/* The view whose number is typed: the digit continues a number if a view has the longer number. */
static const struct view *typed_number(struct session *s, int digit)
{
    struct explorer *x = screen_explorer(s);
    const struct view *v = explorer_numbered(s, 10 * x->menu_digits + digit);
    x->menu_digits = v ? 10 * x->menu_digits + digit : digit;
    if (!v) v = explorer_numbered(s, digit);
    return v ? v : x->menu;
}

/* The next view after the cursor whose name begins with the letter. */
static const struct view *next_named(const struct view *const *all, int n, int at, int letter)
{
    for (int i = 1; i <= n; i++)
        if (all[(at + i) % n]->name[0] == letter) return all[(at + i) % n];
    return all[at];
}

static int clicked(struct session *s, int n, int at)
{
    struct explorer *x = screen_explorer(s);
    struct menu_lines l = lines_of(x->h, n, at);
    int line = x->mouse_y - l.y;
    x->menu = NULL;
    return line >= 0 && line < l.n ? l.first + line + 1 : 0;
}

/* Move the cursor by a key; returns false if the key does not move it. */
static bool move(struct session *s, const struct view *const *all, int n, int at, int key)
{
    struct explorer *x = screen_explorer(s);
    bool digit = key >= '0' && key <= '9';
    if (!digit) x->menu_digits = 0;
    if (digit)
        x->menu = typed_number(s, key - '0');
    else if (key == UI_UP || key == UI_WHEEL_UP || key == UI_BACKTAB)
        x->menu = all[(at + n - 1) % n];
    else if (key == UI_DOWN || key == UI_WHEEL_DOWN || key == UI_TAB)
        x->menu = all[(at + 1) % n];
    else if (key == UI_HOME || key == UI_PGUP)
        x->menu = all[0];
    else if (key == UI_END || key == UI_PGDN)
        x->menu = all[n - 1];
    else if (key < 0x80 && islower(key) && key != MENU_KEY && key != 'q')
        x->menu = next_named(all, n, at, key);
    else
        return false;
    return true;
}

int menu_key(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    const struct view *all[VIEWS_MAX + 1];
    int n = all_views(s, all), at = explorer_number(s, x->menu) - 1;
    if (key == UI_CLICK) return clicked(s, n, at);
    if (move(s, all, n, at, key)) return 0;
    x->menu = NULL;
    return key == UI_ENTER || key == ' ' ? at + 1 : 0;
}
