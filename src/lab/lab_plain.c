/* Turns plain CUDA C into the dialect, for the emulator: pointers to global memory become GPTR and arrays in shared
   memory SHARED, so that each access is checked and counted. Lines stay where they are. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "lab_scan.h"
#include "lab_source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { GIVEN_MAX = 8 };

/* The text, and the same text without comments, strings and directives; `at` is how far the text was copied. */
struct rewriting {
    const char *text, *mask;
    const char *at; /* in mask */
    FILE *out;
    char given[GIVEN_MAX][64]; /* arrays in shared memory whose size comes with the launch */
    int ngiven;
};

static void copy_to(struct rewriting *r, const char *to)
{
    if (to > r->at) fwrite(r->text + (r->at - r->mask), 1, (size_t)(to - r->at), r->out);
    if (to > r->at) r->at = to;
}

/* Leave out the text up to `to`, but not its line ends. */
static void skip_to(struct rewriting *r, const char *to)
{
    for (; r->at < to; r->at++)
        if (*r->at == '\n') fputc('\n', r->out);
}

/* ---- parameters ---- */

/* "const double *__restrict__ val" becomes "GPTR(const double) val". */
static void rewrite_parameter(struct rewriting *r, const char *from, const char *to)
{
    static const char *const drops[] = {"__restrict__", "__restrict", "restrict"};
    const char *star = memchr(from, '*', (size_t)(to - from)), *bracket = memchr(from, '[', (size_t)(to - from));
    const char *end = star ? star : bracket, *name = bracket ? bracket : to;
    char type[128];
    if (!end || memchr(from, '(', (size_t)(to - from))) return;
    while (name > from && isspace((unsigned char)name[-1])) name--;
    const char *name_end = name;
    while (name > from && scan_is_letter(name[-1])) name--;
    if (!star) end = name;
    if (star && memchr(star + 1, '*', (size_t)(to - star - 1))) return; /* a pointer to pointers stays */
    scan_copy(from, end, type, sizeof type);
    for (int i = 0; i < COUNT(drops); i++) {
        char *at;
        while ((at = (char *)scan_word(type, type, drops[i]))) memset(at, ' ', strlen(drops[i]));
    }
    from = scan_skip(from);
    copy_to(r, from);
    fprintf(r->out, "GPTR(%s) %.*s", type, (int)(name_end - name), name);
    skip_to(r, to);
}

static void rewrite_parameters(struct rewriting *r, const char *at)
{
    const char *open = scan_parameters(at), *close = open ? scan_close(open) : NULL;
    for (const char *p = open ? open + 1 : NULL; close && p < close;) {
        const char *comma = scan_comma(p, close);
        rewrite_parameter(r, p, comma);
        p = comma + 1;
    }
}

/* ---- shared memory ---- */

/* One "name", "name[n]" or "name[n][m]" of a declaration; `extern` if its size comes with the launch. */
static void write_shared(struct rewriting *r, const char *type, const char *from, const char *to, bool given)
{
    char name[64], n[128] = "", m[128] = "";
    const char *open = memchr(from, '[', (size_t)(to - from)), *close = open ? scan_close(open) : NULL;
    scan_copy(from, open ? open : to, name, sizeof name);
    if (given && r->ngiven < GIVEN_MAX) snprintf(r->given[r->ngiven++], sizeof r->given[0], "%s", name);
    if (close) scan_copy(open + 1, close, n, sizeof n);
    const char *second = close && close < to ? scan_skip(close + 1) : NULL;
    if (second && *second == '[' && scan_close(second)) scan_copy(second + 1, scan_close(second), m, sizeof m);
    if (given)
        fprintf(r->out, "SHARED_GIVEN(%s, %s, simt::now.given / sizeof(%s));", type, name, type);
    else if (*m)
        fprintf(r->out, "SHARED_TABLE(%s, %s, %s, %s);", type, name, n, m);
    else if (*n)
        fprintf(r->out, "SHARED(%s, %s, %s);", type, name, n);
    else
        fprintf(r->out, "SHARED(%s, %s_, 1); auto %s = %s_[0];", type, name, name, name);
}

/* "[extern] __shared__ double s[256], t;" */
static void rewrite_shared(struct rewriting *r, const char *begin, const char *at, bool given)
{
    const char *p = scan_skip(at + strlen("__shared__")), *end = strchr(p, ';'), *name;
    char type[96];
    if (!end) return;
    const char *first = scan_comma(p, end), *bracket = memchr(p, '[', (size_t)(first - p));
    name = bracket ? bracket : first;
    while (name > p && isspace((unsigned char)name[-1])) name--;
    while (name > p && scan_is_letter(name[-1])) name--;
    scan_copy(p, name, type, sizeof type);
    copy_to(r, begin);
    for (const char *q = name; q < end;) {
        const char *comma = scan_comma(q, end);
        write_shared(r, type, q, comma, given);
        q = comma + 1;
    }
    skip_to(r, end + 1);
}

/* ---- pointers in functions ---- */

/* "const double *p = ..." becomes "auto p = ...". Returns false if there is no such declaration at p, which begins a
   word. */
