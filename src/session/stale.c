/* Counts what the session frees. */
#include "stale.h"

static int64_t frees;

int64_t stale_count(void)
{
    return frees;
}

void stale_all(void)
{
    frees++;
}
