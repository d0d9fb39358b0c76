/* The output of commands: the same calls make an aligned table, JSON lines or CSV. */
#include "output.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The rows of a long CSV table are printed in parts of CSV_ROWS rows. */
enum { CSV_ROWS = 4096, ROWS_KEPT = 1000 };

struct out {
    struct out_target to;
    FILE *messages;
    enum out_mode mode;
    char command[64];
    struct table table;                      /* text and CSV: rows not printed yet */
    bool more_csv;                           /* earlier rows of the CSV table have already been printed */
    bool records;                            /* the pending rows are records: "heading  value" lines */
    bool html;                               /* text is written as HTML */
    cJSON *json;                             /* JSON: the keys of the row not printed yet */
    bool json_begun;                         /* earlier keys of the row have already been printed */
    cJSON *within;                           /* the object being filled in an array of `row`, or NULL */
    bool printed;                            /* this command printed a row or an error */
    FILE *rows, *text;                       /* files that receive copies of the output, or NULL */
    int progress;                            /* columns of the progress line now on the terminal */
    void (*show_progress)(const char *text); /* NULL: progress is a line written to `messages` */
    void (*clear_progress)(void);
    const struct table_links *links; /* paths are links on a terminal; NULL: they are not */
    struct err err;                  /* the first failure while printing, returned by out_end */
    struct err failure;              /* the last error printed by out_error */
};

static void *json_new(size_t n)
{
    return mem_new((int64_t)n, 1, "a JSON line", NULL);
}

struct out *out_new(FILE *data, FILE *messages, enum out_mode mode, struct err *e)
{
    struct out *o = mem_zero(1, sizeof *o, "the output", e);
    if (!o) return NULL;
    cJSON_InitHooks(&(cJSON_Hooks){json_new, mem_free});
    o->to.data = data;
    o->messages = messages;
    o->mode = mode;
    return o;
}

void out_free(struct out *o)
{
    if (!o) return;
    table_clear(&o->table);
    cJSON_Delete(o->json);
    mem_free(o);
}

enum out_mode out_mode(const struct out *o)
{
    return o->mode;
}

void out_set_mode(struct out *o, enum out_mode mode)
{
    o->mode = mode;
}

void out_json_array(FILE *f, const char *lines)
{
    fputs("[", f);
    for (const char *p = lines; *p;) {
        int n = (int)strcspn(p, "\n");
        fprintf(f, "%s\n%.*s", p == lines ? "" : ",", n, p);
        p += n + (p[n] == '\n');
    }
    fputs("\n]\n", f);
}

bool out_is_redirected(const struct out *o)
{
    return o->to.redirected;
}

bool out_stands_alone(const struct out *o)
{
    return o->to.redirected || o->html;
}

void out_html(struct out *o)
{
    o->html = true;
}

FILE *out_file(const struct out *o)
{
    return o->to.data;
}

void out_listen(struct out *o, FILE *rows, FILE *text)
{
    o->rows = rows;
    o->text = text;
}

FILE *out_listener(const struct out *o)
{
    return o->text;
}

static bool makes_json(const struct out *o)
{
    return o->mode == OUT_JSON || o->rows;
}

bool out_shows_rows(const struct out *o)
{
    return makes_json(o) || o->mode != OUT_TEXT;
}

void out_begin(struct out *o, const char *command)
{
    snprintf(o->command, sizeof o->command, "%s", command);
    o->printed = false;
    err_clear(&o->err);
}

const char *out_begun(const struct out *o)
{
    return o->command;
}

static bool no_memory(struct out *o)
{
    return fail(&o->err, E_MEMORY, "out of memory while printing; drop a matrix and try again");
}

/* A JSON string of the text. Control bytes except newlines are escaped, and so is invalid UTF-8, which cJSON would
   print unchanged. */
static cJSON *json_string(const char *text)
{
    size_t n = strlen(text), size = 4 * n + 1;
    char *safe = mem_new((int64_t)size, 1, "a JSON line", NULL);
    cJSON *j = safe ? cJSON_CreateString(print_lines(text, safe, size)) : NULL;
    mem_free(safe);
    return j;
}

