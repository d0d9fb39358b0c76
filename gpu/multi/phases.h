/* The phases of a product on a device with members, one by one, for timelines. */
#ifndef PHASES_H
#define PHASES_H

#include "multi.h"

/* A product that is being done. */
struct product_of {
    const struct kernel *kernel;
    const struct launch *L;
    struct pieces *p;
    struct multi *m;
    const struct block *x, *y;
    enum type real;
    bool waits; /* where possible, the launch of SPLIT_OUTSIDE waits for the halo, and SPLIT_WAIT launches nothing */
    int pushed_mark; /* the moment to record (device_ops.mark) when a member has pushed; -1: none */
};

/* Begin a product; then each member does SPLIT_PUSH, then each does SPLIT_LOCAL, and so on up to SPLIT_OUTSIDE. A GPU
   pushes beside its local product. */
bool product_begin(struct product_of *w, const struct kernel *k, const struct launch *L, struct err *e);
bool product_phase(const struct product_of *w, enum split_phase phase, int k, struct err *e);
/* Does a member of d push beside its local product, so that both begin at the same moment? */
bool pushes_beside(const struct device *d, const struct device *member);

#endif
