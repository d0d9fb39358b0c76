/* The session: names, stored matrices, devices that are full or lost, and every allocation failing in turn. */
#include "base/busy.h"
#include "base/mem.h"
#include "base/registry.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "session/product.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static void add_empty(struct session *s, const char *name, const char *file)
{
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {0};
    snprintf(info.file, sizeof info.file, "%s", file);
    assert_true(csr_new(&A, 1, 1, 0, false, &e));
    assert_true(session_add(s, name, &A, &info, &e));
    assert_null(A.rowptr); /* now the session owns the matrix */
}

TEST(names_come_from_files)
{
    static const char *const cases[][2] = {
        {"thesis4.mtx", "thesis4"},
        {"/a/b/thesis4.mtx.gz", "thesis4-2"},
        {"x.tar.gz", "x"},
        {"a b\033.mtx", "a_b_"},
        {".mtx", ".mtx"},
        {"dir/", "matrix"},
        {"\xc3\xa9t\xc3\xa9.mtx", "\xc3\xa9t\xc3\xa9"},
        {"a.rua", "a"},
        {"b.RSA", "b"},
        {"m.txt", "m.txt"},
        {"gz", "gz"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        add_empty(&t.s, NULL, cases[i][0]);
        assert_string_equal(t.s.current->name, cases[i][1]);
    }
    char longest[300];
    memset(longest, 'n', sizeof longest);
    longest[sizeof longest - 1] = 0;
    add_empty(&t.s, NULL, longest);
    add_empty(&t.s, NULL, longest);
    assert_int_equal(strlen(t.s.current->name), 51 + 2);
    talk_close(&t);
}

/* A recording or a list of names runs nothing if a shell reads it. */
TEST(names_hold_no_shell_characters)
{
    static const char special[] = "$`!\"'\\;&|<>(){}[]*?~#%^=,:@/ \t";
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (const char *c = special; *c; c++) {
        struct csr A = {0};
        struct err e = {0};
        struct load_info info = {0};
        char name[] = {'a', *c, 'b', 0}, as_file[] = {'c', *c, 'd', '.', 'm', 't', 'x', 0};
        assert_true(csr_new(&A, 2, 2, 0, false, &e));
        assert_false(session_add(&t.s, name, &A, &info, &e));
        assert_non_null(strstr(e.text, "is not a name: names have only letters, digits and _ . + -"));
        snprintf(info.file, sizeof info.file, "%s", as_file);
        assert_true(session_add(&t.s, NULL, &A, &info, &e));
        assert_string_equal(t.s.current->name, *c == '/' ? "d" : "c_d");
        assert_true(session_drop(&t.s, t.s.current));
    }
    talk_refuses(&t, "gen poisson2d 3 as $(touch${IFS}x)", "is not a name of at most 63 bytes, of letters, digits");
    talk_refuses(&t, "gen poisson2d 3 as -rf", "begins with a sign; choose another name");
    talk_says(&t, "gen poisson2d 3 as a.b_c-d+4", "");
    talk_says(&t, "gen poisson2d 3 as \xc3\xa4", "");
    talk_close(&t);
}

TEST(a_taken_name_is_refused)
{
    struct talk t;
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {0};
    talk_open(&t, OUT_TEXT);
    add_empty(&t.s, "A", "a.mtx");
    assert_true(csr_new(&A, 1, 1, 0, false, &e));
    assert_false(session_add(&t.s, "A", &A, &info, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_non_null(A.rowptr); /* still the caller's */
    csr_free(&A);
    talk_close(&t);
}

TEST(the_current_matrix_follows)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    add_empty(&t.s, "A", "");
    add_empty(&t.s, "B", "");
    add_empty(&t.s, "C", "");
    assert_true(talk_line(&t, "use A; drop C"));
    assert_string_equal(t.s.current->name, "A");
    assert_true(talk_line(&t, "drop A"));
    assert_string_equal(t.s.current->name, "B");
    assert_true(talk_line(&t, "drop B"));
    assert_null(t.s.current);
    assert_false(talk_line(&t, "spmv"));
    talk_close(&t);
}

/* ---- products ---- */

TEST(matrices_are_packed_once)
{
    struct talk t;
    struct err e = {0};
    int64_t width[PARAMS_MAX] = {2};
    const struct format *hyb = format_find("hyb");
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    struct matrix *m = t.s.current;
    struct product *p = session_product(&t.s, form_of(m, hyb, NULL, P_F64), &e);
    struct product *f = session_product(&t.s, form_of(m, hyb, NULL, P_F32), &e);
    struct product *w = session_product(&t.s, form_of(m, hyb, width, P_F64), &e);
    assert_true(p && f && w && p != f && p != w && f != w);
    int64_t resolved[PARAMS_MAX];
    memcpy(resolved, p->S.param, sizeof resolved);
    assert_ptr_equal(session_product(&t.s, form_of(m, hyb, NULL, P_F64), &e), p);
    assert_ptr_equal(session_product(&t.s, form_of(m, hyb, resolved, P_F64), &e), p);
    assert_ptr_equal(session_product(&t.s, form_of(m, hyb, width, P_F64), &e), w);
    struct device *d = session_device(&t.s, "cpu", &e);
    struct mat *M = session_mat(&t.s, p, d, &e);
    assert_true(M && session_mat(&t.s, p, d, &e) == M);
    talk_close(&t);
}

TEST(dropping_forgets_the_runs)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; gen poisson2d 5 as B; spmv A on cpu reps 1"));
    assert_true(t.s.nruns == 1 && t.s.runs_of == t.s.matrices);
    assert_true(talk_line(&t, "drop B"));
    assert_int_equal(t.s.nruns, 1);
    assert_true(talk_line(&t, "drop A"));
    assert_int_equal(t.s.nruns, 0);
    assert_null(t.s.runs_of);
    talk_close(&t);
}

TEST(a_complex_matrix_multiplies_by_every_name)
{
    static const char *const lines[] = {"spmv Z on cpu",
                                        "bench Z on emu",
                                        "convert ell of Z",
                                        "count csr-scalar of Z",
                                        "predict csr-scalar of Z",
                                        "trace csr-scalar of Z",
                                        "race csr-serial csr-openmp of Z on cpu reps 3"};
    struct talk t;
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.field = "complex"};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_new(&A, 1, 1, 1, true, &e));
    A.rowptr[1] = 1;
    A.col[0] = 0;
    A.val[0] = 2;
    A.imag[0] = -3;
    assert_true(session_add(&t.s, "Z", &A, &info, &e));
    for (int i = 0; i < COUNT(lines); i++)
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.err);
    talk_says(&t, "bench Z on cpu reps 1 csr-serial", "complex fp64");
    talk_says(&t, "spmv csr-serial Z on cpu reps 1 f32", "8 operations per entry");
    assert_true(talk_line(&t, "formats; kernels; list; stats"));
    talk_close(&t);
}

