/* What the line of a command that solves asks for: the options, the right sides and the start vector. */
#ifndef SOLVE_REQUEST_H
#define SOLVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"
#include "session/right_side.h"
#include "solvers/solve.h"

struct args;
struct err;
struct matrix;
struct session;

/* Read the options of an iterative solve from the words that the command has; words that it lacks give the defaults.
   Vectors and the scaling of the matrix are left out. Fails if the device or a file cannot be opened; otherwise, the
   caller frees what was read from files with solve_options_free. */
bool solve_options_of(struct session *s, const struct matrix *m, const struct args *a, struct solve_options *o,
                      struct err *e);
void solve_options_free(struct solve_options *o);
/* The options near, coordinates and vectors of a command; the caller frees n->coordinates with mem_free. */
bool near_settings_of(const struct args *a, struct near_settings *n, struct err *e);
void null_words_list(give_fn *give, void *user); /* the words after `nullspace` */
/* The options triangles, sweeps and order of a command. */
struct triangle_settings triangle_settings_of(const struct args *a);
/* The options inner and complement of a command. */
struct schur_settings schur_settings_of(const struct args *a);
/* The words of this line with which another method gets the same system. */
struct solve_same solve_same_of(const struct args *a, const struct solve_options *o);

/* The right sides that a line names by b and seed, and the one that it chooses by column. */
struct sides_request {
    struct right_sides all;
    int64_t column; /* the right side that the line chooses, counted from 0; otherwise 0 */
    bool several;   /* there are several right sides, and the line chooses none of them */
};
/* The caller frees out->all with right_sides_free, unless this fails. */
bool sides_request_of(const struct matrix *m, const struct args *a, struct sides_request *out, struct err *e);
/* x0 for right side i, which the line names by x0 and seed: solve_numbers(&m->csr) numbers, which the caller frees with
   mem_free. NULL if this fails. */
double *guess_of(const struct matrix *m, const struct args *a, int64_t i, struct err *e);

#endif
