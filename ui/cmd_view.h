/* The commands that draw a view or print its numbers. */
#ifndef CMD_VIEW_H
#define CMD_VIEW_H

#include <stdbool.h>

struct err;
struct matrix;
struct row_kind;
struct session;

/* Show a view of m, or of the current matrix if m is NULL. If `full` is set, the view fills the whole screen. All panes
   of the explorer show the current matrix, so in the explorer, m becomes the current matrix; outside the explorer, the
   current matrix is unchanged. */
bool show_view_of(struct session *s, struct matrix *m, const char *view, bool full, struct err *e);

extern const struct command command_spy, command_rows, command_layout;
/* Run a command with these words after its name. */
bool run_command(struct session *s, const struct command *c, int n, const char *const *word, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_layout_array, row_layout_complex_array, row_rows_bin, row_rows_longest,
    row_rows_quantile, row_rows_warps, row_rows_warp_bin, row_spy_cells;

#endif
