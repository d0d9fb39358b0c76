/* Find the rows whose length, sum, diagonal or largest |a| meets conditions, and the entries whose |a| meets
   conditions. */
#ifndef FIND_H
#define FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"

struct csr;
struct err;

/* The real and the imaginary part of a number. */
struct parts {
    double re, im;
};

/* A number that describes a row. For a complex matrix, searches compare the absolute values of sum and diagonal. */
struct row_measure {
    const char *name, *about;
    const char *heading, *fmt; /* for tables */
    bool single;               /* a search for entries accepts `sort` with this measure, and sorts by |a| */
    double (*of)(const struct csr *A, int64_t row);
    struct parts (*parts)(const struct csr *A, int64_t row); /* NULL: the measure is real even if A is complex */
};
/* terminated by an entry whose name is NULL; the first entry is the length */
extern const struct row_measure row_measures[];
extern const struct registry row_measure_registry;

/* A comparison such as `<`. */
struct comparison {
    const char *name;
    bool (*holds)(double a, double b);
};
extern const struct comparison comparisons[]; /* terminated by an entry whose name is NULL; longer names come first */

struct condition {
    const struct row_measure *measure; /* NULL: |a| of an entry */
    const struct comparison *comparison;
    double value;
};
enum { CONDITIONS_MAX = 8 };

struct search {
    int n; /* number of conditions, which must all hold */
    struct condition condition[CONDITIONS_MAX];
    const struct row_measure *sort; /* NULL: by position */
    bool sorted;                    /* in a search for entries: sort them by |a| */
    bool ascending;                 /* if sorted, the smallest first */
    int64_t limit;                  /* keep at most this many matches */
};
/* The rows or entries that match, in order. */
struct found {
    int64_t matches; /* number of all matches */
    int64_t n;       /* number of matches kept */
    struct match_key {
        double key; /* the value by which matches are sorted; 0 if matches are not sorted */
        int64_t at; /* row, or index of the entry in A->val */
    } * item;       /* [n], owned */
};
/* Takes O(nnz + matches log limit) time. */
bool rows_find(const struct csr *A, const struct search *s, struct found *out, struct err *e);
bool entries_find(const struct csr *A, const struct search *s, struct found *out, struct err *e);
void found_free(struct found *f);

#endif
