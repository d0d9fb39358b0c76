/* Orderings of a square matrix: one permutation for rows and columns, found in the graph of A + A', or two, found in A.
 */
#ifndef REORDER_H
#define REORDER_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

/* The pattern of A + A' without its diagonal: neighbours of i are adj[ptr[i]] .. adj[ptr[i+1]-1], ascending. */
struct graph {
    int n;
    int *ptr, *adj;
};
/* Fails with E_UNSUPPORTED if A is not square, and with E_LIMIT if A + A' has too many entries for 32-bit pointers. */
bool graph_new(struct graph *g, const struct csr *A, struct watch *w, struct err *e);
void graph_free(struct graph *g);

/* Where rows and columns go: row i of the new matrix is row rows[i] of A, and column j is column cols[j]. */
struct moves {
    int64_t n;
    int *rows, *cols;                 /* [n] the same array if rows and columns move alike; owned */
    int *row_exponent, *col_exponent; /* [n] powers of 2 that make the largest entries about 1; NULL: none; owned */
    int64_t blocks, largest;          /* diagonal blocks of a block triangular form, and rows of the largest; 0: none */
};
bool moves_new(struct moves *v, int64_t n, bool alike, struct err *e);
void moves_free(struct moves *v);

/* Either `order` or `order_sides` is set. `order` fills perm[new] = old for g->n rows. It may take ownership of g's
   arrays and leave g empty. `order_sides` makes *out. */
struct ordering {
    const char *name, *about, *source;
    const char *aliases; /* other names, separated by blanks; NULL: none */
    bool narrows;        /* the ordering aims at a small bandwidth */
    bool local;          /* it puts neighbours close to each other, so that products read x from caches */
    bool slow;           /* it takes much longer than a time in proportion to the entries */
    bool looks_back;     /* reads only the neighbours before each row, and leaves g unchanged */
    bool (*order)(struct graph *g, int *perm, struct watch *w, struct err *e);
    bool (*order_sides)(const struct csr *A, struct moves *out, struct watch *w, struct err *e);
};
extern const struct ordering *const orderings[]; /* terminated by NULL */
extern const struct registry ordering_registry;
extern const struct ordering ordering_rcm;      /* other orderings use it */
extern const struct ordering ordering_matching; /* fills the diagonal */
const struct ordering *ordering_find(const char *name);
extern const char *reorder_metis_name; /* file name of the library; tests set a name that does not exist */

/* Is A square, as every ordering needs? If not, E_UNSUPPORTED. */
bool reorder_takes(const struct csr *A, struct err *e);
/* Order A by o; on failure, *out is empty. */
bool reorder_moves(const struct ordering *o, const struct csr *A, struct moves *out, struct watch *w, struct err *e);
/* The one permutation of an o with `order`; perm has A->rows items. Any other o fails with E_UNSUPPORTED. */
bool reorder_find(const struct ordering *o, const struct csr *A, int *perm, struct watch *w, struct err *e);
/* The same for a matrix whose pattern is symmetric, which needs no graph if o looks back. */
bool reorder_find_symmetric(const struct ordering *o, const struct csr *A, int *perm, struct watch *w, struct err *e);
/* Supervariables: rows of g that have the same columns, if each row counts as a column of its own and columns of more
   than max(16, 10 sqrt(n)) rows are left out; a row with as many columns is alone. set[i] is the number of the
   supervariable of row i; they are counted from 0 by their first rows, and *sets is their number. Takes time in
   proportion to the entries of g. */
bool reorder_supervariables(const struct graph *g, int *set, int *sets, struct watch *w, struct err *e);
/* The number of rows of each supervariable, if it is the same for all; otherwise 0. */
int64_t reorder_rows_each(int64_t rows, const int *set, int sets);
/* perm as exchanges: if the elements i and swap[i] of a vector are exchanged for i = 0, 1, .., element i becomes the
   old element perm[i]; from the last i to the first, they go back. swap has n items. */
bool reorder_swaps(const int *perm, int64_t n, int *swap, struct err *e);
/* P A Q': row i of out is row rows[i] of A, and column j is column cols[j]. Fails with E_INTERNAL if one of both is not
   a permutation. */
bool reorder_apply_moves(struct csr *out, const struct csr *A, const int *rows, const int *cols, struct watch *w,
                         struct err *e);
/* P A P', for one permutation of both. */
bool reorder_apply(struct csr *out, const struct csr *A, const int *perm, struct watch *w, struct err *e);

/* How far entries are from the diagonal, as in the line "band" of `check`, and how many of it are not 0. */
struct spread {
    int64_t diagonal;  /* diagonal entries that are not 0 */
    int64_t bandwidth; /* the largest distance */
    /* the number of columns from each row's first entry to the diagonal, summed over all rows, plus the same sum for
       columns */
    int64_t profile;
};
bool spread_of(const struct csr *A, struct spread *out, struct err *e);

#endif
