/* The commands export and report: every view in every kind of file, pictures that decode, pages that parse, and errors
   of one line. */
#include "base/mem.h"
#include "files/load_info.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "report/fields.h"
#include "solvers/solve.h"
#include "ui/paint.h"
#include "ui/screen.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <cjson/cJSON.h>
#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/test_export.XXXXXX";

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Run "export WHAT", with %s replaced by the folder; it must succeed. */
static void do_export(struct talk *t, const char *fmt)
{
    char line[512];
    snprintf(line, sizeof line, fmt, folder);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
}

/* Read a file as text, with its size; the caller frees it. */
static char *content(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (!f) fail_msg("%s is not there", path);
    FILE *to = open_memstream(&text, n);
    for (int c; (c = getc(f)) != EOF;) putc(c, to);
    fclose(f);
    fclose(to);
    return text;
}

static char *exported(const char *name, size_t *n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return content(path, n);
}

static int files_there(void)
{
    glob_t g;
    char pattern[64];
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    int n = glob(pattern, 0, NULL, &g) ? 0 : (int)g.gl_pathc;
    if (n) globfree(&g);
    return n;
}

static void clean(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -f %s/*", folder);
    assert_int_equal(system(command), 0);
}

/* ---- is it XML? ---- */

static bool entity_at(const char *p)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (int i = 0; i < COUNT(known); i++)
        if (!strncmp(p, known[i], strlen(known[i]))) return true;
    return false;
}

/* Skip the attributes of a tag, each NAME="VALUE"; returns NULL if they are malformed. */
static const char *attributes(const char *p)
{
    while (*p == ' ') {
        p += 1 + strcspn(p + 1, "=<> ");
        if (p[0] != '=' || p[1] != '"') return NULL;
        for (p += 2; *p && *p != '"'; p++)
            if (*p == '<' || (*p == '&' && !entity_at(p))) return NULL;
        if (*p++ != '"') return NULL;
    }
    return p;
}

/* Check that tags nest, attributes are quoted, special characters are entities, and there are no control bytes; if not,
   returns the position of the fault. */
static const char *not_xml(const char *text)
{
    char open[32][16];
    int depth = 0;
    for (const char *p = text; *p;) {
        if ((uint8_t)*p < ' ' && *p != '\n') return p;
        if (*p == '&' && !entity_at(p)) return p;
        if (*p++ != '<' || *p == '!') continue;
        bool closes = *p == '/';
        p += closes;
        int n = (int)strcspn(p, " />");
        if (n == 0 || n > 15 || depth == 31) return p;
        if (closes && (!depth-- || strncmp(open[depth], p, (size_t)n) || open[depth][n])) return p;
        if (!closes) snprintf(open[depth++], sizeof *open, "%.*s", n, p);
        const char *end = attributes(p + n);
        if (!end) return p;
        if (*end == '/') end++, depth--;
        if (*end != '>') return end;
        p = end + 1;
    }
    return depth ? text : NULL;
}

static void check_xml(const char *name, const char *text)
{
    const char *at = not_xml(text);
    if (at) fail_msg("%s is not well formed at: %.80s", name, at);
}

TEST(test_xml_checker)
{
    assert_null(not_xml("<!DOCTYPE html>\n<a b=\"c\"><d/>x &amp; y</a>"));
    assert_non_null(not_xml("<a><b></a></b>"));
    assert_non_null(not_xml("<a>&</a>"));
    assert_non_null(not_xml("<a b=c></a>"));
    assert_non_null(not_xml("<a>\033</a>"));
    assert_non_null(not_xml("<a>"));
}

/* ---- PNG ---- */

