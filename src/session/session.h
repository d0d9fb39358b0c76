/* The session: its matrices, the device in use, and results that later commands use. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "allow.h"
#include "base/array.h"
#include "base/watch.h"
#include "command_log.h"
#include "progress.h"
#include "report/output.h"
#include "undo.h"

struct alias;
struct command;
struct csr;
struct load_info;
struct product;

enum { OPTIONS_MAX = 24, OPTION_MAX = 240 };

struct solve; /* solve.h */
struct direct;
struct direct_answer; /* direct.h */
struct eigen;         /* eigen.h */
struct lu_steps;      /* lu.h */
struct race;          /* race.h */
struct tracing;       /* tracing.h */
struct roofline;      /* roofline.h */
struct aside;         /* aside.h */
struct paper_tables;  /* paper_tables.h */
struct sweep;         /* sweep.h */
struct sm_lives;      /* sm_lives.h */
struct machine_codes; /* lab/machine_code.h */
struct front;
struct machine; /* gpu_profile.h */
struct ranks;   /* ranks.h */
struct record;
struct out;
struct run;

/* The remarks on predictions that the user has read in full; later predictions have a short mark instead. */
struct explained {
    char machine[80]; /* the GPU that the remark on the model named; empty: the user has not read this remark */
    bool sampling, conversions;
};

struct session {
    struct matrix *matrices, *current;
    struct device *dev; /* NULL: the default device, which is opened when first used */
    struct out *out;
    struct watch watch;
    struct front *front; /* the screen, NULL in tests without a screen */
    struct run *runs;    /* results of the last `bench` or `spmv`, sorted by time */
    int nruns;
    double *runs_y0;              /* the y0 of `runs`, owned; NULL: random, or not read */
    struct matrix *runs_of;       /* the matrix that was multiplied in `runs` */
    struct solve *solve;          /* the current or last solve */
    struct direct_answer *direct; /* the last direct solve; NULL: none */
    struct direct *factors;       /* kept by `solve direct keep`, for `again`; NULL: none */
    bool direct_is_newer;         /* than `solve`: its vectors are x, b and r */
    struct eigen *eigen;          /* the last eigenpairs; NULL: none */
    struct race *race;            /* the current or last race */
    struct lu_steps *lu;          /* the factorisation being stepped through; NULL: none */
    struct tracing *trace;        /* the traced warp; NULL: none */
    struct timeline *timeline;    /* the last timeline, owned; NULL: none */
    struct ranks *ranks;          /* processes of PETSc; NULL: none were started */
    struct roofline *roofline;    /* the last roofline; NULL: none */
    struct sm_lives *sm;          /* the last life of a multiprocessor; NULL: none */
    struct sweep *sweep;          /* the last sweep; NULL: none */
    struct paper_tables *tables;  /* the tables of the last lesson; NULL: none */
    struct aside *aside;          /* what the running sweep set aside; NULL: no sweep is running */
    struct machine_codes *sass;   /* the last machine code; NULL: none */
    bool plain, batch, quit;
    bool interactive;    /* stdin and stdout are terminals */
    bool terminal;       /* messages go to a terminal: show progress */
    bool served;         /* --serve: another program reads progress (protocol.h) */
    int depth;           /* nesting depth of `source` */
    struct device *used; /* device used by the running command; checked for loss if the command fails */
    double began_us;     /* when the running command began */
    double took_us;      /* how long the last command took; 0: none has run */
    struct progress progress;
    const char *script;        /* the file that commands are read from; NULL at the prompt */
    int64_t script_line;       /* current line of the script, counted from 1 */
    struct lines lines;        /* where command lines come from, and what they may do */
    bool allowed[PERMISSIONS]; /* what the command `allow` or the option --allow allows to all lines */
    struct command_log log;    /* commands that succeeded */
    const char *folder; /* folder of the running lesson, to which its file names are relative; NULL outside lessons */
    struct undo undo;
    struct record *record;                /* the recording; NULL: none */
    struct alias *aliases;                /* owned (alias.h) */
    char option[OPTIONS_MAX][OPTION_MAX]; /* values of options[]; empty: the default */
    bool memories_asked;                  /* the memories of a GPU were listed or drawn */
    struct machine *gpu;                  /* that `set gpu` chose for predictions, owned; NULL: the device in use */
    struct explained explained;
    bool single;                   /* fp32 is the default precision */
    int nested;                    /* nesting depth of running commands */
    const struct command *command; /* the running command; NULL: none */
    int64_t ran;                   /* number of commands that succeeded */
};

bool session_new(struct session *s, FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void session_free(struct session *s);
/* The matrix of this name; NULL: the current matrix. Refuses a large matrix (E_LIMIT) that the running command does not
   take. */
struct matrix *session_matrix(struct session *s, const char *name, struct err *e);
/* The matrix that has these arrays, or whose equilibrated or reordered form has them; NULL: there is none. */
struct matrix *session_matrix_of(const struct session *s, const struct csr *A);
/* Does the running command take a matrix of this size? */
bool session_takes(const struct session *s, const struct matrix *m, struct err *e);
/* Fails if a matrix has this name already. session_add checks it; a command that computes for long does so first. */
bool session_name_is_free(const struct session *s, const char *name, struct err *e);
/* Add A as the current matrix, and take ownership of A. If name is NULL, a unique name is made from the name of the
   file. */
bool session_add(struct session *s, const char *name, struct csr *A, const struct load_info *info, struct err *e);
bool session_drop(struct session *s, struct matrix *m);
void session_forget_runs(struct session *s);           /* drop the results of the last `bench` or `spmv` */
void session_use(struct session *s, struct matrix *m); /* m becomes the current matrix; NULL: there is none */
/* The path of a file to read; in a lesson, a relative path is relative to the lesson's folder. */
bool session_path(const struct session *s, const char *file, char *path, size_t size, struct err *e);
/* name NULL: the chosen or default device. */
struct device *session_device(struct session *s, const char *name, struct err *e);
/* session_device for work on m: without a name, the device for which m was generated. */
struct device *session_device_for(struct session *s, const struct matrix *m, const char *name, struct err *e);
const struct stats *session_stats(struct session *s, struct matrix *m, struct err *e);
/* The copy of p on d, made before or now. Frees copies that no command uses if d has too little memory. */
struct mat *session_mat(struct session *s, struct product *p, struct device *d, struct err *e);
/* A^T for the matrix m = A, transposed on d if d is a GPU, otherwise on the host. A^T is owned by m, and is in no list.
   Its stored forms in formats that have a `transposed` use the arrays of m in that format. */
struct matrix *session_transposed(struct matrix *m, struct device *d, struct err *e);
void session_device_lost(struct session *s,
                         struct device *d); /* drop the mats on d, try to reset it, and report the result */

#endif
