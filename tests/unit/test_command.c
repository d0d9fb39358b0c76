/* Lines, grammars, errors, completion and output: what is parsed, and what is printed. */
#include "base/suggest.h"
#include "base/table.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "language/grammar.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/command.h"
#include "session/matrix.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- words ---- */

static const struct {
    const char *line, *words, *remaining; /* words joined by |; * follows a quoted word */
    const char *error;
} splits[] = {
    {"", "", "", NULL},
    {"  load\ta.mtx  ", "load|a.mtx", "", NULL},
    {"stats;spy", "stats", "spy", NULL},
    {"stats ; spy", "stats", " spy", NULL},
    {";;", "", ";", NULL},
    {"load a#b # c; d", "load|a#b", "", NULL},
    {"# all; of it", "", "", NULL},
    {"load \"a b;c\" d", "load|a b;c*|d", "", NULL},
    {"load 'a \\ \"b'", "load|a \\ \"b*", "", NULL},
    {"load \"a\\\"b\\\\c\\d\"", "load|a\"b\\c\\d*", "", NULL},
    {"load a\\ b\\;c \\#d", "load|a b;c*|#d*", "", NULL},
    {"load a'b c'd\"e\"", "load|ab cde*", "", NULL},
    {"load ''", "load|*", "", NULL},
    {"load ~/m.mtx ~x a~/b", "load|/home/me/m.mtx|~x|a~/b", "", NULL},
    {"load \\", "load|\\", "", NULL},
    {"load 'a", "", "", "the line ends inside a quote; add a closing '"},
    {"load \"a; b", "", "", "the line ends inside a quote; add a closing \""},
};

static void show_words(const struct words *w, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < w->n; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s%s", i ? "|" : "", w->w[i].text, w->w[i].quoted ? "*" : "");
}

TEST(lines_are_split_into_words)
{
    static struct words w;
    char shown[256];
    setenv("HOME", "/home/me", 1);
    for (int i = 0; i < COUNT(splits); i++) {
        struct err e = {0};
        const char *remaining = splits[i].line;
        assert_int_equal(words_split(&w, &remaining, &e), !splits[i].error);
        assert_string_equal(e.text, splits[i].error ? splits[i].error : "");
        if (splits[i].error) continue;
        show_words(&w, shown, sizeof shown);
        assert_string_equal(shown, splits[i].words);
        assert_string_equal(remaining, splits[i].remaining);
    }
}

/* In a formula, ' stands for the transpose. */
TEST(a_formula_is_split_into_words)
{
    static struct words w, again;
    char shown[256];
    const char *line = "let B = A*A' + \"C\"'; x 'y", *joined = shown;
    struct err e = {0};
    assert_true(words_split_formula(&w, &line, &e));
    show_words(&w, shown, sizeof shown);
    assert_string_equal(shown, "let|B|=|A*A'|+|C'*");
    assert_string_equal(line, " x 'y");
    words_join(&w, shown, sizeof shown);
    assert_string_equal(shown, "let B = A*A' + \"C'\"");
    assert_true(words_split_formula(&again, &joined, &e));
    assert_int_equal(again.n, w.n);
    for (int i = 0; i < w.n; i++) assert_string_equal(again.w[i].text, w.w[i].text);
}

TEST(too_many_words_are_refused)
{
    static struct words w;
    static char line[2 * (WORDS_MAX + 1) + 1];
    struct err e = {0};
    for (int i = 0; i <= WORDS_MAX; i++) memcpy(line + 2 * i, "a ", 2);
    const char *remaining = line;
    assert_false(words_split(&w, &remaining, &e));
    assert_string_equal(e.text, "the command has more than 256 words; split it");
}

/* ---- suggestions ---- */

TEST(the_nearest_word_is_suggested)
{
    static const struct {
        const char *typed, *best;
    } cases[] = {{"stat", "stats"}, {"lsit", "list"},        {"sp", ""},   {"spvm", "spmv"}, {"xxxxx", ""},
                 {"", ""},          {"continu", "continue"}, {"list", ""}, {"LIST", "list"}, {"Spvm", "spmv"}};
    static const char *const offered[] = {"stats", "list", "spmv", "continue", "ell"};
    for (int i = 0; i < COUNT(cases); i++) {
        struct suggest s = suggest_for(cases[i].typed);
        for (int k = 0; k < COUNT(offered); k++) suggest_offer(&s, offered[k]);
        assert_string_equal(s.best, cases[i].best);
    }
}

/* ---- grammars ---- */

TEST(every_command_is_well_formed)
{
    for (int i = 0; commands[i]; i++) {
        struct grammar g;
        const struct command *c = commands[i];
        assert_true(grammar_parse(c->grammar, &g));
        assert_ptr_equal(command_find(c->name), c);
        assert_true(*command_group(c) && *c->about && c->run);
        if (!strstr(c->help, c->name)) fail_msg("the help of %s ends without an example of it", c->name);
        for (int a = 0; a < g.n; a++)
            for (int b = 0; b < a; b++) assert_false(g.item[a].word[0] && !strcmp(g.item[a].word, g.item[b].word));
    }
}