/* ---- devices that become full or are lost ---- */

struct fake {
    struct device d;
    int64_t room; /* bytes free */
    bool resets;
    int held; /* blocks not freed */
};

static void *fake_alloc(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    ((struct fake *)d->impl)->held++;
    return mem_new(bytes, 1, what, e);
}

static void fake_free(struct device *d, void *p)
{
    ((struct fake *)d->impl)->held--;
    mem_free(p);
}

static bool fake_copy(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    if (d->lost) return (fail)(e, E_DEVICE, "%s: unspecified launch failure", d->name);
    memcpy(to, from, (size_t)bytes);
    return true;
}

static bool fake_memory(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e)
{
    struct fake *f = d->impl;
    *total = f->room;
    *free_bytes = f->held ? 0 : f->room;
    return true;
}

static bool fake_reset(struct device *d, struct err *e)
{
    struct fake *f = d->impl;
    return f->resets || (fail)(e, E_DEVICE, "the driver does not answer");
}

static bool fake_sync(struct device *d, struct err *e)
{
    return true;
}

static void fake_close(struct device *d) {}

static const struct device_ops fake_ops = {.alloc = fake_alloc,
                                           .free = fake_free,
                                           .put = fake_copy,
                                           .get = fake_copy,
                                           .sync = fake_sync,
                                           .memory = fake_memory,
                                           .reset = fake_reset,
                                           .close = fake_close};

