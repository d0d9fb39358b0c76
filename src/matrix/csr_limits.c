/* The sizes that a matrix may have, and the sizes from which it is large. */
#include "base/err.h"
#include "csr.h"

static int64_t most_small = INT32_MAX;

int64_t csr_most_small(void)
{
    return most_small;
}

void csr_set_most_small(int64_t most)
{
    most_small = most ? most : INT32_MAX;
}

bool csr_size_is_large(int64_t rows, int64_t nnz)
{
    return rows > most_small || nnz > most_small;
}

static bool not_negative(int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    return (rows >= 0 && cols >= 0 && nnz >= 0) ||
           fail(e, E_INPUT, "%lld rows, %lld columns, %lld entries: none of them may be negative", (long long)rows,
                (long long)cols, (long long)nnz);
}

bool csr_limits(int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    const int64_t most = most_small;
    if (!not_negative(rows, cols, nnz, e)) return false;
    if (rows > most || cols > INT32_MAX)
        return fail(e, E_LIMIT, "%lld x %lld is too large: at most %lld rows and columns fit in 32-bit indices",
                    (long long)rows, (long long)cols, (long long)most);
    if (nnz > most)
        return fail(e, E_LIMIT,
                    "%lld entries are too many: at most %lld fit in 32-bit row pointers; choose a smaller matrix",
                    (long long)nnz, (long long)most);
    return true;
}

bool csr_limits_any(int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    const int64_t most = INT64_MAX / 64; /* so that sizes in bytes do not overflow */
    if (!not_negative(rows, cols, nnz, e)) return false;
    if (cols > INT32_MAX)
        return fail(e, E_LIMIT, "%lld x %lld is too large: at most %d columns fit in 32-bit indices", (long long)rows,
                    (long long)cols, INT32_MAX);
    if (rows > most || nnz > most)
        return fail(e, E_LIMIT, "%lld rows with %lld entries are too many: at most %lld of each", (long long)rows,
                    (long long)nnz, (long long)most);
    return true;
}
