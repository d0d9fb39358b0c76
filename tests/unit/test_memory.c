/* Allocations that fail: ten scripts run again and again, each time with a different allocation failing. The message of
   the first failing line names memory as the cause, nothing crashes, and the session can be used afterwards. */
#include "base/available.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/shared.h"
#include "base/watch.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "session/command.h"
#include "ui/run.h"

#include <malloc.h>
#include <unistd.h>

enum { LINES_MAX = 20, RUNS_MAX = 40 };

static const struct script {
    const char *name;
    bool opens; /* close the devices after the script, so that opening them can fail too; their ceilings are lost */
    const char *line[LINES_MAX];
} scripts[] = {
    {"look",
     true,
     {"gen poisson2d 4 as A", "list", "stats A", "check A", "check A lines", "formats A", "kernels A", "spy", "rows",
      "layout ell", "help ell", "devices", "transpose A on emu", "device emu", "version"}},
    {"store",
     false,
     {"gen random 6 5 12 as A", "convert ell of A", "convert hyb width 2 of A f32", "convert bsr of A on emu force",
      "convert sell of A on cpu", "convert dia of A force", "formats A", "drop A", "undo"}},
    {"multiply",
     false,
     {"gen poisson2d 3 as A", "spmv A on cpu reps 1", "spmv A using sell on emu reps 1 f32",
      "bench A on cpu top 2 reps 1", "transfer A on cpu reps 1", "print row 3", "print col 3", "find rows > 2 sort sum",
      "print 0:2 0:2", "print y"}},
    {"solve",
     false,
     {"gen poisson2d 4 as A", "solve cg A on cpu step", "step 2", "back", "change tol 1e-3", "continue",
      "solve gmres A on emu m 3 precond ilu0 maxit 3", "solve jacobi A on cpu maxit 3 force",
      "export solve s.json force", "solvers", "print r", "print x 0:2", "advise solver A on cpu", "solve A",
      "solve cg A on cpu maxit 1", "why stagnates"}},
    {"race",
     false,
     {"gen poisson2d 3 as A", "race cg jacobi maxit 3 force on cpu", "export race r.csv force",
      "race csr-serial ell-serial reps 1"}},
    {"factor",
     false,
     {"gen dense 4 as D", "lu D on cpu reps 1", "lu lu-openmp D on cpu reps 1", "lu D step on cpu", "keys j view lu",
      "export lu l.json force"}},
    {"write",
     false,
     {"gen poisson2d 3 as A", "export spy a.json force", "export rows a.csv force", "export layout a.txt force",
      "export spy a.svg force", "report a.html force", "keys j Tab j", "screendump a.ansi force",
      "screendump b.txt force"}},
    {"files",
     false,
     {"gen random 6 5 12 as A", "save a.mtx A force", "save b.mtx.gz A force", "save c.wsb A force",
      "save d.npz A force", "load a.mtx", "load b.mtx.gz", "load c.wsb", "load d.npz", "record r.txt", "list",
      "record off", "record cast c.cast", "keys j view rows", "record off", "drop all", "source r.txt"}},
    {"microscope",
     false,
     {"gen poisson2d 3 as A", "trace csr-scalar", "count csr-scalar lines", "explain csr-vector", "predict csr-scalar",
      "advise", "why not dia", "whatif format ell", "wrong", "export trace t.json force", "sm csr-stream A",
      "export sm m.svg force"}},
    {"eigenvalues",
     false,
     {"gen poisson2d 8 as A", "eigs 2 A on cpu", "eigs 2 A near 0.3 verify on cpu", "print vector 1",
      "eigs 2 A smallest maxit 0 on cpu save v.mtx force", "reorder fiedler A"}},
    {"eigenvalues of an unsymmetric matrix",
     false,
     {"gen random 50 4 as A", "eigs 2 A on cpu condition", "eigs 2 A near 0.3 on cpu", "print vector 1"}},
    {"change",
     false,
     {"gen rmat 3 3 as A", "symmetrize A on cpu as S", "symmetrize A on emu", "transpose A", "reorder rcm S", "scale A",
      "extract 0 2 A", "prune A", "diff A S", "let B = 2*A*A' - S*(I + A)", "set colours 8", "undo", "set"}},
};

