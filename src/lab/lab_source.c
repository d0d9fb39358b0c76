/* Finds the kernels that a user's file declares, without a compiler. */
#include "lab_source.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "lab_scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

/* The end of the string or character literal at p. */
static const char *literal_end(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n') p += 1 + (*p == '\\' && p[1]);
    return *p == quote ? p + 1 : p;
}

/* The end of a directive: its lines may end in a backslash. */
static const char *directive_end(const char *p)
{
    while (*p && *p != '\n') p += 1 + (*p == '\\' && p[1]);
    return p;
}

static const char *comment_end(const char *p)
{
    const char *end = p[1] == '/' ? strchr(p, '\n') : strstr(p + 2, "*/");
    if (!end) return p + strlen(p);
    return p[1] == '/' ? end : end + 2;
}

static void blank(char *out, const char *from, const char *to)
{
    for (; from < to; from++, out++)
        if (*out != '\n') *out = ' ';
}

char *source_blank(const char *text, struct err *e)
{
    char *out = mem_str(text, e);
    bool begins = true; /* nothing but blanks since the line began */
    for (const char *p = text; out && *p;) {
        const char *end = p + 1;
        if (p[0] == '/' && (p[1] == '/' || p[1] == '*'))
            end = comment_end(p);
        else if (*p == '"' || (*p == '\'' && !(p > text && isalnum((unsigned char)p[-1]))))
            end = literal_end(p);
        else if (*p == '#' && begins)
            end = directive_end(p);
        if (end > p + 1) blank(out + (p - text), p, end);
        begins = *p == '\n' || (begins && isspace((unsigned char)*p));
        p = end;
    }
    return out;
}

int scan_line(const char *text, const char *at)
{
    int line = 1;
    for (const char *p = text; p < at; p++) line += *p == '\n';
    return line;
}

bool scan_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *scan_skip(const char *p)
{
    while (isspace((unsigned char)*p)) p++;
    return p;
}

const char *scan_word(const char *text, const char *from, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strstr(from, word); p; p = strstr(p + 1, word))
        if (!scan_is_letter(p[n]) && (p == text || !scan_is_letter(p[-1]))) return p;
    return NULL;
}

const char *scan_close(const char *p)
{
    char open = *p, close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
    int depth = 0;
    for (; *p; p++) {
        depth += (*p == open) - (*p == close);
        if (!depth) return p;
    }
    return NULL;
}

const char *scan_comma(const char *p, const char *end)
{
    int depth = 0;
    for (; p < end; p++) {
        bool arrow = *p == '>' && p[-1] == '-';
        if (strchr("([{<", *p)) depth++;
        if (strchr(")]}>", *p) && !arrow) depth--;
        if (*p == ',' && depth <= 0) return p;
    }
    return end;
}

void scan_copy(const char *from, const char *to, char *out, size_t size)
{
    while (from < to && isspace((unsigned char)*from)) from++;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    snprintf(out, size, "%.*s", (int)(to - from), from);
}

bool scan_fail(const char *file, int line, struct err *e, const char *fmt, ...)
{
    char where[128], text[400];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    snprintf(where, sizeof where, "%s:%d", file, line);
    return fail_at(e, E_USAGE, where, "%s", text);
}

/* ---- functions ---- */

/* The parenthesis of the parameters of the function that is declared after p; NULL: a variable, or no function. */
const char *scan_parameters(const char *p)
{
    for (; *p && !strchr(";={", *p); p++) {
        if (*p != '(') continue;
        const char *name = p, *close = scan_close(p);
        while (name > p - 32 && !scan_is_letter(name[-1])) name--;
        bool bounds = !strncmp(name - strlen("__launch_bounds__"), "__launch_bounds__", strlen("__launch_bounds__"));
        if (!bounds || !close) return close ? p : NULL;
        p = close;
    }
    return NULL;
}

static void drop_word(char *type, const char *word)
{
    size_t n = strlen(word);
    const char *at;
    while ((at = scan_word(type, type, word))) memmove((char *)at, at + n, strlen(at + n) + 1);
}

