/* A solve as a complete program for another library: `save FILE recipe scipy`. Each target has one source file,
   recipe_NAME.c, and one line in recipes.def; the lines of its solvers and preconditioners are the `peers` of their
   entries (solvers/peers.h). */
#ifndef RECIPE_H
#define RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/registry.h"
#include "peer_options.h"

struct direct_method;
struct err;
struct matrix;
struct precond;
struct session;
struct solve;
struct solver;

enum { RECIPE_ROOM = 24000 }; /* bytes of a program, at most */

/* A right side that a program can make. */
struct recipe_right {
    const char *name;  /* as a user types it after `b` */
    const char *scipy; /* lines of Python that make b */
    const char *c;     /* the function right_side, in C */
};

/* The last solve, as a program needs it. */
struct recipe_request {
    struct matrix *m;
    const struct solver *solver;        /* NULL: a direct solver */
    const struct direct_method *direct; /* NULL: a solver by iteration */
    const struct precond *pre;          /* NULL: none */
    const struct solve *solve;          /* NULL: a direct solver */
    struct peer_request peer;
    const struct recipe_right *right;
    const char *b_file; /* for a right side from a file of its own; otherwise NULL */
    int64_t b_column;
    bool scaled;       /* the rows and columns were scaled */
    bool symmetric;    /* the method needs a symmetric A */
    char file[600];    /* the file of A that the program reads by default */
    bool there;        /* the file is there, and holds A */
    char program[600]; /* the name of the program's own file, for its comment */
    char method[80];   /* "cg, preconditioner jacobi" */
    char reached[200]; /* what the solve reached */
};

struct recipe {
    const char *name, *about;
    const char *reads; /* the ends of the names of files that the program reads, separated by blanks */
    bool scales;       /* can scale rows and columns */
    bool reads_right;  /* can read the right side that stands in the matrix's .npz file */
    /* Can the target express this entry of the registry? */
    bool (*has_solver)(const void *entry);
    bool (*has_direct)(const void *entry);
    bool (*has_precond)(const void *entry);
    /* Is there something else that the target cannot express? NULL: no. */
    bool (*accepts)(const struct recipe_request *q, struct err *e);
    void (*write)(const struct recipe_request *q, char *out, size_t size);
};
extern const struct registry recipe_registry;
const struct recipe *recipe_find(const char *name);

/* Write the last solve of the session, which `name` names by its matrix (NULL: any), as a program of kind r to
   out[RECIPE_ROOM]. program: the path of the file in which it will be. Fails with one sentence if the target cannot
   express the solve. *q receives what was written. */
bool recipe_write(struct session *s, const struct recipe *r, const char *name, const char *program,
                  struct recipe_request *q, char *out, struct err *e);

/* For recipe_*.c, what the programs in C share. Append the comment at the beginning, with the libraries that the
   program needs and the words that compile it. Append the names of files and the functions read_matrix and right_side.
 */
void recipe_c_comment(const struct recipe_request *q, const char *needs, const char *compiler, const char *libraries,
                      char *out, size_t size);
void recipe_c_input(const struct recipe_request *q, char *out, size_t size);

#endif
