/* Prints the keys of the rows of a command or view as a table, or as a JSON Schema. */
#include "help_keys.h"
#include "base/registry.h"
#include "base/text.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

#include <cjson/cJSON.h>
#include <stdio.h>

enum { TEXT_MAX = 1000, WORDS_MAX = 32, WORD_MAX = 60 };

/* ---- whose keys ---- */

static void add_rows(struct keyed *k, const struct row_kind *const *rows)
{
    for (; rows && *rows; rows++) {
        int i = 0;
        while (i < k->n && k->row[i] != *rows) i++;
        if (i == k->n && k->n < KEYED_ROWS) k->row[k->n++] = *rows;
    }
}

static void add_views(struct keyed *k, const struct registry *views)
{
    const struct named *v;
    for (int i = 0; views && (v = registry_at(views, i)); i++) add_rows(k, ((const struct view_entry *)v)->rows);
}

bool keyed_find(const struct session *s, const char *name, struct keyed *k)
{
    const struct registry *views = s->front ? s->front->views : NULL;
    const struct command *c = command_find(name);
    const struct view_entry *v = views ? registry_find(views, c ? c->name : name) : NULL;
    const struct named *entry = c ? (const struct named *)c : (const struct named *)v;
    if (!entry) return false;
    *k = (struct keyed){.name = entry->name, .about = entry->about};
    if (c) add_rows(k, c->rows);
    if (v) add_rows(k, v->rows);
    if (c && c->prints_views) add_views(k, views);
    return true;
}

/* ---- as text ---- */

struct listing {
    struct out *o;
    const struct keyed *of;
    const struct row_kind *row;
};

/* The words that the value can be; an array in JSON. */
static void out_words_of(struct out *o, const struct field *d)
{
    char word[WORDS_MAX][WORD_MAX];
    const char *words[WORDS_MAX];
    int n = 0;
    while (n < WORDS_MAX && field_word(d, n, word[n], sizeof word[n])) {
        words[n] = word[n];
        n++;
    }
    out_strs(o, "words", n, words);
}

/* The meaning, with the words that the value can be, and where it is known. */
static void out_meaning(struct out *o, const struct field *d)
{
    char text[TEXT_MAX], word[WORD_MAX];
    snprintf(text, sizeof text, "%s", d->about);
    for (int i = 0; field_word(d, i, word, sizeof word); i++)
        text_append(text, sizeof text, "%s%s", i ? ", " : *text ? ": " : "", word);
    if (d->on) text_append(text, sizeof text, " (only on %s)", d->on);
    out_str(o, NULL, "meaning", text);
}

static void out_key(void *user, const struct field *d, const char *path)
{
    const struct listing *l = user;
    struct out *o = l->o;
    char kind[TEXT_MAX];
    out_row(o);
    out_str(o, "kind", NULL, "key");
    out_str(o, "of", NULL, l->of->name);
    out_str(o, "row", NULL, l->row->name);
    out_str(o, "row_about", NULL, l->row->about);
    out_str(o, "name", "key", path);
    out_str(o, "type", "kind", field_kind(d, kind, sizeof kind));
    out_words_of(o, d);
    out_str(o, "on", NULL, d->on ? d->on : l->row->on);
    out_str(o, "about", NULL, d->about);
    if (out_mode(o) == OUT_TEXT) out_meaning(o, d);
}

static void out_keys(struct out *o, const struct keyed *k, const struct row_kind *r)
{
    out_text(o, "%s: %s%s%s", r->name, r->about, r->on ? ", on " : "", r->on ? r->on : "");
    rows_each(r, out_key, &(struct listing){o, k, r});
    out_text(o, "%s", "");
}

void help_keys(struct out *o, const struct keyed *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->row[i] != &row_done) out_keys(o, k, k->row[i]);
    if (out_mode(o) != OUT_TEXT) {
        out_keys(o, k, &row_error);
        return;
    }
    out_prose(
        o, "Every row also begins with command, the name of the command, and ok, which is true. If a command\n"
           "fails, it prints a row in which ok is false, with error, the message, and where, file and line or null.\n"
           "A command that has nothing else to print prints a row with command and ok.");
    out_text(o, "`help %s schema` prints the same as a JSON Schema.", k->name);
}

/* ---- as JSON Schema ---- */

bool help_schema(struct out *o, const struct keyed *k, struct err *e)
{
    char title[TEXT_MAX];
    snprintf(title, sizeof title, "%s: %s", k->name, k->about);
    char *text = rows_schema(title, k->row, e);
    if (text && out_mode(o) == OUT_TEXT) {
        out_verbatim(o, text);
    } else if (text) {
        out_row(o);
        out_str(o, "kind", NULL, "schema");
        out_str(o, "of", NULL, k->name);
        out_str(o, "schema", NULL, text);
    }
    cJSON_free(text);
    return text;
}

/* ---- the keys of the rows ---- */

static const struct field help_key_fields[] = {
    {"kind", F_TEXT, "a key of a row", .words = "key"},
    {"of", F_TEXT, "the command that prints the row, or the view whose numbers it is a row of"},
    {"row", F_TEXT, "the kind of row"},
    {"row_about", F_TEXT, "what such a row stands for"},
    {"name", F_TEXT, "the key; a[].b: b in the objects of the list a"},
    {"type", F_TEXT, "what the value can be, such as \"number >= 0 or null\""},
    {"words", F_LIST, "the words that the value can be; empty: other values", .item = F_TEXT},
    {"on", F_TEXT | OR_NULL, "the value is known only there, such as cuda; null: everywhere"},
    {"about", F_TEXT, "what the value means, with its unit"},
    {0},
};
const struct row_kind row_help_key = {"key", "`help COMMAND keys`: a key of a row", help_key_fields};

static const struct field help_schema_fields[] = {
    {"kind", F_TEXT, "the schema of a command or view", .words = "schema"},
    {"of", F_TEXT, "the command or view"},
    {"schema", F_TEXT,
     "a JSON Schema (2020-12) of each line that the command prints with --json, or that the view exports, as text"},
    {0},
};
const struct row_kind row_help_schema = {
    "schema", "`help COMMAND schema`: the JSON Schema of the rows of a command or view", help_schema_fields};
