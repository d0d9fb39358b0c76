/* Run a program in a pseudo terminal: send keys, then time and count its output. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DRIVE_KEPT = 1 << 20 };
struct driven {
    int fd;
    pid_t pid;
    long long bytes; /* number of bytes that the program has sent */
    double came_us;  /* time of the last output */
    size_t n;        /* number of bytes kept since drive_key or drive_forget, at most DRIVE_KEPT */
    char seen[DRIVE_KEPT + 1];
};

/* Start argv[0] in a terminal of w x h characters; the program keeps its state in the folder `home`. Returns false on
   failure. */
bool drive_start(struct driven *d, char *const argv[], int w, int h, const char *home);
/* Send keys and forget earlier output. */
void drive_key(struct driven *d, const char *keys);
void drive_forget(struct driven *d);
/* Wait until the program outputs `what`. Returns false after `ms`, or if the program ends. */
bool drive_until(struct driven *d, const char *what, int ms);
/* Wait until there is no output for `ms`. */
void drive_settle(struct driven *d, int ms);
/* Processor time of the program and all its threads, in us. */
double drive_cpu_us(const struct driven *d);
/* Hang up the terminal and wait until the program ends. */
void drive_end(struct driven *d);

#endif
