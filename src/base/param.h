/* Integer parameters of formats and generators. */
#ifndef PARAM_H
#define PARAM_H

#include <stdint.h>

enum { PARAMS_MAX = 5 };

struct param {
    const char *name;      /* NULL ends the list */
    int64_t default_value; /* 0 may mean "chosen from the matrix"; `plan` then replaces the 0 */
    int64_t min, max;
    const char *about;
};

#endif
