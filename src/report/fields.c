/* The descriptions of keys as text and as JSON Schema, and the tables that all commands share. */
#include "fields.h"
#include "base/base.h"
#include "base/err.h"
#include "base/registry.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { WORD_MAX = 120, PATH_MAX_LENGTH = 120 };

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

char *field_title(const struct field *d, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)strcspn(d->about, ";"), d->about);
    return out;
}

const struct field *row_field(const struct row_kind *r, const char *key)
{
    const struct field *found = NULL;
    for (const struct field *d = r->fields; !found && (d->key || d->include); d++)
        found = d->include ? row_field(d->include, key) : strcmp(d->key, key) ? NULL : d;
    return found;
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

/* The schema that is being made. Without memory for a part, the rest of it is left out. */
struct schema {
    cJSON *defs; /* the tables: each is a definition of its own */
    bool failed; /* a part is missing */
};

/* Add value to the object `to`, or to the array `to` if key is NULL. Returns value; on failure, value is freed. */
static cJSON *put(struct schema *m, cJSON *to, const char *key, cJSON *value)
{
    if (value && (key ? cJSON_AddItemToObject(to, key, value) : cJSON_AddItemToArray(to, value))) return value;
    cJSON_Delete(value);
    m->failed = true;
    return NULL;
}

static void put_text(struct schema *m, cJSON *to, const char *key, const char *text)
{
    if (text) put(m, to, key, cJSON_CreateString(text));
}

/* "enum" with the words that a value can be, or "const" if it is only one. */
static void put_words(struct schema *m, cJSON *to, const struct field *d, int kind)
{
    char word[WORD_MAX];
    bool number = (kind & F_KIND) == F_INTEGER, only = count_words(d) == 1 && !(kind & OR_NULL);
    cJSON *list = only ? to : put(m, to, "enum", cJSON_CreateArray());
    for (int i = 0; field_word(d, i, word, sizeof word); i++)
        put(m, list, only ? "const" : NULL, number ? cJSON_CreateRaw(word) : cJSON_CreateString(word));
    if (kind & OR_NULL) put(m, list, NULL, cJSON_CreateNull());
}

static void put_type(struct schema *m, cJSON *to, int kind)
{
    bool several = kind & ~F_KIND;
    cJSON *list = several ? put(m, to, "type", cJSON_CreateArray()) : to;
    put_text(m, list, several ? NULL : "type", kinds[kind & F_KIND].json);
    if (kind & (OR_INF | OR_NAN)) put_text(m, list, NULL, "string");
    if (kind & OR_NULL) put_text(m, list, NULL, "null");
}

static void put_fields(struct schema *m, cJSON *to, const struct field *fields);
static void put_value(struct schema *m, cJSON *to, const struct field *d, int kind);

static void put_items(struct schema *m, cJSON *to, const struct field *d)
{
    if (d->least) put(m, to, "minItems", cJSON_CreateNumber(d->least));
    if (d->most) put(m, to, "maxItems", cJSON_CreateNumber(d->most));
    put_value(m, put(m, to, "items", cJSON_CreateObject()), d, d->item);
}

static void put_object(struct schema *m, cJSON *to, const struct field *fields)
{
    put_fields(m, to, fields);
    put(m, to, "additionalProperties", cJSON_CreateFalse());
}

/* The members of a schema that a value of this kind obeys. */
static void put_value(struct schema *m, cJSON *to, const struct field *d, int kind)
{
    int base = kind & F_KIND;
    if (base == F_TRUE || base == F_FALSE) {
        put(m, to, "const", cJSON_CreateBool(base == F_TRUE));
    } else if (base != F_LIST && count_words(d)) {
        put_words(m, to, d, kind);
    } else {
        put_type(m, to, kind);
        if (kinds[base].limited) put(m, to, "minimum", cJSON_CreateNumber(d->min));
        if (kinds[base].limited && d->max != 0) put(m, to, "maximum", cJSON_CreateNumber(d->max));
        if (kind & (OR_INF | OR_NAN)) put_text(m, to, "pattern", kind & OR_NAN ? nan_pattern : inf_pattern);
        if (base == F_TEXT) put_text(m, to, "pattern", d->pattern);
        if (base == F_LIST) put_items(m, to, d);
        if (base == F_OBJECT) put_object(m, to, d->of);
    }
}

/* "properties" and "required" of the fields, without those of included tables. */
static void put_fields(struct schema *m, cJSON *to, const struct field *fields)
{
    cJSON *properties = put(m, to, "properties", cJSON_CreateObject());
    cJSON *required = put(m, to, "required", cJSON_CreateArray());
    for (const struct field *d = fields; d->key || d->include; d++) {
        if (!d->key) continue;
        cJSON *value = put(m, properties, d->key, cJSON_CreateObject());
        put_value(m, value, d, d->kind);
        put_text(m, value, "description", d->about);
        put_text(m, value, "x-on", d->on);
        put_text(m, value, "x-null-on", d->null_on);
        put_text(m, required, NULL, d->key);
    }
}

/* Refer to a table in the array `to`. */
static void put_reference(struct schema *m, cJSON *to, const struct row_kind *r)
{
    char path[PATH_MAX_LENGTH];
    snprintf(path, sizeof path, "#/$defs/%s", r->name);
    put_text(m, put(m, to, NULL, cJSON_CreateObject()), "$ref", path);
}

/* "allOf" with the included tables. */
static void put_includes(struct schema *m, cJSON *to, const struct field *d)
{
    cJSON *list = NULL;
    for (; d->key || d->include; d++) {
        if (!d->include) continue;
        if (!list) list = put(m, to, "allOf", cJSON_CreateArray());
        put_reference(m, list, d->include);
    }
}

/* Define a table and those that it includes, each once. */
static void put_table(struct schema *m, const struct row_kind *r)
{
    if (cJSON_HasObjectItem(m->defs, r->name)) return;
    cJSON *table = put(m, m->defs, r->name, cJSON_CreateObject());
    put_text(m, table, "title", r->about);
    put(m, table, "x-part", cJSON_CreateTrue());
    put_text(m, table, "type", "object");
    put_text(m, table, "x-on", r->on);
    put_includes(m, table, r->fields);
    put_fields(m, table, r->fields);
    for (const struct field *d = r->fields; d->key || d->include; d++)
        if (d->include) put_table(m, d->include);
}

/* A kind of row: the keys of its table and no others. */
static void put_row(struct schema *m, cJSON *to, const struct row_kind *r)
{
    cJSON *row = put(m, to, NULL, cJSON_CreateObject()), *list = put(m, row, "allOf", cJSON_CreateArray());
    if (r != &row_error) put_reference(m, list, &row_said);
    put_reference(m, list, r);
    put(m, row, "unevaluatedProperties", cJSON_CreateFalse());
    put_table(m, r);
}

/* Print a schema. cJSON indents with tabs, which the screen does not show. */
static char *print_schema(const cJSON *schema)
{
    char *text = cJSON_Print(schema);
    for (size_t i = 0; text && text[i]; i++)
        if (text[i] == '\t') text[i] = ' ';
    return text;
}

char *rows_schema(const char *title, const struct row_kind *const *rows, struct err *e)
{
    struct schema m = {0};
    cJSON *top = cJSON_CreateObject();
    put_text(&m, top, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put_text(&m, top, "title", title);
    cJSON *list = put(&m, top, "oneOf", cJSON_CreateArray());
    m.defs = put(&m, top, "$defs", cJSON_CreateObject());
    put_table(&m, &row_said);
    for (int i = 0; rows[i]; i++) put_row(&m, list, rows[i]);
    put_row(&m, list, &row_error);
    char *text = m.failed ? NULL : print_schema(top);
    cJSON_Delete(top);
    if (!text) fail(e, E_MEMORY, "out of memory for a JSON Schema; drop a matrix and try again");
    return text;
}
