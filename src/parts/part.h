/* What one part of a partition multiplies, receives and sends. */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "matrix/csr.h"

C_BEGIN

struct err;
struct partition;

/* Other parts in ascending order, and the items that are exchanged with each: those of part[i] are items first[i] ..
   first[i+1]-1 of the list beside this struct. */
struct neighbours {
    int n;
    int *part;      /* [n] */
    int64_t *first; /* [n+1] */
};

/* Part `number` computes y = inside x + outside h, where x holds the items of x that it owns and h its halo: the items
   that it needs and others own. Local row l is the row of A at position first[number] + l; local column l is the
   column of A at position first_col[number] + l (partition.h). */
struct part {
    int number;
    struct csr inside;      /* columns that the part owns: local columns, ascending */
    struct csr outside;     /* columns that others own: column c is item c of the halo; every column has an entry */
    int *halo;              /* [outside.cols]: columns of A, by owner, ascending in each owner's local order */
    struct neighbours from; /* the owners of the halo's items */
    int *send;              /* [to.first[to.n]]: local columns of the items of x that others need */
    struct neighbours to;   /* who needs them, in the order of the receiver's halo; set by parts_link */
};

/* Extract part k of A, which may be any size if the part is not large. `to` and `send` stay empty: they follow from the
   halos of the other parts. Takes 4 bytes per column of A while it runs. */
bool part_extract(struct part *out, const struct csr *A, const struct partition *P, int k, struct err *e);
void part_free(struct part *part);
/* Set the lists of what each part sends, from the halos of all parts of the partition. */
bool parts_link(struct part *part, const struct partition *P, struct err *e);
/* Extract and link all parts: part[P->parts] on the heap. parts_free accepts NULL. */
struct part *parts_extract(const struct csr *A, const struct partition *P, struct err *e);
void parts_free(struct part *part, int parts);

static inline int64_t part_halo(const struct part *part)
{
    return part->outside.cols;
}
static inline int64_t part_sends(const struct part *part)
{
    return part->to.n ? part->to.first[part->to.n] : 0;
}

C_END
#endif
