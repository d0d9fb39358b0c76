/* Experiments that test what `explain` claims: each one removes one cause of a kernel's lost time and keeps the rest.
   The time that is gained without the cause should be the time that `explain` claims for it.

   An experiment changes the matrix, the stored arrays, the precision or the kernel. The counts of the emulator show
   whether it removed its cause, and whether it kept what it must keep; only then is its gain compared with the claim.
   To add an experiment for a cause, write a function that alters a trial, and add a line to the table in
   experiments.c. */
#ifndef EXPERIMENTS_H
#define EXPERIMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/precision.h"
#include "formats/stored.h"
#include "matrix/csr.h"
#include "microscope/modeled.h"

struct device;
struct err;

/* Timed launches of a round, and rounds, each with the matrix at other addresses. */
enum { TRIAL_REPS = 50, TRIAL_ROUNDS = 3 };

/* A kernel on a matrix. */
struct trial {
    const struct kernel *kernel;
    enum precision real;
    struct csr A;                   /* owned; its rows may be unsorted and have duplicates */
    void (*edit)(struct stored *S); /* changes the arrays of A after packing; NULL: no change */
    struct stored S;                /* A in the format of the kernel */
    struct modeled *k;              /* what the emulator counts, and the predicted time */
};

/* Pack t->A, watch t->kernel on the emulator, and predict its time on g. */
bool trial_watch(struct trial *t, const struct machine *g, struct err *e);
/* A measured time in us, and how far the rounds are from it. */
struct trial_us {
    double us, error;
};
/* The median of the rounds' median times of t->kernel on gpu; trial_watch must have succeeded. */
bool trial_time(const struct trial *t, struct device *gpu, struct trial_us *out, struct err *e);
void trial_free(struct trial *t);

/* A matrix with hardly any entries: the time of t->kernel on it is that of its launches. */
bool trial_of_launches(const struct trial *t, struct trial *out, struct err *e);

/* What an experiment removes or keeps. All are counts of the emulator. */
enum quantity {
    PADDING,      /* bytes of padding that are read */
    UNEVENNESS,   /* waits of the longest block beyond 1.2 times those of the average block */
    IDLE_LANES,   /* idle lanes of loads */
    SCATTER,      /* sectors of loads other than those of x, beyond what their bytes fill */
    SCATTER_OF_X, /* sectors of x beyond what the bytes of a request fill, and, from L2, beyond those of x itself */
    MEETINGS,     /* atomics of a warp that wait for another lane at the same address, or take the next row */
    CONFLICTS,    /* shared-memory wavefronts beyond the least */
    WORK,         /* requests and warp collectives of all warps */
    VALUES,       /* bytes of values that are read */
    ENTRIES,      /* of the matrix */
    WHOLE_X,      /* sectors of x that L2 delivers, up to those of x itself */
    GATHERS,      /* sectors of x that L2 delivers */
    STREAMS,      /* other sectors that L2 delivers */
    ATOMICS,      /* lanes of atomics */
    STORES,       /* sectors that L2 receives */
    WAITING,      /* waits that the blocks do not hide from one another, in ns */
    LAUNCHES,
    QUANTITIES
};
extern const char *const quantity_names[QUANTITIES];
double quantity_of(const struct trial *t, enum quantity q);

/* The times of both trials in us, and those of the launches of their kernels, which the time includes. */
struct gained {
    const struct trial *with, *without;
    double with_us, without_us;
    double with_launch_us, without_launch_us;
    double removed; /* the share of the cause that the experiment removed */
};

struct experiment {
    const char *cause; /* as in findings.c */
    /* Set the members of *without that differ from those of *with, which is a copy of *with without its matrix. A
       matrix that stays empty is copied from `with`. Fails with E_UNSUPPORTED and the reason if the experiment does not
       suit the kernel or the matrix. */
    bool (*alter)(const struct trial *with, const struct machine *g, struct trial *without, struct err *e);
    /* Instead of `alter`: the time of what is left without the cause and without launches, measured on gpu; gpu NULL:
       predicted. */
    bool (*rest)(const struct trial *with, const struct machine *g, struct device *gpu, struct trial_us *out,
                 struct err *e);
    double (*gain)(const struct gained *t); /* the time in us that the cause takes */
    enum quantity removes;
    double left;    /* the largest share of this quantity that may be left */
    unsigned keeps; /* a bit for each quantity that may change by at most the share `kept` */
    double kept;
};

extern const struct experiment experiments[]; /* terminated by an entry without a cause */
/* The experiment for the cause that follows `after`, or the first one if `after` is NULL; NULL: there is none. */
const struct experiment *experiment_next(const char *cause, const struct experiment *after);
/* The first experiment for the finding that suits the trial and is clean; *without receives its trial, which the caller
   frees. An experiment with `rest` has none. NULL: there is no such experiment, and the error has the reason. */
const struct experiment *experiment_find(const struct finding *f, const struct trial *with, const struct machine *g,
                                         struct trial *without, struct err *e);
/* Make and watch *without. */
bool experiment_alter(const struct experiment *x, const struct trial *with, const struct machine *g,
                      struct trial *without, struct err *e);
/* Did the experiment remove its cause, and nothing else? If not, E_UNSUPPORTED and the quantity. A changed number of
   sectors does no harm if the change takes less than a tenth of the claimed time at the rate of L2; changed waits of
   the longest block or of all blocks, if they take less than that. */
bool experiment_is_clean(const struct experiment *x, const struct trial *with, const struct trial *without,
                         double claimed_us, struct err *e);
/* The share of the cause that the experiment removed; 1 if it has `rest`. */
double experiment_removed(const struct experiment *x, const struct trial *with, const struct trial *without);

#endif