struct image {
    uint32_t w, h;
    uint8_t *data; /* h rows of 1 + 3 w bytes, unfiltered */
};

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int paeth(int a, int b, int c)
{
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static void unfilter(struct image *m)
{
    size_t line = 1 + 3 * (size_t)m->w;
    for (uint32_t y = 0; y < m->h; y++) {
        uint8_t *row = m->data + y * line;
        for (size_t i = 1; i < line; i++) {
            int a = i > 3 ? row[i - 3] : 0, b = y ? row[i - line] : 0, c = y && i > 3 ? row[i - line - 3] : 0;
            int add[] = {0, a, b, (a + b) / 2, paeth(a, b, c)};
            assert_true(row[0] < 5);
            row[i] = (uint8_t)(row[i] + add[row[0]]);
        }
    }
}

/* Decode a PNG with 8 bits each for red, green and blue, which cairo writes for pictures without transparency. */
static struct image decoded(const uint8_t *p, size_t n)
{
    struct image m = {0};
    uint8_t *packed = malloc(n);
    size_t npacked = 0;
    assert_memory_equal(p, "\x89PNG\r\n\x1a\n", 8);
    for (size_t at = 8; at < n;) {
        uint32_t length = big_endian(p + at);
        assert_true(at + length + 12 <= n);
        assert_int_equal(crc32(0, p + at + 4, length + 4), big_endian(p + at + 8 + length));
        if (!memcmp(p + at + 4, "IHDR", 4)) {
            m.w = big_endian(p + at + 8);
            m.h = big_endian(p + at + 12);
            assert_memory_equal(p + at + 16, "\x08\x02\0\0\0", 5);
        }
        if (!memcmp(p + at + 4, "IDAT", 4)) memcpy(packed + npacked, p + at + 8, length), npacked += length;
        at += length + 12;
    }
    uLongf size = (uLongf)m.h * (1 + 3 * m.w);
    m.data = malloc(size);
    assert_int_equal(uncompress(m.data, &size, packed, npacked), Z_OK);
    free(packed);
    unfilter(&m);
    return m;
}

static uint32_t pixel(const struct image *m, uint32_t x, uint32_t y)
{
    const uint8_t *p = m->data + y * (1 + 3 * (size_t)m->w) + 1 + 3 * (size_t)x;
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static bool has_cairo(void)
{
    if (dlopen(png_cairo_name, RTLD_NOW)) return true;
    printf("skipped: %s is not installed\n", png_cairo_name);
    return false;
}

/* The 2 x 2 identity at 400 x 200 pixels: squares of 50 pixels; the squares begin at (150, 50). */
static void check_squares(bool light)
{
    struct talk t;
    size_t n;
    struct csr A;
    struct load_info info = {.file = "eye"};
    const int at[] = {0, 1};
    const double ones[] = {1, 1};
    talk_open_screen(&t);
    assert_true(csr_from_triplets(&A, 2, 2, 2, at, at, ones, NULL, NULL, NULL));
    assert_true(session_add(&t.s, NULL, &A, &info, NULL));
    do_export(&t, light ? "export spy %s/i.png size 40x10 light" : "export spy %s/i.png size 40x10");
    char *png = exported("i.png", &n);
    struct image m = decoded((uint8_t *)png, n);
    uint32_t full = paint_colour(ST_RAMP + 7, light), ground = paint_ground(light);
    assert_int_equal(m.w, 400);
    assert_int_equal(m.h, 200);
    assert_int_equal(pixel(&m, 150, 50), full);
    assert_int_equal(pixel(&m, 199, 99), full);
    assert_int_equal(pixel(&m, 200, 99), ground);
    assert_int_equal(pixel(&m, 199, 100), ground);
    assert_int_equal(pixel(&m, 249, 149), full);
    assert_int_equal(pixel(&m, 149, 70), paint_colour(ST_AXIS, light));
    assert_int_equal(pixel(&m, 0, 199), ground);
    free(m.data);
    free(png);
    clean();
    talk_close_screen(&t);
}

TEST(test_png_pixels)
{
    if (!has_cairo()) return;
    check_squares(false);
    check_squares(true);
}

/* One entry among 10^10 elements is visible, and a full matrix has one colour. */
TEST(test_png_extremes)
{
    struct talk t;
    struct csr A;
    size_t n;
    struct load_info info = {.file = "one"};
    int row = 77777, col = 12345, seen = 0;
    double one = 1;
    if (!has_cairo()) return;
    talk_open_screen(&t);
    assert_true(csr_from_triplets(&A, 100000, 100000, 1, &row, &col, &one, NULL, NULL, NULL));
    assert_true(session_add(&t.s, "one", &A, &info, NULL));
    do_export(&t, "export spy %s/one.png");
    assert_true(talk_line(&t, "gen dense 901"));
    do_export(&t, "export spy %s/full.png");
    char *png = exported("one.png", &n);
    struct image m = decoded((uint8_t *)png, n);
    for (uint32_t y = 50; y < 750; y++)
        for (uint32_t x = 0; x < m.w; x++) seen += pixel(&m, x, y) == paint_colour(ST_RAMP + 7, false);
    assert_int_equal(seen, 1);
    free(m.data);
    free(png);
    png = exported("full.png", &n);
    m = decoded((uint8_t *)png, n);
    for (uint32_t y = 60; y < 740; y++)
        for (uint32_t x = 260; x < 940; x++) assert_int_equal(pixel(&m, x, y), paint_colour(ST_RAMP + 7, false));
    free(m.data);
    free(png);
    clean();
    talk_close_screen(&t);
}

/* In the picture by sign, the squares have the colours of the signs. In the picture by magnitude, the larger value has
   the colour at the end of the colour ramp. */
TEST(test_png_values)
{
    struct talk t;
    size_t n;
    struct csr A;
    struct load_info info = {.file = "signs"};
    const int at[] = {0, 1};
    const double values[] = {3, -1};
    if (!has_cairo()) return;
    talk_open_screen(&t);
    assert_true(csr_from_triplets(&A, 2, 2, 2, at, at, values, NULL, NULL, NULL));
    assert_true(session_add(&t.s, NULL, &A, &info, NULL));
    for (int by = 0; by < 2; by++) {
        assert_true(talk_line(&t, by ? "spy by magnitude" : "spy by sign"));
        do_export(&t, "export spy %s/v.png size 40x10 light force");
        char *png = exported("v.png", &n);
        struct image m = decoded((uint8_t *)png, n);
        assert_int_equal(pixel(&m, 160, 60), paint_colour(by ? ST_RAMP + 7 : ST_ROW, true));
        assert_int_equal(pixel(&m, 230, 130), paint_colour(by ? ST_RAMP : ST_ROW + 1, true));
        free(m.data);
        free(png);
    }
    clean();
    talk_close_screen(&t);
}

/* The position of the colour rgb between the colours `from` (0) and `to` (1); -1: rgb is not between them. */
static double on_the_way(uint32_t rgb, uint32_t from, uint32_t to)
{
    double share = -1;
    for (int shift = 0; shift < 24; shift += 8) {
        double a = from >> shift & 255, b = to >> shift & 255, v = rgb >> shift & 255;
        if (fabs(b - a) < 20) continue;
        double here = (v - a) / (b - a);
        if (here < 0 || here > 1 || (share >= 0 && fabs(here - share) > 0.1)) return -1;
        share = here;
    }
    return share;
}

/* The residual is a smooth line: it crosses each column of pixels, and the pixels at its edge are a mixture of its
   colour and the background. Dots and letters drawn from cells have no such pixels. */
TEST(test_png_curve)
{
    enum { LEFT = 100, RIGHT = 1150, TOP = 62, BOTTOM = 520 };
    struct talk t;
    size_t n;
    int soft = 0, empty = 0;
    if (!has_cairo()) return;
    talk_open_screen(&t);
    if (!talk_line(&t, "gen poisson2d 12; solve cg on cpu")) fail_msg("%s", t.err);
    do_export(&t, "export solve %s/curve.png light");
    char *png = exported("curve.png", &n);
    struct image m = decoded((uint8_t *)png, n);
    uint32_t ground = paint_ground(true), ink = paint_colour(ST_PLOT_A, true);
    for (uint32_t x = LEFT; x < RIGHT; x++) {
        int here = 0;
        for (uint32_t y = TOP; y < BOTTOM; y++) {
            double share = on_the_way(pixel(&m, x, y), ground, ink);
            soft += share > 0.2 && share < 0.8;
            here += share > 0.4;
        }
        empty += !here;
    }
    assert_in_range(soft, RIGHT - LEFT, 20 * (RIGHT - LEFT));
    assert_true(empty < (RIGHT - LEFT) / 20);
    free(m.data);
    free(png);
    clean();
    talk_close_screen(&t);
}

/* ---- lines and axes ---- */

static int times_in(const char *text, const char *part)
{
    int n = 0;
    for (const char *p = strstr(text, part); p; p = strstr(p + 1, part)) n++;
    return n;
}

/* Each plot of a view has its lines as paths, and axes with numbers and names. The plot contains none of the letters
   and dots that a terminal shows. */
TEST(test_svg_axes)
{
    static const struct {
        const char *view, *words[8];
    } plots[] = {
        {"spy", {">0<", ">50<", ">100<", ">columns<"}},
        {"rows", {">0<", ">20<", ">100<", ">rows<"}},
        {"solve", {">1e+00<", ">1e-08<", ">0<", ">10<", ">iterations<", ">tol 1e-08<"}},
        {"race", {">1e+00<", ">1e-08<", ">0<", ">A<", ">B<"}},
        {"bench", {">0%<", ">20%<", ">100%<", ">speed of the fastest<"}},
    };
    struct talk t;
    char line[256], name[64];
    size_t n;
    talk_open_screen(&t);
    if (!talk_line(&t,
                   "gen poisson2d 12; spmv on cpu reps 2; race cg jacobi on cpu; solve cg on cpu; timeline on emu*2"))
        fail_msg("%s", t.err);
    for (int i = 0; i < COUNT(plots); i++) {
        snprintf(name, sizeof name, "%s.svg", plots[i].view);
        snprintf(line, sizeof line, "export %s %s/%s", plots[i].view, folder, name);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        char *svg = exported(name, &n);
        if (times_in(svg, "<path fill=\"none\" stroke=") < 5) fail_msg("%s has no lines", name);
        for (int k = 0; plots[i].words[k]; k++)
            if (!strstr(svg, plots[i].words[k])) fail_msg("%s has no %s", name, plots[i].words[k]);
        assert_null(strstr(svg, "\xe2\xa0")); /* braille */
        assert_null(strstr(svg, "\xe2\x94")); /* lines of boxes */
        free(svg);
    }
    clean();
    talk_close_screen(&t);
}

/* A solve of many iterations is drawn with a few points per column. */
TEST(test_svg_size)
{
    struct talk t;
    size_t n;
    talk_open_screen(&t);
    if (!talk_line(&t, "gen poisson2d 40; solve jacobi tol 1e-12 max 9000 on cpu")) fail_msg("%s", t.err);
    do_export(&t, "export solve %s/long.svg");
    char *svg = exported("long.svg", &n);
    assert_in_range(times_in(svg, "L"), 500, 3000);
    free(svg);
    clean();
    talk_close_screen(&t);
}

/* ---- golden files ---- */

static void check_golden(const char *name)
{
    char path[128];
    size_t n, want_n;
    char *is = exported(name, &n), *want;
    snprintf(path, sizeof path, "tests/golden/export_%s", name);
    if (getenv("WARPSPY_GOLDEN")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(is, 1, n, f);
        fclose(f);
    }
    want = content(path, &want_n);
    assert_string_equal(is, want);
    free(is);
    free(want);
}

TEST(test_golden)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen rmat 8 4 seed 3; gen poisson2d 5"));
    do_export(&t, "export spy %s/spy.txt size 60x20");
    do_export(&t, "export spy %s/spy.svg size 40x15");
    do_export(&t, "export rows %s/rows.svg rmat light size 60x20");
    do_export(&t, "export layout %s/layout.svg size 60x12");
    do_export(&t, "export spy %s/spy.csv size 40x10");
    check_golden("spy.txt");
    check_golden("spy.svg");
    check_golden("rows.svg");
    check_golden("layout.svg");
    check_golden("spy.csv");
    clean();
    talk_close_screen(&t);
}

/* The picture shows the same part of the matrix as the screen. */
TEST(test_place)
{
    struct talk t;
    size_t n;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    struct view_state *st = screen_view_state(&t.s, view_find("spy"));
    view_reset(st, t.s.current);
    st->win = (struct window){100, 140, 60, 100};
    do_export(&t, "export spy %s/a.svg");
    char *svg = exported("a.svg", &n);
    assert_non_null(strstr(svg, "rows 100 to 139, columns 60 to 99, counted from 0"));
    free(svg);
    assert_true(talk_line(&t, "gen poisson2d 21"));
    do_export(&t, "export spy %s/b.svg");
    svg = exported("b.svg", &n);
    assert_null(strstr(svg, "counted from 0"));
    free(svg);
    clean();
    talk_close_screen(&t);
}

/* ---- every view ---- */

static void do_work(struct talk *t)
{
    static const char work[] = "lesson tests/files/lesson_tables.txt reps 1; sweep k 1..3 of gen band 9 k; "
                               "gen poisson2d 12; spmv on cpu reps 2; race cg jacobi on cpu; solve cg on cpu; "
                               "partition 3; whatif parts 1 2; timeline on emu*2; roofline; sm";
    if (!talk_line(t, work)) fail_msg("%s", t->err);
}

TEST(test_every_view)
{
    struct talk t;
    char line[256], name[64];
    size_t n;
    bool cairo = has_cairo();
    talk_open_screen(&t);
    do_work(&t);
    for (int i = 0; views[i]; i++)
        for (int k = 0; k < 3; k++) {
            static const char *const kind[] = {"txt", "svg", "png"};
            if (k == 2 && !cairo) continue;
            snprintf(name, sizeof name, "%s.%s", views[i]->name, kind[k]);
            snprintf(line, sizeof line, "export %s %s/%s", views[i]->name, folder, name);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
            char *text = exported(name, &n);
            assert_true(n > (k ? 50 : 1)); /* the exported text of a view may be a single word */
            if (k == 1) check_xml(name, text);
            if (k == 2) free(decoded((uint8_t *)text, n).data);
            free(text);
        }
    clean();
    talk_close_screen(&t);
}

static cJSON *exported_json(struct talk *t, const char *view)
{
    char line[256];
    size_t n;
    snprintf(line, sizeof line, "export %s %s/a.json force", view, folder);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    char *text = exported("a.json", &n);
    cJSON *j = cJSON_Parse(text);
    if (!cJSON_IsArray(j)) fail_msg("%s: not an array: %.200s", view, text);
    free(text);
    return j;
}

static double number(const cJSON *row, const char *key)
{
    const cJSON *v = cJSON_GetObjectItem(row, key);
    if (!cJSON_IsNumber(v)) fail_msg("no number %s", key);
    return v->valuedouble;
}

/* The 12 x 12 grid: 4 rows of 3 entries, 40 rows of 4 entries and 100 rows of 5 entries; 5 warps. */
static void check_rows(const cJSON *j)
{
    const cJSON *row;
    double rows = 0, warps = 0;
    int quantiles = 0;
    cJSON_ArrayForEach(row, j)
    {
        const char *kind = cJSON_GetObjectItem(row, "kind")->valuestring;
        if (!strcmp(kind, "bin")) rows += number(row, "rows");
        if (!strcmp(kind, "warp_bin")) warps += number(row, "warps");
        if (!strcmp(kind, "warps")) assert_true(number(row, "warps") == 5 && number(row, "cost") > 1);
        if (strcmp(kind, "quantile")) continue;
        double share = number(row, "share"), length = number(row, "length");
        assert_true(length == (share < 0.02 ? 3 : share < 0.3 ? 4 : 5));
        quantiles++;
    }
    assert_true(rows == 144 && warps == 5 && quantiles == 7);
}

TEST(test_numbers)
{
    struct talk t;
    double sum = 0;
    const cJSON *row, *count;
    talk_open_screen(&t);
    do_work(&t);
    cJSON *j = exported_json(&t, "spy");
    cJSON_ArrayForEach(row, j) cJSON_ArrayForEach(count, cJSON_GetObjectItem(row, "counts")) sum += count->valuedouble;
    assert_int_equal((int)sum, 12 * 12 * 5 - 4 * 12);
    cJSON_Delete(j);
    j = exported_json(&t, "rows");
    check_rows(j);
    cJSON_Delete(j);
    j = exported_json(&t, "solve");
    assert_int_equal(cJSON_GetArraySize(j), t.s.solve->iterations + 1);
    assert_true(number(cJSON_GetArrayItem(j, 0), "residual") == 1);
    assert_true(number(cJSON_GetArrayItem(j, cJSON_GetArraySize(j) - 1), "residual") == t.s.solve->residual);
    cJSON_Delete(j);
    j = exported_json(&t, "bench");
    assert_int_equal(cJSON_GetArraySize(j), t.s.nruns);
    cJSON_Delete(j);
    j = exported_json(&t, "race");
    assert_int_equal(cJSON_GetArraySize(j), 2);
    cJSON_Delete(j);
    j = exported_json(&t, "layout");
    assert_int_equal(cJSON_GetArraySize(j), 3);
    cJSON_Delete(j);
    j = exported_json(&t, "lu");
    assert_int_equal(cJSON_GetArraySize(j), 144);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetArrayItem(j, 0), "values")), 144);
    cJSON_Delete(j);
    clean();
    talk_close_screen(&t);
}

