/* Redirection: find a redirection at the end of a line, open its target, and send the command's output to the
   target. */
#include "redirect.h"
#include "base/err.h"
#include "base/numeral.h"
#include "base/text.h"
#include "base/words.h"
#include "session/allow.h"
#include "session/session.h"
#include "session/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the words ---- */

static bool is_number(const char *text)
{
    double value;
    return is_real(text, &value);
}

static bool take_shell(struct redirect *r, const struct words *w, struct err *e)
{
    r->to = REDIRECT_SHELL;
    r->target = w->pipe;
    if (!*w->pipe) return fail(e, E_USAGE, "a shell command is missing after `|`");
    for (int i = 1; i + 1 < w->n; i++)
        if (w->w[i].arrow && i + 2 == w->n && !is_number(w->w[i + 1].text))
            return fail(e, E_USAGE, "the output goes to a file or to a shell command, not to both; use `| tee FILE`");
    return true;
}

/* The index of the `>` of a redirection. The `>` precedes the last word; if that word is `force`, it precedes the last
   two words. 0: there is no redirection. */
static int last_arrow(const struct words *w)
{
    const struct word *last = &w->w[w->n - 1];
    if (w->n > 2 && last[-1].arrow) return w->n - 2;
    bool force = w->n > 3 && !last->quoted && !strcmp(last->text, "force");
    return force && last[-2].arrow ? w->n - 3 : 0;
}

/* Does the word `at`, an arrow, compare in a command with conditions? It compares before a number, and where a
   condition, which begins the command or follows `and`, has no number yet. There, only a word that must be a path is a
   file. */
static bool is_comparison(const struct words *w, int at)
{
    bool open = true;
    const struct word *operand = &w->w[at + 1];
    if (operand->quoted) return false;
    if (is_number(operand->text)) return true;
    for (int i = 1; i < at; i++)
        if (!w->w[i].quoted) open = (open || !strcmp(w->w[i].text, "and")) && !is_number(w->w[i].text);
    bool is_name = strchr(operand->text, '.') && !strchr("+-.0123456789", operand->text[0]);
    return open && !w->w[at].text[1] && !strchr(operand->text, '/') && !is_name;
}

/* Report a > that is not followed by one file name. */
static bool check_arrows(const struct words *w, struct err *e)
{
    for (int i = 1; i < w->n; i++)
        if (w->w[i].arrow)
            return fail(e, E_USAGE,
                        i + 1 == w->n ? "a file is missing after `%s`"
                                      : "`%s FILE` or `%s FILE force` must be the end of the command",
                        w->w[i].text, w->w[i].text);
    return true;
}

bool redirect_take(struct redirect *r, struct words *w, bool compares, struct err *e)
{
    if (w->pipe) return take_shell(r, w, e);
    int at = last_arrow(w);
    const struct word *file = &w->w[at + 1];
    if (at && compares && is_comparison(w, at)) at = 0;
    if (at) {
        r->to = w->w[at].text[1] ? REDIRECT_APPEND : REDIRECT_NEW;
        r->target = file->text;
        r->force = at + 3 == w->n;
        w->n = at;
    }
    return compares || check_arrows(w, e);
}

/* ---- the target ---- */

static bool cannot(const char *path, const char *doing, struct err *e)
{
    char safe[256];
    return fail_at(e, E_IO, print_safe(path, strlen(path), 200, safe, sizeof safe), "cannot %s: %s", doing,
                   strerror(errno));
}

/* Open a file to append to, or a path that is not a regular file, such as /dev/null. A pipe without a reader is
   refused. */
static bool open_directly(struct redirect *r, struct err *e)
{
    int fd = target_descriptor(&r->itself, r->target, false, e);
    if (fd < 0) return false;
    fcntl(fd, F_SETFL, O_APPEND);
    r->stream = fdopen(fd, "a");
    return r->stream || (close(fd), cannot(r->target, "open", e));
}

static bool open_new(struct redirect *r, struct err *e)
{
    if (!newfile_open(&r->file, r->target, r->force, e)) return false;
    int fd = fcntl(r->file.fd, F_DUPFD_CLOEXEC, 3);
    r->stream = fd < 0 ? NULL : fdopen(fd, "w");
    return r->stream || (newfile_fail(&r->file, "open the file", errno, e), newfile_close(&r->file, false, NULL));
}

