/* The descriptions of keys as text and as JSON Schema, and the tables that all commands share. */
#include "fields.h"
#include "base/base.h"
#include "base/registry.h"
#include "base/text.h"

#include <string.h>

enum { WORD_MAX = 120, PATH_MAX_LENGTH = 120, PARTS_MAX = 64 };

static const char inf_pattern[] = "^-?inf$", nan_pattern[] = "^(-?inf|nan)$";

/* ---- what all commands share ---- */

static const struct field said_fields[] = {
    {"command", F_TEXT, "the command that prints this line"},
    {"ok", F_TRUE, "always true: the command succeeded"},
    {0},
};
const struct row_kind row_said = {"said", "the first keys of every row", said_fields};

static const struct field no_fields[] = {{0}};
const struct row_kind row_done = {"done", "a command that has nothing to say", no_fields};

static const struct field error_fields[] = {
    {"command", F_TEXT | OR_NULL, "command that failed; null if there is not enough memory to store it",
     .null_on = "no memory"},
    {"ok", F_FALSE, "always false: the command failed"},
    {"error", F_TEXT, "the error message: the fault, then what to do"},
    {"where", F_TEXT | OR_NULL, "file and line of the error; null: none"},
    {0},
};
const struct row_kind row_error = {"error", "a command that failed, or was not understood", error_fields};

static const struct field precision_fields[] = {
    {"precision", F_TEXT, "of values, x, y and sums; two types: the first is that of the stored values",
     .words = "fp32, fp64, complex fp32, complex fp64, fp32-fp64, fp16-fp32, bf16-fp32, fp16-fp64, bf16-fp64"},
    {0},
};
const struct row_kind row_precision = {"precision", "the precision of a product or a solve", precision_fields};

/* ---- words ---- */

/* Copy word *i of the text and return true; if the text has fewer words, subtract their number from *i. */
static bool word_of_text(const char *text, int *i, char *word, size_t size)
{
    for (const char *at = text; at; (*i)--) {
        const char *end = strstr(at, ", ");
        int n = end ? (int)(end - at) : (int)strlen(at);
        if (*i == 0) snprintf(word, size, "%.*s", n, at);
        if (*i == 0) return true;
        at = end ? end + 2 : NULL;
    }
    return false;
}

static const char *word_of_tables(const struct field *d, int *i)
{
    for (int k = 0; k < d->name_count; k++)
        if (d->names[k] && (*i)-- == 0) return d->names[k];
    for (int k = 0; d->word_at && d->word_at(k); k++)
        if ((*i)-- == 0) return d->word_at(k);
    const struct named *entry = d->entries ? registry_at(d->entries, *i) : NULL;
    return entry ? entry->name : NULL;
}

bool field_word(const struct field *d, int i, char *word, size_t size)
{
    if (word_of_text(d->words, &i, word, size)) return true;
    const char *name = word_of_tables(d, &i);
    if (name) snprintf(word, size, "%s", name);
    return name;
}

static int count_words(const struct field *d)
{
    char word[WORD_MAX];
    int n = 0;
    while (field_word(d, n, word, sizeof word)) n++;
    return n;
}

/* ---- as text ---- */

static const struct {
    const char *text, *json;
    bool has_min, limited;
} kinds[] = {
    [F_TEXT] = {"text", "string"},
    [F_BOOLEAN] = {"true or false", "boolean"},
    [F_TRUE] = {"true", "true"},
    [F_FALSE] = {"false", "false"},
    [F_NULL] = {"null", "null"},
    [F_INTEGER] = {"integer", "integer"},
    [F_COUNT] = {"integer", "integer", true, true},
    [F_NUMBER] = {"number", "number"},
    [F_AMOUNT] = {"number", "number", true, true},
    [F_LIST] = {"list", "array"},
    [F_OBJECT] = {"objects", "object"},
};

