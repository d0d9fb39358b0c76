/* The predicted time of a product, and of an iteration of cg, when the rows of a matrix are divided among GPUs. */
#ifndef SCALING_H
#define SCALING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "link.h"

struct csr;
struct err;
struct kernel;
struct machine;
struct watch;
struct way;

/* What takes the largest part of the time. */
enum scaling_limit {
    LIMIT_LOCAL,   /* the product with the columns that each GPU owns */
    LIMIT_LAUNCH,  /* that product costs no more than its launch */
    LIMIT_LATENCY, /* the exchange takes longer than that product, because of its latency */
    LIMIT_BYTES,   /* the same, because of its bytes */
    LIMIT_OUTSIDE, /* the product with the columns of others */
    LIMIT_VECTORS, /* the passes of cg over vectors */
    LIMIT_REDUCE,  /* the two all-reduces of cg */
    LIMITS
};
extern const char *const limit_names[LIMITS];

/* Each GPU sends what others need, multiplies its own columns, waits for its halo, and then multiplies the columns of
   others (see scaling_product_us). All times are those of the slowest part that was looked at. */
struct scaling_point {
    int parts;
    double imbalance;        /* the most nonzeros of a part / their mean */
    int64_t halo, halo_most; /* items that all parts receive, and the most of one part */
    double inside_us, exchange_us, outside_us, spmv_us;
    double wire_us, memory_us;           /* of exchange_us, for its bytes: on the link, and in the memory of the GPU */
    double vectors_us, reduce_us, cg_us; /* cg_us: NaN if the matrix is not square */
    enum scaling_limit spmv_limit, cg_limit;
    bool sampled; /* only a sample of the blocks was emulated */
};

enum { SCALING_MAX = 32, SCALING_PARTS_SEEN = 2 };
struct scaling {
    const struct link *link; /* in the table of links, or `own` */
    struct measured_link own;
    const struct way *way;
    const struct kernel *kernel;
    enum precision real;
    char machine[64]; /* the GPU, see struct machine */
    bool machine_here;
    double one_us, one_cg_us; /* on one GPU; one_cg_us: NaN if the matrix is not square */
    int n;
    struct scaling_point point[SCALING_MAX]; /* ascending numbers of parts */
};

/* Of so many bytes that an iteration reads and writes, those that L2 keeps from one launch to the next. */
double scaling_kept(const struct machine *g, double bytes);
/* The time of passes over vectors, in this number of launches of a graph, which read and write so many bytes. */
double scaling_passes_us(const struct machine *g, double bytes, double passes);
/* spmv_us of a point whose other times are set. If the link exchanges beside the local product (link->beside), the
   latency is hidden, but the bytes share the bandwidth of the GPU with that product; otherwise the local product
   follows the exchange. The outer product comes last. */
double scaling_product_us(const struct link *link, const struct scaling_point *p);
/* Predict the time on one GPU of the kind `on`. c->link, way, kernel and real are set. */
bool scaling_begin(struct scaling *c, const struct csr *A, const struct machine *on, struct watch *w, struct err *e);
/* Divide A into `parts` parts, emulate the part with the most nonzeros and the part with the largest halo, and add the
   point. */
bool scaling_add(struct scaling *c, const struct csr *A, int parts, const struct machine *on, struct watch *w,
                 struct err *e);
double scaling_gain(const struct scaling *c, int i); /* time on one GPU / time of point i */
double scaling_cg_gain(const struct scaling *c, int i);

#endif
