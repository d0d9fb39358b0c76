/* The tables of the last lesson, kept for the view `tables`. */
#ifndef PAPER_TABLES_H
#define PAPER_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct session;

struct paper_row {
    char matrix[64], of[64], what[40]; /* as in the lesson, see paper.h */
    double paper, ours;                /* NaN: none */
    char how[48], device[160];         /* see struct paper_value; empty: there is no number of ours */
    int64_t rows; /* of the matrix; 0: the row is about all matrices, or about one that is not here */
};
struct paper_table {
    char title[160]; /* the heading above it in the lesson */
    char gpu[64];    /* of the paper; "-": the table has no numbers of a paper */
    int64_t line;    /* of its first row in the lesson */
    int n;
    struct paper_row *row; /* owned */
};
struct paper_tables {
    char lesson[64];
    int n;
    struct paper_table *table; /* owned */
};

/* Drop the tables of the previous lesson. */
bool paper_tables_begin(struct session *s, const char *lesson, struct err *e);
/* Begin a table. */
bool paper_tables_open(struct session *s, const char *title, const char *gpu, struct err *e);
bool paper_tables_add(struct session *s, const struct paper_row *row, struct err *e);

#endif
