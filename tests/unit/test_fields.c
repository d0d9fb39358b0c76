/* The keys of the rows that commands print: the tables of keys, and how they are shown. The schemas that are made of
   the tables are checked against the output of the commands by terminal/test_schema.py. */
#include "base/memfile.h"
#include "kits/golden_kit.h"
#include "kits/test.h"
#include "machine/symmetrize.h"
#include "report/fields.h"
#include "session/command.h"
#include "ui/view.h"

#include <cjson/cJSON.h>

enum { TABLES_MAX = 400 };

/* ---- the keys of all commands ---- */

struct listing {
    FILE *f;
    const struct row_kind *seen[TABLES_MAX];
    int n;
};

static bool is_new(struct listing *l, const struct row_kind *r)
{
    for (int i = 0; i < l->n; i++)
        if (l->seen[i] == r) return false;
    assert_true(l->n < TABLES_MAX);
    l->seen[l->n++] = r;
    return true;
}

static void print_fields(FILE *f, const struct field *d, const char *before)
{
    char text[1000], path[200];
    for (; d->key || d->include; d++) {
        if (!d->key) continue;
        fprintf(f, "    %s%s: %s: %s", before, d->key, field_kind(d, text, sizeof text), d->about);
        for (int i = 0; field_word(d, i, text, sizeof text); i++) fprintf(f, "%s%s", i ? ", " : " {", text);
        if (field_word(d, 0, text, sizeof text)) fputs("}", f);
        if (d->on) fprintf(f, " [on %s]", d->on);
        if (d->null_on) fprintf(f, " [null on %s]", d->null_on);
        fputs("\n", f);
        snprintf(path, sizeof path, "%s%s[].", before, d->key);
        if (d->of) print_fields(f, d->of, path);
    }
}

/* A table where it is first used, with the names of those that it includes. */
static void print_table(struct listing *l, const struct row_kind *r)
{
    if (!is_new(l, r)) return;
    fprintf(l->f, "  %s: %s%s%s", r->name, r->about, r->on ? " [on " : "", r->on ? r->on : "");
    fputs(r->on ? "]\n" : "\n", l->f);
    for (const struct field *d = r->fields; d->key || d->include; d++)
        if (d->include) fprintf(l->f, "    and the keys of %s\n", d->include->name);
    print_fields(l->f, r->fields, "");
    for (const struct field *d = r->fields; d->key || d->include; d++)
        if (d->include) print_table(l, d->include);
}

/* The tables of a command or a view. */
static void print_tables(struct listing *l, const char *what, const char *name, const struct row_kind *const *rows)
{
    fprintf(l->f, "%s%s:", what, name);
    for (int i = 0; rows && rows[i]; i++) fprintf(l->f, " %s", rows[i]->name);
    fputs("\n", l->f);
    for (int i = 0; rows && rows[i]; i++) print_table(l, rows[i]);
}

/* A change of a key shows as a change of a line. */
TEST(keys_are_those_of_the_golden_file)
{
    struct memfile m;
    struct err e;
    assert_true(memfile_open(&m, &e));
    struct listing l = {.f = m.file};
    fputs("every command\n", m.file);
    print_table(&l, &row_said);
    print_table(&l, &row_error);
    for (int i = 0; commands[i]; i++) print_tables(&l, "", commands[i]->name, commands[i]->rows);
    for (int i = 0; views[i]; i++) print_tables(&l, "view ", views[i]->name, views[i]->rows);
    assert_true(memfile_close(&m, true, &e));
    assert_true(golden_same("tests/golden/keys.txt", m.text));
    memfile_free(&m);
}

/* ---- one key ---- */

static const char *digit(int i)
{
    static const char *const digits[] = {"one", "two"};
    return i < 2 ? digits[i] : NULL;
}

static const char *const some_names[] = {NULL, "bytes", NULL, "launch"};

static const struct field item_fields[] = {{"size", F_COUNT, "its size"}, {0}};
static const struct row_kind included = {"included", "keys of several rows",
                                         (const struct field[]){{"b", F_TEXT, "b"}, {0}}};

