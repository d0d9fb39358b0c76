/* Reads the listing that `nvdisasm -gi -c` prints: sections with labels, instructions, and the source lines before
 * them. */
#include "sass.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "sass_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MAX = 100 };

struct label {
    const char *name;
    int length, instruction;
};

/* While a listing is read. Places are collected from marks before an instruction, innermost first. */
struct reading {
    struct sass *s;
    bool (*is_source)(const char *file);
    char *pool; /* where the next text goes */
    const char *file;
    int line;
    bool marks, decided; /* the lines before this one were marks; one of them names a source of the kernel */
    struct label *label;
    int nlabels;
    struct sass_targets targets;
};

/* ---- lines ---- */

static char *keep(struct reading *r, const char *text, size_t n)
{
    char *at = r->pool;
    memcpy(at, text, n);
    at[n] = 0;
    r->pool += n + 1;
    return at;
}

/* `//## File "/src/gpu/kernels/csr_rows.h", line 36 inlined at "/src/gpu/kernels/k_csr.cu", line 46`: a mark for each
   frame of inlined functions. */
static void read_mark(struct reading *r, const char *p, const char *end)
{
    const char *quote = memchr(p, '"', (size_t)(end - p)), *close, *name;
    if (!quote || !(close = memchr(quote + 1, '"', (size_t)(end - quote - 1)))) return;
    for (name = close; name > quote + 1 && name[-1] != '/'; name--) {
    }
    const char *line = close + strspn(close, "\", ");
    if (!r->marks) r->decided = false;
    r->marks = true;
    if (strncmp(line, "line ", 5) || r->decided) return;
    size_t n = (size_t)(close - name);
    char *file = r->file && strlen(r->file) == n && !strncmp(r->file, name, n) ? (char *)r->file : keep(r, name, n);
    r->file = file;
    r->line = atoi(line + 5);
    r->decided = !r->is_source || r->is_source(file);
}

/* The words of "@P0 LDG.E.64 R2, desc[UR4][R2.64]". Blanks before the ";" and control information are left out. */
static void read_instruction(struct reading *r, int address, const char *p, const char *end)
{
    struct sass_instruction *i = &r->s->at[r->s->n++];
    while (end > p && isspace((unsigned char)end[-1])) end--;
    *i = (struct sass_instruction){.address = address, .file = r->line ? r->file : NULL, .line = r->line, .target = -1};
    i->text = keep(r, p, (size_t)(end - p));
    p = i->text;
    size_t n = *p == '@' ? strcspn(p, " ") : 0;
    i->predicate = keep(r, p, n);
    p += n + strspn(p + n, " ");
    n = strcspn(p, " .");
    i->opcode = keep(r, p, n);
    p += n;
    n = strcspn(p, " ");
    i->modifiers = keep(r, p, n);
    i->operands = keep(r, p + n + strspn(p + n, " "), strlen(p + n + strspn(p + n, " ")));
    r->marks = false;
    sass_decode(i);
}

static void read_code(struct reading *r, const char *p, const char *end)
{
    char *rest;
    long address = strtol(p + 2, &rest, 16);
    if (strncmp(rest, "*/", 2)) return;
    for (p = rest + 2; p < end && isspace((unsigned char)*p);) p++;
    const char *close = memchr(p, ';', (size_t)(end - p));
    if (close) read_instruction(r, (int)address, p, close);
}

static void read_line(struct reading *r, const char *p, const char *end)
{
    const char *first = p;
    while (p < end && isspace((unsigned char)*p)) p++;
    if (end - p > 4 && !strncmp(p, "//##", 4))
        read_mark(r, p, end);
    else if (end - p > 4 && !strncmp(p, "/*", 2))
        read_code(r, p, end);
    else if (p == first && end > p + 1 && end[-1] == ':')
        r->label[r->nlabels++] = (struct label){p, (int)(end - 1 - p), r->s->n};
}

/* ---- branches ---- */

static int find_label(const struct reading *r, const char *name, size_t n)
{
    for (int k = 0; k < r->nlabels; k++)
        if ((size_t)r->label[k].length == n && !strncmp(r->label[k].name, name, n)) return r->label[k].instruction;
    return -1;
}

