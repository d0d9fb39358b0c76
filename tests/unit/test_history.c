/* The commands undo, record and replay: how the session remembers its commands. */
#include "base/mem.h"
#include "base/words.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "session/matrix.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Let failing allocations return NULL under ASan too, because one allocation fails here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- undo ---- */

/* The matrices in order, with the current matrix in brackets, and the device. */
static const char *state_of(const struct session *s)
{
    static char text[512];
    size_t n = 0;
    text[0] = 0;
    for (const struct matrix *m = s->matrices; m; m = m->next)
        n += (size_t)snprintf(text + n, sizeof text - n, m == s->current ? "[%s] " : "%s ", m->name);
    snprintf(text + n, sizeof text - n, "%s", s->dev ? s->dev->name : "-");
    return text;
}

TEST(each_change_can_be_undone)
{
    static const char *const changes[] = {
        "gen poisson2d 4 as D",
        "gen fem 3",
        "load samples/thesis4.mtx",
        "load samples/thesis4.mtx samples/diag6.mtx",
        "drop B",
        "drop A C",
        "drop all",
        "use B",
        "device emu",
        "transpose A",
        "symmetrize C as S",
        "reorder rcm B",
        "scale B",
        "extract 0 3 0 3",
        "diff A B as D",
        "let D = A*A' + 2*I",
        "drop C; gen rmat 4",
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as A; gen poisson2d 3 as B; gen poisson2d 3 as C"));
    for (int i = 0; i < COUNT(changes); i++) {
        char before[512];
        snprintf(before, sizeof before, "%s", state_of(&t.s));
        if (!talk_line(&t, changes[i])) fail_msg("%s: %s", changes[i], t.err);
        assert_string_not_equal(state_of(&t.s), before);
        talk_says(&t, "undo", "undone: ");
        if (strchr(changes[i], ';')) talk_says(&t, "undo", "undone: ");
        assert_string_equal(state_of(&t.s), before);
    }
    talk_says(&t, "undo", "undone: gen poisson2d 3 as C");
    talk_says(&t, "undo", "A is the current matrix");
    talk_says(&t, "undo", "A was removed");
    talk_refuses(&t, "undo", "there is nothing to undo");
    talk_close(&t);
}

/* Commands at random, between them `undo`, so that new changes follow undone ones. A stack of states is the model: a
   change pushes the state before it, `undo` pops one, and the oldest of more than UNDO_MAX states is forgotten. */
TEST(changes_after_undo_can_be_undone)
{
    static const char *const changes[] = {
        "gen poisson2d 2",
        "gen poisson2d 3",
        "drop poisson2d",
        "drop poisson2d-2",
        "drop all",
        "use poisson2d",
        "use poisson2d-2",
        "device emu",
        "device cpu",
        "undo",
        "undo",
        "undo",
        "undo; undo",
        "list",
        "use nothing",
        "transpose",
        "drop nothing",
        "gen band 4; undo",
    };
    enum { LINES = 600, KEPT = LINES + 1 };
    static char kept[KEPT][512];
    struct talk t;
    uint64_t random = 7;
    int n = 0;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < LINES; i++) {
        char before[512], all[64];
        snprintf(all, sizeof all, "%s", changes[random_next(&random) % COUNT(changes)]);
        for (char *rest = all, *line; (line = strsep(&rest, ";"));) {
            bool undoes = strstr(line, "undo");
            snprintf(before, sizeof before, "%s", state_of(&t.s));
            bool ok = talk_line(&t, line);
            if (undoes) {
                assert_int_equal(ok, n > 0);
                assert_string_equal(state_of(&t.s), n > 0 ? kept[--n] : before);
            } else if (strcmp(state_of(&t.s), before) != 0) {
                if (n == UNDO_MAX) memmove(kept, kept + 1, --n * sizeof *kept);
                strcpy(kept[n++], before);
            }
        }
    }
    talk_close(&t);
}

TEST(the_choice_of_a_device_is_undone)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "device cpu; gen poisson2d 4; device emu"));
    assert_string_equal(t.s.dev->name, "emu");
    assert_true(talk_line(&t, "undo"));
    assert_string_equal(t.s.dev->name, "cpu");
    assert_true(talk_line(&t, "undo"));
    assert_null(t.s.matrices);
    talk_close(&t);
}

TEST(a_dropped_matrix_is_restored)
{
    struct talk t;
    struct csr copy;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random n 500 seed 3 as A; convert ell; stats"));
    assert_true(csr_copy(&copy, &t.s.current->csr, &e));
    assert_true(talk_line(&t, "drop A"));
    assert_null(t.s.matrices);
    assert_true(t.s.undo.bytes > 0);
    talk_says(&t, "undo", "A is back, ");
    assert_true(csr_equal(&copy, &t.s.current->csr));
    assert_int_equal(t.s.undo.bytes, 0);
    talk_says(&t, "spmv using ell on cpu", "error");
    csr_free(&copy);
    talk_close(&t);
}

