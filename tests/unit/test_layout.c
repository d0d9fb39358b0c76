/* The command layout as data: JSON and CSV list every slot of every format, and ranges list the slots asked for. */
#include "base/loop.h"
#include "base/watch.h"
#include "formats/format.h"
#include "kits/complex_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/matrix.h"
#include "session/product.h"

#include <cjson/cJSON.h>
#include <math.h>

/* A dense matrix with more than 100,000 entries. */
enum { SIDE = 320 };

/* ---- reading the rows back ---- */

/* The line of t->out that describes the array; the caller deletes the object. */
static cJSON *row_of_array(const struct talk *t, const char *array)
{
    char key[80];
    snprintf(key, sizeof key, "\"array\":\"%s\"", array);
    const char *at = strstr(t->out, key), *line = at;
    if (!at) fail_msg("no row for array %s", array);
    while (line > t->out && line[-1] != '\n') line--;
    cJSON *j = cJSON_ParseWithLength(line, strcspn(line, "\n"));
    if (!j) fail_msg("not JSON: %.200s", line);
    return j;
}

static int64_t number(const cJSON *j, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(j, key);
    assert_true(cJSON_IsNumber(x));
    return (int64_t)x->valuedouble;
}

/* Complex arrays have imaginary parts, other arrays of complex matrices null, and real matrices no such key. */
static void check_imag(const cJSON *j, const struct stored *S, int k, int64_t first, int64_t last)
{
    const cJSON *imag = cJSON_GetObjectItem(j, "imag");
    bool pairs = type_is_complex(S->a[k].type);
    if (!pairs) {
        assert_true(precisions[S->real].is_complex ? cJSON_IsNull(imag) : !imag);
        return;
    }
    const cJSON *part = imag->child;
    for (int64_t i = first; i <= last; i++, part = part->next)
        assert_true(part->valuedouble == array_imag(&S->a[k], i));
    assert_null(part);
}

/* Check the slots first .. last of array k against the stored array. */
static void check_array(const struct talk *t, const struct stored *S, int k, int64_t first, int64_t last)
{
    cJSON *j = row_of_array(t, S->a[k].name);
    const cJSON *values = cJSON_GetObjectItem(j, "values"), *rows = cJSON_GetObjectItem(j, "rows");
    const cJSON *value = values->child, *row = rows->child;
    int64_t padding = 0;
    assert_int_equal(number(j, "slots"), S->a[k].n);
    assert_int_equal(number(j, "first"), first);
    assert_int_equal(number(j, "shown"), last - first + 1);
    for (int64_t i = first; i <= last; i++, value = value->next, row = row->next) {
        struct place p = S->format->where(S, k, i);
        if (!value || !row) fail_msg("%s of %s ends before slot %d", S->a[k].name, S->format->name, (int)i);
        assert_true(value->valuedouble == array_real(&S->a[k], i));
        assert_int_equal((int64_t)row->valuedouble, p.kind == SLOT_PADDING ? -1 : p.row);
        padding += p.kind == SLOT_PADDING;
    }
    assert_true(!value && !row);
    assert_int_equal(number(j, "padding"), padding);
    check_imag(j, S, k, first, last);
    cJSON_Delete(j);
}

static const struct stored *stored_as(const struct talk *t, const struct format *f)
{
    for (const struct product *p = t->s.current->products; p; p = p->next)
        if (p->S.format == f) return &p->S;
    fail_msg("%s is not stored", f->name);
    return NULL;
}

/* ---- whole arrays and ranges ---- */

TEST(every_slot_is_listed)
{
    struct talk t;
    char line[80];
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "gen dense %d as A", SIDE);
    assert_true(talk_line(&t, line));
    for (int f = 0; formats[f]; f++) {
        snprintf(line, sizeof line, "layout %s of A", formats[f]->name);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.out);
        const struct stored *S = stored_as(&t, formats[f]);
        assert_true(stored_slots(S) > 100000);
        for (int k = 0; k < S->narrays; k++) check_array(&t, S, k, 0, S->a[k].n - 1);
        snprintf(line, sizeof line, "drop A; gen dense %d as A", SIDE); /* only one form is stored at a time */
        assert_true(talk_line(&t, line));
    }
    talk_close(&t);
}

/* If a range runs past the end of an array, only the slots that exist are listed. */
static void check_ranges(bool complex_values)
{
    struct talk t;
    char line[80];
    talk_open(&t, OUT_JSON);
    if (complex_values)
        complex_add(&t, false, "A");
    else
        assert_true(talk_line(&t, "gen poisson2d 7 as A"));
    for (int f = 0; formats[f]; f++) {
        snprintf(line, sizeof line, "layout %s of A slots 3:60", formats[f]->name);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.out);
        const struct stored *S = stored_as(&t, formats[f]);
        for (int k = 0; k < S->narrays; k++) {
            int64_t n = S->a[k].n, first = n < 3 ? n : 3;
            check_array(&t, S, k, first, n < 61 ? n - 1 : 60);
        }
    }
    talk_close(&t);
}

TEST(a_range_is_listed)
{
    check_ranges(false);
    check_ranges(true);
}

