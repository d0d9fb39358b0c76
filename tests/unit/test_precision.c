/* Precisions: the conversions to and from 16 bits, for all codes and for numbers that are hard to round; and the
   commands that multiply with values stored in smaller types. */
#include "base/half.h"
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "matrix/csr.h"

#include <float.h>
#include <math.h>

enum { CODES = 1 << 16, RANDOM = 2000000 };

/* The value of a code from its parts, by the definition of the format. */
static double value_of(unsigned code, int fraction, int bias)
{
    int exponent = (int)(code & 0x7fff) >> fraction, most = 2 * bias + 1;
    double part = (double)(code & ((1u << fraction) - 1)), sign = code & 0x8000 ? -1 : 1;
    if (exponent == most) return part != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(part, 1 - bias - fraction);
    return sign * ldexp(part + ldexp(1, fraction), exponent - bias - fraction);
}

TEST(every_code_is_read_and_written)
{
    for (unsigned code = 0; code < CODES; code++) {
        double f = value_of(code, 10, 15), b = value_of(code, 7, 127);
        double f_read = (double)fp16_value((uint16_t)code), b_read = (double)bf16_value((uint16_t)code);
        if (isnan(f) ? !isnan(f_read) : f != f_read || signbit(f) != signbit(f_read)) fail_msg("fp16 %x", code);
        if (isnan(b) ? !isnan(b_read) : b != b_read || signbit(b) != signbit(b_read)) fail_msg("bf16 %x", code);
        if (isnan(f) ? !isnan(fp16_value(fp16_of(f))) : fp16_of(f) != code) fail_msg("fp16 %x is rounded", code);
        if (isnan(b) ? !isnan(bf16_value(bf16_of(b))) : bf16_of(b) != code) fail_msg("bf16 %x is rounded", code);
    }
}

/* Between two neighbours: to the nearest, and from the middle to the even one. A double next to the middle shows that
   the number is rounded once, not first to fp32. */
static void check_between(unsigned code, double low, double high, uint16_t (*of)(double))
{
    double middle = low + (high - low) / 2;
    unsigned even = code % 2 ? code + 1 : code;
    if (of(middle) != even) fail_msg("%a: %x, not %x", middle, of(middle), even);
    if (of(nextafter(middle, low)) != code) fail_msg("below %a: %x, not %x", middle, of(middle), code);
    if (of(nextafter(middle, high)) != code + 1) fail_msg("above %a: %x, not %x", middle, of(middle), code + 1);
}

TEST(numbers_between_codes_are_rounded_to_the_nearest)
{
    for (unsigned code = 0; code < 0x7bff; code++)
        check_between(code, value_of(code, 10, 15), value_of(code + 1, 10, 15), fp16_of);
    for (unsigned code = 0; code < 0x7f7f; code++)
        check_between(code, value_of(code, 7, 127), value_of(code + 1, 7, 127), bf16_of);
    assert_int_equal(fp16_of(65519.99), 0x7bff);
    assert_int_equal(fp16_of(65520), 0x7c00);
    assert_int_equal(fp16_of(-1e300), 0xfc00);
    assert_int_equal(bf16_of(DBL_MAX), 0x7f80);
    assert_int_equal(bf16_of(-5e-324), 0x8000);
}

/* The compiler's own conversions, where it has them; bf16 is the upper half of fp32, rounded to nearest even. */
TEST(conversions_agree_with_the_compiler)
{
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < RANDOM; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double v = ldexp((double)(int64_t)bits, (int)(bits % 45) - 90);
        float f = (float)v;
        uint32_t u;
        memcpy(&u, &f, sizeof u);
        assert_int_equal(bf16_of((double)f), (u + 0x7fff + (u >> 16 & 1)) >> 16);
#ifdef __FLT16_MANT_DIG__
        _Float16 h = (_Float16)v;
        uint16_t code;
        memcpy(&code, &h, sizeof code);
        assert_int_equal(fp16_of(v), code);
#endif
    }
}

TEST(types_of_precisions)
{
    for (const struct precision_entry *const *p = named_precisions; *p; p++) {
        enum type stored = (*p)->stored, sums = (*p)->part;
        char name[32];
        snprintf(name, sizeof name, "%s-%s", type_name(stored), type_name(sums));
        assert_ptr_equal(&precisions[(*p)->index], *p);
        assert_true((*p)->narrow == (stored != sums));
        assert_string_equal((*p)->name, (*p)->narrow ? name : type_name(sums));
        assert_true(type_size(stored) <= type_size(sums) && (*p)->vector == sums);
        assert_true(precision_of_values((*p)->index, false) == (*p)->index);
        assert_ptr_equal(precision_find((*p)->name), *p);
        assert_true(type_rounded(stored, type_most(stored)) == type_most(stored));
        assert_true(isinf(type_rounded(stored, type_most(stored) * 1.01)) || stored == T_F64);
    }
    assert_ptr_equal(precision_find("f32"), precision_find("fp32"));
    assert_ptr_equal(precision_find("bf16-f32"), precision_find("bf16-fp32"));
}

