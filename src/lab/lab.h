/* The lab: kernels that users write. A file becomes a kernel of the registry, and a report says whether the kernel is
   right and what it costs. The kernel always runs in a process of its own (machine/remote.h). */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/param.h"
#include "base/precision.h"
#include "matrix/reference.h"

struct csr;
struct err;
struct kernel;
struct mat;
struct row_kind;
struct watch;

/* What a kernel did wrong, and where. */
struct lab_fault {
    char where[128]; /* "my.cu:12"; empty: no line is known */
    int line;        /* line of the user's file; 0: none, or a line of another file */
    char thread[48]; /* "block 0, thread 5"; empty: the fault is not one of a thread */
    char what[400];  /* "reads x[99], which has 4 elements" */
};

/* ---- from a file to a kernel ---- */

/* The words of the user about a file; NULL: as the file says, or the default. */
struct lab_options {
    const char *format; /* for a file that does not name one; default: csr */
    const char *kernel; /* the kernel to choose in a file that has several */
    double seconds;     /* the longest that a run may take; 0: the default, which grows with the matrix */
};
enum { LAB_SECONDS = 10 };
/* The most that a kernel's file may have. */
enum { LAB_BYTES = 1 << 20 };

/* Compile the file and add its kernel to the registry of kernels, or replace the one that this file made before.
   Returns the registry's entry, whose `remote` is set; NULL: the error has the line of the user's file in `where`, and
   lab_messages has the compiler's other messages. */
const struct kernel *lab_build(const char *path, const struct lab_options *o, struct watch *w, struct err *e);
/* Messages of the last lab_build, the first errors only: "my.cu:12: ...", at most LAB_MESSAGES lines, each followed by
   that line of the file. If there is one error only, which the struct err has, that line alone. Empty: none. */
const char *lab_messages(void);
enum { LAB_MESSAGES = 3 };
/* What the kernel printed in its last run, which may be cut; empty: nothing. */
const char *lab_printed(const struct kernel *k);
/* Remove all kernels of the lab from the registry. */
void lab_close(void);

/* ---- a kernel on trial ---- */

/* Everything that a judge can ask of a kernel on a matrix. Numbers of launches are totals over all launches of one
   y = A x on the emulator, all blocks watched. */
struct lab_report {
    const struct kernel *kernel;
    enum precision real;
    /* the kernel ended by itself: no index outside an array, no crash, no missing thread at a barrier, no limit
       reached. If not, `fault` says what happened, and nothing below is known. */
    bool ran;
    struct lab_fault fault;
    bool correct;         /* all rows are within the rounding-error bound of the reference */
    struct verdict error; /* how far off; row: the worst row */
    double got, expected; /* y in that row, and the reference */
    bool reads_y;         /* wrong only if beta is 0: the result is NaN because y, which is NaN before, is used */
    bool race;            /* threads of a block race; `race_at` says where. False: no race was found */
    struct lab_fault race_at;
    bool counted; /* the numbers below are known */
    int64_t launches, blocks, threads, warps;
    int64_t steps;                  /* operations that the lanes of a warp do together, over all warps */
    int64_t longest_warp;           /* steps of the warp that has the most */
    double active_lanes;            /* of 32, the mean over the steps */
    int64_t requests;               /* to global memory: loads, stores, atomics */
    int64_t loads, stores, atomics; /* the requests by kind; loads through textures count as loads */
    int64_t sectors;                /* of 32 bytes, requested from global memory */
    int64_t load_sectors, store_sectors, atomic_sectors;
    int64_t bytes;                 /* that the lanes asked for, distinct per request */
    int64_t refetched;             /* sectors that a warp of the launch had requested before */
    int64_t shared_requests;       /* to shared memory */
    int64_t wavefronts;            /* of shared memory */
    int64_t wavefronts_least;      /* the same without bank conflicts */
    int64_t collectives, barriers; /* warps' shuffles, votes and __syncwarp; warps at barriers */
    double predicted_us;           /* on the reference GPU of the cost model (machine_reference); NaN: not predicted */
    /* of the launch with most steps on that GPU: the warps that a multiprocessor holds, in % of those that it can hold,
       for the threads and the shared memory of a block. Registers do not count: the emulator has none. */
    double occupancy;
    const char *occupancy_by; /* what limits it: "blocks", "threads", "shared memory" */
    int64_t resident_blocks, block_threads, block_shared_bytes; /* the blocks of a multiprocessor, and what one has */
};

/* Run the kernel on M, which stores A on the emulator in the kernel's format, and fill in the report. A fault of the
   kernel is part of the report. False: the user cancelled, or this process failed. w may be NULL. A built-in kernel is
   accepted too, for a comparison; it runs in this process. */
bool lab_judge(const struct kernel *k, const struct csr *A, const struct mat *M, struct watch *w,
               struct lab_report *out, struct err *e);

/* The local memory of a thread in bytes, the most of all functions of the file, as nvcc compiles them for the reference
   GPU of the cost model. Returns false if the user cancelled. NaN: nvcc is not there or refuses the file, and `why`
   says so. */
bool lab_local_bytes(const struct kernel *k, enum precision real, struct watch *w, double *bytes, struct err *why,
                     struct err *e);

/* ---- a file to start from ---- */

/* The text of a file that makes the built-in kernel k, for the caller to free with mem_free; NULL: a host loop or a
   library's kernel has no such file. */
char *lab_export(const struct kernel *k, struct err *e);

/* What `help dialect` shows. */
extern const char *const lab_dialect_help;

/* The keys of the rows of `try` (report/fields.h): the report, and the costs of a kernel. */
extern const struct row_kind row_try_report, row_try_kernel;

/* ---- for main ---- */

/* Is this process the one that runs kernels, according to its arguments? If so, run the job and do not return. */
void lab_work_if_asked(int argc, char **argv);
/* The program to start as that process; NULL: this program. For tests, whose main does not call lab_work_if_asked. */
void lab_set_program(const char *path);

#endif
