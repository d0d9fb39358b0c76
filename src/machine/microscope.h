/* The accesses and steps of a kernel that the emulator observes: the requests of each warp, their memory traffic, and
   the part of that traffic that is used. Implemented by gpu/emu/ and gpu/kernels/sources.c. */
#ifndef MICROSCOPE_H
#define MICROSCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/role.h"
#include "matrix/gathers.h"

struct err;
struct mat;
struct stored;
struct watch;

C_BEGIN

enum {
    LANES = 32, /* lanes per warp */
    BANKS = 32  /* banks of shared memory, 4 bytes wide */
};
/* number of multiprocessors that a kernel sees when it chooses its grid; as on an H200 */
enum { SCOPE_UNITS = 132 };

/* The kinds of access that are watched. A kernel's arithmetic is not watched. */
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
    ACCESS_RECONVERGE, /* a point in the source where a warp reconverges; no request has this kind */
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
    enum role role; /* the role declared by the format or by the kernel's launch */
    int stored;     /* index among the arrays of the stored matrix; -1 for x, y, work arrays and shared memory */
    bool shared;
    bool integral; /* elements are integers, so a compiler merges a warp's atomic additions to the same address */
    int64_t n;     /* elements of `size` bytes each */
    int size;
    uint64_t base; /* address of element 0; for shared memory, its offset */
};

/* The sectors of the array, or one fewer, depending on where in a sector the array begins. */
static inline int64_t scope_sectors(const struct scope_array *a)
{
    return a->n * a->size / SECTOR + 1;
}
/* The words of 64 bits that have one bit for each sector of the array, wherever in a sector the array begins. */
static inline int64_t scope_sector_words(const struct scope_array *a)
{
    return a->n * a->size / SECTOR / 64 + 2;
}

/* Unroll factors that are not numbers: all iterations, or the compiler's choice. */
enum unroll_count { UNROLL_ALL = -1, UNROLL_AUTO = -2 };

/* An access site: a position in the source where lanes access one array in one way. On a GPU, a site is one
   instruction. */
struct access_site {
    enum access_kind kind;
    const char *file; /* "k_csr.cu" */
    int line, column; /* from 1 */
    int array;        /* index in struct scope; -1: a warp collective or a barrier */
    int elements;     /* consecutive elements that a lane accesses at once, usually 1; 0 if array is -1 */
    bool once; /* loads data that is not accessed again soon, so that L2 replaces it first (`once` in the dialect) */
    const char *what; /* the warp collective: "__shfl_down_sync"; else NULL */
    int launch;       /* index of the launch, counted from 0; a kernel may need several launches */
    int unroll;       /* unroll factor of the enclosing loop, 1 outside of loops; or enum unroll_count */
};

/* One access that the active lanes of a warp make together. */
struct request {
    int site;
    uint32_t mask;     /* the active lanes, one bit per lane; the other lanes wait or have returned */
    int64_t at[LANES]; /* per lane: the (first) element of the site's array; 0 if the lane is not active */
};

/* The cost of a request: sectors in global memory, wavefronts in shared memory. */
struct request_facts {
    int lanes;
    int nsectors;
    /* address / SECTOR, in lane order. Each sector is listed once, with one exception: if several lanes do atomics at
       one address, these atomics are serialised, so the sector is listed once per lane. */
    uint64_t sector[2 * LANES];
    int bytes;            /* distinct bytes that the lanes accessed */
    int padding;          /* number of these bytes that are padding of the format */
    int wavefronts;       /* shared-memory wavefronts */
    int wavefronts_least; /* shared-memory wavefronts if there were no bank conflicts */
    int contended;        /* atomics: number of lanes whose address an earlier lane also uses */
};

enum { SCOPE_ARRAYS = 24, SCOPE_SITES = 160, SCOPE_LAUNCHES = 16 };

/* One launch of a kernel. */
struct scope_launch {
    /* the kernel's name in the source: "csr_scalar<T>", or the name of a pointer to the kernel */
    char name[64];
    char function[64]; /* the function that runs: "csr_scalar" */
    /* the same with its template arguments, as in compiled.h: "csr_scalar<double, float>"; "": a user's function, or
       not known */
    char instance[96];
    int64_t blocks;  /* blocks of the grid */
    int64_t threads; /* threads of a block */
    int64_t seen;    /* number of blocks that were watched */
    int registers;   /* of a thread, if a compiler was asked for those of a user's function; otherwise 0 */
};

