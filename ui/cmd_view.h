/* The commands behind the numbers of views. */
#ifndef CMD_VIEW_H
#define CMD_VIEW_H

#include <stdbool.h>

struct err;
struct session;

extern const struct command command_spy, command_rows, command_layout;
/* Run a command with these words after its name; cmd_export.c. */
bool run_command(struct session *s, const struct command *c, int n, const char *const *word, struct err *e);

#endif
