/* What the parts of a partition exchange for a product: halos, neighbours, edges between parts. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct partition;

struct part_counts {
    int64_t rows;
    int64_t inside, outside;   /* nonzeros in the part's own columns, and in others' columns */
    int64_t halo_in, halo_out; /* items of x that the part receives, and that it sends; one sent to two parts counts
                                  twice */
    int from, to;              /* parts that it receives from, and that it sends to */
};

/* The communication matrix is sparse: part p receives items[k] items of x from part from[k], for k = first[p] ..
   first[p+1]-1, in ascending order of from[]. */
struct exchange {
    int parts;
    struct part_counts *part; /* [parts] */
    int64_t *first;           /* [parts+1] */
    int *from;                /* [first[parts]] */
    int64_t *items;           /* [first[parts]] */
    int64_t inside, outside;  /* nonzeros of all parts */
    int64_t halo;             /* items received by all parts */
    int64_t edges, edge_cut;  /* edges of the graph of A + A', and those between parts; -1: A is not square */
};

/* Count what a product with A, which may be any size, exchanges. exchange_free accepts an empty exchange. */
bool exchange_of(struct exchange *x, const struct csr *A, const struct partition *P, struct err *e);
void exchange_free(struct exchange *x);
/* Items that `to` receives from `from`. */
int64_t exchange_items(const struct exchange *x, int to, int from);

struct part_most {
    struct part_counts most, least;
    double imbalance; /* the most nonzeros of a part / their mean; 1 if there are none */
};
struct part_most exchange_most(const struct exchange *x);

#endif