static void forget_files(void)
{
    static const char *const names[] = {"r.txt", "c.cast"};
    for (int i = 0; i < COUNT(names); i++) unlink(names[i]);
}

static bool is_about_memory(const struct talk *t)
{
    return strstr(t->err, "memory") || strstr(t->out, "memory");
}

/* Run the script with the nth allocation failing. Returns the number of allocations. */
static int64_t play(const struct script *p, enum out_mode mode, int64_t nth)
{
    struct talk t;
    struct err e = {0};
    forget_files();
    talk_open(&t, mode);
    assert_true(ui_attach(&t.s, &e));
    int64_t before = mem_count();
    bool all = true;
    mem_fail_at(nth);
    for (int i = 0; i < LINES_MAX && p->line[i]; i++) {
        bool ok = talk_line(&t, p->line[i]);
        if (!ok && all && (!nth || !is_about_memory(&t)))
            fail_msg("%s, allocation %lld, `%s`: %s%s", p->name, (long long)nth, p->line[i], t.err, t.out);
        all &= ok;
    }
    mem_fail_at(0);
    int64_t made = mem_count() - before;
    if (!talk_line(&t, "gen poisson2d 3 as Z; spmv Z on cpu reps 1; drop Z"))
        fail_msg("%s afterwards: %s", p->name, t.err);
    talk_close_screen(&t);
    if (p->opens) devices_close();
    return made;
}

/* If a script makes few allocations, each allocation fails in turn; if there are many, evenly spaced allocations
   fail. */
TEST_OF_EACH(a_script_survives, scripts)
{
    const struct script *p = *state;
    for (enum out_mode mode = OUT_TEXT; mode <= OUT_CSV; mode++) {
        int64_t n = play(p, mode, 0), by = n / RUNS_MAX + 1;
        for (int64_t nth = 1 + mode % by; nth <= n; nth += by) play(p, mode, nth);
    }
}

/* If a library cannot be opened, here because the file is a text file, the message does not say that the library is not
   installed. */
TEST(a_library_that_does_not_open)
{
    static const char *const names[] = {"libwarpspy-not-there.so.9", "./libodd.so"};
    struct err e = {0};
    FILE *f = fopen(names[1], "w");
    assert_true(f && fputs("no library\n", f) >= 0 && !fclose(f));
    assert_null(shared_open(1, names, &e));
    assert_int_equal(e.code, E_NONE);
    assert_null(shared_open(2, names, &e));
    assert_int_equal(e.code, E_MEMORY);
    assert_non_null(strstr(e.text, "./libodd.so is installed but cannot be opened"));
}

TEST(a_stream_in_memory)
{
    static const char line[] = "0123456789";
    struct memfile m;
    struct err e = {0};
    assert_true(memfile_open(&m, &e));
    assert_string_equal(m.text, "");
    for (int i = 0; i < 9999; i++) fputs(line, m.file);
    assert_true(memfile_sync(&m, &e));
    assert_int_equal(m.n, 9999 * strlen(line));
    assert_string_equal(m.text + m.n - 4, "6789");
    mem_fail_at(1);
    for (int i = 0; i < 99999; i++) fputs(line, m.file);
    assert_false(memfile_close(&m, true, &e));
    mem_fail_at(0);
    assert_int_equal(e.code, E_MEMORY);
    assert_int_equal(strlen(m.text), m.n);
    memfile_free(&m);
}

/* Number of blocks that the C library has mapped one by one, as it does with large blocks. */
static size_t large_blocks(void)
{
    return mallinfo2().hblks;
}

