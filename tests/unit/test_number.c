/* The two readers of numbers, a fast plain reader and a careful reader, compared with the C library's strtod: millions
   of numbers, and numbers that are hard to round. */
#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/number.h"
#include "kits/test.h"

#include <stdlib.h>

enum { TEXT = 64, BEHIND = 8, RANDOM = 400000, LONG = 3000 };

static uint64_t seed = 1;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static bool same(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

/* Text followed by one byte, at the end of the memory that number_plain may read. */
static const char *plain(const char *text, char behind, double *v)
{
    size_t n = strlen(text);
    char *room = mem_new((int64_t)(n + BEHIND), 1, "text", NULL), *copy = room;
    memset(copy, '7', n + BEHIND);
    memcpy(copy, text, n);
    copy[n] = behind;
    const char *end = number_plain(copy, v);
    bool whole = end == copy + n;
    mem_free(room);
    return end ? whole ? text + n : text : NULL;
}

/* Both readers give strtod's bits. Returns whether the plain reader accepted the text. */
static bool agrees(const char *text)
{
    static const char ends[] = " \t\n\r";
    double want = strtod(text, NULL), v = 0;
    unsigned how;
    const char *end = text + strlen(text), *after = plain(text, ends[next() % 4], &v);
    if (after && (after != end || !same(v, want))) fail_msg("%s became %a, not %a", text, v, want);
    assert_ptr_equal(number_parse(text, end, &v, &how), end);
    if (!same(v, want)) fail_msg("%s became %a with all care, not %a", text, v, want);
    return after;
}

static double any_double(void)
{
    uint64_t bits = next() & ~(1ULL << 62); /* the absolute value is below 2 */
    double v;
    if (next() % 2) bits |= (next() & 1) << 62;
    memcpy(&v, &bits, sizeof v);
    return v - v == 0 ? v : 1;
}

TEST(doubles_of_any_size)
{
    static const char *const forms[] = {"%.17g", "%.16e", "%.15G", "%.18e", "%.3g"};
    int64_t taken = 0;
    char text[512];
    for (int i = 0; i < RANDOM; i++) {
        double v = any_double();
        const char *form = forms[i % COUNT(forms)];
        snprintf(text, sizeof text, form, v);
        taken += agrees(text);
        snprintf(text, sizeof text, "%.17g", (double)(int64_t)next() * 0x1p-63);
        taken += agrees(text);
    }
    assert_true(taken > RANDOM * 2 * 0.95);
}

/* Digits with a decimal point, sometimes with leading zeros or an exponent. */
static void random_text(char *to)
{
    int digits = 1 + (int)(next() % 22), point = (int)(next() % 40);
    if (next() % 2) *to++ = '-';
    for (int i = 0; i < digits; i++) {
        *to++ = (char)('0' + (next() % 8 ? next() % 10 : 0));
        if (i == point && i + 1 < digits) *to++ = '.';
    }
    *to = 0;
    if (next() % 2) sprintf(to, "%c%s%d", next() % 2 ? 'e' : 'E', next() % 2 ? "-" : "+", (int)(next() % 330));
}

TEST(digits_of_any_number)
{
    char text[TEXT];
    int64_t taken = 0;
    for (int i = 0; i < 2 * RANDOM; i++) {
        random_text(text);
        taken += agrees(text);
    }
    assert_true(taken > RANDOM);
}

/* The decimal number halfway between two doubles, cut to 19 digits or fewer, and its neighbours in the last digit. */
TEST(halfway_cases_and_neighbours)
{
    char text[TEXT];
    for (int i = 0; i < RANDOM / 4; i++) {
        uint64_t odd = 1ULL << 53 | (next() >> 11) | 1; /* 54 bits, one bit more than a double has */
        int shift = (int)(next() % 140) - 90;
        long double half = (long double)odd;
        for (int k = 0; k < shift; k++) half *= 2;
        for (int k = 0; k > shift; k--) half /= 2;
        snprintf(text, sizeof text, "%.*Le", (int)(15 + next() % 4), half);
        agrees(text);
        char *last = strchr(text, 'e') - 1;
        *last = *last == '9' ? '8' : (char)(*last + 1);
        agrees(text);
        snprintf(text, sizeof text, "%llu", (unsigned long long)odd << (next() % 10));
        agrees(text);
        snprintf(text, sizeof text, "%llu.5", (unsigned long long)(odd >> 2 | 1ULL << 51));
        agrees(text);
    }
}

TEST(hard_numbers)
{
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0",
        "-0e5",
        "000",
        "1",
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2.2250738585072013e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2e-324",
        "3e-324",
        "1e-400",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "8.988465674311580e307",
        "1e23",
        "8.5e-17",
        "6.02214076e23",
        "9999999999999999999",
        "1e22",
        "1e-22",
        "0.1",
        "0.3",
        "123456789012345678e-18",
        "5e-1",
        "1e0",
        "1E+00",
        "7.2057594037927933e16",
        "0.000000000000000001",
        "0.0000000000000000001",
        "9.5e-05",
        "1.00000005960464477550",
        "6929495644600919.5",
        "3.7455744005952583e15",
        "9.5e-30",
        "7450580596923828125e-27",
        "1.5e-5",
        "18446744073709551615",
    };
    for (int i = 0; i < COUNT(hard); i++) agrees(hard[i]);
}

