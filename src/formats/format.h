/* Storage formats: the entry that a format's file provides, and the functions shared by all formats. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "base/param.h"
#include "base/precision.h"
#include "base/role.h"
#include "stored.h"

C_BEGIN

struct csr;
struct err;

/* A format that another format could have chosen for a matrix. */
struct candidate {
    const struct format *format;
    int64_t padding; /* slots - nnz, with this format */
    bool chosen;
};
enum { CANDIDATES_MAX = 4 };

/* A format consists of one file, fmt_NAME.c, which ends with this entry, and one line in formats.def. */
struct format {
    const char *name, *about, *source;
    const char *aliases; /* other names, separated by blanks; NULL: none */
    struct param params[PARAMS_MAX + 1];
    bool zeros_fade;  /* a stored zero cannot be distinguished from padding (DIA, BSR, dense) */
    bool raw;         /* has no padding by construction */
    bool interchange; /* the format in which the program keeps matrices, so no conversion is needed */
    bool spills; /* with its default parameters, the format limits the padding of rows and stores the remaining entries
                    without padding */
    /* The arrays of A in this format are those of A^T in format `transposed`, in the same order; NULL: no such format.
     */
    const struct format *transposed;
    int value;     /* index of the array of the values; -1 if there are several (see values) */
    int values[3]; /* if value is -1: the indices of the value arrays, terminated by -1 */
    /* For formats that store each distinct value once: the value of slot i of value array k, 0 for padding. Such a
       "value array" has a slot for each entry, but the value is elsewhere. NULL: the value is in the slot. */
    void (*slot_value)(const struct stored *S, int k, int64_t i, double *re, double *im);
    /* Resolve S->param and list the arrays (name, role, type, n; no data) with exact sizes, before anything is
       allocated. May use O(rows + cols + nnz) time and O(rows + cols) temporary memory. */
    bool (*plan)(const struct csr *A, struct stored *S, struct err *e);
    /* Fill the arrays that are not lent; the caller has allocated and zeroed them. */
    bool (*pack)(const struct csr *A, struct stored *S, struct err *e);
    /* For formats that store large matrices (matrix/csr.h): the array of the large matrix A that is array k of S, so
       that S needs no copy of it; NULL: S has an array of its own. NULL instead of a function: the format stores small
       matrices only. */
    void *(*of_large)(const struct csr *A, const struct stored *S, int k);
    /* The entry, padding or pointer in slot i of array k, 0 <= i < S->a[k].n. For padding, col is -1, and row is the
       row that reads the padding, or -1. */
    struct place (*where)(const struct stored *S, int k, int64_t i);
    /* Formats that store diagonals: set *operands to the number of operands in piece k. The load balance is measured
       from these numbers (see struct measures). Returns false if there is no piece k. NULL for other formats. */
    bool (*piece)(const struct stored *S, int64_t k, int64_t *operands);
    /* Formats that store a matrix as one of several others: set out[0 .. *n-1] to these, for the matrix A that was
       stored as S. This plans each of them. NULL for other formats. */
    bool (*candidates)(const struct csr *A, const struct stored *S, struct candidate out[CANDIDATES_MAX], int *n,
                       struct err *e);
    /* Change the default parameters to suit A, whose values are stored as `real`, and a GPU with this number of
       multiprocessors; NULL: no change. May leave them unchanged if a loop is stopped (base/loop.h). */
    void (*suit)(const struct csr *A, enum precision real, int multiprocessors, int64_t *param);
    const char *rule; /* the formula of `suit` for the first parameter, if A is not used and may be NULL; else NULL */
};

extern const struct format *const formats[]; /* terminated by NULL, in the order of formats.def */
extern const struct registry format_registry;
const struct format *format_find(const char *name);
/* Does f store matrices of the size of A, large or small? */
bool format_takes(const struct format *f, const struct csr *A);
/* The format whose arrays are those of struct csr: csr; for a large A, csr64. A may be NULL. */
const struct format *format_native(const struct csr *A);

