/* Print the formats among which a format chose, with the padding that each of them would have. */
#ifndef OUTPUT_CANDIDATES_H
#define OUTPUT_CANDIDATES_H

#include <stdbool.h>

#include "formats/format.h"

struct csr;
struct err;
struct out;
struct row_kind;

struct candidates {
    int n; /* 0: the format makes no choice */
    struct candidate at[CANDIDATES_MAX];
};
/* The candidates for A, which is stored as S. Plans each of them. */
bool candidates_of(const struct csr *A, const struct stored *S, struct candidates *out, struct err *e);
/* Print the key candidates: an array that is empty if the format makes no choice. */
void out_candidates(struct out *o, const struct candidates *c);
/* In text, print a line with the chosen format and the padding of each; nothing if the format makes no choice. */
void say_candidates(struct out *o, const struct stored *S, const struct candidates *c);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_candidates;

#endif
