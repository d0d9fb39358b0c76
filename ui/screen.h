/* The screen of a session, for views and commands: the state of each view, the explorer, the last canvas drawn, and the
   cursor that views share. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct image;
struct matrix;
struct session;
struct view;

struct explorer *screen_explorer(struct session *s);
struct view_state *screen_view_state(struct session *s, const struct view *v);
/* Open the explorer with one view, with several views ("spy,trace"), with the most useful views ("all"), or with the
   views that it showed last (NULL). */
bool explore(struct session *s, const char *views, struct err *e);
/* Let this view show the running work until the view is left. */
void screen_set_running(struct session *s, const struct view *v);
const struct view *screen_running(struct session *s); /* the view that shows the running work; NULL: none */
void screen_redraw(struct session *s);                /* draw the explorer again */
/* Keep output that was longer than the screen, for `last`. Takes ownership of text, which may be NULL. */
void screen_keep_output(struct session *s, char *text, size_t n);
/* Print that output again. */
bool screen_print_output(struct session *s, struct err *e);
bool screen_output_is_newer(struct session *s); /* did it come after the last drawing? */
/* The last canvas drawn; NULL: none. screen_canvas_and_images also returns the n pictures of pixels that the screen
   shows over the blanks of the canvas; screen_canvas draws them as text. */
const struct canvas *screen_canvas(struct session *s);
const struct canvas *screen_canvas_and_images(struct session *s, const struct image *const **image, int *n);
/* Print the last view again, as w x h characters of text (0: the default size) or as its numbers. */
bool screen_draw_again(struct session *s, int w, int h, struct err *e);
/* Handle a key of a full-screen view; false: leave the view. */
bool view_key(struct session *s, const struct view *v, int key);
void screen_restyle(struct session *s); /* apply the options for colours, ASCII and the mouse; restyle.c */

/* Is m still one of the session's matrices? m may have been released. */
bool matrix_is_loaded(const struct session *s, const struct matrix *m);

/* Move the cursor of v to the shared cursor. cursor_follow_beside does this in a pane that is visible beside the pane
   in which the user moved: it also shows why v cannot follow, and returns whether the picture of v has changed. */
void cursor_follow(struct session *s, const struct view *v);
bool cursor_follow_beside(struct session *s, const struct view *v);
/* Publish the cursor of v so that other views follow it. Views without columns leave the column unchanged. */
void cursor_publish(struct session *s, const struct view *v);

#endif
