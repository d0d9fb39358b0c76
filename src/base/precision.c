/* Precisions: their names and types. */
#include "precision.h"
#include "half.h"
#include "registry.h"

#include <float.h>
#include <stddef.h>

const struct precision precisions[] = {
    {"fp64", "values, x, y and sums in fp64", "f64", T_F64},
    {"fp32", "values, x, y and sums in fp32", "f32", T_F32},
    {"fp32-fp64", "values stored in fp32; x, y and sums in fp64", "f32-f64", T_F32_F64},
    {"fp16-fp32", "values stored in fp16 (11 bits, at most 65504); x, y and sums in fp32", "f16-f32", T_F16_F32},
    {"bf16-fp32", "values stored in bf16 (8 bits, the range of fp32); x, y and sums in fp32", "bf16-f32", T_BF16_F32},
    {"fp16-fp64", "values stored in fp16 (11 bits, at most 65504); x, y and sums in fp64", "f16-f64", T_F16_F64},
    {"bf16-fp64", "values stored in bf16 (8 bits, the range of fp32); x, y and sums in fp64", "bf16-f64", T_BF16_F64},
    {0},
};

const struct registry precision_registry = {precisions, sizeof *precisions, offsetof(struct precision, aliases)};

const struct precision *precision_find(const char *name)
{
    return registry_find(&precision_registry, name);
}

bool type_is_narrow(enum type precision)
{
    return precision >= T_NARROW;
}

enum type type_of_stored(enum type t)
{
    static const enum type stored[] = {[T_F32_F64 - T_NARROW] = T_F32,
                                       [T_F16_F32 - T_NARROW] = T_F16,
                                       [T_BF16_F32 - T_NARROW] = T_BF16,
                                       [T_F16_F64 - T_NARROW] = T_F16,
                                       [T_BF16_F64 - T_NARROW] = T_BF16};
    return type_is_narrow(t) ? stored[t - T_NARROW] : t;
}

double type_most(enum type t)
{
    return t == T_F16 ? 65504 : t == T_BF16 ? 0x1.fep127 : t == T_F32 ? (double)FLT_MAX : DBL_MAX;
}

double type_rounded(enum type t, double v)
{
    switch (t) {
    case T_F16:
        return (double)fp16_value(fp16_of(v));
    case T_BF16:
        return (double)bf16_value(bf16_of(v));
    case T_F32:
        return (double)(float)v;
    default:
        return v;
    }
}
