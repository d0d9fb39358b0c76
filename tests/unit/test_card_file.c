/* The report card's lines about the file: each kind of finding, file and line end; files that have changed; Ctrl-C and
   failing allocations; and random files with known findings. */
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/mtx_find.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <archive.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text of the card's line `file`, or the reason why the card has no such line. */
static const char *file_line(const char *path, bool only)
{
    static struct talk t;
    static bool open;
    char line[400];
    if (open) talk_close(&t);
    open = path != NULL;
    if (!path) return NULL;
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as A", path);
    if (!talk_line(&t, line)) fail_msg("%s: %s", path, t.err);
    if (!talk_line(&t, only ? "check A only file" : "check A")) fail_msg("%s: %s", path, t.err);
    char *found = strstr(t.out, "\nfile ");
    if (!found) return NULL;
    found[1 + strcspn(found + 1, "\n")] = 0;
    return found + 12;
}

/* The text with each \n replaced by `end`. */
static size_t with_ends(const char *text, const char *end, char *out)
{
    size_t n = 0;
    for (; *text; text++)
        if (*text == '\n')
            n += (size_t)sprintf(out + n, "%s", end);
        else
            out[n++] = *text;
    return n;
}

struct sample {
    const char *text, *says; /* NULL: the card has no line `file` */
};

