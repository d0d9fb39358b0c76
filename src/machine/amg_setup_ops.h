/* The launches that make the levels of multigrid on a device, from matrices in its memory; the steps are those of
   src/solvers/amg.h. Implemented by gpu/kernels/k_amg_setup.cu, for cuda and emu. */
#ifndef AMG_SETUP_OPS_H
#define AMG_SETUP_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

C_BEGIN

struct device;

/* A matrix in CSR; the arrays are in the memory of the device. near: the columns again, in 16 bits, relative to
   amg_base; NULL: some are too far from it. */
struct amg_csr {
    int64_t rows, cols, nnz;
    int *ptr, *col;
    void *val;
    unsigned short *near;
};

#ifdef __CUDACC__
#define AMG_BOTH static __host__ __device__ inline
#else
#define AMG_BOTH static inline
#endif

/* The column to which the columns of a row are relative: AMG_BLOCK rows share it, and their columns are expected around
   the diagonal of the matrix, whose slope is cols / rows. */
enum { AMG_BLOCK = 256 };
AMG_BOTH int amg_base(int64_t row, double slope)
{
    return (int)((double)(row / AMG_BLOCK * AMG_BLOCK) * slope) - (1 << 15);
}

/* Rows of a matrix for `multiply`: row j is at [begin[j], end[j]) of col and val, which have nnz entries. */
struct amg_rows {
    int64_t rows, nnz;
    const int *begin, *end, *col;
    const void *val;
};

/* Rows in the order in which threads appended them: row i has length[i] entries from start[i] on, and length[rows] is
   0, so that prefix sums of the lengths are row pointers. `room`: the number of entries for which there is memory. */
struct amg_list {
    int64_t room;
    int *start, *col;
    int64_t *length;
    void *val;
};

/* AMG_ROUNDS: rounds in which rows are decided between two reads of the facts by the host. AMG_TABLES: sizes of the
   hash tables of `multiply`, the smallest first. */
enum { AMG_ROUNDS = 4, AMG_TABLES = 4 };
/* A diagonal entry is extreme if it, or its inverse, is smaller: fp32 might overflow. */
static const double AMG_SMALLEST = 1e-12;

/* Flags and figures that launches find; 0 at first, except the counts before the first round. */
struct amg_facts {
    unsigned negative, positive, missing, extreme; /* the diagonal has such entries; `exchange`: a pivot is negative */
    unsigned full;           /* a row has more entries than a kernel accepts, or a list has no room */
    unsigned far[2];         /* a column of one of two matrices is too far from amg_base */
    unsigned long long most; /* the largest sum of |a_ij / a_ii| over a row, as the bits of a double */
    unsigned long long used; /* entries of a list */
    unsigned long long open[AMG_ROUNDS + 1], near[AMG_ROUNDS + 1]; /* lengths of the lists of struct amg_rounds */
};

/* The choice of roots. mark: the facts of each row; once: the largest mark of each row and its strong neighbours.
   Before round k, list open[k % 2] has the rows that are not decided, and near[k % 2] those whose once is the mark of
   such a row; their lengths are facts->open[k] and facts->near[k]. */
struct amg_rounds {
    uint64_t *mark, *once;
    int *open[2], *near[2];
};

/* Element i of the vector from which eigenvalues are estimated: a number in [-1, 1). */
AMG_BOTH double amg_random(int64_t i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return (double)(int64_t)(x ^ x >> 31) / 9223372036854775808.;
}

/* The results do not depend on the order in which threads run, except the order of the rows of lists. */
struct amg_setup_ops {
    /* Nothing is known; facts may contain anything. */
    void (*forget)(struct device *d, struct amg_facts *facts);
    void (*diagonal)(struct device *d, const struct amg_csr *A, void *dinv, struct amg_facts *facts);
    void (*random)(struct device *d, int64_t rows, void *x);
    void (*strong)(struct device *d, const struct amg_csr *A, const void *dinv, double theta, unsigned char *strong);
    /* All rows are open, and in both lists. */
    void (*begin)(struct device *d, int64_t rows, const struct amg_rounds *r);
    /* Round k: a row whose mark is the largest within distance 2 becomes a root; a row within distance 2 of a root is
       covered. most: a bound on the lengths of the lists. */
    void (*decide)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const struct amg_rounds *r,
                   int k, int64_t most, struct amg_facts *facts);
    /* count[i] = 1 if row i is a root with a strong neighbour, else 0; count[rows] = 0, for a prefix sum */
    void (*roots)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const uint64_t *mark,
                  int64_t *count);
    /* of[i] = the number of root i, given the prefix sums of the counts; -1: row i is not a root */
    void (*number)(struct device *d, int64_t rows, const int64_t *at, int *of);
    void (*join)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const void *dinv,
                 const int *from, int *to);
    /* weight[j] = the sum of of_row[i] over the rows with of[i] = j; of_row NULL: ones. The near-null vector is the
     * root of the weights. */
    void (*weigh)(struct device *d, int64_t rows, int64_t aggregates, const int *of, const int *of_row, int *weight);
    /* P = (I - omega D^-1 F) T, with rows sorted by column */
    void (*prolong)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const int *of,
                    int64_t aggregates, const int *of_row, const int *weight, double omega, const struct amg_list *P,
                    struct amg_facts *facts);
    /* C = A B; sort: by column */
    void (*multiply)(struct device *d, const struct amg_csr *A, const struct amg_rows *B, int table, bool sort,
                     const struct amg_list *C, struct amg_facts *facts);
    /* end[i] = the end of row i */
    void (*ends)(struct device *d, int64_t rows, const struct amg_list *l, int *end);
    /* Copy the rows to A, which has row pointers. */
    void (*move)(struct device *d, const struct amg_list *l, struct amg_csr *A);
    /* Copy the upper triangle of A to the lower one, as rounding errors make them differ. */
    void (*mirror)(struct device *d, struct amg_csr *A);
    /* ptr[i] = at[i], for i <= rows */
    void (*pointers)(struct device *d, int64_t rows, const int64_t *at, int *ptr);
    /* A->near[k] = A->col[k] - amg_base; facts->far[which] = 1 if that needs more than 16 bits */
    void (*near)(struct device *d, const struct amg_csr *A, int which, struct amg_facts *facts);
    /* For the transpose: key = column << 32 | row and the value of each entry; after a sort by column, `values` turns
       the payload into values of the type. */
    void (*keys)(struct device *d, const struct amg_csr *A, uint64_t *key, double *payload);
    void (*values)(struct device *d, int64_t n, const double *payload, void *val);
    void (*narrow)(struct device *d, int64_t n, const void *x, float *y); /* y = x */
    /* The inverse of sign * A, a small matrix: `full` makes it a full matrix, and *least the limit below which a pivot
       counts as 0; `exchange` does steps k and k + 1 of n, from one full matrix to another; `full_csr` makes the result
       a matrix in CSR. dropped[k] = 1 if pivot k is 0 up to rounding. */
    void (*full)(struct device *d, const struct amg_csr *A, double sign, double epsilon, double *to, double *least);
    void (*exchange)(struct device *d, int64_t n, int64_t k, const double *from, const double *least, double *to,
                     int *dropped, struct amg_facts *facts);
    void (*full_csr)(struct device *d, const double *full, const int *dropped, struct amg_csr *A);
};
/* real: T_F32 or T_F64. NULL: the host makes the levels for this device. */
const struct amg_setup_ops *amg_setup_ops_of(const struct device *d, enum type real);

C_END
#endif
