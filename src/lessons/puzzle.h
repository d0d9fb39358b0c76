/* Puzzles: a kernel with a gap, a matrix, and goals that the emulator checks. */
#ifndef PUZZLE_H
#define PUZZLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/param.h"
#include "lab/lab.h"

struct counts;
struct csr;
struct err;
struct format;
struct generator;
struct kernel;
struct goal_quantity;
struct session;
struct watch;

/* ---- puzzle_file.c: the text file of a puzzle ---- */

enum { GOALS_MAX = 8, GOAL_BYTES = 80, HINTS_MAX = 6, HINT_BYTES = 1000, PROSE_BYTES = 4000, CODE_BYTES = 8000 };

/* "sectors <= 5000", or "time < csr-vector" */
struct goal {
    const struct goal_quantity *of;
    double limit;
    const struct kernel
        *than; /* the predicted time must be less than the time of this kernel; NULL: the limit counts */
};

struct puzzle {
    char name[64], about[120], title[120];
    int place;    /* its number in the list; 0: none */
    char sum[20]; /* checksum of the file */
    const struct generator *generator;
    int64_t param[PARAMS_MAX], seed;
    char matrix[80]; /* "random 4096 16 seed 1" */
    const struct format *format;
    int ngoals, nhints;
    struct goal goal[GOALS_MAX];
    char hint[HINTS_MAX][HINT_BYTES];
    char prose[PROSE_BYTES], kernel[CODE_BYTES], solution[CODE_BYTES];
};

/* Read and check the file. The error has the file and the line. */
bool puzzle_read(const char *name, const char *path, struct puzzle *p, struct err *e);
/* Find a puzzle by its name, the beginning of exactly one name, or its number. Returns false without an error if there
   is none. */
bool puzzle_named(const char *word, struct puzzle *p, struct err *e);
/* Call visit for each puzzle, in the order of the list. The puzzle is overwritten by the next one. Files with mistakes
   are left out, and `broken`, which may be NULL, receives the first mistake. */
typedef bool puzzle_visit(void *user, const struct puzzle *p, struct err *e);
bool puzzle_each(puzzle_visit *visit, void *user, struct err *broken, struct err *e);
/* Make the puzzle's matrix. */
bool puzzle_matrix(const struct puzzle *p, struct watch *w, struct csr *out, struct err *e);

/* ---- puzzle_goal.c: the quantities of goals ---- */

struct goal_quantity {
    const char *name; /* in the file of a puzzle: "sectors" */
    const char *key;  /* the key that `try` prints it under, whose table describes it; NULL: none */
    double (*of)(const struct lab_report *r, const struct counts *c); /* NULL: `local` */
    /* The cost of one access site, of which the costliest is shown first; 0: none. NULL: no site is to blame. */
    double (*cost)(const struct counts *c, int site);
    /* Append to "sum.cu:9: " what the site does. */
    void (*say)(const struct counts *c, int site, char *out, size_t size);
    /* Append what causes the number, if no site is to blame; NULL: nothing does. */
    void (*explain)(const struct lab_report *r, char *out, size_t size);
    bool least;        /* the kernel needs at least the limit, otherwise at most */
    bool as_compiled;  /* it counts what nvcc makes of the kernel, if nvcc is there */
    bool local;        /* it is the local memory, which only nvcc knows */
    const char *about; /* of an integer that `try` does not print */
};
/* NULL: there is none. */
const struct goal_quantity *goal_quantity_find(const char *name);
/* The quantity on the screen: "sectors of global memory". Returns out. */
char *goal_quantity_about(const struct goal_quantity *q, char *out, size_t size);
bool goal_quantity_is_integer(const struct goal_quantity *q);
/* The names of all quantities, separated by ", ". */
void goal_quantity_names(char *out, size_t size);
/* "<= 5,000", ">= 28", "< csr-vector" */
char *goal_limit(const struct goal *g, char *out, size_t size);

/* ---- puzzle_judge.c: a kernel and the goals ---- */

struct judged {
    const struct kernel *kernel; /* NULL: it was not compiled */
    struct lab_report report;
    struct goal_result {
        bool known, passed;
        double counted, limit; /* limit: the goal's, or the predicted time of the other kernel */
    } goal[GOALS_MAX];
    double local_bytes;   /* of a thread, if a goal limits it; NaN: not known */
    char no_code[300];    /* why not; empty: it is known */
    char counted_as[240]; /* if a goal is as compiled: "as nvcc 13.0.88 compiles it for sm_90", or "as in the
                             source: ..." and why; empty: there is no such goal */
    bool passed;          /* right, without a race, and all goals */
    const char *missed;   /* the first of: compiles, ends, races, right, and the goals, by name; NULL: none */
    struct lab_fault fix; /* what to correct first; empty if the kernel passed */
};
/* Compile the file and judge it. Returns false if the user cancelled, the file cannot be read, or this process failed;
   a file that does not compile is a result. */
bool puzzle_judge(struct session *s, const struct puzzle *p, const char *path, struct judged *out, struct err *e);

/* ---- puzzle_progress.c: what the user has done ---- */

enum { PUZZLES_MAX = 500, CHECKS_BEFORE_SOLUTION = 3 };
struct puzzle_progress {
    char name[64], sum[20];
    char last[20];      /* checksum of the file that was checked last; "-": none */
    int failed;         /* checks that failed, each with another text */
    int hints;          /* hints that were shown */
    bool solved, shown; /* shown: the solution was shown before the puzzle was solved */
};
struct progress_list {
    char current[64]; /* the puzzle that was shown last; empty: none */
    int n;
    struct puzzle_progress of[PUZZLES_MAX];
};
/* Read the progress from the user's state folder. A missing file is empty progress. */
void progress_load(struct progress_list *l);
/* Save the puzzle that was shown last, and the progress in one puzzle; the rest of the file stays as it is. */
bool progress_save(const char *current, const struct puzzle_progress *mine, struct err *e);
/* The progress in p, added if there is none, or none of this version of p. NULL: the list is full. */
struct puzzle_progress *progress_of(struct progress_list *l, const struct puzzle *p);

#endif
