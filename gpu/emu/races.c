/* Races between the threads of a block or of a cluster of blocks. Two accesses to an element by different threads are a
   race unless both are reads, both are atomics, or a synchronisation orders them: a cluster_sync in between, or, within
   a block, a
   __syncthreads, or, within a warp, a chain of __syncwarp from one lane to the other. A shuffle or a vote passes
   values, but does not order memory accesses (CUDA C++ Programming Guide, warp shuffle functions), so
   a participating lane may not see the values that the other lanes wrote. But a lane reads a value before it passes the
   value on, so a read before a shuffle or vote and a write after the shuffle or vote count as ordered. Lockstep
   execution orders nothing.

   The order within a warp is found with vector clocks: a lane's clock advances at each warp collective, and each lane
   stores, for every other lane, the latest clock value that has reached it. For each element, the table stores the last
   write and some of the later reads and atomics, preferably by different warps. An access that races with a discarded
   access almost always races with a stored access, too. */
#include "races.h"
#include "base/mem.h"
#include "machine/microscope.h"

#include <string.h>

enum { BLOCK_MAX = 1024, CLUSTER_MAX = 16, SEEN = 6 };

struct element {
    uint64_t address;
    uint32_t block; /* the block of these accesses, counted from 1; if it is not the current block, the entry is free */
    int n;
    struct race_access seen[SEEN];
};

static struct {
    struct element *element; /* a hash table of `room` entries; room is a power of two */
    int64_t room, used;
    uint32_t block, epoch[CLUSTER_MAX], cluster;
    unsigned each; /* threads per block */
    /* For each thread and each lane of its warp: the latest clock value of the lane that was passed on to the thread.
       `known` joins only clocks passed on by __syncwarp; `met` joins clocks passed on by any warp collective. */
    uint32_t known[BLOCK_MAX][LANES], met[BLOCK_MAX][LANES];
} r;

void races_begin(unsigned blocks, unsigned each)
{
    unsigned threads = blocks * each;
    r.block++;
    r.each = each;
    r.cluster = 0;
    r.used = 0;
    memset(r.epoch, 0, sizeof r.epoch);
    memset(r.known, 0, threads * sizeof r.known[0]);
    memset(r.met, 0, threads * sizeof r.met[0]);
    for (unsigned t = 0; t < threads; t++) r.known[t][t % LANES] = r.met[t][t % LANES] = 1;
}

void races_barrier(unsigned block)
{
    r.epoch[block]++;
}

void races_cluster_barrier(void)
{
    r.cluster++;
}

/* Give each lane of the mask the latest clocks that any lane of the mask has. */
static void share(uint32_t (*known)[LANES], uint32_t mask)
{
    uint32_t all[LANES] = {0};
    for (uint32_t left = mask; left; left &= left - 1)
        for (int k = 0; k < LANES; k++)
            if (known[__builtin_ctz(left)][k] > all[k]) all[k] = known[__builtin_ctz(left)][k];
    for (uint32_t left = mask; left; left &= left - 1) memcpy(known[__builtin_ctz(left)], all, sizeof all);
}

void races_meet(unsigned warp, uint32_t mask, bool memory)
{
    uint32_t(*known)[LANES] = &r.known[warp * LANES], (*met)[LANES] = &r.met[warp * LANES];
    if (memory) share(known, mask);
    share(met, mask);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        known[lane][lane] = ++met[lane][lane];
    }
}

static bool same_warp(const struct race_access *a, const struct race_access *b)
{
    return a->thread / LANES == b->thread / LANES;
}

static bool ordered(const struct race_access *a, const struct race_access *b)
{
    bool same_block = a->thread / r.each == b->thread / r.each;
    if (a->cluster < b->cluster || (same_block && a->epoch < b->epoch) || a->thread == b->thread) return true;
    if (!same_warp(a, b)) return false;
    const uint32_t *knows = a->kind == RACE_READ ? r.met[b->thread] : r.known[b->thread];
    return knows[a->thread % LANES] >= a->clock;
}

static bool conflict(enum race_kind a, enum race_kind b)
{
    return a == RACE_WRITE || b == RACE_WRITE || a != b;
}

/* ---- the accessed elements ---- */

static struct element *entry_of(struct element *table, int64_t room, uint64_t address)
{
    uint64_t hash = (address >> 2) * 0x9e3779b97f4a7c15ull;
    int64_t k = (int64_t)(hash >> 20 & (uint64_t)(room - 1));
    while (table[k].block == r.block && table[k].address != address) k = (k + 1) & (room - 1);
    return &table[k];
}

static bool grow(void)
{
    int64_t room = r.room ? 2 * r.room : 1 << 12;
    struct element *more = mem_zero(room, sizeof *more, "the elements that a block accessed", NULL);
    if (!more) return false;
    for (int64_t k = 0; k < r.room; k++)
        if (r.element[k].block == r.block) *entry_of(more, room, r.element[k].address) = r.element[k];
    mem_free(r.element);
    r.element = more;
    r.room = room;
    return true;
}

static struct element *element_at(uint64_t address)
{
    if (2 * r.used >= r.room && !grow()) return NULL;
    struct element *e = entry_of(r.element, r.room, address);
    if (e->block == r.block) return e;
    r.used++;
    e->address = address;
    e->block = r.block;
    e->n = 0;
    return e;
}

/* ---- the accesses to one element ---- */

/* Is there another stored access of the same kind as access k, by the same warp? */
static bool twice(const struct element *e, int k)
{
    for (int j = 0; j < e->n; j++)
        if (j != k && e->seen[j].kind == e->seen[k].kind && same_warp(&e->seen[j], &e->seen[k])) return true;
    return false;
}

/* Store an access. The new access replaces the stored access of the same kind by the same thread. If no such access is
   stored, the new access is stored in a free entry. If no entry is free, the new access replaces the oldest access that
   is not a write, preferably an access by a warp that has another stored access of that kind. */
static void keep(struct element *e, const struct race_access *now)
{
    int k = 0;
    while (k < e->n && (e->seen[k].thread != now->thread || e->seen[k].kind != now->kind)) k++;
    if (k == SEEN) {
        k = 0;
        while (k < SEEN && (e->seen[k].kind == RACE_WRITE || !twice(e, k))) k++;
        if (k == SEEN) k = e->seen[0].kind == RACE_WRITE;
    }
    if (k < e->n) {
        memmove(&e->seen[k], &e->seen[k + 1], (size_t)(e->n - 1 - k) * sizeof e->seen[0]);
        e->n--;
    }
    e->seen[e->n++] = *now;
}

enum race_answer races_access(uint64_t address, unsigned thread, enum race_kind kind, const char *file, int line,
                              struct race_access *other)
{
    struct element *e = element_at(address);
    if (!e) return RACE_NO_MEMORY;
    struct race_access now = {file,     line, thread, kind, r.known[thread][thread % LANES], r.epoch[thread / r.each],
                              r.cluster};
    bool found = false;
    for (int k = 0; k < e->n; k++)
        if (conflict(e->seen[k].kind, kind) && !ordered(&e->seen[k], &now) && (!found || same_warp(other, &now))) {
            *other = e->seen[k];
            found = true;
        }
    if (kind == RACE_WRITE)
        e->n = 0; /* earlier accesses are ordered before this write, so comparing with this write is enough */
    keep(e, &now);
    return found ? RACE_FOUND : RACE_NONE;
}

void races_close(void)
{
    mem_free(r.element);
    r.element = NULL;
    r.room = r.used = 0;
}
