/* The time to copy a matrix to a device and to copy the result back, in the ways that programs use (THESIS 3.4). gpu/
   implements transfer_ops_of (gpu/transfer.c, gpu/cuda/transfer.cu) and transfer_page_locked (gpu/staging.c);
   transfer.c implements all other functions. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"

struct csr;
struct device;
struct err;

C_BEGIN

enum { STREAMS_MAX = 32, PIECES_MAX = 1024 };

/* Additional operations of a device with separate memory. A stream is a queue: work in one stream is done in order;
   work in different streams may overlap. If stream is NULL, the device's default stream is used. */
struct transfer_ops {
    void *(*pin)(struct device *d, int64_t bytes, struct err *e); /* page-locked memory of the host */
    void (*unpin)(struct device *d, void *p);
    void *(*stream)(struct device *d, struct err *e); /* a new stream, which close releases */
    void (*close)(struct device *d, void *stream);
    /* Queue a copy to the device, or to the host if `back` is set. Returns immediately if the host memory is
       page-locked. */
    bool (*copy)(struct device *d, void *stream, void *to, const void *from, int64_t bytes, bool back, struct err *e);
    bool (*wait)(struct device *d, void *stream, struct err *e);
};
/* NULL if d works in host memory, so that there is nothing to copy. */
const struct transfer_ops *transfer_ops_of(const struct device *d);
/* Should large copies to and from devices pass through page-locked buffers? Yes, unless a call says no. */
void transfer_page_locked(bool on);

struct transfer_plan {
    const struct csr *A;
    struct device *dev;
    const struct transfer_ops *ops;
    enum precision real;
    int pieces, streams; /* 1 .. PIECES_MAX, 1 .. STREAMS_MAX */
    int products;        /* number of SpMVs with each piece after the copy of the piece; at least 1 */
    int reps;            /* number of timed runs of each way; 0 = chosen automatically */
    struct watch *watch;
};

/* The ways to copy and multiply, in the order of transfer_ways. */
enum way {
    WAY_PAGEABLE,
    WAY_PINNED,
    WAY_IN_PIECES,
    WAY_BACK_PAGEABLE,
    WAY_BACK_PINNED,
    WAY_EXECUTION,
    WAY_EXECUTION_STREAMS,
    WAY_TURNS_PAGEABLE,
    WAY_TURNS_PINNED,
    WAY_OVERLAPPED,
    WAYS
};
struct transfer_way {
    const char *name, *about;
    bool pinned;   /* host memory is page-locked */
    bool in;       /* copy the matrix to the device */
    bool multiply; /* multiply by the matrix on the device */
    bool back;     /* copy the result back */
    bool all_back; /* copy the whole matrix back, and nothing else */
    bool whole;    /* copy the matrix in one piece; if false, in several pieces */
    bool streamed; /* use several streams; if false, one stream */
};
extern const struct transfer_way transfer_ways[WAYS];

struct transfer {
    const struct kernel *kernel;
    int64_t matrix_bytes, result_bytes;
    struct {
        double us;        /* median time */
        double spread_us; /* half the interquartile range of the times */
        double gbs;       /* bytes moved / median time */
        int reps;
    } way[WAYS];
    double pin_us;      /* time to page-lock the matrix's memory once */
    double transfer_us; /* time to copy the matrix from page-locked memory to the device, and the result back */
    double without_us;  /* time without overlap: transfer plus execution, in one stream */
    /* the time that overlapping saves, divided by the shorter of transfer and execution; at best 1 */
    double hidden;
};
/* Piece k of A: consecutive rows, so that all pieces have about the same number of entries. */
struct transfer_piece {
    int64_t first, rows, nnz;
    int64_t bytes; /* as the piece is copied: each array in whole 256 bytes */
};
struct transfer_piece transfer_piece_of(const struct csr *A, enum precision real, int k, int pieces);
/* The bytes that a way copies; 0 if it only multiplies. */
int64_t transfer_way_bytes(const struct transfer *t, enum way k);
/* Set transfer_us, without_us and hidden from the times of the ways. */
void transfer_conclude(struct transfer *t);
/* Measure all ways. Before a way is timed, the copied bytes are compared with the original, and the result of the SpMV
   is compared with the reference. Fails with E_NUMERIC if there is a difference. */
bool transfer_measure(const struct transfer_plan *p, struct transfer *out, struct err *e);

C_END
#endif
