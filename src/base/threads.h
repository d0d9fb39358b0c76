/* The smallest size for which loops on the host use several threads. */
#ifndef THREADS_H
#define THREADS_H

/* Below this number of entries, starting threads costs more time than the threads save. */
enum { THREADS_FROM = 1 << 14 };

#endif