static void drop_blanks(char *s)
{
    char *out = s;
    for (char *p = s; *p; p++) {
        bool needed = p > s && scan_is_letter(out > s ? out[-1] : 0) && scan_is_letter(*scan_skip(p));
        if (!isspace((unsigned char)*p))
            *out++ = *p;
        else if (needed && out > s && out[-1] != ' ')
            *out++ = ' ';
    }
    while (out > s && out[-1] == ' ') out--;
    *out = 0;
}

static const struct {
    const char *from, *to;
} same_types[] = {{"unsigned int", "unsigned"}, {"uint32_t", "unsigned"},      {"int32_t", "int"},
                  {"long long", "int64_t"},     {"long", "int64_t"},           {"long long int", "int64_t"},
                  {"unsigned char", "uint8_t"}, {"unsigned short", "uint16_t"}};

/* "const double *__restrict__ val" or "GPTR(const double) val" */
static bool read_parameter(struct parameter *p, const char *from, const char *to)
{
    char text[256], *name;
    scan_copy(from, to, text, sizeof text);
    if (strlen(text) >= sizeof text - 1) return false;
    *p = (struct parameter){0};
    char *bracket = strchr(text, '[');
    p->pointer = bracket || strchr(text, '*');
    if (bracket) *bracket = 0;
    name = text + strlen(text);
    while (name > text && isspace((unsigned char)name[-1])) *--name = 0;
    while (name > text && scan_is_letter(name[-1])) name--;
    snprintf(p->name, sizeof p->name, "%.47s", name);
    *name = 0;
    const char *global = scan_word(text, text, "GPTR");
    char type[256];
    snprintf(type, sizeof type, "%s", text);
    if (global) {
        const char *open = strchr(global, '('), *close = open ? scan_close(open) : NULL;
        if (!close) return false;
        snprintf(type, sizeof type, "%.*s", (int)(close - open - 1), open + 1);
        p->pointer = true;
    }
    p->is_const = scan_word(type, type, "const") != NULL;
    static const char *const drops[] = {"const", "__restrict__", "__restrict", "restrict", "volatile"};
    for (int i = 0; i < COUNT(drops); i++) drop_word(type, drops[i]);
    for (char *c = type; *c; c++)
        if (*c == '*' || *c == '&') *c = ' ';
    drop_blanks(type);
    for (int i = 0; i < COUNT(same_types); i++)
        if (!strcmp(type, same_types[i].from)) snprintf(type, sizeof type, "%s", same_types[i].to);
    snprintf(p->type, sizeof p->type, "%.63s", type);
    return *p->name && *p->type;
}

/* The number of parameters of the template before `at`. */
static int template_parameters(const char *text, const char *at)
{
    const char *p = at;
    for (;;) { /* back over words such as static */
        while (p > text && isspace((unsigned char)p[-1])) p--;
        const char *word = p;
        while (word > text && scan_is_letter(word[-1])) word--;
        if (word == p) break;
        p = word;
    }
    if (p == text || p[-1] != '>') return 0;
    int n = 1;
    while (p > text && *--p != '<') n += *p == ',';
    return n;
}

static bool read_function(struct source *s, const char *text, const char *at, const char *file, struct err *e)
{
    int line = scan_line(text, at);
    const char *open = scan_parameters(at + strlen("__global__")), *close = open ? scan_close(open) : NULL;
    if (!close) return scan_fail(file, line, e, "__global__ is not followed by a function");
    if (*scan_skip(close + 1) == ';') return true; /* a declaration */
    if (s->nfunctions == FUNCTIONS_MAX)
        return scan_fail(file, line, e, "more than %d __global__ functions", +FUNCTIONS_MAX);
    struct function *f = &s->function[s->nfunctions++];
    *f = (struct function){.line = line, .templates = template_parameters(text, at)};
    const char *end = open;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    const char *name = end;
    while (name > at && scan_is_letter(name[-1])) name--;
    snprintf(f->name, sizeof f->name, "%.*s", (int)(end - name), name);
    for (const char *p = open + 1; p < close;) {
        const char *comma = scan_comma(p, close);
        if (scan_skip(p) >= close) break;
        if (f->nparameters == PARAMETERS_MAX)
            return scan_fail(file, line, e, "%s has more than %d parameters", f->name, +PARAMETERS_MAX);
        struct parameter *q = &f->parameter[f->nparameters++];
        if (!read_parameter(q, p, comma))
            return scan_fail(file, scan_line(text, scan_skip(p)), e, "%s: parameter %d is not a type and a name",
                             f->name, f->nparameters);
        q->line = scan_line(text, scan_skip(p));
        p = comma + 1;
    }
    return true;
}

