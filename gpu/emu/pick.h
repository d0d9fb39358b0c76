/* Which blocks of a launch to watch if not all are watched. */
#ifndef PICK_H
#define PICK_H

#include "scope_run.h"

enum pick { PICK_SKIP, PICK_SAMPLE, PICK_EXACT };

/* Watch a few blocks of each launch of a kernel to see which parts of the format (rows, columns, slices) they process.
   If each block processes as many parts, in order, and the format stores where the entries of each part begin, the
   entries of all blocks are known before they run, and pick_blocks can choose by them; otherwise it does nothing.
   *accesses receives an estimate of the accesses of all blocks, and is left alone if no blocks were watched. count:
   like count_launches, but without such a choice. */
typedef bool count_fn(const struct watched *of, int64_t sample, const struct scope_sink *sink, struct watch *w,
                      struct counts *out, struct err *e);
bool pick_prepare(const struct watched *of, struct scope_run *run, double *accesses, count_fn *count, struct watch *w,
                  struct err *e);
/* Choose among the blocks of the launch that begins: one of each group of run->every blocks with similar numbers of
   entries, and every block with so many entries that a sample could not stand for it. */
void pick_blocks(struct scope_run *run);
/* The counts of launch l in all threads: those of exact blocks count once, those of the sample stand for all other
   blocks. The result is scaled so that blocks / seen times it is the total, as if all watched blocks were a sample. */
void pick_gather(const struct scope_run *run, int l, struct counts *out);
/* The number of blocks that a watched block of launch l stands for. */
double pick_weight(const struct scope_run *run, int l, int64_t block);
void pick_free(struct scope_run *run);

#endif
