/* The session: its matrices, the device in use, and what commands leave for later ones. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "log.h"
#include "output.h"
#include "undo.h"
#include "base/watch.h"

struct csr;
struct format;
struct load_info;

enum { OPTIONS_MAX = 8 };

struct solve;    /* solver.h */
struct lu_steps; /* lu.h */
struct race;     /* race.h */
struct tracing;  /* tracing.h */
struct front;
struct record;
struct out;
struct run;
struct session {
    struct matrix *matrices, *current;
    struct device *dev; /* NULL: the default, opened when first used */
    struct out *out;
    struct watch watch;
    struct front *front; /* the screen, NULL in tests without one */
    struct run *runs;    /* of the last bench or spmv, sorted by time */
    int nruns;
    struct matrix *runs_of; /* the matrix they belong to */
    struct solve *solve;    /* the solve that goes on or went last */
    struct race *race;      /* that goes on or went last */
    struct lu_steps *lu;    /* the factorisation that is stepped through, NULL: none */
    struct tracing *trace;  /* the warp that is looked at, NULL: none */
    bool plain, batch, quit;
    bool interactive;    /* stdin and stdout are terminals */
    bool terminal;       /* messages go to one: show progress */
    int depth;           /* of nested `source` */
    struct device *used; /* by the last command; looked at when one fails */
    double began_us;     /* when the command that runs began */
    double shown_us;     /* when its progress was shown last */
    const char *script;  /* the file commands come from, NULL at the prompt; and its line */
    int64_t script_line;
    struct command_log log; /* of the commands that succeeded */
    const char *folder;     /* of the lesson that runs, which names the files it reads from there; NULL outside */
    struct undo undo;
    struct record *record;        /* the commands are written there, NULL: they are not */
    char option[OPTIONS_MAX][24]; /* values that were set, empty: the defaults; options.h */
    bool single;                  /* fp32 where a command names no precision */
    int nested;                   /* commands that run within one another */
    int64_t ran;                  /* commands so far that were not refused */
};

bool session_new(struct session *s, FILE *data, FILE *messages, enum out_mode mode, struct err *e);
void session_free(struct session *s);
/* Free the formats that m was converted to; and m itself, which is in no list. */
void products_free(struct matrix *m);
void matrix_free(struct matrix *m);
struct matrix *session_matrix(struct session *s, const char *name, struct err *e); /* NULL name: the current one */
/* Take over A and info under a name (made unique from the file's if name is NULL); becomes current. */
bool session_add(struct session *s, const char *name, struct csr *A, const struct load_info *info, struct err *e);
bool session_drop(struct session *s, struct matrix *m);
/* The path of a file to read: in a lesson one that is not absolute begins at the lesson's own folder. */
bool session_path(const struct session *s, const char *file, char *path, size_t size, struct err *e);
struct device *session_device(struct session *s, const char *name,
                              struct err *e); /* NULL name: the chosen or default one */
const struct stats *session_stats(struct session *s, struct matrix *m, struct err *e);
/* The matrix packed, from the cache or new; param NULL: the default ones. */
struct product *session_product(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                enum type real, bool force, struct err *e);
/* The same, new ones packed by d from the matrix in csr, which is put there; on the host where d has no packer for f or
   too little memory. What d packed lies there, and has been copied to the host. */
struct product *session_product_on(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                                   enum type real, bool force, struct device *d, struct err *e);
struct mat *session_mat(struct session *s, struct product *p, struct device *d, struct err *e);
void session_device_lost(struct session *s, struct device *d); /* drop its mats, try a reset, say so */
/* Ctrl-C sets a flag that the session's tick reads; `once`: a second one ends the program. */
void session_catch_interrupt(bool once);
bool session_take_interrupt(void); /* true if it was set; clears it */

#endif
