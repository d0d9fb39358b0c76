/* Answers of a lesson: numbers with a tolerance, words, or a small expression over the output of a command.

     = 5.2 +- 10%                              a number; without +-, integers must be exact, other numbers within 1%
     = csr | compressed rows                   words, upper or lower case; in "..." if they look like a number or key
     = bytes[name=ell] / nnz of formats A      computed: keys of the rows of the command's JSON output
     = iterations[solver=gmres,m=10] of it     the same for the command below the question
     = ours[matrix=A,of=dia / drm] of it       the same for the table below the question

   A condition compares such expressions over the rows of a table:

     : ours[of=csr-vector / vab] > 1 and ratio[matrix=add32,of=dia / drm] < 0.9
     : how[matrix=add32,of=drm] = predicted

   It has the comparisons < <= > >= of numbers and = of words or numbers. A comparison with an unknown value (null) does
   not hold.

   KEY is the value in the first row that has the key; KEY[k=v] is the value in the first row where k is v; [n] is
   element n of a list. */
#include "base/err.h"
#include "base/numeral.h"
#include "base/text.h"
#include "lesson.h"
#include "session/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- words ---- */

/* Copy n bytes of text, leave out the blanks at both ends and final punctuation, and replace each run of blanks by a
   single blank. */
static void tidy(const char *text, size_t n, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++)
        if (text[i] != ' ' && text[i] != '\t')
            out[used++] = text[i];
        else if (used && out[used - 1] != ' ')
            out[used++] = ' ';
    while (used && strchr(" .!?", out[used - 1])) used--;
    out[used] = 0;
}

/* Accept y and n for yes and no. */
static bool same_word(const char *a, const char *b)
{
    bool short_form = !b[1] && (!strcasecmp(a, "yes") || !strcasecmp(a, "no"));
    return short_form ? (a[0] | 0x20) == (b[0] | 0x20) : !strcasecmp(a, b);
}

static bool takes_words(const struct answer *a, const char *given)
{
    char typed[sizeof a->words], one[sizeof a->words];
    tidy(given, strlen(given), typed, sizeof typed);
    for (const char *at = a->words; *at; at += *at == '|') {
        size_t n = strcspn(at, "|");
        tidy(at, n, one, sizeof one);
        if (*one && same_word(one, typed)) return true;
        at += n;
    }
    return false;
}

/* ---- numbers ---- */

bool answer_number(const char *given, double *value)
{
    char digits[64], *end;
    size_t n = 0;
    while (*given == ' ' || *given == '\t') given++;
    if (!like_number(given)) return false;
    for (; *given && n + 1 < sizeof digits && *given != ' '; given++)
        if (*given != ',') digits[n++] = *given;
    digits[n] = 0;
    *value = strtod(digits, &end);
    return end != digits && isfinite(*value);
}

/* The largest accepted difference between an answer and `value`. */
static double slack_of(const struct answer *a, double value)
{
    double rounding = 1e-9 * fabs(value);
    if (isnan(a->slack)) return value == floor(value) ? rounding : 0.01 * fabs(value);
    return rounding + (a->relative ? a->slack * fabs(value) : a->slack);
}

bool answer_takes(const struct answer *a, const char *given)
{
    double typed;
    if (!a->number) return takes_words(a, given);
    return answer_number(given, &typed) && fabs(typed - a->value) <= slack_of(a, a->value);
}

bool answer_agrees(const struct answer *written, const struct answer *computed)
{
    if (written->number != computed->number) return false;
    if (!written->number) return takes_words(written, computed->words);
    return fabs(written->value - computed->value) <= slack_of(written, computed->value);
}

char *answer_show(const struct answer *a, char *out, size_t size)
{
    if (!a->number) {
        tidy(a->words, strcspn(a->words, "|"), out, size);
        return out;
    }
    if (a->value == floor(a->value) && fabs(a->value) < 1e15) return show_count((int64_t)a->value, out, size);
    snprintf(out, size, "%.4g", a->value);
    return out;
}

/* ---- reading an answer ---- */

/* Read "+- 3" or "+- 10%" after the number or expression, and remove it from the text. */
static bool read_slack(struct answer *a, char *text, struct err *e)
{
    char *at = strstr(text, "+-"), *end;
    a->slack = NAN;
    if (!at) return true;
    double v = strtod(at + 2, &end);
    a->relative = *end == '%';
    end += a->relative;
    if (end == at + 2 || end[strspn(end, " \t")] || !(v >= 0))
        return fail(e, E_INPUT, "`%.60s` after +- is not a number or percentage: write, for example, 5.2 +- 10%%",
                    at + 2);
    a->slack = a->relative ? v / 100 : v;
    *at = 0;
    return true;
}

