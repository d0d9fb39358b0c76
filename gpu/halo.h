/* The launches by which the members of a device exchange the items of x that others need, and multiply by them.
   Implemented by gpu/kernels/k_multi.cu. */
#ifndef HALO_H
#define HALO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "member_place.h"

C_BEGIN

struct device;

/* The number of a product: even and odd ones have halos of their own. Launches count products if they set flags, so
   that a graph that is replayed counts them, too. Otherwise the host counts them. */
struct halo_number {
    unsigned *count; /* on this member: the last product that it began; NULL: the number is `epoch` */
    unsigned epoch;
};
/* The product that a member has begun, whose memory is host memory. */
static inline unsigned halo_epoch(const struct halo_number *number)
{
    return number->count ? *number->count : number->epoch;
}

/* One member's items for others: items first[k] .. first[k + 1] - 1 of the list `send` go to to[k], or to the place
   odd[k] items after it in odd products. The launch begins a product. */
struct halo_push {
    int rank;
    int64_t n, cols; /* items in the list; elements of x */
    const int *send;
    const void *x;
    int targets;
    int64_t first[MEMBERS_MAX + 1];
    void *to[MEMBERS_MAX];
    int64_t odd[MEMBERS_MAX];
    int flags; /* the members whose flag `rank` is set to the number of the product afterwards */
    unsigned *flag[MEMBERS_MAX];
    struct halo_number number;
    unsigned *ticket;
};

/* y[row[r]] += alpha sum over k of val[k] halo[col[k]], for ptr[r] <= k < ptr[r + 1]. The halo of odd products lies
   `items` items after that of even ones. */
struct halo_add {
    int64_t rows, nnz, items, y_rows;
    struct halo_number number;
    unsigned neighbours; /* wait for the flags of these members first; 0: an earlier launch has waited */
    const unsigned *flag;
    int *late;
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
    /* Later launches begin when the flags of the members whose bits are set have the number of the product. */
    void (*wait)(struct device *d, const unsigned *flag, unsigned neighbours, struct halo_number number, int *late);
    /* Report the items that still have all their bits set, the mark of an item that was not written. */
    void (*check)(struct device *d, int64_t n, const void *halo, int *late);
    void (*add)(struct device *d, const struct halo_add *p);
    /* now = the halo of this product: that of odd products lies `items` items after that of even ones. */
    void (*take)(struct device *d, int64_t items, struct halo_number number, const void *halo, void *now);
    void (*scale)(struct device *d, int64_t n, double beta, void *y); /* y = beta y */
    void (*bounce)(struct device *d, const struct flag_bounce *b);    /* NULL: launches do not run at the same time */
};
/* The type of x and y: T_F32, T_F64, T_C32 or T_C64. Implemented by gpu/vec.c. */
const struct halo_ops *halo_ops_of(const struct device *d, enum type type);

C_END
#endif
