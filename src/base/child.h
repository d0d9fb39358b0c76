/* Run library calls that cannot be cancelled, print, or end the program when they fail, in a child process. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct watch;

/* Memory that a child process shares with this one, filled with zeros; NULL: E_MEMORY. */
void *child_memory(int64_t bytes, const char *what, struct err *e);
void child_memory_free(void *p, int64_t bytes);

/* Run work(job) in a child process and poll the watch until the child ends. The child sees the memory of this process
   as it is now, but of its writes, only those to memory of child_memory are seen here. Its output is lost. Returns true
   if `work` returned true. If it returned false, or if a signal ended the child, the error is E_MEMORY if the signal
   was SIGKILL or `work` returned false, else E_INTERNAL. After Ctrl-C, the child is killed. */
bool child_run(bool (*work)(void *job), void *job, const char *what, struct watch *w, struct err *e);

#endif