/* Registered devices exist until the program ends. */
static struct fake fakes[6];

static int register_fakes(void **state)
{
    omp_set_num_threads(1); /* because thousands of tiny SpMVs follow */
    for (int i = 0; i < COUNT(fakes); i++) {
        struct fake *f = &fakes[i];
        *f = (struct fake){.d = {.kind = DEV_CPU, .ops = &fake_ops, .impl = f, .about = "a fake"}, .room = 1 << 20};
        snprintf(f->d.name, sizeof f->d.name, "fake%d", i);
        if (!device_register(&f->d)) return -1;
    }
    return 0;
}

TEST(unused_copies_are_evicted)
{
    struct talk t;
    struct err e = {0};
    struct fake *f = &fakes[0];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    struct product *p = session_product(&t.s, form_of(t.s.current, format_find("csr"), NULL, P_F64), &e);
    struct product *q = session_product(&t.s, form_of(t.s.current, format_find("ell"), NULL, P_F64), &e);
    assert_non_null(session_mat(&t.s, p, &f->d, &e));
    assert_non_null(session_mat(&t.s, q, &f->d, &e)); /* one matrix fills the device */
    assert_int_equal(p->nmats, 0);
    assert_int_equal(q->nmats, 1);
    f->room = 10;
    assert_null(session_mat(&t.s, p, &f->d, &e));
    assert_int_equal(e.code, E_LIMIT);
    assert_non_null(strstr(e.text, "on fake0, which has 10 B free"));
    f->room = 1 << 20;
    talk_close(&t);
    assert_int_equal(f->held, 0);
}

TEST(devices_share_the_places)
{
    struct talk t;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    struct product *p = session_product(&t.s, form_of(t.s.current, format_find("csr"), NULL, P_F64), &e);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT(fakes); i++) {
            struct mat *M = session_mat(&t.s, p, &fakes[i].d, &e);
            assert_true(M && M->dev == &fakes[i].d && p->nmats <= COUNT(p->mat));
        }
    talk_close(&t);
    for (int i = 0; i < COUNT(fakes); i++) assert_int_equal(fakes[i].held, 0);
}

TEST(a_lost_device_is_reset_or_left)
{
    struct talk t;
    struct err e = {0};
    struct fake *f = &fakes[1];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; device fake1"));
    struct product *p = session_product(&t.s, form_of(t.s.current, format_find("csr"), NULL, P_F64), &e);
    assert_non_null(session_mat(&t.s, p, &f->d, &e));
    f->d.lost = f->resets = true;
    assert_ptr_equal(session_device(&t.s, NULL, &e), &f->d);
    assert_true(!f->d.lost && p->nmats == 0 && f->held == 0);
    f->d.lost = true;
    f->resets = false;
    talk_forget(&t);
    assert_string_equal(session_device(&t.s, NULL, &e)->name, "cpu");
    talk_refresh(&t);
    assert_non_null(strstr(t.err, "fake1 was lost and cannot be reset (the driver does not answer)"));
    assert_false(talk_line(&t, "spmv on fake1"));
    assert_non_null(strstr(t.err, "fake1 is lost"));
    assert_true(talk_line(&t, "spmv reps 1"));
    f->d.lost = false;
    talk_close(&t);
}