/* A value beyond the largest number of the stored type is an error before any work; so is a complex matrix. */
TEST(values_beyond_the_largest_are_refused)
{
    static const int at[] = {0, 1, 2};
    static const double large[] = {65504, -65505, 1e39}, imag[] = {0, 1, 0};
    static const struct {
        enum precision real;
        const char *why;
    } refused[] = {
        {P_F16_F32, "2 values exceed fp16's largest number, 65504; use bf16, or `scale` the matrix first"},
        {P_F16_F64, "2 values exceed fp16's largest number, 65504; use bf16, or `scale` the matrix first"},
        {P_BF16_F64, "1 value exceeds bf16's largest number, 3.38953e+38; use f64, or `scale` the matrix first"},
        {P_F32_F64, "1 value exceeds fp32's largest number, 3.40282e+38; use f64, or `scale` the matrix first"},
        {P_F32, "1 value exceeds fp32's largest number, 3.40282e+38; use f64, or `scale` the matrix first"},
    };
    struct csr A, Z;
    struct plan p;
    assert_true(csr_from_triplets(&A, 3, 3, 3, at, at, large, NULL, NULL, NULL));
    assert_true(csr_from_triplets(&Z, 3, 3, 3, at, at, imag, imag, NULL, NULL));
    for (int i = 0; i < COUNT(refused); i++) {
        struct err e = {0}, complex_values = {0};
        assert_false(format_plan(&A, &format_csr, NULL, refused[i].real, &p, &e));
        assert_int_equal(e.code, E_UNSUPPORTED);
        assert_string_equal(e.text, refused[i].why);
        if (!precisions[refused[i].real].narrow) continue;
        assert_false(format_plan(&Z, &format_csr, NULL, refused[i].real, &p, &complex_values));
        assert_non_null(strstr(complex_values.text, "stores real values only; use f32 or f64 for a complex matrix"));
    }
    A.val[1] = -INFINITY;
    A.val[2] = NAN;
    assert_true(format_plan(&A, &format_csr, NULL, P_F16_F32, &p, NULL));
    csr_free(&A);
    csr_free(&Z);
}

TEST(kernels_that_take_a_precision_are_named)
{
    struct err e = {0};
    assert_true(kernel_takes(kernel_find("csr-ends"), P_BF16_F32, NULL));
    assert_false(kernel_takes(kernel_find("csr-merge"), P_BF16_F32, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_non_null(strstr(e.text, "csr-merge does not multiply in bf16-fp32; these kernels do: csr-scalar, "));
    for (int i = 0; kernels[i]; i++) /* a kernel takes all of them or none */
        for (const struct precision_entry *const *p = named_precisions; *p; p++)
            if ((*p)->narrow)
                assert_true(kernel_takes(kernels[i], (*p)->index, NULL) == kernel_takes(kernels[i], P_NARROW, NULL));
}

TEST(commands_take_precisions)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as A"));
    talk_says(&t, "spmv csr-vector on emu precision bf16-fp32", "bf16-fp32");
    talk_says(&t, "spmv sell fp16-fp64 on cpu reps 2", "fp16-fp64");
    talk_says(&t, "spmv A f32 on cpu reps 2", "fp32");
    talk_refuses(&t, "spmv A f32 bf16-fp32", "");
    talk_refuses(&t, "spmv csr-merge on emu bf16-fp32", "csr-merge does not multiply in bf16-fp32; these kernels do");
    talk_refuses(&t, "bench precisions csr-merge on emu", "these kernels do: csr-scalar");
    talk_says(&t, "convert csr bf16-fp32", "bf16");
    talk_says(&t, "list", "csr/bf16-fp32");
    talk_says(&t, "layout ell fp16-fp32 slots 0:3", "4");
    talk_says(&t, "formats A bf16-fp64", "bf16-fp64");
    talk_says(&t, "count sell of A bf16-fp32", "bf16-fp32");
    talk_says(&t, "explain csr-scalar of A fp16-fp32", "");
    talk_says(&t, "predict csr-scalar of A fp32-fp64", "fp32-fp64");
    talk_says(&t, "trace csr-scalar of A bf16-fp32", "bf16-fp32");
    talk_refuses(&t, "trace lu-paper of A bf16-fp32", "LU does not work in bf16-fp32; use f32 or f64");
    talk_says(&t, "help bf16-fp32", "csr-scalar");
    talk_says(&t, "help spmv", "fp16-fp32");
    talk_close(&t);
}

/* The bytes of a row with 2-byte values, and an error of the size of the stored type's unit roundoff. */
TEST(precisions_are_compared)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 200 9 20 as A"));
    talk_says(&t, "bench precisions csr-serial on cpu reps 2", "bytes/nnz");
    assert_int_equal(t.s.nruns, 7);
    for (int i = 0; i < t.s.nruns; i++) {
        const struct run *r = &t.s.runs[i];
        enum type stored = precisions[r->real].stored;
        int64_t nnz = r->of->nnz, sums = (int64_t)type_size(precisions[r->real].vector);
        double unit = stored == T_F64 ? 0x1p-53 : stored == T_F32 ? 0x1p-24 : stored == T_F16 ? 0x1p-11 : 0x1p-8;
        assert_int_equal(r->bytes, nnz * (4 + (int64_t)type_size(stored)) + 201 * 4 + (200 + 20) * sums);
        if (!(r->error.relative < 8 * unit && r->error.relative > unit / 64))
            fail_msg("%s: error %g", precisions[r->real].name, r->error.relative);
    }
    talk_says(&t, "bench precisions on emu", "bf16-fp64");
    assert_true(talk_line(&t, "let B = 100000*A"));
    talk_says(&t, "bench precisions csr-serial on cpu reps 2", "fp16-fp32: ");
    talk_refuses(&t, "spmv B fp16-fp32", "fp16's largest number, 65504");
    talk_close(&t);
}

