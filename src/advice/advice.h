/* The ranking of kernels by `advise`: our kernels by the cost model, library kernels by fits, and what was measured. */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "base/precision.h"

struct black_box;
struct correction;
struct format;
struct kernel;
struct machine;
struct matrix;
struct modeled;
struct predictions;
struct run;
struct session;
struct spmv_request;

/* A kernel that can be chosen. */
struct choice {
    const char *name;
    const struct format *format;
    const struct kernel *kernel;      /* NULL: a library kernel that this build lacks */
    const struct modeled *model;      /* NULL: a library kernel, or one that has only a lower bound */
    const struct black_box *box;      /* NULL: one of our kernels, or a library kernel that has no fit */
    double predicted_us, measured_us; /* NaN: not predicted, or not measured on this GPU */
    double least_us;                  /* a lower bound of the time, of a kernel that is not predicted; else NaN */
    double correction;                /* the factor in predicted_us that a bench of a similar matrix gave; 1: none */
    double prep_us;                   /* time of the conversion from csr on this host; 0 for csr; NaN: not known */
    double
        ranked_us; /* the time, or total time, by which the kernels are sorted; infinite: only a lower bound is known */
};
struct choices {
    int n, nrefused, room;
    struct choice *c; /* the best first */
    struct refused {
        const char *name;
        const struct format *format;
        const struct kernel *kernel; /* NULL: a library kernel that this build lacks */
        char why[sizeof((struct err *)0)->text];
    } * refused;
    int64_t products; /* number of SpMVs to rank for; 0: unlimited */
    double floor_us;  /* the largest ranked_us of the predictions that choices_measure measured */
};
/* Rank the kernels of p, which must outlive the choices, with the times that the session has measured on its GPU. The
   caller must call choices_free even if the result is false. */
bool choices_of(const struct session *s, const struct matrix *m, const struct predictions *p, int64_t products,
                struct choices *out, struct err *e);
void choices_free(struct choices *c);
/* Correct the predictions of our kernels by the last bench, if its matrix was similar to m, and rank them again. *by
   receives one of the corrections, with 0 kernels if there was none. */
bool choices_correct(struct choices *c, struct session *s, const struct matrix *m, enum precision real,
                     const struct machine *g, struct correction *by, struct err *e);
/* Add the fitted times of library kernels. real: P_F32 or P_F64. */
bool choices_fit(struct choices *c, const struct session *s, const struct matrix *m, enum precision real,
                 struct err *e);

/* spmv_measure, or a function of a test in its place */
typedef bool measure_fn(struct session *s, const struct spmv_request *w, struct run *out, struct err *e);
enum { MEASURED_FIRST = 3 };
/* Of the kernels that have not been measured yet, measure the first MEASURED_FIRST of ours and all library kernels;
   then rank the kernels again. The model has predicted that our other kernels are slower than the first, so none of
   them is ranked before a measured prediction. A kernel that cannot be measured is refused. Returns false if the user
   cancelled or the device is lost; *c then holds what was measured before. */
bool choices_measure(struct choices *c, struct session *s, const struct spmv_request *w, measure_fn *measure,
                     struct err *e);
/* Rank for g what `advise predicted` ranks: the kernels of p, corrected by the last bench (*by), and the fits. */
bool choices_predicted(struct session *s, struct matrix *m, const struct predictions *p, int64_t products,
                       enum precision real, const struct machine *g, struct choices *out, struct correction *by,
                       struct err *e);

/* The kernel that choices_predicted ranks first in fp64, for verdicts. */
struct first_choice {
    bool known;    /* the members below are set */
    bool measured; /* us was measured on this GPU */
    double us;     /* of one SpMV */
    const char *format, *kernel;
    const struct kernel *modeled; /* the first one that the emulator runs; NULL: there is none */
    char stored[64];  /* the format with the parameter that suits the matrix or the GPU, as `convert` takes it */
    char machine[64]; /* the GPU that was predicted, or measured */
};
/* Predict no longer than limit_us of processor time; what was predicted by then stays with the matrix, so that the next
   call goes on from there. A matrix that cannot be predicted leaves out->known false. Returns false only if the user
   cancelled. */
bool first_choice_of(struct session *s, struct matrix *m, double limit_us, struct first_choice *out, struct err *e);
/* The format of c as `convert` takes it. Returns text. */
const char *choice_stored(const struct choice *c, char *text, size_t size);

/* Its time: measured, or else predicted, or else the lower bound. */
double choice_us(const struct choice *c);
/* The time of the conversion and of the SpMVs to rank for. */
double choice_total(const struct choices *all, const struct choice *c);

#endif
