/* The commands of a session that succeeded, as they were typed. */
#ifndef COMMAND_LOG_H
#define COMMAND_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct command_log {
    char *text; /* one line per command; NULL: none yet. Free with mem_free */
    size_t size;
    bool cut; /* older commands were dropped */
};

void log_add(struct command_log *log, const char *typed);

#endif
