/* The text file of a puzzle. The first byte of a line, or its first word, gives its kind:

     %            a comment; the first one has the place in the list and what the list shows: "% 2 coalesced loads"
     #            the title
     > gen ...    the matrix: a generator with its parameters, and perhaps `seed N`
     format NAME  the format that the kernel reads; csr if there is no such line
     goal ...     "goal sectors <= 5000", "goal lanes >= 28", "goal time < csr-vector": see puzzle_goal.c. That the
                  result is right and that no race is found is always required
     kernel       the following lines, up to a line `end`, are the file that the user gets
     solution     likewise a file that reaches all goals
     ~            a hint; lines that follow one another are one hint, an empty line separates hints

   All other lines are prose. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/numeral.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/words.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/run_lines.h"
#include "lesson_sheet.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "puzzle.h"
#include "session/command.h"
#include "session/lesson_files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct puzzle *p;
    char *code; /* the text that lines are added to; NULL: not in a kernel or solution */
    bool in_hint;
};

static bool append(char *text, size_t size, const char *line, char end, struct err *e)
{
    size_t n = strlen(text), more = strlen(line);
    if (n + more + 2 > size) return fail(e, E_LIMIT, "this part is too long: at most %zu bytes", size - 1);
    memcpy(text + n, line, more);
    text[n + more] = end;
    text[n + more + 1] = 0;
    return true;
}

static const char *after_word(const char *line)
{
    line += strcspn(line, " ");
    return line + strspn(line, " ");
}

/* ---- lines ---- */

static bool take_comment(struct reading *r, const char *line, struct err *e)
{
    char *end;
    if (*r->p->about) return true;
    line += strspn(line, "% ");
    long place = isdigit((unsigned char)*line) ? strtol(line, &end, 10) : 0;
    if (place > 0 && place < PUZZLES_MAX && *end == ' ') r->p->place = (int)place, line = end + 1;
    snprintf(r->p->about, sizeof r->p->about, "%s", line);
    return true;
}

static bool take_title(struct reading *r, const char *line, struct err *e)
{
    if (!*r->p->title) snprintf(r->p->title, sizeof r->p->title, "%s", line + strspn(line, "# "));
    return true;
}

static bool take_hint(struct reading *r, const char *line, struct err *e)
{
    struct puzzle *p = r->p;
    if (!r->in_hint && p->nhints == HINTS_MAX) return fail(e, E_LIMIT, "more than %d hints", +HINTS_MAX);
    if (!r->in_hint) p->nhints++;
    r->in_hint = true;
    line++;
    return append(p->hint[p->nhints - 1], HINT_BYTES, line + (*line == ' '), '\n', e);
}

/* The value `word` of the parameter `name`, or of the next one if name is NULL. */
static bool take_parameter(struct puzzle *p, const char *name, const char *word, int *next, struct err *e)
{
    int64_t v;
    if (!is_integer(word, &v)) return fail(e, E_INPUT, "`%.40s` is not an integer", word);
    if (name && !strcmp(name, "seed")) return p->seed = v, true;
    int i = name ? param_index(p->generator->params, name) : (*next)++;
    if (i < 0 || i >= PARAMS_MAX || !p->generator->params[i].name)
        return fail(e, E_INPUT, "%s has no parameter %.40s", p->generator->name, name ? name : word);
    p->param[i] = v;
    return true;
}

/* "> gen random 4096 16 seed 7" */
static bool take_matrix(struct reading *r, const char *line, struct err *e)
{
    struct puzzle *p = r->p;
    char text[sizeof p->matrix], *save, *name = NULL;
    line += 1 + strspn(line + 1, " ");
    if (strncmp(line, "gen ", 4)) return fail(e, E_INPUT, "the line makes no matrix: write `> gen GENERATOR ...`");
    line = after_word(line);
    if (strlen(line) >= sizeof text) return fail(e, E_LIMIT, "the line of the matrix is too long");
    strcpy(p->matrix, line);
    strcpy(text, line);
    char *word = strtok_r(text, " ", &save);
    p->generator = word ? generator_find(word) : NULL;
    if (!p->generator) return fail(e, E_INPUT, "`%.40s` is not a generator; `help gen` lists them", word ? word : "");
    for (int i = 0; i < PARAMS_MAX && p->generator->params[i].name; i++)
        p->param[i] = p->generator->params[i].default_value;
    p->seed = 1;
    int next = 0;
    while ((word = strtok_r(NULL, " ", &save))) {
        if (!name && isalpha((unsigned char)*word)) {
            name = word;
            continue;
        }
        if (!take_parameter(p, name, word, &next, e)) return false;
        name = NULL;
    }
    return gen_params(p->generator, p->param, e);
}

