/* A traced warp to step through: what each lane works on, which sectors were fetched before, and running totals. */
#ifndef TRACING_H
#define TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "machine/microscope.h"

/* Totals over the steps up to and including a given step. */
struct trace_sums {
    int64_t steps;     /* steps of all kinds */
    int64_t lanes;     /* active lanes, summed over steps */
    int64_t diverged;  /* steps in which some lanes are inactive because the warp has diverged */
    int64_t requests;  /* requests to global memory */
    int64_t sectors;   /* distinct sectors per request, summed */
    int64_t counted;   /* sectors as a GPU counts them: serialised atomics count each time */
    int64_t least;     /* sectors that the requested bytes would fill */
    int64_t bytes;     /* distinct bytes per request, summed */
    int64_t padding;   /* bytes of padding, which are part of `bytes` */
    int64_t unused;    /* bytes fetched but not requested */
    int64_t refetched; /* sectors that an earlier request of the warp had fetched */
    int64_t wavefronts, wavefronts_least, contended;
};

struct trace_step {
    struct trace_sums sums;
    uint64_t refetched;  /* bit k: the k-th sector of the request's facts was fetched before */
    int32_t slot[LANES]; /* the latest step, up to this step, in which the lane accesses a matrix slot; -1: none */
    int32_t
        next[LANES]; /* the first step, from this step on, in which the lane accesses a matrix slot or y; -1: none */
};

struct matrix;
struct product;

/* The step of an LU method that was traced. */
struct traced_lu {
    const struct lu_method *method; /* NULL: the trace is of an SpMV kernel */
    int64_t column;                 /* columns 0 .. column - 1 were done before the step */
    int b;                          /* width of a tile */
};

/* A trace, and the chosen step and lane. */
struct tracing {
    const struct csr *A;           /* not owned */
    const char *name;              /* of the kernel or of the LU method */
    const struct kernel *kernel;   /* NULL: an LU method */
    struct matrix *matrix;         /* these three are set by the session and not used here */
    const struct product *product; /* NULL: an LU method */
    struct traced_lu lu;
    enum precision real;
    struct trace t;
    struct trace_step *step; /* t.nsteps of them */
    struct trace_shared {
        int32_t row[LANES], col[LANES]; /* of the elements that lanes access, as in struct shared_place */
    } * shared;                         /* t.nsteps of them; NULL: the warp accesses no shared memory */
    int64_t begins[LANES];              /* first step of each lane */
    int64_t ends[LANES];                /* last step of each lane; less than begins[] if the lane has no steps */
    int64_t at;                         /* chosen step: 0 .. t.nsteps - 1; 0 if there are no steps */
    int lane;
};

struct warp_at {
    int launch; /* -1: the largest */
    int64_t block;
    int warp;
};
/* Trace a warp of launches that work on A with values of type `real`. A and, if there is one, of->M->of must outlive
   the trace. Returns NULL if there is no such block, warp or launch (E_USAGE), if there is not enough memory, or if the
   user cancelled. */
struct tracing *tracing_new(const struct watched *of, const struct csr *A, enum precision real,
                            const struct warp_at *at, struct watch *w, struct err *e);
void tracing_free(struct tracing *v); /* NULL is fine */

enum lane_state {
    LANE_ACTIVE,
    LANE_WAITS, /* inactive because the warp diverged; the lane continues later */
    LANE_DONE,
    LANE_IDLE /* never active in this trace */
};
struct lane_at {
    enum lane_state state;
    bool padding;   /* the lane accesses padding */
    bool has_index; /* the lane accesses element `index` of the step's array */
    int64_t index;
    int64_t row, col; /* row and column of that element; for x, the row and column of the lane's last slot; for a
                         pointer, the row that the lane works on; for shared memory, those of what the element holds,
                         see struct shared_place; -1: none */
};
struct lane_at tracing_lane(const struct tracing *v, int64_t step, int lane);
uint32_t tracing_alive(const struct tracing *v, int64_t step); /* lanes that are active in this step or a later one */
const struct access_site *tracing_site(const struct tracing *v, int64_t step);
const char *tracing_array(const struct tracing *v, int64_t step); /* name of the accessed array; "": none */
/* The kernel function of the launch, as in the source: "csr_scalar". */
const char *tracing_function(const struct tracing *v);

/* Kinds of steps to search for. */
enum trace_mark { MARK_DIVERGED, MARK_UNCOALESCED, MARK_PADDING };
bool tracing_is(const struct tracing *v, int64_t step, enum trace_mark mark);
/* The nearest step of the kind after (by = 1) or before (by = -1) step `from`; -1: there is none. */
int64_t tracing_find(const struct tracing *v, int64_t from, int by, enum trace_mark mark);
/* The nearest step that runs the given source line. `by` and the result -1 have the same meaning as in tracing_find. */
int64_t tracing_line(const struct tracing *v, int64_t from, int by, int line);
/* Choose step k, or the nearest step if there is no such step. */
void tracing_go(struct tracing *v, int64_t k);
/* Choose step k like tracing_choose; if the chosen lane is inactive in that step, choose the first active lane. */
void tracing_open(struct tracing *v, int64_t k);
/* The distinct sectors of a request, as indices into f->sector. Returns the number of sectors. */
int tracing_sectors(const struct request_facts *f, int which[2 * LANES]);
/* The distinct segments of SEGMENT bytes that hold these sectors; a request is as many transfers in THESIS 2.4.1. */
enum { SEGMENT = 128 };
int tracing_segments(const struct request_facts *f);
/* Choose the next step in which a lane works on the element (or, if col is -1, on the row), and choose that lane; the
   search wraps around to the first step. Returns false if the warp does not access the element. */
bool tracing_seek(struct tracing *v, int64_t row, int64_t col);
/* The first lane that works on the row in this step, and, in *exact, the first that works on the element (row, col);
   -1: none. exact may be NULL. */
int tracing_lane_of(const struct tracing *v, int64_t step, int64_t row, int64_t col, int *exact);
/* Does any lane access the row in any step? */
bool tracing_has_row(const struct tracing *v, int64_t row);
/* The first and last row of y that the warp stores. Returns false if the warp stores no row, or if it skips a row
   between the first and the last. */
bool tracing_rows(const struct tracing *v, int64_t *first, int64_t *last);

#endif
