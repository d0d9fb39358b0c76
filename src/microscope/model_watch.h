/* Watching launches for the cost model: declarations that the model_*.c files share. */
#ifndef MODEL_WATCH_H
#define MODEL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "machine/microscope.h"
#include "model.h"
#include "tape.h"

enum {
    WAYS = 4,
    BLOCKS_MAX = 32, /* blocks of a multiprocessor that are replayed together */
    WARPS_MAX = 1024 / LANES,
    SPANS_MAX = 4096,  /* times between two barriers of a warp that are kept apart; later ones are added to the last */
    WAVEFRONTS = 32,   /* so many wavefronts take as long as the latency of a load from shared memory */
    ROUNDS = 16,       /* atomics of a thread that are counted apart */
    CROWD = 45 * 1000, /* see note_atomics; fitted to rows of 120 to 125,000 entries */
    PLACE_BITS = 40,   /* see sector_placed */
    UNROLLED = 4,      /* iterations that nvcc unrolls by default */
    OTHER_REGISTERS = 12, /* of a thread, for addresses and indices */
    UNROLLED_WHOLE = 16   /* the most iterations of a completely unrolled loop whose loads are in flight together */
};

/* A cache of 128-byte lines whose 32-byte sectors are filled one by one. */
struct line {
    uint64_t tag;
    uint32_t age;
    uint32_t sectors;
};
struct cache {
    uint32_t now;
    struct line line[];
};

struct asked {
    int site;
    int first, n; /* sectors, in `sector`: see sector_placed */
    int wavefronts, lanes;
    double unroll; /* iterations whose loads are in flight together; 0: not known before the end of the block */
};

struct warp_log {
    int64_t n, room, atomics;
    struct asked *r;
    int64_t nsectors, sectors_room;
    uint64_t *sector;
};

/* A block that has been emulated. The block is evaluated together with the blocks that share its multiprocessor. */
struct block_log {
    int64_t block, row, row_length;
    double weight; /* the number of blocks that it stands for */
    double longer; /* see struct scope */
    int nwarps;
    struct warp_log *warp;
};

/* One multiprocessor: the blocks that run on it together, and its L1. */
struct queue {
    int n;
    struct block_log *block; /* room for BLOCKS_MAX */
    struct cache *cache;
};

/* The state of a warp while its requests are replayed. */
struct warp_state {
    struct warp_tape *tape; /* records each wait in order; NULL: not recorded */
    double weight;          /* the number of warps that it stands for */
    int64_t next;
    int pending; /* the wait (enum wait) for the slowest unfinished load, except loads of matrix values; -1: none */
    int values;  /* the wait (enum wait) for the slowest unfinished load of matrix values; -1: none */
    double unroll;
    uint64_t places[(SCOPE_SITES + 63) / 64]; /* sites that have unfinished loads, one bit each */
    bool indices;                             /* a load of indices is unfinished */
    bool gathers;  /* a load of x or a work array is unfinished; the next multiplication must wait for all loads */
    bool pointers; /* a load of a pointer is unfinished */
    int pointer_array;
    int span;              /* barriers passed */
    int spans;             /* one more than the barriers of the warp, at most SPANS_MAX */
    double (*wait)[WAITS]; /* by span */
    double mark[WAITS];
    double stalled; /* waits in the current turn; a wait of one iteration of n unrolled ones counts as 1 / n */
    double steps;
};

struct spotted {
    uint64_t *asked;   /* sectors requested in this launch, one bit each */
    uint32_t *filled;  /* by line, of arrays of the matrix: watching.filled when L2 last delivered a sector of it */
    uint16_t *atomics; /* of the current window, by sector and round; at most UINT16_MAX */
    uint64_t *any;     /* sectors requested in any launch, one bit each */
};

