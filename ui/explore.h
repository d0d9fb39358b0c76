/* What the files of the explorer share. */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "view.h"

struct explorer;

/* LISTED_FROM: from this height on the panes are listed in a line of their own. */
enum { LISTED_FROM = 14, WIDTH_LEAST = 20, HEIGHT_LEAST = 5, WORD_LINES = 5, WHEEL_LINES = 3 };

/* The panes in order; how many. */
int explorer_panes(const struct session *s, const struct view *pane[VIEWS_MAX]);
/* "[1 spy]  2 rows ..." from x = 1; the pane whose name is at column `at`, or NULL. */
const struct view *explorer_list_panes(struct canvas *c, const struct session *s, int at);
/* Lines of text when it is broken at width w. */
int explorer_lines_of(const char *text, int w);
/* Lines of the output that are shown at once. */
int explorer_lines_shown(const struct explorer *x);

#endif
