/* Shell commands: the lines !COMMAND, and the commands that receive the output of another command. Programs that need
   no shell, such as the editor. */
#ifndef SHELL_H
#define SHELL_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct session;

/* Run a shell command, which controls the terminal until the command ends. Ctrl-C ends the shell command, but not this
   program. Fails if the command fails, or if the line may not run shell commands. */
bool shell_run(struct session *s, const char *command, struct err *e);
/* Run a program without a shell, as shell_run does; argv is terminated by NULL, and the program is searched in PATH. */
bool program_run(struct session *s, char *const argv[], struct err *e);
/* Like shell_run; the command reads `input`, which has n bytes. The command may end before it has read all input. */
bool shell_feed(struct session *s, const char *command, const char *input, size_t n, struct err *e);

#endif
