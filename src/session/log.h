/* The commands of a session that succeeded, as they were typed. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>
#include <stddef.h>

struct command_log {
    char *text; /* a line for each command; NULL: none yet. Released with mem_free */
    size_t size;
    bool cut; /* commands are missing */
};

void log_add(struct command_log *log, const char *typed);

#endif
