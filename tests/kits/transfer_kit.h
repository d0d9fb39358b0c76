/* A host that copies as a GPU would, to test transfers without one; each call can be made to fail. */
#ifndef TRANSFER_KIT_H
#define TRANSFER_KIT_H

#include <stdint.h>

#include "machine/transfer.h"

/* What the host's copies did since transfer_kit_reset, and what they shall do. */
struct transfer_kit {
    int64_t pins, streams; /* alive */
    int64_t copies, waits;
    int64_t used[STREAMS_MOST]; /* copies in each stream, by the order in which it was opened */
    int64_t fail_in;            /* the nth call from now fails; 0 = none does */
    int64_t corrupt_in;         /* the nth copy from now spoils a byte */
};
extern struct transfer_kit transfer_kit;
extern const struct transfer_ops host_transfer;
void transfer_kit_reset(void);

#endif
