/* The commands of a session that succeeded, kept so that a report can show how its results were made. */
#include "command_log.h"
#include "base/mem.h"

#include <string.h>

enum { LOG_MAX = 1 << 18 };

/* Drop the older half of the log if it is too long. */
static void drop_half(struct command_log *log)
{
    char *half = memchr(log->text + log->size / 2, '\n', log->size - log->size / 2);
    if (!half) return;
    log->size -= (size_t)(half + 1 - log->text);
    memmove(log->text, half + 1, log->size + 1);
    log->cut = true;
}

void log_add(struct command_log *log, const char *typed)
{
    size_t n = strcspn(typed, "\n");
    char *more = mem_resize(log->text, (int64_t)(log->size + n + 2), 1, "the list of commands", NULL);
    if (!more) { /* append the command, which has succeeded */
        log->cut = true;
        return;
    }
    log->text = more;
    memcpy(log->text + log->size, typed, n);
    log->size += n + 1;
    log->text[log->size - 1] = '\n';
    log->text[log->size] = 0;
    if (log->size > LOG_MAX) drop_half(log);
}
