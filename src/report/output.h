/* The output of commands: the same calls print text, JSON lines or CSV. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"
#include "base/column_rank.h"

struct err;
struct table_links;

C_BEGIN

enum out_mode { OUT_TEXT, OUT_JSON, OUT_CSV };
struct out;
struct out *out_new(FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void out_free(struct out *o);
/* The target of the data. */
struct out_target {
    FILE *data;
    int columns; /* width of text; 0: width of the terminal that data writes to; -1: width of the terminal on stdout */
    bool csv_before; /* data already contains a CSV table */
    bool redirected; /* the user sent the output of this command to a file or to a shell command */
    bool messages;   /* errors and notes go to data too */
};
/* Print pending rows, and send the following data to another target. Returns the previous target. */
struct out_target out_redirect(struct out *o, struct out_target to);
struct out_target out_target(const struct out *o);
bool out_is_redirected(const struct out *o);
/* Will the output be read without the earlier output of the session, because it is redirected or a report? */
bool out_stands_alone(const struct out *o);
enum out_mode out_mode(const struct out *o);
void out_set_mode(struct out *o, enum out_mode mode); /* only while no row is pending, as after out_redirect */
/* Write lines of JSON as one array. */
void out_json_array(FILE *f, const char *lines);
FILE *out_file(const struct out *o);
/* Copy all output to two more files. The first file receives the rows as JSON lines; the second file receives the text
   with errors, formatted as for a pipe. NULL: no copy. */
void out_listen(struct out *o, FILE *rows, FILE *text);
FILE *out_listener(const struct out *o); /* the file that receives text; for code that draws on out_file itself */
bool out_is_terminal(const struct out *o);
bool out_shows_rows(const struct out *o); /* does any file receive rows that text does not show? */
int out_columns(const struct out *o);     /* width of the terminal; 0: text does not go to a terminal */
/* Print text as HTML: tables and paragraphs. */
void out_html(struct out *o);
/* command.c calls out_begin before and out_end after each command; out_end prints what is pending (aligned in text),
   and in JSON mode an {"command":..., "ok":true} line if the command printed no row. */
void out_begin(struct out *o, const char *command);
bool out_end(struct out *o, struct err *e);
const char *out_begun(const struct out *o); /* the command of the last out_begin */
/* Print the rows that are pending. Returns false with E_CANCELLED if Ctrl-C stopped the printing. */
bool out_flush(struct out *o, struct err *e);
/* After Ctrl-C: drop all but the first 1000 of the rows that are pending in text, and print how many are left out. */
void out_shorten(struct out *o);
void out_error(struct out *o, const struct err *why); /* printed to messages; in JSON mode, a line with ok:false */
/* The last error that out_error printed since out_failure_clear; its code is E_NONE if there was none. */
const struct err *out_failure(const struct out *o);
void out_failure_clear(struct out *o);
/* A row: a JSON object, a CSV line, or a line of the text table. If heading is NULL, text does not show the value. A
   row begun by out_record is printed in text as "heading  value" lines. Keys, headings and values are copied. */
void out_row(struct out *o);
void out_record(struct out *o);
/* The rank of the columns that follow in this row; the columns of a new row have rank COLUMN_NORMAL. */
void out_rank(struct out *o, enum column_rank rank);
void out_str(struct out *o, const char *key, const char *heading, const char *value); /* value NULL: null */
void out_path(struct out *o, const char *key, const char *heading, const char *path); /* a file, perhaps as a link */
void out_int(struct out *o, const char *key, const char *heading, int64_t value);
void out_int_if(struct out *o, const char *key, const char *heading, bool known, int64_t value); /* or null, "-" */
void out_bytes(struct out *o, const char *key, const char *heading, int64_t value); /* shown in text as "1.23 MB" */
/* NaN: not known, which is null in JSON and "-" in text. Infinity is "inf" or "-inf", in JSON a string. */
void out_num(struct out *o, const char *key, const char *heading, double value, const char *fmt);
/* The same for values that may be NaN themselves, such as those of a matrix: "nan", in JSON a string. */
void out_value(struct out *o, const char *key, const char *heading, double value, const char *fmt);
/* Microseconds; shown in text as "417.25 us", "12.34 ms" or "1.50 s". */
void out_time(struct out *o, const char *key, const char *heading, double us);
void out_bool(struct out *o, const char *key, const char *heading, bool value);
/* Arrays of numbers as out_num and out_value print them; JSON only. */
void out_nums(struct out *o, const char *key, int64_t n, const double *values);
void out_values(struct out *o, const char *key, int64_t n, const double *values);
/* Like out_values, for arrays of any size: print the array without storing its text, and let Ctrl-C stop it. A stopped
   array ends early, but the line stays valid JSON. The function must not be called after out_within. */
bool out_stream(struct out *o, const char *key, int64_t n, double (*value)(void *user, int64_t i), void *user,
                struct err *e);
void out_strs(struct out *o, const char *key, int n, const char *const *values); /* JSON only */
/* Words separated by blanks; an array in JSON. */
void out_words(struct out *o, const char *key, const char *heading, const char *words);
/* An array of objects, in JSON only: out_list adds an empty array. Each out_within adds an object to the array, and the
   functions above then set the keys of that object. out_within returns false if the output is not JSON. After
   out_without, these functions set the keys of the row again. */
void out_list(struct out *o, const char *key);
bool out_within(struct out *o, const char *key);
void out_without(struct out *o);
void out_text(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a line of prose, text mode only */
/* Lines to copy, such as code: never wrapped. Text mode only. */
void out_verbatim(struct out *o, const char *text);
/* Lines of prose; on a terminal, consecutive lines that do not begin with a blank are joined and wrapped at the
   terminal's width. */
void out_prose(struct out *o, const char *text);
/* Print the pending row of JSON at once; rows of text and CSV wait until the table is complete. */
void out_send(struct out *o);
/* A line of prose that is shown at once, on a terminal only: what is already known of a table that follows. */
void out_live(struct out *o, const char *fmt, ...) PRINTF(2, 3);
void out_note(struct out *o, const char *fmt, ...) PRINTF(2, 3); /* a warning or remark, printed to messages */
void out_progress(
    struct out *o,
    const char *text); /* a line on the terminal, replaced by the next progress line and erased before other output */
/* Let `show` show the progress instead, and let `clear` remove what `show` has drawn. */
void out_progress_by(struct out *o, void (*show)(const char *text), void (*clear)(void));
/* In records on a terminal, let paths be links; NULL: they are not. */
void out_links_by(struct out *o, const struct table_links *links);
void out_progress_clear(struct out *o); /* must be called before any direct write to out_file */

C_END
#endif