TEST(malformed_grammars_are_reported)
{
    static const char *const bad[] = {"[MATRIX", "NOKIND", "[on NOKIND]", "averyveryverylongword"};
    struct grammar g;
    for (int i = 0; i < COUNT(bad); i++) assert_false(grammar_parse(bad[i], &g));
}

static struct talk *with_matrices(struct talk *t)
{
    talk_open(t, OUT_TEXT);
    assert_true(talk_line(t, "gen poisson2d 3 as A; gen poisson2d 4 as Bus"));
    return t;
}

static const struct {
    const char *grammar, *line, *args; /* args: key=value in matching order */
} parses[] = {
    {"", "x", ""},
    {"[MATRIX] [on DEVICE]", "x", ""},
    {"[MATRIX] [on DEVICE]", "x A", "matrix=A "},
    {"[MATRIX] [on DEVICE]", "x on cpu", "on=cpu "},
    {"[MATRIX] [on DEVICE]", "x on emu A", "on=emu matrix=A "},
    {"[MATRIX] [MATRIX]", "x A Bus", "matrix=A matrix2=Bus "},
    {"FILE [MATRIX]", "x A Bus", "file=A matrix=Bus "},
    {"FILE... [as NAME]", "x a b as C", "file=a file=b as=C "},
    {"FILE... [as NAME]", "x 'as' as C", "file=as as=C "},
    {"[MATRIX] [N]", "x 3", "n=3 "},
    {"[MATRIX] [N]", "x A 3", "matrix=A n=3 "},
    {"MATRIX to MATRIX", "x A to Bus", "matrix=A to=to matrix2=Bus "},
    {"[f32|f64] [force]", "x force f32", "force=force f32=f32 "},
    {"[f32|f64|[precision] PRECISION]", "x f32", "f32=f32 "},
    {"[f32|f64|[precision] PRECISION]", "x bf16-f32", "precision=bf16-fp32 "},
    {"[f32|f64|[precision] PRECISION]", "x precision f64", "precision=fp64 "},
    {"FORMAT [PARAMS] [of MATRIX]", "x ell width 3 of A", "format=ell params=width params=3 of=A "},
    {"FORMAT [PARAMS] [of MATRIX]", "x ell 3", "format=ell params=3 "},
    {"FORMAT [PARAMS] [of MATRIX]", "x of A ell", "of=A format=ell "},
    {"GENERATOR [PARAMS] [seed N]", "x random n 5 7 seed 2", "generator=random params=n params=5 params=7 seed=2 "},
    {"[tol R] [maxit N]", "x maxit 5 tol 1e-8", "maxit=5 tol=1e-8 "},
    {"WORD TEXT", "x a b  'c d' on", "word=a text=b c d on "},
};

TEST(words_become_arguments)
{
    struct talk t;
    static struct words w;
    static struct args a;
    with_matrices(&t);
    for (int i = 0; i < COUNT(parses); i++) {
        struct command c = {.name = "x", .grammar = parses[i].grammar};
        const char *line = parses[i].line;
        struct err e = {0};
        char shown[256] = "";
        assert_true(words_split(&w, &line, &e));
        if (!args_match(&a, &t.s, &c, &w, &e)) fail_msg("%s: %s", parses[i].line, e.text);
        for (int k = 0; k < a.n; k++) {
            size_t n = strlen(shown);
            snprintf(shown + n, sizeof shown - n, "%s=%s ", a.v[k].key, a.v[k].value);
        }
        assert_string_equal(shown, parses[i].args);
    }
    talk_close(&t);
}

