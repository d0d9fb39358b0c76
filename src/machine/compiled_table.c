/* The table of what nvcc made of the kernels' functions for each architecture: samples/compiled.txt, whose first lines
   explain it. */
#include "base/data_folder.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "compiled.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TABLE_MAX = 1 << 26 };               /* bytes of a file */
enum { NUMBERS = 3 + INSTRUCTION_CLASSES }; /* of a line, after the architectures */
enum { ARCHITECTURE_MIN = 10, ARCHITECTURE_MAX = 999 };

/* ---- the lines ---- */

struct reading {
    struct compiled_table *table;
    const char *name;  /* of the function that the next lines describe; NULL: none yet */
    int64_t functions; /* in the file, at most */
    bool checked;      /* the line `columns` was read */
    struct err *e;
};

/* The next word of a line, which ends at a blank; "" after the last one. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");
    *line = *end ? end + 1 : end;
    *end = 0;
    return word;
}

/* The next number of a line: a word of 1 to 9 digits. The table has 150,000, which strtol would read in 5 ms. */
static bool next_number(char **line, int *out)
{
    enum { DIGITS_MAX = 9 };
    char *at = *line;
    int digits = 0;
    *out = 0;
    while (*at == ' ') at++;
    for (; *at >= '0' && *at <= '9' && digits < DIGITS_MAX; digits++) *out = 10 * *out + (*at++ - '0');
    *line = at;
    return digits > 0 && (!*at || *at == ' ');
}

/* A file of another version may have other columns. */
static bool check_columns(struct reading *r, char *line)
{
    static const char *const first[] = {"registers", "shared_bytes", "local_bytes"};
    for (int i = 0; i < NUMBERS; i++) {
        const char *wanted = i < COUNT(first) ? first[i] : instruction_words[i - COUNT(first)].key;
        if (strcmp(next_word(&line), wanted) != 0)
            return fail(r->e, E_INPUT, "column %d is not `%s`: the table is that of another version of warpspy", i + 1,
                        wanted);
    }
    r->checked = true;
    return !*next_word(&line) || fail(r->e, E_INPUT, "there are more than %d columns", +NUMBERS);
}

/* The column of an architecture, which is added if it is new; columns stay in order. */
static struct compiled_column *column_of(struct reading *r, int architecture)
{
    struct compiled_table *t = r->table;
    int at = 0;
    while (at < t->n && t->column[at].architecture < architecture) at++;
    if (at < t->n && t->column[at].architecture == architecture) return &t->column[at];
    if (t->n == COMPILED_COLUMNS) {
        fail(r->e, E_INPUT, "there are more than %d architectures", +COMPILED_COLUMNS);
        return NULL;
    }
    struct compiled *functions = mem_new(r->functions, sizeof *functions, "the table of compiled functions", r->e);
    if (!functions) return NULL;
    memmove(&t->column[at + 1], &t->column[at], (size_t)(t->n++ - at) * sizeof t->column[at]);
    t->column[at] = (struct compiled_column){.architecture = architecture, .functions = functions};
    return &t->column[at];
}

static bool add_function(struct reading *r, char *architecture, const struct compiled *c)
{
    int number;
    if (!next_number(&architecture, &number) || *architecture || number < ARCHITECTURE_MIN || number > ARCHITECTURE_MAX)
        return fail(r->e, E_INPUT, "a line begins with architectures, such as 80,90");
    struct compiled_column *to = column_of(r, number);
    if (!to) return false;
    const char *last = to->n ? to->functions[to->n - 1].name : "";
    if (strcmp(last, c->name) >= 0)
        return fail(r->e, E_INPUT, "the functions of sm_%d are not in the order of their names", number);
    struct compiled *functions = (struct compiled *)to->functions;
    functions[to->n++] = *c;
    return true;
}

/* Numbers for some architectures of the function whose name was read last. */
static bool read_facts(struct reading *r, char *line)
{
    struct compiled c = {.name = r->name};
    char *architectures = next_word(&line), *rest;
    int number[NUMBERS];
    if (!r->name || !r->checked) return fail(r->e, E_INPUT, "the name of a function or the line `columns` is missing");
    for (int i = 0; i < NUMBERS; i++)
        if (!next_number(&line, &number[i]))
            return fail(r->e, E_INPUT, "number %d of %d is missing or wrong", i + 1, +NUMBERS);
    if (*next_word(&line)) return fail(r->e, E_INPUT, "there are more than %d numbers", +NUMBERS);
    c.registers = number[0];
    c.shared_bytes = number[1];
    c.local_bytes = number[2];
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) c.instructions[k] = number[3 + k];
    for (char *each = strtok_r(architectures, ",", &rest); each; each = strtok_r(NULL, ",", &rest))
        if (!add_function(r, each, &c)) return false;
    return true;
}