/* A command that finds the device lost reports the loss, and the next command runs. */
TEST(losing_a_device_in_a_command_is_survived)
{
    struct talk t;
    struct fake *f = &fakes[2];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; device fake2"));
    t.s.used = &f->d;
    f->d.lost = f->resets = true;
    assert_false(talk_line(&t, "use B"));
    assert_non_null(strstr(t.err, "fake2 was lost and has been reset"));
    assert_false(f->d.lost);
    talk_close(&t);
}

/* ---- Ctrl-C ---- */

TEST(an_interrupt_cancels_the_command)
{
    struct talk t;
    session_catch_interrupt(false);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    raise(SIGINT);
    assert_false(talk_line(&t, "formats"));
    assert_non_null(strstr(t.err, "cancelled"));
    assert_true(t.s.quit && session_take_interrupt() && !session_take_interrupt());
    t.s.quit = t.s.batch = false;
    raise(SIGINT); /* Ctrl-C at the prompt must not affect the next command */
    assert_true(talk_line(&t, "formats"));
    assert_false(t.s.quit);
    talk_close(&t);
    signal(SIGINT, SIG_DFL);
}

/* ---- hostile names ---- */

TEST(control_bytes_are_escaped)
{
    static const enum out_mode modes[] = {OUT_TEXT, OUT_JSON, OUT_CSV};
    static const char *const lines[] = {"load '%s'",
                                        "load '%s/x'",
                                        "use '%s'",
                                        "%s",
                                        "source '%s'",
                                        "save '%s/\x9b' A",
                                        "gen poisson2d 2 as '%s'",
                                        "stats \"%s\"",
                                        "solve cg b '%s'",
                                        "convert '%s'"};
    static const char evil[] = "/tmp/\033[2J\x07\xc2\x9b\xe2\x80\xae\xff\x7f.mtx";
    for (int m = 0; m < COUNT(modes); m++) {
        struct talk t;
        talk_open(&t, modes[m]);
        add_empty(&t.s, NULL, evil);
        run_line(&t.s, "list; stats; formats");
        for (int i = 0; i < COUNT(lines); i++) {
            char line[256];
            snprintf(line, sizeof line, lines[i], evil);
            run_line(&t.s, line);
        }
        talk_refresh(&t);
        for (const char *p = t.all_out; *p; p++) assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
        for (const char *p = t.all_err; *p; p++) assert_true(*p == '\n' || (*p >= ' ' && *p < 0x7f));
        talk_close(&t);
    }
}

/* ---- allocations that fail ---- */

/* Run each line separately, so that later lines run after an earlier line has failed. */
static const char *const life[] = {"gen poisson2d 4 as A",
                                   "gen random n 20 3 seed 2",
                                   "save /tmp/warpspy-life.mtx A force",
                                   "load /tmp/warpspy-life.mtx",
                                   "list; stats A; formats A; kernels A",
                                   "convert hyb width 2 of A; convert ell of A f32",
                                   "spmv A on cpu reps 1; spmv A using sell on cpu reps 1 f32",
                                   "solve cg A on cpu maxit 5",
                                   "help ell; help gen; devices; device cpu; version",
                                   "drop A"};

/* Run all lines with the nth allocation failing; returns the number of allocations, and whether all lines succeeded. */
static int64_t live(enum out_mode mode, int64_t nth, bool *all)
{
    struct talk t;
    talk_open(&t, mode);
    int64_t before = mem_count();
    mem_fail_at(nth);
    *all = true;
    for (int i = 0; i < COUNT(life); i++) *all &= run_line(&t.s, life[i]);
    mem_fail_at(0);
    int64_t made = mem_count() - before;
    assert_true(talk_line(&t, "gen poisson2d 3 as Z; spmv Z on cpu reps 1; drop Z"));
    talk_close(&t);
    return made;
}

