/* Preconditioners: one file, pre_NAME.c, and one line in preconds.def each. M approximates A and
   is easy to solve with; a solver asks for z = M^-1 r. cg needs an M that is symmetric and positive definite where A
   is; bicgstab, qmrcgstab and gmres solve A M^-1 u = b - A x0 with it, x = x0 + M^-1 u, so that their residual is that
   of A x = b. */
#ifndef PRECOND_H
#define PRECOND_H

#include <stdbool.h>
#include <stddef.h>

struct csr;
struct err;
struct solve;

struct precond {
    const char *name, *about, *source, *needs;
    bool symmetric; /* M is symmetric where A is: cg accepts it */
    bool blocks;    /* the user can choose their size */
    /* Factorise on the host and put the parts on v->dev, into v->pre.part[]; an error names the row. v->pre.block is
       the size of a block, of those that have blocks, 0: the default. After a failure drop frees what was made. */
    bool (*make)(struct solve *v, struct err *e);
    /* z = M^-1 r, vectors of v->n; queued on the device, without effect once s[S_DONE] is not 0. z and r differ. */
    bool (*apply)(struct solve *v, const void *r, void *z, struct err *e);
    void (*drop)(struct solve *v); /* NULL: freeing v->pre.part[] is enough */
    /* No application can move fewer bytes: the parts of M once; r and z. */
    double (*bytes)(const struct solve *v);
    /* Its parts in words, such as "blocks of 8 rows", from v->pre.note[]; NULL: it has no such note. */
    void (*note)(const struct solve *v, char *out, size_t size);
};
extern const struct precond *const preconds[]; /* ended by NULL; the order of preconds.def */
extern const struct registry precond_registry;
const struct precond *precond_find(const char *name);
/* The one that was typed, in *out: by name, or NULL for `none`. false: neither. */
bool precond_typed(const char *text, const struct precond **out);
extern const char precond_none[]; /* the word for no preconditioner */

/* For slv_*.c and pre_*.c: the diagonal of A in diag[A->rows]. It fails where an entry is missing or 0; `who` names the
   method in the message. */
bool diagonal_of(const struct csr *A, const char *who, double *diag, struct err *e);

#endif
