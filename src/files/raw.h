/* Arrays of binary numbers in an uncompressed file, read by all threads. A thread reads a piece and converts it while
   the piece is in the thread's cache, so that the numbers pass through the memory only once. */
#ifndef RAW_H
#define RAW_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct raw {
    const char *where; /* the path, safe to print */
    int fd;
    int64_t size;    /* bytes of the file */
    bool big_endian; /* the byte order of the file */
};

/* Open the file at `path`. raw_close accepts a struct raw that raw_open has filled, also after a failure. */
bool raw_open(struct raw *r, const char *path, const char *where, bool big_endian, struct err *e);
void raw_close(struct raw *r);
/* The integer of `bytes` (4 or 8) at an offset that raw_has has checked. Returns false if the file cannot be read. */
bool raw_integer(struct raw *r, int64_t at, int bytes, int64_t *value, struct err *e);
/* Do n items of `bytes` each, beginning at byte `at`, fit in the file? *end receives the byte after them. */
bool raw_has(const struct raw *r, int64_t at, int64_t n, int bytes, int64_t *end);
/* Read n integers of `bytes` (4 or 8) each; integers that do not fit in an int are refused. */
bool raw_integers(struct raw *r, int64_t at, int64_t n, int bytes, int *to, struct err *e);
/* Read n floating-point numbers of `bytes` (4 or 8) each. If imag is not NULL, these are n pairs. */
bool raw_doubles(struct raw *r, int64_t at, int64_t n, int bytes, double *to, double *imag, struct err *e);

/* pread that goes on until n bytes are read or the file ends. Returns the number of bytes, or -1. */
int64_t read_at(int fd, char *to, int64_t n, int64_t at);
/* Request large pages from the system, because allocating memory in small pages is several times as slow as reading
   the file. */
void hint_large(void *data, int64_t bytes);

#endif
