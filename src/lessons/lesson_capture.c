/* Captures the output of a lesson's commands. Answers are computed from its rows, and expected lines are compared with
   its text. */
#include "base/err.h"
#include "language/quiet_line.h"
#include "language/run_lines.h"
#include "lesson.h"
#include "session/command.h"
#include "session/session.h"

#include <string.h>

static bool no_memory(struct err *e)
{
    return fail(e, E_MEMORY, "out of memory for the output of a command; drop a matrix and try again");
}

static bool open_both(struct capture *h, struct err *e)
{
    return (h->rows.file || memfile_open(&h->rows, e)) && (h->text.file || memfile_open(&h->text, e));
}

void capture_free(struct capture *h)
{
    memfile_free(&h->rows);
    memfile_free(&h->text);
    *h = (struct capture){0};
}

bool capture_quietly(struct session *s, const char *line, struct capture *h, struct err *e)
{
    struct err why = {0};
    if (!open_both(h, e)) return false;
    return run_quietly(s, line, h->rows.file, h->text.file, &why) ||
           fail(e, why.code == E_MEMORY ? E_MEMORY : E_INPUT, "`%.100s` fails: %s", line, why.text);
}

/* Does the first command of the line print rows only in JSON mode? */
static bool rows_only_in_json(const char *line)
{
    char name[32];
    line += strspn(line, " \t");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " ;"), line);
    const struct command *c = command_typed(name);
    return c && c->rows_only_in_json;
}

bool capture_line(struct session *s, const char *line, bool rows, struct capture *h, struct err *e)
{
    if (!open_both(h, e) || !memfile_sync(&h->text, e)) return false;
    h->from = h->text.n;
    out_listen(s->out, h->rows.file, h->text.file);
    bool ok = run_line(s, line);
    out_listen(s->out, NULL, NULL);
    return ok && (!rows || out_mode(s->out) != OUT_TEXT || !rows_only_in_json(line) || capture_quietly(s, line, h, e));
}

cJSON *capture_rows(struct capture *h, struct err *e)
{
    if (!memfile_sync(&h->rows, e)) return NULL;
    cJSON *all = cJSON_CreateArray();
    for (const char *at = h->rows.text, *end; all && (end = strchr(at, '\n')); at = end + 1) {
        cJSON *row = cJSON_ParseWithLength(at, (size_t)(end - at));
        if (row && cJSON_AddItemToArray(all, row)) continue;
        cJSON_Delete(row);
        cJSON_Delete(all);
        all = NULL;
    }
    if (!all) no_memory(e);
    return all;
}

/* ---- expected text ---- */

enum { CAPTURE_LINE_MAX = 4096 };

/* Copy n bytes of a line, leave out the blanks at both ends, and replace each run of blanks by a single blank. */
static const char *squeeze(const char *line, size_t n, char out[CAPTURE_LINE_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < CAPTURE_LINE_MAX; i++) {
        bool blank = line[i] == ' ' || line[i] == '\t' || line[i] == '\r';
        if (!blank) out[used++] = line[i];
        if (blank && used && out[used - 1] != ' ') out[used++] = ' ';
    }
    if (used && out[used - 1] == ' ') used--;
    out[used] = 0;
    return out;
}

static bool matches(const char *line, const char *pattern)
{
    const char *star = NULL, *retry = NULL;
    while (*line) {
        if (*pattern == '*')
            star = pattern++, retry = line;
        else if (*pattern == *line)
            pattern++, line++;
        else if (star)
            pattern = star + 1, line = ++retry;
        else
            return false;
    }
    return !pattern[strspn(pattern, "*")];
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

/* No line matches: show the line whose beginning matches best. */
static bool no_match(const struct capture *h, const char *pattern, struct err *e)
{
    char line[CAPTURE_LINE_MAX], best[CAPTURE_LINE_MAX] = "";
    size_t most = 0;
    bool any = false;
    for (const char *at = h->text.text + h->from; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        squeeze(at, strcspn(at, "\n"), line);
        bool better = *line && (!any || common_prefix(line, pattern) > most);
        if (better) memcpy(best, line, sizeof best);
        if (better) most = common_prefix(line, pattern);
        any |= *line;
    }
    if (!any) return fail(e, E_INPUT, "the output has no further line, so `%.150s` is missing", pattern);
    return fail(e, E_INPUT, "the output has no line `%.150s`; the nearest is `%.150s`", pattern, best);
}

bool capture_expect(struct capture *h, const char *pattern, struct err *e)
{
    char expected[CAPTURE_LINE_MAX], line[CAPTURE_LINE_MAX];
    squeeze(pattern, strlen(pattern), expected);
    if (!memfile_sync(&h->text, e)) return false;
    for (const char *at = h->text.text + h->from; *at;) {
        size_t n = strcspn(at, "\n");
        bool found = matches(squeeze(at, n, line), expected);
        at += n + (at[n] == '\n');
        if (found) return h->from = (size_t)(at - h->text.text), true;
    }
    return no_match(h, expected, e);
}
