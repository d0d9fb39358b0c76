/* Ranges of indices as users type them. */
#include "interval.h"
#include "base/err.h"
#include "base/numeral.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 24 };

/* Read n characters as an index; if n is 0, the index is `otherwise`. */
static bool read_index(const char *text, size_t n, int64_t otherwise, int64_t *value)
{
    char digits[DIGITS];
    *value = otherwise;
    if (!n) return true;
    if (n >= sizeof digits) return false;
    snprintf(digits, sizeof digits, "%.*s", (int)n, text);
    return is_integer(digits, value);
}

static bool read_ends(const char *text, int64_t n, struct interval *out)
{
    size_t colon = strcspn(text, ":");
    if (!*text || !read_index(text, colon, 0, &out->first)) return false;
    out->last = out->first;
    return !text[colon] || read_index(text + colon + 1, strlen(text + colon + 1), n - 1, &out->last);
}

bool is_interval(const char *text)
{
    struct interval r;
    return read_ends(text, 1, &r);
}

bool interval_read(const char *text, const char *noun, int64_t n, struct interval *out, struct err *e)
{
    *out = (struct interval){0, n - 1};
    if (n == 0) return fail(e, E_USAGE, "there is no %s to print", noun);
    if (text && !read_ends(text, n, out)) return fail(e, E_USAGE, "a range is N or N:M, and both ends are included");
    int64_t outside = out->first < 0 || out->first >= n ? out->first : out->last;
    if (outside < 0 || outside >= n)
        return fail(e, E_USAGE, "%s %lld does not exist; the %ss are 0 .. %lld%s", noun, (long long)outside, noun,
                    (long long)n - 1,
                    outside >= n && outside != out->first ? "; a range includes both ends, and N: goes to the last"
                                                          : "");
    if (out->first <= out->last) return true;
    return fail(e, E_USAGE, "the range %lld:%lld is empty; give the smaller %s first", (long long)out->first,
                (long long)out->last, noun);
}

int64_t interval_size(struct interval r)
{
    return r.last - r.first + 1;
}