static const struct {
    const char *line, *message;
} errors[] = {
    {"--json", "--json: `--json` is for the start of warpspy, as in `warpspy --json FILE`; here, `COMMAND > FILE.json` "
               "and `COMMAND > FILE.csv` write JSON and CSV\n"},
    {"stats --csv",
     "stats: `--csv` is for the start of warpspy, as in `warpspy --json FILE`; here, `COMMAND > FILE.json` "
     "and `COMMAND > FILE.csv` write JSON and CSV\n"},
    {"statts", "statts: there is no such command; did you mean `stats`?\n"},
    {"st", "st: this could be `stats`, `step` or `stop`; type more letters\n"},
    {"samples/thesis4.mtx",
     "samples/thesis4.mtx: there is no such command; did you mean `load samples/thesis4.mtx`?\n"},
    {"samples/coater2.mtx.gz",
     "samples/coater2.mtx.gz: there is no such command; did you mean `load samples/coater2.mtx.gz`?\n"},
    {"load thesis4",
     "load: thesis4: cannot open the file: No such file or directory; did you mean `load samples/thesis4.mtx`?\n"},
    {"load samples/coater2",
     "load: samples/coater2: cannot open the file: No such file or directory; did you mean `load "
     "samples/coater2.mtx.gz`?\n"},
    {"load nowhere", "load: nowhere: cannot open the file: No such file or directory; it is not in $WARPSPY_MATRICES, "
                     "$XDG_DATA_HOME/warpspy/matrices, $XDG_DATA_HOME/warpspy, ~/.ssgetpy, $MATRIXDEPOT_DATA either\n"},
    {"qwertyuiop", "qwertyuiop: there is no such command; `help` lists all commands\n"},
    {"list A", "list: `A` cannot follow `list`; nothing can\n"},
    {"use", "use: a matrix is missing after `use`; one of A, Bus\n"},
    {"use Bsu", "use: `Bsu` after `use` is not a matrix (did you mean `Bus`?); one of A, Bus\n"},
    {"load", "load: a file is missing after `load`\n"},
    {"load a as 'x y'", "load: `x y` after `as` is not a name of at most 63 bytes, of letters, digits and _ . + -\n"},
    {"load a b as C", "load: 2 files cannot share the name `C`: give one file before `as`\n"},
    {"spmv on", "spmv: a device is missing after `on`; one of cpu, emu, emu*2\n"},
    {"spmv on gpuu", "spmv: `gpuu` after `on` is not a device; one of cpu, emu, emu*2\n"},
    {"spmv on csr-merge", "spmv: `csr-merge` after `on` is not a device, but a kernel; one of cpu, emu, emu*2\n"},
    {"spmv on cpuu", "spmv: `cpuu` after `on` is not a device (did you mean `cpu`?); one of cpu, emu, emu*2\n"},
    {"spmv A on cpu onn",
     "spmv: `onn` after `cpu` is unknown; use a format, a kernel, a precision, `transposed`, `alpha`, "
     "`beta`, ...; `help spmv` shows all\n"},
    {"spmv Buss", "spmv: `Buss` after `spmv` is unknown: did you mean `Bus`? Use a matrix, a format, a kernel, "
                  "a precision, `transposed`, `alpha`, ...; `help spmv` shows all\n"},
    {"solve bicgstab with ilu0", "solve: `with` after `bicgstab` is unknown; use a matrix, a format, a kernel, "
                                 "a preconditioner, `on`, `block`, ...; `help solve` shows all\n"},
    {"formats block 4",
     "formats: `block` after `formats` is unknown: it is a parameter of bsr, bsell, vab; `convert` and `whatif` "
     "take it after the format\n"},
    {"bench block 4",
     "bench: `block` after `bench` is unknown: it is a parameter of bsr, bsell, vab; name one format before it\n"},
    {"bench bsr ell block 4",
     "bench: `block` after `ell` is unknown: it is a parameter of bsr, bsell, vab; name one format before it\n"},
    {"trace nothing", "trace: `nothing` after `trace` is unknown; use a kernel or lu-paper, a matrix, a precision, "
                      "`launch`, `block`, `warp`, ...; `help trace` shows all\n"},
    {"spmv A emu", "spmv: `emu` after `A` needs a keyword: write `on emu`\n"},
    {"spmv on cpu on emu", "spmv: `on` is given twice\n"},
    {"spmv f64 f32", "spmv: `f32` conflicts with an earlier word\n"},
    {"spmv f64 precision bf16-fp32", "spmv: `precision` conflicts with an earlier word\n"},
    {"spmv precision bf17",
     "spmv: `bf17` after `precision` is not a precision; one of fp64, fp32, fp32-fp64, fp16-fp32, "
     "bf16-fp32, fp16-fp64, bf16-fp64\n"},
    {"spmv reps 1e3", "spmv: `1e3` after `reps` is not an integer\n"},
    {"spmv reps -1", "spmv: `reps -1` is outside 0 .. 1000000\n"},
    {"gen poisson2d x",
     "gen: `x` is not a parameter (did you mean `nx`?); one of nx, ny, or a keyword: seed, on, as\n"},
    {"gen poisson2d 3 3 3", "gen: too many parameters: `3` is one too many\n"},
    {"gen poisson2d nx", "gen: nx (points per line of the grid) has no value: give an integer from 1 to 2147483647\n"},
    {"gen poisson2d 3 as A", "gen: a matrix is called A already; `drop A` first or choose another name\n"},
    {"gen random n 1,000", "gen: `1,000` is not a value of n (rows): give an integer from 0 to 4294967296\n"},
    {"gen random n many", "gen: `many` is not a value of n (rows): give an integer from 0 to 4294967296\n"},
    {"gen random 3.5", "gen: `3.5` is not a value of n (rows): give an integer from 0 to 4294967296\n"},
    {"gen random 99999999999999999999",
     "gen: `99999999999999999999` is not a value of n (rows): give an integer from 0 to 4294967296\n"},
    {"gen band 10 2 fill 50%", "gen: `50%` is not a value of fill (percentage of the off-diagonal positions "
                               "that are filled): give an integer from 0 to 100\n"},
    {"gen random 10 n 20", "gen: `n` is given twice\n"},
    {"LIST", "LIST: there is no such command; did you mean `list`?\n"},
    {"layout sell c 2 of A", "layout: `c` is not a parameter (did you mean `C`?); one of C, sigma, or a keyword: "
                             "slots, f32, f64, precision, view\n"},
    {"drop", "drop: drop which matrices? name them, or `all`; `list` shows them\n"},
    {"load \"a", "warpspy: the line ends inside a quote; add a closing \"\n"},
    {"!exit 3", "!: the shell command ended with status 3\n"},
    {"source /nowhere/at/all", "source: /nowhere/at/all: cannot open: No such file or directory\n"},
    {"convert csr force force", "convert: `force` is given twice\n"},
    {"st\033[2Jats", "st\\x1b[2Jats: there is no such command; `help` lists all commands\n"},
    {"use '\033]0;x\007'", "use: `\\x1b]0;x\\x07` after `use` is not a matrix; one of A, Bus\n"},
};