/* ---- the keys of numbers ---- */

/* The keys of a row that are in a table; `missing` is a key of the table that the row lacks. */
struct compared {
    const cJSON *row;
    int n;
    const char *missing;
};

static void compare_key(void *user, const struct field *d, const char *path)
{
    struct compared *c = user;
    if (strchr(path, '.')) return; /* a key of an object in a list */
    bool has = cJSON_HasObjectItem(c->row, path);
    c->n += has;
    if (!has) c->missing = d->key;
}

static bool fits(const cJSON *row, const struct row_kind *r)
{
    struct compared c = {.row = row};
    rows_each(&row_said, compare_key, &c);
    rows_each(r, compare_key, &c);
    return !c.missing && c.n == cJSON_GetArraySize(row);
}

/* Each row of the numbers of a view has the keys of exactly one of the view's tables. */
static void check_keys(struct talk *t, const struct view *v)
{
    const cJSON *row;
    cJSON *j = exported_json(t, v->name);
    assert_true(cJSON_GetArraySize(j) > 0);
    cJSON_ArrayForEach(row, j)
    {
        int n = 0;
        for (int i = 0; v->rows[i]; i++) n += fits(row, v->rows[i]);
        if (n != 1) fail_msg("%s: %d tables have the keys of %s", v->name, n, cJSON_PrintUnformatted(row));
    }
    cJSON_Delete(j);
}

