/* The front: the screen of a session, what it remembers of the views, and the cursor that they share. */
#ifndef FRONT_H
#define FRONT_H

#include <stdbool.h>

struct err;
struct session;
struct view;

struct explorer *front_explorer(struct session *s);
struct view_state *front_state(struct session *s, const struct view *v);
/* Explore, beginning with this view. */
bool explore(struct session *s, const char *view, struct err *e);
/* The running work belongs to this pane of the explorer until it is left. */
void live_pane(struct session *s, const struct view *v);
void front_draw(struct session *s);                   /* the explorer, as it is now */
const struct canvas *front_canvas(struct session *s); /* what was drawn last; NULL: nothing was */
/* Print the view that was drawn last once more, as text of that size or as its numbers; 0: its default size. */
bool front_again(struct session *s, int w, int h, struct err *e);
/* One key of a full-screen view; false: leave it. */
bool view_key(struct session *s, const struct view *v, int key);
void front_restyle(struct session *s); /* apply the options of colours, letters and the mouse; restyle.c */

/* Move the cursor of v to the element that the views share. */
void cursor_follow(struct session *s, const struct view *v);
/* Publish the cursor of v so that other views follow it. Views without columns leave the column unchanged. */
void cursor_publish(struct session *s, const struct view *v);

#endif
