/* Writes the source of a built-in kernel as a file of its own, to start from: its functions and what they use, and
   either a line TRY with its grid and block, or its launch and its entry. */
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "formats/format.h"
#include "lab_private.h"
#include "lab_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CHUNKS_MAX = 400, NAMES_MAX = 24, NAME_SIZE = 64 };

/* A declaration at the top level of a file or of its namespace, or a directive. */
struct chunk {
    const char *from, *to; /* in the text, with the comments before it */
    const char *code;      /* in the mask, without them */
    const char *code_end;
    bool directive, in_space, needed;
    int nnames; /* what it declares */
    char name[NAMES_MAX][NAME_SIZE];
};
struct cut {
    char *mask;
    const char *text;
    int n;
    struct chunk chunk[CHUNKS_MAX];
};

const char *const lab_dialect_help =
    "The dialect is CUDA C with a few macros, so that nvcc compiles a file for the GPU and g++ compiles the same file\n"
    "for the emulator, which checks and counts each access. A file that includes \"gpu/dialect.h\" is compiled as it\n"
    "is; plain CUDA C needs none of this, because `try` puts the macros into a copy of it.\n"
    "    GPTR(const double) val       a pointer to global memory, as a parameter\n"
    "    val[k]; atomicAdd(y + row, v)   an element; its place is y + row, not &y[row]\n"
    "    template <typename T>        T is the type of x, y and the sums: float or double\n"
    "    template <typename T, typename U>   U is the type of the stored values; (T)val[k]\n"
    "    SHARED(T, part, 128);        an array in shared memory\n"
    "    SHARED_GIVEN(T, part, n);    one whose bytes come with the launch\n"
    "    WARP, FULL_MASK              32 lanes, and the mask of all of them\n"
    "    store(y, row, alpha, sum, beta);   y[row] = alpha sum + beta y[row]; y is not\n"
    "                                 read if beta is 0\n"
    "    UNROLL(4) for (...)          nvcc unrolls the loop, and the predicted time knows it\n"
    "    reconverge();                at the end of a loop in which lanes may skip all\n"
    "                                 accesses: where a GPU brings them together again\n"
    "    TRY(csr, blocks_for(rows, 128), 128);   the format, the blocks and the threads of a block;\n"
    "                                 a fourth number gives bytes of shared memory\n"
    "    blocks_for(n, 128)           enough blocks of 128 threads for n threads\n"
    "    namespace KERNEL_SPACE { }   around the kernels; needed only with KERNEL_ENTRY\n"
    "    KERNEL_ENTRY(name) = {...};  instead of TRY: an entry with launches of its own, which\n"
    "                                 `try new csr-merge` shows\n"
    "Shared memory that other lanes read needs __syncwarp or __syncthreads before. The mask of a shuffle or vote "
    "names\n"
    "exactly the lanes that execute it.\n"
    "    try new csr-vector; try new csr-merge as merge.cu\n";

/* ---- chunks ---- */

static void add_name(struct chunk *c, const char *from, const char *to)
{
    if (c->nnames == NAMES_MAX || to <= from) return;
    snprintf(c->name[c->nnames++], NAME_SIZE, "%.*s", (int)(to - from), from);
}

static const char *word_end(const char *p)
{
    while (scan_is_letter(*p)) p++;
    return p;
}

static bool begins(const char *p, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(p, word, n) && !scan_is_letter(p[n]);
}

/* What comes after "template <...>". */
static const char *after_template(const char *p)
{
    while (begins(p, "template")) {
        const char *open = scan_skip(p + 8), *close = *open == '<' ? scan_close(open) : NULL;
        if (!close) break;
        p = scan_skip(close + 1);
    }
    return p;
}

