/* Counts what the session frees. */
#include "stale.h"

#include <stdatomic.h>

static atomic_llong frees; /* both threads free, and both ask */

int64_t stale_count(void)
{
    return atomic_load(&frees);
}

void stale_all(void)
{
    atomic_fetch_add(&frees, 1);
}