/* Lines are numbered from 1 and include blank lines and comments. */
static const struct sample samples[] = {
    {"%%MatrixMarket matrix coordinate real general\n% a\n\n3 3 5\n1 1 4\n% b\n1 3 -1\n2 3 nan\n\n2 2 0\n3 1 0.0e7\n",
     "NaN, inf: line 8; zeros: lines 10, 11"},
    {"%%MatrixMarket matrix coordinate real general\n2 2 5\n1 1 4\n2 2 1\n2 1 7\n1 1 5\n1 1 6\n",
     "duplicates: lines 3 and 6, 3 and 7"},
    {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e999\n2 2 -inf\n", "NaN, inf: lines 3, 4"},
    /* The sum of duplicates is reported at the first line of their position; NaN and inf that are in the file are
       reported first. */
    {"%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 3\n2 2 5\n1 1 -3\n2 2 inf\n",
     "NaN, inf: line 6; zeros: line 3; duplicates: lines 3 and 5, 4 and 6"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n2 2\n1 2\n", "duplicates: lines 3 and 5"},
    {"%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 0\n2 2 1\n1 1 -0\n", "zeros: lines 3, 5"},
    {"%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 2 0 0\n2 2 1 nan\n1 1 0 1\n",
     "NaN, inf: line 4; zeros: line 3"},
    /* The file stores an entry once, below or above the diagonal, but the matrix contains it twice. */
    {"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n3 1 nan\n2 1 0\n3 2 5\n",
     "NaN, inf: line 4; zeros: line 5"},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n1 3 nan\n1 2 0\n1 2 0\n",
     "NaN, inf: line 4; zeros: line 5; duplicates: lines 5 and 6"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 0\n3 1 inf\n",
     "NaN, inf: line 4; zeros: line 3"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n2 1 0 0\n2 2 1 0\n", "zeros: line 3"},
    /* Array files: zeros are not entries. */
    {"%%MatrixMarket matrix array real general\n2 2\n1\n0\n% c\nnan\n4\n", "NaN, inf: line 6"},
    {"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\ninf\n6\n", "NaN, inf: line 7"},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\nnan\n", "NaN, inf: line 5"},
    {"%%MatrixMarket matrix array complex general\n1 2\n1 2\n3 inf\n", "NaN, inf: line 4"},
    {"%%MatrixMarket vector coordinate real general\n3 2\n3 0\n1 nan\n", "NaN, inf: line 4; zeros: line 3"},
    {"%%MatrixMarket vector array real general\n2\n1\nnan\n", "NaN, inf: line 4"},
    /* There are more findings than the card lists. */
    {"%%MatrixMarket matrix coordinate real general\n9 1 8\n9 1 0\n2 1 0\n3 1 0\n4 1 0\n5 1 0\n6 1 0\n7 1 0\n8 1 0\n",
     "zeros: lines 4, 5, 6, ..."},
    {"%%MatrixMarket matrix coordinate real general\n1 1 6\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n",
     "duplicates: lines 3 and 4, 3 and 5, 3 and 6, ..."},
    {"%%MatrixMarket matrix coordinate real general\n20 20 4\n19 19 nan\n18 3 0\n17 3 1\n17 3 1\n",
     "NaN, inf: line 3; zeros: line 4; duplicates: lines 5 and 6"},
    {"%%MatrixMarket matrix coordinate real general\n20 20 3\n18 3 0\n17 3 1\n17 3 1\n",
     "zeros: line 3; duplicates: lines 4 and 5"},
    {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", NULL},
};

TEST(test_kinds)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    char out[4096];
    for (int i = 0; i < COUNT(samples); i++)
        for (int k = 0; k < COUNT(ends); k++) {
            size_t n = with_ends(samples[i].text, ends[k], out);
            const char *line = file_line(write_file("k.mtx", out, n), false);
            if (!samples[i].says != !line || (line && strcmp(line, samples[i].says)))
                fail_msg("%sexpected %s, found %s", samples[i].text, samples[i].says, line ? line : "nothing");
        }
    file_line(NULL, false);
}

TEST(test_packed)
{
    for (int i = 0; i < 3; i++) {
        struct member m = {"A.mtx", samples[i].text, strlen(samples[i].text)};
        assert_string_equal(file_line(pack_file("A.mtx.gz", ARCHIVE_FILTER_GZIP, false, &m, 1), false),
                            samples[i].says);
        assert_string_equal(file_line(pack_file("A.tar.gz", ARCHIVE_FILTER_GZIP, true, &m, 1), false), samples[i].says);
        assert_string_equal(file_line(pack_file("A.mtx.xz", ARCHIVE_FILTER_XZ, false, &m, 1), false), samples[i].says);
    }
    file_line(NULL, false);
}

/* If the user names the line `file` in the command `check`, the line also reports that nothing was found. */
TEST(test_nothing)
{
    const struct sample *last = &samples[COUNT(samples) - 1];
    const char *path = write_file("n.mtx", last->text, strlen(last->text));
    assert_string_equal(file_line(path, true), "the file holds no NaN, inf, stored zero or duplicate");
    file_line(NULL, false);
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 3; check only file", "not from a Matrix Market file");
    talk_says(&t, "load tests/files/csr.npz as N; check only file", "not from a Matrix Market file");
    char line[400];
    snprintf(line, sizeof line, "load %s as B; transpose B as C; check C only file",
             write_file("d.mtx", samples[0].text, strlen(samples[0].text)));
    talk_says(&t, line, "not from a Matrix Market file");
    /* if there is nothing to find, the file is not read */
    snprintf(line, sizeof line, "load %s as Q", path);
    assert_true(talk_line(&t, line));
    assert_int_equal(unlink(path), 0);
    assert_true(talk_line(&t, "check Q"));
    assert_null(strstr(t.out, "\nfile"));
    talk_close(&t);
}

/* Whatever is found, no line is too wide, and the card fits on a screen. */
TEST(test_width)
{
    struct talk t;
    char line[400];
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(samples); i++) {
        snprintf(line, sizeof line, "load %s as A%d", write_file("w.mtx", samples[i].text, strlen(samples[i].text)), i);
        assert_true(talk_line(&t, line));
        assert_true(talk_line(&t, "check"));
        int lines = 0;
        for (const char *p = t.out; *p; lines++, p += strcspn(p, "\n") + 1)
            if (strcspn(p, "\n") > 80) fail_msg("wider than 80 columns: %.*s", (int)strcspn(p, "\n"), p);
        if (lines > 23) fail_msg("%d lines:\n%s", lines, t.out);
    }
    talk_close(&t);
}

/* ---- files that have changed ---- */

static void set_time(const char *path, const struct stat *as)
{
    struct timespec both[2] = {as->st_atim, as->st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
}

TEST(test_changed)
{
    static const char changed[] = "file       the file has changed since it was loaded; line numbers are not shown";
    static const char *const others[] = {
        /* these files are as long as the first file, and only the text differs; the last two files are invalid */
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 0\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 1 3\n2 1 0\n1 1 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 9\n2 2 3\n1 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n3 1 0\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 x 0\n2 2 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real nothing\n2 2 3\n2 x 0\n2 2 1\n1 1 1\n",
    };
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n2 2 3\n2 1 0\n2 2 1\n1 1 1\n";
    char line[400];
    for (int i = 0; i < COUNT(others); i++) {
        struct talk t;
        struct stat st;
        const char *path = write_file("c.mtx", text, strlen(text));
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "load %s as A", path);
        assert_true(talk_line(&t, line) && !stat(path, &st));
        talk_says(&t, "check A", "file       zeros: line 3\n");
        assert_int_equal(strlen(others[i]), strlen(text));
        write_file("c.mtx", others[i], strlen(others[i]));
        set_time(path, &st);
        talk_says(&t, "check A", changed);
        st.st_mtim.tv_nsec ^= 1;
        write_file("c.mtx", text, strlen(text));
        set_time(path, &st);
        talk_says(&t, "check A", changed);
        assert_int_equal(unlink(path), 0);
        talk_says(&t, "check A", "file       the file cannot be read again (No such file or directory); line numbers");
        assert_int_equal(mkfifo(path, 0600), 0);
        talk_says(&t, "check A", changed);
        assert_int_equal(unlink(path), 0);
        talk_close(&t);
    }
}

/* ---- JSON ---- */

TEST(test_json)
{
    static const char *const parts[] = {
        "\"nonfinite_line\":6",
        "\"explicit_zero_line\":3",
        "\"duplicate_row\":0",
        "\"duplicate_col\":0",
        "\"duplicate_first_line\":3",
        "\"duplicate_line\":5",
        "\"file: NaN, inf: line 6; zeros: line 3; duplicates: lines 3 and 5, 4 and 6\""};
    struct talk t;
    char line[400];
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "load %s as A", write_file("j.mtx", samples[3].text, strlen(samples[3].text)));
    assert_true(talk_line(&t, line));
    for (int i = 0; i < COUNT(parts); i++) talk_says(&t, "check A", parts[i]);
    talk_says(&t, "gen poisson2d 3; check", "\"nonfinite_line\":null");
    assert_null(strstr(t.out, "file: "));
    talk_close(&t);
}