/* Add value to the pending object, which becomes its owner; on failure, value is freed. */
static void json_put(struct out *o, const char *key, cJSON *value)
{
    cJSON *to = o->within ? o->within : o->json;
    if (value && to && cJSON_AddItemToObject(to, key, value)) return;
    cJSON_Delete(value);
    no_memory(o);
}

static void json_start(struct out *o, bool ok)
{
    o->json = cJSON_CreateObject();
    json_put(o, "command", json_string(o->command));
    json_put(o, "ok", cJSON_CreateBool(ok));
}

static void json_text(struct out *o, const char *text)
{
    if (o->mode == OUT_JSON) fputs(text, o->to.data);
    if (o->rows) fputs(text, o->rows);
}

/* Print the pending keys, without the braces around the row. */
static bool json_keys(struct out *o)
{
    char *keys = o->err.code == E_MEMORY ? NULL : cJSON_PrintUnformatted(o->json);
    if (!keys) return no_memory(o);
    keys[strlen(keys) - 1] = 0;
    if (keys[1] && o->json_begun) json_text(o, ",");
    json_text(o, o->json_begun ? keys + 1 : keys);
    o->json_begun = true;
    mem_free(keys);
    return true;
}

static void json_flush(struct out *o)
{
    o->within = NULL;
    if (!o->json) return;
    json_keys(o);
    if (o->json_begun) json_text(o, "}\n");
    o->json_begun = false;
    cJSON_Delete(o->json);
    o->json = NULL;
}

void out_progress_by(struct out *o, void (*show)(const char *text), void (*clear)(void))
{
    o->show_progress = show;
    o->clear_progress = clear;
}

void out_progress_clear(struct out *o)
{
    if (o->clear_progress) o->clear_progress();
    if (!o->progress) return;
    fprintf(o->messages, "\r%*s\r", o->progress + 2, ""); /* the terminal may have echoed ^C after the progress line */
    fflush(o->messages);
    o->progress = 0;
}

static int terminal_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
}

/* The width for text; 0: no limit. */
static int columns(const struct out *o)
{
    int terminal = o->to.columns < 0 ? STDOUT_FILENO : fileno(o->to.data);
    if (o->to.columns > 0) return o->to.columns;
    return isatty(terminal) ? terminal_columns(terminal) : 0;
}

bool out_is_terminal(const struct out *o)
{
    return o->to.columns < 0 || isatty(fileno(o->to.data));
}

int out_columns(const struct out *o)
{
    return columns(o);
}

static void put_table(const struct out *o, FILE *f, int width, const struct table_links *links)
{
    if (o->records)
        table_records(&o->table, f, width, links);
    else
        table_text(&o->table, f, width, links);
}

/* Print the rows collected so far. */
static void flush(struct out *o)
{
    bool more_csv = o->more_csv;
    o->more_csv = false;
    json_flush(o);
    if (!o->table.rows) return;
    out_progress_clear(o);
    if (o->mode == OUT_CSV) {
        if (o->to.csv_before && !more_csv) fputc('\n', o->to.data);
        table_csv(&o->table, o->to.data, !more_csv);
        o->to.csv_before = true;
    } else if (o->html) {
        table_html(&o->table, o->to.data, o->records);
    } else {
        put_table(o, o->to.data, columns(o), o->links);
    }
    if (o->text && o->mode == OUT_TEXT) put_table(o, o->text, 0, NULL);
    table_clear(&o->table);
}

bool out_flush(struct out *o, struct err *e)
{
    flush(o);
    return loop_unbroken("printing", e);
}

void out_shorten(struct out *o)
{
    int dropped = o->mode == OUT_TEXT ? table_shorten(&o->table, ROWS_KEPT) : 0;
    if (dropped) out_text(o, "... %s more", how_many(dropped, "row").text);
}

struct out_target out_redirect(struct out *o, struct out_target to)
{
    struct out_target before = o->to;
    flush(o);
    o->to = to;
    return before;
}