static bool open_target(struct redirect *r, struct session *s, struct err *e)
{
    struct stat st;
    if (r->to == REDIRECT_SHELL) {
        bool ok = shell_is_allowed(s, e) && memfile_open(&r->text, e);
        r->stream = r->text.file;
        return ok;
    }
    bool special = !stat(r->target, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
    if (r->to == REDIRECT_NEW && special) r->to = REDIRECT_APPEND;
    if (r->to == REDIRECT_NEW) return open_new(r, e);
    bool ok = target_open(&r->itself, r->target, BY_LINE, e) && open_directly(r, e);
    target_close(&r->itself);
    return ok;
}

/* A flush that fails discards what it could not write, so that only its own errno tells the reason. */
static void flush_stream(struct redirect *r)
{
    errno = 0;
    if (fflush(r->stream) && !r->cause) r->cause = errno;
}

static bool close_file(struct redirect *r, bool keep, struct err *e)
{
    flush_stream(r);
    bool failed = ferror(r->stream);
    if (r->to == REDIRECT_APPEND) target_written(&r->itself, fileno(r->stream));
    if (fclose(r->stream)) failed = true, r->cause = r->cause ? r->cause : errno;
    errno = r->cause ? r->cause : EIO;
    if (r->to == REDIRECT_APPEND) return !failed || cannot(r->target, "write the file", e);
    if (failed) newfile_fail(&r->file, "write the file", errno, e);
    return newfile_close(&r->file, keep && !failed, e) || !keep;
}

/* ---- the form of the output ---- */

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);
    return n > k && !strcasecmp(name + n - k, end);
}

/* The end of a file's name chooses the form of its content. */
static enum out_mode form_of(const struct redirect *r, enum out_mode mode)
{
    static const struct {
        const char *end;
        enum out_mode mode;
    } forms[] = {{".csv", OUT_CSV}, {".json", OUT_JSON}, {".jsonl", OUT_JSON}};
    for (int i = 0; r->to != REDIRECT_SHELL && i < COUNT(forms); i++)
        if (ends_in(r->target, forms[i].end)) return forms[i].mode;
    return mode;
}

/* The width of text for a pager, which shows it on the terminal; 0: no limit. */
static int pager_columns(const struct redirect *r, const struct out *o)
{
    static const char *const pagers[] = {"less", "more", "most"};
    size_t n = strcspn(r->target, " \t");
    for (int i = 0; r->to == REDIRECT_SHELL && i < COUNT(pagers); i++)
        if (n == strlen(pagers[i]) && !strncmp(r->target, pagers[i], n)) return out_columns(o);
    return 0;
}

bool redirect_begin(struct redirect *r, struct session *s, struct err *e)
{
    struct stat st;
    if (r->to == REDIRECT_NONE) return true;
    if (!open_target(r, s, e)) return r->to = REDIRECT_NONE, false;
    r->mode_before = out_mode(s->out);
    r->array = r->to == REDIRECT_NEW && r->mode_before != OUT_JSON && ends_in(r->target, ".json");
    if (r->array && !memfile_open(&r->text, e)) return close_file(r, false, NULL), r->to = REDIRECT_NONE, false;
    bool filled = r->to == REDIRECT_APPEND && !fstat(fileno(r->stream), &st) && st.st_size > 0;
    r->before = out_redirect(s->out, (struct out_target){.data = r->array ? r->text.file : r->stream,
                                                         .columns = pager_columns(r, s->out),
                                                         .csv_before = filled,
                                                         .redirected = true});
    out_set_mode(s->out, form_of(r, r->mode_before));
    return true;
}

static bool write_array(struct redirect *r, bool keep, struct err *e)
{
    bool ok = memfile_close(&r->text, keep, e);
    if (ok) out_json_array(r->stream, r->text.text);
    memfile_free(&r->text);
    return ok || !keep;
}

static bool feed_shell(struct redirect *r, struct session *s, bool run, struct err *e)
{
    bool ok = memfile_close(&r->text, run, e) && shell_feed(s, r->target, r->text.text, r->text.n, e);
    memfile_free(&r->text);
    return ok || !run;
}

bool redirect_end(struct redirect *r, struct session *s, bool ok, struct err *e)
{
    if (r->to == REDIRECT_NONE) return ok;
    out_redirect(s->out, r->before);
    out_set_mode(s->out, r->mode_before);
    if (r->array) fflush(r->text.file);
    flush_stream(r);
    bool shell = r->to == REDIRECT_SHELL, keep = ok || (shell || r->array ? r->text.n > 0 : ftello(r->stream) > 0);
    struct err late = {0};
    bool written = !r->array || write_array(r, keep, &late);
    bool ended = shell ? feed_shell(r, s, keep, &late) : close_file(r, keep && written, &late) && written;
    if (!ok || ended) return ok;
    return fail_at(e, late.code, late.where, "%s", late.text);
}
