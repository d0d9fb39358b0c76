/* The named sparse matrices of a file, of which one is read, and the right sides beside it. */
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct load_info;
struct source;

/* The right sides b and the solutions x, which a file may contain beside the matrix. B and X are often other matrices,
   so their case matters. */
enum { SIDE_B, SIDE_X, SIDES };
extern const char *const side_names[SIDES];

enum { NAMES_ROOM = 400, NAME_ROOM = 128 };
struct variable_names {
    int64_t found;        /* number of sparse matrices */
    char name[NAME_ROOM]; /* of the matrix that is read; empty: none is chosen yet */
    char all[NAMES_ROOM]; /* the names of all of them */
};
/* List a sparse matrix. Returns true if it is to be read: none is chosen yet, and `part` is NULL or equals its name. */
bool variable_chosen(struct variable_names *t, const char *name, const char *part);
/* Add a note if the user did not choose between several matrices; `noun` names one of them. names_one: also if there is
   only one. */
void variable_note(const struct variable_names *t, const char *part, const char *noun, bool names_one,
                   struct load_info *info);
/* Fail: no matrix is chosen. Returns false. */
bool variable_missing(const struct source *s, const struct variable_names *t, const char *noun, struct err *e);
/* Add a note if integers of 64 bits were rounded among n values. */
void variable_note_rounded(int64_t n, const double *val, struct load_info *info);

#endif