static bool take_format(struct reading *r, const char *line, struct err *e)
{
    r->p->format = format_find(after_word(line));
    return r->p->format || fail(e, E_INPUT, "`%.40s` is not a format; `formats` lists them", after_word(line));
}

/* "goal sectors <= 5000" */
static bool take_goal(struct reading *r, const char *line, struct err *e)
{
    struct puzzle *p = r->p;
    char name[32] = "", sign[4] = "", limit[48] = "", rest[2], names[200];
    if (p->ngoals == GOALS_MAX) return fail(e, E_LIMIT, "more than %d goals", +GOALS_MAX);
    struct goal *g = &p->goal[p->ngoals];
    if (sscanf(line, "goal %31s %3s %47s %1s", name, sign, limit, rest) != 3)
        return fail(e, E_INPUT, "the goal is incomplete: write `goal QUANTITY <= N`");
    g->of = goal_quantity_find(name);
    if (!g->of) return goal_quantity_names(names, sizeof names), fail(e, E_INPUT, "`%s` is not one of %s", name, names);
    g->than = !strcmp(sign, "<") ? kernel_find(limit) : NULL;
    if (g->than && strcmp(name, "time")) return fail(e, E_INPUT, "only `goal time` can be compared with a kernel");
    if (!g->than && (strcmp(sign, g->of->least ? ">=" : "<=") || !is_real(limit, &g->limit)))
        return fail(e, E_INPUT, "the goal has a wrong sign or number: write `goal %s %s NUMBER`", name,
                    g->of->least ? ">=" : "<=");
    p->ngoals++;
    return true;
}

static bool take_code(struct reading *r, const char *line, struct err *e)
{
    r->code = *line == 'k' ? r->p->kernel : r->p->solution;
    return !*r->code || fail(e, E_INPUT, "the file has a second `%.20s`", line);
}

static const struct {
    const char *begin;
    bool whole; /* the line has no more than this word */
    bool (*take)(struct reading *r, const char *line, struct err *e);
} kinds[] = {
    {"%", false, take_comment},  {"#", false, take_title},        {"~", false, take_hint},
    {">", false, take_matrix},   {"format ", false, take_format}, {"goal ", false, take_goal},
    {"kernel", true, take_code}, {"solution", true, take_code},
};

static bool take_line(struct reading *r, const char *line, struct err *e)
{
    if (r->code) {
        if (strcmp(line, "end")) return append(r->code, CODE_BYTES, line, '\n', e);
        return r->code = NULL, true;
    }
    for (int i = 0; i < COUNT(kinds); i++) {
        if (kinds[i].whole ? strcmp(line, kinds[i].begin) : strncmp(line, kinds[i].begin, strlen(kinds[i].begin)))
            continue;
        if (kinds[i].take != take_hint) r->in_hint = false;
        return kinds[i].take(r, line, e);
    }
    r->in_hint = false;
    size_t n = strlen(r->p->prose);
    bool blank = !*line && (!n || (n > 1 && r->p->prose[n - 2] == '\n')); /* one empty line between paragraphs */
    return blank || append(r->p->prose, PROSE_BYTES, line, '\n', e);
}

/* ---- the file ---- */

static bool is_whole(struct reading *r, struct err *e)
{
    const struct puzzle *p = r->p;
    const char *missing = !*p->title      ? "a title, `# ...`"
                          : !p->generator ? "a matrix, `> gen ...`"
                          : !*p->kernel   ? "the kernel"
                          : !*p->solution ? "the solution"
                                          : NULL;
    if (r->code) return fail(e, E_INPUT, "the line `end` of the kernel or solution is missing");
    return !missing || fail(e, E_INPUT, "the puzzle lacks %s", missing);
}

