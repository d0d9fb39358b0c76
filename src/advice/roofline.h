/* The roofline of a matrix: the limits of a GPU, and all kernels of the matrix below them. */
#ifndef ROOFLINE_H
#define ROOFLINE_H

#include "base/precision.h"

#include <stdbool.h>

struct err;
struct kernel;
struct matrix;
struct out;
struct row_kind;
struct session;

/* A slope (bytes per time) or, for ROOF_COMPUTE, a flat roof (operations per time). */
enum roof { ROOF_MEMORY, ROOF_L2, ROOF_L1, ROOF_COMPUTE, ROOFS };
/* Which bytes the operations of a kernel are divided by: those that any kernel of the format must move, those that L2
   delivers and receives, or those that the loads of the warps request. */
enum roof_bytes { BYTES_MIN, BYTES_L2, BYTES_L1, ROOF_BYTES };

struct roof_point {
    const struct kernel *kernel;
    double flops;             /* of one product */
    double bytes[ROOF_BYTES]; /* of one product; NaN: not known, because the kernel cannot be emulated */
    double predicted_us;      /* NaN: a library kernel */
    double measured_us;       /* NaN: not measured on this GPU */
    const char *bound;        /* what limits the predicted kernel; NULL: not predicted */
};
struct roofline {
    const struct matrix *matrix;
    enum precision real;
    char machine[64];
    bool here;   /* the roofs were measured on this device */
    bool scaled; /* some roofs are not measured, but scaled from those of the reference GPU */
    double rate[ROOFS];
    bool sampled; /* only some blocks of a kernel were watched */
    int n;
    struct roof_point *point; /* the fastest first */
    int nslow;
    const struct kernel **slow; /* kernels without a point, because only a lower bound of their time is known */
};

/* Predict all kernels of m, take over what was measured, and replace s->roofline. On failure, s->roofline is
   unchanged. */
bool roofline_begin(struct session *s, struct matrix *m, enum precision real, struct err *e);
const char *roof_name(const struct roofline *r, enum roof k); /* "memory", "L2", "L1", "fp64" */
double roof_rate(const struct roofline *r, enum roof k);      /* GB/s; GFLOP/s for ROOF_COMPUTE */
/* The least of the roof k and the flat roof, in GFLOP/s, at `intensity` operations per byte. */
double roof_at(const struct roofline *r, enum roof k, double intensity);
/* The measured time or, if there is none, the predicted time. */
double point_us(const struct roof_point *p);
double point_gflops(const struct roof_point *p);
double point_intensity(const struct roof_point *p, enum roof_bytes by);
/* Print the roofs and the kernels. */
void out_roofline(struct session *s, const struct roofline *r);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_roofline;

#endif
