/* A terminal that is played from a list of keys. While a stage is set, the functions of term.h act on it. */
#ifndef STAGE_H
#define STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"

/* A key; with the cell of a click or of the wheel, or the new size that UI_RESIZE tells of. UI_WAIT is no key: what
   follows comes only when nothing is at work. */
struct press {
    int key, x, y;
};
struct stage {
    int w, h;
    enum colours colours;
    bool eager; /* keys cut work short as soon as it looks for one, else they wait for it */
    bool (*next)(void *user, struct press *p); /* false: that was the last */
    void *user;
    bool open, over; /* over: the last was taken; from then on nothing is drawn, and Escape leaves */
    bool held;       /* press was given and not yet taken */
    struct press press;
    int mouse_x, mouse_y;
};
enum { STAGE_MOST = 1000 }; /* columns, and rows */
void stage_begin(struct stage *g);
void stage_end(void);
struct stage *stage_now(void); /* NULL: the terminal is a real one */
bool stage_over(void);
int stage_key(int wait_ms, bool bytes); /* as term_key */

/* Keys as `help keys` names them: "j Tab ':spy' Enter Click:3,4". */
struct presses {
    struct press *press;
    int n, room, next;
};
bool presses_add(struct presses *all, const char *text, struct err *e);
void presses_free(struct presses *all);
bool presses_next(void *user, struct press *p);          /* for a stage, whose user is the presses */
void press_name(struct press p, char *out, size_t size); /* one of them as it could be read again */

#endif
