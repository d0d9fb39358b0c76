/* A user's text in which each access has a line of its own, so that the lines of machine code name accesses; and the
   loops of the text. Positions are those of the text that the emulator's compiler gets, as its access sites give them.
 */
#ifndef LAB_APART_H
#define LAB_APART_H

#include <stdbool.h>

#include "lab_source.h"
#include "machine/as_compiled.h"

/* The lines of a __global__ function, in the order of struct source. */
struct apart_body {
    int first, last;
};
struct apart {
    char *text; /* for nvcc */
    int nlines;
    struct text_part *line; /* where the text of line k of `text`, from 1, is in the emulator's text */
    int *written;           /* the line of the user's file on which it is */
    int nloops;
    struct text_part *loop; /* the conditions and bodies of the loops, an outer one before those inside */
    /* the loop around what is loaded or stored on line k, -1: none; and the number of loops around that */
    int *loop_of, *depth;
    bool *accesses; /* may line k load or store something? */
    struct apart_body body[FUNCTIONS_MAX];
};
/* Take the user's text apart. The caller frees the result by apart_free. E_UNSUPPORTED: it cannot be taken apart. */
bool apart_new(struct apart *a, const struct source *s, const char *text, struct err *e);
void apart_free(struct apart *a);
/* The loop around line k that has exactly `depth` loops around it. */
const struct text_part *apart_loop(const struct apart *a, int line, int depth);

#endif
