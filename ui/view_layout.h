/* What the files of the layout view share. */
#ifndef VIEW_LAYOUT_H
#define VIEW_LAYOUT_H

#include "draw.h"
#include "term.h"
#include "view.h"

struct layout_state {
    const struct format *format; /* NULL: csr */
    enum type real;
    int64_t param[PARAMS_MAX];
    bool param_set;
    struct product *product; /* found again by prepare */
    int array;               /* of the chosen slot */
};

#endif