/* ---- Ctrl-C and memory ---- */

struct stopper {
    struct watch watch;
    int ticks;
};

static bool stop_reading(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct stopper *s = (struct stopper *)w;
    if (!strcmp(what, "lines of the file")) s->ticks++;
    return s->ticks < 2;
}

static void load(const char *path, struct csr *A, struct load_info *info)
{
    struct err e = {0};
    if (!file_load(path, NULL, NULL, A, info, &e)) fail_msg("%s: %s", e.where, e.text);
}

TEST(test_stopped)
{
    struct csr A;
    struct load_info info;
    struct err e = {0};
    struct stopper s = {.watch = {.tick = stop_reading}};
    load(write_file("s.mtx", samples[1].text, strlen(samples[1].text)), &A, &info);
    struct mtx_find f = {.block = 4};
    assert_false(mtx_find(&A, &info, &f, &s.watch, &e));
    assert_int_equal(e.code, E_CANCELLED);
    csr_free(&A);
}

TEST(test_memory)
{
    struct csr A;
    struct load_info info;
    load(write_file("m.mtx", samples[3].text, strlen(samples[3].text)), &A, &info);
    bool ok = false;
    int n = 1;
    for (; !ok; n++) {
        struct err e = {0};
        struct mtx_find f = {.nplaces = 1, .place = {{.row = 1, .col = 1}}};
        mem_fail_at(n);
        ok = mtx_find(&A, &info, &f, NULL, &e);
        mem_fail_at(0);
        if (!ok) assert_int_equal(e.code, E_MEMORY);
        if (ok) assert_int_equal(f.place[0].line, 6);
    }
    assert_true(n > 3);
    csr_free(&A);
}

/* ---- random files ---- */

struct random_file {
    char text[20000];
    size_t n;
    int lines, entries, row[200], col[200], line[200];
    char value[200];
};

