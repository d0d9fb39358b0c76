/* What the files of this room share. */
#ifndef RANKS_PRIVATE_H
#define RANKS_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ranks.h"

struct cJSON;

/* ---- answers (answers.c) ---- */

/* Send a command, a line without its end. */
bool ranks_send(struct ranks *r, const char *line, struct err *e);
/* The next answer, which the caller frees with cJSON_Delete. NULL without an error: none came within `us`
   microseconds. NULL with an error: the ranks have ended. */
struct cJSON *ranks_next(struct ranks *r, double us, struct err *e);
/* The next answer, however long it takes. After Ctrl-C, r->busy is set: the answers to the last command will come. */
struct cJSON *ranks_wait(struct ranks *r, const char *what, struct watch *w, struct err *e);
/* Is the answer of this type? If it is `error`, or no answer, fails, too. */
bool reply_is(const struct cJSON *a, const char *type);
/* Is the answer the last one to a command? */
bool reply_is_last(const struct cJSON *a);
/* Fail with the text of an answer of type `error`. */
bool reply_fail(const struct cJSON *a, struct err *e);
double reply_number(const struct cJSON *a, const char *key);
const char *reply_text(const struct cJSON *a, const char *key);
/* Forget what PETSc printed. */
void prints_forget(struct ranks *r);
/* Set r->dead, and fail with the reason why the ranks ended. */
bool ranks_died(struct ranks *r, struct err *e);

/* ---- files (petsc_file.c) ---- */

bool petsc_write_matrix(const struct ranks *r, const struct csr *A, struct watch *w, struct err *e);
bool petsc_write_vector(const struct ranks *r, const char *name, const double *x, int64_t n, struct watch *w,
                        struct err *e);
bool petsc_read_vector(const struct ranks *r, const char *name, double *x, int64_t n, struct err *e);
/* Remove the files and the folder. */
void petsc_remove_files(const struct ranks *r);

#endif
