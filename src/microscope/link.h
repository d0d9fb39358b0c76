/* The links between GPUs: what an exchange of items and an all-reduce cost on them. */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>

struct device;
struct machine;

/* An exchange takes start_us + hop_us + bytes / link_items_gbs; all its messages go at the same time. An all-reduce of
   a few numbers among P parts takes start_us + ceil(log2(P)) hop_us. */
struct link {
    const char *name, *about;
    double start_us; /* once per exchange or all-reduce, in software */
    double hop_us;   /* from one GPU to another */
    double gbs;      /* bandwidth of one GPU in one direction */
    int most;        /* GPUs that one machine joins by this link; 0: any number */
    bool beside;     /* a product exchanges items beside its local product; false: before it */
    bool measured;   /* false: from specifications, which leave out software, so times are lower bounds */
    const char *source;
};
extern const struct link links[]; /* terminated by a NULL name */
extern const struct registry link_registry;
const struct link *link_find(const char *name);

/* A link that `ceilings` measured: between the members of a device, or as a profile states it. Its texts are in this
   struct. */
struct measured_link {
    struct link link;
    char about[120], source[240];
};
extern const char link_measured[]; /* the name of such a link */
void link_of_device(const struct device *d, struct measured_link *out);
void link_of_profile(const struct machine *g, struct measured_link *out);

const char *link_origin(const struct link *l); /* "measured" or "specification" */
/* The bandwidth at which a GPU sends listed items, in GB/s. */
double link_items_gbs(const struct link *l);
double link_exchange_us(const struct link *l, double bytes);
double link_reduce_us(const struct link *l, int parts); /* 0 for one part */

#endif
