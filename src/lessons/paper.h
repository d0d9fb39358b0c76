/* Tables in lessons that compare our numbers with the numbers in papers. */
#ifndef PAPER_H
#define PAPER_H

#include <stdbool.h>

#include "base/precision.h"
#include "microscope/model.h"

struct device;
struct err;
struct matrix;
struct row_kind;
struct session;
struct taken; /* one measurement for a row; defined in paper_value.c */

/* A table of a lesson while it is being read:
     | matrix  | of               | what     | GTX 260+ |
     | add32   | dia              | padding  | 18664472 |
     | highest | csr-vector / vab | us f32   | 5.57     |
   The first row ends with the GPU of the paper. Each other row has a matrix, a format or kernel, a quantity, and the
   number in the paper (or - if the paper has no number). The last row of this example gives the highest ratio of the
   times of two kernels in fp32, over all matrices of the lesson. Each row is printed with our number, with its spread,
   and with how and where it was found (see paper_value.h). Formats are packed even if they need much padding. */
enum { REASONS_MAX = 8 };
struct papers {
    int reps;  /* repetitions per measurement; 0: chosen automatically */
    bool open; /* the heading was read */
    char gpu[64];
    char title[160]; /* the last heading of the lesson */
    struct device *dev;
    enum precision real; /* precision of the row being read */
    struct taken *taken;
    int ntaken;
    struct machine machine;        /* the GPU of predicted times */
    bool spreads;                  /* a row was measured */
    const struct matrix *original; /* the loaded matrix of which a note said that it answers for a generated one */
    bool explained;                /* the lesson has said what a spread is */
    int nreasons;
    char reason[REASONS_MAX][512]; /* why rows have no number of ours; each reason once */
};
/* Read a line that begins with `|`; the text is modified. */
bool paper_line(struct session *s, struct papers *p, char *line, struct err *e);
/* End the table, if one is open: print the table and its remarks, then free its measurements. */
bool paper_end(struct session *s, struct papers *p, struct err *e);
void papers_free(struct papers *p);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_lesson_number;

#endif