TEST(numbers_have_the_keys_of_the_tables_of_their_view)
{
    struct talk t;
    talk_open_screen(&t);
    do_work(&t);
    for (int i = 0; views[i]; i++) {
        assert_true(!views[i]->numbers == !views[i]->rows);
        if (views[i]->numbers) check_keys(&t, views[i]);
    }
    assert_true(talk_line(&t, "race csr-serial ell-serial on cpu reps 1"));
    check_keys(&t, view_find("race"));
    assert_true(talk_line(&t, "load tests/golden/complex.mtx"));
    check_keys(&t, view_find("layout"));
    clean();
    talk_close_screen(&t);
}

/* ---- the page ---- */

static const char *const parts[] = {"<!DOCTYPE html>",
                                    "warpspy " WARPSPY_VERSION,
                                    "<th>bandwidth</th><td>12</td>",
                                    "definite ",
                                    "<title>spy of poisson2d</title>",
                                    "<title>rows of poisson2d</title>",
                                    "<h2>Report card</h2>",
                                    "<h2>Which kernel</h2>",
                                    "<h2>What limits it</h2>",
                                    "fp64: ",
                                    "<h2>Roofline</h2>",
                                    "<title>roofline of poisson2d</title>",
                                    "<h2>Facts</h2>",
                                    "<h2>How to repeat this</h2>",
                                    "<h2>SpMV benchmarks</h2>",
                                    "<h2>Solve</h2>",
                                    "<h2>Race</h2>",
                                    "<th>because</th><td>relative residual",
                                    "<li><code>gen poisson2d 12</code></li>",
                                    "<li><code>solve cg on cpu</code></li>"};

