/* Another program that works for this one: lines go to its standard input and come from its standard output. */
#ifndef COPROCESS_H
#define COPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

enum { CHILD_SAID = 8192 };
struct coprocess {
    pid_t pid;        /* of the program, which leads a process group of its own; 0: none */
    int in, out, err; /* our ends of its standard streams; -1: closed */
    char *text;       /* the output that was read: text[at .. used) was not returned yet */
    size_t at, used, room;
    bool open;             /* its standard streams are open; false in a struct of zeros */
    bool ended;            /* its output has ended */
    int status;            /* as from waitpid; meaningful once pid is 0 */
    char said[CHILD_SAID]; /* the last bytes that it wrote to standard error */
    size_t nsaid;
};

/* Start argv[0], which is looked up in PATH; argv ends with NULL. The program starts without blocked signals. The error
   is E_IO, and *missing is set if there is no such program. */
bool coprocess_start(struct coprocess *c, char *const *argv, bool *missing, struct err *e);
/* Write text. Returns false if the program no longer reads, or does not read within a second. */
bool coprocess_send(struct coprocess *c, const char *text);
/* The next line, without its end, or NULL: none came within `us` microseconds, or the output has ended (c->ended). The
   line is valid until the next call, and may be changed. */
char *coprocess_line(struct coprocess *c, double us);
/* Has the program ended, with its status in c->status? Does not wait. */
bool coprocess_is_over(struct coprocess *c);
/* Close its input and let it end within `us` microseconds; then terminate its process group, and kill the group if that
   does not help within a second. Frees everything; c->said and c->status stay. Does nothing if no program was started.
 */
void coprocess_end(struct coprocess *c, double us);

#endif