TEST(errors_name_fault_and_cure)
{
    struct talk t;
    if (device_count(DEV_CUDA)) {
        print_message("skip: the devices listed in messages are those of a machine without a GPU\n");
        return;
    }
    with_matrices(&t);
    for (int i = 0; i < COUNT(errors); i++) {
        assert_false(talk_line(&t, errors[i].line));
        assert_string_equal(t.err, errors[i].message);
        assert_string_equal(t.out, "");
    }
    talk_close(&t);
}

/* A suggested line can be typed as it is shown. */
/* A number without a name is the parameter after the last one. The parameters of poisson3d are nx, ny and nz. */
TEST(parameters_follow_the_named_ones)
{
    static const struct {
        const char *line;
        int rows;
    } cases[] = {
        {"gen poisson3d 2 5 6", 60},
        {"gen poisson3d ny 5 6 nx 2", 60},
        {"gen poisson3d nx 2 5 6", 60},
        {"gen poisson3d nz 6 nx 2 5", 60},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        if (!talk_line(&t, cases[i].line)) fail_msg("%s: %s", cases[i].line, t.err);
        if (t.s.current->csr.rows != cases[i].rows)
            fail_msg("%s: %lld rows", cases[i].line, (long long)t.s.current->csr.rows);
    }
    talk_refuses(&t, "gen poisson3d ny 5 nx 2 5", "`ny` is given twice");
    talk_refuses(&t, "gen poisson3d nz 6 7", "too many parameters: `7` is one too many");
    talk_close(&t);
}

TEST(a_suggested_path_with_blanks_is_quoted)
{
    struct talk t;
    char folder[] = "/tmp/warpspy-command-XXXXXX", path[64], line[100], suggested[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/my matrix.mtx", folder);
    snprintf(suggested, sizeof suggested, "did you mean `load \"%s\"`?\n", path);
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "gen poisson2d 2; save \"%s\"", path);
    assert_true(talk_line(&t, line));
    snprintf(line, sizeof line, "'%s'", path);
    talk_refuses(&t, line, suggested);
    snprintf(line, sizeof line, "load '%s/my matrix'", folder);
    talk_refuses(&t, line, suggested);
    snprintf(line, sizeof line, "load \"%s\"", path);
    assert_true(talk_line(&t, line));
    talk_close(&t);
    unlink(path);
    rmdir(folder);
}

TEST(without_a_matrix_the_error_suggests_load)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_false(talk_line(&t, "stats"));
    assert_string_equal(t.err, "stats: no matrix is loaded; use `load FILE` or `gen poisson2d 100`\n");
    assert_false(talk_line(&t, "use X"));
    assert_non_null(strstr(t.err, "no matrix is loaded"));
    talk_close(&t);
}

/* ---- lines and scripts ---- */

TEST(a_line_stops_at_its_first_failure)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 2 as A; gen poisson2d 2 as B # gen poisson2d 2 as C"));
    assert_false(talk_line(&t, "drop B; drop B; drop A"));
    assert_ptr_equal(t.s.matrices, t.s.current);
    assert_string_equal(t.s.current->name, "A");
    assert_true(talk_line(&t, "gen poisson2d 2 as B; drop all"));
    assert_null(t.s.matrices);
    assert_true(talk_line(&t, "gen poisson2d 2 as A; exit; drop A"));
    assert_true(t.s.quit && t.s.matrices);
    talk_close(&t);
}

/* Run text as a script; returns its output for comparison. */
static bool script(struct talk *t, const char *text, size_t n, bool stop)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    fwrite(text, 1, n, f);
    rewind(f);
    talk_forget(t);
    bool ok = run_stream(&t->s, f, "s.ws", stop);
    talk_refresh(t);
    fclose(f);
    return ok;
}

TEST(scripts_report_where_they_failed)
{
    static const char text[] = "\xef\xbb\xbfgen poisson2d 2 as A\r\n\r\n# remark\nfoo\nuse Z\ndrop A";
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_false(script(&t, text, sizeof text - 1, true));
    assert_string_equal(t.err, "foo: s.ws:4: there is no such command; `help` lists all commands\n");
    assert_non_null(t.s.matrices);
    assert_true(talk_line(&t, "drop A"));
    assert_false(script(&t, text, sizeof text - 1, false));
    assert_string_equal(t.err, "foo: s.ws:4: there is no such command; `help` lists all commands\n"
                               "use: s.ws:5: `Z` after `use` is not a matrix; one of A\n");
    assert_null(t.s.matrices);
    assert_null(t.s.script);
    talk_close(&t);
}

TEST(long_lines_are_refused)
{
    static char text[LINE_LIMIT + 20];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    memset(text, 'a', sizeof text);
    memcpy(text + LINE_LIMIT + 1, "\nversion\n", 9);
    assert_false(script(&t, text, LINE_LIMIT + 10, false));
    assert_string_equal(t.err, "warpspy: s.ws:1: the line is too long: at most 16384 bytes; split it\n");
    assert_non_null(strstr(t.out, WARPSPY_VERSION));
    text[LINE_LIMIT + 1] = 0;
    assert_false(talk_line(&t, text));
    assert_string_equal(t.err, "warpspy: the line is too long: at most 16384 bytes; split it\n");
    memset(text, ' ', LINE_LIMIT - 7);
    memcpy(text + LINE_LIMIT - 7, "version", 8);
    assert_true(talk_line(&t, text));
    assert_false(script(&t, "vers\0ion\nversion\n", 17, false));
    assert_string_equal(t.err, "warpspy: s.ws:1: the line contains a NUL byte; this is not a text file\n");
    talk_close(&t);
}

