/* What it costs to bring a matrix to a device and a product back, copied as programs may do it (THESIS 3.4). */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct device;
struct err;

#ifdef __cplusplus
extern "C" {
#endif

enum { STREAMS_MOST = 32, PIECES_MOST = 1024 };

/* What a device with memory of its own can do beside device_ops. Streams are queues: what is in one is done in order,
   what is in two may be done at once. stream NULL: the device's own. */
struct transfer_ops {
    void *(*pin)(struct device *d, int64_t bytes, struct err *e); /* page-locked memory of the host */
    void (*unpin)(struct device *d, void *p);
    void *(*stream)(struct device *d, struct err *e); /* a new one */
    void (*close)(struct device *d, void *stream);
    /* Queue a copy: to the device, or back. Of page-locked memory it returns at once. */
    bool (*copy)(struct device *d, void *stream, void *to, const void *from, int64_t bytes, bool back, struct err *e);
    bool (*wait)(struct device *d, void *stream, struct err *e);
};
/* NULL: d works in the host's own memory, and there is nothing to copy (gpu/transfer.c). */
const struct transfer_ops *transfer_ops_of(const struct device *d);

struct transfer_plan {
    const struct csr *A;
    struct device *dev;
    const struct transfer_ops *ops;
    enum type real;
    int pieces, streams; /* 1 .. PIECES_MOST, 1 .. STREAMS_MOST */
    int products;        /* by each piece, once it is there: 1 .. */
    int reps;            /* of each way; 0 = chosen */
    struct watch *watch;
};

/* The ways, in the order of the table that explains them, transfer_ways. */
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
    bool pinned, in, multiply, back; /* the matrix goes in; products; what came of it goes back */
    bool all_back;                   /* the whole matrix goes back, as a copy alone */
    bool whole;                      /* in one copy */
    bool streamed;                   /* in several streams, else in one */
};
extern const struct transfer_way transfer_ways[WAYS];

struct transfer {
    const struct kernel *kernel;
    int64_t matrix_bytes, result_bytes;
    struct {
        double us, spread_us, gbs; /* median, half the distance between the quartiles; bytes moved over that */
        int reps;
    } way[WAYS];
    double pin_us;      /* to page-lock the matrix's memory, once */
    double transfer_us; /* pinned, and the result back */
    double without_us;  /* without overlap: transfer + execution, in one stream */
    double hidden; /* share of the shorter of transfer and execution by streams that overlapping hides: 1 at best */
};
/* Measure all ways. Before any is timed, what it brings is held against what was sent, and the product against the
   reference: E_NUMERIC when it is wrong. */
bool transfer_measure(const struct transfer_plan *p, struct transfer *out, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