/* Data that counting and tracing have in common. */
struct scope {
    const char *name;            /* of the kernel or of the method, for messages */
    const struct kernel *kernel; /* the SpMV kernel; NULL: the launches of another method */
    const struct stored *of;     /* the matrix that `kernel` multiplies by; NULL if `kernel` is NULL */
    int64_t rows;                /* of the matrix */
    double weight;               /* the number of blocks of the launch that the running block stands for */
    double longer;               /* all accesses of the block that ended / those that were watched before it was left */
    int narrays, nsites, nlaunches;
    struct scope_array array[SCOPE_ARRAYS];
    struct access_site site[SCOPE_SITES];
    struct scope_launch launch[SCOPE_LAUNCHES];
};

/* The cost of request r at one of the sites of s. */
void facts_of(const struct scope *s, const struct request *r, struct request_facts *facts);
/* The position in the matrix that element i of array a stands for. For a slot of a matrix array, this is a row and a
   column; for an array with ROLE_SQUARE, the entry's row and column; for x, column i; for y, row i. For any other
   array, the result is -1, -1. */
struct place scope_element(const struct scope *s, int a, int64_t i);

/* ---- launches to watch ---- */

/* Launches on the emulator: those of an SpMV kernel, or those of another method, such as a step of LU. */
struct watched {
    const char *name;            /* of the kernel or of the method */
    const struct kernel *kernel; /* NULL: another method, which has no M */
    const struct mat *M;
    struct device *dev; /* the emulator */
    int64_t rows;       /* of the matrix */
    int units;          /* multiprocessors that the launches see; 0: SCOPE_UNITS */
    bool together;      /* blocks depend on earlier blocks, so all blocks must run, in order, even if few are watched */
    /* Put the data into the state that the launches expect; nothing that this function launches is watched. NULL: the
       launches leave their input as it is. */
    bool (*prepare)(const struct watched *of, struct err *e);
    bool (*queue)(const struct watched *of, struct err *e); /* queue the launches; they may run several times */
    void *user;
    int64_t trace_most; /* the most steps of a trace; 0: TRACE_MAX */
};
/* The launches of k for y = A x with x all ones. M must be on the emulator. */
struct watched watched_kernel(const struct kernel *k, const struct mat *M);

/* ---- one warp, step by step ---- */

struct trace {
    struct scope scope;
    int launch; /* index of the traced launch */
    int64_t block;
    int warp;  /* index of the traced warp in the block */
    int warps; /* number of warps of the block */
    int64_t nsteps;
    struct request *step;
    bool cut; /* the warp had more than TRACE_MAX steps, and the later steps are missing */
};
enum { TRACE_MAX = 1 << 16 };

/* Trace one warp of the launches. launch -1: the launch with the most threads. Fails with E_USAGE if there is no such
   launch, block or warp. Also fails if the emulator finds an error, if the user cancels, or if memory runs out. */
bool trace_warp(const struct watched *of, int launch, int64_t block, int warp, struct watch *w, struct trace *out,
                struct err *e);
void trace_free(struct trace *t);

/* ---- whole launches ---- */

/* Totals of one array or one access site, over the watched blocks. */
struct tally {
    int64_t requests, lanes; /* lanes: active lanes, summed over all requests */
    int64_t sectors;
    int64_t bytes, padding; /* as in struct request_facts */
    int64_t refetched;      /* sectors that some warp of the launch had requested before */
    int64_t wavefronts, wavefronts_least, contended;
    /* requests of the source that the compiled code does not make (as_compiled.h); no other number contains them */
    int64_t elided;
};

