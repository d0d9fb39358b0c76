/* What golden screens are made with: a clock and measurements that are the same on every machine, and files of what is
   expected. WARPSPY_GOLDEN=write rewrites those; review them as a diff. */
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

/* now_us is 100 us later at each call, from 0 on; or time again. */
void golden_clock(bool fixed);
/* As if `bench` had measured six kernels, or only checked them. */
void make_runs(struct session *s, bool timed);
/* A solve that reached a third of what its device is said to read; one whose true residual no longer falls. */
void make_bound(struct solve *v);
void make_parted(struct solve *v);
/* Run tests with a history of command lines that is not the user's; their number that failed. */
int golden_run(const char *name, const struct CMUnitTest *tests, size_t n);
/* Is the file what was found? Prints the lines that are not. */
bool golden_same(const char *path, const char *found);

#endif
