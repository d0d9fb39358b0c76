/* A stored matrix: a short list of named, typed arrays in one format. */
#ifndef STORED_H
#define STORED_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/param.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct err;
struct format;

enum { ARRAYS_MAX = 8 };

struct stored {
    const struct format *format;
    int64_t rows, cols, nnz;
    int64_t param[PARAMS_MAX]; /* resolved, in the order of format->params */
    enum type real;            /* T_F32 or T_F64: the type of the values */
    int narrays;
    struct array a[ARRAYS_MAX];
};

/* What one slot of an array stands for. */
enum slot_kind { SLOT_ENTRY, SLOT_PADDING, SLOT_POINTER };
struct place {
    enum slot_kind kind;
    int64_t row, col; /* of the entry; -1 where it has none. A pointer names the row (or block row...) it starts */
};

int64_t stored_bytes(const struct stored *S);
int64_t stored_slots(const struct stored *S);
void stored_free(struct stored *S);
/* "width 3, sigma 32": the parameters it was stored with. Returns out. */
const char *stored_params(const struct stored *S, char *out, size_t size);
bool stored_is_value(const struct stored *S, int k); /* array k holds values */

#ifdef __cplusplus
}
#endif
#endif