struct counts {
    struct scope scope;
    struct tally by_site[SCOPE_SITES];
    /* One per launch, summed over the launch's watched blocks: */
    struct launch_counts {
        int64_t warps, steps;  /* steps: requests of all kinds, including warp collectives and barriers */
        int64_t active;        /* active lanes, summed over all steps */
        int64_t longest_warp;  /* steps of the warp that has the most steps */
        int64_t longest_block; /* steps of the longest warp of each block, summed over blocks */
        double block_sum;      /* sum of the steps per block, to measure how even the blocks are */
        double block_sum2;     /* sum of the squares of the steps per block */
        double sectors_sum;    /* sum of the global sectors per block, to estimate the sampling error */
        double sectors_sum2;   /* sum of the squares of the global sectors per block */
        int64_t sectors_most;  /* global sectors of the block that has the most */
        int64_t left;          /* blocks that were left before their end; their counts are scaled */
    } launch[SCOPE_LAUNCHES];
    double us;         /* time of the emulation */
    int64_t accesses;  /* number of accesses of all watched kinds, counted per lane */
    int64_t rows_seen; /* rows of the matrix in the launches; fewer than all if src/microscope took a sample of them */
};

/* Receives the requests of watched blocks. The warps come one after another, and the requests of each warp come in
   order. The calls are made on the thread that called count_launches. */
struct scope_sink {
    void (*request)(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                    const struct request_facts *facts);
    void (*block_end)(void *user, const struct scope *s, int launch, int64_t block);
    void *user;
};

/* Count the memory traffic of the launches. sample: approximate number of blocks per launch to
   watch, evenly spaced with a random start; 0: all blocks; negative: one of -sample neighbouring blocks, at random, but
   32 blocks or more of a launch that has as many. If the entries of blocks are known before they run, the sample is
   chosen by them instead, and the blocks with most entries are always watched (gpu/emu/pick.h). If blocks depend on one
   another, all blocks run even if only some are watched. `sink` may be NULL; in that case, host threads run blocks in
   parallel if the kernel allows it. */
bool count_launches(const struct watched *of, int64_t sample, const struct scope_sink *sink, struct watch *w,
                    struct counts *out, struct err *e);
/* count_launches for watched_kernel(k, M) */
bool count_kernel(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e);
/* The same, but watch about `accesses` lane accesses: of each launch as many blocks as that takes, but 16 or more, or
   4 if so many would make more than a million. A few blocks run first, from which the accesses of all blocks are
   estimated; if blocks depend on one another, a lower bound of the accesses replaces the estimate. A block that is
   watched only because it has many more entries than others is left after a quarter of as many accesses, and its counts
   are scaled to all of its entries. accesses 0: watch all blocks; negative: watch -accesses, and of a kernel that is
   separable, run only the watched blocks. */
bool count_within(const struct kernel *k, const struct mat *M, int64_t accesses, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e);
/* A lower bound of the lane accesses of a product with S: of each slot, its column and element of x; of each row, its
   pointer and its element of y. */
double least_accesses(const struct stored *S);
/* The launches of k on M and the sizes of their grids. No block runs. */
bool launches_of_kernel(const struct kernel *k, const struct mat *M, struct watch *w, struct scope *out, struct err *e);
/* to += scale * t, rounded to integers. */
void tally_add(struct tally *to, const struct tally *t, double scale);
/* The totals of all sites with accesses of this kind, scaled from the watched blocks to all blocks. array: one array,
   or -1 for all arrays. launch: one launch, or -1 for all launches. */
struct tally counts_of(const struct counts *c, enum access_kind kind, int array, int launch);
/* The active lanes of all steps, scaled from the watched blocks to all blocks. */
double counts_accesses(const struct counts *c);
/* Half the width of the 95 % confidence interval of the scaled number of global sectors, as a fraction of that number.
   0: all blocks were watched; NaN: there are several blocks, but only one was watched. */
double counts_error(const struct counts *c);

/* ---- the source of kernels, embedded in the program ---- */

/* Add the source of a user's kernel, or replace it. Both strings must live until they are replaced or removed; text
   NULL: remove it. Fails with E_LIMIT if there are too many. */
bool kernel_source_put(const char *file, const char *text, struct err *e);
/* File i of the kernels that are built in: its text, and *file, its name; NULL: there is no file i. */
const char *kernel_source(int i, const char **file);
/* Line n (from 1) of a kernel's file ("k_csr.cu"), or NULL if there is no such line. *length receives the length of the
   line without the line end. */
const char *kernel_source_line(const char *file, int n, int *length);

C_END
#endif
