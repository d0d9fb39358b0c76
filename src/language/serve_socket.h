/* The Unix socket of `warpspy --serve=unix:PATH`. There is one per process. */
#ifndef SERVE_SOCKET_H
#define SERVE_SOCKET_H

#include <stdbool.h>

struct err;

/* Listen at the path, which only this user may use (mode 0600), in a folder that only this user may change. Replaces
   the socket of a program that has ended; refuses a path that is in use or is no socket. The socket is removed by
   serve_socket_close and by signals that end the program. */
bool serve_socket_open(const char *path, int *listener, struct err *e);
int serve_socket_accept(int listener); /* waits for the next client; -1: failed */
void serve_socket_close(int listener);

#endif
