/* What the emulator saw of a kernel: each warp's requests, what they asked of memory, and how much of that was of use.
 */
#ifndef MICROSCOPE_H
#define MICROSCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/role.h"

struct err;
struct mat;
struct watch;

#ifdef __cplusplus
extern "C" {
#endif

enum { LANES = 32, SECTOR = 32, BANKS = 32 }; /* of a warp; bytes; of shared memory, 4 bytes wide */
enum { SCOPE_UNITS = 132 }; /* multiprocessors that kernels are told of which fit their grid to the device: an H200's */

/* What a lane does that others can see. A kernel's arithmetic is not watched. */
enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,  /* global memory */
    ACCESS_TEXTURE, /* a load by way of a texture */
    ACCESS_SHARED_LOAD,
    ACCESS_SHARED_STORE,
    ACCESS_SHARED_ATOMIC,
    ACCESS_COLLECTIVE, /* shuffles, votes, __syncwarp */
    ACCESS_BARRIER,
    ACCESS_RECONVERGE, /* lanes that skipped something wait for the others: only while they are put together */
    ACCESS_KINDS
};
extern const char *const access_names[ACCESS_KINDS]; /* "load", "store", ... */
static inline bool accesses_global(enum access_kind t)
{
    return t <= ACCESS_TEXTURE;
}
static inline bool accesses_shared(enum access_kind t)
{
    return t >= ACCESS_SHARED_LOAD && t <= ACCESS_SHARED_ATOMIC;
}

/* An array that a launch works on. */
struct scope_array {
    char name[24];
    enum role role; /* as its format or the launch of its kernel states it */
    int stored;     /* the number of this array of the stored matrix; -1: x, y, what a kernel keeps, shared memory */
    bool shared;
    bool integral; /* whole numbers: a compiler makes one atomic addition of those of a warp to one address */
    int64_t n;     /* elements of `size` bytes each */
    int size;
    uint64_t base; /* address of element 0; in shared memory from its beginning */
};

/* Loops that are unrolled as a whole, or as far as the compiler likes. */
enum unroll_count { UNROLL_ALL = -1, UNROLL_AUTO = -2 };

/* A place in the source where lanes do one thing to one array: what a GPU would have as one instruction. */
struct access_site {
    enum access_kind kind;
    const char *file; /* "k_csr.cu" */
    int line, column; /* from 1 */
    int array;        /* of struct scope's; -1: an exchange or a barrier */
    const char *what; /* of an exchange: "__shfl_down_sync"; else NULL */
    int launch;       /* the number of the launch, from 0: kernels may need several */
    int unroll;       /* turns that go together of the loop that it is in, 1 outside of loops; or enum unroll_count */
};

/* The lanes of one warp that do the same together. */
struct request {
    int site;
    uint32_t mask;     /* the lanes that take part; the others wait or are done */
    int64_t at[LANES]; /* elements of the place's array; 0 where a lane takes no part */
};

/* What a request asks of memory; of global memory in sectors, of shared memory in turns that its banks take. */
struct request_facts {
    int lanes;
    int nsectors;
    uint64_t sector[2 * LANES]; /* address / SECTOR, in the order of the lanes, each once; of an atomic that lanes do to
                                   one address, once for each turn they take */
    int bytes;                  /* distinct bytes that lanes asked for */
    int padding;                /* of them those of slots that are padding */
    int wavefronts, wavefronts_least; /* shared memory: with bank conflicts, and without any */
    int contended;                    /* atomics: lanes beyond the first at one address */
};

enum { SCOPE_ARRAYS = 24, SCOPE_SITES = 160, SCOPE_LAUNCHES = 16 };

/* Of each LAUNCH that a kernel consists of, in their order. */
struct scope_launch {
    char name[64];           /* as the source writes it: "csr_scalar<T>", or what it calls a pointer to that */
    char function[64];       /* what runs: "csr_scalar" */
    int64_t blocks, threads; /* of the grid; of a block */
    int64_t seen;            /* blocks that were watched */
};

