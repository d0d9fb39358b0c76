/* The cost model at work in a session: kernels watched on the emulator, and their time on the GPU that is there or on
   the one that is built in. */
#ifndef MODELED_H
#define MODELED_H

#include "model.h"
#include "session.h"

struct modeled {
    const struct kernel *kernel;
    struct plan plan;
    enum type real;
    int64_t bytes;  /* that it must move at least; kernel_bytes */
    double prep_us; /* packing on the host */
    struct machine on;
    struct workload work;
    struct counts counts; /* its scope.of is NULL */
    struct prediction time;
};

/* The GPU that predictions are for: the session's device, its ceilings measured now if they were not; else the built-in
   one. false: the device failed. */
bool modeled_machine(struct session *s, struct machine *g, struct err *e);
/* Errors: E_UNSUPPORTED, m is complex or has no entries, so that there is nothing to predict of any kernel. */
bool modeled_matrix(const struct matrix *m, struct err *e);
/* Watch k on m and predict its time on g, from about a tenth of a second of emulation: a large matrix is sampled. The
   product is kept in the session. param NULL: those that suit g. Errors: E_UNSUPPORTED, nothing can be watched, and
   why; what session_product refuses; cancelled. */
bool modeled_kernel(struct session *s, struct matrix *m, const struct kernel *k, const int64_t *param, enum type real,
                    const struct machine *g, struct modeled *out, struct err *e);
/* What a command with the grammar KERNEL [PARAMS] [of MATRIX] [f32|f64] asks for: that, and `say` of it. */
bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e);
/* A as it was packed last, for the next kernel of its format. */
struct packed {
    struct stored S;
    struct mat M;
    enum type real;
    int64_t param[PARAMS_MAX]; /* as asked for; -1 first: the usual ones */
    double us;                 /* packing took */
};
void packed_free(struct packed *p);
/* The same of A, with nothing kept but in `last`. */
bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum type real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e);
/* What the session measured of k on m on a GPU last; NULL: nothing. */
const struct run *modeled_run(const struct session *s, const struct matrix *m, const struct kernel *k, enum type real);
/* "4.21 us", "27.7 ms": three digits, in the unit that out_time takes. NaN makes no sense here. */
char *show_us(double us, char *out, size_t size);
/* why without the "NAME: " that it may begin with. */
const char *reason_without_name(const char *name, const char *why);
/* A refusal of format_allow tells to type `force`, which is convert's alone: name that. first: a product that the
   session has is used then, so that it is the remedy. */
void refusal_without_force(struct err *e, const char *format, enum type real, bool first);
/* In text: for which GPU, how wrong the model is, and whether blocks were sampled. */
void modeled_remarks(struct out *o, const struct machine *g, bool sampled);

/* The keys of a prediction: kernel .. measured_us; in text as lines of a record. */
void out_modeled(struct session *s, const struct matrix *m, const struct modeled *k);

/* ---- cmd_advise.c ---- */

/* All kernels that can be watched, the fastest prediction first; those that cannot, and why. */
struct advice {
    int n, nno;
    struct modeled *k;
    struct not_advised {
        const struct kernel *kernel;
        char why[sizeof((struct err *)0)->text];
    } * no;
};
/* format NULL: of all formats. What concerns one kernel alone is noted; false: cancelled, or worse. */
bool advice_of(struct session *s, struct matrix *m, const char *format, enum type real, const struct machine *g,
               struct advice *out, struct err *e);
void advice_free(struct advice *a);

/* ---- findings.c: what costs a kernel time, and what would help ---- */

enum { FINDINGS_MOST = 16, INSTEAD_MOST = 5 };
struct finding {
    const char *cause;           /* of the table: "padding" */
    double us;                   /* less that the model predicts without it */
    char text[400], remedy[300]; /* "": nothing is known that helps */
    const char *const *instead;  /* names of kernels that do what the remedy says; INSTEAD_MOST, or fewer and NULL */
};
/* The causes that cost most, first; how many. A is the matrix. */
int findings_of(const struct modeled *k, const struct csr *A, struct finding out[FINDINGS_MOST]);

bool finding_names(const struct finding *f, const char *kernel);
/* Adds to the remedy those of its kernels, among n others watched on the same matrix, the fastest first, that are
   predicted to be faster than k; where none is there is no remedy. */
void finding_finish(struct finding *f, const struct modeled *k, const struct modeled *other, int n);

#endif
