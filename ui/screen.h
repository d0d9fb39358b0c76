/* The screen of a session as views and commands use it: the state of each view, the explorer, what was drawn last, and
   the cursor that views share. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>

struct err;
struct matrix;
struct session;
struct view;

struct explorer *screen_explorer(struct session *s);
struct view_state *screen_view_state(struct session *s, const struct view *v);
/* Explore, beginning with this view. */
bool explore(struct session *s, const char *view, struct err *e);
/* The running work belongs to this pane of the explorer until it is left. */
void screen_set_running(struct session *s, const struct view *v);
void screen_redraw(struct session *s);                 /* the explorer, as it is now */
const struct canvas *screen_canvas(struct session *s); /* what was drawn last; NULL: nothing was */
/* Print the view that was drawn last once more, as text of that size or as its numbers; 0: its default size. */
bool screen_draw_again(struct session *s, int w, int h, struct err *e);
/* One key of a full-screen view; false: leave it. */
bool view_key(struct session *s, const struct view *v, int key);
void screen_restyle(struct session *s); /* apply the options of colours, letters and the mouse; restyle.c */

/* Is m still one of the session's matrices? m may have been released. */
bool matrix_is_loaded(const struct session *s, const struct matrix *m);

/* Move the cursor of v to the element that the views share. */
void cursor_follow(struct session *s, const struct view *v);
/* Publish the cursor of v so that other views follow it. Views without columns leave the column unchanged. */
void cursor_publish(struct session *s, const struct view *v);

#endif