struct out_target out_target(const struct out *o)
{
    return o->to;
}

static FILE *messages_of(const struct out *o)
{
    return o->to.messages ? o->to.data : o->messages;
}

/* Print a line to the stream of messages; on a terminal, wrap the line between words. */
static void put_message(struct out *o, const char *line)
{
    FILE *f = messages_of(o);
    bool with_data = f == o->to.data;
    table_wrapped(f, line, 0, 0, with_data ? columns(o) : isatty(fileno(f)) ? terminal_columns(fileno(f)) : 0);
    fflush(f);
}

bool out_end(struct out *o, struct err *e)
{
    if (o->mode == OUT_JSON && !o->printed && !o->json) json_start(o, true);
    flush(o);
    out_progress_clear(o);
    errno = 0;
    bool failed = fflush(o->to.data) || ferror(o->to.data);
    if (failed && errno == ENOMEM) return no_memory(o) || fail(e, o->err.code, "%s", o->err.text);
    if (failed) return fail_at(e, E_IO, "standard output", "cannot write: %s", strerror(errno ? errno : EIO));
    return o->err.code ? fail(e, o->err.code, "%s", o->err.text) : true;
}

static void json_error(struct out *o, const struct err *why)
{
    err_clear(&o->err);
    json_start(o, false);
    json_put(o, "error", json_string(why->text));
    json_put(o, "where", *why->where ? json_string(why->where) : cJSON_CreateNull());
    json_flush(o);
    if (o->err.code) fputs("{\"command\":null,\"ok\":false,\"error\":\"out of memory\",\"where\":null}\n", o->to.data);
}

const struct err *out_failure(const struct out *o)
{
    return &o->failure;
}

void out_failure_clear(struct out *o)
{
    err_clear(&o->failure);
}

void out_error(struct out *o, const struct err *why)
{
    o->failure = *why;
    char where[sizeof why->where * 4], text[sizeof why->text * 4];
    flush(o);
    out_progress_clear(o);
    o->printed = true;
    print_safe(why->where, strlen(why->where), sizeof why->where, where, sizeof where);
    print_safe(why->text, strlen(why->text), sizeof why->text, text, sizeof text);
    if (o->text) fprintf(o->text, "%s\n", text);
    if (o->mode == OUT_JSON && !ferror(o->to.data)) {
        json_error(o, why);
        return;
    }
    fflush(o->to.data);
    char line[sizeof o->command + sizeof where + sizeof text + 4];
    snprintf(line, sizeof line, "%s%s%s%s%s", o->command, *o->command ? ": " : "", where, *where ? ": " : "", text);
    put_message(o, line);
}

static void start_row(struct out *o, bool record)
{
    if (o->table.rows && o->records != record) flush(o);
    if (o->mode == OUT_CSV && o->table.rows == CSV_ROWS) flush(o), o->more_csv = true;
    json_flush(o);
    o->printed = true;
    o->records = record;
    if (makes_json(o)) json_start(o, true);
    if (o->mode != OUT_JSON) table_row(&o->table);
}

void out_row(struct out *o)
{
    start_row(o, false);
}

void out_record(struct out *o)
{
    start_row(o, true);
}

void out_rank(struct out *o, enum column_rank rank)
{
    o->table.rank = rank;
}

static void cell(struct out *o, const char *key, const char *heading, const char *text, bool right)
{
    if (o->table.rows && !o->within) table_add(&o->table, key, heading, text, right, o->mode == OUT_CSV, &o->err);
}

static const char *nothing(const struct out *o)
{
    return o->mode == OUT_CSV ? "" : "-";
}

void out_str(struct out *o, const char *key, const char *heading, const char *value)
{
    if (o->mode != OUT_JSON) cell(o, key, heading, value ? value : nothing(o), false);
    if (key && makes_json(o)) json_put(o, key, value ? json_string(value) : cJSON_CreateNull());
}

void out_links_by(struct out *o, const struct table_links *links)
{
    o->links = links;
}

