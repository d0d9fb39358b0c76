/* The history of typed lines, in a file in the user's state directory. */
#include "line_history.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xdg.h"
#include "report/output.h"
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

enum { HISTORY_MAX = 5000, HISTORY_BYTES = 4 << 20 };

/* Static, because readline has one history. */
static bool opened;
static char history_file[512]; /* empty: not kept */

/* Add the lines from `at` to `end`, which may be overwritten, to the history. A longer line, and a line with a NUL, is
   not a command. */
static void add_lines(char *at, char *end)
{
    for (char *next; at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (!next) next = end;
        *next = 0;
        size_t n = strlen(at);
        if (n && n <= LINE_LIMIT && at + n == next) add_history(at);
    }
}

/* The end of the file, of at most HISTORY_BYTES, without the line that begins before it: from *at to *end. The caller
   releases the result, which is NULL if nothing can be read. */
static char *end_of(int fd, off_t size, char **at, char **end)
{
    off_t from = size > HISTORY_BYTES ? size - HISTORY_BYTES : 0;
    char *text = mem_new(HISTORY_BYTES + 1, 1, "the history of commands", NULL);
    ssize_t n = text ? pread(fd, text, HISTORY_BYTES, from) : 0;
    if (n <= 0) return mem_free(text), NULL;
    char *first = from ? memchr(text, '\n', (size_t)n) : NULL;
    *end = text + n;
    *at = first ? first + 1 : from ? *end : text;
    return text;
}

static void read_end(int fd, off_t size)
{
    char *at, *end, *text = end_of(fd, size, &at, &end);
    if (text) add_lines(at, end);
    mem_free(text);
}

/* Read the history. Returns why it cannot be used, or NULL. A pipe or device in its place does not delay the prompt. */
static const char *history_read(void)
{
    struct stat st;
    int fd = open(history_file, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0) return strerror(errno);
    bool regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
    if (regular) read_end(fd, st.st_size);
    close(fd);
    return regular ? NULL : "it is not a regular file";
}

static void load(struct out *o)
{
    char name[256];
    bool known = xdg_path("XDG_STATE_HOME", ".local/state", "warpspy/history", history_file, sizeof history_file);
    const char *why = !known ? strerror(ENOENT) : !xdg_make_folders(history_file) ? strerror(errno) : history_read();
    if (!why) return;
    out_note(o, "the history of commands is not saved: cannot write %s: %s",
             print_safe(history_file, strlen(history_file), 200, name, sizeof name), why);
    history_file[0] = 0;
}

/* Replace a file that is too large to be read at once by its end. */
static void cut_file(off_t size)
{
    char *at, *end, *text;
    struct newfile f;
    int fd = open(history_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    if ((text = end_of(fd, size, &at, &end)))
        newfile_close(&f, newfile_open_own(&f, history_file, true, NULL) && newfile_write(&f, at, end - at, NULL),
                      NULL);
    mem_free(text);
    close(fd);
}

/* Keep the last lines only. */
static void shorten(void)
{
    struct stat st;
    if (!history_file[0] || stat(history_file, &st) || !S_ISREG(st.st_mode)) return;
    if (st.st_size > HISTORY_BYTES) cut_file(st.st_size);
    history_truncate_file(history_file, HISTORY_MAX);
}

void line_history_open(struct out *o)
{
    if (opened) return;
    opened = true;
    using_history();
    stifle_history(HISTORY_MAX);
    load(o);
}

void line_history_close(void)
{
    if (!opened) return;
    shorten();
    rl_clear_history(); /* also frees the undo lists of changed history lines */
    opened = false;
}

void line_history_keep(const char *line)
{
    HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
    if (!line[strspn(line, " \t")] || (last && !strcmp(last->line, line))) return;
    add_history(line);
    if (history_file[0] && !stage_now()) append_history(1, history_file);
}

int line_history_count(void)
{
    return opened ? history_length : 0;
}

const char *line_history_at(int i)
{
    HIST_ENTRY *entry = history_get(history_base + i);
    return entry && entry->line ? entry->line : "";
}