/* ---- what the file says of itself ---- */

/* KERNEL_ENTRY(id) = {.name = "..." */
static void read_entry(struct source *s, const char *mask, const char *text, const char *at)
{
    const char *open = strchr(at, '('), *close = open ? scan_close(open) : NULL;
    if (!close || *scan_skip(close + 1) != '=' || s->nentries == ENTRIES_MAX) return;
    struct entry_text *t = &s->entry[s->nentries++];
    *t = (struct entry_text){.line = scan_line(mask, at)};
    scan_copy(open + 1, close, t->id, sizeof t->id);
    const char *brace = strchr(close, '{'), *end = brace ? scan_close(brace) : NULL;
    const char *name = end ? scan_word(mask, brace, "name") : NULL;
    if (!name || name > end) return;
    const char *quote = strchr(text + (name - mask), '"');
    if (quote) snprintf(t->name, sizeof t->name, "%.*s", (int)strcspn(quote + 1, "\""), quote + 1);
}

static bool read_try(struct source *s, const char *text, const char *file, struct err *e)
{
    char *const part[] = {s->format, s->blocks, s->threads, s->shared};
    const size_t size[] = {sizeof s->format, sizeof s->blocks, sizeof s->threads, sizeof s->shared};
    const char *at = scan_word(text, text, "TRY"), *open = at ? scan_skip(at + 3) : NULL;
    if (!open || *open != '(') return true;
    const char *close = scan_close(open);
    s->try_line = scan_line(text, at);
    if (!close) return scan_fail(file, s->try_line, e, "TRY( has no )");
    const char *p = open + 1;
    for (int i = 0; i < COUNT(part) && p < close; i++) {
        const char *comma = scan_comma(p, close);
        if ((size_t)(comma - p) >= size[i]) return scan_fail(file, s->try_line, e, "TRY(...) is too long");
        scan_copy(p, comma, part[i], size[i]);
        p = comma + 1;
    }
    if (p <= close && *s->shared)
        return scan_fail(file, s->try_line, e, "TRY has a format, blocks, threads and bytes of shared memory, no more");
    return true;
}

static bool includes_dialect(const char *text)
{
    for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
        size_t n = strcspn(p, "\n");
        const char *at = strstr(p, "dialect.h");
        if (at && at < p + n) return true;
    }
    return false;
}

/* atomicAdd(&y[row], v), atomicAdd(y + row, v) */
static void find_atomics(struct source *s, const char *mask)
{
    s->has_atomics = strstr(mask, "atomic") != NULL;
    for (const char *p = mask; (p = scan_word(mask, p, "atomicAdd")); p++) {
        const char *open = scan_skip(p + strlen("atomicAdd")), *name = *open ? open + 1 : open;
        while (*name && strchr(" \t\n&(", *name)) name++;
        s->adds_to_y |= *open == '(' && *name == 'y' && !scan_is_letter(name[1]);
    }
}

bool source_read(struct source *s, const char *text, const char *file, struct err *e)
{
    *s = (struct source){.dialect = includes_dialect(text), .chosen_function = -1, .chosen_entry = -1};
    char *mask = source_blank(text, e);
    bool ok = mask && read_try(s, text, file, e);
    if (mask) find_atomics(s, mask);
    for (const char *p = mask; ok && (p = scan_word(mask, p, "__global__")); p++)
        ok = read_function(s, mask, p, file, e);
    for (const char *p = mask; ok && (p = scan_word(mask, p, "KERNEL_ENTRY")); p++) read_entry(s, mask, text, p);
    const char *launch = ok && !s->dialect ? strstr(mask, "<<<") : NULL;
    if (launch)
        ok = scan_fail(file, scan_line(mask, launch), e,
                       "the file launches a kernel by <<<...>>>; leave out main and other code for the host: `try` "
                       "launches the kernel, with the grid of a line TRY(format, blocks, threads)");
    mem_free(mask);
    return ok;
}
