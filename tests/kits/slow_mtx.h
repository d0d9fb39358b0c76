/* The reference for the Matrix Market reader: one pass, lists, and a sort. This reference shares no code with the
   reader. */
#ifndef SLOW_MTX_H
#define SLOW_MTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csr;
struct err;

/* row and col are 0-based. Duplicates are summed in ascending `order` (the position in the file). */
struct slow_entry {
    int64_t row, col, order;
    double re, im;
};
struct slow_mtx {
    int64_t refused; /* the line at fault; 0: accepted */
    const char *why; /* the reason, in a word or two */
    int64_t rows, cols, n;
    bool complex_values;
    struct slow_entry *entry; /* [n] sorted by rows, expanded and summed; NULL when refused */
};

/* Read n bytes of text. plain: the bytes are the whole uncompressed file, so that the declared number of entries can be
   compared with its length before the entries are read. */
void slow_read(const char *text, size_t n, bool plain, struct slow_mtx *m);
void slow_free(struct slow_mtx *m);
/* Did the reader give the same result, that is, the matrix A value for value, or a refusal (e->code set) at the same
   line? `how` receives a description of the difference. */
bool slow_agrees(const struct slow_mtx *m, const struct csr *A, const struct err *e, char *how, size_t room);

#endif