/* "BRA `(.L_x_4)", "BRX R2 -0x300 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)" */
static void read_targets(struct reading *r, int instruction)
{
    struct sass_instruction *i = &r->s->at[instruction];
    if (!sass_is(i, "BRA BRX JMP JMX CALL")) return;
    for (const char *p = i->operands; (p = strpbrk(p, ".$_")); p += strcspn(p, " ,)\"")) {
        int to = find_label(r, p, strcspn(p, " ,)\""));
        if (to < 0 || to >= r->s->n) continue;
        r->targets.at[r->targets.n][0] = instruction;
        r->targets.at[r->targets.n++][1] = to;
        if (i->target < 0) i->target = to;
    }
}

/* ---- the listing ---- */

/* The text of the section ".text.SYMBOL"; *end: behind it. */
static const char *find_section(const char *text, const char *symbol, const char **end)
{
    static const char mark[] = "//--------------------- .text.";
    size_t n = symbol ? strlen(symbol) : 0;
    for (const char *p = strstr(text, mark); p; p = strstr(p + 1, mark)) {
        const char *name = p + sizeof mark - 1;
        if (symbol && (strncmp(name, symbol, n) || name[n] != ' ')) continue;
        const char *next = strstr(p + 1, "//--------------------- .");
        *end = next ? next : p + strlen(p);
        return p;
    }
    return NULL;
}

static void read_architecture(struct sass *s, const char *text)
{
    const char *p = strstr(text, ".target");
    if (!p) return;
    p += 7 + strspn(p + 7, " \t");
    size_t n = strcspn(p, " \t\r\n,");
    if (n < sizeof s->architecture) memcpy(s->architecture, p, n);
}

static bool read_lines(struct reading *r, const char *p, const char *end, struct watch *w, struct err *e)
{
    for (int64_t k = 0; p < end; k++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        read_line(r, p, next ? next : end);
        if (k % 256 == 0 && !watch_tick(w, "reading machine code", 0, 0, e)) return false;
        p = next ? next + 1 : end;
    }
    return true;
}

/* Those at the end only fill the function's last cache line. */
static void drop_filling(struct sass *s)
{
    while (s->n > 0 && sass_is(&s->at[s->n - 1], "NOP")) s->n--;
}

static int count_of(const char *p, const char *end, char what)
{
    int n = 0;
    for (; (p = memchr(p, what, (size_t)(end - p))); p++) n++;
    return n;
}

static bool read_section(struct reading *r, const char *p, const char *end, struct watch *w, struct err *e)
{
    struct sass *s = r->s;
    int lines = count_of(p, end, '\n') + 1, marks = count_of(p, end, '.') + count_of(p, end, '$');
    s->at = mem_zero(lines, sizeof *s->at, "machine code", e);
    s->pool = mem_new(3 * (int64_t)(end - p) + 8 * (int64_t)lines, 1, "machine code", e);
    r->pool = s->pool;
    r->label = mem_new(lines, sizeof *r->label, "machine code", e);
    r->targets.at = mem_new(marks + 1, sizeof *r->targets.at, "machine code", e);
    if (!s->at || !s->pool || !r->label || !r->targets.at || !read_lines(r, p, end, w, e)) return false;
    drop_filling(s);
    if (s->n == 0) return fail(e, E_INPUT, "the listing of the machine code has no instructions");
    for (int i = 0; i < s->n; i++) read_targets(r, i);
    return sass_find_loops(s, &r->targets, e) && sass_find_live(s, &r->targets, e) &&
           sass_find_parameters(s, &r->targets, e) && sass_find_facts(s, e);
}

bool sass_read(struct sass *s, const char *text, const char *symbol, bool (*is_source)(const char *file),
               struct watch *w, struct err *e)
{
    struct reading r = {.s = s, .is_source = is_source};
    const char *end, *p = find_section(text, symbol, &end);
    *s = (struct sass){.hot = -1};
    if (!p) return fail(e, E_USAGE, "the machine code has no function %s", symbol ? symbol : "at all");
    read_architecture(s, text);
    bool ok = read_section(&r, p, end, w, e);
    mem_free(r.label);
    mem_free(r.targets.at);
    if (!ok) sass_free(s);
    return ok;
}

void sass_free(struct sass *s)
{
    mem_free(s->at);
    mem_free(s->block);
    mem_free(s->loop);
    mem_free(s->source);
    mem_free(s->pool);
    *s = (struct sass){.hot = -1};
}