/* All names in an enum; the name of a struct or alias; otherwise the name before ( or, for a variable, before [ = ; */
static void find_names(struct chunk *c)
{
    const char *p = after_template(c->code), *end = c->code_end;
    if (begins(p, "KERNEL_ENTRY") || begins(p, "INSTANTIATE")) return;
    if (begins(p, "enum")) {
        for (p = word_end(p); p < end; p++)
            if (scan_is_letter(*p) && !scan_is_letter(p[-1]) && !isdigit((unsigned char)*p))
                add_name(c, p, word_end(p));
        return;
    }
    static const char *const named[] = {"struct", "using", "union", "class"};
    for (int i = 0; i < COUNT(named); i++)
        if (begins(p, named[i])) {
            const char *name = scan_skip(word_end(p)), *stop = word_end(name);
            while (*scan_skip(stop) != 0 && scan_is_letter(*scan_skip(stop))) { /* struct alignas(16) x */
                name = scan_skip(stop);
                stop = word_end(name);
            }
            add_name(c, name, stop);
            return;
        }
    const char *stop = scan_parameters(p);
    if (!stop || stop > end) stop = p;
    while (stop < end && !strchr("([={;", *stop)) stop++;
    while (stop > p && isspace((unsigned char)stop[-1])) stop--;
    const char *name = stop;
    while (name > p && scan_is_letter(name[-1])) name--;
    add_name(c, name, stop);
}

static struct chunk *new_chunk(struct cut *x, const char *from, const char *to, const char *code)
{
    if (x->n == CHUNKS_MAX) return NULL;
    struct chunk *c = &x->chunk[x->n++];
    *c = (struct chunk){
        .from = x->text + (from - x->mask), .to = x->text + (to - x->mask), .code = code, .code_end = to};
    return c;
}

/* The end of the declaration that begins at p. */
static const char *declaration_end(const char *p)
{
    bool call = false;
    for (; *p; p++) {
        const char *close = strchr("([{", *p) ? scan_close(p) : NULL;
        if (*p == ';') return p + 1;
        if (!close) continue;
        call |= *p == '(';
        bool body = *p == '{';
        p = close;
        const char *next = scan_skip(p + 1);
        if (body && *next == ';') return next + 1;
        if (body && call) return p + 1;
    }
    return p;
}

/* Directives stand alone; a comment belongs to what follows. `from` is where the last chunk ended. */
static const char *cut_directives(struct cut *x, const char *from, const char *to, bool in_space)
{
    const char *text = x->text + (from - x->mask), *end = x->text + (to - x->mask);
    for (const char *p = text; p < end;) {
        const char *line = p + strcspn(p, "\n"), *first = p + strspn(p, " \t");
        const char *stop = line < end ? line + 1 : end;
        bool is_directive = *first == '#' && x->mask[first - x->text] == ' ';
        if (is_directive)
            while (stop > p + 1 && stop < end && stop[-2] == '\\') {
                const char *more = stop + strcspn(stop, "\n");
                stop = more < end ? more + 1 : end;
            }
        if (is_directive) {
            struct chunk *c = new_chunk(x, x->mask + (p - x->text), x->mask + (stop - x->text), to);
            if (!c) return NULL;
            c->directive = true;
            c->in_space = in_space;
            from = x->mask + (stop - x->text);
        }
        p = stop;
    }
    return from;
}

static bool cut_file(struct cut *x)
{
    bool in_space = false;
    const char *from = x->mask;
    for (const char *p = scan_skip(from);; p = scan_skip(from)) {
        from = cut_directives(x, from, p, in_space);
        if (!from) return false;
        if (!*p) return true;
        if (begins(p, "namespace")) {
            from = strchr(p, '{') + 1;
            in_space = true;
        } else if (*p == '}') {
            from = p + 1;
            in_space = false;
        } else if (begins(p, "using") && begins(scan_skip(p + 5), "namespace"))
            from = strchr(p, ';') + 1;
        else {
            const char *end = declaration_end(p);
            struct chunk *c = new_chunk(x, from, end, p);
            if (!c) return false;
            c->in_space = in_space;
            find_names(c);
            from = end;
        }
    }
}

/* ---- what is needed ---- */

