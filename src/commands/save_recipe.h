/* save FILE recipe: the last solve as a program. */
#ifndef SAVE_RECIPE_H
#define SAVE_RECIPE_H

#include <stdbool.h>

struct args;
struct err;
struct row_kind;
struct session;

/* Write the program that the line names after `recipe`. */
bool save_recipe(struct session *s, const struct args *a, struct err *e);

extern const struct row_kind row_recipe;

#endif
