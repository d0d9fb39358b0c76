/* One warp's steps as they are looked at: what each lane works on, which sectors it fetched before, running totals. */
#ifndef TRACING_H
#define TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "machine/microscope.h"

/* Of the steps up to one of them, that one included. */
struct trace_sums {
    int64_t steps, lanes;      /* of all kinds; lanes over all steps */
    int64_t apart;             /* steps that some lanes wait out, because their ways parted */
    int64_t requests, sectors; /* of global memory; sectors of each request, each once */
    int64_t counted;        /* as a GPU counts them: of an atomic once for each turn that lanes take at one address */
    int64_t least;          /* sectors that the bytes asked for would fill */
    int64_t bytes, padding; /* distinct bytes of each request, those of padding among them */
    int64_t unused;         /* bytes of the sectors of each request that it did not ask for */
    int64_t refetched;      /* sectors that the warp had fetched before, in an earlier request */
    int64_t wavefronts, wavefronts_least, contended;
};

struct trace_step {
    struct trace_sums sums;
    uint64_t refetched;  /* bit k: the k-th sector of the request's facts was fetched before */
    int32_t slot[LANES]; /* the last step, this one included, that took the lane to a matrix slot; -1: none did yet */
    int32_t next[LANES]; /* the first one, this one included, that takes it to a matrix slot or to y; -1: none does */
};

struct matrix;
struct product;

/* What was traced, and which step and lane are looked at. */
struct tracing {
    const struct csr *A; /* not its own */
    const struct kernel *kernel;
    struct matrix *matrix; /* for who fetched A: its matrix and how that is stored; not looked into here */
    const struct product *product;
    enum type real;
    struct trace t;
    struct trace_step *step;            /* t.nsteps of them */
    int64_t begins[LANES], ends[LANES]; /* the lane's first and last step; begins > ends: it has none */
    int64_t at;                         /* 0 .. t.nsteps - 1; 0 if there are none */
    int lane;
};

struct warp_at {
    int launch; /* -1: the largest */
    int64_t block;
    int warp;
};
/* Trace a warp of k on A, which lies on the emulator as M. A must outlive the trace, and M->of too. NULL: no such
   block, warp or launch (E_USAGE); memory; cancelled. */
struct tracing *tracing_new(const struct kernel *k, const struct csr *A, const struct mat *M, const struct warp_at *at,
                            struct watch *w, struct err *e);
void tracing_free(struct tracing *v); /* NULL is fine */

enum lane_state {
    LANE_ACTIVE,
    LANE_WAITS, /* its way parted from that of the others: it goes on later */
    LANE_DONE,
    LANE_IDLE /* it does nothing in the whole trace */
};
struct lane_at {
    enum lane_state state;
    bool padding;   /* of what it touches */
    bool has_index; /* it touches an element of the step's array: */
    int64_t index;
    int64_t row, col; /* of that; where that is x, of its last slot; at a pointer to the end of a row, and to the slots
                         of several rows, the row that it works on; -1: none */
};
struct lane_at tracing_lane(const struct tracing *v, int64_t step, int lane);
uint32_t tracing_alive(const struct tracing *v, int64_t step); /* lanes that take part in this step or a later one */
const struct access_site *tracing_site(const struct tracing *v, int64_t step);
const char *tracing_array(const struct tracing *v, int64_t step); /* its name, "" where there is none */
/* What the launch runs, as its source calls it: "csr_scalar". */
const char *tracing_function(const struct tracing *v);

/* What a step can be looked for by. */
enum trace_mark { MARK_APART, MARK_UNCOALESCED, MARK_PADDING };
bool tracing_is(const struct tracing *v, int64_t step, enum trace_mark mark);
/* The nearest one after (by 1) or before (by -1) `from`; -1: there is none. */
int64_t tracing_find(const struct tracing *v, int64_t from, int by, enum trace_mark mark);
int64_t tracing_line(const struct tracing *v, int64_t from, int by, int line); /* likewise, by the line of the source */
/* Make step k the one looked at, or the nearest there is. */
void tracing_go(struct tracing *v, int64_t k);
/* Likewise, and if the lane looked at does nothing there look at the first that does. */
void tracing_open(struct tracing *v, int64_t k);
/* Of the sectors of a request those that are no turn of an earlier one: their numbers in f->sector; how many. */
int tracing_sectors(const struct request_facts *f, int which[2 * LANES]);
/* Go to the nearest step, from the present one on and then from the first, and to the lane that works on the element;
   col -1: on the row. false: the warp does not. */
bool tracing_seek(struct tracing *v, int64_t row, int64_t col);
/* Is any lane at the row, in any step? */
bool tracing_has_row(const struct tracing *v, int64_t row);
/* The first and last row of y that the warp writes, all between them too; false: it writes none, or with gaps. */
bool tracing_rows(const struct tracing *v, int64_t *first, int64_t *last);

#endif