static bool rewrite_pointer(struct rewriting *r, const char *p)
{
    const char *from = p, *before = p, *star = NULL, *name = NULL;
    while (before > r->mask && isspace((unsigned char)before[-1])) before--;
    if (before > r->mask && !strchr(";{}", before[-1])) return false;
    while (scan_is_letter(*p) || isspace((unsigned char)*p) || *p == '*') {
        if (*p == '*' && star) return false;
        if (*p == '*') star = p;
        if (star && scan_is_letter(*p) && !scan_is_letter(p[-1])) name = p;
        p++;
    }
    if (!star || !name || *p != '=' || p[1] == '=') return false;
    copy_to(r, from);
    fputs("auto ", r->out);
    skip_to(r, name);
    return true;
}

/* "(&y[row]" becomes "((y + (row))": the address of an element is a place in the array. */
static bool rewrite_address(struct rewriting *r, const char *p)
{
    const char *before = p, *name = scan_skip(p + 1), *end = name;
    while (before > r->mask && isspace((unsigned char)before[-1])) before--;
    if (before == r->mask || !strchr("(,=", before[-1])) return false;
    while (scan_is_letter(*end)) end++;
    const char *open = scan_skip(end), *close = end > name && *open == '[' ? scan_close(open) : NULL;
    if (!close || !strchr("),;", *scan_skip(close + 1))) return false;
    copy_to(r, p);
    fprintf(r->out, "(%.*s + (", (int)(end - name), name);
    skip_to(r, open + 1);
    copy_to(r, close);
    fputs("))", r->out);
    r->at = close + 1;
    return true;
}

/* "(T *)bytes" of an array in shared memory becomes an array of T. */
static bool rewrite_cast(struct rewriting *r, const char *p)
{
    const char *close = scan_close(p), *star = close;
    char type[96], name[64];
    while (star && star > p && isspace((unsigned char)star[-1])) star--;
    if (!star || star == p || star[-1] != '*') return false;
    const char *from = scan_skip(close + 1), *end = from;
    while (scan_is_letter(*end)) end++;
    scan_copy(p + 1, star - 1, type, sizeof type);
    scan_copy(from, end, name, sizeof name);
    for (int i = 0; i < r->ngiven; i++) {
        if (strcmp(name, r->given[i])) continue;
        copy_to(r, p);
        fprintf(r->out, "simt::shared_given<%s>(0, simt::now.given / sizeof(%s), \"%s\", HERE)", type, type, name);
        skip_to(r, end);
        return true;
    }
    return false;
}

/* Is the star at p the one of "*v", and not of a product or of a type? */
static bool reads_pointer(const struct rewriting *r, const char *p)
{
    const char *before = p;
    while (before > r->mask && isspace((unsigned char)before[-1])) before--;
    bool after_return = before - r->mask > 6 && !strncmp(before - 6, "return", 6) && !scan_is_letter(before[-7]);
    return before > r->mask && (after_return || strchr("=(,+-/%&|!<>?:;{}[", before[-1])) &&
           (scan_is_letter(p[1]) || p[1] == '(');
}

/* "(T *)" */
static bool is_cast(const char *open, const char *close)
{
    while (close > open && isspace((unsigned char)close[-1])) close--;
    return close > open && close[-1] == '*';
}

/* "*v" becomes "v[0]", "*v++" becomes "(v++)[0]" and "*(v + k)" becomes "(v + k)[0]". */
static bool rewrite_star(struct rewriting *r, const char *p)
{
    const char *from = p + 1, *end = from;
    if (!reads_pointer(r, p)) return false;
    if (*from == '(' && (!(end = scan_close(from)) || is_cast(from, end))) return false;
    end += *from == '(';
    while (*from != '(' && scan_is_letter(*end)) end++;
    bool moves = !strncmp(end, "++", 2) || !strncmp(end, "--", 2);
    copy_to(r, p);
    r->at = from;
    if (moves) fputc('(', r->out);
    copy_to(r, end + 2 * moves);
    fputs(moves ? ")[0]" : "[0]", r->out);
    return true;
}

static bool begins_word(const struct rewriting *r, const char *p)
{
    return scan_is_letter(*p) && (p == r->mask || !scan_is_letter(p[-1]));
}

static bool is_word(const char *p, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(p, word, n) && !scan_is_letter(p[n]);
}

static void rewrite_at(struct rewriting *r, const char *p)
{
    if (*p == '&') rewrite_address(r, p);
    if (*p == '(') rewrite_cast(r, p);
    if (*p == '*') rewrite_star(r, p);
    if (!begins_word(r, p)) return;
    const char *after = scan_skip(p + strlen("extern"));
    if (is_word(p, "__global__") || is_word(p, "__device__"))
        rewrite_parameters(r, p);
    else if (is_word(p, "extern") && is_word(after, "__shared__"))
        rewrite_shared(r, p, after, true);
    else if (is_word(p, "__shared__"))
        rewrite_shared(r, p, p, false);
    else
        rewrite_pointer(r, p);
}

char *plain_to_dialect(const char *original, struct err *e)
{
    struct memfile m;
    char *text = mem_str(original, e), *mask = text ? source_blank(text, e) : NULL, *out = NULL;
    if (mask && memfile_open(&m, e)) {
        struct rewriting r = {.text = text, .mask = mask, .at = mask, .out = m.file};
        for (const char *p = mask; *p; p++)
            if (p >= r.at) rewrite_at(&r, p);
        copy_to(&r, mask + strlen(mask));
        if (memfile_close(&m, true, e)) out = mem_str(m.text, e);
        memfile_free(&m);
    }
    mem_free(text);
    mem_free(mask);
    return out;
}