void out_path(struct out *o, const char *key, const char *heading, const char *path)
{
    out_str(o, key, heading, path);
    if (o->mode != OUT_JSON && !o->within) table_mark_file(&o->table);
}

/* Print an integer. Readers of JSON store an integer in a double, which is exact for all counts here. */
static void whole(struct out *o, const char *key, const char *heading, int64_t value, const char *shown)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)value);
    if (o->mode != OUT_JSON) cell(o, key, heading, o->mode == OUT_CSV ? digits : shown, true);
    if (key && makes_json(o)) json_put(o, key, cJSON_CreateRaw(digits));
}

void out_int(struct out *o, const char *key, const char *heading, int64_t value)
{
    char shown[40];
    whole(o, key, heading, value, show_count(value, shown, sizeof shown));
}

void out_int_if(struct out *o, const char *key, const char *heading, bool known, int64_t value)
{
    known ? out_int(o, key, heading, value) : out_num(o, key, heading, NAN, NULL);
}

void out_bytes(struct out *o, const char *key, const char *heading, int64_t value)
{
    char shown[32];
    whole(o, key, heading, value, show_bytes((double)value, shown, sizeof shown));
}

/* Print 15 digits if they read back as the same number, otherwise 17 digits. */
static void exact(double value, char *out, size_t size)
{
    snprintf(out, size, "%.15g", value);
    if (strtod(out, NULL) != value) snprintf(out, size, "%.17g", value);
}

/* What has no digits: "inf", "-inf", "nan"; NULL for other numbers. A NaN has no sign: 0 / 0 makes one with the sign
   bit set, which printf shows as -nan. */
static const char *word_of(double value)
{
    return isnan(value) ? "nan" : !isinf(value) ? NULL : value > 0 ? "inf" : "-inf";
}

/* Print a number as JSON. JSON has no words for what is not finite, so infinity is a string, and so is NaN if it is
   a value; otherwise, NaN stands for what is not known, which is null. Integers, which most arrays hold, are printed
   without comparing digits. */
static void json_number(double value, bool nan_is_value, char *text, size_t size)
{
    bool integer = fabs(value) < 1e15 && value == trunc(value) && (value != 0 || !signbit(value));
    if (integer)
        snprintf(text, size, "%lld", (long long)value);
    else if (isfinite(value))
        exact(value, text, size);
    else if (isnan(value) && !nan_is_value)
        snprintf(text, size, "null");
    else
        snprintf(text, size, "\"%s\"", word_of(value));
}

/* `shown` is the value in the unit that text output uses. */
static void real(struct out *o, const char *key, const char *heading, double value, double shown, const char *fmt)
{
    char text[64], all[64];
    exact(value, all, sizeof all);
    snprintf(text, sizeof text, fmt ? fmt : "%.6g", shown);
    const char *number = o->mode == OUT_TEXT ? text : all;
    if (o->mode != OUT_JSON) cell(o, key, heading, isnan(value) ? nothing(o) : number, true);
    if (!key || !makes_json(o)) return;
    json_number(value, false, all, sizeof all);
    json_put(o, key, cJSON_CreateRaw(all));
}

void out_num(struct out *o, const char *key, const char *heading, double value, const char *fmt)
{
    real(o, key, heading, value, value, fmt);
}

void out_value(struct out *o, const char *key, const char *heading, double value, const char *fmt)
{
    if (isnan(value))
        out_str(o, key, heading, word_of(value));
    else
        out_num(o, key, heading, value, fmt);
}

void out_time(struct out *o, const char *key, const char *heading, double us)
{
    bool scale = o->mode == OUT_TEXT && us >= 1e4;
    double unit = !scale ? 1 : us < 1e6 ? 1e3 : 1e6;
    real(o, key, heading, us, us / unit, unit == 1 ? "%.2f us" : unit == 1e3 ? "%.2f ms" : "%.2f s");
}

void out_bool(struct out *o, const char *key, const char *heading, bool value)
{
    static const char *const words[2][2] = {{"no", "yes"}, {"false", "true"}};
    if (o->mode != OUT_JSON) cell(o, key, heading, words[o->mode == OUT_CSV][value], false);
    if (key && makes_json(o)) json_put(o, key, cJSON_CreateBool(value));
}

