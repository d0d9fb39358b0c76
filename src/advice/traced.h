/* The trace that the session keeps: one warp of a kernel on a matrix of the session. */
#ifndef TRACED_H
#define TRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "formats/stored.h"
#include "machine/microscope.h"
#include "microscope/tracing.h"
#include "session/matrix.h"
#include "session/session.h"

struct out;
struct row_kind;
struct session;

/* What to trace: a kernel, or a column of an LU method. */
struct trace_request {
    struct matrix *matrix;
    const struct kernel *kernel; /* NULL: the LU method lu.method */
    enum precision real;
    const int64_t *param; /* parameters of the kernel's format; NULL: the defaults */
    int launch;           /* -1: the launch with the most work; for an LU method, launch 0 */
    int64_t block;
    int warp;
    struct traced_lu lu; /* column -1: the column that `lu step` does next; b 0: the default */
};

/* Trace a warp on the emulator and replace s->trace; on failure, s->trace is unchanged. E_USAGE: there is no such
   block, warp, launch or column. E_UNSUPPORTED: the emulator cannot run the kernel. */
bool tracing_begin(struct session *s, const struct trace_request *w, struct err *e);

/* ---- for the views that draw the matrix or its formats ---- */

/* The elements of m that the lanes access in the current step, without repetition. Returns the number of elements,
   which is 0 if the traced kernel worked on a different matrix. */
int traced_elements(const struct session *s, const struct matrix *m, struct place element[LANES]);
/* The same for a trace of this column of an LU method on m, in the matrix after the columns before it were done. */
int traced_lu_elements(const struct session *s, const struct matrix *m, int64_t column, struct place element[LANES]);
/* Whether a lane accesses slot i of array a of S in the current step. */
bool traced_slot(const struct session *s, const struct stored *S, int a, int64_t i);

/* ---- cmd_trace.c ---- */

/* Print all steps and the totals, like the command `trace`. */
void out_trace(struct out *o, const struct tracing *v);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_trace_step, row_trace_totals;

#endif