TEST(test_report)
{
    struct talk t;
    size_t n;
    talk_open_screen(&t);
    do_work(&t);
    assert_false(talk_line(&t, "solve nothing"));
    do_export(&t, "report %s/a.html");
    char *page = exported("a.html", &n);
    check_xml("a.html", page);
    for (int i = 0; i < COUNT(parts); i++)
        if (!strstr(page, parts[i])) fail_msg("the page has no %s", parts[i]);
    assert_null(strstr(page, "solve nothing"));
    assert_null(strstr(page, "http://localhost"));
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "@page"));
    free(page);
    do_export(&t, "report %s/s.html slides");
    page = exported("s.html", &n);
    check_xml("s.html", page);
    assert_non_null(strstr(page, "@page"));
    assert_non_null(strstr(page, "<h2>Roofline</h2>"));
    free(page);
    assert_true(talk_line(&t, "gen dense 3"));
    do_export(&t, "report %s/b.html dense");
    page = exported("b.html", &n);
    assert_null(strstr(page, "<h2>Solve</h2>"));
    assert_null(strstr(page, "<h2>SpMV benchmarks</h2>"));
    free(page);
    clean();
    talk_close_screen(&t);
}

/* The list contains a script's commands, a lesson's name, and commands typed in a view, but no failed commands. */
TEST(test_command_list)
{
    struct talk t;
    char line[128];
    talk_open_screen(&t);
    snprintf(line, sizeof line, "%s/s.ws", folder);
    FILE *f = fopen(line, "w");
    fputs("gen poisson2d 3\nstats\n", f);
    fclose(f);
    do_export(&t, "source %s/s.ws; rows");
    assert_false(talk_line(&t, "rows nothing; stats"));
    t.s.nested++;
    assert_true(talk_line(&t, "list"));
    t.s.nested--;
    assert_true(talk_line(&t, "lesson samples/lessons/drm.txt"));
    assert_string_equal(t.s.log.text, "gen poisson2d 3\nstats\nrows\nlist\nlesson samples/lessons/drm.txt\n");
    clean();
    talk_close_screen(&t);
}