struct watching {
    const struct mat *M;
    const struct machine *gpu;
    const struct compiled_column *compiled; /* what nvcc made of the functions for this GPU; NULL: not known */
    int sms;
    int lines; /* of an L1 cache */
    struct workload *out;
    int launch;
    int sets;
    int nwarps;
    struct warp_log warp[WARPS_MAX]; /* the requests of the running block, by warp */
    struct queue *queue;
    int at_once;       /* blocks that a multiprocessor runs at the same time */
    int64_t registers; /* of a thread; 0: not known */
    double sms_busy;   /* the multiprocessors that have blocks of the launch */
    int64_t ended;     /* blocks of the launch that have ended */
    struct spotted array[SCOPE_ARRAYS];
    /* sectors and lines, of those in `distinct` and `lines_distinct` as many as the watched blocks stand for */
    double distinct[SCOPE_LAUNCHES][SCOPE_ARRAYS], all[SCOPE_ARRAYS];
    double lines_distinct[SCOPE_LAUNCHES][SCOPE_ARRAYS], lines_all[SCOPE_ARRAYS];
    uint32_t filled, run_filled; /* lines that L1 caches have loaded; at the start of the current run of blocks */
    double longest_cost;
    const struct scope *scope;
    const struct csr *A;
    int *position;           /* position of each row if the format sorts rows; otherwise NULL */
    int64_t row, row_length; /* the longest row that the running block stores */
    const int *columns;      /* pointers to the columns of a format that stores columns; else NULL */
    int64_t longest_line;    /* the longest row of the matrix, or column of such a format */
    struct stores {
        double n, row[3], warp[3]; /* three examples: the first store, the 64th store, and the last store */
        bool loose;                /* row numbers may be one too high: a warp also reads the next row's pointer */
        int blocks;                /* watched blocks that store rows; three examples, of which the last is the newest */
        double first[3], block[3]; /* the first row that a block stores, and the block */
    } stores, pointers;            /* the stores of y and the loads of row pointers */
    struct stores stored[SCOPE_LAUNCHES]; /* for each launch, the stores of y; warps are numbered across the grid */
    double windows;                       /* the blocks that those of the current window that have run stand for */
    struct tape *tape;                    /* records the warps of the first multiprocessor; NULL: not recorded */
    int rounds;                           /* the most atomics of a warp so far, at most ROUNDS */
    double hottest[ROUNDS]; /* the largest number of atomics that the blocks of one window do in one sector, by round */
    double crowd;           /* additions to y in this window that others wait for, see note_atomics */
    int64_t ncounting, counting_room;
    uint16_t **counting; /* the counts of atomics that are not 0 */
    struct err err;
};

/* Place each array at an address of its own that depends only on its number, because the addresses on the emulator
   differ from run to run, and with them the sectors that share a line or a set of the cache. */
static inline uint64_t sector_placed(int array, uint64_t base, uint64_t sector)
{
    return ((uint64_t)(array + 1) << PLACE_BITS) + sector - base / SECTOR;
}
/* The number of the sector within its array. */
static inline uint64_t sector_in_array(uint64_t placed)
{
    return placed & (((uint64_t)1 << PLACE_BITS) - 1);
}

/* Approximate total time of a warp's waits in ns, to find the slowest warp of a block. */
double model_cost(const double *wait);

/* tape.c. Failures are stored in v->err. */
void tape_begin(struct watching *v, const struct queue *q, struct warp_state *state);
void tape_add(struct watching *v, struct warp_tape *t, enum wait kind, double n);

/* model_warp.c */
void warp_wait(struct watching *v, struct warp_state *w, bool address);
void warp_request(struct watching *v, struct warp_state *s, const struct asked *r, const uint64_t *sector,
                  struct cache *cache);

/* model_block.c */
void model_launch_end(struct watching *v);
void model_block_end(void *user, const struct scope *s, int launch, int64_t block);

/* model_requests.c */
int64_t model_registers(const struct watching *v, const struct scope_launch *l); /* of a thread; 0: not known */
void model_launch_begin(struct watching *v, const struct scope *s);
void model_window_end(struct watching *v);
int64_t position_of(const struct watching *v, int64_t row);
void model_request(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                   const struct request_facts *f);
void block_log_free(struct block_log *b);
void watching_free(struct watching *v);

/* model_longest.c: find the longest row or column, and watch its warps, which a sample of blocks may have missed. */
void model_find_longest(struct watching *v);
bool model_follow_longest(const struct watching *v, const struct counts *c, struct watch *w, struct err *e);

#endif
