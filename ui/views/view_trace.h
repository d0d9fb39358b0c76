/* Declarations shared by the files of the trace view. */
#ifndef VIEW_TRACE_H
#define VIEW_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/microscope.h"
#include "ui/canvas.h"
#include "ui/view.h"

struct session;
struct trace_sums;
struct view_state;

/* Widths in columns. NUMBER: the number of a step with its mark. LABEL_MIN, LABEL_MAX: the description of a step.
   LANE_WIDTH: a lane in the table. WHOLE_FROM: the minimum number of lines that have room for all parts. */
enum { NUMBER = 7, CELLS = NUMBER + LANES, LABEL_MIN = 10, LABEL_MAX = 18, LANE_WIDTH = 29, WHOLE_FROM = 17 };
enum { LEGENDS = 2, TOTALS_MAX = 3, SOURCE_MAX = 15, SECTORS_MAX = 6, NARROW = 60 };

/* A search for the step that works on an element, continued while no key comes. */
struct step_search {
    bool on, moved;   /* moved: the search has gone to another warp */
    int64_t row, col; /* column -1: any element of the row */
    int64_t done;     /* steps searched, from the current step on */
    int64_t row_step; /* the first step that works on the row; -1: none yet */
    int row_lane;
};
struct trace_state {
    int drawn_w, drawn_h; /* size of the canvas when it was last drawn, for clicks */
    struct step_search search;
};

/* The number of lines of each part, and the columns of the grid and of the lanes. */
struct frame {
    const struct tracing *v;
    int w, head, grid, source, request, sectors, legend, totals;
    int label;    /* columns for the description of a step; 0: not shown */
    int tables;   /* columns of the table of lanes next to the grid */
    int64_t from; /* the step in the first line of the grid */
};

static inline int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* ---- view_trace_lanes.c ---- */

extern const char *const trace_view_short[ACCESS_KINDS]; /* the access of a step in a few letters */
void trace_view_letters(const struct scope *s, char letter[SCOPE_ARRAYS]);
enum style trace_view_style(const struct access_site *p);
/* These functions draw line y and the lines below it, and return the line below what they draw. */
int trace_view_grid(struct canvas *c, const struct frame *f, int y);

/* ---- view_trace_code.c ---- */

int trace_view_source(struct canvas *c, const struct frame *f, int y);

/* ---- view_trace_request.c ---- */

int trace_view_request(struct canvas *c, const struct tracing *v, const struct request_facts *f, int y);
int trace_view_sectors(struct canvas *c, const struct frame *f, const struct request_facts *facts, int y);

/* ---- view_trace_totals.c ---- */

int trace_view_legend(struct canvas *c, const struct frame *f, int y);
/* Draw the running totals, item by item, in at most `lines` lines; returns the line below the totals. */
int trace_view_totals(struct canvas *c, const struct trace_sums *t, int y, int lines);
void trace_view_lane(struct canvas *c, const struct tracing *v, int y);

/* ---- view_trace_keys.c ---- */

bool trace_view_key(struct session *s, struct view_state *st, int k);
void trace_view_answer(struct session *s, struct view_state *st);
/* Trace another warp of the same launch; warps are counted over all blocks. Returns false, with a message, if that
   fails. */
bool trace_view_warp(struct session *s, struct view_state *st, int64_t warp);

/* ---- view_trace_follow.c ---- */

bool trace_view_go(struct session *s, struct view_state *st, int64_t row, int64_t col);
enum work trace_view_work(struct session *s, struct view_state *st);

#endif
