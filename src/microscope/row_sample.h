/* A sample of the rows of a matrix, for kernels whose blocks take work dynamically. A sample of such a kernel's blocks
   would be meaningless, because timing decides which block does how much. The kernel therefore runs completely, but on
   a matrix that has only some of the rows, with all their columns, and on a GPU with as small a part of the
   multiprocessors: each multiprocessor has as many rows as for the whole matrix, and all counts scale alike.
   A sample represents a matrix less well if single rows hold several per cent of its entries. */
#ifndef ROW_SAMPLE_H
#define ROW_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/stored.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "model.h"

enum { PILOT_BLOCKS = 32 }; /* blocks watched to estimate the number of accesses of a large matrix */

struct row_sample {
    struct csr A;
    struct stored S;
    struct mat M;
    double times;       /* entries of the whole matrix / entries of the sample */
    struct scope whole; /* the launches for the whole matrix */
};

/* Can only a sample of the rows be watched, because k takes work dynamically? (a user's kernel runs in a process that
   knows no samples) */
bool row_sample_suits(const struct kernel *k);
/* Estimate the accesses of all blocks of all launches from PILOT_BLOCKS blocks per launch, or fewer if the blocks do so
   much each that watching these would take long. c receives what was counted. */
bool pilot_accesses(const struct kernel *k, const struct mat *M, struct watch *w, struct counts *c, double *accesses,
                    struct err *e);
/* Is a sample of the rows of S watched, because k would make more than `most` accesses? */
bool row_sample_needed(const struct kernel *k, const struct stored *S, double most);
/* Take about the given part of the rows of A, which is on the emulator as M, and store them as M is stored. The part is
   rounded up to whole multiprocessors. On failure, the sample is empty. */
bool row_sample_take(struct row_sample *r, const struct kernel *k, const struct csr *A, const struct mat *M,
                     double part, struct watch *w, struct err *e);
void row_sample_free(struct row_sample *r);
/* Scale what was counted or modeled on the sample to the whole matrix, M and A. Launches that access neither the matrix
   nor y, such as one that sets a counter to 0, stay as they are. */
void row_sample_scale_counts(const struct row_sample *r, const struct mat *M, struct counts *c);
/* c: the counts of the same run, already scaled */
void row_sample_scale_work(const struct row_sample *r, const struct csr *A, const struct counts *c, struct workload *w);

#endif
