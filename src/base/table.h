/* Tables: rows of named cells, collected until their widths are known, then printed as text, CSV or HTML. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "column_rank.h"
#include "table_links.h"

struct err;
struct table_block;

struct cell {
    const char *key;     /* the table's copy of the column's name in CSV; NULL: not shown in CSV */
    const char *heading; /* the table's copy of the column's name in text; NULL: not shown in text */
    const char *text;    /* the table's copy, safe to print */
    bool right;          /* a number */
    bool file;           /* the path of a file */
    enum column_rank rank;
    int row;
};
struct table {
    struct cell *cell;
    int n, room, rows;
    struct table_block *block; /* memory of the texts of cells; defined in table.c */
    char **name;               /* keys and headings of the columns; owned */
    int nnames;                /* number of names */
    int last;                  /* index of the name that was used last */
    enum column_rank rank;     /* rank of the cells that are added next */
};

/* table_row starts a row; table_add adds a cell to that row, makes foreign text safe, and copies key, heading and text.
   If `lines` is set, the line ends in the text are kept. */
void table_row(struct table *t);
bool table_add(struct table *t, const char *key, const char *heading, const char *text, bool right, bool lines,
               struct err *e);
/* table_text prints aligned columns under headings. table_records prints "heading value" lines, with a blank line
   between rows. `width` is the width of the terminal; 0: no limit. If the table is too wide, table_text
   drops columns that have one value in all rows, hides the columns of the lowest rank, and wraps long texts. The first
   column always stays; notes below the table name the missing columns. table_records continues long values on the next
   line. */
void table_text(const struct table *t, FILE *f, int width, const struct table_links *links);
void table_records(const struct table *t, FILE *f, int width, const struct table_links *links);
/* The cell that was added last is the path of a file. `links` of table_records may be NULL: without links. */
void table_mark_file(struct table *t);
/* Print text, beginning at column `at`. A word that does not fit in the width is printed at column `indent` of the next
   line. A number stays with its unit. */
void table_wrapped(FILE *f, const char *text, int at, int indent, int width);
/* Print CSV as in RFC 4180. If `header` is set, begin with the names of the columns. */
void table_csv(const struct table *t, FILE *f, bool header);
/* Print an HTML table in the layout of table_text, or of table_records if `records` is set. */
void table_html(const struct table *t, FILE *f, bool records);
void table_clear(struct table *t);
/* Drop the rows after the first `rows` rows. Returns how many rows were dropped. */
int table_shorten(struct table *t, int rows);

#endif
