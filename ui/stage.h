/* A simulated terminal whose keys come from a list. Between stage_begin and stage_end, the functions of term.h
   use the simulated terminal instead of the real terminal. */
#ifndef STAGE_H
#define STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"
#include "pixels.h"

/* A key, with the cell of a click or of the wheel, or the new size after UI_RESIZE. UI_WAIT is not a key: it
   delays the next key until no work runs. */
struct press {
    int key, x, y;
};
struct stage {
    int w, h;
    enum colours colours;
    struct pixel_terminal pixels;              /* way PIXELS_OFF: the terminal shows text only */
    bool eager;                                /* keys interrupt running work; otherwise they wait for its end */
    bool (*next)(void *user, struct press *p); /* false: there are no more keys */
    void *user;
    void (*pressed)(int key); /* called before a key is handled; may be NULL */
    bool open, over; /* over: the last key was read; from then on nothing is drawn, and Escape closes everything */
    bool held;       /* press is a key that was not read yet */
    struct press press;
    int mouse_x, mouse_y;
};
enum { STAGE_MAX = 1000 }; /* columns, and rows */
void stage_begin(struct stage *g);
void stage_end(void);
struct stage *stage_now(void); /* NULL: the terminal is real */
bool stage_over(void);
int stage_key(int wait_ms, bool bytes); /* as term_key */

/* Keys, with the names in `help keys`, for example "j Tab ':spy' Enter Click:3,4". */
struct presses {
    struct press *press;
    int n, room, next;
};
bool presses_add(struct presses *all, const char *text, struct err *e);
void presses_free(struct presses *all);
bool presses_next(void *user, struct press *p); /* function for stage.next; stage.user points to the struct presses */
void press_name(struct press p, char *out, size_t size); /* writes a key in the form that presses_add reads */

#endif
