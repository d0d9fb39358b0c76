/* The launches by which the members of a device exchange the items of x that others need, and multiply by them.
   Implemented by gpu/kernels/k_multi.cu. */
#ifndef HALO_H
#define HALO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "seat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* One member's items for others: items first[k] .. first[k + 1] - 1 of the list `send` go to to[k]. */
struct halo_push {
    int rank;
    int64_t n, cols; /* items in the list; elements of x */
    const int *send;
    const void *x;
    int targets;
    int64_t first[MEMBERS_MOST + 1];
    void *to[MEMBERS_MOST];
    int flags; /* the members whose flag `rank` is set to `epoch` afterwards */
    unsigned *flag[MEMBERS_MOST];
    unsigned epoch;
    unsigned *ticket;
};

/* y[row[r]] += alpha sum over k of val[k] halo[col[k]], for ptr[r] <= k < ptr[r + 1] */
struct halo_add {
    int64_t rows, nnz, items, y_rows;
    const int *row, *ptr, *col;
    const void *val, *halo;
    double alpha;
    void *y;
};

/* A flag that goes there and back `rounds` times between two launches that run at the same time: number i of round
   epoch + i. The launch that is `first` sets *theirs, and waits for *own; the other one waits first. */
struct flag_bounce {
    bool first;
    int rounds;
    unsigned epoch;
    unsigned *own, *theirs;
    int *late; /* becomes 1 if a flag does not arrive */
};

struct halo_ops {
    void (*push)(struct device *d, const struct halo_push *p);
    /* Later launches begin when the flags of the members whose bits are set have the value `epoch`. */
    void (*wait)(struct device *d, const unsigned *flag, unsigned neighbours, unsigned epoch, int *late);
    /* Report the items that still have all their bits set, the mark of an item that was not written. */
    void (*check)(struct device *d, int64_t n, const void *halo, int *late);
    void (*add)(struct device *d, const struct halo_add *p);
    void (*scale)(struct device *d, int64_t n, double beta, void *y); /* y = beta y */
    void (*bounce)(struct device *d, const struct flag_bounce *b);    /* NULL: launches do not run at the same time */
};
/* The type of x and y: T_F32, T_F64, T_C32 or T_C64. Implemented by gpu/vec.c. */
const struct halo_ops *halo_ops_of(const struct device *d, enum type type);

#ifdef __cplusplus
}
#endif
#endif
