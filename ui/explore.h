/* Declarations shared by explore.c and explore_draw.c. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "split.h"
#include "view.h"

struct explorer;

/* LISTED_FROM: screens of at least this many lines have a line that lists the panes. */
enum { LISTED_FROM = 14, WIDTH_MIN = 20, HEIGHT_MIN = 5, WORD_LINES = 5, WHEEL_LINES = 3 };

/* Fill `pane` with the panes in order; returns their number. */
int explorer_panes(const struct session *s, const struct view *pane[VIEWS_MAX]);
/* Draw "[1 spy]  2 rows  ..." on line 0; if not all names fit, only the names beside that of the active pane. Returns
   the pane whose name is at column `at`, or NULL. */
const struct view *explorer_list_panes(struct canvas *c, const struct session *s, int at);
/* Views keep their numbers, 1 and up, even if views before them are not listed. explorer_numbered returns NULL if no
   view has the number. */
int explorer_number(const struct session *s, const struct view *v);
const struct view *explorer_numbered(const struct session *s, int number);
bool explorer_lists(const struct session *s, const struct view *v); /* is the view listed now? */

/* ---- explore_menu.c: all listed views, to choose one ---- */

enum { MENU_KEY = 'v' };
void menu_open(struct session *s);
void menu_draw(struct canvas *c, struct session *s);
int menu_key(struct session *s, int key); /* handle a key or a click; returns the number of the chosen view, or 0 */

/* Show v in the pane with the focus, or say why that is impossible now. */
void explore_turn_to(struct session *s, const struct view *v);
bool explorer_say(struct explorer *x, bool bad, const char *text);
/* Are the results that the view computed still valid? */
bool explorer_is_valid(struct session *s, const struct view *v);

/* ---- explore_state.c, explore_panes.c ---- */

struct pane_picture *explorer_picture(struct explorer *x, const struct view *v);
void explorer_free_pictures(struct explorer *x);
/* Draw the panes again that mark the traced warp, if the trace has moved since the last call. */
void explorer_follow_trace(struct session *s);
/* The keys that divide the screen, and close, resize or enlarge a pane. explorer_pane_key returns true if the key has
   changed the arrangement; *added is the view of a new pane, or NULL. */
bool explorer_is_pane_key(int key);
bool explorer_pane_key(struct session *s, int key, const struct view **added);

#endif
