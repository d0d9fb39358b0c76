/* Runs lines, and the scripts that contain them. */
#include "run_lines.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "files/file.h"
#include "grammar.h"
#include "machine/device.h"
#include "redirect.h"
#include "session/alias.h"
#include "session/command.h"
#include "session/front.h"
#include "session/record.h"
#include "session/session.h"
#include "session/shell.h"

#include <errno.h>
#include <string.h>

bool command_split(struct words *w, const char **line, struct err *e)
{
    char name[32];
    *line += strspn(*line, " \t");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(*line, " \t;"), *line);
    const struct command *c = command_typed(name);
    return (c && c->formula ? words_split_formula : words_split)(w, line, e);
}

/* ---- one command ---- */

/* End a command: report its error, reset a lost device, and print pending output. */
static bool finish(struct session *s, bool ok, struct err *e)
{
    if (s->front && s->front->calm) s->front->calm(s);
    if (!ok && !*e->where && s->script)
        snprintf(e->where, sizeof e->where, "%.200s:%lld", s->script, (long long)s->script_line);
    if (e->code == E_CANCELLED) out_shorten(s->out);
    if (!ok && e->code) out_error(s->out, e); /* an error without a code was reported earlier */
    if (!ok && s->used && s->used->lost) session_device_lost(s, s->used);
    if (e->code == E_CANCELLED && s->batch) s->quit = true;
    s->used = NULL;
    struct err late = {0};
    if (out_end(s->out, &late)) return ok;
    out_error(s->out, &late);
    if (late.code == E_IO) s->quit = true;
    return false;
}

static bool ambiguous_command(const char *word, int n, struct err *e)
{
    struct message t = {.of = n};
    struct begins x = {word, message_item, &t};
    registry_list(&command_registry, give_beginning, &x);
    return fail(e, E_USAGE, "this could be %s; type more letters", t.text);
}

static bool unknown_command(const struct session *s, struct words *w, struct err *e)
{
    char safe[256], path[512];
    struct suggest near = suggest_for(w->w[0].text);
    struct abbreviation x = {.typed = w->w[0].text};
    if (is_option(w->w[0].text)) return refuse_option(w->w[0].text, e);
    registry_list(&command_registry, abbreviation_offer, &x);
    if (x.n > 1) return ambiguous_command(w->w[0].text, x.n, e);
    registry_list(&command_registry, suggest_offer, &near);
    if (!s->lines.from) alias_list(s, suggest_offer, &near);
    word_join(w->w[0].text, path, sizeof path);
    if (file_is_likely(w->w[0].text))
        return fail(e, E_USAGE, "there is no such command; did you mean `load %s`?",
                    print_safe(path, strlen(path), 200, safe, sizeof safe));
    if (*near.best) return fail(e, E_USAGE, "there is no such command; did you mean `%s`?", near.best);
    return fail(e, E_USAGE, "there is no such command; `help` lists all commands");
}

static void begin_change(struct session *s, const char *typed)
{
    char safe[sizeof s->undo.now.command];
    undo_begin(s, print_safe(typed, strlen(typed), sizeof safe - 24, safe, sizeof safe));
}

/* Returns when the command began: now. */
static double begin_clock(struct session *s)
{
    SCREEN_EDIT;
    progress_begin(&s->progress);
    return s->began_us = now_us();
}

/* The log lists the commands of a script, but not the command that runs the script. The log lists the command that runs
   a lesson or a sweep, but not the commands of the lesson or sweep. */
static bool is_listed(const struct session *s, const struct command *c)
{
    return !c->runs_script && !s->folder && !s->aside;
}

/* Run a command without the screen lock, which this thread may have. */
static bool run_split(struct session *s, struct words *w)
{
    struct err e = {0};
    bool gave = screen_lock_give();
    struct args a;
    struct redirect to = {0};
    const struct command *c = command_typed(w->w[0].text);
    if (c) w->w[0].text = (char *)c->name; /* the log and recordings hold no abbreviations of commands */
    char name[64], typed[2 * LINE_LIMIT], outer[sizeof s->undo.now.command];
    out_begin(s->out, c ? c->name : print_safe(w->w[0].text, strlen(w->w[0].text), 59, name, sizeof name));
    if (!s->batch && !s->nested) session_take_interrupt();
    double began = begin_clock(s);
    words_join(w, typed, sizeof typed);
    snprintf(outer, sizeof outer, "%s", s->undo.now.command);
    begin_change(s, typed);
    s->nested++;
    const struct command *outer_command = s->command;
    s->command = c;
    struct watch *before = loop_enter(&s->watch);
    bool ok = !session_interrupted() || fail(&e, E_CANCELLED, "cancelled");
    if (ok) ok = redirect_take(&to, w, c && c->compares, &e);
    if (ok) ok = c ? args_match(&a, s, c, w, &e) : unknown_command(s, w, &e);
    if (ok) ok = redirect_begin(&to, s, &e);
    if (ok) ok = redirect_end(&to, s, c->run(s, &a, &e) && out_flush(s->out, &e), &e);
    if (ok && s->batch && session_interrupted()) ok = fail(&e, E_CANCELLED, "cancelled");
    loop_enter(before);
    s->command = outer_command;
    s->nested--;
    mem_lazy(false);
    ok = finish(s, ok, &e);
    s->ran += ok;
    if (ok && is_listed(s, c)) log_add(&s->log, typed);
    undo_end(s);
    if (s->nested) undo_begin(s, outer);
    s->took_us = now_us() - began;
    record_command(s, typed, ok ? NULL : &e, s->took_us);
    if (s->front && s->front->shown) s->front->shown(s);
    screen_lock_back(gave);
    return ok;
}

