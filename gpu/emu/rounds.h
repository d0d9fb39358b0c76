/* In which round of which loop the next access of each lane is, for kernels whose compiled code is known
   (machine/as_compiled.h). */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "scope_run.h"

/* A site was added: find the loops around it. */
void rounds_site(struct scope_run *run, int site);
/* Does the order of this warp's accesses follow from its loops? If so, find where the next notes of its lanes are. */
bool rounds_begin(struct scope_thread *s, int warp, const struct lane_log *lane);
/* Lane k merged a note: find where its next one is. */
void rounds_next(struct scope_thread *s, int warp, const struct lane_log *lane, int k);
/* How many rounds the lane has left cannot be seen before it made more notes. */
bool rounds_uncertain(const struct scope_thread *s, int warp, int k);
/* The order of the next accesses of two lanes: negative: that of a comes first, 0: both are one request. */
int rounds_compare(const struct scope_thread *s, int warp, const struct lane_log *lane, int a, int b);
/* Is the lane's next access in a round of an unrolled loop? Lanes do the same round at different times there. */
bool rounds_within(const struct scope_thread *s, int warp, int k);
/* The innermost loop around the site; empty: none. */
const struct text_part *rounds_part(const struct scope_run *run, int site);
/* The block with this many warps has ended. */
void rounds_block_end(struct scope_thread *s, int warps);

#endif
