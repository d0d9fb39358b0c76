/* Typed arrays: the size and the name of an element type, and conversion of elements to double and from double. */
#include "array.h"
#include "half.h"
#include "loop.h"
#include "threads.h"

static const struct {
    size_t size;
    const char *name;
    enum type part; /* the type of the real part */
} types[] = {
    [T_I32] = {4, "int32", T_I32},  [T_I64] = {8, "int64", T_I64},        [T_F32] = {4, "fp32", T_F32},
    [T_F64] = {8, "fp64", T_F64},   [T_C32] = {8, "complex fp32", T_F32}, [T_C64] = {16, "complex fp64", T_F64},
    [T_U8] = {1, "uint8", T_U8},    [T_U16] = {2, "uint16", T_U16},       [T_F16] = {2, "fp16", T_F16},
    [T_BF16] = {2, "bf16", T_BF16},
};

size_t type_size(enum type t)
{
    return types[t].size;
}

const char *type_name(enum type t)
{
    return types[t].name;
}

bool type_is_complex(enum type t)
{
    return t == T_C32 || t == T_C64;
}

bool type_is_integer(enum type t)
{
    return t == T_I32 || t == T_I64 || t == T_U8 || t == T_U16;
}

enum type type_of_parts(enum type t)
{
    return types[t].part;
}

enum type type_of_numbers(enum type part, bool complex_values)
{
    return !complex_values ? part : part == T_F32 ? T_C32 : T_C64;
}

int64_t type_parts(enum type t)
{
    return type_is_complex(t) ? 2 : 1;
}

double type_flops(enum type t)
{
    return type_is_complex(t) ? 8 : 2;
}

struct array array_parts(const struct array *a)
{
    struct array parts = *a;
    parts.type = type_of_parts(a->type);
    parts.n *= type_parts(a->type);
    return parts;
}

static double number_at(enum type t, const void *data, int64_t i)
{
    switch (t) {
    case T_I32:
        return ((const int32_t *)data)[i];
    case T_I64:
        return (double)((const int64_t *)data)[i];
    case T_U8:
        return ((const uint8_t *)data)[i];
    case T_U16:
        return ((const uint16_t *)data)[i];
    case T_F32:
        return (double)((const float *)data)[i];
    case T_F16:
        return (double)fp16_value(((const uint16_t *)data)[i]);
    case T_BF16:
        return (double)bf16_value(((const uint16_t *)data)[i]);
    default:
        return ((const double *)data)[i];
    }
}

double array_real(const struct array *a, int64_t i)
{
    return number_at(type_of_parts(a->type), a->data, i * type_parts(a->type));
}

double array_imag(const struct array *a, int64_t i)
{
    return type_is_complex(a->type) ? number_at(type_of_parts(a->type), a->data, 2 * i + 1) : 0;
}

void put_real(struct array *a, int64_t i, double v)
{
    switch (a->type) {
    case T_F32:
        ((float *)a->data)[i] = (float)v;
        break;
    case T_F16:
        ((uint16_t *)a->data)[i] = fp16_of(v);
        break;
    case T_BF16:
        ((uint16_t *)a->data)[i] = bf16_of(v);
        break;
    default:
        ((double *)a->data)[i] = v;
    }
}

void put_reals(struct array *a, const double *v)
{
    struct loop l = loop_of("values", a->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES * 16) if (a->n > THREADS_FROM)
    for (int64_t from = 0; from < a->n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, a->n); i < end; i++) put_real(a, i, v[i]);
}

void put_ints(struct array *a, const int *v)
{
    loop_copy(a->data, v, a->n * (int64_t)sizeof *v, a->name, NULL);
}