/* The first " of " of the text if a command or `it` follows it, otherwise NULL. */
static char *command_in(char *text)
{
    char name[64], *of = strstr(text, " of ");
    if (!of) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(of + 4, " "), of + 4);
    return !strcmp(of + 4, "it") || command_find(name) ? of : NULL;
}

static bool read_words(struct answer *a, const char *text)
{
    size_t n = strlen(text);
    bool quoted = n > 1 && text[0] == '"' && text[n - 1] == '"';
    snprintf(a->words, sizeof a->words, "%.*s", (int)(quoted ? n - 2 : n), text + quoted);
    return true;
}

static bool read_number(struct answer *a, char *text, struct err *e)
{
    char *end;
    if (!read_slack(a, text, e)) return false;
    a->value = strtod(text, &end);
    a->number = true;
    if (end != text && !end[strspn(end, " \t")] && isfinite(a->value)) return true;
    return fail(e, E_INPUT, "`%.60s` is not a number: put quotes around words", text);
}

bool answer_read(struct answer *a, const char *text, struct err *e)
{
    *a = (struct answer){.slack = NAN};
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n && strchr(" \t", text[n - 1])) n--;
    if (!n) return fail(e, E_INPUT, "the answer is missing after =");
    if (n >= sizeof a->text)
        return fail(e, E_INPUT, "the answer is too long: at most %zu bytes, found %zu", sizeof a->text - 1, n);
    memcpy(a->text, text, n);
    char *of = *text == '"' ? NULL : command_in(a->text);
    if (!of) return like_number(a->text) ? read_number(a, a->text, e) : read_words(a, a->text);
    *of = 0;
    a->expression = a->text;
    a->of = of + 4;
    return read_slack(a, a->text, e);
}

/* ---- computing an answer ---- */

struct calculation {
    const cJSON *rows;
    const char *at;
    const cJSON *item; /* value of the key that was read last */
    int terms;         /* numbers, keys and parentheses read so far */
    bool unknown;      /* at least one value is null */
    struct err *e;
};

static void blanks(struct calculation *c)
{
    c->at += strspn(c->at, " \t");
}

static bool take(struct calculation *c, char sign)
{
    blanks(c);
    if (*c->at != sign) return false;
    c->at++;
    return true;
}

/* Is `item`, the value of a key, equal to this text? */
static bool is_value(const cJSON *item, const char *text, size_t n)
{
    char value[128], *end;
    snprintf(value, sizeof value, "%.*s", (int)n, text);
    if (cJSON_IsString(item)) return !strcmp(item->valuestring, value);
    if (cJSON_IsBool(item)) return !strcmp(value, cJSON_IsTrue(item) ? "yes" : "no");
    return cJSON_IsNumber(item) && strtod(value, &end) == item->valuedouble && end != value && !*end;
}

/* The number of an item; "inf" and "-inf" are numbers too. NaN: it is no number. */
static double value_of(const cJSON *item)
{
    if (cJSON_IsNumber(item)) return item->valuedouble;
    const char *word = cJSON_IsString(item) ? item->valuestring : "";
    return !strcmp(word, "inf") ? INFINITY : !strcmp(word, "-inf") ? -INFINITY : NAN;
}

/* Does the row satisfy "k=v,k=v"? */
static bool satisfies(const cJSON *row, const char *what, size_t n)
{
    const char *end = what + n;
    while (what < end) {
        char key[64];
        size_t k = strcspn(what, "=,]");
        snprintf(key, sizeof key, "%.*s", (int)k, what);
        if (what[k] != '=') return false;
        what += k + 1;
        size_t v = strcspn(what, ",]");
        if (!is_value(cJSON_GetObjectItemCaseSensitive(row, key), what, v)) return false;
        what += v + (what[v] == ',');
    }
    return true;
}

static const cJSON *find(const cJSON *rows, const char *key, const char *what, size_t n)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);
        if (item && satisfies(row, what, n)) return item;
    }
    return NULL;
}

/* The text inside [...], with its length in *n; NULL if there are no brackets. */
static const char *brackets(struct calculation *c, size_t *n)
{
    const char *inside = c->at + 1;
    *n = 0;
    if (*c->at != '[') return c->at;
    *n = strcspn(inside, "]");
    c->at = inside + *n + (inside[*n] == ']');
    return inside;
}

static bool read_key(struct calculation *c, double *v)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    const char *begin = c->at;
    char key[64];
    size_t k = strspn(c->at, letters), n = 0;
    snprintf(key, sizeof key, "%.*s", (int)k, c->at);
    c->at += k;
    if (!k) return fail(c->e, E_INPUT, "`%.60s` does not begin with a key or a number", begin);
    const char *what = *c->at == '[' && strspn(c->at + 1, "0123456789") ? "" : brackets(c, &n);
    const cJSON *item = find(c->rows, key, what, n);
    size_t index_size = 0;
    const char *index = *c->at == '[' ? brackets(c, &index_size) : NULL;
    if (item && index) item = cJSON_GetArrayItem(item, atoi(index));
    if (!item) return fail(c->e, E_INPUT, "the output has no `%.*s`", (int)(c->at - begin), begin);
    c->item = item;
    c->unknown |= cJSON_IsNull(item);
    *v = value_of(item);
    return true;
}