static const struct {
    struct field field;
    const char *kind, *schema;
} shown[] = {
    {{"a", F_TEXT, "x"}, "text", "{\"type\":\"string\",\"description\":\"x\"}"},
    {{"a", F_BOOLEAN | OR_NULL, "x"}, "true or false or null", "{\"type\":[\"boolean\",\"null\"],"},
    {{"a", F_TRUE, "x"}, "true", "{\"const\":true,"},
    {{"a", F_NULL, "x"}, "null", "{\"type\":\"null\","},
    {{"a", F_INTEGER, "x"}, "integer", "{\"type\":\"integer\",\"desc"},
    {{"a", F_COUNT, "x", .min = 1, .max = 64}, "integer 1 to 64", "\"integer\",\"minimum\":1,\"maximum\":64,"},
    {{"a", F_AMOUNT, "x", .max = 100.001}, "number 0 to 100.001", "\"minimum\":0,\"maximum\":100.001,"},
    {{"a", F_AMOUNT | OR_NAN | OR_NULL, "x"},
     "number >= 0 or inf or nan or null",
     "{\"type\":[\"number\",\"string\",\"null\"],\"minimum\":0,\"pattern\":\"^(-?inf|nan)$\","},
    {{"a", F_NUMBER | OR_INF, "x"}, "number or inf", "\"pattern\":\"^-?inf$\""},
    {{"a", F_TEXT, "\"x\"", .pattern = "^\\d$"}, "text", "\"pattern\":\"^\\\\d$\",\"description\":\"\\\"x\\\"\"}"},
    {{"a", F_TEXT | OR_NULL, "x", .words = "b, c d"}, "word or null", "{\"enum\":[\"b\",\"c d\",null],"},
    {{"a", F_TEXT, "x", .words = "b"}, "word", "{\"const\":\"b\","},
    {{"a", F_INTEGER, "x", .words = "0, 1"}, "integer", "{\"enum\":[0,1],"},
    {{"a", F_TEXT, "x", .words = "w", .names = some_names, .name_count = 4, .word_at = digit,
      .entries = &sym_mode_registry},
     "word",
     "{\"enum\":[\"w\",\"bytes\",\"launch\",\"one\",\"two\",\"union\","},
    {{"a", F_LIST | OR_NULL, "x", .item = F_COUNT | OR_NULL, .least = 32, .most = 32},
     "list of integer >= 0 or null or null",
     "\"minItems\":32,\"maxItems\":32,\"items\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"},
    {{"a", F_LIST, "x", .item = F_OBJECT, .of = item_fields},
     "list of objects",
     "\"required\":[\"size\"],\"additionalProperties\":false},\"description\":\"x\"}"},
    {{"a", F_TEXT | OR_NULL, "x", .on = "cuda", .null_on = "Ctrl-C"},
     "text or null",
     "\"description\":\"x\",\"x-on\":\"cuda\",\"x-null-on\":\"Ctrl-C\"}"},
};

TEST(a_key_is_shown_as_text_and_as_schema)
{
    for (int i = 0; i < COUNT(shown); i++) {
        struct field fields[] = {shown[i].field, {.include = &included}, {0}};
        struct row_kind row = {"row", "a row", fields};
        struct err e;
        char text[200];
        assert_string_equal(field_kind(fields, text, sizeof text), shown[i].kind);
        char *schema = rows_schema("a command", (const struct row_kind *const[]){&row, NULL}, &e);
        assert_non_null(schema);
        cJSON_Minify(schema);
        if (!strstr(schema, shown[i].schema)) fail_msg("%s is not in %s", shown[i].schema, schema);
        assert_non_null(strstr(schema,
                               "\"row\":{\"title\":\"a row\",\"x-part\":true,\"type\":\"object\",\"allOf\":[{\"$ref\":"
                               "\"#/$defs/included\"}],"));
        cJSON_free(schema);
    }
}

static void join(void *user, const struct field *d, const char *path)
{
    char *text = user;
    (void)d;
    strcat(strcat(text, path), " ");
}

TEST(keys_of_included_tables_and_of_items_are_listed)
{
    static const struct field fields[] = {
        {"first", F_TEXT, "x"},
        {.include = &included},
        {"list", F_LIST, "x", .item = F_OBJECT, .of = item_fields},
        {0},
    };
    struct row_kind row = {"row", "a row", fields};
    char text[100] = "";
    rows_each(&row, join, text);
    assert_string_equal(text, "first b list list[].size ");
    assert_ptr_equal(row_field(&row, "list"), &fields[2]);
    assert_ptr_equal(row_field(&row, "b"), included.fields);
    assert_null(row_field(&row, "size"));
}
