/* What golden screens need: a clock and measurements that are equal on every machine, and files of expected screens.
   WARPSPY_GOLDEN=write rewrites the files; review them as a diff. */
#ifndef GOLDEN_KIT_H
#define GOLDEN_KIT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct session;
struct solve;

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* If `fixed`, make successive calls of now_us return 0, 100 us, 200 us and so on; if not, make now_us return the real
   time again. */
void golden_clock(bool fixed);
/* Limit the session's views to the views that golden screens list, plus `shown` (which may be NULL). A new view then
   changes no screen of another view. */
void golden_views(struct session *s, const char *shown);
/* Pretend that `bench` has measured six kernels, or has only checked them. */
void make_runs(struct session *s, bool timed);
/* Make up a solve at a third of its device's measured bandwidth, or a solve whose true residual no longer decreases. */
void make_bound(struct solve *v);
void make_parted(struct solve *v);
/* A suite's setup and teardown: a temporary history of command lines instead of the user's history. */
int golden_begin(void **state);
int golden_end(void **state);
/* Is the content of the file equal to the text? If not, print the lines that differ. */
bool golden_same(const char *path, const char *found);

#endif