static bool add(struct calculation *c, double *v);

static bool factor(struct calculation *c, double *v)
{
    char *end;
    c->terms++;
    if (take(c, '(')) {
        if (!add(c, v)) return false;
        return take(c, ')') || fail(c->e, E_INPUT, "a `)` is missing before `%.60s`", c->at);
    }
    if (*c->at < '0' || *c->at > '9') return read_key(c, v);
    *v = strtod(c->at, &end);
    c->at = end;
    return true;
}

static bool multiply(struct calculation *c, double *v)
{
    double by;
    bool ok = factor(c, v);
    while (ok) {
        bool times = take(c, '*');
        if (!times && !take(c, '/')) break;
        c->terms++;
        ok = factor(c, &by);
        if (ok) *v = times ? *v * by : *v / by;
    }
    return ok;
}

static bool add(struct calculation *c, double *v)
{
    double by;
    bool ok = multiply(c, v);
    while (ok) {
        bool plus = take(c, '+');
        if (!plus && !take(c, '-')) break;
        c->terms++;
        ok = multiply(c, &by);
        if (ok) *v = plus ? *v + by : *v - by;
    }
    return ok;
}

/* An expression that is a single key may have words as its value. */
static bool take_word(struct answer *a, const struct calculation *c)
{
    const char *text = cJSON_IsBool(c->item) ? (cJSON_IsTrue(c->item) ? "yes" : "no") : cJSON_GetStringValue(c->item);
    if (c->terms != 1 || !text) return false;
    snprintf(a->words, sizeof a->words, "%s", text);
    return true;
}

bool answer_compute(struct answer *a, const cJSON *rows, struct err *e)
{
    struct calculation c = {.rows = rows, .at = a->expression, .e = e};
    if (!add(&c, &a->value)) return false;
    blanks(&c);
    if (*c.at)
        return fail(e, E_INPUT, "`%.60s` follows a complete expression: put + - * / before it, or quotes around words",
                    c.at);
    a->unknown = c.unknown;
    a->number = true;
    if (c.unknown) return true;
    a->number = !take_word(a, &c);
    if (!a->number || isfinite(a->value)) return true;
    return fail(e, E_INPUT, "the value of `%.100s` is not a finite number", a->expression);
}

/* ---- conditions ---- */

/* Do the value of the last key and the word at c->at agree? The word ends before " and ". */
static bool same_as_word(struct calculation *c, bool *holds)
{
    blanks(c);
    const char *end = strstr(c->at, " and ");
    size_t n = end ? (size_t)(end - c->at) : strlen(c->at);
    *holds = is_value(c->item, c->at, n);
    c->at += n;
    return true;
}

static bool at_most(double a, double b)
{
    return a <= b;
}

static bool at_least(double a, double b)
{
    return a >= b;
}

static bool below(double a, double b)
{
    return a < b;
}

static bool above(double a, double b)
{
    return a > b;
}

static const struct comparison {
    const char *sign;
    bool (*holds)(double a, double b); /* NULL: equality, also of words */
} comparisons[] = {{"<=", at_most}, {">=", at_least}, {"<", below}, {">", above}, {"=", NULL}, {0}};

static bool compare(struct calculation *c, bool *holds, bool *unknown)
{
    double a, b;
    const struct comparison *by = comparisons;
    c->unknown = false;
    if (!add(c, &a)) return false;
    blanks(c);
    while (by->sign && strncmp(c->at, by->sign, strlen(by->sign))) by++;
    if (!by->sign) return fail(c->e, E_INPUT, "the condition needs one of < <= > >= = before `%.60s`", c->at);
    c->at += strlen(by->sign);
    *unknown |= c->unknown;
    if (!by->holds) return same_as_word(c, holds);
    blanks(c);
    if (!add(c, &b)) return false;
    *unknown |= c->unknown;
    *holds = !c->unknown && by->holds(a, b);
    return true;
}

bool condition_holds(const char *text, const cJSON *rows, bool *holds, bool *unknown, struct err *e)
{
    struct calculation c = {.rows = rows, .at = text, .e = e};
    bool one = false;
    for (*holds = true; compare(&c, &one, unknown); c.at += 4) {
        *holds &= one;
        blanks(&c);
        if (!*c.at) return true;
        if (strncmp(c.at, "and ", 4)) return fail(e, E_INPUT, "`%.60s` follows a complete condition", c.at);
    }
    return false;
}
