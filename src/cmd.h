/* What the files of the commands share. */
#ifndef CMD_H
#define CMD_H

#include "session.h"

/* ---- cmd_formats.c ---- */

/* How a matrix would be stored in a format. */
struct fit {
    bool fits;
    char reason[512]; /* why not */
    struct plan plan;
    double prep_us; /* NaN: not packed */
};
/* pack: also pack it, and throw the result away, to time that. false: cancelled or worse. */
bool fit_of(struct session *s, struct matrix *m, const struct format *f, enum type real, bool pack, struct fit *out,
            struct err *e);
/* The keys fits, reason, bytes, padding, prep_us; nothing where fit is NULL. */
void out_fit(struct out *o, const struct fit *fit);

/* ---- cmd_spmv.c ---- */

struct wanted {
    struct matrix *matrix;
    struct device *dev;
    enum type real;
    int reps;
    bool force;
    const int64_t *param; /* NULL: the usual ones */
};
/* Check and time one kernel; on the emulator, which has no time, check it only: then the times are NaN. */
bool measure(struct session *s, const struct wanted *w, const struct kernel *k, struct run *out, struct err *e);
/* The keys of a run; long_form also shows in text what a table has no room for. */
void out_run(struct out *o, const struct matrix *m, const struct run *r, bool long_form);
/* What to know when reading n runs, in text. */
void out_remarks(struct out *o, const struct run *r, int n);
/* Keep n runs, sorted by time, as the session's last ones. */
bool keep_runs(struct session *s, struct matrix *m, const struct run *r, int n, struct err *e);

#endif