/* Special characters and control bytes in a file's name are escaped. */
TEST(test_report_escapes)
{
    struct talk t;
    struct csr A = {0};
    size_t n;
    struct load_info info = {.file = "a<b>&\"'\033[31m\xe2\x80\xae\xff\xef\xbf\xbf.mtx"};
    int at = 0;
    double one = 1;
    talk_open_screen(&t);
    assert_true(csr_from_triplets(&A, 1, 1, 1, &at, &at, &one, NULL, NULL, NULL));
    assert_true(session_add(&t.s, NULL, &A, &info, NULL));
    assert_false(talk_line(&t, "load '/none/<i>' ; list"));
    assert_true(talk_line(&t, "help 'load'"));
    do_export(&t, "report %s/a.html");
    char *page = exported("a.html", &n);
    check_xml("a.html", page);
    assert_non_null(strstr(page, "a&lt;b&gt;&amp;&quot;&#39;\\x1b[31m"));
    assert_null(strchr(page, '\033'));
    assert_null(strstr(page, "\xe2\x80\xae"));
    assert_null(strchr(page, '\xff'));
    free(page);
    clean();
    talk_close_screen(&t);
}

TEST(test_many_commands)
{
    struct talk t;
    talk_open_screen(&t);
    bool was_cut = false;
    for (int i = 0; i < 30000; i++) {
        log_add(&t.s.log, "export spy a.png as png");
        if (!was_cut && t.s.log.cut) assert_true(strlen(t.s.log.text) == t.s.log.size); /* right after the cut */
        was_cut = t.s.log.cut;
    }
    assert_true(was_cut);
    assert_true(t.s.log.size <= 1 << 18 && t.s.log.size > 1 << 16);
    assert_int_equal(strlen(t.s.log.text), t.s.log.size);
    assert_memory_equal(t.s.log.text, "export spy a.png as png\nexport", 30);
    talk_close_screen(&t);
}