static bool read_line(struct reading *r, char *line)
{
    static const char compiler[] = "compiler ", columns[] = "columns ";
    if (!*line || *line == '#') return true;
    if (*line == ' ') return read_facts(r, line);
    if (!r->name && !strncmp(line, columns, sizeof columns - 1)) return check_columns(r, line + sizeof columns - 1);
    if (!r->name && !strncmp(line, compiler, sizeof compiler - 1)) {
        print_safe(line + sizeof compiler - 1, strlen(line) - (sizeof compiler - 1), sizeof r->table->compiler - 1,
                   r->table->compiler, sizeof r->table->compiler);
        return true;
    }
    r->name = line;
    return true;
}

/* At least the number of functions: the lines that begin with a name. */
static int64_t count_names(const char *text)
{
    int64_t n = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) n += *(line += *line == '\n') != ' ';
    return n;
}

bool compiled_table_parse(char *text, int64_t n, const char *shown, struct compiled_table *out, struct err *e)
{
    struct err why = {0};
    char where[320];
    *out = (struct compiled_table){.text = text};
    struct reading r = {.table = out, .functions = count_names(text), .e = &why};
    int number = 0;
    for (char *line = text, *next; line < text + n; line = next) {
        char *end = line + strcspn(line, "\n");
        next = end + 1;
        *end = 0;
        number++;
        if (read_line(&r, line)) continue;
        snprintf(where, sizeof where, "%s:%d", shown, number);
        return fail_at(e, why.code, where, "%s", why.text);
    }
    return out->n > 0 || fail_at(e, E_INPUT, shown, "the table of compiled functions is empty");
}

void compiled_table_free(struct compiled_table *t)
{
    for (int i = 0; i < t->n; i++) mem_free((void *)t->column[i].functions);
    mem_free(t->text);
    *t = (struct compiled_table){0};
}

/* ---- the file ---- */

static const char file_name[] = "samples/compiled.txt";

/* The path of the table in the first data folder that has it. */
static bool find_file(char *path, size_t size)
{
    char data[PATH_MAX];
    struct stat st;
    for (int i = 0; data_folder(i, data, sizeof data); i++)
        if (*data && snprintf(path, size, "%s/%s", data, file_name) < (int)size && !stat(path, &st)) return true;
    return false;
}

/* The text of a file, with a 0 after it. */
static char *read_text(FILE *f, const char *shown, int64_t *n, struct err *e)
{
    struct stat st;
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || st.st_size > TABLE_MAX)
        return fail_at(e, E_INPUT, shown, "this is not a file of at most %d bytes", +TABLE_MAX), NULL;
    char *text = mem_new(st.st_size + 1, 1, "the table of compiled functions", e);
    if (!text) return NULL;
    *n = (int64_t)fread(text, 1, (size_t)st.st_size, f);
    text[*n] = 0;
    if (!ferror(f)) return text;
    mem_free(text);
    return fail_at(e, E_IO, shown, "cannot read: %s", strerror(errno)), NULL;
}

static bool load(struct compiled_table *out, struct err *e)
{
    char path[PATH_MAX + sizeof file_name], shown[256];
    int64_t n;
    if (!find_file(path, sizeof path))
        return fail(e, E_IO, "the table of compiled functions, %s, is not installed; `make install` does it",
                    file_name);
    print_safe(path, strlen(path), 200, shown, sizeof shown);
    FILE *f = fopen(path, "re");
    if (!f) return fail_at(e, E_IO, shown, "cannot read: %s", strerror(errno));
    char *text = read_text(f, shown, &n, e);
    fclose(f);
    bool ok = text && compiled_table_parse(text, n, shown, out, e);
    if (!ok && text) compiled_table_free(out);
    return ok;
}

/* The table, read once. A failure is not kept: memory may be there the next time. */
static const struct compiled_table *table_of_functions(struct err *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct compiled_table table;
    pthread_mutex_lock(&lock);
    bool ok = table.n || load(&table, e);
    pthread_mutex_unlock(&lock);
    return ok ? &table : NULL;
}

/* ---- look-up ---- */

static const struct compiled_column *column_for(const struct compiled_table *t, int capability)
{
    int at = 0;
    while (at + 1 < t->n && t->column[at + 1].architecture <= capability) at++;
    return &t->column[at];
}

const struct compiled_column *compiled_column(int capability, struct err *e)
{
    const struct compiled_table *t = table_of_functions(e);
    return t ? column_for(t, capability) : NULL;
}

static int by_name(const void *name, const void *c)
{
    return strcmp(name, ((const struct compiled *)c)->name);
}

const struct compiled *compiled_find(const struct compiled_column *c, const char *name)
{
    return c ? bsearch(name, c->functions, (size_t)c->n, sizeof *c->functions, by_name) : NULL;
}

const char *compiled_by(void)
{
    struct err why = {0};
    const struct compiled_table *t = table_of_functions(&why);
    return t ? t->compiler : "";
}

void compiled_remark(int capability, char *out, size_t size)
{
    struct err why = {0};
    const struct compiled_column *c = compiled_column(capability, &why);
    *out = 0;
    if (!c)
        snprintf(out, size, "The registers of the program's kernels are not known: %s%s%s.", why.where,
                 *why.where ? ": " : "", why.text);
    else if (c->architecture != capability)
        snprintf(out, size,
                 "The registers of the program's kernels are those of sm_%d: their table has no column for sm_%d.",
                 c->architecture, capability);
}