static void append_kind(const struct field *d, int kind, char *out, size_t size)
{
    int base = kind & F_KIND;
    bool words = base != F_LIST && count_words(d);
    text_append(out, size, "%s", words && base == F_TEXT ? "word" : kinds[base].text);
    if (kinds[base].limited && d->max != 0)
        text_append(out, size, " %g to %g", d->min, d->max);
    else if (kinds[base].limited)
        text_append(out, size, " >= %g", d->min);
    if (base == F_LIST) text_append(out, size, "%s", " of ");
    if (base == F_LIST) append_kind(d, d->item, out, size);
    if (kind & (OR_INF | OR_NAN)) text_append(out, size, "%s", " or inf");
    if (kind & OR_NAN) text_append(out, size, "%s", " or nan");
    if (kind & OR_NULL) text_append(out, size, "%s", " or null");
}

char *field_kind(const struct field *d, char *out, size_t size)
{
    *out = 0;
    append_kind(d, d->kind, out, size);
    return out;
}

static void each_field(const struct field *d, const char *before, take_field *take, void *user)
{
    char path[PATH_MAX_LENGTH];
    for (; d->key || d->include; d++) {
        if (d->include) each_field(d->include->fields, before, take, user);
        if (d->include) continue;
        snprintf(path, sizeof path, "%s%s", before, d->key);
        take(user, d, path);
        text_append(path, sizeof path, "[].");
        if (d->of) each_field(d->of, path, take, user);
    }
}

void rows_each(const struct row_kind *r, take_field *take, void *user)
{
    each_field(r->fields, "", take, user);
}

/* ---- as JSON Schema ---- */

static void put_string(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putc('"', f);
}

static void put_member(FILE *f, const char *name, const char *text)
{
    if (!text) return;
    fprintf(f, ", \"%s\": ", name);
    put_string(f, text);
}

static void put_word(FILE *f, const char *word, bool is_number)
{
    if (is_number)
        fputs(word, f);
    else
        put_string(f, word);
}

/* "enum" with the words that a value can be, or "const" if it is only one. */
static void put_words(FILE *f, const struct field *d, int kind)
{
    char word[WORD_MAX];
    bool only = count_words(d) == 1 && !(kind & OR_NULL);
    fputs(only ? "\"const\": " : "\"enum\": [", f);
    for (int i = 0; field_word(d, i, word, sizeof word); i++) {
        if (i) fputs(", ", f);
        put_word(f, word, (kind & F_KIND) == F_INTEGER);
    }
    if (kind & OR_NULL) fputs(", null", f);
    if (!only) putc(']', f);
}

static void put_type(FILE *f, int kind)
{
    bool several = kind & ~F_KIND;
    fprintf(f, "\"type\": %s\"%s\"", several ? "[" : "", kinds[kind & F_KIND].json);
    if (kind & (OR_INF | OR_NAN)) fputs(", \"string\"", f);
    if (kind & OR_NULL) fputs(", \"null\"", f);
    if (several) putc(']', f);
}

static void put_fields(FILE *f, const struct field *fields, const char *margin);
static void put_value(FILE *f, const struct field *d, int kind, const char *margin);

static void put_items(FILE *f, const struct field *d, const char *margin)
{
    if (d->least) fprintf(f, ", \"minItems\": %d", d->least);
    if (d->most) fprintf(f, ", \"maxItems\": %d", d->most);
    fputs(", \"items\": {", f);
    put_value(f, d, d->item, margin);
    putc('}', f);
}

static void put_object(FILE *f, const struct field *fields, const char *margin)
{
    char inner[32];
    snprintf(inner, sizeof inner, "%s  ", margin);
    put_fields(f, fields, inner);
    fputs(", \"additionalProperties\": false", f);
}