/* What is common to counting and tracing. */
struct scope {
    const struct kernel *kernel;
    const struct stored *of;
    int narrays, nsites, nlaunches;
    struct scope_array array[SCOPE_ARRAYS];
    struct access_site site[SCOPE_SITES];
    struct scope_launch launch[SCOPE_LAUNCHES];
};

/* What request r at one of the places of s asks for. `facts` may be used again and again. */
void facts_of(const struct scope *s, const struct request *r, struct request_facts *facts);
/* What element i of array a is in the matrix: the place of a slot, column i of x, row i of y; else no entry at all. */
struct place scope_element(const struct scope *s, int a, int64_t i);

/* ---- one warp, step by step ---- */

struct trace {
    struct scope scope;
    int launch; /* the launch that was watched; which block of it, which warp of that */
    int64_t block;
    int warp, warps; /* warps of the block */
    int64_t nsteps;
    struct request *step;
    bool cut; /* it went on for more than TRACE_MOST steps */
};
enum { TRACE_MOST = 1 << 16 };

/* The requests of one warp of k on M, which lies on the emulator, as y = A x with x all ones. launch -1: the one with
   most requests of this warp. Errors: E_USAGE, there is no such block or warp, saying how many there are; what the
   emulator finds wrong; cancelled; memory. */
bool trace_warp(const struct kernel *k, const struct mat *M, int launch, int64_t block, int warp, struct watch *w,
                struct trace *out, struct err *e);
void trace_free(struct trace *t);

/* ---- whole kernels ---- */

/* Numbers of one array, or of one place: of the blocks that were watched. */
struct tally {
    int64_t requests, lanes; /* lanes: over all requests */
    int64_t sectors;
    int64_t bytes, padding; /* as in request_facts */
    int64_t refetched;      /* sectors that the launch had asked for before, by whatever warp */
    int64_t wavefronts, wavefronts_least, contended;
};

struct counts {
    struct scope scope;
    struct tally by_site[SCOPE_SITES];
    /* Of each launch, blocks watched: */
    struct launch_counts {
        int64_t warps, steps;         /* steps: requests of all kinds, exchanges and barriers too */
        int64_t active;               /* lanes over all steps */
        int64_t longest_warp;         /* steps of the warp that has most */
        int64_t longest_block;        /* steps of the longest warp, added up over a block: not of any use alone */
        double block_sum, block_sum2; /* steps of a block's warps together, and their squares: the balance of blocks */
        double sectors_sum, sectors_sum2; /* global sectors of a block, and their squares: the error of a sample */
        int64_t sectors_most;             /* global sectors of the block that has most */
    } launch[SCOPE_LAUNCHES];
    double us;        /* the emulation took */
    int64_t accesses; /* that lanes made, of all kinds watched */
};

/* Called with the requests of a watched block in the order in which each warp makes them; from the thread that called
   count_kernel, warp after warp. */
struct scope_sink {
    void (*request)(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                    const struct request_facts *facts);
    void (*block_end)(void *user, const struct scope *s, int launch, int64_t block);
    void *user;
};

/* Count what k does to M, which lies on the emulator. sample: about how many blocks of each launch to watch, spread
   evenly from a random one on; 0: all. Kernels whose blocks depend on one another run whole all the same. sink may be
   NULL: then blocks are counted side by side by all threads where the kernel allows. */
bool count_kernel(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e);
/* to += scale t, rounded. */
void tally_add(struct tally *to, const struct tally *t, double scale);
/* The numbers of all places with this touch of one array, -1: of all arrays; of launch l, -1: of all launches. Scaled
   from the watched blocks to all of them. */
struct tally counts_of(const struct counts *c, enum access_kind t, int array, int launch);
/* Half the width of the 95 % interval of the scaled number of global sectors, as a share of it; 0 where all blocks were
   watched, NaN where one of several. */
double counts_error(const struct counts *c);

/* ---- the source of kernels, as it was compiled ---- */

/* Line n (from 1) of a file of kernels ("k_csr.cu"), *length bytes without its end; NULL: there is none. */
const char *kernel_source_line(const char *file, int n, int *length);

#ifdef __cplusplus
}
#endif
#endif
