/* Typed arrays: the size and the name of an element type, and conversion of element i to double. */
#include "array.h"

static const struct {
    size_t size;
    const char *name;
} types[] = {
    [T_I32] = {4, "int32"},
    [T_I64] = {8, "int64"},
    [T_F32] = {4, "fp32"},
    [T_F64] = {8, "fp64"},
};

size_t type_size(enum type t)
{
    return types[t].size;
}

const char *type_name(enum type t)
{
    return types[t].name;
}

double array_real(const struct array *a, int64_t i)
{
    switch (a->type) {
    case T_I32:
        return ((const int32_t *)a->data)[i];
    case T_I64:
        return (double)((const int64_t *)a->data)[i];
    case T_F32:
        return (double)((const float *)a->data)[i];
    case T_F64:
        break;
    }
    return ((const double *)a->data)[i];
}
