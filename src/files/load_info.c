/* What a file says about its matrix; matrices without values, whose entries are ones. */
#include "load_info.h"
#include "base/loop.h"
#include "matrix/csr.h"

#include <string.h>

bool load_info_is_pattern(const struct load_info *info)
{
    return info && !strcmp(info->field, "pattern");
}

bool load_info_holds_sides(const struct load_info *info)
{
    return strcmp(info->object, "ordering") != 0 && strcmp(info->object, "left vector") != 0;
}

bool values_are_ones(const struct csr *A)
{
    bool all = !A->imag && !A->source;
    struct loop l = loop_of("values", A->nnz);
    for (int64_t k = 0; k < A->nnz && all && loop_goes(&l, k); k++) all = A->val[k] == 1;
    return all && loop_runs(&l);
}