static bool mentions(const char *from, const char *to, const char *name)
{
    const char *at = scan_word(from, from, name);
    return at && at < to;
}

static void need_in(struct cut *x, const char *from, const char *to)
{
    for (int i = 0; i < x->n; i++) {
        struct chunk *c = &x->chunk[i];
        for (int k = 0; k < c->nnames && !c->needed; k++)
            if (mentions(from, to, c->name[k])) {
                c->needed = true;
                need_in(x, c->code, c->code_end);
            }
    }
}

/* ---- a launch as a line TRY ---- */

static struct chunk *chunk_named(struct cut *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (!x->chunk[i].directive && x->chunk[i].nnames == 1 && !strcmp(x->chunk[i].name[0], name))
            return &x->chunk[i];
    return NULL;
}

/* The body of a function: from after its { to its }. */
static const char *body_of(const struct chunk *c, const char **end)
{
    const char *open = scan_parameters(after_template(c->code)), *close = open ? scan_close(open) : NULL;
    const char *brace = close ? strchr(close, '{') : NULL;
    *end = brace && brace < c->code_end ? scan_close(brace) : NULL;
    return *end ? brace + 1 : NULL;
}

struct macro {
    char name[NAME_SIZE], value[200];
};

/* Replace whole words in `text`. */
static void expand(char *text, size_t size, const struct macro *m, int n)
{
    char out[200];
    size_t k = 0;
    for (const char *p = text; *p && k < sizeof out - 1;) {
        const char *end = word_end(p);
        if (end == p || isdigit((unsigned char)*p)) {
            out[k++] = *p++;
            continue;
        }
        int i = 0;
        while (i < n && (strlen(m[i].name) != (size_t)(end - p) || strncmp(m[i].name, p, (size_t)(end - p)))) i++;
        k += (size_t)snprintf(out + k, sizeof out - k, "%.*s", i < n ? (int)strlen(m[i].value) : (int)(end - p),
                              i < n ? m[i].value : p);
        if (k >= sizeof out) return; /* too long to be a line TRY */
        p = end;
    }
    out[k] = 0;
    snprintf(text, size, "%s", out);
}

/* "L->A->of->rows", "S->rows" become "rows". */
static void shorten(char *text)
{
    static const char *const prefixes[] = {"L->A->of->", "S->"};
    for (int i = 0; i < COUNT(prefixes); i++)
        for (char *p; (p = strstr(text, prefixes[i]));)
            memmove(p, p + strlen(prefixes[i]), strlen(p + strlen(prefixes[i])) + 1);
}

/* Does nothing happen before the launch? */
static bool only_declares(const char *from, const char *to)
{
    static const char declaration[] = "const struct stored *S = L->A->of;";
    from = scan_skip(from);
    if (!strncmp(from, declaration, strlen(declaration))) from = scan_skip(from + strlen(declaration));
    return from >= to;
}

/* The pieces of LAUNCH(device, grid, block, kernel)(...) in a body, if it is the only launch there. */
struct launch_text {
    char grid[200], block[200], kernel[200];
};
static bool read_launch(const char *from, const char *to, struct launch_text *l)
{
    const char *at = scan_word(from, from, "LAUNCH"), *open = at && at < to ? strchr(at, '(') : NULL;
    const char *close = open ? scan_close(open) : NULL;
    if (!close || mentions(close, to, "LAUNCH") || !only_declares(from, at)) return false;
    char *const part[] = {NULL, l->grid, l->block, l->kernel};
    const char *p = open + 1;
    for (int i = 0; i < COUNT(part); i++) {
        const char *comma = i == 3 ? close : scan_comma(p, close);
        if (part[i]) scan_copy(p, comma, part[i], sizeof l->grid);
        if (p > close) return false;
        p = comma + 1;
    }
    return true;
}