TEST(nested_scripts_are_limited)
{
    char path[] = "/tmp/warpspy-test-XXXXXX", line[64];
    struct talk t;
    int fd = mkstemp(path);
    snprintf(line, sizeof line, "source %s\n", path);
    assert_true(fd >= 0 && write(fd, line, strlen(line)) > 0);
    talk_open(&t, OUT_TEXT);
    assert_false(talk_line(&t, line));
    assert_non_null(strstr(t.err, ":1: more than 16 scripts are nested"));
    assert_int_equal(t.s.depth, 0);
    talk_close(&t);
    close(fd);
    unlink(path);
}

/* ---- completion ---- */

struct given {
    char text[1024];
};

static void give(void *user, const char *word)
{
    struct given *g = user;
    size_t n = strlen(g->text);
    snprintf(g->text + n, sizeof g->text - n, "%s ", word);
}

static const struct {
    const char *line, *given;
} completions[] = {
    {"sta", "stats "},
    {"  sta", "stats "},
    {"list; sta", "stats "},
    {"list ;sta", "stats "},
    {"use ", "A Bus "},
    {"use B", "Bus "},
    {"use A ", ""},
    {"drop A B", "Bus "},
    {"spmv A o", "on "},
    {"spmv on e", "emu emu*2 "},
    {"spmv on emu o", ""},
    {"spmv A kernel csr-v", "csr-vector "},
    {"spmv on cpu using ell kernel ", "ell-serial ell-openmp "},
    {"spmv kernel csr-vector using el", "ell "},
    {"spmv f32 f", "force "},
    {"spmv using ell w", "width "},
    {"spmv nosuch k", "kernel "},
    {"convert hy", "hyb "},
    {"convert hyb wi", "width "},
    {"convert hyb width 3 of B", "Bus "},
    {"gen poisson2d n", "nx ny "},
    {"gen rm", "rmat "},
    {"help csr-se", "csr-serial "},
    {"help undo ", "keys schema "},
    {"help ell ", ""},
    {"device c", "cpu "},
    {"nosuch x", ""},
    {"use 'B", "Bus "},
    {"!sta", ""},
    {"list; !sta", ""},
    {"list # sta", ""},
    {"#", ""},
    {"# ", ""},
    {"# sta", ""},
    {"use #", ""},
    {"use # ", ""},
    {"use # B", ""},
    {"use B# ", ""},
    {"use A; # sta", ""},
    {"spmv A kernel # csr-v", ""},
    {"use \"#\" ; sta", "stats "},
};

TEST(completion_follows_the_grammar)
{
    struct talk t;
    with_matrices(&t);
    for (int i = 0; i < COUNT(completions); i++) {
        struct given g = {""};
        if (device_count(DEV_CUDA) && strstr(completions[i].line, "device")) continue;
        complete(&t.s, completions[i].line, strlen(completions[i].line), give, &g);
        if (strcmp(g.text, completions[i].given)) fail_msg("%s: gives %s", completions[i].line, g.text);
    }
    struct given g = {""};
    complete(&t.s, "spmv on emu", 8, give, &g);
    assert_string_equal(g.text, "cpu emu emu*2 ");
    talk_close(&t);
}

