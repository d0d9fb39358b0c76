/* The blocks, threads and bytes of shared memory with which a cluster stores a small system. */
#include "base/err.h"
#include "base/text.h"
#include "cluster_ops.h"
#include "device.h"
#include "matrix/csr.h"

enum {
    LANE_ENTRIES = 16, /* a row has more threads if each would otherwise add up more than this number of entries */
    LANES_MAX = 32,    /* a row has at most the threads of a warp */
    BLOCK_ITEMS = 128, /* a cluster has more blocks if each would otherwise have more than this number of items, where
                          an item is a row times its threads */
    THREADS_FEW = 256, /* a block has more threads if it would otherwise have more than ITEMS_FEW items */
    ITEMS_FEW = 384
};

static int lanes_for(const struct csr *A)
{
    int lanes = 1;
    while (lanes < LANES_MAX && lanes * LANE_ENTRIES * A->rows < A->nnz) lanes *= 2;
    return lanes;
}

/* The largest number of entries in a block of `rows` rows. */
static int64_t entries_for(const struct csr *A, int64_t rows)
{
    int64_t most = 0;
    for (int64_t from = 0; from < A->rows; from += rows) {
        int64_t end = from + rows < A->rows ? from + rows : A->rows, n = A->rowptr[end] - A->rowptr[from];
        most = n > most ? n : most;
    }
    return most;
}

static int64_t bytes_for(int64_t rows, int64_t entries, int vectors, enum type real)
{
    int64_t size = (int64_t)type_size(real), index = (int64_t)sizeof(int);
    return (vectors * rows + entries) * size + (entries + rows + 1) * index;
}

/* The plan with this number of blocks. false: it needs more than `room` bytes per block. */
static bool fits(const struct csr *A, enum type real, int vectors, int64_t more, int64_t room, struct cluster_plan *p)
{
    int64_t rows = (A->rows + p->blocks - 1) / p->blocks;
    p->bytes = more + bytes_for(rows, 0, vectors, real);
    if (p->bytes > room) return false;
    int64_t entries = entries_for(A, rows);
    p->bytes = more + bytes_for(rows, entries, vectors, real);
    p->rows = (int)rows;
    p->entries = p->bytes > room ? 0 : (int)entries;
    return p->bytes <= room;
}

bool cluster_plan_make(struct device *d, const struct csr *A, enum type real, int vectors, int64_t more,
                       struct cluster_plan *out, struct err *e)
{
    const struct cluster_ops *ops = cluster_ops_of(d);
    int most = ops ? ops->blocks(d) : 0;
    struct cluster_plan p = {.blocks = 1};
    *out = (struct cluster_plan){0};
    if (most < 1) return fail(e, E_UNSUPPORTED, "%s has no clusters of thread blocks", d->name);
    if (A->rows < 1) return fail(e, E_UNSUPPORTED, "the system is empty");
    p.lanes = lanes_for(A);
    while (2 * p.blocks <= most && A->rows * p.lanes > (int64_t)p.blocks * BLOCK_ITEMS) p.blocks *= 2;
    while (!fits(A, real, vectors, more, ops->bytes, &p)) {
        char need[32], room[32];
        if (2 * p.blocks > most)
            return fail(e, E_UNSUPPORTED,
                        "the system needs %s of shared memory in each of %d thread blocks, which have %s at most",
                        show_bytes((double)p.bytes, need, sizeof need), p.blocks,
                        show_bytes((double)ops->bytes, room, sizeof room));
        p.blocks *= 2;
    }
    p.threads = (int64_t)p.rows * p.lanes > ITEMS_FEW ? ops->threads : THREADS_FEW;
    *out = p;
    return true;
}