/* The error is relative to A x, however small A is; the check with a random y, beside which a small A x is lost, does
   not hide it. */
TEST(the_error_is_that_of_the_product)
{
    static const struct {
        const char *factor;
        double error; /* of factor, rounded to fp16 */
    } cases[] = {{"1e-9", 1}, {"1e-6", 17 * 0x1p-24 / 1e-6 - 1}, {"3e-8", 0x1p-24 / 3e-8 - 1}, {"2", 0}};
    static const char *const lines[] = {
        "spmv csr-vector B on emu precision fp16-fp64", "spmv csr-serial B on cpu reps 1 precision fp16-fp64",
        "spmv csr-serial B alpha 4 on cpu reps 1 precision fp16-fp64", "bench precisions csr-serial B on cpu reps 1"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen random 9 3 as R; let A = R - R + I"));
    for (int i = 0; i < COUNT(cases); i++) {
        char line[80];
        snprintf(line, sizeof line, "let B = %s*A", cases[i].factor);
        assert_true(talk_line(&t, line));
        for (int k = 0; k < COUNT(lines); k++) {
            assert_true(talk_line(&t, lines[k]));
            int at = 0;
            while (at < t.s.nruns - 1 && t.s.runs[at].real != P_F16_F64) at++;
            if (!(fabs(t.s.runs[at].error.relative - cases[i].error) < 1e-12))
                fail_msg("%s of %s: error %g", lines[k], cases[i].factor, t.s.runs[at].error.relative);
        }
        assert_true(talk_line(&t, "drop B"));
    }
    assert_true(talk_line(&t, "let Z = A - A; spmv Z on emu f32"));
    assert_true(t.s.runs[0].error.relative == 0);
    talk_close(&t);
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) n++;
    return n;
}

/* Once for all formats. 1e-45 is rounded to the smallest number of fp32, and 6e-46 to 0. */
TEST(values_that_become_0_are_counted)
{
    static const struct {
        const char *factor, *line, *says; /* NULL: nothing */
    } cases[] = {
        {"1e-50", "spmv csr-vector B on emu f32",
         "9 values of B are below fp32's smallest number, 1.4e-45, and become 0"},
        {"6e-46", "bench csr ell B f32 on cpu reps 1", "9 values of B are below fp32's smallest number"},
        {"1e-45", "bench csr ell B f32 on cpu reps 1", NULL},
        {"2e-8", "convert ell B fp16-fp32", "9 values of B are below fp16's smallest number, 6e-08, and become 0"},
        {"2e-8", "convert ell B bf16-fp32", NULL},
        {"1e-41", "bench precisions csr-serial B on cpu reps 1", "9 values of B are below bf16's smallest number"},
        {"1e-50", "spmv B on cpu reps 1", NULL},
        {"1e-50", "solve cg B f32 on cpu b ones", NULL}, /* which is scaled */
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        char line[120];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "gen random 9 3 as R; let A = R - R + I; prune A; let B = %s*A", cases[i].factor);
        assert_true(talk_line(&t, line));
        talk_forget(&t);
        if (!talk_line(&t, cases[i].line)) fail_msg("%s: %s", cases[i].line, t.err);
        if (cases[i].says && !strstr(t.err, cases[i].says)) fail_msg("%s: %s", cases[i].line, t.err);
        if (!cases[i].says && strstr(t.err, "become")) fail_msg("%s: %s", cases[i].line, t.err);
        if (strstr(cases[i].line, "bench csr")) assert_int_equal(count_of(t.err, "become 0"), cases[i].says ? 1 : 0);
        talk_close(&t);
    }
}