bool run_words(struct session *s, int n, const char *const *word)
{
    struct words w = {.n = n};
    for (int i = 0; i < n; i++) {
        size_t size = strlen(word[i]) + 1;
        if (w.used + size > sizeof w.text) {
            struct err e = {0};
            fail(&e, E_LIMIT, "the command is too long: at most %d bytes", LINE_LIMIT);
            return finish(s, false, &e);
        }
        w.w[i] = (struct word){memcpy(w.text + w.used, word[i], size), true, false};
        w.used += size;
    }
    return run_split(s, &w);
}

/* ---- lines ---- */

/* !command: the rest of the line goes to the shell. */
static bool shell(struct session *s, const char *line)
{
    struct err e = {0};
    double began = now_us();
    bool gave = screen_lock_give();
    out_begin(s->out, "!");
    bool ok = finish(s, shell_run(s, line, &e), &e);
    screen_lock_back(gave);
    char typed[LINE_LIMIT + 2];
    snprintf(typed, sizeof typed, "!%s", line);
    record_command(s, typed, ok ? NULL : &e, now_us() - began);
    return ok;
}

static bool refuse_line(struct session *s, struct err *e)
{
    out_begin(s->out, "warpspy");
    return finish(s, false, e);
}

const struct alias *alias_typed(const struct session *s, const char *line, size_t *n)
{
    *n = strcspn(line, " \t;");
    return s->lines.from ? NULL : alias_find(s, line, *n);
}

static bool run_from(struct session *s, const char *line, int depth);

/* Run the line of the alias, followed by the rest of the typed line. */
static bool run_alias(struct session *s, const struct alias *a, const char *rest, int depth)
{
    enum { DEPTH_MAX = 10 };
    char line[LINE_LIMIT + 2];
    struct err e = {0};
    int n = snprintf(line, sizeof line, "%s%s", a->line, rest);
    if (depth == DEPTH_MAX) {
        fail(&e, E_LIMIT, "more than %d aliases are nested; does `%s` use itself?", DEPTH_MAX, a->name);
        return refuse_line(s, &e);
    }
    if (n > LINE_LIMIT) {
        fail(&e, E_LIMIT, "the line is too long with the alias `%s`: at most %d bytes", a->name, LINE_LIMIT);
        return refuse_line(s, &e);
    }
    return run_from(s, line, depth + 1);
}

static bool run_from(struct session *s, const char *line, int depth)
{
    struct words w;
    struct err e = {0};
    size_t n;
    while (*line && !s->quit) {
        line += strspn(line, " \t");
        if (*line == '!') return shell(s, line + 1);
        const struct alias *a = alias_typed(s, line, &n);
        if (a) return run_alias(s, a, line + n, depth);
        if (!command_split(&w, &line, &e)) return refuse_line(s, &e);
        if (w.n && !run_split(s, &w)) return false;
    }
    return true;
}

bool run_line(struct session *s, const char *line)
{
    struct err e = {0};
    if (strnlen(line, LINE_LIMIT + 1) > LINE_LIMIT) {
        fail(&e, E_LIMIT, "the line is too long: at most %d bytes; split it", LINE_LIMIT);
        return refuse_line(s, &e);
    }
    return run_from(s, line, 0);
}

/* ---- scripts ---- */

enum got line_next(FILE *f, char *line, struct err *e)
{
    size_t n = 0;
    int c;
    bool nul = false;
    while ((c = getc(f)) != EOF && c != '\n') {
        nul |= c == 0;
        if (n <= LINE_LIMIT) line[n++] = (char)c;
    }
    line[n < LINE_LIMIT ? n : LINE_LIMIT] = 0;
    if (n && line[n - 1] == '\r') line[n - 1] = 0;
    if (nul)
        fail(e, E_INPUT, "the line contains a NUL byte; this is not a text file");
    else if (n > LINE_LIMIT)
        fail(e, E_LIMIT, "the line is too long: at most %d bytes; split it", LINE_LIMIT);
    else
        return c == EOF && !n ? GOT_END : GOT_LINE;
    return GOT_BAD;
}

static bool read_failed(struct session *s, FILE *f)
{
    struct err e = {0};
    if (!ferror(f) || errno == EINTR) return false;
    fail(&e, E_IO, "cannot read: %s", strerror(errno));
    refuse_line(s, &e);
    return true;
}

bool run_stream(struct session *s, FILE *f, const char *name, bool stop)
{
    char line[LINE_LIMIT + 2];
    const char *outer = s->script;
    int64_t outer_line = s->script_line;
    bool all = true;
    enum got got;
    struct err e = {0};
    s->script = name;
    s->script_line = 1;
    for (; !s->quit && (got = line_next(f, line, &e)) != GOT_END; s->script_line++, err_clear(&e)) {
        bool bom = s->script_line == 1 && !strncmp(line, "\xef\xbb\xbf", 3);
        bool ok = got == GOT_LINE ? run_line(s, line + (bom ? 3 : 0)) : refuse_line(s, &e);
        all &= ok;
        if (!ok && stop) break;
    }
    if (read_failed(s, f)) all = false;
    s->script = outer;
    s->script_line = outer_line;
    return all;
}

bool run_file(struct session *s, FILE *f, const char *name)
{
    return run_stream(s, f, name, true);
}