static int64_t lines_of(const char *text)
{
    int64_t n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

TEST(csv_lists_every_slot)
{
    struct talk t;
    char line[80];
    talk_open(&t, OUT_CSV);
    snprintf(line, sizeof line, "gen dense %d as A", SIDE);
    assert_true(talk_line(&t, line));
    assert_true(talk_line(&t, "layout coo"));
    assert_int_equal(lines_of(t.out) - (*t.out == '\n'), 1 + 3 * SIDE * SIDE);
    assert_true(talk_line(&t, "load tests/files/complex.rb; layout csr slots 0"));
    const char *rows = strstr(t.out, "array,");
    if (!rows) fail_msg("no table: %s", t.out);
    assert_string_equal(rows, "array,slot,value,imag,kind,row,col\n"
                              "ptr,0,0,,pointer,0,-1\n"
                              "col,0,1,,entry,0,1\n"
                              "val,0,2.5,-4,entry,0,1\n");
    talk_close(&t);
}

TEST(text_lists_a_range)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "load samples/thesis4.mtx"));
    assert_true(talk_line(&t, "layout csr slots 4:5"));
    assert_string_equal(t.out, "array  slot  value  kind     row  column\n"
                               "ptr       4      9  pointer    -       -\n"
                               "col       4      0  entry      2       0\n"
                               "col       5      2  entry      2       2\n"
                               "val       4      5  entry      2       0\n"
                               "val       5      3  entry      2       2\n");
    assert_true(talk_line(&t, "load tests/files/complex.rb; layout csr slots 0"));
    assert_non_null(strstr(t.out, "array  slot  value  imaginary  kind     row  column\n"));
    assert_non_null(strstr(t.out, "val       0    2.5         -4  entry      0       1\n"));
    assert_true(talk_line(&t, "use thesis4"));
    talk_refuses(&t, "layout csr slots 9", "slot 9 does not exist; the slots are 0 .. 8");
    talk_refuses(&t, "layout csr slots 0:9", "a range includes both ends, and N: goes to the last");
    talk_says(&t, "layout strips width 2 slots 0", "ends       0    0x2  pointer");
    talk_says(&t, "help packed", "`slice` has four numbers\nper slice");
    talk_says(&t, "layout csr slots 8:", "col       8      3  entry    3       3\n");
    talk_refuses(&t, "layout csr slots 2:3 view", "leave out `slots` or `view`");
    talk_close_screen(&t);
}

/* A drawing that leaves out columns or lines says so. */
TEST(text_says_what_it_leaves_out)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen dense 60"));
    assert_true(talk_line(&t, "layout ell"));
    assert_non_null(strstr(t.out, "60 columns of 60, 0 to 1 shown\n"));
    assert_non_null(strstr(t.out, " lines more; `view layout` scrolls"));
    assert_true(talk_line(&t, "load samples/thesis4.mtx; layout ell"));
    assert_null(strstr(t.out, "shown"));
    assert_null(strstr(t.out, "more"));
    talk_close_screen(&t);
}

/* ---- streams ---- */

static double third(void *user, int64_t i)
{
    static const double value[] = {1.0 / 3, -0.0, NAN, 5, -7, 1e15, 1e300, INFINITY};
    return value[i % COUNT(value)];
}

/* A streamed array has the text of a list, also in the copy for the listener. */
TEST(a_stream_is_a_list)
{
    struct err e = {0};
    char *text[2], *copy;
    size_t n[2], ncopy;
    double value[20];
    for (int i = 0; i < COUNT(value); i++) value[i] = third(NULL, i);
    for (int streamed = 0; streamed < 2; streamed++) {
        FILE *f = open_memstream(&text[streamed], &n[streamed]), *g = open_memstream(&copy, &ncopy);
        struct out *o = out_new(f, stderr, OUT_JSON, &e);
        out_listen(o, g, NULL);
        out_begin(o, "list");
        for (int row = 0; row < 2; row++) {
            out_row(o);
            out_int(o, "n", NULL, 3);
            if (streamed) assert_true(out_stream(o, "values", COUNT(value), third, NULL, &e));
            if (streamed) assert_true(out_stream(o, "none", 0, third, NULL, &e));
            if (!streamed) out_values(o, "values", COUNT(value), value);
            if (!streamed) out_values(o, "none", 0, value);
            if (row) out_int(o, "end", NULL, 4);
        }
        assert_true(out_end(o, &e));
        out_free(o);
        fclose(f);
        fclose(g);
        assert_string_equal(text[streamed], copy);
        free(copy);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return done < 5000;
}

TEST(a_stopped_stream_is_a_valid_line)
{
    struct err e = {0};
    struct watch w = {stop, NULL};
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    struct out *o = out_new(f, stderr, OUT_JSON, &e);
    out_begin(o, "list");
    out_row(o);
    loop_check_all(true);
    struct watch *before = loop_enter(&w);
    assert_false(out_stream(o, "values", 1 << 20, third, NULL, &e));
    loop_enter(before);
    loop_check_all(false);
    assert_int_equal(e.code, E_CANCELLED);
    err_clear(&e);
    assert_true(out_end(o, &e));
    out_free(o);
    fclose(f);
    cJSON *j = cJSON_Parse(text);
    assert_non_null(j);
    int size = cJSON_GetArraySize(cJSON_GetObjectItem(j, "values"));
    assert_true(size >= 5000 && size < 6000);
    cJSON_Delete(j);
    free(text);
}
