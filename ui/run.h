/* The functions of the terminal side that main calls. */
#ifndef UI_RUN_H
#define UI_RUN_H

#include <stdbool.h>

struct err;
struct session;

bool ui_attach(struct session *s, struct err *e); /* sets s->front */
void ui_detach(struct session *s);
int ui_run(struct session *s);   /* run the prompt until quit; returns the exit status */
int ui_go_on(struct session *s); /* like ui_run, after commands that were not typed at a terminal */
bool ui_has_screen(void);        /* can the terminal show a full screen? */

#endif
