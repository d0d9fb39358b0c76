/* Units: text shows times and sizes with a unit, and JSON states them in the unit that its keys name. Under a clock
   that ticks alike in both, each number with a unit in the text must be one of the numbers of JSON, rounded. */
#include "base/base.h"
#include "base/clock.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>

static double ticks_us, step_us, more_us;

static double ticking(void)
{
    step_us += more_us;
    return ticks_us += step_us;
}

/* ---- the numbers of JSON ---- */

enum { KNOWN_MAX = 4096, KEYS_MAX = 128 };

/* In us or bytes. The sums are over all rows of a command. */
static struct {
    double value[KNOWN_MAX];
    bool time[KNOWN_MAX];
    int n;
    struct sum {
        const char *key;
        double value;
    } sum[KEYS_MAX];
    int sums;
} known;

/* The us or bytes of a unit; *time receives which of them. 0: not a unit. */
static double unit_of(const char *name, bool *time)
{
    static const struct {
        const char *name;
        double value;
    } units[] = {{"us", 1},   {"ms", 1e3}, {"s", 1e6},  {"seconds", 1e6}, {"B", 1},
                 {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"bytes", 1},     {"memory", 1}};
    for (int i = 0; i < COUNT(units); i++) {
        *time = i < 4;
        if (!strcmp(units[i].name, name)) return units[i].value;
    }
    return 0;
}

/* The unit that a key begins or ends with: time_us, us_per_iteration, seconds, halo_bytes, memory. */
static double unit_of_key(const char *key, bool *time)
{
    char first[16];
    const char *last = strrchr(key, '_');
    snprintf(first, sizeof first, "%.*s", (int)strcspn(key, "_"), key);
    double unit = unit_of(last ? last + 1 : key, time);
    return unit > 0 ? unit : unit_of(first, time);
}

static void learn(double value, bool time)
{
    assert_true(known.n < KNOWN_MAX);
    known.time[known.n] = time;
    known.value[known.n++] = value;
}

static void add_to_sum(const char *key, double value)
{
    int i = 0;
    while (i < known.sums && strcmp(known.sum[i].key, key)) i++;
    assert_true(i < KEYS_MAX);
    if (i == known.sums) known.sum[known.sums++] = (struct sum){key, 0};
    known.sum[i].value += value;
}

static void learn_all(const cJSON *j, const char *key)
{
    bool time;
    for (const cJSON *c = j->child; c; c = c->next) learn_all(c, c->string ? c->string : key);
    double unit = key ? unit_of_key(key, &time) : 0;
    if (!cJSON_IsNumber(j) || unit == 0) return;
    learn(j->valuedouble * unit, time);
    add_to_sum(key, j->valuedouble * unit);
}

/* ---- the numbers of text ---- */

/* Read "1,234.5 us" at `at`; returns the end, or NULL. *step receives the unit of the last digit. */
static const char *read_measure(const char *at, double *value, double *step, bool *time)
{
    char digits[64] = "", unit[16];
    int n = 0, after = 0;
    bool point = false;
    for (; isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])) ||
           (*at == ',' && isdigit((unsigned char)at[1]));
         at++) {
        if (*at == ',' || n + 1 == (int)sizeof digits) continue;
        after += point;
        point |= *at == '.';
        digits[n++] = *at;
    }
    if (*at != ' ' || !n) return NULL;
    size_t k = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzBGKMT");
    snprintf(unit, sizeof unit, "%.*s", (int)k, at + 1);
    double each = unit_of(unit, time);
    if (each == 0 || k > 2 || at[1 + k] == '/') return NULL;
    *value = strtod(digits, NULL) * each;
    *step = pow(10, -after) * each;
    return at + 1 + k;
}

static bool is_known(double value, double step, bool time)
{
    for (int i = 0; i < known.n; i++)
        if (known.time[i] == time && fabs(known.value[i] - value) <= 0.5001 * step) return true;
    for (int i = 0; i < known.sums; i++)
        if (fabs(known.sum[i].value - value) <= 0.5001 * step) return true;
    return false;
}

static void check(const char *line, const char *row, const char *at, int n, double value, double step, bool time)
{
    if (!is_known(value, step, time)) fail_msg("%s: JSON does not have %.*s in\n%s", line, n, at, row);
}

/* The numbers in a row of text that are followed by a unit; returns how many there are. */
static int check_measures(const char *line, const char *row)
{
    int found = 0;
    double value, step;
    bool time;
    for (const char *at = row, *end; *at; at++) {
        bool inside = at > row && (isalnum((unsigned char)at[-1]) || strchr(".,-_", at[-1]));
        if (!isdigit((unsigned char)*at) || inside || !(end = read_measure(at, &value, &step, &time))) continue;
        check(line, row, at, (int)(end - at), value, step, time);
        found++;
    }
    return found;
}

/* The headings that end in a unit, such as "prep us", and where they end. The numbers below them end there, too. */
struct headings {
    int n, end[16];
    const char *unit[16];
};

static void read_headings(struct headings *h, const char *row)
{
    h->n = 0;
    for (const char *at = row; *at; at++) {
        bool us = !strncmp(at, "us", 2), begins = at == row || at[-1] == ' ',
             ends = !at[2] || !strncmp(at + 2, "  ", 2);
        if ((!us && strncmp(at, "ms", 2) != 0) || !begins || !ends || h->n == COUNT(h->end)) continue;
        h->unit[h->n] = us ? "us" : "ms";
        h->end[h->n++] = (int)(at + 2 - row);
    }
}

