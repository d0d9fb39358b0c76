/* Text for the screen: foreign bytes made safe; byte counts, times and numbers made readable. */
#include "text.h"
#include "base.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

int utf8_decode(const char *text, size_t n, uint32_t *point)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (!len || (size_t)len > n) return 0;
    uint32_t p = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        if (s[i] >> 6 != 2) return 0;
        p = p << 6 | (s[i] & 0x3f);
    }
    if (p < least[len] || p > 0x10ffff || (p >= 0xd800 && p < 0xe000)) return 0;
    *point = p;
    return len;
}

/* C0, DEL and C1 controls, characters that look like a blank but are none, such as the no-break space, and characters
   that are invisible or change the direction of writing. */
static bool unsafe(uint32_t p)
{
    return p < 0x20 || (p >= 0x7f && p <= 0xa0) || p == 0x61c || p == 0x1680 || (p >= 0x2000 && p <= 0x200f) ||
           (p >= 0x2028 && p <= 0x202f) || (p >= 0x205f && p <= 0x206f) || p == 0xfeff;
}

static size_t append(char *out, size_t size, size_t at, const char *piece, size_t n)
{
    if (at + n >= size) return size;
    memcpy(out + at, piece, n);
    out[at + n] = 0;
    return at + n;
}

char *print_safe(const char *text, size_t n, size_t most, char *out, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t end = n < most ? n : most, at = 0;
    out[0] = 0;
    for (size_t i = 0; i < end && at < size;) {
        uint32_t point = 0;
        int len = utf8_decode(text + i, n - i, &point);
        if (len && !unsafe(point)) {
            at = append(out, size, at, text + i, (size_t)len);
        } else {
            char hex[16];
            len = len ? len : 1;
            for (int k = 0; k < len; k++) {
                snprintf(hex, sizeof hex, "\\x%02x", s[i + (size_t)k]);
                at = append(out, size, at, hex, 4);
            }
        }
        i += (size_t)len;
    }
    if (n > most) append(out, size, at, "...", 3);
    return out;
}

char *print_lines(const char *text, char *out, size_t size)
{
    size_t at = 0;
    for (;; text++) {
        size_t n = strcspn(text, "\n");
        print_safe(text, n, n, out + at, size - at);
        at += strlen(out + at);
        text += n;
        if (!*text || at + 1 >= size) return out;
        out[at++] = '\n';
    }
}

void text_append_list(char *out, size_t size, const char *fmt, va_list list)
{
    size_t n = strlen(out);
    vsnprintf(out + n, size - n, fmt, list);
}

void text_append(char *out, size_t size, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    text_append_list(out, size, fmt, list);
    va_end(list);
}

char *show_bytes(double bytes, char *out, size_t size)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
    int u = 0;
    while (bytes >= 999.5 && u < COUNT(unit) - 1) bytes /= 1000, u++;
    snprintf(out, size,
             u == 0          ? "%.0f %s"
             : bytes < 9.995 ? "%.2f %s"
             : bytes < 99.95 ? "%.1f %s"
                             : "%.0f %s",
             bytes, unit[u]);
    return out;
}

char *show_us(double us, char *out, size_t size)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{1e6, 1e6, "s"}, {1e4, 1e3, "ms"}, {-INFINITY, 1, "us"}};
    int k = 0;
    while (us < units[k].from) k++;
    double v = us / units[k].unit;
    snprintf(out, size, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[k].name);
    return out;
}

/* The plural ending of a noun; *drop is the number of letters that the ending replaces. */
static const char *ending(const char *noun, size_t n, int *drop)
{
    *drop = 2;
    if (n > 1 && noun[n - 1] == 'x' && noun[n - 2] == 'e') return "ices";
    *drop = 1;
    if (n > 1 && noun[n - 1] == 'y' && !strchr("aeiou", noun[n - 2])) return "ies";
    if (n > 1 && noun[n - 1] == 'x' && noun[n - 2] == 'i') return "ces";
    *drop = 0;
    bool hisses = n > 1 && noun[n - 1] == 'h' && strchr("cs", noun[n - 2]);
    return hisses || (n && strchr("sx", noun[n - 1])) ? "es" : "s";
}

struct counted how_many(int64_t n, const char *noun)
{
    struct counted out;
    char digits[32];
    int drop, len = (int)strlen(noun);
    const char *end = ending(noun, (size_t)len, &drop);
    if (n == 1)
        snprintf(out.text, sizeof out.text, "1 %s", noun);
    else
        snprintf(out.text, sizeof out.text, "%s %.*s%s", show_count(n, digits, sizeof digits), len - drop, noun, end);
    return out;
}

char *show_count(int64_t n, char *out, size_t size)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)(n < 0 ? -n : n));
    size_t at = 0;
    out[0] = 0;
    if (n < 0) at = append(out, size, at, "-", 1);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) at = append(out, size, at, ",", 1);
        at = append(out, size, at, digits + i, 1);
    }
    return out;
}

size_t text_fit(const char *text, int columns, int *taken)
{
    size_t n = 0;
    *taken = 0;
    while (text[n]) {
        char one[8];
        uint32_t point;
        int len = utf8_decode(text + n, strlen(text + n), &point);
        snprintf(one, sizeof one, "%.*s", len ? len : 1, text + n);
        int width = text_width(one);
        if (*taken + width > columns) break;
        *taken += width;
        n += strlen(one);
    }
    return n;
}

int text_width(const char *text)
{
    mbstate_t state = {0};
    int width = 0;
    while (*text) {
        wchar_t c;
        size_t n = mbrtowc(&c, text, MB_LEN_MAX, &state);
        if (n > MB_LEN_MAX) { /* not valid in this locale: count UTF-8 lead bytes */
            memset(&state, 0, sizeof state);
            width += (unsigned char)*text++ >> 6 != 2;
            continue;
        }
        int w = wcwidth(c);
        width += w > 0 ? w : 0;
        text += n;
    }
    return width;
}

void text_html(FILE *f, const char *text)
{
    static const char marks[] = "&<>\"'";
    static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *text; text++) {
        const char *mark = strchr(marks, *text);
        bool no_character = !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);
        if (mark)
            fputs(entity[mark - marks], f);
        else if (no_character) /* U+FFFE and U+FFFF are not allowed in XML */
            fputc('?', f), text += 2;
        else
            fputc(*text, f);
    }
}