/* A body "return helper<...>(arguments);" is that of the helper, with its parameters replaced. */
static int inline_helper(struct cut *x, const char **from, const char **to, struct macro *m, int most)
{
    const char *p = scan_skip(*from);
    char name[NAME_SIZE];
    if (!begins(p, "return")) return 0;
    p = scan_skip(p + 6);
    scan_copy(p, word_end(p), name, sizeof name);
    struct chunk *helper = chunk_named(x, name);
    const char *open = strchr(p, '('), *close = open ? scan_close(open) : NULL;
    if (!helper || !close || *scan_skip(close + 1) != ';') return 0;
    const char *q = scan_parameters(after_template(helper->code)), *q_end = q ? scan_close(q) : NULL;
    int n = 0;
    for (p = open + 1, q = q ? q + 1 : NULL; q_end && q < q_end && n < most; n++) {
        const char *comma = scan_comma(p, close), *end = scan_comma(q, q_end), *name_end = end;
        while (name_end > q && isspace((unsigned char)name_end[-1])) name_end--;
        const char *begin = name_end;
        while (begin > q && scan_is_letter(begin[-1])) begin--;
        scan_copy(begin, name_end, m[n].name, sizeof m[n].name);
        scan_copy(p, comma, m[n].value, sizeof m[n].value);
        p = comma + 1, q = end + 1;
    }
    *from = body_of(helper, to);
    return *from ? n : -1;
}

/* Is there nothing in an expression but numbers, operators, rows, cols, nnz, blocks_for, WARP and constants of the
   file? */
static bool is_plain(struct cut *x, const char *text)
{
    static const char *const known[] = {"rows", "cols", "nnz", "blocks_for", "WARP", "int", "int64_t"};
    for (const char *p = text; *p;) {
        const char *end = word_end(p);
        char word[NAME_SIZE];
        if (end == p || isdigit((unsigned char)*p)) {
            p = end > p ? end : p + 1;
            continue;
        }
        scan_copy(p, end, word, sizeof word);
        bool ok = false;
        for (int i = 0; i < COUNT(known); i++) ok |= !strcmp(word, known[i]);
        for (int i = 0; i < x->n && !ok; i++)
            for (int k = 0; k < x->chunk[i].nnames && !ok; k++)
                ok = begins(x->chunk[i].code, "enum") && !strcmp(x->chunk[i].name[k], word);
        if (!ok) return false;
        p = end;
    }
    return true;
}

/* Does the entry say only what the line TRY also says? */
static bool entry_is_simple(const struct cut *x, const struct chunk *entry)
{
    static const char *const more[] = {"fits",  "scratch",   "prepare",       "release", "together", "shares",
                                       "reads", "host_part", "skips_padding", "param",   "REALS" /* of .sums */};
    for (int i = 0; i < COUNT(more); i++)
        if (mentions(entry->code, entry->code_end, more[i])) return false;
    return true;
}

/* The name in VALUE_TYPES(name). */
static bool launch_function(const struct chunk *entry, char *out, size_t size)
{
    const char *at = scan_word(entry->code, entry->code, "VALUE_TYPES"), *open = at ? strchr(at, '(') : NULL;
    if (!open || at > entry->code_end) return false;
    scan_copy(open + 1, scan_close(open), out, size);
    return true;
}

/* Find the kernel's function, its grid and its block; false: its launch is more than that. */
static bool reduce(struct cut *x, const struct chunk *entry, const struct kernel *k, struct launch_text *l)
{
    struct macro m[8];
    char name[NAME_SIZE];
    const char *from, *to;
    struct source s;
    struct err why = {0};
    if (!entry_is_simple(x, entry) || !launch_function(entry, name, sizeof name)) return false;
    struct chunk *go = chunk_named(x, name);
    if (!go || !(from = body_of(go, &to))) return false;
    int n = inline_helper(x, &from, &to, m, COUNT(m));
    if (n < 0 || !read_launch(from, to, l)) return false;
    char *const part[] = {l->grid, l->block, l->kernel};
    for (int i = 0; i < COUNT(part); i++) {
        expand(part[i], sizeof l->grid, m, n);
        shorten(part[i]);
    }
    if (!strncmp(l->kernel, "KERNEL(", 7)) memmove(l->kernel, l->kernel + 7, strlen(l->kernel + 7) + 1);
    l->kernel[strcspn(l->kernel, "<()")] = 0;
    struct chunk *c = chunk_named(x, l->kernel);
    if (!c || !is_plain(x, l->grid) || !is_plain(x, l->block)) return false;
    char *text = mem_new(c->code_end - c->code + 1, 1, "a kernel", NULL);
    if (!text) return false;
    sprintf(text, "%.*s", (int)(c->code_end - c->code), c->code);
    bool ok = source_read(&s, text, k->name, &why) && source_choose(&s, k->name, NULL, k->format->name, &why);
    mem_free(text);
    return ok;
}