static int check_columns(const char *line, const char *row, const struct headings *h)
{
    int found = 0;
    double value, step;
    bool time;
    for (int i = 0; i < h->n; i++) {
        char text[32];
        int end = h->end[i], from = end;
        if ((int)strlen(row) < end) continue;
        while (from > 0 && (isdigit((unsigned char)row[from - 1]) || strchr(".,", row[from - 1]))) from--;
        snprintf(text, sizeof text, "%.*s %s", end - from, row + from, h->unit[i]);
        if (!read_measure(text, &value, &step, &time)) continue;
        check(line, row, row + from, end - from, value, step, time);
        found++;
    }
    return found;
}

/* Rows of a table have gaps of two blanks; a row of headings has no digit. What the device is called is left out. */
static int check_text(const char *line, const char *text)
{
    struct headings h = {0};
    char *all = strdup(text), *rest = all, *about;
    int found = 0;
    if ((about = strstr(all, ", on cpu ("))) memset(about, ' ', strcspn(about, "\n"));
    for (char *row; (row = strsep(&rest, "\n"));) {
        bool table = strstr(row, "  ");
        if (table && !strpbrk(row, "0123456789"))
            read_headings(&h, row);
        else if (table)
            found += check_columns(line, row, &h);
        found += check_measures(line, row);
    }
    free(all);
    return found;
}

/* ---- the commands ---- */

/* If steps grow, no two times are equal. `bench` looks at the clock more often in text than in JSON. */
static void run(struct talk *t, enum out_mode mode, const char *setup, const char *line)
{
    more_us = strncmp(line, "bench", 5) ? 13.7 : 0;
    talk_open(t, mode);
    now_replace(ticking);
    ticks_us = step_us = 1234.5;
    if (!talk_line(t, setup)) fail_msg("%s: %s", setup, t->err);
    talk_forget(t);
    ticks_us = step_us = 1234.5;
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    now_replace(NULL);
}

TEST(text_and_json_agree)
{
    static const struct {
        const char *setup, *line;
    } cases[] = {
        {"version", "load samples/thesis4.mtx"},
        {"gen poisson2d 20 as A", "list"},
        {"gen poisson2d 20 as A; drop A", "undo"},
        {"gen poisson2d 20", "spmv on cpu reps 3"},
        {"gen poisson2d 20", "spmv transposed on cpu reps 3"},
        {"gen poisson2d 20", "convert ell on cpu"},
        {"gen poisson2d 20", "convert ell"},
        {"gen poisson2d 20", "solve cg on cpu"},
        {"gen poisson2d 20", "solve cg on cpu precond jacobi"},
        {"gen poisson2d 20", "solve direct"},
        {"gen poisson2d 20", "solve direct plan"},
        {"gen poisson2d 20", "symmetrize on cpu"},
        {"gen poisson2d 20", "transpose on cpu"},
        {"gen poisson2d 20", "reorder rcm"},
        {"gen poisson2d 20", "scale"},
        {"gen poisson2d 20", "extract 0 9"},
        {"gen poisson2d 20", "prune below 2"},
        {"gen poisson2d 20 as A", "let D = A*A'"},
        {"gen poisson2d 20", "partition 4"},
        {"gen poisson2d 20", "coarsen"},
        {"gen dense 20", "lu on cpu"},
        {"gen dense 20", "lu all on cpu"},
        {"gen poisson2d 20", "eigs 2 on cpu"},
        {"gen poisson2d 20", "predict csr-vector"},
        {"gen poisson2d 20", "explain csr-vector"},
        {"gen poisson2d 20", "whatif parts 1 2 4"},
        {"gen poisson2d 20", "trace csr-scalar"},
        {"gen poisson2d 20", "count csr-vector"},
        {"gen poisson2d 20", "race cg gmres on cpu"},
        {"gen poisson2d 20", "race csr-serial csr-openmp on cpu reps 3"},
        {"gen poisson2d 20", "bench csr ell on cpu reps 3"},
        {"gen poisson2d 20", "bench csc on cpu reps 3 transposed"},
        {"gen poisson2d 20", "spmm k 4 on cpu reps 3"},
        {"gen poisson2d 20", "sm csr-vector"},
        {"gen poisson2d 20", "advise predicted"},
        {"gen poisson2d 20", "formats"},
        {"load tests/files/sides.npz", "solve gmres on cpu"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        known.n = known.sums = 0;
        run(&t, OUT_JSON, cases[i].setup, cases[i].line);
        char *all = strdup(t.out), *rest = all;
        talk_close(&t);
        cJSON *rows = cJSON_CreateArray();
        for (char *row; (row = strsep(&rest, "\n"));)
            if (*row) cJSON_AddItemToArray(rows, cJSON_Parse(row));
        learn_all(rows, NULL);
        run(&t, OUT_TEXT, cases[i].setup, cases[i].line);
        int found = check_text(cases[i].line, t.out);
        if (!found) fail_msg("%s: no number has a unit in\n%s", cases[i].line, t.out);
        talk_close(&t);
        cJSON_Delete(rows);
        free(all);
    }
    devices_close();
}
