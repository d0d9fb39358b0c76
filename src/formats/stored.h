/* A stored matrix: a list of named, typed arrays in one format. */
#ifndef STORED_H
#define STORED_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "base/param.h"
#include "base/precision.h"

#include <stdbool.h>

C_BEGIN

struct csr;
struct err;
struct format;

enum { ARRAYS_MAX = 8 };

struct stored {
    const struct format *format;
    int64_t rows, cols, nnz;
    int64_t param[PARAMS_MAX]; /* resolved, in the order of format->params */
    enum precision real;       /* of the values, and of x, y and the sums */
    int narrays;
    struct array a[ARRAYS_MAX]; /* the struct owns `data` unless it is lent; NULL for plans and device matrices */
    const struct csr *made;     /* not NULL: the host has no data; the rows of this matrix are made for a device */
};

/* The meaning of a slot of an array: an entry of the matrix, padding, or a pointer. */
enum slot_kind { SLOT_ENTRY, SLOT_PADDING, SLOT_POINTER };
struct place {
    enum slot_kind kind;
    /* row and column of the entry, or -1. For a pointer, row is the row to which the pointer points, or the first row
       of the block to which it points */
    int64_t row, col;
};

int64_t stored_bytes(const struct stored *S);     /* total size of the arrays; INT64_MAX if larger */
int64_t stored_own_bytes(const struct stored *S); /* of the host's memory: without the arrays that are lent */
int64_t stored_slots(const struct stored *S);     /* elements of the value arrays */
void stored_free(struct stored *S);
/* Write to out the parameters with which S was stored, such as "C 32, sigma 1024". Returns out. */
const char *stored_params(const struct stored *S, char *out, size_t size);
bool stored_is_value(const struct stored *S, int k); /* does array k have a slot for each entry's value? */
/* The value of slot i of value array k; *im is 0 for a real matrix. */
void stored_value(const struct stored *S, int k, int64_t i, double *re, double *im);

C_END
#endif
