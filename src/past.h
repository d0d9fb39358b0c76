/* What a session remembers of its commands: changes that can be taken back, and a record of what was run. */
#ifndef PAST_H
#define PAST_H

#include "grammar.h"

/* ---- undo.c ---- */

/* A command, shown as `said`, begins or has ended: what it changed becomes a level of s->undo. Commands that run
   within another are changes of their own. */
void undo_begin(struct session *s, const char *said);
void undo_end(struct session *s);
/* Take over m, which was at `place` in the list, so that it can come back; false where it is to be freed. */
bool undo_keep(struct session *s, struct matrix *m, int place);
/* Free all that is kept. */
void undo_forget(struct session *s);

/* ---- session.c ---- */

/* Free the formats that m was converted to; and m itself. */
void products_free(struct matrix *m);
void matrix_free(struct matrix *m);

/* ---- cmd_record.c ---- */

/* A command was run, which took so many us; why: NULL where it succeeded. `text` as it would be typed. */
void record_command(struct session *s, const char *text, const struct err *why, double us);
void record_end(struct session *s);
/* Is the open file f the one that is written? */
bool record_is(const struct session *s, FILE *f);

#endif
