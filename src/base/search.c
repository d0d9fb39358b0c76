/* Binary search in an ascending array of offsets. */
#include "search.h"

int64_t span_of(const int *ptr, int64_t n, int64_t i)
{
    int64_t low = 0;
    for (int64_t high = n; high - low > 1;) {
        int64_t middle = low + (high - low) / 2;
        if (ptr[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t span_of_wide(const int64_t *ptr, int64_t n, int64_t i)
{
    int64_t low = 0;
    for (int64_t high = n; high - low > 1;) {
        int64_t middle = low + (high - low) / 2;
        if (ptr[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}
