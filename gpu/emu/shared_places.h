/* Follows the values that the threads of a traced block store in shared memory (machine/shared_places.h). */
#ifndef EMU_SHARED_PLACES_H
#define EMU_SHARED_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "machine/microscope.h"

C_BEGIN

struct err;
struct scope_run;

/* x of a traced product: no two elements are the same, and neither are products of an entry with different elements. */
double places_x(int64_t col);
/* A traced block begins or ends. places_begin fails with E_MEMORY. */
bool places_begin(const struct scope_run *run, struct err *e);
void places_end(void);

struct place_access {
    enum access_kind kind;
    enum role role;
    unsigned thread;
    bool traced;        /* the thread is in the traced warp */
    bool integral;      /* elements are integers */
    int size, elements; /* bytes of an element; elements per access */
    int64_t at, n;      /* index of the first element, and elements of the array */
    const void *base;   /* of the array */
    uint64_t shared_at; /* of an access to shared memory: the element's offset in the block's memory */
};
void places_access(const struct place_access *a);
/* The thread comes to a barrier, or to a collective, by which a sum gets the values that other lanes have added. */
void places_meet(unsigned thread, bool collective);

C_END
#endif