/* ---- failures ---- */

/* Check that the command is refused in one line that contains `part`, and leaves no new file. */
static void refuses(struct talk *t, const char *fmt, const char *part)
{
    char line[512];
    int before = files_there();
    snprintf(line, sizeof line, fmt, folder, folder);
    talk_refuses(t, line, part);
    const char *end = strchr(t->err, '\n');
    if (!end || end[1]) fail_msg("%s: expected one line, found: %s", line, t->err);
    assert_int_equal(files_there(), before);
}

TEST(test_failures)
{
    struct talk t;
    talk_open_screen(&t);
    refuses(&t, "export spy %s/a.svg", "there is no matrix to show");
    refuses(&t, "report %s/a.html", "no matrix is loaded");
    assert_true(talk_line(&t, "gen poisson2d 5"));
    refuses(&t, "export bench %s/a.svg", "nothing has been measured yet");
    refuses(&t, "export solve %s/a.csv", "nothing has been solved yet");
    refuses(&t, "export race %s/a.txt", "no race yet");
    refuses(&t, "export nothing %s/a.txt", "is not a view");
    refuses(&t, "export spy %s/a", "end the name in .txt, .svg, .png, .json or .csv");
    refuses(&t, "export spy %s/a.b/c", "end the name in .txt");
    refuses(&t, "export spy %s/a.txt as gif", "after `as`");
    refuses(&t, "export spy %s/a.txt size 20", "120x40");
    refuses(&t, "export spy %s/a.txt size 39x40", "40x10");
    refuses(&t, "export spy %s/a.txt size 120x401", "400x400");
    refuses(&t, "export spy %s/none/a.txt", "no such directory");
    refuses(&t, "report %s/none/a.html", "no such directory");
    refuses(&t, "export spy /dev/full as txt", "not a regular file");
    refuses(&t, "report /dev/full", "not a regular file");
    do_export(&t, "export spy %s/a.txt");
    refuses(&t, "export spy %s/a.txt", "`force` to the command");
    refuses(&t, "report %s/a.txt", "`force` to the command");
    do_export(&t, "export spy %s/a.txt force");
    do_export(&t, "report %s/a.txt force");
    png_cairo_name = "libnone.so.7";
    refuses(&t, "export spy %s/a.png", "PNG needs cairo (libnone.so.7), which is not installed");
    png_cairo_name = "libcairo.so.2";
    clean();
    talk_close_screen(&t);
}

