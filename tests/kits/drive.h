/* The program in a terminal of its own: keys go in, what it sends is timed and counted. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DRIVE_KEPT = 1 << 20 };
struct driven {
    int fd;
    pid_t pid;
    long long bytes; /* that it sent */
    double came_us;  /* when the last of them did */
    size_t n;        /* of them kept: those since drive_key or drive_forget, at most DRIVE_KEPT */
    char seen[DRIVE_KEPT + 1];
};

/* Start argv[0] in a terminal of w x h; its own state goes to the folder `home`. false: it cannot be. */
bool drive_start(struct driven *d, char *const argv[], int w, int h, const char *home);
/* Send keys; what came before is forgotten. */
void drive_key(struct driven *d, const char *keys);
void drive_forget(struct driven *d);
/* Until `what` came; false: not within `ms`, or the program ended. */
bool drive_until(struct driven *d, const char *what, int ms);
/* Until nothing came for `ms`. */
void drive_settle(struct driven *d, int ms);
/* Processor time of the program and all its threads, in us. */
double drive_cpu_us(const struct driven *d);
/* Hang up and wait. */
void drive_end(struct driven *d);

#endif
