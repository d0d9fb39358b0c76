/* Compares the arrays that the machine code accesses, which are parameters of the kernel, with those that lines of the
   source name. */
#include "lab_arrays.h"
#include "base/base.h"
#include "lab_scan.h"
#include "machine/sass.h"

#include <ctype.h>
#include <string.h>

/* ---- parameters ---- */

/* Of an element, or of the parameter itself if it is no pointer; 0: not known. Types have one name each: lab_source.c
   reads `long` as int64_t. */
static int size_of(const struct parameter *p)
{
    static const char *const eight[] = {"double", "int64_t", "uint64_t", "size_t", "unsigned long"};
    static const char *const four[] = {"int", "unsigned", "float"};
    for (int k = 0; k < COUNT(eight); k++)
        if (!strcmp(p->type, eight[k])) return 8;
    for (int k = 0; k < COUNT(four); k++)
        if (!strcmp(p->type, four[k])) return 4;
    return 0;
}

/* The pointer that begins `offset` bytes after the first parameter; NULL: none is known. */
static const char *parameter_at(const struct function *f, int offset)
{
    int at = 0;
    for (int k = 0; k < f->nparameters; k++) {
        int size = f->parameter[k].pointer ? 8 : size_of(&f->parameter[k]);
        if (!size) return NULL;
        at = (at + size - 1) / size * size;
        if (at == offset) return f->parameter[k].pointer ? f->parameter[k].name : NULL;
        at += size;
    }
    return NULL;
}

static const struct parameter *array_called(const struct function *f, const char *name, size_t n)
{
    for (int k = 0; k < f->nparameters; k++)
        if (f->parameter[k].pointer && strlen(f->parameter[k].name) == n && !strncmp(f->parameter[k].name, name, n))
            return &f->parameter[k];
    return NULL;
}

/* ---- lines ---- */

static const char *line_of(const struct apart *a, int line)
{
    const char *p = a->text;
    for (int k = 1; p && k < line; k++) p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
    return p;
}

/* The bracket around p; NULL: none. */
static const char *bracket_around(const struct apart *a, const char *p)
{
    for (int depth = 0; p > a->text;) {
        p--;
        if (*p == ']') depth++;
        if (*p == '[' && depth-- == 0) return p;
        if (*p == ';' || *p == '{') return NULL;
    }
    return NULL;
}

/* The name before the bracket p, and its length. */
static const char *name_before(const struct apart *a, const char *p, size_t *n)
{
    const char *end;
    while (p > a->text && isspace((unsigned char)p[-1])) p--;
    for (end = p; p > a->text && scan_is_letter(p[-1]);) p--;
    *n = (size_t)(end - p);
    return p;
}

/* The arrays of f whose brackets close on the line, where the emulator sees the access: the line `[k]]` of x[col[k]]
   accesses both. Returns their number. *from, *end: the outermost access, from its name on. */
enum { CLOSED_MAX = 4 };
static int closed_on(const struct apart *a, const struct function *f, int line,
                     const struct parameter *array[CLOSED_MAX], const char **from, const char **end)
{
    const char *p = line_of(a, line), *open = p;
    int found = 0, depth = 0;
    if (!p || *p != '[') return 0;
    for (; open && *p && *p != '\n' && found < CLOSED_MAX; p++) {
        depth += *p == '[';
        if (*p != ']' || --depth > 0) continue;
        size_t n;
        const char *name = name_before(a, open, &n);
        array[found] = array_called(f, name, n);
        if (!array[found]) break;
        *from = name, *end = p + 1;
        found++;
        open = bracket_around(a, open);
        depth = 1;
    }
    return found;
}

static bool accesses(const struct apart *a, const struct function *f, int line, const char *name)
{
    const struct parameter *array[CLOSED_MAX];
    const char *from, *end;
    for (int k = closed_on(a, f, line, array, &from, &end) - 1; k >= 0; k--)
        if (!strcmp(array[k]->name, name)) return true;
    return false;
}

int arrays_sizes(const struct function *f, const struct apart *a, int line, int size[4])
{
    const struct parameter *array[CLOSED_MAX];
    const char *from, *end;
    int n = closed_on(a, f, line, array, &from, &end);
    for (int k = 0; k < n; k++) size[k] = size_of(array[k]);
    return n;
}

/* Without blanks. */
static bool same_text(const char *p, const char *end, const char *q, const char *other_end)
{
    for (;; p++, q++) {
        while (p < end && isspace((unsigned char)*p)) p++;
        while (q < other_end && isspace((unsigned char)*q)) q++;
        if (p == end || q == other_end) return p == end && q == other_end;
        if (*p != *q) return false;
    }
}

bool arrays_same_access(const struct function *f, const struct apart *a, int line, int other)
{
    const struct parameter *array[CLOSED_MAX];
    const char *from, *end, *from_other, *end_other;
    return closed_on(a, f, line, array, &from, &end) && closed_on(a, f, other, array, &from_other, &end_other) &&
           same_text(from, end, from_other, end_other);
}

/* The first line of the loop that accesses the array; 0: none. */
static int line_with(const struct apart *a, const struct function *f, int loop, const char *array)
{
    for (int line = 1; line <= a->nlines; line++)
        if (a->loop_of[line] == loop && accesses(a, f, line, array)) return line;
    return 0;
}

void arrays_correct(const struct lab_code *c, int i, const struct source *source, struct sass *s, const struct apart *a)
{
    const struct function *f = &source->function[i];
    for (int k = 0; k < s->n; k++) {
        struct sass_instruction *in = &s->at[k];
        bool own = in->file && !strcmp(in->file, c->as.file) && in->line > 0 && in->line <= a->nlines;
        const char *array = own && in->space == SASS_GLOBAL ? parameter_at(f, in->parameter) : NULL;
        int size[4];
        if (!array || !arrays_sizes(f, a, in->line, size) || accesses(a, f, in->line, array)) continue;
        int line = line_with(a, f, a->loop_of[in->line], array);
        if (line) in->line = line;
    }
}
