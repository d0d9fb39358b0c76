/* The right sides that the programs of `save FILE recipe` can make. */
#ifndef RECIPE_RIGHTS_H
#define RECIPE_RIGHTS_H

#include "recipe.h"

extern const struct recipe_right recipe_rights[];      /* those with a name, terminated by a NULL name */
extern const struct recipe_right recipe_right_of_file; /* b_file, a Matrix Market array */
extern const struct recipe_right recipe_right_given;   /* in the .npz file of the matrix; only in Python */

#endif