TEST(other_numbers_are_left_to_the_careful_reader)
{
    static const char *const odd[] = {
        "",
        "-",
        "+1",
        "--1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1e-",
        "1.5D+03",
        "1.5+103",
        "inf",
        "nan",
        "-inf",
        "0x1",
        "1,5",
        "1.5.2",
        "12345678901234567890",
        "1.2345678901234567890",
        "1e99999",
        "1e309",
        "-1e400",
        "1x",
        "x.5",
        "-x.5",
        "/.5",
        "1/",
        "1:",
        "a",
        "1\xb5"
        "2",
        "1%",
        "1e5e5",
        "\x80",
    };
    double v;
    for (int i = 0; i < COUNT(odd); i++)
        if (plain(odd[i], ' ', &v)) fail_msg("\"%s\" is not plain", odd[i]);
    assert_null(plain("1", '%', &v));
    assert_null(plain("1", 0, &v));
}

/* Check that the careful reader gives the same number for the text with D instead of e. */
static void fortran_agrees(char *text)
{
    double want = strtod(text, NULL), v;
    unsigned how;
    char *e = strpbrk(text, "eE");
    *e = *e == 'e' ? 'd' : 'D';
    const char *end = text + strlen(text), *after = number_parse(text, end, &v, &how);
    assert_ptr_equal(after, end);
    if (!same(v, want)) fail_msg("%.80s became %a, not %a", text, v, want);
    assert_true(how & NUMBER_FORTRAN);
}

TEST(fortran_exponents_are_rounded_correctly)
{
    static char text[4 * LONG];
    for (int i = 0; i < RANDOM / 4; i++) {
        random_text(text);
        if (!strpbrk(text, "eE")) strcat(text, "e+0");
        fortran_agrees(text);
    }
    /* Leading zeros, the digits of a number halfway between two doubles, more zeros, and a last digit that is 0 or
       1. */
    for (int i = 0; i < 2000; i++) {
        char digit = (char)('0' + i % 2), *to = text;
        uint64_t odd = 1ULL << 53 | (next() >> 11) | 1;
        int before = (int)(next() % LONG), zeros = (int)(next() % LONG);
        if (next() % 2) *to++ = '-';
        to += sprintf(to, "%0*d", before + 1, 0);
        if (next() % 2) *to++ = '.', before = -1;
        to += sprintf(to, "%llu%0*d%c", (unsigned long long)odd, zeros + 1, 0, digit);
        if (before >= 0 && next() % 2) to += sprintf(to, ".%d", (int)(next() % 1000));
        sprintf(to, "e%d", (int)(next() % 600) - 300 - (before < 0 ? 0 : zeros + 2));
        fortran_agrees(text);
    }
}

TEST(digits_are_counted)
{
    static const char text[] = "12345678901234567/3456789";
    uint64_t v;
    for (int i = 0; i <= 17; i++) {
        assert_int_equal(digits_read(text + i, &v), 17 - i);
        if (v != (i < 17 ? strtoull(text + i, NULL, 10) : 0))
            fail_msg("%s became %llu", text + i, (unsigned long long)v);
    }
    for (int c = 0; c < 256; c++) { /* any other byte ends a number */
        char any[16] = "12a45678";
        any[2] = (char)c;
        if (c < '0' || c > '9') assert_int_equal(digits_read(any, &v), 2);
    }
}
