/* The keys of the rows that commands print with --json. Each key is described once, in a table beside the code that
   prints it. `help COMMAND keys` shows the tables, and `help COMMAND schema` makes a JSON Schema of them. */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct registry;
struct row_kind;

/* The tables leave out the members that they do not need. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* What a value can be: one kind, and what may stand in its place. */
enum {
    F_TEXT = 1,
    F_BOOLEAN,
    F_TRUE,    /* always true */
    F_FALSE,   /* always false */
    F_NULL,    /* always null */
    F_INTEGER, /* an integer of any sign, or from `min` to `max` */
    F_COUNT,   /* an integer that is at least `min`, which is 0 by default */
    F_NUMBER,  /* a number of any sign */
    F_AMOUNT,  /* a number that is at least `min`, which is 0 by default */
    F_LIST,    /* an array of values of kind `item` */
    F_OBJECT,  /* only as `item`: an object with the keys `of` */
    F_KIND = 15,
    OR_NULL = 16,
    OR_INF = 32, /* or the text "inf" or "-inf", as out_num prints it */
    OR_NAN = 64, /* or the text "inf", "-inf" or "nan", as out_value prints it */
};

/* A key, or all keys of another table. Most entries give the first three members in this order. */
struct field {
    const char *key;                /* NULL: the keys of `include` stand here; if that is NULL too, the table ends */
    int kind;                       /* F_... | OR_... */
    const char *about;              /* what the value means, and its unit; after `;`: details, and what null means */
    const struct row_kind *include; /* keys that several kinds of rows have */
    const char *on;                 /* the value is known only there ("cuda", "ranks", "terminal"); NULL: everywhere */
    const char *null_on;            /* the value is null only then, which tests cannot cause ("Ctrl-C"); NULL: not so */
    double min, max;                /* the limits of an integer or number; a max of 0: none */
    const char *pattern;            /* a regular expression that text matches; NULL: any text */
    /* The words that the value can be, together; none of these: any text. With kind F_INTEGER, the words are numbers.
     */
    const char *words;              /* separated by ", " */
    const char *const *names;       /* `name_count` names; NULLs are skipped */
    int name_count;                 /* the names of `names` */
    const char *(*word_at)(int i);  /* word i, or NULL past the last */
    const struct registry *entries; /* the names of a registry */
    /* Of a list. The limits above are those of each item. */
    int item;               /* the kind of the items */
    const struct field *of; /* the keys of items of kind F_OBJECT */
    int least, most;        /* the number of items; most = 0: any number */
};

/* A kind of row, or keys that several kinds of rows have. */
struct row_kind {
    const char *name;           /* a word; no two that a command uses have the same name */
    const char *about;          /* what such a row stands for */
    const struct field *fields; /* terminated by {0} */
    const char *on;             /* such rows are printed only there, see struct field; NULL: everywhere */
};

extern const struct row_kind row_said;      /* the first keys of every row: command and ok */
extern const struct row_kind row_done;      /* the row of a command that printed no other row */
extern const struct row_kind row_error;     /* the row of a command that failed: every command can print it */
extern const struct row_kind row_precision; /* the key precision */

/* Copy the i-th of the words that the value can be; returns false past the last one. */
bool field_word(const struct field *d, int i, char *word, size_t size);
/* What the value can be, in words: "number >= 0 or null". Returns out. */
char *field_kind(const struct field *d, char *out, size_t size);
/* What the value is: its description up to the first `;`. Returns out. */
char *field_title(const struct field *d, char *out, size_t size);
/* The field with this key, also of an included table; NULL: none. */
const struct field *row_field(const struct row_kind *r, const char *key);
/* Call `take` with each key of the rows, also of included tables and of objects in lists: "arrays[].name". */
typedef void take_field(void *user, const struct field *d, const char *path);
void rows_each(const struct row_kind *r, take_field *take, void *user);
/* The JSON Schema (2020-12) of the rows of a command, as text that the caller releases with cJSON_free. `rows` ends
   with NULL; rows of errors are added. */
char *rows_schema(const char *title, const struct row_kind *const *rows, struct err *e);

#endif
