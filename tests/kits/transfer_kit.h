/* Copies on the host that imitate copies to a GPU, so that transfers can be tested without a GPU. Each call can be made
   to fail. */
#ifndef TRANSFER_KIT_H
#define TRANSFER_KIT_H

#include <stdint.h>

#include "machine/transfer.h"

/* What the copies have done since transfer_kit_reset, and which copies must fail. */
struct transfer_kit {
    int64_t pins, streams; /* live allocations and streams */
    int64_t copies, waits, bytes;
    int64_t used[STREAMS_MAX]; /* copies in each stream, in the order in which the streams were opened */
    int64_t fail_in;           /* the nth call from now fails; 0: no call fails */
    int64_t corrupt_in;        /* the nth copy from now changes a byte */
};
extern struct transfer_kit transfer_kit;
extern const struct transfer_ops host_transfer;
void transfer_kit_reset(void);

#endif
