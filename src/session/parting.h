/* The parts of a matrix of the session: who owns which rows, and what the parts exchange. */
#ifndef PARTING_H
#define PARTING_H

#include <stdbool.h>

#include "parts/exchange.h"
#include "parts/partition.h"

struct matrix;
struct session;

struct parting {
    struct partition P;
    struct exchange x;
    double us; /* time to divide the matrix and to count */
};

void parting_free(struct parting *p); /* accepts NULL */
/* Divide m into `parts` parts and keep the result in m->parting; on failure, m keeps its parts. Fails with E_MEMORY
   before it begins if the memory would not suffice. */
bool session_divide(struct session *s, struct matrix *m, const struct way *way, int parts, struct err *e);
/* Give m, whose rows are those of `of` sorted by part, the same parts. */
bool session_keep_parts(struct matrix *m, const struct matrix *of, struct err *e);
/* Bytes that a product moves between the parts of m: an item of x has 8 bytes, or 16 if it is complex. */
double parting_item_bytes(const struct matrix *m);
/* Why nothing can be shown of the parts of a matrix that was not divided. */
extern const char parting_missing[];

#endif
