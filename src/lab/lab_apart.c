/* Takes a user's text apart: a line for each access, and where these lines and the loops are in the emulator's text. */
#include "lab_apart.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "lab_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- a line for each access ---- */

static bool is_word(const char *p, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(p, word, n) && !scan_is_letter(p[n]);
}

/* The macros of a file. */
enum { MACROS_MAX = 32 };
struct macros {
    char name[MACROS_MAX][48];
    int n;
};

static void find_macros(const char *text, struct macros *m)
{
    for (const char *p = text; m->n < MACROS_MAX && (p = strstr(p, "define")); p++) {
        const char *hash = p, *name = scan_skip(p + 6), *end = name;
        while (hash > text && strchr(" \t", hash[-1])) hash--;
        while (scan_is_letter(*end)) end++;
        if (hash > text && hash[-1] == '#' && end > name && end - name < (int)sizeof m->name[0])
            scan_copy(name, end, m->name[m->n++], sizeof m->name[0]);
    }
}

/* Does a name that may access something begin at p: that of a function which loads, or of a macro? */
static bool begins_name(const struct macros *m, const char *mask, const char *p)
{
    if (!scan_is_letter(*p) || (p > mask && scan_is_letter(p[-1]))) return false;
    if (is_word(p, "__ldg")) return true;
    for (int i = 0; i < m->n; i++)
        if (is_word(p, m->name[i])) return true;
    return false;
}

/* An access begins at the bracket of its index, at the star of *p, or at such a name. nvcc gives the load of x[col[k]]
   the line of the inner bracket; g++ gives it the position of the closing bracket, or of the name. */
static bool begins_access(const struct macros *m, const char *mask, const char *p)
{
    if (*p == '[') return p == mask || p[-1] != '[';
    if (*p == '*') return p > mask && !strchr(">.*/", p[-1]);
    return begins_name(m, mask, p);
}

static char *one_per_line(const char *text, const struct macros *macros, struct err *e)
{
    struct memfile m;
    char *mask = source_blank(text, e), *out = NULL;
    if (mask && memfile_open(&m, e)) {
        for (const char *p = mask; *p; p++) {
            if (begins_access(macros, mask, p)) fputc('\n', m.file);
            fputc(text[p - mask], m.file);
        }
        if (memfile_close(&m, true, e)) out = mem_str(m.text, e);
        memfile_free(&m);
    }
    mem_free(mask);
    return out;
}

/* ---- where the lines are ---- */

struct cursor {
    const char *p;
    int line, column;
};

/* Go to the next character that is not blank. */
static void skip_blanks(struct cursor *c)
{
    for (; isspace((unsigned char)*c->p); c->p++) {
        c->column++;
        if (*c->p == '\n') c->line++, c->column = 1;
    }
}