/* Append item to list, which becomes its owner; on failure, item is freed. */
static bool append(struct out *o, cJSON *list, cJSON *item)
{
    if (list && item && cJSON_AddItemToArray(list, item)) return true;
    cJSON_Delete(item);
    return no_memory(o);
}

static void numbers(struct out *o, const char *key, int64_t n, bool nan_is_value, const double *values)
{
    char text[64];
    if (!makes_json(o)) return;
    cJSON *list = cJSON_CreateArray();
    for (int64_t i = 0; list && i < n; i++) {
        json_number(values[i], nan_is_value, text, sizeof text);
        if (!append(o, list, cJSON_CreateRaw(text))) break;
    }
    json_put(o, key, list);
}

void out_nums(struct out *o, const char *key, int64_t n, const double *values)
{
    numbers(o, key, n, false, values);
}

void out_values(struct out *o, const char *key, int64_t n, const double *values)
{
    numbers(o, key, n, true, values);
}

/* Has the data been refused, for example because the disk is full or the reader of a pipe has ended? */
static bool refused(const struct out *o)
{
    return o->mode == OUT_JSON && ferror(o->to.data);
}

bool out_stream(struct out *o, const char *key, int64_t n, double (*value)(void *user, int64_t i), void *user,
                struct err *e)
{
    char text[64];
    if (!makes_json(o)) return true;
    if (!o->json || !json_keys(o)) return no_memory(o) || fail(e, o->err.code, "%s", o->err.text);
    cJSON_Delete(o->json);
    if (!(o->json = cJSON_CreateObject())) no_memory(o);
    json_text(o, ",\"");
    json_text(o, key);
    json_text(o, "\":[");
    struct loop l = loop_of("printing", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i) && !refused(o); i++) {
        json_number(value(user, i), true, text, sizeof text);
        if (i) json_text(o, ",");
        json_text(o, text);
    }
    json_text(o, "]");
    return loop_end(&l, e);
}

void out_strs(struct out *o, const char *key, int n, const char *const *values)
{
    if (!makes_json(o)) return;
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; list && i < n; i++)
        if (!append(o, list, json_string(values[i]))) break;
    json_put(o, key, list);
}

void out_words(struct out *o, const char *key, const char *heading, const char *words)
{
    char text[512];
    const char *word[64];
    int n = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *at = text, *one; n < COUNT(word) && (one = strtok_r(at, " ", &at)); n++) word[n] = one;
    if (o->mode != OUT_JSON) cell(o, key, heading, words, false);
    out_strs(o, key, n, word);
}

void out_list(struct out *o, const char *key)
{
    o->within = NULL;
    if (makes_json(o)) json_put(o, key, cJSON_CreateArray());
}

bool out_within(struct out *o, const char *key)
{
    o->within = NULL;
    if (!makes_json(o)) return false;
    cJSON *one = cJSON_CreateObject();
    if (append(o, cJSON_GetObjectItemCaseSensitive(o->json, key), one)) o->within = one;
    return o->within != NULL;
}

void out_without(struct out *o)
{
    o->within = NULL;
}

enum { LINE_MAX = 4096 };

/* Format a line of prose and escape control bytes in it. */
static void safe_line(char *safe, size_t size, const char *fmt, va_list ap)
{
    char line[LINE_MAX];
    vsnprintf(line, sizeof line, fmt, ap);
    print_safe(line, strlen(line), sizeof line, safe, size);
}

/* The width of the number at the start of a numbered item, such as "2. "; 0: the line has none. */
static int numbered(const char *line)
{
    int n = (int)strspn(line, "0123456789");
    return n && n <= 2 && line[n] == '.' && line[n + 1] == ' ' ? n + 2 : 0;
}

/* The indentation of wrapped lines: the column after the last gap (two or more blanks) within the first 40 columns, or
   after the number of a numbered item. */