/* A disk that becomes full in the middle of the file. */
TEST(test_full_disk)
{
    struct talk t;
    struct rlimit was, small;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    small = (struct rlimit){1000, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    refuses(&t, "export spy %s/a.csv", "cannot write the file");
    refuses(&t, "report %s/a.html", "cannot write the file");
    setrlimit(RLIMIT_FSIZE, &was);
    talk_close_screen(&t);
}

/* Whichever allocation fails, the command prints one line of error and leaves no file, and the session continues. */
TEST(test_no_memory)
{
    static const char *const lines[] = {"export spy %s/a.txt force",  "export spy %s/a.svg force",
                                        "export spy %s/a.json force", "export rows %s/a.csv force",
                                        "export lu %s/a.json force",  "report %s/a.html force"};
    struct talk t;
    char line[256];
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 4"));
    for (int i = 0; i < COUNT(lines); i++) {
        snprintf(line, sizeof line, lines[i], folder);
        bool ok = false;
        for (int64_t n = 1; !ok && n < 3000; n += n < 40 ? 1 : 7) {
            mem_fail_at(n);
            ok = talk_line(&t, line);
            mem_fail_at(0);
            const char *end = strchr(t.err, '\n');
            if (!ok && (!end || end[1])) fail_msg("%s, %lld: one line expected: %s", line, (long long)n, t.err);
            if (!ok) assert_non_null(strstr(t.err, "memory"));
            assert_true(files_there() <= 1); /* a complete file may remain if only the message about the file failed */
            if (!ok) clean();
        }
        assert_true(ok);
        clean();
    }
    talk_close_screen(&t);
}

SUITE(.setup = make_folder, .teardown = remove_folder);
