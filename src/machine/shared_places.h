/* The meaning of the elements of shared memory that the lanes of a traced warp accessed. A kernel's arithmetic is not
   watched, so the emulator recognises the values that a lane stores: the value of an entry, its product with x, an
   element of x, or a sum of entries of one row. Implemented by gpu/emu. */
#ifndef SHARED_PLACES_H
#define SHARED_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;

/* An access of a lane to shared memory, and the place in the matrix that its element stands for: an entry; (row, -1), a
   sum of entries of the row; (-1, column), an element of x; (-1, -1), not known. */
struct shared_place {
    int32_t lane, row, col;
};
/* In the order of the accesses of each lane. */
struct shared_places {
    int64_t n;
    struct shared_place *of;
};

/* The accesses of the last warp that trace_warp traced; the caller frees out->of with mem_free. Later calls give none.
 */
void shared_places_take(struct shared_places *out);
/* Make these the accesses of the last traced warp, which ran in another process. Takes p->of over. */
void shared_places_give(struct shared_places *p);

C_END
#endif
