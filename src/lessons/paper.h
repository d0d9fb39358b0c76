/* Tables in lessons that compare our numbers with the numbers in papers. */
#ifndef PAPER_H
#define PAPER_H

#include <stdbool.h>

#include "base/array.h"

struct device;
struct err;
struct session;
struct taken; /* one measurement for a row; defined in paper.c */

/* A table of a lesson while it is being read:
     | matrix  | of               | what     | GTX 260+ |
     | add32   | dia              | padding  | 18664472 |
     | highest | csr-vector / vab | us f32   | 5.57     |
   The first row ends with the GPU of the paper. Each other row has a matrix, a format or kernel, a quantity, and the
   number in the paper (or - if the paper has no number). The last row of this example gives the highest ratio of the
   times of two kernels in fp32, over all matrices of the lesson. Each row is printed with our number, measured on the
   session's device. Formats are packed even if they need a lot of padding. */
struct papers {
    int reps;   /* repetitions per measurement; 0: chosen automatically */
    bool open;  /* the heading has been read */
    bool timed; /* at least one row needs a measured time */
    char gpu[64];
    struct device *dev;
    enum type real; /* precision of the row being read */
    struct taken *taken;
    int ntaken;
    char reason[512]; /* why our number is missing in a row; only the first reason is kept */
};
/* Read a line that begins with `|`; the text is modified. */
bool paper_line(struct session *s, struct papers *p, char *line, struct err *e);
/* End the table, if one is open: print the table and its remarks, then free its measurements. */
bool paper_end(struct session *s, struct papers *p, struct err *e);
void papers_free(struct papers *p);

#endif
