/* The output of commands: text, JSON lines or CSV from the same calls. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct err;

#ifdef __cplusplus
extern "C" {
#endif

enum out_mode { OUT_TEXT, OUT_JSON, OUT_CSV };
struct out;
struct out *out_new(FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void out_free(struct out *o);
enum out_mode out_mode(const struct out *o);
FILE *out_file(const struct out *o);
/* What is said goes to two more files too, NULL: not: rows as JSON lines; text, errors with it, as into a pipe. */
void out_listen(struct out *o, FILE *rows, FILE *text);
FILE *out_listener(const struct out *o); /* of text; for who draws on out_file by hand */
int out_columns(const struct out *o);    /* of the terminal that text goes to; 0: it goes elsewhere */
/* What would be text becomes HTML: tables and paragraphs. */
void out_html(struct out *o);
/* Called by dispatch around each command; out_end prints what is pending (aligned in text), and in JSON
   mode an {"command":..., "ok":true} line if the command printed no row. */
void out_begin(struct out *o, const char *command);
bool out_end(struct out *o, struct err *e);
void out_error(struct out *o, const struct err *why); /* to messages; in JSON mode a line with ok:false */
/* A row: a JSON object, a CSV line, a line of the text table. heading NULL: not shown in text. A command
   whose rows all come alone (out_record) is printed in text as "heading  value" lines. */
void out_row(struct out *o);
void out_record(struct out *o);
void out_keep(struct out *o, const char *heading); /* of the rows so far: the column that a narrow terminal shows yet */
void out_str(struct out *o, const char *key, const char *heading, const char *value); /* value NULL = null */
void out_int(struct out *o, const char *key, const char *heading, int64_t value);
void out_int_if(struct out *o, const char *key, const char *heading, bool known, int64_t value); /* else null, "-" */
void out_bytes(struct out *o, const char *key, const char *heading, int64_t value); /* in text as "1.23 MB" */
void out_num(struct out *o, const char *key, const char *heading, double value, const char *fmt); /* NaN = null, "-" */
/* Microseconds; in text as "417.25 us", "12.34 ms" or "1.50 s". */
void out_time(struct out *o, const char *key, const char *heading, double us);
void out_bool(struct out *o, const char *key, const char *heading, bool value);
void out_nums(struct out *o, const char *key, int64_t n, const double *values);  /* JSON only */
void out_strs(struct out *o, const char *key, int n, const char *const *values); /* JSON only */
/* Words with a blank between them; in JSON an array of them. */
void out_words(struct out *o, const char *key, const char *heading, const char *words);
/* An array of objects, JSON only: an empty one; then for each object out_within, false: no JSON is made, and its keys
   by the functions above, which print nothing meanwhile. out_without: the keys that follow are the row's again. */
void out_list(struct out *o, const char *key);
bool out_within(struct out *o, const char *key);
void out_without(struct out *o);
void out_text(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a line of prose, text mode only */
/* Lines of prose: on a terminal those that begin without a blank flow together. */
void out_prose(struct out *o, const char *text);
void out_note(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a warning or remark, to messages */
void out_progress(struct out *o,
                  const char *text);    /* a line on the terminal, replaced by the next, gone before other output */
void out_progress_clear(struct out *o); /* before writing to out_file by hand */

#ifdef __cplusplus
}
#endif
#endif
