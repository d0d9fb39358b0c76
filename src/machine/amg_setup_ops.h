/* The launches that make the levels of multigrid on a device, from matrices in its memory; the steps are those of
   src/solvers/amg.h. Implemented by gpu/kernels/k_amg_setup.cu, for cuda and emu. */
#ifndef AMG_SETUP_OPS_H
#define AMG_SETUP_OPS_H

#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* A matrix in CSR; the arrays are in the memory of the device. */
struct amg_csr {
    int64_t rows, cols, nnz;
    int *ptr, *col;
    void *val;
};

/* What `diagonal` finds: flags, and the largest sum of |a_ij / a_ii| over a row, as the bits of a double. */
struct amg_facts {
    unsigned negative, positive, missing, full; /* full: a row has more entries than a kernel takes */
    unsigned open;                              /* rows that are not decided */
    unsigned reserved;
    unsigned long long most;
};

/* The results do not depend on the order in which threads run. Row pointers and counts: count[i] receives the entries
   of row i, and count[rows] receives 0, for a prefix sum. */
struct amg_setup_ops {
    void (*diagonal)(struct device *d, const struct amg_csr *A, void *dinv, struct amg_facts *facts);
    void (*strong)(struct device *d, const struct amg_csr *A, const void *dinv, double theta, unsigned char *strong);
    void (*begin)(struct device *d, int64_t rows, uint64_t *mark);
    /* to[i] = the largest mark of row i and its strong neighbours */
    void (*spread)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const uint64_t *from,
                   uint64_t *to);
    void (*decide)(struct device *d, int64_t rows, uint64_t *mark, const uint64_t *most, struct amg_facts *facts);
    /* count[i] = 1 if row i is a root with a strong neighbour, else 0 */
    void (*roots)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const uint64_t *mark,
                  int64_t *count);
    /* of[i] = the number of root i, given the prefix sums of the counts; -1: row i is not a root */
    void (*number)(struct device *d, int64_t rows, const int64_t *at, int *of);
    void (*join)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const void *dinv,
                 const int *from, int *to);
    /* weight[of[i]] += of_row[i]; of_row NULL: ones. The near-null vector is the root of the weights. */
    void (*weigh)(struct device *d, int64_t rows, int64_t aggregates, const int *of, const int *of_row, int *weight);
    /* P = (I - omega D^-1 F) T; P->ptr NULL: only count the entries of each row */
    void (*prolong)(struct device *d, const struct amg_csr *A, const unsigned char *strong, const int *of,
                    const int *of_row, const int *weight, double omega, int64_t *count, struct amg_csr *P,
                    struct amg_facts *facts);
    /* C = A B; C->ptr NULL: only count. wide: for longer rows */
    void (*multiply)(struct device *d, const struct amg_csr *A, const struct amg_csr *B, int wide, int64_t *count,
                     struct amg_csr *C, struct amg_facts *facts);
    /* Copy the upper triangle of A to the lower one, as rounding errors make them differ. */
    void (*mirror)(struct device *d, struct amg_csr *A);
    /* ptr[i] = at[i], for i <= rows */
    void (*pointers)(struct device *d, int64_t rows, const int64_t *at, int *ptr);
    /* For the transpose: key = column << 32 | row and the value of each entry; after a sort by column, `values` turns
       the payload into values of the type. */
    void (*keys)(struct device *d, const struct amg_csr *A, uint64_t *key, double *payload);
    void (*values)(struct device *d, int64_t n, const double *payload, void *val);
};
/* real: T_F32 or T_F64. NULL: the host makes the levels for this device. */
const struct amg_setup_ops *amg_setup_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
