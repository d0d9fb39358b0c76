/* edit: a line, or a file, in the user's editor. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/words.h"
#include "explorer.h"
#include "language/args.h"
#include "line_history.h"
#include "prompt.h"
#include "screen.h"
#include "session/command.h"
#include "session/session.h"
#include "session/shell.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EDITOR_WORDS = 16 };

/* ---- the editor ---- */

/* $VISUAL, $EDITOR or vi, as words separated by blanks. */
struct editor {
    char text[1024];
    char *argv[EDITOR_WORDS + 2]; /* also the file, and NULL */
};

static bool editor_find(struct editor *d, const char *file, struct err *e)
{
    static const char *const from[] = {"VISUAL", "EDITOR"};
    const char *value = "vi";
    int n = 0;
    for (int i = COUNT(from); i-- > 0;) {
        const char *set = getenv(from[i]);
        if (set && set[strspn(set, " ")]) value = set;
    }
    snprintf(d->text, sizeof d->text, "%s", value);
    for (char *rest = d->text, *word; n < EDITOR_WORDS && (word = strsep(&rest, " "));)
        if (*word) d->argv[n++] = word;
    if (n == EDITOR_WORDS || strlen(value) >= sizeof d->text)
        return fail(e, E_LIMIT, "the editor in $VISUAL or $EDITOR has too many words: at most %d", EDITOR_WORDS - 1);
    d->argv[n] = (char *)file;
    return true;
}

static bool edit_file(struct session *s, const char *file, struct err *e)
{
    struct editor d = {0};
    return editor_find(&d, file, e) && program_run(s, d.argv, e);
}

static void offer(struct session *s, const char *line)
{
    if (screen_explorer(s)->on)
        explore_offer(s, line);
    else
        prompt_offer(line);
}

/* ---- a line ---- */

static bool is_edit(const char *line)
{
    line += strspn(line, " \t:");
    return !strncmp(line, "edit", 4) && !isalnum((unsigned char)line[4]);
}

/* The newest line that contains this text and is no `edit`; NULL: there is none. */
static const char *line_with(const char *text)
{
    for (int i = line_history_count(); i-- > 0;)
        if (!is_edit(line_history_at(i)) && strstr(line_history_at(i), text)) return line_history_at(i);
    return NULL;
}

static bool write_all(int fd, const char *text)
{
    size_t n = strlen(text);
    return write(fd, text, n) == (ssize_t)n && write(fd, "\n", 1) == 1;
}

/* One line of what the editor wrote: the ends of lines become `;`. */
static bool read_line(const char *path, char line[LINE_LIMIT + 2], struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, LINE_LIMIT + 1);
    int why = errno;
    if (fd >= 0) close(fd);
    if (n < 0) return fail(e, E_IO, "cannot read what the editor wrote: %s", strerror(why));
    if (n > LINE_LIMIT) return fail(e, E_LIMIT, "the text is too long for a line: at most %d bytes", LINE_LIMIT);
    if (memchr(line, 0, (size_t)n)) return fail(e, E_INPUT, "the editor wrote a NUL byte, which is no text");
    while (n && isspace((unsigned char)line[n - 1])) n--;
    line[n] = 0;
    for (char *c = line; *c; c++)
        if (*c == '\n') *c = ';';
    return true;
}

static bool edit_line(struct session *s, struct err *e)
{
    const char *last = line_with(""), *folder = getenv("TMPDIR");
    char path[4096], line[LINE_LIMIT + 2];
    snprintf(path, sizeof path, "%s/warpspy-XXXXXX.ws", folder && *folder == '/' ? folder : "/tmp");
    if (!last) return fail(e, E_USAGE, "nothing was typed before; `edit FILE` edits a file");
    int fd = mkostemps(path, 3, O_CLOEXEC);
    if (fd < 0) return fail(e, E_IO, "cannot create a file for the editor: %s", strerror(errno));
    bool ok = write_all(fd, last) || fail(e, E_IO, "cannot write the file for the editor: %s", strerror(errno));
    close(fd);
    ok = ok && edit_file(s, path, e) && read_line(path, line, e);
    unlink(path);
    if (ok && *line) offer(s, line);
    return ok;
}

/* ---- a file ---- */

/* The newest line that names the file, or the command that reads such a file. */
static bool edit_named(struct session *s, const char *file, struct err *e)
{
    char word[4096], line[4200];
    const char *dot = strrchr(file, '.');
    if (!edit_file(s, file, e)) return false;
    snprintf(line, sizeof line, "%s %s", dot && !strcmp(dot, ".cu") ? "try" : "source",
             word_join(file, word, sizeof word));
    const char *before = line_with(file);
    offer(s, before ? before : line);
    return true;
}

static bool run_edit(struct session *s, const struct args *a, struct err *e)
{
    if (!s->interactive) return fail(e, E_UNSUPPORTED, "an editor needs a terminal for input and output");
    if (!shell_is_allowed(s, e)) return false;
    line_history_open(s->out);
    return arg(a, "file") ? edit_named(s, arg(a, "file"), e) : edit_line(s, e);
}

const struct command command_edit = {
    .name = "edit",
    .grammar = "[FILE]",
    .about = "edit the last line, or a file such as a kernel, in your editor",
    .help =
        "Starts $VISUAL, $EDITOR or vi, without a shell. Without FILE, the editor has the last line that you typed;\n"
        "what you save is put on the prompt, where Enter runs it. Several lines are joined by `;`. With FILE, the\n"
        "last line that named the file is put on the prompt, or `try FILE` if it ends in .cu.\n"
        "    edit; edit saxpy.cu",
    .run = run_edit,
    .unrecorded = true,
};