TEST(every_allocation_may_fail)
{
    static const enum out_mode modes[] = {OUT_TEXT, OUT_JSON};
    for (int m = 0; m < COUNT(modes); m++) {
        bool all;
        int64_t n = live(modes[m], 0, &all), failed = 0;
        assert_true(all);
        for (int64_t i = 1; i <= n; i++) {
            live(modes[m], i, &all);
            failed += !all;
        }
        assert_true(failed > n / 2); /* some failures cause no error, but only a missing completion or remark */
    }
    unlink("/tmp/warpspy-life.mtx");
}

/* ---- measurements of commands ---- */

TEST(one_repetition_has_no_spread)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5") && talk_line(&t, "spmv on cpu reps 1"));
    assert_non_null(strstr(t.out, "\"spread_us\":null"));
    assert_true(talk_line(&t, "spmv on cpu reps 3"));
    assert_null(strstr(t.out, "\"spread_us\":null"));
    talk_close(&t);
}

TEST(one_repetition_is_called_so)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5"));
    talk_says(&t, "spmv on cpu reps 1", "One repetition: there is no spread.");
    assert_true(talk_line(&t, "spmv on cpu reps 3"));
    assert_null(strstr(t.out, "One repetition"));
    talk_close(&t);
}

/* The ceiling of this memory is 1 kB/s, so that every SpMV exceeds the ceiling. */
TEST(no_percentage_is_above_100)
{
    struct talk t;
    struct device *cpu = device_open("cpu", NULL);
    struct ceilings old = cpu->ceilings;
    cpu->ceilings = (struct ceilings){.measured = true, .read_gbs = 1e-6};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5"));
    talk_says(&t, "bench using csr on cpu reps 2", " >100 ");
    assert_non_null(strstr(t.out, "Above 100 %: the matrix stays in the cache"));
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5"));
    talk_says(&t, "bench using csr on cpu reps 2", "\"ceiling_percent\":null");
    talk_close(&t);
    cpu->ceilings = old;
}

/* Ceilings that were measured on a busy machine may be too low. */
TEST(no_bound_is_above_the_time)
{
    static const struct {
        double read_gbs; /* of this memory */
        bool above;
    } cases[] = {{1e-6, true}, {1e9, false}};
    struct device *cpu = device_open("cpu", NULL);
    struct ceilings old = cpu->ceilings;
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        const char *remark = "A bound above the time is left out";
        cpu->ceilings = (struct ceilings){.measured = true, .read_gbs = cases[i].read_gbs};
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen poisson2d 5"));
        assert_true(talk_line(&t, "bench using csr on cpu reps 2"));
        assert_int_equal(strstr(t.out, remark) != NULL, cases[i].above);
        assert_true(talk_line(&t, "spmv on cpu reps 2"));
        assert_int_equal(strstr(t.out, remark) != NULL, cases[i].above);
        talk_close(&t);
        talk_open(&t, OUT_JSON);
        assert_true(talk_line(&t, "gen poisson2d 5"));
        assert_true(talk_line(&t, "bench using csr on cpu reps 2"));
        assert_int_equal(strstr(t.out, "\"bound_us\":null,\"bound_by\":null") != NULL, cases[i].above);
        assert_int_equal(strstr(t.out, "\"bound_by\":\"bytes\"") == NULL, cases[i].above);
        talk_close(&t);
    }
    cpu->ceilings = old;
}

