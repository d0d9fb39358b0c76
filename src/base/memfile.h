/* A stream whose bytes are kept in memory. Unlike those of open_memstream, its failures are always reported. */
#ifndef MEMFILE_H
#define MEMFILE_H

#include <stdbool.h>
#include <stdio.h>

struct err;

struct memfile {
    FILE *file;     /* to write to; NULL: not open */
    char *text;     /* the bytes that memfile_sync or memfile_close brought here, and a NUL after them */
    size_t n, room; /* bytes in text; bytes allocated */
    bool lost;      /* some bytes are not in text, since memory was short */
};
/* The struct must not move while the file is open. Release it with memfile_free, also after a failure. */
bool memfile_open(struct memfile *m, struct err *e);
/* Bring text and n up to date. Returns false, with E_MEMORY, if bytes were lost. */
bool memfile_sync(struct memfile *m, struct err *e);
/* Close the file and keep the text. Returns whether all was written, or false without an error if not ok. */
bool memfile_close(struct memfile *m, bool ok, struct err *e);
void memfile_free(struct memfile *m);

#endif
