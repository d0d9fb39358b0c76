/* A recording: the commands of a session are written to a file as they run, with time, duration and result. */
#include "record.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/target.h"
#include "base/text.h"
#include "base/words.h"
#include "command.h"
#include "session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- while recording ---- */

/* A failed write ends the recording, but not the command. */
static void keep(struct session *s)
{
    struct record *r = s->record;
    if (!fflush(r->file) && !ferror(r->file)) return;
    out_begin(s->out, "record");
    out_note(s->out, "%s: cannot write: %s; the recording ends here", r->name, strerror(errno));
    record_end(s);
}

static const char *clock_of(const char *fmt, char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    strftime(out, size, fmt, gmtime_r(&now, &tm));
    return out;
}

static bool left_out(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " "), text);
    const struct command *c = command_typed(name);
    return c && c->unrecorded;
}

void record_command(struct session *s, const char *text, const struct err *why, double us)
{
    struct record *r = s->record;
    char safe[4 * LINE_LIMIT], reason[2 * sizeof((struct err *)0)->text], at[64];
    if (!r || s->nested > r->nested || left_out(text)) return;
    bool is_one_line = !strchr(text, '\n') && strlen(text) <= LINE_LIMIT;
    fprintf(r->file, "# %s\n", clock_of("%F %T UTC", at, sizeof at));
    if (!why && is_one_line)
        fprintf(r->file, "%s\n# ok, %.2f ms\n", text, us / 1000);
    else
        fprintf(r->file, "# %s: %s\n", why ? "failed, left out" : "cannot be typed, left out",
                print_safe(text, strlen(text), LINE_LIMIT, safe, sizeof safe));
    if (why && *why->text)
        fprintf(r->file, "#   %s\n",
                print_safe(why->text, strlen(why->text), sizeof reason / 2, reason, sizeof reason));
    r->commands++;
    r->failed += why != NULL;
    keep(s);
}

void record_end(struct session *s)
{
    if (!s->record) return;
    fclose(s->record->file);
    mem_free(s->record);
    s->record = NULL;
}

bool record_is(const struct session *s, FILE *f)
{
    struct stat a, b;
    return s->record && !fstat(fileno(f), &a) && !fstat(fileno(s->record->file), &b) && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* ---- beginning ---- */

FILE *record_open(const char *name, struct err *e)
{
    struct target t;
    int fd = target_open(&t, name, BY_LINE, e) ? target_descriptor(&t, name, true, e) : -1;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (fd >= 0 && !f) close(fd), fail_at(e, E_MEMORY, name, "out of memory for a stream");
    target_close(&t);
    return f;
}

bool record_begin(struct session *s, const char *name, struct err *e)
{
    char at[64];
    struct record *r = mem_zero(1, sizeof *r, "a recording", e);
    if (!r) return false;
    r->file = record_open(name, e);
    if (!r->file) return mem_free(r), false;
    print_safe(name, strlen(name), 120, r->name, sizeof r->name);
    r->nested = s->nested - 1;
    s->record = r;
    fprintf(r->file, "# recorded by warpspy %s from %s; `replay` runs it again\n", WARPSPY_VERSION,
            clock_of("%F %T UTC", at, sizeof at));
    if (!fflush(r->file)) return true;
    fail_at(e, E_IO, name, "cannot write: %s", strerror(errno));
    record_end(s);
    return false;
}
