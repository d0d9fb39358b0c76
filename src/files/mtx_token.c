/* Words, integers and positions in a Matrix Market file, independent of the locale. */
#include "base/text.h"
#include "mtx.h"

#include <string.h>

const char *line_end(const char *p, const char *end)
{
    while (p < end && !is_eol(*p)) p++;
    return p;
}

const char *next_line(const char *eol, const char *end)
{
    if (eol < end && *eol == '\r' && eol + 1 < end && eol[1] == '\n') eol++;
    return eol < end ? eol + 1 : end;
}

bool same_word(const char *a, size_t n, const char *word)
{
    if (n != strlen(word)) return false;
    for (size_t i = 0; i < n; i++)
        if ((a[i] >= 'A' && a[i] <= 'Z' ? a[i] + 'a' - 'A' : a[i]) != word[i]) return false;
    return true;
}

const char *const integer_fault_text[] = {
    [FAULT_NONE] = "an integer",
    [FAULT_EMPTY] = "nothing",
    [FAULT_CONTROL] = "a control byte",
    [FAULT_FRACTION] = "a number that is not an integer",
    [FAULT_TEXT] = "text that is not an integer",
    [FAULT_TOO_LARGE] = "an integer beyond 64 bits",
};

/* Why a text is not an integer. `s` is the character that should be a digit. */
static enum integer_fault fault_at(const char *s, const char *end)
{
    if (s == end) return FAULT_EMPTY;
    if (*s < ' ' && *s >= 0) return FAULT_CONTROL;
    return *s == '.' || *s == 'e' || *s == 'E' ? FAULT_FRACTION : FAULT_TEXT;
}

enum integer_fault read_integer(const char *s, size_t n, int64_t *value)
{
    const char *end = s + n, *p = s;
    bool negative = p < end && *p == '-', overflow = false;
    *value = 0;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *digits = p;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        overflow |= __builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *p - '0', value);
    if (p < end || p == digits) return fault_at(p, end);
    if (overflow) return FAULT_TOO_LARGE;
    if (negative) *value = -*value;
    return FAULT_NONE;
}

const char *path_line(const char *path, int64_t line, char *out)
{
    char safe[PATH_LINE - 24];
    size_t n = strlen(path), most = sizeof safe - 8;
    print_safe(path, n, most, safe, sizeof safe);
    snprintf(out, PATH_LINE, "%s:%lld", safe, (long long)line);
    return out;
}

const char *comment_advice(const char *s, const char *end)
{
    return memchr(s, '%', (size_t)(end - s)) ? "; a comment must begin after a blank" : "";
}

const char *quoted(const char *s, const char *end, char *out)
{
    return print_safe(s, (size_t)(end - s), 60, out, QUOTE);
}
