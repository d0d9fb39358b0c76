/* The arguments of a command: the words of its line, matched with the items of its grammar. */
#ifndef ARGS_H
#define ARGS_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

struct args;
struct err;
struct param;

/* The value of a positional argument, by its kind in lower case ("matrix", "format"; the second matrix is "matrix2"),
   or of a keyword. NULL: not given. */
const char *arg(const struct args *a, const char *key);
bool arg_flag(const struct args *a, const char *word);
/* The last of n keys and flags that the line has; NULL: it has none of them. */
const char *arg_any(const struct args *a, const char *const *keys, int n);
int64_t arg_int(const struct args *a, const char *key, int64_t otherwise);
/* arg_int, or a failure if the value is given and outside least .. most. */
bool arg_within(const struct args *a, const char *key, int64_t otherwise, int64_t least, int64_t most, int64_t *out,
                struct err *e);
double arg_real(const struct args *a, const char *key, double otherwise);
int arg_count(const struct args *a, const char *key); /* number of values given for a repeated kind */
const char *arg_at(const struct args *a, const char *key, int i);
/* Resolve PARAMS against a format's or generator's list into v[PARAMS_MAX] (the default for each parameter that is not
   given). */
bool arg_params(const struct args *a, const struct param *list, int64_t *v, struct err *e);
/* The flag f32 or f64, or the precision that the line names; without any of them, the default precision. */
enum precision arg_precision(const struct args *a);

/* The parameters that the words after the FORMAT, KERNEL, CHOICE or GENERATOR may set; NULL if the line has none of
   them, or choices of several formats. */
const struct param *params_of(const struct args *a);
/* The index of a parameter in its list, or -1. */
int param_index(const struct param *list, const char *name);

#endif
