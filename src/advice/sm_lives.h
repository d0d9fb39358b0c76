/* The life of one multiprocessor for a kernel on a matrix of the session, at several occupancies. */
#ifndef SM_LIVES_H
#define SM_LIVES_H

#include <stdbool.h>

#include "base/precision.h"
#include "microscope/sm.h"

struct err;
struct kernel;
struct matrix;
struct row_kind;
struct session;

enum { LIVES_MAX = 6 };
struct sm_lives {
    const struct matrix *matrix;
    const struct kernel *kernel;
    enum precision real;
    char machine[64];
    bool here, scaled; /* as in struct machine */
    int capability;    /* the compute capability of this GPU */
    char launch[64];   /* name of the launch that is shown: the one with the most steps */
    int64_t blocks;    /* of the launch */
    int64_t of_sm;     /* blocks that one multiprocessor gets */
    int64_t threads;   /* per block */
    int64_t registers; /* per thread; 0: not known, for the reason in `unknown` */
    char unknown[160];
    int compiled_for;       /* the compute capability for which nvcc was asked; 0: the table of built-in kernels */
    int64_t blocks_most;    /* that one multiprocessor can hold */
    const char *limited_by; /* what limits them: "registers", "threads", ... */
    int64_t longest_block;  /* the block that takes much longer than the others; -1: there is none */
    int64_t longest_row;    /* the longest row that it stores; -1: not known */
    bool sampled, cut;      /* not all blocks were watched; not all blocks of the multiprocessor were recorded */
    int n, chosen;
    struct sm_life life[LIVES_MAX]; /* with more and more blocks at a time */
};

/* Simulate the kernel at several occupancies and replace s->sm. warps: an occupancy to add and choose; 0: choose the
   highest. On failure, s->sm is unchanged. */
bool sm_begin(struct session *s, struct matrix *m, const struct kernel *k, enum precision real, int warps,
              struct err *e);
/* Print one row per occupancy, and what the chosen one shows. */
void out_sm(struct session *s, const struct sm_lives *l);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_sm;

#endif