/* Another thread frees large blocks; small blocks are freed immediately. */
TEST(lazy_blocks_are_freed)
{
    enum { BLOCKS = 8, BYTES = 1 << 26 };
    void *block[BLOCKS];
    size_t before = large_blocks();
    for (int i = 0; i < BLOCKS; i++) assert_non_null(block[i] = mem_new(i % 2 ? 100 : BYTES, 1, "a block", NULL));
    mem_lazy(true);
    for (int i = 0; i < BLOCKS; i++) mem_free(block[i]);
    mem_free(NULL);
    mem_lazy(false);
    for (int ms = 0; ms < 10000 && large_blocks() > before; ms++) usleep(1000);
    assert_true(large_blocks() <= before);
    mem_lazy(true);
    mem_lazy(false);
}

static int asked;

static bool asked_twice(void)
{
    return asked++ > 0;
}

/* Ctrl-C in the middle of a large block leaves the rest of this block and all further blocks to another thread. Without
   a watch, a thread frees its blocks itself. */
TEST(ctrl_c_ends_the_freeing_of_a_block)
{
    enum { BYTES = 1 << 26 };
    struct watch w = {0};
#ifdef __SANITIZE_ADDRESS__
    skip(); /* AddressSanitizer has its own malloc, which does not count large blocks */
#endif
    size_t before = large_blocks();
    mem_lazy_if(asked_twice);
    for (int watched = 0; watched < 2; watched++) {
        void *block[2] = {mem_new(BYTES, 1, "a block", NULL), mem_new(BYTES, 1, "a block", NULL)};
        assert_true(block[0] && block[1]);
        loop_enter(watched ? &w : NULL);
        asked = 0;
        mem_free(block[0]);
        mem_free(block[1]);
        assert_int_equal(asked, watched ? 2 : 0);
        assert_int_equal(large_blocks(), before + (watched ? 2 : 0));
        loop_enter(NULL);
        mem_lazy(false);
    }
    mem_lazy_if(NULL);
    for (int ms = 0; ms < 10000 && large_blocks() > before; ms++) usleep(1000);
    assert_int_equal(large_blocks(), before);
}

/* The system grants blocks that do not fit in memory; the process would be killed when it writes them. */
TEST(blocks_larger_than_the_memory_are_refused)
{
    enum { BYTES = 300000000 };
    struct err e = {0};
    memory_pretend(700000000);
    char *first = mem_new(BYTES, 1, "a block", &e), *second = mem_new(BYTES, 1, "a block", &e);
    assert_true(first && second);
    assert_null(mem_new(BYTES, 1, "a block", &e)); /* the other blocks are not written yet, but need their memory */
    assert_int_equal(e.code, E_MEMORY);
    assert_non_null(strstr(e.text, "out of memory: a block needs 300 MB, but only about"));
    second = mem_resize(second, 1000, 1, "a block", &e);
    char *third = mem_new(BYTES, 1, "a block", &e);
    assert_non_null(third);
    mem_free(third);
    mem_free(second);
    mem_free(first);
    assert_null(mem_zero(BYTES, 4, "a block", &e));
    assert_non_null(first = mem_new(2 * BYTES, 1, "a block", &e));
    mem_free(first);
    memory_pretend(0);
}

TEST(vectors_larger_than_the_memory_are_refused)
{
    struct talk t;
    FILE *f = fopen("wide.mtx", "w");
    assert_true(f && fputs("%%MatrixMarket matrix coordinate real general\n3 100000000 1\n1 100000000 1\n", f) >= 0 &&
                !fclose(f));
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load wide.mtx"));
    memory_pretend(500000000);
    talk_refuses(&t, "spmv on cpu", "needs 800 MB, but only about 500 MB is available");
    talk_refuses(&t, "solve cg on cpu", "needs 800 MB");
    memory_pretend(0);
    talk_close(&t);
}

static char folder[] = "/tmp/warpspy-memory-XXXXXX";

static int in_a_folder(void **state)
{
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int without_it(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

SUITE(.setup = in_a_folder, .teardown = without_it);