static void touch(const char *dir, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void given_files(struct talk *t, const char *dir, const char *typed, const char *expected)
{
    char line[512], whole[512];
    struct given g = {""};
    snprintf(line, sizeof line, "load %s%s", dir, typed);
    complete(&t->s, line, strlen(line), give, &g);
    snprintf(whole, sizeof whole, *expected ? "%s%s " : "", dir, expected);
    assert_string_equal(g.text, whole);
}

TEST(files_complete_with_escapes)
{
    char dir[64] = "/tmp/warpspy-test-XXXXXX", sub[80], command[96];
    struct talk t;
    assert_non_null(mkdtemp(dir));
    snprintf(sub, sizeof sub, "%s/sub", dir);
    assert_int_equal(mkdir(sub, 0700), 0);
    touch(dir, "one.mtx");
    touch(dir, "two words;x.mtx");
    touch(dir, "n#1.mtx");
    touch(dir, "it's.mtx");
    touch(dir, ".hidden");
    touch(dir, "evil\033[2J");
    strcat(dir, "/");
    talk_open(&t, OUT_TEXT);
    given_files(&t, dir, "o", "one.mtx");
    given_files(&t, dir, "tw", "two\\ words\\;x.mtx");
    given_files(&t, dir, "n", "n\\#1.mtx");
    given_files(&t, dir, "i", "it\\'s.mtx");
    given_files(&t, dir, "s", "sub/");
    given_files(&t, dir, ".h", ".hidden");
    given_files(&t, dir, "ev", "");
    talk_close(&t);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- output ---- */

static void fill_row(struct out *o, const char *name, int64_t n, double x)
{
    out_row(o);
    out_str(o, "name", "name", name);
    out_int(o, "n", "count", n);
    out_num(o, "x", "x", x, "%.2f");
    out_bool(o, "good", "good", n > 0);
    out_bytes(o, "size", "size", n);
    out_int(o, "hidden", NULL, 7);
    out_nums(o, "list", 2, (double[]){1, 0.0 / 0.0});
}

static const char *filled(struct talk *t, enum out_mode mode)
{
    struct err e = {0};
    talk_open(t, mode);
    out_begin(t->s.out, "cmd");
    fill_row(t->s.out, "\xe8\xa1\x8c", 1234567, 0.5); /* one character, two columns wide */
    fill_row(t->s.out, "a,\"b\"\033", 0, 0.0 / 0.0);
    assert_true(out_end(t->s.out, &e));
    talk_refresh(t);
    return t->out;
}

TEST(tables_are_aligned)
{
    struct talk t;
    assert_string_equal(filled(&t, OUT_TEXT), "name           count     x  good     size\n"
                                              "\xe8\xa1\x8c         1,234,567  0.50  yes   1.23 MB\n"
                                              "a,\"b\"\\x1b          0     -  no        0 B\n");
    talk_close(&t);
}

/* Print with `print` in the given number of columns; the caller frees the text. */
static char *printed(const struct table *t, void (*print)(const struct table *, FILE *, int), int width)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    print(t, f, width);
    fclose(f);
    return text;
}

TEST(numbers_stay_with_their_units)
{
    static const struct {
        int width;
        const char *text, *says;
    } cases[] = {
        {19, "read in memory, 0.9 ms", "read in memory,\n0.9 ms\n"},
        {21, "read in memory, 12 kB, ok", "read in memory,\n12 kB, ok\n"},
        {19, "read in memory, 0.9 more", "read in memory, 0.9\nmore\n"},
        {4, "0.9 ms", "0.9\nms\n"},
        {0, "read in memory, 0.9 ms", "read in memory, 0.9 ms\n"},
        {20, "type `step 5; stop`: then", "type `step 5; stop`:\nthen\n"},
        {18, "type `step 5; stop`: then", "type\n`step 5; stop`:\nthen\n"},
        {9, "type `step 5; stop`: then", "type\n`step 5;\nstop`:\nthen\n"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        assert_non_null(f);
        table_wrapped(f, cases[i].text, 0, 0, cases[i].width);
        fclose(f);
        assert_string_equal(text, cases[i].says);
        free(text);
    }
}

TEST(tables_fit_a_terminal)
{
    static const struct {
        void (*print)(const struct table *, FILE *, int);
        int width;
        const char *text;
    } cases[] = {
        {table_text, 0, "kernel  work                            us\ncsr     one row of the matrix per warp   5\n"},
        {table_text, 42, "kernel  work                            us\ncsr     one row of the matrix per warp   5\n"},
        {table_text, 36,
         "kernel  work                      us\ncsr     one row of the matrix      5\n        per warp\n"},
        {table_text, 27,
         "kernel  work\ncsr     one row of the\n        matrix per warp\nhidden (too few columns):\nus\n"},
        {table_text, 10, "kernel\ncsr\nhidden\n(too few\ncolumns):\nwork, us\n"},
        {table_records, 24, "kernel  csr\nwork    one row of the\n        matrix per warp\nus      5\n"},
    };
    struct table t = {0};
    table_row(&t);
    assert_true(table_add(&t, "k", "kernel", "csr", false, false, NULL));
    assert_true(table_add(&t, "w", "work", "one row of the matrix per warp", false, false, NULL));
    assert_true(table_add(&t, "u", "us", "5", true, false, NULL));
    for (int i = 0; i < COUNT(cases); i++) {
        char *text = printed(&t, cases[i].print, cases[i].width);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    table_clear(&t);
}

/* A caller may build a name in its own buffer and reuse the buffer. */
TEST(tables_keep_their_names)
{
    struct table t = {0};
    char name[8], *text = NULL;
    size_t n;
    for (int row = 0; row < 2; row++) {
        table_row(&t);
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "c%d", i);
            assert_true(table_add(&t, name, name, "x", false, false, NULL));
        }
    }
    strcpy(name, "gone");
    FILE *f = open_memstream(&text, &n);
    table_csv(&t, f, true);
    table_text(&t, f, 0, NULL);
    table_clear(&t);
    fclose(f);
    assert_string_equal(text, "c0,c1,c2\nx,x,x\nx,x,x\nc0  c1  c2\nx   x   x\nx   x   x\n");
    free(text);
}

/* The table's main column stays and is wrapped in the remaining width; the columns before the main column are hidden.
 */
TEST(the_main_column_is_kept)
{
    struct table t = {0};
    table_row(&t);
    assert_true(table_add(&t, "l", "line", "k.cu:1", false, false, NULL));
    assert_true(table_add(&t, "n", "sectors", "5", true, false, NULL));
    assert_true(table_add(&t, "e", "each", "1", true, false, NULL));
    t.rank = COLUMN_ANSWER;
    assert_true(table_add(&t, "s", "source", "y[row] = sum of all of them;", false, false, NULL));
    char *text = printed(&t, table_text, 35);
    assert_string_equal(text,
                        "line    sectors  source\nk.cu:1        5  y[row] = sum of\n                 all of them;\n"
                        "hidden (too few columns): each\n");
    free(text);
    text = printed(&t, table_text, 12);
    assert_string_equal(text,
                        "line    source\nk.cu:1  y[row] = sum of\n        all of them;\nhidden (too\nfew\ncolumns):\n"
                        "sectors,\neach\n");
    free(text);
    table_clear(&t);
}

/* If the terminal is too narrow, columns with one value in all rows are dropped first, and that value is listed below
   the table. Columns of rank COLUMN_DETAIL are hidden next, from right to left, and columns of rank COLUMN_NORMAL last.
   The first column and columns of rank COLUMN_ANSWER are never hidden. */
TEST(columns_go_by_rank)
{
    static const struct {
        int width;
        const char *text;
    } cases[] = {
        {60, "kernel  device  +-  us  GB/s  error\ncsr     cuda:0   1  20    40   1e-9\n"
             "ell     cuda:0   2  30    50   2e-9\n"},
        {34, "kernel  +-  us  GB/s  error\ncsr      1  20    40   1e-9\nell      2  30    50   2e-9\n"
             "dropped: device (cuda:0 in all\nrows)\n"},
        {22, "kernel  +-  us  GB/s\ncsr      1  20    40\nell      2  30    50\n"
             "dropped: device\n(cuda:0 in all rows)\nhidden (too few\ncolumns): error\n"},
        {19, "kernel  us  GB/s\ncsr     20    40\nell     30    50\n"
             "dropped: device\n(cuda:0 in all\nrows)\nhidden (too few\ncolumns): +-, error\n"},
        {5, "kernel  us\ncsr     20\nell     30\n"},
    };
    static const char *const row[][6] = {{"csr", "cuda:0", "1", "20", "40", "1e-9"},
                                         {"ell", "cuda:0", "2", "30", "50", "2e-9"}};
    static const char *const names[] = {"kernel", "device", "+-", "us", "GB/s", "error"};
    static const enum column_rank ranks[] = {COLUMN_NORMAL, COLUMN_NORMAL, COLUMN_DETAIL,
                                             COLUMN_ANSWER, COLUMN_NORMAL, COLUMN_DETAIL};
    struct table t = {0};
    for (int i = 0; i < COUNT(row); i++) {
        table_row(&t);
        for (int k = 0; k < COUNT(names); k++) {
            t.rank = ranks[k];
            assert_true(table_add(&t, names[k], names[k], row[i][k], k > 1, false, NULL));
        }
    }
    for (int i = 0; i < COUNT(cases); i++) {
        char *text = printed(&t, table_text, cases[i].width);
        if (strncmp(text, cases[i].text, strlen(cases[i].text)) != 0) fail_msg("%d: %s", cases[i].width, text);
        free(text);
    }
    table_clear(&t);
}

static const struct {
    const char *line, *part, *absent; /* text that the output has; text that it lacks, or NULL */
} words_explained[] = {
    {"help refine", "solve ... [refine fp32|fp16|bf16]", NULL},
    {"help refine", "With refine, the solver iterates in fp32", "Gram-Schmidt"},
    {"help refine", "    solve cg refine fp32", NULL},
    {"help solve refine", "With refine, the solver iterates in fp32", "Gram-Schmidt"},
    {"help advise solver", "`advise solver` tries every solver", "The emulator runs"},
    {"help solve direct", "factors A once", NULL},
    {"help tol", "tol is a word of these commands:", NULL},
    {"help tol", "  eigs       [tol R]", NULL},
    {"help solve tol", "The solve stops when ||r|| / ||b|| <= tol", "tol is a word of these"},
    {"help replay keys", "\ntime_us   number >= 0   total time, in us\n", "why_not"},
    {"help replay schema",
     "\"time_us\": {\n     \"type\": \"number\",\n     \"minimum\": 0,\n     \"description\": \"total time, in us\"",
     NULL},
};

/* Each keyword of each command can be explained. */
TEST(help_explains_the_words_of_commands)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(words_explained); i++) {
        talk_says(&t, words_explained[i].line, words_explained[i].part);
        if (words_explained[i].absent && strstr(t.out, words_explained[i].absent))
            fail_msg("%s: %s", words_explained[i].line, t.out);
    }
    talk_says(&t, "help solve", "\nPreconditioners:\n");
    assert_null(strstr(strstr(t.out, "\nPreconditioners:\n") + 1, "\nPreconditioners:\n"));
    talk_refuses(&t, "help solve nosuch", "`nosuch` is not a word of `solve`");
    talk_refuses(&t, "help ell nosuch", "`ell` is not a command, so it has no options");
    for (int i = 0; commands[i]; i++) {
        struct grammar g;
        assert_true(grammar_parse(commands[i]->grammar, &g));
        for (int k = 0; k < g.n; k++) {
            char line[80];
            if (g.item[k].type == ITEM_VALUE) continue;
            assert_true(strcmp(g.item[k].word, "keys") && strcmp(g.item[k].word, "schema")); /* `help COMMAND keys` */
            snprintf(line, sizeof line, "help %s %s", commands[i]->name, g.item[k].word);
            talk_says(&t, line, g.item[k].word);
            snprintf(line, sizeof line, "help %s", g.item[k].word);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        }
    }
    talk_close(&t);
}

