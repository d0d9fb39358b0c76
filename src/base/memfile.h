/* A stream that writes to memory. Unlike open_memstream, it always reports failures. */
#ifndef MEMFILE_H
#define MEMFILE_H

#include <stdbool.h>
#include <stdio.h>

struct err;

struct memfile {
    FILE *file;  /* to write to; NULL: not open */
    char *text;  /* the bytes that were written before the last memfile_sync or memfile_close, followed by a NUL */
    size_t n;    /* bytes in text */
    size_t room; /* bytes allocated */
    bool lost;   /* some bytes are missing from `text`, because memory was short */
};
/* The struct must not move while the file is open. Call memfile_free at the end, also after a failure. */
bool memfile_open(struct memfile *m, struct err *e);
/* Write all buffered bytes to `text`, and update n. Returns false, with E_MEMORY, if bytes were lost. */
bool memfile_sync(struct memfile *m, struct err *e);
/* Close the file and keep the text. Returns true if all bytes were written. If ok is false, returns false without an
   error. */
bool memfile_close(struct memfile *m, bool ok, struct err *e);
void memfile_free(struct memfile *m);

#endif