static int count_lines(const char *text)
{
    int n = 1;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* Read both texts side by side, which differ only in blanks. */
static bool find_lines(struct apart *a, const char *whole, const char *apart, struct err *e)
{
    struct cursor at = {whole, 1, 1}, own = {apart, 1, 1};
    int done = 0;
    for (;;) {
        skip_blanks(&at);
        skip_blanks(&own);
        for (; done < own.line && done < a->nlines; done++) {
            a->line[done + 1].line = at.line, a->line[done + 1].column = at.column;
            a->written[done + 1] = at.line;
        }
        if (*at.p != *own.p) return fail(e, E_UNSUPPORTED, "the accesses of the file cannot be told apart");
        if (!*at.p) break;
        at.p++, at.column++, own.p++, own.column++;
    }
    for (int k = 1; k <= a->nlines; k++) {
        const struct text_part *next = &a->line[k < a->nlines ? k + 1 : k];
        a->line[k].end_line = k < a->nlines ? next->line : at.line + 1;
        a->line[k].end_column = k < a->nlines ? next->column : 1;
    }
    return true;
}

/* ---- loops ---- */

enum { TAILS_MAX = 64 };
struct looping {
    struct apart *a;
    const char *mask;
    int room;
    const char *tail[TAILS_MAX]; /* the `while` that ends a loop which begins with `do` */
    int ntails;
    struct err *e;
};

static struct text_part part_of(const char *text, const char *from, const char *to)
{
    struct cursor c = {text, 1, 1};
    struct text_part part = {0};
    for (; c.p < to; c.p++) {
        if (c.p == from) part.line = c.line, part.column = c.column;
        c.column++;
        if (*c.p == '\n') c.line++, c.column = 1;
    }
    part.end_line = c.line, part.end_column = c.column;
    return part;
}

/* The end of the statement at p. */
static const char *statement_end(const char *p)
{
    p = scan_skip(p);
    if (*p == '{') {
        const char *close = scan_close(p);
        return close ? close + 1 : p + strlen(p);
    }
    if (is_word(p, "do")) {
        p = statement_end(p + 2);
        return statement_end(p); /* while (...); */
    }
    if (is_word(p, "for") || is_word(p, "while") || is_word(p, "if") || is_word(p, "switch")) {
        bool choice = is_word(p, "if");
        const char *open = p + strcspn(p, "("), *close = *open ? scan_close(open) : NULL;
        if (!close) return p + strlen(p);
        p = statement_end(close + 1);
        if (choice && is_word(scan_skip(p), "else")) p = statement_end(scan_skip(p) + 4);
        return p;
    }
    for (; *p && *p != ';' && *p != '}'; p++) {
        const char *close = strchr("([{", *p) ? scan_close(p) : p;
        if (!close) return p + strlen(p);
        p = close;
    }
    return *p == ';' ? p + 1 : p;
}

/* The part of the loop that begins with the word at p and is done in each round; NULL: it is not a loop. */
static const char *rounds_of(struct looping *l, const char *p, const char **end)
{
    for (int k = 0; k < l->ntails; k++)
        if (l->tail[k] == p) return NULL;
    if (is_word(p, "do")) {
        *end = statement_end(p);
        if (l->ntails < TAILS_MAX) l->tail[l->ntails++] = scan_skip(statement_end(p + 2));
        return p;
    }
    bool counted = is_word(p, "for");
    if (!counted && !is_word(p, "while")) return NULL;
    const char *open = scan_skip(p + (counted ? 3 : 5)), *close = *open == '(' ? scan_close(open) : NULL;
    if (!close) return NULL;
    *end = statement_end(close + 1);
    const char *semicolon = counted ? memchr(open, ';', (size_t)(close - open)) : NULL;
    return semicolon ? semicolon + 1 : open;
}

static bool add_loop(struct looping *l, const char *from, const char *to)
{
    if (l->a->nloops == l->room) {
        int room = l->room ? 2 * l->room : 16;
        struct text_part *more = mem_resize(l->a->loop, room, sizeof *more, "the loops of a kernel", l->e);
        if (!more) return false;
        l->a->loop = more, l->room = room;
    }
    l->a->loop[l->a->nloops++] = part_of(l->mask, from, to);
    return true;
}

static bool find_loops(struct apart *a, const char *mask, struct err *e)
{
    struct looping l = {.a = a, .mask = mask, .e = e};
    for (const char *p = mask, *end; *p; p++) {
        if (!scan_is_letter(*p) || (p > mask && scan_is_letter(p[-1]))) continue;
        const char *from = rounds_of(&l, p, &end);
        if (from && !add_loop(&l, from, end)) return false;
    }
    return true;
}

/* ---- the loop of each line ---- */

/* The position of the first closing bracket of each line, where the emulator sees an access; else where it begins, as
   does one that begins with a name. */
static void find_places(const struct apart *a, const struct macros *macros, const char *mask, struct text_part *place)
{
    struct cursor c = {mask, 1, 1};
    int k = 1;
    for (; *c.p; c.p++) {
        while (k < a->nlines && !text_part_has(&a->line[k], c.line, c.column) &&
               (a->line[k].end_line < c.line || (a->line[k].end_line == c.line && a->line[k].end_column <= c.column)))
            k++;
        bool begins = c.line == a->line[k].line && c.column == a->line[k].column && begins_name(macros, mask, c.p);
        if ((*c.p == ']' || begins) && !place[k].line) place[k].line = c.line, place[k].column = c.column;
        c.column++;
        if (*c.p == '\n') c.line++, c.column = 1;
    }
    for (k = 1; k <= a->nlines; k++)
        if (!place[k].line) place[k] = a->line[k];
}

static void find_depths(struct apart *a, const struct text_part *place)
{
    for (int k = 1; k <= a->nlines; k++) {
        a->loop_of[k] = -1;
        for (int l = 0; l < a->nloops; l++) {
            if (!text_part_has(&a->loop[l], place[k].line, place[k].column)) continue;
            a->loop_of[k] = l; /* inner loops come later */
            a->depth[k]++;
        }
    }
}

const struct text_part *apart_loop(const struct apart *a, int line, int depth)
{
    int inner = a->loop_of[line];
    for (int l = 0, around = 0; l < a->nloops && inner >= 0; l++) {
        if (!text_part_has(&a->loop[l], a->loop[inner].line, a->loop[inner].column)) continue;
        if (around++ == depth) return &a->loop[l];
    }
    return NULL;
}

/* ---- lines that access something, and functions ---- */

static void find_accesses(struct apart *a, const struct macros *macros, const char *mask)
{
    int k = 1;
    for (const char *p = mask; *p && k <= a->nlines; k++) {
        const char *end = p + strcspn(p, "\n");
        bool index = *p == '[' && memchr(p, ']', (size_t)(end - p));
        a->accesses[k] = index || *p == '*' || begins_name(macros, p, p);
        p = end + (*end == '\n');
    }
}

static void find_bodies(struct apart *a, const char *mask)
{
    int n = 0;
    for (const char *p = mask; n < FUNCTIONS_MAX && (p = scan_word(mask, p, "__global__")); p++) {
        const char *open = scan_parameters(p + strlen("__global__")), *close = open ? scan_close(open) : NULL;
        const char *begin = close ? scan_skip(close + 1) : NULL,
                   *end = begin && *begin == '{' ? scan_close(begin) : NULL;
        if (end) a->body[n++] = (struct apart_body){scan_line(mask, begin), scan_line(mask, end)};
    }
}

/* ---- all of it ---- */

static bool take_apart(struct apart *a, const struct macros *macros, const char *whole, const char *apart,
                       struct err *e)
{
    char *mask = source_blank(whole, e), *own = source_blank(a->text, e);
    a->nlines = count_lines(apart);
    int64_t n = a->nlines + 2;
    a->line = mem_zero(n, sizeof *a->line, "the lines of a kernel", e);
    a->written = mem_zero(n, sizeof *a->written, "the lines of a kernel", e);
    a->loop_of = mem_zero(n, sizeof *a->loop_of, "the lines of a kernel", e);
    a->depth = mem_zero(n, sizeof *a->depth, "the lines of a kernel", e);
    a->accesses = mem_zero(n, sizeof *a->accesses, "the lines of a kernel", e);
    struct text_part *place = mem_zero(n, sizeof *place, "the lines of a kernel", e);
    bool ok = mask && own && a->line && a->written && a->loop_of && a->depth && a->accesses && place &&
              find_lines(a, whole, apart, e) && find_loops(a, mask, e);
    if (ok) find_places(a, macros, mask, place);
    if (ok) find_depths(a, place);
    if (ok) find_accesses(a, macros, own);
    if (ok) find_bodies(a, own);
    mem_free(place);
    mem_free(mask);
    mem_free(own);
    return ok;
}

bool apart_new(struct apart *a, const struct source *s, const char *text, struct err *e)
{
    struct macros macros = {.n = 0};
    find_macros(text, &macros);
    *a = (struct apart){.text = one_per_line(text, &macros, e)};
    char *whole = s->dialect ? mem_str(text, e) : plain_to_dialect(text, e);
    char *apart = !a->text ? NULL : s->dialect ? mem_str(a->text, e) : plain_to_dialect(a->text, e);
    bool ok = whole && apart && take_apart(a, &macros, whole, apart, e);
    mem_free(whole);
    mem_free(apart);
    if (!ok) apart_free(a);
    return ok;
}

void apart_free(struct apart *a)
{
    mem_free(a->text);
    mem_free(a->line);
    mem_free(a->written);
    mem_free(a->loop);
    mem_free(a->loop_of);
    mem_free(a->depth);
    mem_free(a->accesses);
    *a = (struct apart){0};
}