static void add(struct random_file *f, const char *end, const char *text)
{
    f->n += (size_t)sprintf(f->text + f->n, "%s%s", text, end);
    f->lines++;
}

/* Random entries of a 6 x 6 matrix, below the diagonal if symmetric: some are 0, some are nan, and some are duplicates;
   there are gaps between the entries. */
static void make_file(struct random_file *f, uint64_t *state, bool symmetric, const char *end)
{
    char text[100];
    *f = (struct random_file){.entries = (int)(random_next(state) % 40)};
    add(f, end,
        symmetric ? "%%MatrixMarket matrix coordinate real symmetric"
                  : "%%MatrixMarket matrix coordinate real general");
    snprintf(text, sizeof text, "6 6 %d", f->entries);
    add(f, end, text);
    for (int i = 0; i < f->entries; i++) {
        while (random_next(state) % 3 == 0) add(f, end, random_next(state) % 2 ? "" : " % nothing");
        int a = (int)(random_next(state) % 6), b = (int)(random_next(state) % 6);
        f->row[i] = symmetric && a < b ? b : a;
        f->col[i] = symmetric && a < b ? a : b;
        f->value[i] = "0n345678"[random_next(state) % 8];
        snprintf(text, sizeof text, f->value[i] == 'n' ? "%d\t%d  nan" : "%d\t%d  %c", f->row[i] + 1, f->col[i] + 1,
                 f->value[i]);
        add(f, end, text);
        f->line[i] = f->lines;
    }
}

static int before(const struct random_file *f, int i)
{
    for (int k = 0; k < i; k++)
        if (f->row[k] == f->row[i] && f->col[k] == f->col[i]) return k;
    return -1;
}

/* Check that `found` lists the duplicates in file order. */
static void check_twice(const struct random_file *f, const struct mtx_find *found)
{
    int n = 0;
    for (int i = 0; i < f->entries && n < FIND_TWICE; i++) {
        int first = before(f, i);
        if (first < 0) continue;
        const struct find_twice *t = &found->twice[n++];
        assert_true(t->row == f->row[i] && t->col == f->col[i]);
        assert_true(t->first == f->line[first] && t->again == f->line[i]);
    }
    assert_int_equal(found->ntwice, n);
}

/* Check the line number in p: p names the first line that has a value of this kind at (row, col) or, if no line has
   such a value, the first line of (row, col). */
static void check_place(const struct random_file *f, const struct find_place *p, bool symmetric)
{
    int any = 0, such = 0;
    for (int i = f->entries; i-- > 0;) {
        bool here =
            (f->row[i] == p->row && f->col[i] == p->col) || (symmetric && f->row[i] == p->col && f->col[i] == p->row);
        if (here) any = f->line[i];
        if (here && f->value[i] == (p->zero ? '0' : 'n')) such = f->line[i];
    }
    assert_int_equal(p->line, such ? such : any);
}

static void check_random(uint64_t *state, bool symmetric, const char *end)
{
    static struct random_file f;
    struct csr A;
    struct load_info info;
    make_file(&f, state, symmetric, end);
    load(write_file("r.mtx", f.text, f.n), &A, &info);
    for (int64_t block = 1; block < 5000; block *= 7) {
        struct mtx_find found = {.block = block};
        struct err e = {0};
        for (int64_t r = 0; r < 6; r++)
            for (int k = A.rowptr[r]; k < A.rowptr[r + 1] && found.nplaces < FIND_PLACES; k++)
                if (A.val[k] == 0 || isnan(A.val[k]))
                    found.place[found.nplaces++] =
                        (struct find_place){.row = r, .col = A.col[k], .zero = A.val[k] == 0};
        if (!mtx_find(&A, &info, &found, NULL, &e)) fail_msg("%s\n%s", e.text, f.text);
        check_twice(&f, &found);
        for (int i = 0; i < found.nplaces; i++) check_place(&f, &found.place[i], symmetric);
    }
    csr_free(&A);
}

TEST(test_random)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    uint64_t seed = 11;
    for (int i = 0; i < 300; i++) check_random(&seed, i % 2, ends[i % 3]);
}

SUITE(.teardown = tidy);
