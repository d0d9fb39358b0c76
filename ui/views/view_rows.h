/* Declarations shared by the files of the rows view. */
#ifndef VIEW_ROWS_H
#define VIEW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matrix/rows.h"
#include "matrix/stats.h"

struct canvas;
struct histogram;
struct view_state;

/* The pictures that the key t steps through. */
enum rows_mode { HISTOGRAM, CUMULATIVE, SORTED, WARPS, MODES };

struct rows_state {
    enum rows_mode mode;
    int bins;     /* number of bins requested when the view was last drawn */
    int64_t rank; /* rank of the cursor's row by length */
    bool ready;   /* lengths, stats and warps were computed by prepare */
    struct row_lengths lengths;
    struct stats stats;
    struct warps warps;
};

/* Above the bins: title, summary, quantiles and heading. Below the bins: the longest rows and, on the full screen, the
   rows of the chosen bin. */
enum { ROWS_TOP = 4, FEWEST = 4, BINS_MAX = 64, LOG_FROM = 64 };
static const char *const mode_name[MODES] = {"histogram", "cumulative", "sorted", "warps of 32 rows"};

/* One line per bin: its name, its numbers and its bar. */
struct bin_list {
    const char *names, *numbers; /* headings */
    char note[64];
    double most; /* the value of the longest bar; 0: there are no bars */
    bool log_scale;
    const char *unit; /* "%" or NULL */
    int n;
    struct {
        char name[80], number[64];
        double share;
        bool none;
    } line[BINS_MAX];
};

/* ---- view_rows_list.c ---- */

void rows_fill_list(struct bin_list *t, const struct view_state *st, const struct histogram *g);
/* Draw the bins that fit, including the chosen bin. Returns the line below the bins. */
int rows_draw_list(struct canvas *c, const struct bin_list *t, const struct view_state *st, int room);

/* ---- view_rows_bin.c ---- */

/* The bins that can be chosen: row lengths or warp costs. */
void rows_bins(const struct view_state *st, struct histogram *g);
/* Rows are listed one by one; each warp is listed by its first row. */
int64_t rows_stride(const struct view_state *st);
bool rows_is_member(const struct view_state *st, const struct histogram *g, int64_t row);
/* The first row of the bin at or after `row` (by = 1), or the last row at or before `row` (by = -1); -1: there is
   none. */
int64_t rows_member_from(const struct view_state *st, const struct histogram *g, int64_t row, int by);
char *rows_member_name(const struct view_state *st, int64_t row, char *out, size_t size);
void rows_draw_members(struct canvas *c, const struct view_state *st, const struct histogram *g, const char *bin,
                       int y);

/* ---- view_rows_sorted.c ---- */

void rows_draw_sorted(struct canvas *c, struct view_state *st, int end);

#endif
