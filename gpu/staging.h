/* Copies between ordinary host memory and a device through two page-locked buffers: while the device copies from one
   buffer, the host fills the other (THESIS 3.4.1). A direct copy from ordinary memory passes through a buffer of the
   driver instead. */
#ifndef STAGING_H
#define STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct device;
struct err;
struct transfer_ops;

enum { STAGING_BUFFERS = 2, STAGING_CHUNK = 4 << 20, STAGED_FROM = 4 << 20 };

/* The buffers of one device. Each buffer has a stream, so that a wait for one buffer does not wait for the other. All
   zero before the first use. */
struct staging {
    void *buffer[STAGING_BUFFERS]; /* STAGING_CHUNK bytes each */
    void *stream[STAGING_BUFFERS];
    bool busy;    /* a thread uses the buffers; read and written atomically */
    bool refused; /* the system gave no page-locked memory: do not ask again */
};

/* Reserve the buffers for a copy of this size, and allocate them at first use. Returns false if the copy should be made
   directly: page-locked copies are switched off, the copy is small, another thread uses the buffers, or page-locked
   memory is refused. */
bool staging_takes(struct staging *s, struct device *d, const struct transfer_ops *ops, int64_t bytes);
/* Copy to the device, or to the host if `back` is set; complete on return. Then release the buffers. A copy to the
   device ends with E_CANCELLED if the user cancels. */
bool staging_copy(struct staging *s, struct device *d, const struct transfer_ops *ops, void *to, const void *from,
                  int64_t bytes, bool back, struct err *e);
void staging_free(struct staging *s, struct device *d, const struct transfer_ops *ops);

C_END
#endif