/* ---- the file ---- */

static bool is_conditional(const struct chunk *c, const char *what)
{
    const char *p = c->from + strspn(c->from, " \t");
    return c->directive && *p == '#' && begins(scan_skip(p + 1), what);
}

/* Conditions with nothing between them are left out. */
static void drop_conditions(struct cut *x)
{
    int open[64], depth = 0;
    for (int i = 0; i < x->n; i++) {
        struct chunk *c = &x->chunk[i];
        if (!c->directive) continue;
        c->needed = true;
        if ((is_conditional(c, "if") || is_conditional(c, "ifdef") || is_conditional(c, "ifndef")) && depth < 64)
            open[depth++] = i;
        if (!is_conditional(c, "endif") || !depth) continue;
        int first = open[--depth];
        bool any = false;
        for (int k = first + 1; k < i; k++) any |= x->chunk[k].needed && !is_conditional(&x->chunk[k], "else");
        for (int k = first; k <= i && !any; k++) x->chunk[k].needed = false;
    }
}

/* The text of an #include, such as "vec.h"; empty: another directive. */
static void included(const struct chunk *c, char *out, size_t size)
{
    *out = 0;
    if (!is_conditional(c, "include")) return;
    const char *p = strstr(c->from, "include") + 7;
    p += strspn(p, " \t");
    snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
}

static bool text_mentions(const struct cut *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (x->chunk[i].needed && !x->chunk[i].directive && mentions(x->chunk[i].code, x->chunk[i].code_end, name))
            return true;
    return false;
}

/* Does the text use what one of our headers declares? */
static bool uses_header(const struct cut *x, const char *name)
{
    const char *file;
    bool uses = false, known = false;
    struct cut *h = mem_new(1, sizeof *h, "the source of a header", NULL);
    for (int i = 0; h && !known && kernel_source(i, &file); i++) {
        size_t n = strlen(file);
        if (strncmp(name + 1, file, n) || name[1 + n] != '"') continue;
        known = true;
        *h = (struct cut){.text = kernel_source(i, &file)};
        if (!(h->mask = source_blank(h->text, NULL))) break;
        uses = !cut_file(h);
        for (int k = 0; k < h->n && !uses; k++)
            for (int j = 0; j < h->chunk[k].nnames && !uses; j++) uses = text_mentions(x, h->chunk[k].name[j]);
        mem_free(h->mask);
    }
    mem_free(h);
    return uses || !known;
}

/* A launch that is written by TRY does not need what the launch in the source needed. */
static void drop_headers(struct cut *x)
{
    char name[100];
    for (int i = 0; i < x->n; i++) {
        struct chunk *c = &x->chunk[i];
        included(c, name, sizeof name);
        if (*name == '<') c->needed = text_mentions(x, "std");
        if (!strncmp(name, "\"formats/", 9))
            c->needed = false;
        else if (*name == '"')
            c->needed = uses_header(x, name);
    }
}

static void write_chunk(FILE *out, const struct chunk *c)
{
    const char *from = c->from;
    while (from < c->to && isspace((unsigned char)*from)) from++;
    fprintf(out, "%.*s%s", (int)(c->to - from), from, c->directive ? "" : "\n\n");
}