static void write_stat(const char *folder, const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/proc/stat", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(the_load_of_other_programs_is_counted)
{
    char root[] = "/tmp/warpspy-busy-XXXXXX", path[100];
    struct busy from, to;
    assert_non_null(mkdtemp(root));
    assert_true(isnan(busy_now(root).all_us));
    snprintf(path, sizeof path, "%s/proc", root);
    assert_int_equal(mkdir(path, 0700), 0);
    write_stat(root, "cpu  100 0 50 900 7 0 0 0 0 0\ncpu0 1 2 3\n");
    from = busy_now(root);
    write_stat(root, "cpu  200 0 50 999 9 0 0 100 0 0\ncpu0 1 2 3\n");
    to = busy_now(root);
    double tick_us = 1e6 / (double)sysconf(_SC_CLK_TCK);
    /* all_us excludes idle time and time spent waiting for a disk */
    assert_true(to.all_us - from.all_us == 200 * tick_us);
    to.wall_us = from.wall_us + 100 * tick_us;
    to.own_us = from.own_us + 50 * tick_us;
    assert_true(fabs(busy_others(&from, &to) - 1.5) < 1e-9);
    to.own_us = from.own_us + 500 * tick_us;
    assert_true(busy_others(&from, &to) == 0);
    to.all_us = NAN;
    assert_true(isnan(busy_others(&from, &to)));
    snprintf(path, sizeof path, "%s/proc/stat", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/proc", root);
    rmdir(path);
    rmdir(root);
}

TEST(nan_and_inf_have_no_relative_error)
{
    struct talk t;
    struct csr A = {0};
    struct load_info info = {.field = "real"};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_from_triplets(&A, 2, 2, 2, (int[]){0, 1}, (int[]){0, 1}, (double[]){NAN, 1}, NULL, NULL, NULL));
    assert_true(session_add(&t.s, "A", &A, &info, NULL) && talk_line(&t, "spmv on cpu"));
    assert_non_null(strstr(t.out, "\nerror                -\n"));
    assert_non_null(strstr(t.out, "has NaN or inf where the reference has them, so there is no relative error"));
    talk_close(&t);
}

TEST(complex_matrices_report_moduli)
{
    struct talk t;
    struct csr A = {0};
    struct load_info info = {.field = "complex"};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_from_triplets(&A, 1, 1, 1, (int[]){0}, (int[]){0}, (double[]){3}, (double[]){4}, NULL, NULL));
    assert_true(session_add(&t.s, "C", &A, &info, NULL) && talk_line(&t, "stats"));
    assert_non_null(strstr(t.out, "smallest modulus          5\n"));
    talk_close(&t);
}

/* Lets `left` kernels run, then cancels at the start of the next kernel. Planning a format counts as a kernel, too, if
   there is a kernel of the same name. */
struct few {
    int left;
    char last[64];
};

static bool some_kernels(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct few *f = w->user;
    if (!registry_find(&kernel_registry, what) || !strcmp(f->last, what)) return f->left >= 0;
    snprintf(f->last, sizeof f->last, "%s", what);
    return --f->left >= 0;
}

static int formats_named_like_kernels(void)
{
    int n = 0;
    for (int i = 0; formats[i]; i++) n += kernel_find(formats[i]->name) != NULL;
    return n;
}

/* If the user cancels the command after some kernels, the command fails, but has printed `row`. */
static void assert_keeps_when_cancelled(const char *line, const char *row)
{
    struct talk t;
    struct few few = {.left = formats_named_like_kernels() + 4};
    talk_open(&t, OUT_CSV);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    t.s.watch = (struct watch){some_kernels, &few};
    assert_false(talk_line(&t, line));
    if (!strstr(t.out, row)) fail_msg("%s%s lacks %s", t.out, t.err, row);
    assert_non_null(strstr(t.err, "cancelled"));
    talk_close(&t);
}

TEST(a_cancelled_advise_shows_what_it_ranked)
{
    assert_keeps_when_cancelled("advise", "\n1,A,");
}

TEST(bench_accepts_a_format_and_top)
{
    struct talk t;
    talk_open(&t, OUT_CSV);
    assert_true(talk_line(&t, "gen poisson2d 5 as A") && talk_line(&t, "bench on cpu using csr reps 1 top 1"));
    const char *row = strstr(t.out, "\nA,25,25,105,csr,");
    assert_non_null(row);
    assert_string_equal(strchr(row + 1, '\n'), "\n");
    assert_false(talk_line(&t, "bench top 0"));
    assert_false(talk_line(&t, "bench top -1"));
    talk_close(&t);
}

SUITE(.setup = register_fakes);
