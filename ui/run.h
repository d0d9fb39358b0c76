/* The functions of the terminal side that main calls. */
#ifndef UI_RUN_H
#define UI_RUN_H

#include <stdbool.h>

struct err;
struct session;

bool ui_attach(struct session *s, struct err *e); /* sets s->front */
void ui_detach(struct session *s);
int ui_run(struct session *s); /* run the prompt until quit; returns the exit status */

#endif
