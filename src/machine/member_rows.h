/* How the rows of a matrix, and the elements of vectors, are divided among the members of a device. Such a device has a
   name like cuda:0+1 or emu*3; it is opened by device_open, and its members share every matrix and vector by contiguous
   rows. Implemented by gpu/multi/. */
#ifndef MEMBER_ROWS_H
#define MEMBER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"
#include "device.h"

C_BEGIN

struct err;
struct kernel;
struct mat;
struct watch;

enum { SPLIT_MAX = 16 }; /* members of a device */

/* Memory for vectors with one element per row of M, or per column, on the device of M: `n` vectors at the pitch of
   vector_pitch.h, with elements of `size` bytes. If the device has members, each member has its part of each vector;
   the address stands for all parts, and may be moved by whole vectors. Other memory of such a device (ops->alloc) is a
   copy on each member. */
void *mat_row_vectors(const struct mat *M, int64_t n, int64_t size, const char *what, struct err *e);
void *mat_col_vectors(const struct mat *M, int64_t n, int64_t size, const char *what, struct err *e);

/* How members send items to each other. AUTO: the first of the following that all members can use. */
enum transport {
    TRANSPORT_AUTO,
    TRANSPORT_PEER, /* launches store into the memory of other members, and set flags there */
    TRANSPORT_COPY, /* launches collect the items, and copies between devices move them */
    TRANSPORT_NCCL, /* launches collect the items, and NCCL moves them; only if chosen */
    TRANSPORT_HOST, /* the items go through the host's memory */
    TRANSPORTS
};
const char *transport_name(enum transport x); /* "auto", "peer", "copy", "nccl", "host" */
/* The way for all devices from now on; a device whose members cannot use it takes the next one. */
void transport_choose(enum transport wanted);
/* The way that a device with members uses. */
enum transport transport_of(const struct device *d);

/* How rows are divided among members of one kind: "bytes" (the default), "nnz" or "rows", each the name of a way
   (src/parts). For matrices that are copied to a device from now on. */
void split_by(const char *way);

/* Is `part` d itself or a member of d? */
static inline bool device_has(const struct device *d, const struct device *part)
{
    bool found = d == part;
    for (int i = 0; i < d->members; i++) found |= d->member[i] == part;
    return found;
}

/* Measure d->link, if all members of d are GPUs; otherwise leave it as it is. */
bool device_links(struct device *d, struct watch *w, struct err *e);
/* The device whose links were measured, or NULL; with `apart`, only a device whose members are different GPUs. Of
   several, the one that was opened first. */
const struct device *device_with_links(bool apart);

/* d was reset, so devices of which d is a member have lost their memory on it. */
void device_was_reset(const struct device *d);

/* The part of a matrix that one member stores. */
struct split_member {
    const struct device *dev;
    int64_t rows, cols;   /* its rows, and its elements of x */
    int64_t nnz, outside; /* entries in its own columns, and in those of others */
    int64_t halo, sends;  /* elements of x that it needs from others, and that others need from it */
    int64_t bytes;        /* of its memory */
    int neighbours;       /* members with which it exchanges flags or items */
};
/* 0: M is on an ordinary device. Otherwise the number of members, and out[] describes them. */
int mat_split(const struct mat *M, struct split_member out[SPLIT_MAX]);
/* Bytes that all members together send in one product. */
int64_t mat_halo_bytes(const struct mat *M);

/* The steps of the members in a product and in the sum that follows it, in this order. */
enum split_phase { SPLIT_PUSH, SPLIT_LOCAL, SPLIT_WAIT, SPLIT_OUTSIDE, SPLIT_SUMS, SPLIT_PHASES };
const char *split_phase_name(enum split_phase p); /* "push", "local", ... */

/* A product y = A x and one inner product, phase by phase and member by member. On GPUs: when each phase began and
   ended, in us since the first began, by events. On the emulator: the sectors that the launches of each phase read and
   wrote. */
struct timeline {
    int members;
    bool timed;
    enum transport transport;
    struct timeline_cell {
        double from, to; /* us; NaN if not timed */
        double sectors;  /* NaN if timed */
    } cell[SPLIT_MAX][SPLIT_PHASES];
    struct split_member member[SPLIT_MAX];
    double us; /* from the first beginning to the last end; NaN if not timed */
    const struct device *dev;
    const struct kernel *kernel;
    enum precision real;
    char matrix[64]; /* its name, which the caller sets */
};
/* M must be on a device with members. Fails with E_USAGE otherwise. */
bool timeline_of(const struct mat *M, const struct kernel *k, struct timeline *out, struct watch *w, struct err *e);

C_END
#endif
