/* Declarations shared by explore.c and explore_draw.c. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "view.h"

struct explorer;

/* LISTED_FROM: screens of at least this many lines have a line that lists the panes. */
enum { LISTED_FROM = 14, WIDTH_LEAST = 20, HEIGHT_LEAST = 5, WORD_LINES = 5, WHEEL_LINES = 3 };

/* Fill `pane` with the panes in order; returns their number. */
int explorer_panes(const struct session *s, const struct view *pane[VIEWS_MAX]);
/* Draw "[1 spy]  2 rows  ..." on line 0. Returns the pane whose name is at column `at`, or NULL. */
const struct view *explorer_list_panes(struct canvas *c, const struct session *s, int at);

#endif
