/* A lock on the folder of a file that the program keeps for the user, so that sessions change the file one after
   another. */
#ifndef FOLDER_LOCK_H
#define FOLDER_LOCK_H

#include <stdbool.h>

struct err;

/* Lock the folder of `path`; waits while another session has the lock, but fails after five seconds. On a file system
   without locks, succeeds with *lock = -1. */
bool folder_lock(const char *path, int *lock, struct err *e);
void folder_unlock(int lock);

#endif