static void write_chunks(FILE *out, const struct cut *x, const struct chunk *entry)
{
    bool in_space = false;
    for (int i = 0; i < x->n; i++) {
        const struct chunk *c = &x->chunk[i];
        if (!c->needed || c == entry) continue;
        if (c->in_space != in_space && !c->directive) {
            fputs(in_space ? "} // namespace KERNEL_SPACE\n\n" : "\nnamespace KERNEL_SPACE\n{\n\n", out);
            in_space = !in_space;
        }
        write_chunk(out, c);
    }
    if (in_space) fputs("} // namespace KERNEL_SPACE\n", out);
}

static bool write_file(FILE *out, struct cut *x, struct chunk *entry, const struct kernel *k)
{
    struct launch_text l;
    bool reduced = reduce(x, entry, k, &l);
    if (reduced) {
        struct chunk *c = chunk_named(x, l.kernel);
        c->needed = true;
        need_in(x, c->code, c->code_end);
        need_in(x, l.grid, l.grid + strlen(l.grid));
        need_in(x, l.block, l.block + strlen(l.block));
    } else
        need_in(x, entry->code, entry->code_end);
    drop_conditions(x);
    if (reduced) drop_headers(x);
    fprintf(out, "/* %s: %s.\n   `try` compiles this file and compares it with the built-in kernels of %s. */\n",
            k->name, k->work, k->format->name);
    fputs("#include \"gpu/dialect.h\"\n", out);
    write_chunks(out, x, entry);
    if (reduced)
        fprintf(out, "\n/* The format, the number of blocks, and the threads of a block. */\nTRY(%s, %s, %s);\n",
                k->format->name, l.grid, l.block);
    else {
        fputs("\nusing namespace KERNEL_SPACE;\n\n", out);
        write_chunk(out, entry);
    }
    return !ferror(out);
}

/* The chunk KERNEL_ENTRY(...) of the kernel called `name`. */
static struct chunk *find_entry(struct cut *x, const char *name)
{
    for (int i = 0; i < x->n; i++) {
        struct chunk *c = &x->chunk[i];
        if (c->directive || !begins(c->code, "KERNEL_ENTRY")) continue;
        const char *at = scan_word(c->code, c->code, "name");
        if (!at || at > c->code_end) continue;
        const char *quote = strchr(x->text + (at - x->mask), '"');
        size_t n = strlen(name);
        if (quote && !strncmp(quote + 1, name, n) && quote[1 + n] == '"') return c;
    }
    return NULL;
}

static char *export_from(struct cut *x, struct chunk *entry, const struct kernel *k, struct err *e)
{
    struct memfile m;
    if (!memfile_open(&m, e)) return NULL;
    bool ok = write_file(m.file, x, entry, k);
    ok = memfile_close(&m, ok, e);
    char *out = ok ? mem_str(m.text, e) : NULL;
    memfile_free(&m);
    return out;
}

char *lab_export(const struct kernel *k, struct err *e)
{
    const char *file;
    char *out = NULL;
    bool found = false;
    if (k->host || k->vendor || k->remote)
        return fail(e, E_UNSUPPORTED, "%s is not a kernel for a GPU that is built in; `kernels` lists them", k->name),
               NULL;
    struct cut *x = mem_new(1, sizeof *x, "the source of a kernel", e);
    for (int i = 0; x && !found && kernel_source(i, &file); i++) {
        *x = (struct cut){.text = kernel_source(i, &file)};
        if (strncmp(file, "k_", 2) || !(x->mask = source_blank(x->text, e))) continue;
        struct chunk *entry = cut_file(x) ? find_entry(x, k->name) : NULL;
        found = entry != NULL;
        if (entry) out = export_from(x, entry, k, e);
        mem_free(x->mask);
    }
    mem_free(x);
    if (!found) fail(e, E_INTERNAL, "the source of %s was not found", k->name);
    return out;
}