struct plan {
    struct stored shape; /* the arrays, without data, and the resolved parameters */
    int64_t bytes;       /* total size of the arrays */
    int64_t slots;       /* elements of the value arrays */
    int64_t padding;     /* slots - nnz */
};

/* Compute bytes, slots and padding from the arrays' lengths. */
struct plan plan_of(const struct stored *shape);
/* Set S->param from param (PARAMS_MAX values, or NULL for the defaults). Fails with E_USAGE if a value is outside its
   bounds. */
bool format_params(const struct format *f, const int64_t *param, struct stored *S, struct err *e);
/* The defaults of f, changed to suit A and a GPU: written to param[PARAMS_MAX] and returned; NULL: the defaults, also
   for 0 multiprocessors, which stand for no GPU. */
const int64_t *format_suit(const struct format *f, const struct csr *A, enum precision real, int multiprocessors,
                           int64_t *param);
/* Compute the sizes of A in format f, without allocating arrays. `param` has PARAMS_MAX values, or is NULL for the
   defaults. A narrow precision fails if A is complex or has a value beyond the largest number of this type. The values
   of a complex matrix are stored as pairs. Fails with E_LIMIT if A is large and f stores small matrices only. */
bool format_plan(const struct csr *A, const struct format *f, const int64_t *param, enum precision real,
                 struct plan *out, struct err *e);
/* Can the values of A be stored in this precision? Fails with E_UNSUPPORTED if one would become inf. */
bool format_fits_values(const struct csr *A, enum precision real, struct err *e);
/* Values that are not 0, but become 0 when they are stored in this precision. Returns false if there are none. */
struct vanishing {
    int64_t values;
    enum type stored;
    double smallest; /* positive number of that type */
};
bool format_vanishing(const struct csr *A, enum precision real, struct vanishing *out);
/* Fails with E_LIMIT if the plan exceeds `memory` bytes. If `force` is not set, also fails if the plan has more than 20
   slots of padding per nonzero and needs more than 64 MB. The error message gives the estimated size. */
bool format_allow(const struct plan *p, int64_t memory, bool force, struct err *e);
/* The same with the memory that is available to this process. A small plan always fits. */
bool format_allow_here(const struct plan *p, bool force, struct err *e);
/* Plan, check the plan with format_allow_here, allocate and pack. The caller frees *out with stored_free. */
bool format_pack(const struct csr *A, const struct format *f, const int64_t *param, enum precision real, bool force,
                 struct stored *out, struct err *e);
/* The same with a plan of A that exists. */
bool format_pack_plan(const struct csr *A, const struct plan *p, bool force, struct stored *out, struct err *e);
/* Convert back to CSR by means of `where`. The result has the values that S stores. The values are rounded unless
   S->real is P_F64 or P_C64. */
bool format_unpack(const struct stored *S, struct csr *out, struct err *e);

/* ---- for fmt_NAME.c and the packers ---- */

/* fmt_NAME.h declares NAME_sizes, the last step of planning. Packing on the host and packing on a device both call this
   function. NAME_sizes resolves the remaining parameters and lists the arrays. NAME_sizes fails if the format cannot
   store the matrix. */

/* Append an array to the plan; plan_values: an array of values, in the type in which the precision of S stores them. */
void plan_array(struct stored *S, const char *name, enum role role, enum type type, int64_t n);
void plan_values(struct stored *S, const char *name, int64_t n);
/* Write the value of entry k of A to slot i, converted to the array's type. */
void put_value(struct array *a, int64_t i, const struct csr *A, int64_t k);
void put_values(struct array *a, const struct csr *A); /* the values of all entries of A, in the order of A */
/* For formats with zeros_fade: slot i of value array k stands for an entry if its position is inside the matrix and its
   value is not 0. */
struct place place_of_value(const struct stored *S, int k, int64_t i, int64_t row, int64_t col);

C_END
#endif
