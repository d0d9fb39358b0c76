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
    bool diagonals; /* it stores diagonals and was packed: the measures are known */
    struct measures measures;
};
/* pack: also pack it, and throw the result away, to time that. false: cancelled or worse. */
bool fit_of(struct session *s, struct matrix *m, const struct format *f, enum type real, bool pack, struct fit *out,
            struct err *e);
/* The keys fits, reason, bytes, padding, prep_us and those of out_measures; nothing where fit is NULL. */
void out_fit(struct out *o, const struct fit *fit);

/* ---- cmd_measures.c ---- */

/* What a kernel prepares on the device beside the matrix, and one product. */
double total_us(const struct run *r);
/* 2 operands / time, as Wang et al. 2024 count; NaN where the format stores no diagonals. */
double padded_gflops(const struct run *r);
/* The keys operands, pieces and variance, not in text; null where m is. */
void out_measures(struct out *o, const struct measures *m);
/* The same, and the padding, as columns of a text table. */
void out_measures_text(struct out *o, const struct measures *m);
/* Text tables below those of n runs: of the formats of diagonals, of the kernels that prepare something; if any. */
void out_diagonals(struct out *o, const struct run *r, int n);
void out_prepared(struct out *o, const struct run *r, int n);

/* ---- cmd_reorder.c ---- */

/* Take over A, made of another matrix in so many us: under the name after `as`, or that matrix's with -ENDING. `list`
   names that matrix as where it is from. */
bool add_made(struct session *s, const struct args *a, const struct matrix *of, const char *ending, struct csr *A,
              double us, struct err *e);

/* ---- cmd_race.c ---- */

/* Is there a race that waits, and no solve that was begun or stepped since it was left? */
bool race_waits(const struct session *s);
/* Let it run on; end it, with its table. */
bool race_continue(struct session *s, struct err *e);
bool race_stop(struct session *s, struct err *e);
/* Its table, of one that has ended. */
void out_race(struct out *o, const struct race *r);

/* ---- cmd_solve.c ---- */

struct solver;
/* Warn of the needs of a solver that it cannot check by itself cheaply. false: the matrix could not be looked at. */
bool solve_warn(struct session *s, struct matrix *m, const struct solver *solver, struct err *e);
/* Let the session's solve run until it ends, or waits, paused, for a command. */
bool solve_drive(struct session *s, struct err *e);
/* The solve that is paused, or NULL and what to do. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* End what is still running, measure, print. */
bool solve_finish(struct session *s, struct err *e);
/* What it came to, of one that has ended. */
void out_solve(struct out *o, const struct solve *v);
/* The row of an iteration. */
void out_step(struct out *o, const struct solve *v);

/* ---- cmd_change.c ---- */

/* The keys ritz_min, ritz_max and condition; null where the solver tells nothing of the spectrum. */
void out_ritz(struct out *o, const struct solve *v);

/* ---- cmd_spmv.c ---- */

struct wanted {
    struct matrix *matrix;
    struct device *dev;
    enum type real;
    int reps;
    bool force;
    const int64_t *param; /* NULL: the usual ones */
};
/* The parameters of f that suit d, in param[PARAMS_MAX], or NULL: the usual ones do. */
const int64_t *params_on(const struct format *f, const struct device *d, int64_t *param);
/* Check and time one kernel; on the emulator, which has no time, check it only: then the times are NaN. */
bool measure(struct session *s, const struct wanted *w, const struct kernel *k, struct run *out, struct err *e);
/* The keys of a run; long_form also shows in text what a table has no room for. */
void out_run(struct out *o, const struct matrix *m, const struct run *r, bool long_form);
/* The keys fits and reason of a row of `bench`; NULL: it fits. */
void out_fitting(struct out *o, const char *why_not);
/* What to know when reading n runs, in text. */
void out_remarks(struct out *o, const struct run *r, int n);
/* Keep n runs, sorted by time, as the session's last ones. */
bool keep_runs(struct session *s, struct matrix *m, const struct run *r, int n, struct err *e);

/* ---- cmd_paper.c ---- */

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
