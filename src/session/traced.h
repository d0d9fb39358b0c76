/* The trace that the session keeps: its matrix and product fetched, one warp traced. */
#ifndef TRACED_H
#define TRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "matrix.h"
#include "machine/microscope.h"
#include "session.h"
#include "formats/stored.h"

struct out;
struct session;
struct tracing;

struct trace_wanted {
    struct matrix *matrix;
    const struct kernel *kernel;
    enum type real;
    const int64_t *param; /* of the kernel's format; NULL: the defaults */
    int launch;           /* -1: the largest */
    int64_t block;
    int warp;
};

/* Trace a warp on the emulator; s->trace is the new one, or as it was on failure. Errors: E_USAGE, no such block, warp
   or launch; E_UNSUPPORTED, the kernel or the matrix is none for the emulator; memory; cancelled. */
bool tracing_begin(struct session *s, const struct trace_wanted *w, struct err *e);

/* For the pictures of the matrix and of its formats. */

/* The elements of m that the lanes are at in the step looked at, each once; how many, 0: none, or another matrix. */
int trace_lit(const struct session *s, const struct matrix *m, struct place lit[LANES]);
/* Does a lane touch slot i of array a of S in that step? */
bool trace_slot_lit(const struct session *s, const struct stored *S, int a, int64_t i);

/* ---- cmd_trace.c ---- */

/* All its steps and totals, as the command says them. */
void out_trace(struct out *o, const struct tracing *v);

#endif
