/* What the files of the lab share: a user's kernel, its source, its compiled code, and its runs. */
#ifndef LAB_PRIVATE_H
#define LAB_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/precision.h"
#include "lab.h"
#include "lab_job.h"
#include "lab_source.h"
#include "machine/kernel.h"

/* The only argument of the process that runs kernels. */
#define LAB_ARGUMENT "--run-a-kernel"

/* ---- a user's kernel ---- */

struct lab_kernel {
    struct kernel entry; /* in the registry; begins the struct, so that an entry leads to its lab_kernel */
    char name[64], about[200], work[80];
    char path[4096]; /* absolute */
    char file[64];   /* the name of the file, as messages give it */
    int64_t param[PARAMS_MAX];
    double seconds;
    char *text;           /* the file as it was read */
    struct stat st;       /* of the file when it was read */
    struct source source; /* what the text declares */
    int object, gpu;      /* the shared object for the emulator, and the one for a GPU; -1: none */
    int capability;       /* of the GPU for which `gpu` was compiled */
    const char *nvcc;     /* count as this one compiles it; NULL: that of toolkit_nvcc */
    bool as_source;       /* count as in the source, even if nvcc is there */
    int counted_for;      /* compute capability of the GPU of the last prediction; 0: none yet */
    char counted_as[240]; /* see struct remote */
    char printed[2048];
    struct lab_fault fault; /* of the last run */
    struct lab_kernel *next;
};
/* The functions by which the registry's entry runs elsewhere (lab_remote.c). */
extern const struct remote lab_remote;
/* NULL: k is not a kernel of the lab. */
static inline struct lab_kernel *lab_kernel_of(const struct kernel *k)
{
    return k->remote == &lab_remote ? (struct lab_kernel *)k : NULL;
}
void lab_forget_names(void); /* free the names that traces point to */

/* ---- lab_compile.c ---- */

/* The text of a user's file, for the caller to free; NULL: it is missing, not a file, empty, too large or binary. */
char *lab_read(const char *path, struct stat *st, struct err *e);
void lab_folder_of(const struct lab_kernel *k, char *folder, size_t size); /* of its file */
/* Compile text to a shared object: a file descriptor of memory, or -1. `file` is the name of the user's file in
   messages, `folder` the folder of files that it includes. */
struct lab_target {
    bool gpu;         /* compile by nvcc, otherwise by g++ for the emulator */
    int capability;   /* of the GPU; 0: that of the GPU in this computer */
    bool cubin;       /* only the code of the functions on the GPU, to look at */
    const char *nvcc; /* NULL: that of toolkit_nvcc */
};
int lab_compile(const char *text, const char *file, const char *folder, const char *user_text, struct lab_target target,
                struct watch *w, struct err *e);
bool lab_has_nvcc(void);
void lab_messages_clear(void);
void lab_message_add(const char *fmt, ...) PRINTF(1, 2);

/* ---- lab_process.c ---- */

enum { KEPT_FDS = 4 };
/* A child process: what to start, and what it may use. */
struct lab_process {
    const char *const *argv;
    const char *folder;        /* working folder; NULL: this one */
    int keep[KEPT_FDS], nkeep; /* file descriptors that it gets as 3, 4, ... */
    int out;                   /* its stdout and stderr; -1: none */
    int cpu_seconds;           /* limits; 0: none */
    int64_t memory, file_bytes;
    double seconds; /* wall time, after which it is killed; 0: no limit */
};
/* Start it in a process group of its own. Returns its id, or -1. */
int lab_start(const struct lab_process *p, struct err *e);
/* Kill the process group, and collect the process, now or later. */
void lab_kill(int pid);
/* Collect a process that ends by itself; false: it does not end within a second. */
bool lab_reap(int pid, int *status);
/* Wait until the process ends; *status as of waitpid. false: the user cancelled, or the time is over (*late); the
   process is gone then. */
bool lab_wait(int pid, const char *what, double seconds, struct watch *w, int *status, bool *late, struct err *e);
/* Run a program that prints, and return what it printed, at most `most` bytes, for the caller to free with mem_free.
   NULL: it failed, or as of lab_wait. */
char *lab_output(const struct lab_process *p, const char *what, double seconds, int64_t most, struct watch *w,
                 struct err *e);
/* Anonymous memory as a file descriptor; -1: none. */
int lab_memory(const char *what, int64_t bytes, struct err *e);
/* All of what a file descriptor of memory holds, with a NUL after it; the caller frees it. */
char *lab_memory_text(int fd, int64_t most, struct err *e);
/* The line of the user's file that contains one of the n offsets of the object; 0: none. */
int lab_line_of(int object, const char *file, const uint64_t *address, int n);

/* ---- lab_layout.c ---- */

struct lab_request;
/* The memory that holds the job, which the caller unmaps; fd is its file descriptor. NULL: an error. */
struct job *lab_job_new(const struct lab_kernel *k, const struct lab_request *r, int *fd, int64_t *bytes,
                        struct err *e);
/* Is r another launch with the matrix that is in the memory of j? */
bool lab_job_same(const struct job *j, const struct lab_request *r);
/* Then put the vectors and numbers of r into it. */
bool lab_job_again(struct job *j, const struct lab_request *r, struct err *e);

/* ---- lab_run.c ---- */

/* A reply to a job, for the caller to free with mem_free. */
struct lab_reply {
    char *bytes;
    uint64_t n;
};
/* What a job needs besides the kernel. Arrays that are NULL are left out. */
struct lab_request {
    enum lab_op op;
    const struct mat *M; /* NULL: OP_DESCRIBE */
    const struct csr *A; /* OP_MODEL */
    const void *x;       /* on the host, of type M->of->real */
    void *y;             /* the same; receives the result */
    double alpha, beta;
    bool races;
    int reps, launch, warp;
    const struct machine *machine; /* OP_MODEL */
    const struct tape *tape;       /* OP_MODEL: how many blocks at a time; NULL: record none */
    int64_t block, sample;
    const struct as_compiled *code; /* OP_COUNT and OP_MODEL: count as this code does; NULL: as the source */
};
/* Run a job in a process of its own. If the kernel is at fault, the error is E_DEVICE and k->fault has its parts. */
bool lab_run(struct lab_kernel *k, const struct lab_request *r, struct watch *w, struct lab_reply *out, struct err *e);
/* End the process that waits for another launch of the last kernel, if there is one. */
void lab_rest(void);
/* Where the program that runs kernels is. */
const char *lab_program(void);

#endif
