/* The terminal side as main uses it. */
#ifndef UI_RUN_H
#define UI_RUN_H

#include <stdbool.h>

struct err;
struct session;

bool ui_attach(struct session *s, struct err *e); /* fills s->front */
void ui_detach(struct session *s);
int ui_run(struct session *s); /* the prompt until quit; exit status */

#endif