/* A line to copy is not wrapped at a terminal. */
TEST(verbatim_lines_stay_whole)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    out_verbatim(t.s.out, "first\n  second line\n\nlast");
    talk_refresh(&t);
    assert_string_equal(t.out, "first\n  second line\n\nlast\n");
    talk_close(&t);
}

/* What follows the first line of a numbered item or of a named line is indented below its text. */
TEST(items_hang)
{
    static const struct {
        const char *line, *printed;
    } cases[] = {
        {"2. rows of zeros make A singular", "2. rows of zeros\n   make A singular\n"},
        {"12. rows of zeros make A singular", "12. rows of zeros\n    make A\n    singular\n"},
        {"try  rows of zeros make it so", "try  rows of zeros\n     make it so\n"},
        {"2.5 rows of zeros make it so", "2.5 rows of zeros\nmake it so\n"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        struct talk t;
        talk_open(&t, OUT_TEXT);
        struct out_target before = out_redirect(t.s.out, (struct out_target){.data = f, .columns = 18});
        out_text(t.s.out, "%s", cases[i].line);
        out_redirect(t.s.out, before);
        fclose(f);
        assert_string_equal(text, cases[i].printed);
        free(text);
        talk_close(&t);
    }
}

TEST(help_names_kernels_and_sources)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "help ell"));
    assert_non_null(strstr(t.out, "\nkernels  ell-padded ell ell-serial ell-openmp\n"));
    assert_true(talk_line(&t, "help sources"));
    assert_non_null(strstr(t.out, "Huazhong"));
    assert_false(talk_line(&t, "help CSR"));
    assert_non_null(strstr(t.err, "did you mean `csr`?"));
    talk_close(&t);
}