/* The members of a schema that a value of this kind obeys. */
static void put_value(FILE *f, const struct field *d, int kind, const char *margin)
{
    int base = kind & F_KIND;
    if (base == F_TRUE || base == F_FALSE) {
        fprintf(f, "\"const\": %s", kinds[base].json);
    } else if (base != F_LIST && count_words(d)) {
        put_words(f, d, kind);
    } else {
        put_type(f, kind);
        if (kinds[base].limited) fprintf(f, ", \"minimum\": %g", d->min);
        if (kinds[base].limited && d->max != 0) fprintf(f, ", \"maximum\": %.9g", d->max);
        if (kind & (OR_INF | OR_NAN)) put_member(f, "pattern", kind & OR_NAN ? nan_pattern : inf_pattern);
        if (base == F_TEXT) put_member(f, "pattern", d->pattern);
        if (base == F_LIST) put_items(f, d, margin);
        if (base == F_OBJECT) put_object(f, d->of, margin);
    }
}

/* "properties" and "required" of the fields, without those of included tables. */
static void put_fields(FILE *f, const struct field *fields, const char *margin)
{
    int n = 0;
    fputs(", \"properties\": {", f);
    for (const struct field *d = fields; d->key || d->include; d++) {
        if (!d->key) continue;
        fprintf(f, "%s\n%s  \"%s\": {", n++ ? "," : "", margin, d->key);
        put_value(f, d, d->kind, margin);
        put_member(f, "description", d->about);
        put_member(f, "x-on", d->on);
        put_member(f, "x-null-on", d->null_on);
        putc('}', f);
    }
    fputs("}, \"required\": [", f);
    n = 0;
    for (const struct field *d = fields; d->key || d->include; d++)
        if (d->key) fprintf(f, "%s\"%s\"", n++ ? ", " : "", d->key);
    putc(']', f);
}

/* "allOf" with the included tables. */
static void put_includes(FILE *f, const struct field *d)
{
    int n = 0;
    for (; d->key || d->include; d++)
        if (d->include) fprintf(f, "%s{\"$ref\": \"#/$defs/%s\"}", n++ ? ", " : ", \"allOf\": [", d->include->name);
    if (n) putc(']', f);
}

/* The tables of a schema: each is a definition of its own. */
struct parts {
    const struct row_kind *at[PARTS_MAX];
    int n;
};

static void collect(struct parts *p, const struct row_kind *r)
{
    for (int i = 0; i < p->n; i++)
        if (p->at[i] == r) return;
    if (p->n < PARTS_MAX) p->at[p->n++] = r;
    for (const struct field *d = r->fields; d->key || d->include; d++)
        if (d->include) collect(p, d->include);
}

static void put_table(FILE *f, const struct row_kind *r, bool first)
{
    fprintf(f, "%s\n    \"%s\": {\"title\": ", first ? "" : ",", r->name);
    put_string(f, r->about);
    fputs(", \"x-part\": true, \"type\": \"object\"", f);
    put_member(f, "x-on", r->on);
    put_includes(f, r->fields);
    put_fields(f, r->fields, "    ");
    putc('}', f);
}

/* A kind of row: the keys of its table and no others. */
static void put_row(FILE *f, const struct row_kind *r)
{
    bool failed = r == &row_error;
    fprintf(f, "    {\"allOf\": [%s{\"$ref\": \"#/$defs/%s\"}], \"unevaluatedProperties\": false}%s\n",
            failed ? "" : "{\"$ref\": \"#/$defs/said\"}, ", r->name, failed ? "" : ",");
}

void rows_schema(FILE *f, const char *title, const struct row_kind *const *rows)
{
    struct parts p = {.n = 0};
    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": ", f);
    put_string(f, title);
    fputs(",\n  \"oneOf\": [\n", f);
    collect(&p, &row_said);
    for (int i = 0; rows[i]; i++) {
        put_row(f, rows[i]);
        collect(&p, rows[i]);
    }
    put_row(f, &row_error);
    collect(&p, &row_error);
    fputs("  ],\n  \"$defs\": {", f);
    for (int i = 0; i < p.n; i++) put_table(f, p.at[i], i == 0);
    fputs("\n  }\n}\n", f);
}