static bool read_lines(struct reading *r, FILE *f, const char *path, struct err *e)
{
    char line[LINE_LIMIT + 2], where[PATH_MAX + 24];
    struct err why = {0};
    enum got got;
    int64_t n = 0;
    while ((got = line_next(f, line, &why)) == GOT_LINE && ++n && take_line(r, line, &why)) continue;
    bool ok = got == GOT_END && is_whole(r, &why);
    snprintf(where, sizeof where, "%s:%lld", path, (long long)n);
    return ok || fail_at(e, why.code, where, "%s", why.text);
}

bool puzzle_read(const char *name, const char *path, struct puzzle *p, struct err *e)
{
    struct reading r = {.p = p};
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", name);
    p->format = format_find("csr");
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, path, "cannot open: %s", strerror(errno));
    bool ok = read_lines(&r, f, path, e) && !fseek(f, 0, SEEK_SET);
    if (ok) sheet_checksum(f, p->sum);
    fclose(f);
    for (size_t n = strlen(p->prose); n && p->prose[n - 1] == '\n'; n--) p->prose[n - 1] = 0;
    return ok;
}

/* ---- all puzzles ---- */

struct found {
    char name[64], path[PATH_MAX];
    int place;
};
struct found_list {
    struct found *of;
    int n;
    struct puzzle *p;
    struct err *broken, *e;
};

static void find_puzzle(void *user, const char *name, const char *path)
{
    struct found_list *l = user;
    if (l->n == PUZZLES_MAX || !puzzle_read(name, path, l->p, l->broken)) return;
    struct found *more = mem_resize(l->of, l->n + 1, sizeof *more, "the list of puzzles", l->e);
    if (!more) return;
    l->of = more;
    struct found *one = &more[l->n++];
    *one = (struct found){.place = l->p->place ? l->p->place : PUZZLES_MAX};
    snprintf(one->name, sizeof one->name, "%s", name);
    snprintf(one->path, sizeof one->path, "%s", path);
}

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place) : strcmp(x->name, y->name);
}

bool puzzle_each(puzzle_visit *visit, void *user, struct err *broken, struct err *e)
{
    struct err why = {0};
    struct found_list l = {.p = mem_zero(1, sizeof *l.p, "a puzzle", &why), .broken = broken, .e = &why};
    if (l.p) library_each(LIBRARY_PUZZLES, find_puzzle, &l);
    bool ok = !why.code || fail(e, why.code, "%s", why.text);
    if (ok && l.n) qsort(l.of, (size_t)l.n, sizeof *l.of, by_place);
    for (int i = 0; ok && i < l.n; i++) ok = puzzle_read(l.of[i].name, l.of[i].path, l.p, e) && visit(user, l.p, e);
    mem_free(l.of);
    mem_free(l.p);
    return ok;
}

struct sought {
    const char *word;
    struct puzzle *p;
    int64_t place;
    int n; /* puzzles whose names begin with the word */
    bool exact;
};

static bool compare_word(void *user, const struct puzzle *p, struct err *e)
{
    struct sought *k = user;
    bool exact = k->place && p->place == k->place;
    bool begins = !k->place && !strncmp(p->name, k->word, strlen(k->word));
    if (k->exact || (!exact && !begins)) return true;
    k->exact = exact;
    k->n++;
    *k->p = *p;
    return true;
}

bool puzzle_named(const char *word, struct puzzle *p, struct err *e)
{
    char path[PATH_MAX];
    struct sought k = {.word = word, .p = p};
    if (library_find(LIBRARY_PUZZLES, word, path, sizeof path)) return puzzle_read(word, path, p, e);
    if (!is_integer(word, &k.place) || k.place < 0) k.place = 0;
    return *word && puzzle_each(compare_word, &k, NULL, e) && (k.exact || k.n == 1);
}

bool puzzle_matrix(const struct puzzle *p, struct watch *w, struct csr *out, struct err *e)
{
    return p->generator->make(p->param, (uint64_t)p->seed, w, out, e);
}
