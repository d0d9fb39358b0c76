/* What the emulator observes of a kernel: the requests of each warp, their memory traffic, and how much of it is used.
   Implemented by gpu/emu/ and gpu/kernels/sources.c. */
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

enum {
    LANES = 32,
    SECTOR = 32,
    BANKS = 32
};                          /* lanes per warp; bytes per sector; banks of shared memory, 4 bytes wide */
enum { SCOPE_UNITS = 132 }; /* multiprocessors that a kernel sees when it chooses its grid: those of an H200 */

/* The kinds of access that are watched. A kernel's arithmetic is not. */
enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,  /* global memory */
    ACCESS_TEXTURE, /* a load through a texture */
    ACCESS_SHARED_LOAD,
    ACCESS_SHARED_STORE,
    ACCESS_SHARED_ATOMIC,
    ACCESS_COLLECTIVE, /* shuffles, votes, __syncwarp */
    ACCESS_BARRIER,
    ACCESS_RECONVERGE, /* a mark in the source where a warp reconverges; never part of a request */
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
    enum role role; /* as stated by the format or by the kernel's launch */
    int stored;     /* its index among the arrays of the stored matrix; -1: x, y, work arrays, shared memory */
    bool shared;
    bool integral; /* integers: a compiler combines a warp's atomic additions to one address */
    int64_t n;     /* elements of `size` bytes each */
    int size;
    uint64_t base; /* address of element 0; an offset if in shared memory */
};

/* Unroll factors besides numbers: all iterations, or the compiler's choice. */
enum unroll_count { UNROLL_ALL = -1, UNROLL_AUTO = -2 };

/* An access site: a position in the source where lanes access one array in one way, which is one instruction on a GPU.
 */
struct access_site {
    enum access_kind kind;
    const char *file; /* "k_csr.cu" */
    int line, column; /* from 1 */
    int array;        /* index in struct scope; -1: a warp collective or a barrier */
    const char *what; /* the warp collective: "__shfl_down_sync"; else NULL */
    int launch;       /* index of the launch, from 0; a kernel may need several */
    int unroll;       /* unroll factor of the enclosing loop, 1 outside of loops; or enum unroll_count */
};

/* One access by the active lanes of a warp together. */
struct request {
    int site;
    uint32_t mask;     /* the active lanes, a bit each; the others wait or have returned */
    int64_t at[LANES]; /* per lane: the element of the site's array; 0 if the lane is not active */
};

/* What a request costs: in global memory sectors, in shared memory wavefronts. */
struct request_facts {
    int lanes;
    int nsectors;
    uint64_t sector[2 * LANES];       /* address / SECTOR, in lane order, each once; for atomics of several lanes at one
                                         address once per lane, as these are serialized */
    int bytes;                        /* distinct bytes that the lanes accessed */
    int padding;                      /* those among them that are padding of the format */
    int wavefronts, wavefronts_least; /* shared memory: with bank conflicts, and without any */
    int contended;                    /* atomics: lanes beyond the first at one address */
};

enum { SCOPE_ARRAYS = 24, SCOPE_SITES = 160, SCOPE_LAUNCHES = 16 };

/* One LAUNCH of a kernel. */
struct scope_launch {
    char name[64];           /* as in the source: "csr_scalar<T>", or the name of a pointer to it */
    char function[64];       /* the function that runs: "csr_scalar" */
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

/* The cost of request r at one of the sites of s. */
void facts_of(const struct scope *s, const struct request *r, struct request_facts *facts);
/* Where element i of array a lies in the matrix: row and column for a matrix array's slot, column i for x, row i for y;
   -1, -1 for any other array. */
struct place scope_element(const struct scope *s, int a, int64_t i);

/* ---- one warp, step by step ---- */

struct trace {
    struct scope scope;
    int launch; /* the traced launch, and below the block in it and the warp in the block */
    int64_t block;
    int warp, warps; /* warps of the block */
    int64_t nsteps;
    struct request *step;
    bool cut; /* the warp had more than TRACE_MOST steps; the rest is missing */
};
enum { TRACE_MOST = 1 << 16 };

/* Trace one warp of k on M, which must be on the emulator, for y = A x with x all ones. launch -1: the launch with the
   most threads. Errors: E_USAGE, no such launch, block or warp; a finding of the emulator; cancelled; memory. */
bool trace_warp(const struct kernel *k, const struct mat *M, int launch, int64_t block, int warp, struct watch *w,
                struct trace *out, struct err *e);
void trace_free(struct trace *t);

/* ---- whole kernels ---- */

/* Totals of one array or one access site, over the watched blocks. */
struct tally {
    int64_t requests, lanes; /* lanes: over all requests */
    int64_t sectors;
    int64_t bytes, padding; /* as in request_facts */
    int64_t refetched;      /* sectors that some warp of the launch had requested before */
    int64_t wavefronts, wavefronts_least, contended;
};

struct counts {
    struct scope scope;
    struct tally by_site[SCOPE_SITES];
    /* Per launch, over its watched blocks: */
    struct launch_counts {
        int64_t warps, steps;         /* steps: requests of all kinds, with warp collectives and barriers */
        int64_t active;               /* active lanes, summed over all steps */
        int64_t longest_warp;         /* steps of the warp with the most */
        int64_t longest_block;        /* steps of the longest warp of each block, summed over blocks */
        double block_sum, block_sum2; /* steps per block and their squares, summed: for the balance of blocks */
        double sectors_sum,
            sectors_sum2;     /* global sectors per block and their squares, summed: for the error of a sample */
        int64_t sectors_most; /* global sectors of the block with the most */
    } launch[SCOPE_LAUNCHES];
    double us;        /* time of the emulation */
    int64_t accesses; /* accesses of single lanes, of all watched kinds */
};

/* Receives the requests of watched blocks: one warp after another, each warp's in order, on the thread that called
   count_kernel. */
struct scope_sink {
    void (*request)(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                    const struct request_facts *facts);
    void (*block_end)(void *user, const struct scope *s, int launch, int64_t block);
    void *user;
};

/* Count the memory traffic of k on M, which must be on the emulator. sample: about how many blocks per launch to watch,
   evenly spaced with a random start; 0: all. If blocks depend on one another, all run anyway. sink may be NULL; then
   host threads run blocks in parallel if the kernel allows it. */
bool count_kernel(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e);
/* to += scale t, rounded. */
void tally_add(struct tally *to, const struct tally *t, double scale);
/* The totals of all sites with accesses of this kind to one array (-1: to all) in one launch (-1: in all), scaled from
   the watched blocks to all blocks. */
struct tally counts_of(const struct counts *c, enum access_kind kind, int array, int launch);
/* Half the width of the 95 % confidence interval of the scaled number of global sectors, as a fraction of it. 0: all
   blocks were watched; NaN: only one of several blocks was watched. */
double counts_error(const struct counts *c);

/* ---- the source of kernels, embedded in the program ---- */

/* Line n (from 1) of a kernel's file ("k_csr.cu"), *length bytes without the line end; NULL: there is no such line. */
const char *kernel_source_line(const char *file, int n, int *length);

#ifdef __cplusplus
}
#endif
#endif
