/* Sorts rows by length within windows, by keys that contain the length and the row. */
#include "slices.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"

#include <stdlib.h>

static int64_t length_of(const int *ptr, int64_t row)
{
    return ptr[row + 1] - ptr[row];
}

/* Sorting rows by this key in ascending order puts the longest rows first and keeps rows of equal length in order. */
static int64_t key_of(const int *ptr, int64_t row)
{
    return (INT32_MAX - length_of(ptr, row)) << 32 | row;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_window(const int *ptr, int64_t first, int64_t last, int64_t *key)
{
    bool sorted = true;
    for (int64_t i = first; i < last; i++) {
        key[i] = key_of(ptr, i);
        sorted = sorted && (i == first || key[i - 1] < key[i]);
    }
    if (!sorted) qsort(key + first, (size_t)(last - first), sizeof *key, by_key);
}

int64_t *slices_sort(const int *ptr, int64_t rows, int64_t sigma, struct err *e)
{
    int64_t *key = mem_new(rows, sizeof *key, "rows sorted by length", e);
    if (!key) return NULL;
    struct loop l = loop_of("sorting rows by length", rows);
#pragma omp parallel for schedule(dynamic) if (ptr[rows] > THREADS_FROM)
    for (int64_t first = 0; first < rows; first += sigma)
        if (loop_check(&l, first)) sort_window(ptr, first, first + sigma < rows ? first + sigma : rows, key);
    if (loop_end(&l, e)) return key;
    mem_free(key);
    return NULL;
}

int64_t slices_row(const int64_t *key, int64_t k)
{
    return key[k] & INT32_MAX;
}

int64_t slices_width(const int *ptr, int64_t rows, const int64_t *key, int64_t C, int64_t s)
{
    int64_t longest = 0;
    for (int64_t k = s * C; k < (s + 1) * C && k < rows; k++) {
        int64_t n = length_of(ptr, slices_row(key, k));
        if (n > longest) longest = n;
    }
    return longest;
}
