/* Storage formats: what a format's file provides, and what is then done once for all of them. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/param.h"
#include "base/role.h"
#include "stored.h"

#ifdef __cplusplus
extern "C" {
#endif

struct csr;
struct err;

/* A format is one file, fmt_NAME.c, ending with this entry, and one line in formats.def. */
struct format {
    const char *name, *about, *source;
    struct param params[PARAMS_MAX + 1];
    bool zeros_fade;  /* a stored explicit zero cannot be told from padding (DIA, BSR, dense) */
    bool raw;         /* has no padding by construction */
    bool interchange; /* it is the form that matrices are kept in: no conversion to pay for */
    bool spills;      /* by default it pads rows only as far as that saves bytes, and stores the rest without padding */
    int value;        /* index of the array that holds the values; -1 when there are several (see values) */
    int values[3];    /* with value == -1: the indices of the value arrays, ended by -1 */
    /* Resolve S->param and list the arrays (name, type, n; no data): exact sizes, before anything is
       allocated. May use O(rows + cols + nnz) time and temporary memory of O(rows + cols). */
    bool (*plan)(const struct csr *A, struct stored *S, struct err *e);
    /* Fill the arrays, which are allocated and zeroed. */
    bool (*pack)(const struct csr *A, struct stored *S, struct err *e);
    /* What slot i of array k is. Any slot of any array, 0 <= i < S->a[k].n. Padding has no column; it names
       the row that reads it, or -1. */
    struct place (*where)(const struct stored *S, int k, int64_t i);
    /* Formats of diagonals: the operands of piece k, by which the balance of work is measured (see struct measures);
       false when there are no more than k pieces. NULL for other formats. */
    bool (*piece)(const struct stored *S, int64_t k, int64_t *operands);
    /* Change the parameters from the defaults to those for a GPU with so many multiprocessors; NULL: nothing to. */
    void (*suit)(int multiprocessors, int64_t *param);
};

extern const struct format *const formats[]; /* ended by NULL, in the order of formats.def */
extern const struct registry format_registry;
const struct format *format_find(const char *name);

struct plan {
    struct stored shape; /* arrays without data, params resolved */
    int64_t bytes;       /* of all arrays */
    int64_t slots;       /* places for values */
    int64_t padding;     /* slots - nnz */
};

/* What follows from the arrays' lengths. */
struct plan plan_of(const struct stored *shape);
/* S->param from param (PARAMS_MAX values, or NULL for the defaults), which must be within their bounds. */
bool format_params(const struct format *f, const int64_t *param, struct stored *S, struct err *e);
/* Sizes of A in format f before any allocation. param: PARAMS_MAX values, or NULL for the defaults. */
bool format_plan(const struct csr *A, const struct format *f, const int64_t *param, enum type real, struct plan *out,
                 struct err *e);
/* Refuse (E_LIMIT, with the estimate, naming `force`) when the plan would waste memory: padding above
   20 slots a nonzero and 64 MB, or more than the memory there is; force obeys up to the memory limit. */
bool format_allow(const struct plan *p, int64_t memory, bool force, struct err *e);
/* plan + allow + allocate + pack. A complex matrix is refused by name. */
bool format_pack(const struct csr *A, const struct format *f, const int64_t *param, enum type real, bool force,
                 struct stored *out, struct err *e);
/* The exact matrix back (values as stored: fp32 packs give rounded values), by way of `where`. */
bool format_unpack(const struct stored *S, struct csr *out, struct err *e);

/* fmt_NAME.h declares NAME_sizes, the last step of a plan on the host and on a device: it resolves the rest of
   S->param, lists the arrays and refuses what the format cannot hold. */

/* for fmt_*.c: append an array to the plan; write value v to slot i in S->real */
void plan_array(struct stored *S, const char *name, enum role role, enum type type, int64_t n);
void put_real(struct array *a, int64_t i, double v);
void put_reals(struct array *a, const double *v); /* the whole array, a->n values */
void put_ints(struct array *a, const int *v);     /* likewise, for T_I32 */
/* For formats whose zeros fade: slot i of value array k is an entry if it is inside the matrix and not 0. */
struct place place_of_value(const struct stored *S, int k, int64_t i, int64_t row, int64_t col);

#ifdef __cplusplus
}
#endif
#endif
