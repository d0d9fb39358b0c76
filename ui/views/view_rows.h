/* What the files of the rows view share. */
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

/* What the key t goes through. */
enum rows_mode { HISTOGRAM, CUMULATIVE, SORTED, WARPS, MODES };

struct rows_state {
    enum rows_mode mode;
    int bins;                   /* asked of the histogram, as drawn last */
    int64_t rank;               /* of the row by length */
    struct row_lengths lengths; /* made by prepare, as are stats and warps */
    struct stats stats;
    struct warps warps;
};

/* Above the bins are the title, the summary, the quantiles and the heading; below them, the longest rows; with keys,
   the rows of the chosen bin. */
enum { ROWS_TOP = 4, FEWEST = 4, BINS_MOST = 64, LOG_FROM = 64 };
static const char *const mode_name[MODES] = {"histogram", "cumulative", "sorted", "warps of 32 rows"};

/* A line a bin: its name, its numbers, its bar. */
struct bin_list {
    const char *names, *numbers; /* headings */
    char note[64];
    int n;
    struct {
        char name[80], number[64];
        double share;
        bool none;
    } line[BINS_MOST];
};

/* ---- view_rows_list.c ---- */

void rows_fill_list(struct bin_list *t, const struct view_state *st, const struct histogram *g);
/* The bins there is room for, among them the chosen one; the line below them. */
int rows_draw_list(struct canvas *c, const struct bin_list *t, const struct view_state *st, int room);

/* ---- view_rows_bin.c ---- */

/* The bins that can be chosen: of lengths, or of what warps cost. */
void rows_bins(const struct view_state *st, struct histogram *g);
/* Rows are listed one by one, warps by their first rows. */
int64_t rows_stride(const struct view_state *st);
bool rows_is_member(const struct view_state *st, const struct histogram *g, int64_t row);
/* The next row of the bin from `row` on, or before it; -1: there is none. */
int64_t rows_member_from(const struct view_state *st, const struct histogram *g, int64_t row, int by);
char *rows_member_name(const struct view_state *st, int64_t row, char *out, size_t size);
void rows_draw_members(struct canvas *c, const struct view_state *st, const struct histogram *g, const char *bin,
                       int y);

/* ---- view_rows_sorted.c ---- */

void rows_draw_sorted(struct canvas *c, struct view_state *st, int end);

#endif