TEST(commands_without_changes_are_not_recorded)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4 as A"));
    assert_true(talk_line(&t, "stats; list; use A; spmv on cpu reps 1; help; convert ell"));
    assert_false(talk_line(&t, "gen poisson2d 4 as A"));
    assert_false(talk_line(&t, "load /nowhere"));
    talk_says(&t, "undo", "undone: gen poisson2d 4 as A");
    talk_close(&t);
}

TEST(a_failed_command_can_be_undone)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "load samples/thesis4.mtx /nowhere", "nowhere");
    assert_string_equal(state_of(&t.s), "[thesis4] -");
    talk_says(&t, "undo", "thesis4 was removed");
    assert_string_equal(state_of(&t.s), "-");
    talk_close(&t);
}

TEST(the_number_of_levels_is_limited)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < UNDO_MAX + 5; i++) assert_true(talk_line(&t, "gen poisson2d 3; drop poisson2d"));
    for (int i = 0; i < UNDO_MAX; i++) talk_says(&t, "undo", i % 2 ? "was removed" : "is back");
    talk_refuses(&t, "undo", "there is nothing to undo");
    talk_close(&t);
}

TEST(a_script_is_undone_step_by_step)
{
    struct talk t;
    FILE *f = fopen("/tmp/warpspy-test-undo.wsp", "w");
    assert_non_null(f);
    fputs("gen poisson2d 3 as A\ngen poisson2d 3 as B\nstats\n", f);
    fclose(f);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "source /tmp/warpspy-test-undo.wsp"));
    talk_says(&t, "undo", "undone: gen poisson2d 3 as B");
    assert_string_equal(state_of(&t.s), "[A] -");
    talk_close(&t);
    unlink("/tmp/warpspy-test-undo.wsp");
}

/* Releasing a kept matrix prints a message; a change that needs no kept matrix can still be undone. */
TEST(kept_memory_is_released)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30 as A; gen poisson2d 3 as B; drop A; gen poisson2d 3 as C"));
    assert_true(mem_take_spare());
    assert_int_equal(t.s.undo.bytes, 0);
    assert_false(mem_take_spare());
    talk_says(&t, "undo", "C was removed");
    talk_refuses(&t, "undo", "memory of dropped matrices was needed");
    assert_true(talk_line(&t, "drop B; gen poisson2d 3 as D"));
    talk_says(&t, "undo; undo", "B is back");
    talk_close(&t);
    assert_false(mem_take_spare());
}

/* Before a large request for memory is refused, the memory of dropped matrices is freed. */
TEST(a_refused_allocation_frees_kept_matrices)
{
    struct talk t;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30 as A; drop A"));
    assert_null(mem_new(INT64_MAX / 4, 1, "too much", &e));
    assert_int_equal(t.s.undo.bytes, 0);
    talk_refuses(&t, "undo", "memory of dropped matrices was needed");
    talk_close(&t);
}

static void count_call(void *user)
{
    ++*(int *)user;
}

/* Dropped matrices may take up to half of the available memory. If they take more, the next check of memory calls the
   function that releases them. */
TEST(low_memory_frees_kept_matrices)
{
    int calls = 0;
    int64_t there = mem_available();
    mem_spare(there / 8, count_call, &calls);
    assert_true(mem_available() > 0);
    assert_int_equal(calls, 0);
    mem_spare(there, count_call, &calls);
    assert_true(mem_available() > 0);
    assert_int_equal(calls, 1);
    assert_true(mem_available() > 0);
    assert_int_equal(calls, 1);
    mem_spare(0, NULL, NULL);
}

TEST(undo_in_json)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 3 as A; drop A"));
    talk_says(&t, "undo", "\"change\":\"undone\",\"name\":\"drop A\",\"bytes\":null");
    assert_non_null(strstr(t.out, "\"change\":\"returned\",\"name\":\"A\",\"bytes\":"));
    talk_close(&t);
}

/* ---- record and replay ---- */

static const char file[] = "/tmp/warpspy-test-record.wsp";

static void read_file(char *out, size_t size)
{
    FILE *f = fopen(file, "r");
    assert_non_null(f);
    out[fread(out, 1, size - 1, f)] = 0;
    fclose(f);
}

