/* Devices with members: what the files of gpu/multi share. */
#ifndef MULTI_H
#define MULTI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/err.h"
#include "base/precision.h"
#include "gpu/dev.h"
#include "gpu/halo.h"
#include "gpu/member_place.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "parts/partition.h"

C_BEGIN

struct csr;
struct part;
struct pass_call;
struct passes;

/* An allocation: a copy on each member, or vectors whose elements are divided among the members. `at` is the address
   that the host calls it by: for copies that of member 0, for vectors a range of addresses without memory. */
struct block {
    char *at;
    int64_t bytes;
    void *part[MEMBERS_MAX];
    bool vectors;
    int64_t size;                   /* bytes of an element of a vector */
    int64_t first[MEMBERS_MAX + 1]; /* the elements of member k are first[k] .. first[k + 1] - 1 */
};

struct multi {
    struct device *member[MEMBERS_MAX];
    bool owned[MEMBERS_MAX]; /* opened for this device alone */
    int n;
    bool ready;
    bool mixed;      /* members of several kinds, whose arithmetic may differ in the last bit */
    bool concurrent; /* the launches of the members run at the same time */
    bool shared_gpu; /* two members are the same GPU */
    enum transport best;
    struct device_ops ops;
    struct block *block;
    int nblocks, room;
    void *shared[8]; /* addresses that `share` gave out, which only member 0 may write to */
    unsigned epoch;  /* number of the last exchange of sums, if the host counts */
    struct seat seat[MEMBERS_MAX];
    int *late[MEMBERS_MAX]; /* seat.late, as the host reads it */
    struct err pending;     /* the first error of operations, which cannot fail themselves; the next sync reports it */
    char *staging;          /* host memory through which copies go */
    int64_t staging_bytes;
    void *comm[MEMBERS_MAX]; /* the members' ends of NCCL's connections; NULL: not connected */
};

static inline struct multi *multi_of(const struct device *d)
{
    return (struct multi *)d->impl;
}

/* ---- dev_multi.c ---- */

/* The allocation that an address lies in; NULL: none. */
const struct block *multi_block(const struct multi *m, const void *p);
/* The address on member k that belongs to p, an address in b; in vectors, p is the beginning of a vector. */
void *multi_part(const struct block *b, const void *p, int k);
/* Memory for n vectors of first[members] elements of `size` bytes, of which member k has first[k] .. first[k + 1] - 1.
   NULL: see e. */
void *multi_vectors(struct device *d, const int64_t *first, int64_t n, int64_t size, const char *what, struct err *e);
/* Start the device again if a reset has taken its mailboxes. */
bool multi_start(struct device *d, struct err *e);
bool multi_note_lost(struct device *d); /* d is lost if a member is; returns false */
/* Can all members copy to other devices? */
bool multi_all_carry(const struct multi *m);
/* Launches of this thread go to the member from now on. */
bool multi_select(struct device *member, struct err *e);

/* ---- multi_transport.c ---- */

/* The way that transport_choose was called with. */
enum transport transport_wanted(void);
/* Do launches of the members store into each other's memory? */
bool transport_is_peer(const struct multi *m);
/* Do two members share one memory: that of the host, or of one GPU? */
bool multi_one_memory(const struct device *a, const struct device *b);

/* ---- multi_graph.c: device_ops.capture, replay and forget ---- */

void *multi_capture(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx);
bool multi_replay(struct device *d, void *graph, struct err *e);
void multi_forget(struct device *d, void *graph);

/* ---- multi_ops.cc ---- */

/* A pass by all members. */
void multi_pass(const struct passes *p, const char *name, const struct pass_call *c);
/* Seat the members for a stage of an operation, and end the stage. */
void multi_sit(struct device *d, int stage);
void multi_stand(struct device *d);

/* ---- multi_piece.c ---- */

/* What one member has of a matrix: y = inside x + outside halo. */
struct piece {
    struct stored S;   /* the entries in its own columns, in the format of the matrix */
    struct csr *lends; /* owns the arrays that S borrows, if members use the host's memory; NULL: S borrows none */
    struct mat local;
    int64_t rows, cols, halo, sends;
    int targets; /* members that need its items of x */
    int target[MEMBERS_MAX];
    int64_t first[MEMBERS_MAX + 1]; /* items first[k] .. first[k + 1] - 1 of `send` go to target k */
    int64_t halo_at[MEMBERS_MAX];   /* where they begin in the halo of target k */
    unsigned neighbours;            /* bit r: exchanges items or flags with member r */
    int *send;
    void *packed; /* the items to send, unless launches store them into the halos */
    void *in[2];  /* the halo: one for even products, one for odd ones, after it */
    unsigned *flag, *ticket;
    unsigned *count;           /* the number of the last product that it began, if launches count (gpu/halo.h) */
    int64_t out_rows, out_nnz; /* the rows with entries in others' columns */
    int *row, *ptr, *col;
    void *val;
    /* If there is at least one such entry per row on average, they are a matrix in CSR instead, which the kernels for
       CSR multiply by `now`, the halo of this product. */
    struct stored outer_S;
    struct csr *outer_lends;
    struct mat outer;
    void *now;
    int64_t bytes;
};

