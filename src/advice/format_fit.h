/* How a matrix would be stored in a format: whether it fits, its size, and the time to pack it. */
#ifndef FORMAT_FIT_H
#define FORMAT_FIT_H

#include <stdbool.h>

#include "base/precision.h"
#include "formats/format.h"
#include "formats/measures.h"

struct err;
struct format;
struct matrix;
struct out;
struct row_kind;
struct session;
struct stored;

struct fit {
    bool fits;
    char reason[512]; /* why not */
    struct plan plan;
    double prep_us; /* NaN: not packed */
    bool diagonals; /* the format stores diagonals and was packed, so `measures` is set */
    struct measures measures;
    int64_t blocks; /* then: the thread blocks that the format's kernel launches for the pieces; 0: not known */
};
/* Plan and pack the matrix, and time the packing. `packed` receives the packed matrix if the matrix fits; NULL: it is
   freed. Returns false if the user cancelled, or after an error other than "does not fit". */
bool fit_of(struct session *s, struct matrix *m, const struct format *f, enum precision real, struct stored *packed,
            struct fit *out, struct err *e);
/* Print the keys fits, reason, bytes, padding, prep_us and the keys of out_measures; print nothing if fit is NULL. */
void out_fit(struct out *o, const struct fit *fit);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_fit;

#endif
