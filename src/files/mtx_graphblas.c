/* GraphBLAS's comment line of a Matrix Market file, before the size line:
       %%GraphBLAS type TYPE
   TYPE is bool, int8 .. uint64, fp32, fp64, fc32, fc64, or the name in C: int8_t, float, double, float complex, double
   complex. It is the type that programs with GraphBLAS store the values in. Source: LAGraph_MMRead of LAGraph. */
#include "base/loop.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <math.h>

static const struct {
    const char *name, *in_c;
    struct graphblas type;
} types[] = {
    {"bool", "bool", {'b', 1}},        {"int8", "int8_t", {'i', 8}},      {"int16", "int16_t", {'i', 16}},
    {"int32", "int32_t", {'i', 32}},   {"int64", "int64_t", {'i', 64}},   {"uint8", "uint8_t", {'u', 8}},
    {"uint16", "uint16_t", {'u', 16}}, {"uint32", "uint32_t", {'u', 32}}, {"uint64", "uint64_t", {'u', 64}},
    {"fp32", "float", {'f', 32}},      {"fp64", "double", {'f', 64}},     {"fc32", NULL, {'f', 32}},
    {"fc64", NULL, {'f', 64}},
};

bool graphblas_line(struct head *h, const char *s)
{
    const char *p = skip_token(s);
    if (!same_word(s, (size_t)(p - s), "%%graphblas")) return false;
    const char *word = skip_blanks(p), *end = skip_token(word);
    if (!same_word(word, (size_t)(end - word), "type")) return true;
    word = skip_blanks(end);
    end = skip_token(word);
    for (int i = 0; i < COUNT(types); i++)
        if (same_word(word, (size_t)(end - word), types[i].name) ||
            (types[i].in_c && same_word(word, (size_t)(end - word), types[i].in_c)))
            h->graphblas = types[i].type;
    return true;
}

static bool is_outside(double v, struct graphblas type)
{
    double most = ldexp(1, type.kind == 'i' ? type.bits - 1 : type.bits);
    return v != trunc(v) || v >= most || v < (type.kind == 'i' ? -most : 0);
}

/* Integers stay as they are: values that the type cannot store are counted. */
static void note_outside(const struct head *h, const struct csr *A, struct load_info *info)
{
    int64_t outside = 0, rounded = 0;
    struct loop l = loop_of("values", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) {
        outside += is_outside(A->val[k], h->graphblas);
        rounded += fabs(A->val[k]) >= 0x1p53;
    }
    if (outside)
        file_note(info, "%s %s not fit in the GraphBLAS type, %s of %d bits", how_many(outside, "value").text,
                  outside == 1 ? "does" : "do", h->graphblas.kind == 'i' ? "integers" : "unsigned integers",
                  h->graphblas.bits);
    if (rounded && h->field != INTEGER)
        file_note(info, "%s beyond 2^53 %s rounded", how_many(rounded, "integer").text, rounded == 1 ? "was" : "were");
}

static void round_to_type(struct graphblas type, int64_t n, double *val)
{
    struct loop l = loop_of("values", n);
    for (int64_t k = 0; k < n && loop_goes(&l, k); k++) val[k] = type.kind == 'b' ? val[k] != 0 : (double)(float)val[k];
}

void graphblas_apply(const struct head *h, struct csr *A, struct load_info *info)
{
    struct graphblas type = h->graphblas;
    if (!type.kind || h->field == PATTERN) return;
    if ((type.kind == 'i' || type.kind == 'u') && !A->imag) note_outside(h, A, info);
    if (type.bits != 1 && (type.kind != 'f' || type.bits != 32)) return;
    round_to_type(type, A->nnz, A->val);
    if (A->imag) round_to_type(type, A->nnz, A->imag);
}
