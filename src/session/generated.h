/* Generating a matrix in parts (in_parts.h). */
#ifndef GENERATED_H
#define GENERATED_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct err;
struct generator;
struct load_info;
struct matrix;
struct session;

/* Generate a matrix in parts on d, and add it as the current matrix. */
bool session_add_in_parts(struct session *s, const char *name, const struct generator *g, const int64_t *param,
                          uint64_t seed, const struct load_info *info, struct device *d, struct err *e);

#endif
