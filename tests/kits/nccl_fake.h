/* NCCL's sends and receives between members in host memory, with the checks that the library makes. */
#ifndef NCCL_FAKE_H
#define NCCL_FAKE_H

#include "gpu/multi/multi.h"

/* Call the fake instead of the library, from now on or no longer. */
void nccl_fake(bool on);
/* The number of groups that ended well, and of connections that are open. */
int nccl_fake_groups(void);
int nccl_fake_open(void);
/* The call whose name begins so fails from now on; NULL: none. */
void nccl_fake_fail(const char *call);

#endif