TEST(times_have_units)
{
    static const struct {
        double us;
        const char *line;
    } cases[] = {{0.5, "time  0.50 us\n"},
                 {9999, "time  9999.00 us\n"},
                 {12345, "time  12.35 ms\n"},
                 {2.5e6, "time  2.50 s\n"},
                 {NAN, "time  -\n"}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        talk_forget(&t);
        out_record(t.s.out);
        out_time(t.s.out, "us", "time", cases[i].us);
        assert_true(out_end(t.s.out, NULL));
        talk_refresh(&t);
        assert_string_equal(t.out, cases[i].line);
    }
    talk_close(&t);
}

TEST(csv_is_quoted)
{
    struct talk t;
    assert_string_equal(filled(&t, OUT_CSV), "name,n,x,good,size,hidden\n"
                                             "\xe8\xa1\x8c,1234567,0.5,true,1234567,7\n"
                                             "\"a,\"\"b\"\"\\x1b\",0,,false,0,7\n");
    talk_close(&t);
}

TEST(json_is_one_object_per_line)
{
    struct talk t;
    assert_string_equal(
        filled(&t, OUT_JSON),
        "{\"command\":\"cmd\",\"ok\":true,\"name\":\"\xe8\xa1\x8c\",\"n\":1234567,\"x\":0.5,\"good\":true,"
        "\"size\":1234567,\"hidden\":7,\"list\":[1,null]}\n"
        "{\"command\":\"cmd\",\"ok\":true,\"name\":\"a,\\\"b\\\"\\\\x1b\",\"n\":0,\"x\":null,"
        "\"good\":false,\"size\":0,\"hidden\":7,\"list\":[1,null]}\n");
    talk_close(&t);
}

/* Line breaks within text are kept if the output format can express them. */
TEST(line_breaks_in_text_are_kept)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "help version"));
    assert_non_null(strstr(t.out, "\"help\":\"    version\""));
    assert_true(talk_line(&t, "help use"));
    assert_non_null(strstr(t.out, "is named.\\n    use A\"}\n"));
    talk_close(&t);
    talk_open(&t, OUT_CSV);
    assert_true(talk_line(&t, "help use"));
    assert_non_null(strstr(t.out, ",\"Commands work on the current matrix if no matrix is named.\n    use A\"\n"));
    talk_close(&t);
}

TEST(a_failed_write_is_reported_once_and_ends_the_session)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    out_free(t.s.out);
    t.s.out = out_new(full, t.messages, OUT_TEXT, NULL);
    assert_false(talk_line(&t, "version; version"));
    assert_string_equal(t.err, "version: standard output: cannot write: No space left on device\n");
    assert_true(t.s.quit);
    talk_close(&t);
    fclose(full);
}

/* 0 is not taken for the default. */
TEST(zeros_are_refused)
{
    static const char *const lines[][2] = {{"solve sor A omega 0", "omega is 0, but a relaxation factor is above 0"},
                                           {"solve wjacobi A omega 0.0", "omega is 0"},
                                           {"solve gmres A m 0", "m is 0, but a cycle has at least 1 iteration"},
                                           {"solve cg A precond bjacobi block 0", "block is 0, but a block has"}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4 as A"));
    for (int i = 0; i < COUNT(lines); i++) talk_refuses(&t, lines[i][0], lines[i][1]);
    assert_true(talk_line(&t, "solve sor A omega 1e-9 maxit 3"));
    talk_close(&t);
}
