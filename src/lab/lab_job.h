/* Jobs for the process that runs users' kernels: what the session asks for, and the replies. Both ends are the same
   program, so structs travel as they are. */
#ifndef LAB_JOB_H
#define LAB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "base/param.h"
#include "base/precision.h"
#include "formats/stored.h"
#include "machine/as_compiled.h"
#include "machine/microscope.h"
#include "machine/remote.h"
#include "machine/wrong.h"
#include "microscope/gpu_profile.h"

struct csr;

enum lab_op { OP_DESCRIBE, OP_LAUNCH, OP_TRACE, OP_COUNT, OP_MODEL, OP_TIME };

/* File descriptors of the process: the job, the kernel's shared object, the pipe for replies, and the socket from which
   each byte starts another launch. */
enum { FD_JOB = 3, FD_OBJECT, FD_REPLY, FD_ASK };
/* A process that gets no such byte for so long ends. */
enum { WAIT_MS = 5000 };

struct job_array {
    char name[24];
    enum role role;
    enum type type;
    int64_t n, at; /* elements, and the offset of the data in the job */
};

/* The beginning of the job's memory, which both processes map; arrays follow at multiples of JOB_ALIGN. */
enum { JOB_ALIGN = 256 };
struct job {
    char version[16];
    enum lab_op op;
    bool on_gpu;
    char device[64]; /* "cuda:0" */
    char symbol[96]; /* the kernel's entry in the shared object */
    char name[64];   /* the kernel's name in messages */
    /* the stored matrix */
    char format[32];
    int64_t rows, cols, nnz, param[PARAMS_MAX];
    enum precision real;
    int narrays;
    struct job_array a[ARRAYS_MAX];
    /* OP_MODEL: A as struct csr; offsets, or 0 */
    int64_t rowptr, rowptr64, col, val, imag;
    /* OP_LAUNCH and OP_TIME */
    double alpha, beta;
    int64_t x, y; /* offsets */
    bool races;
    int reps;
    /* OP_TRACE: launch, block, warp; OP_COUNT and OP_MODEL: sample; OP_MODEL: machine */
    int launch, warp;
    int64_t block, sample;
    struct machine machine;
    bool coded; /* OP_COUNT and OP_MODEL: count as `code` does */
    struct as_compiled code;
    bool tape; /* OP_MODEL: also record the order of the warps of one multiprocessor, which holds at_once blocks */
    int at_once;
    /* the limit of a process that uses no GPU */
    int64_t memory;
};

/* A reply: this head, then `bytes` bytes. REPLY_READY, before the others: the matrix is on the device. */
enum reply_kind { REPLY_READY = 0x57530001, REPLY_PROGRESS, REPLY_DONE, REPLY_FAILED, REPLY_FAULT };
struct reply {
    uint32_t kind;
    uint32_t unused;
    uint64_t bytes;
};
struct reply_progress {
    char what[64];
    int64_t done, total;
};
struct reply_failed {
    struct err err;
    struct emu_finding finding;
};
/* A signal, a call of exit, or a forbidden system call. */
enum { ADDRESSES_MAX = 48, SIGNAL_EXIT = 1000 };
struct reply_fault {
    int signal;      /* or SIGNAL_EXIT */
    int system_call; /* SIGSYS: its number */
    bool overflow;   /* SIGSEGV: at the end of a lane's stack */
    char thread[48];
    int naddresses; /* offsets in the shared object: where the fault is, then calls that may have led there */
    uint64_t address[ADDRESSES_MAX];
};

/* OP_DESCRIBE: what the session's entry says of the kernel. */
struct described {
    char name[64], about[200], format[32];
    bool deterministic, together, shares, host_part, skips_padding, product_only;
    bool takes[PRECISIONS];
    bool has_param;
    int64_t param[PARAMS_MAX];
};

/* The strings that a struct scope points to. */
struct scope_names {
    char file[SCOPE_SITES][48], what[SCOPE_SITES][32];
};
/* OP_TRACE: struct trace, struct scope_names, then the steps. OP_COUNT: struct counts, struct scope_names. OP_MODEL:
   struct workload, struct counts, struct scope_names, and the tape as in lab_tape.c. OP_TIME: struct remote_times.
   OP_LAUNCH: nothing; y is in the job's memory. */

struct tape;
/* lab_tape.c: a tape as bytes, for the caller to free with mem_free, and back. false, NULL: out of memory, or the bytes
   are not those of a tape. */
char *lab_tape_pack(const struct tape *t, uint64_t *bytes, struct err *e);
bool lab_tape_unpack(const char *from, uint64_t bytes, struct tape *t, struct err *e);

/* lab_worker.c: run the job at FD_JOB and end the process. */
_Noreturn void lab_work(void);
/* lab_guard.c: limit this process, and report its faults. lab_guard_object: the shared object, once it is loaded. */
bool lab_guard_begin(const struct job *job, struct err *e);
void lab_guard_object(const void *address);
bool lab_guard_send(enum reply_kind kind, int n, const void *const *part, const uint64_t *bytes);
_Noreturn void lab_guard_end(void);

#endif