TEST(a_session_is_recorded_and_replayed)
{
    struct talk t;
    char text[8192], line[128];
    unlink(file);
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "record %s", file);
    assert_true(talk_line(&t, line));
    assert_true(talk_line(&t, "gen poisson2d 5 as 'a+b'; stats"));
    assert_false(talk_line(&t, "drop nothing"));
    assert_true(talk_line(&t, "load 'samples/thesis4.mtx' as \"T\"; # a comment"));
    assert_true(talk_line(&t, "!true"));
    talk_says(&t, "record", "goes on");
    talk_says(&t, "record off", "ended");
    assert_true(talk_line(&t, "gen poisson2d 9 as late"));
    read_file(text, sizeof text);
    assert_non_null(strstr(text, "UTC\ngen poisson2d 5 as \"a+b\"\n# ok, "));
    assert_non_null(strstr(text, "# failed, left out: drop nothing\n#   "));
    assert_non_null(strstr(text, "\n!true\n"));
    assert_null(strstr(text, "late"));
    assert_null(strstr(text, "\nrecord"));
    talk_close(&t);
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "replay %s allow shell", file);
    talk_says(&t, line, "commands  3");
    assert_string_equal(state_of(&t.s), "a+b [T] -");
    talk_close(&t);
    unlink(file);
}

TEST(a_replay_stops_where_a_command_fails)
{
    struct talk t;
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("# a comment\ngen poisson2d 3 as A\n\nuse nowhere\ngen poisson2d 3 as B\n", f);
    fclose(f);
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "replay /tmp/warpspy-test-record.wsp", "/tmp/warpspy-test-record.wsp:4: ");
    assert_string_equal(state_of(&t.s), "[A] -");
    talk_close(&t);
    unlink(file);
}

TEST(unrecordable_commands_are_refused)
{
    struct talk t;
    unlink(file);
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "record", "nothing is being recorded");
    talk_refuses(&t, "record off", "nothing is being recorded");
    talk_refuses(&t, "record /nowhere/at/all", "cannot write");
    talk_refuses(&t, "record /tmp", "cannot write");
    talk_refuses(&t, "record /dev/full", "cannot write");
    assert_true(talk_line(&t, "record /tmp/warpspy-test-record.wsp"));
    talk_refuses(&t, "record /tmp/other", "already recording to");
    talk_refuses(&t, "replay /tmp/warpspy-test-record.wsp", "still being recorded");
    talk_refuses(&t, "source /tmp/warpspy-test-record.wsp", "still being recorded");
    assert_true(talk_line(&t, "record off"));
    talk_refuses(&t, "record /tmp/warpspy-test-record.wsp", "file exists already");
    talk_close(&t);
    unlink(file);
}

/* Inside a script, the commands after `record` are recorded, but commands that other commands run are not recorded. */
TEST(a_recording_started_in_a_script)
{
    static const char script[] = "/tmp/warpspy-test-outer.wsp";
    struct talk t;
    char text[8192];
    FILE *f = fopen(script, "w");
    unlink(file);
    assert_non_null(f);
    fprintf(f, "gen poisson2d 3 as early\nrecord %s\ngen poisson2d 3 as A\n", file);
    fclose(f);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "source /tmp/warpspy-test-outer.wsp allow files"));
    assert_true(talk_line(&t, "drop early; record off"));
    read_file(text, sizeof text);
    assert_null(strstr(text, "as early"));
    assert_non_null(strstr(text, "\ngen poisson2d 3 as A\n"));
    assert_non_null(strstr(text, "\ndrop early\n"));
    talk_close(&t);
    unlink(file);
    unlink(script);
}

/* Reading a recorded line gives exactly the words that were recorded. */
TEST(recorded_words_read_back_unchanged)
{
    static const char *const lines[] = {
        "a b c",  "a 'b c' d", "a \"b\\\"c\" \\;x", "a '' 'it\"s'",   "a b\\\\c ~x",   "a '#no' x#y",
        "a '!b'", "'a b' c",   "a \xc3\xa9",        "a 'x' on 'cpu'", "a \\$HOME `x`", "load 'a.mtx' as 'as'"};
    for (int i = 0; i < COUNT(lines); i++) {
        static struct words w, again;
        struct err e = {0};
        char text[256];
        const char *p = lines[i], *q = text;
        assert_true(words_split(&w, &p, &e));
        assert_true(words_join(&w, text, sizeof text) < sizeof text);
        assert_true(words_split(&again, &q, &e));
        assert_int_equal(w.n, again.n);
        for (int k = 0; k < w.n; k++) {
            assert_string_equal(w.w[k].text, again.w[k].text);
            if (k && w.w[k].quoted && !strchr(w.w[k].text, '.')) assert_true(again.w[k].quoted);
        }
    }
}