struct pieces {
    struct device *dev;
    struct partition P;
    int n;
    unsigned epoch; /* number of the last product, if the host counts */
    struct piece piece[MEMBERS_MAX];
};

/* Allocate memory on d and fill it, unless `from` is NULL; *sum grows by its bytes. */
void *put_array(struct device *d, const void *from, int64_t bytes, const char *what, int64_t *sum, struct err *e);
/* Are the outer entries of a part a matrix of their own? They are if there is at least one per row on average. */
bool is_outer_matrix(const struct csr *outside);
/* The format of that matrix: csr, or csr64 if csr cannot hold it. */
const struct format *outer_format(const struct csr *outside);
/* After q->outer has its arrays: what else it needs. */
bool outer_matrix_new(struct piece *q, struct device *d, const struct csr *outside, enum type type, struct err *e);
/* Fails if the outer entries of a part on d are more than a member can have. */
bool outside_allowed(const struct device *d, int64_t nnz, struct err *e);
/* Fails unless each part fits on its member. rows_outside: the rows of each part with entries in columns of others. */
bool pieces_fit(const struct pieces *p, const struct part *part, const int64_t *rows_outside, int64_t size,
                struct err *e);
/* What member k exchanges with others, for the parts all[]; items take `size` bytes. */
bool pieces_link(struct pieces *p, int k, const struct part *all, int64_t size, struct err *e);

void piece_free(struct piece *q, struct device *d);

/* ---- multi_mat.c ---- */

/* Divide S among the members of d and copy each part: *M becomes the matrix. After a failure, *M is empty. */
bool pieces_put(struct mat *M, const struct stored *S, struct device *d, struct err *e);
void pieces_free(struct pieces *p); /* accepts NULL */

/* ---- multi_made.c ---- */

/* Put a matrix without arrays on the members: each member gets its rows as they are made, a few at a time. */
bool pieces_make(struct pieces *p, const struct stored *S, struct err *e);

/* ---- multi_product.c ---- */

/* y = alpha A x + beta y by all members; then, if L->s is set, the sums of cg. Fails with E_UNSUPPORTED if no kernel
   runs on a member. */
bool multi_launch(const struct kernel *k, const struct launch *L, struct err *e);

/* ---- multi_nccl.c ---- */

/* Bytes to copy from member `from` to member `to`. */
struct member_copy {
    int from, to;
    const void *source;
    void *target;
    int64_t bytes;
};
/* Can NCCL connect the members? It connects different GPUs. */
bool multi_nccl_fits(const struct multi *m);
/* Opens NCCL. Fails if it is not installed. */
bool multi_nccl_found(struct err *e);
/* Queue n copies as one group; they are ordered with the launches of both members. */
bool multi_nccl_copy(struct multi *m, int n, const struct member_copy *copy, struct err *e);
/* Forget the connections. The next copies make new ones. */
void multi_nccl_close(struct multi *m);

/* The functions of NCCL, with its types as they are passed: results and the type of elements are enumerations. */
struct nccl_calls {
    int (*init_all)(void **comm, int n, const int *gpu);
    int (*abort)(void *comm);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(const void *from, size_t bytes, int type, int peer, void *comm, void *stream);
    int (*receive)(void *to, size_t bytes, int type, int peer, void *comm, void *stream);
    const char *(*error)(int result);
};
/* For tests: call these functions instead of the library's, also if members are no GPUs. NULL: the library's. */
void multi_nccl_replace(const struct nccl_calls *calls);

/* ---- multi_exchange.c ---- */

/* Move the sums, or the items of x, that the members have written to their own memory to where they belong. Does
   nothing if launches have stored them there. epoch: the number of the exchange; size: bytes of an item. */
bool multi_sums_move(struct device *d, unsigned epoch, struct err *e);
bool multi_halo_move(struct pieces *p, int64_t size, struct err *e);

C_END
#endif
