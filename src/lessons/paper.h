/* The tables of lessons that hold our numbers beside those of papers. */
#ifndef PAPER_H
#define PAPER_H

#include <stdbool.h>

#include "base/array.h"

struct device;
struct err;
struct session;
struct taken; /* what was measured for a row */

/* A table of a lesson while it is read, whose formats are packed whatever they pad:
     | matrix  | of               | what     | GTX 260+ |   the last cell: where the paper took its numbers
     | add32   | dia              | padding  | 18664472 |   a format or kernel, and one of the quantities; - for none
     | highest | csr-vector / vab | us f32   | 5.57     |   a ratio; over all matrices of the lesson; fp32
   Each row is answered by our number on the session's device. */
struct papers {
    int reps;   /* of each measurement, 0 = chosen */
    bool open;  /* the first line was read */
    bool timed; /* a row needed a time */
    char gpu[64];
    struct device *dev;
    enum type real; /* of the row being read */
    struct taken *taken;
    int ntaken;
    char reason[512]; /* why the first row that has no answer has none */
};
/* A line that begins with a bar; it is changed. */
bool paper_line(struct session *s, struct papers *p, char *line, struct err *e);
/* After the last line of a table, or when there is none: print it and say what to know, forget what was measured. */
bool paper_end(struct session *s, struct papers *p, struct err *e);
void papers_free(struct papers *p);

#endif
