/* Rows of named cells, gathered until their widths are known, then printed as text or CSV. For out.c. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct err;

struct cell {
    const char *key, *heading; /* of the CSV column, of the text column; NULL: not in it. Outlive the table */
    char *text;                /* owned, safe to print */
    bool right;                /* a number */
    int row;
};
struct table {
    struct cell *cell;
    int n, room, rows;
    const char *kept; /* heading of the column that stays on a narrow terminal, as the first does, or NULL */
};

/* Start a row; add a cell to it. Foreign text is made safe here; ends of lines stay where `lines`. */
void table_row(struct table *t);
bool table_add(struct table *t, const char *key, const char *heading, const char *text, bool right, bool lines,
               struct err *e);
/* Columns aligned, with headings; "heading  value" lines, rows apart. width: of the terminal, in which long texts are
   cut and the last columns hidden, which is said below, or values go on in the next line; 0: as wide as it gets. */
void table_text(const struct table *t, FILE *f, int width);
void table_records(const struct table *t, FILE *f, int width);
/* Text from column `at` on, going on at column `indent` of the next line where a word would pass the width. */
void table_wrapped(FILE *f, const char *text, int at, int indent, int width);
void table_csv(const struct table *t, FILE *f);                /* RFC 4180, with a header */
void table_html(const struct table *t, FILE *f, bool records); /* text, or records, as an HTML table */
void table_clear(struct table *t);

#endif