static int hang_of(const char *line)
{
    int hang = numbered(line);
    for (int i = 0; i < 40 && line[i]; i++)
        if (i && line[i] != ' ' && line[i - 1] == ' ' && (i == 1 || line[i - 2] == ' ')) hang = i;
    return hang;
}

/* Print a line, wrapped after `width` columns; 0: not wrapped. */
static void put_text(struct out *o, const char *safe, int width)
{
    if (o->html) {
        fputs("<p>", o->to.data);
        text_html(o->to.data, safe);
        fputs("</p>\n", o->to.data);
        return;
    }
    table_wrapped(o->to.data, safe, 0, hang_of(safe), width);
    if (o->text) fprintf(o->text, "%s\n", safe);
}

void out_text(struct out *o, const char *fmt, ...)
{
    if (o->mode != OUT_TEXT) return;
    flush(o);
    out_progress_clear(o);
    char safe[4 * LINE_MAX];
    va_list ap;
    va_start(ap, fmt);
    safe_line(safe, sizeof safe, fmt, ap);
    va_end(ap);
    put_text(o, safe, columns(o));
}

void out_verbatim(struct out *o, const char *text)
{
    char safe[4 * LINE_MAX];
    if (o->mode != OUT_TEXT) return;
    flush(o);
    out_progress_clear(o);
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t n = strcspn(text, "\n");
        print_safe(text, n, sizeof safe / 4, safe, sizeof safe);
        put_text(o, safe, 0);
    }
}

static bool flows(const char *line)
{
    return *line && *line != ' ' && *line != '\n';
}

void out_prose(struct out *o, const char *text)
{
    char line[LINE_MAX];
    bool fill = columns(o) > 0;
    FILE *copy = o->text;
    if (o->mode == OUT_TEXT) flush(o); /* print earlier rows first */
    o->text = NULL;                    /* the copy receives the text before its lines are joined */
    if (copy && o->mode == OUT_TEXT) fputs(text, copy);
    while (*text) {
        int n = (int)strcspn(text, "\n");
        size_t at = (size_t)snprintf(line, sizeof line, "%.*s", n, text);
        bool more = fill && flows(text);
        for (text += n + (text[n] == '\n'); more && flows(text) && at < sizeof line; text += n + (text[n] == '\n')) {
            n = (int)strcspn(text, "\n");
            at += (size_t)snprintf(line + at, sizeof line - at, " %.*s", n, text);
        }
        out_text(o, "%s", line);
    }
    o->text = copy;
}

void out_send(struct out *o)
{
    if (o->mode != OUT_JSON) return;
    out_progress_clear(o);
    json_flush(o);
    fflush(o->to.data);
}

void out_live(struct out *o, const char *fmt, ...)
{
    if (o->mode != OUT_TEXT || !out_is_terminal(o)) return;
    flush(o);
    out_progress_clear(o);
    char safe[4 * LINE_MAX];
    va_list ap;
    va_start(ap, fmt);
    safe_line(safe, sizeof safe, fmt, ap);
    va_end(ap);
    table_wrapped(o->to.data, safe, 0, 0, columns(o));
    fflush(o->to.data);
}

void out_note(struct out *o, const char *fmt, ...)
{
    out_progress_clear(o);
    fflush(o->to.data);
    char safe[4 * LINE_MAX];
    va_list ap;
    va_start(ap, fmt);
    safe_line(safe, sizeof safe, fmt, ap);
    va_end(ap);
    char all[sizeof o->command + sizeof safe + 2];
    snprintf(all, sizeof all, "%s%s%s", o->command, *o->command ? ": " : "", safe);
    put_message(o, all);
    if (o->text) fprintf(o->text, "%s\n", safe);
}

void out_progress(struct out *o, const char *text)
{
    char safe[160];
    print_safe(text, strlen(text), 70, safe, 80);
    if (o->show_progress) {
        o->show_progress(safe);
        return;
    }
    int before = o->progress;
    o->progress = text_width(safe);
    fprintf(o->messages, "\r%s%*s", safe, before > o->progress ? before - o->progress : 0, "");
    fflush(o->messages);
}
