/* How lines may be typed: abbreviations, other names, values in any order; and whether the commands accept every word
   that completion offers. */
#include "base/registry.h"
#include "formats/format.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "language/grammar.h"
#include "language/options.h"
#include "machine/device_sorts.h"
#include "machine/kernel.h"
#include "matrix/gen.h"
#include "matrix/reorder.h"
#include "session/command.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solver.h"
#include "ui/run.h"

#include <unistd.h>

/* ---- other names ---- */

static const struct registry *const registries[] = {&command_registry,   &format_registry,  &kernel_registry,
                                                    &solver_registry,    &precond_registry, &ordering_registry,
                                                    &generator_registry, &option_registry,  &device_sort_registry};

/* An alias finds its entry, and stands for one entry only. */
TEST(aliases_are_unique)
{
    for (int r = 0; r < COUNT(registries); r++) {
        const struct named *entry;
        for (int i = 0; (entry = registry_at(registries[r], i)); i++) {
            char list[200];
            snprintf(list, sizeof list, "%s", registry_aliases(registries[r], entry));
            for (char *word = strtok(list, " "); word; word = strtok(NULL, " "))
                if (registry_find(registries[r], word) != entry) fail_msg("`%s` is not only %s", word, entry->name);
        }
    }
}

/* Lines as they are typed, and the arguments that the grammar finds in them. */
static const struct {
    const char *typed, *args;
} typed_lines[] = {
    {"spmv csr-vector", "kernel=csr-vector "},
    {"spmv csr-vector A", "kernel=csr-vector matrix=A "},
    {"spmv A hyb width 2 on emu", "matrix=A using=hyb params=width params=2 on=emu "},
    {"spmv hyb w 2", "using=hyb params=width params=2 "},
    {"spmv ellpack rep 3", "using=ell reps=3 "},
    {"spmv A o emu f3", "matrix=A on=emu f32=f32 "},
    {"spmv A format ell", "matrix=A using=ell "},
    {"spmv A on gpu double", "matrix=A on=cuda f64=f64 "},
    {"bench csr-vector ell sell", "choice=csr-vector choice=ell choice=sell "},
    {"bench ell A csr-scalar on emu", "choice=ell matrix=A choice=csr-scalar on=emu "},
    {"solve A cg ilu", "matrix=A solver=cg precond=ilu0 "},
    {"solve gauss-seidel maxiter 3 A", "solver=gs maxit=3 matrix=A "},
    {"solve cg csr-vector jacobi", "solver=cg kernel=csr-vector precond=jacobi "},
    {"solve jacobi ell b ones", "solver=jacobi using=ell b=ones "},
    {"trace csr-vector A warp 1", "kernel=csr-vector of=A warp=1 "},
    {"convert A sell", "of=A format=sell "},
    {"whatif sell 8 rcm A", "format=sell params=8 reorder=rcm of=A "},
    {"reorder A nd", "matrix=A ordering=metis "},
    {"extract A 0 2", "matrix=A n=0 n2=2 "},
    {"gen laplace2d 3 a B", "generator=poisson2d params=3 as=B "},
    {"set color 16", "option=colours value=16 "},
    {"device host", "device=cpu "},
    {"help gauss-seidel", "topic=gs "},
    {"export spy a.svg si 80x24", "views=spy file=a.svg size=80x24 "},
};

static const char *match(struct talk *t, const char *line, struct err *e)
{
    static struct words w;
    static struct args a;
    static char shown[512];
    assert_true(words_split(&w, &line, e));
    const struct command *c = command_typed(w.w[0].text);
    if (!c) fail_msg("%s is no command", w.w[0].text);
    shown[0] = 0;
    if (!args_match(&a, &t->s, c, &w, e)) return shown;
    for (int k = 0; k < a.n; k++) {
        size_t n = strlen(shown);
        snprintf(shown + n, sizeof shown - n, "%s=%s ", a.v[k].key, a.v[k].value);
    }
    return shown;
}

static struct talk *with_matrix(struct talk *t)
{
    talk_open_screen(t);
    assert_true(talk_line(t, "gen poisson2d 3 as A"));
    return t;
}

TEST(lines_are_typed_freely)
{
    struct talk t;
    with_matrix(&t);
    for (int i = 0; i < COUNT(typed_lines); i++) {
        struct err e = {0};
        const char *args = match(&t, typed_lines[i].typed, &e);
        if (strcmp(args, typed_lines[i].args)) fail_msg("%s: %s%s", typed_lines[i].typed, args, e.text);
    }
    talk_close_screen(&t);
}

/* The name of a matrix wins over an alias or an abbreviation. */
TEST(exact_names_win)
{
    struct talk t;
    struct err e = {0};
    with_matrix(&t);
    assert_true(talk_line(&t, "gen poisson2d 3 as o; gen poisson2d 3 as single; gen poisson2d 3 as ell"));
    assert_string_equal(match(&t, "spmv o", &e), "matrix=o ");
    assert_string_equal(match(&t, "spmv single", &e), "matrix=single ");
    assert_string_equal(match(&t, "spmv ell ell", &e), "matrix=ell using=ell ");
    assert_string_equal(match(&t, "spmv ell ell ell", &e), "matrix=ell using=ell kernel=ell ");
    talk_close_screen(&t);
}

static const struct {
    const char *typed, *name; /* NULL: no command */
} short_commands[] = {
    {"stats", "stats"}, {"stat", "stats"}, {"solve", "solve"},   {"sol", NULL},    {"q", "quit"},  {"?", "help"},
    {"ls", "list"},     {"c", "continue"}, {"s", "step"},        {"sp", NULL},     {"ex", NULL},   {"exi", "exit"},
    {"adv", "advise"},  {"", NULL},        {"STATS", NULL},      {"statss", NULL}, {"sv", NULL},   {"spm", "spmv"},
    {"load", "load"},   {"lo", "load"},    {"device", "device"}, {"devi", NULL},   {"un", "undo"}, {"clear", "clear"},
};

TEST(commands_are_abbreviated)
{
    struct talk t;
    for (int i = 0; i < COUNT(short_commands); i++) {
        const struct command *c = command_typed(short_commands[i].typed);
        const char *name = c ? c->name : "none", *expected = short_commands[i].name ? short_commands[i].name : "none";
        if (strcmp(name, expected)) fail_msg("%s: %s", short_commands[i].typed, name);
    }
    with_matrix(&t);
    talk_refuses(&t, "devi", "devi: this could be `devices` or `device`; type more letters");
    talk_refuses(&t, "spmv A f", "`f` could be `f32` or `f64`; type more letters");
    talk_refuses(&t, "gen poisson2d n 3", "`n` could be `nx` or `ny`; type more letters");
    talk_refuses(&t, "spmv csr-vector kernel csr-scalar", "`kernel` is given twice");
    talk_says(&t, "why ell", "ell would take");
    /* words that discard data must be typed in full */
    talk_refuses(&t, "drop al", "`al` after `drop` is unknown: did you mean `all`? Use a matrix or `all`");
    talk_refuses(&t, "save a.mtx A forc", "`forc` after `A` is unknown: did you mean `force`?");
    /* the log and recordings hold the whole name */
    assert_true(talk_line(&t, "ls"));
    const char *end = t.s.log.text + strlen(t.s.log.text);
    assert_string_equal(end - strlen("list\n"), "list\n");
    talk_close_screen(&t);
}

/* ---- completion ---- */

enum { OFFERS_MAX = 1000 };
struct offers {
    char word[OFFERS_MAX][64];
    int n;
};

static void note(void *user, const char *word)
{
    struct offers *all = user;
    assert_true(all->n < OFFERS_MAX);
    snprintf(all->word[all->n++], sizeof *all->word, "%s", word);
}

/* Is the line accepted, at least as the beginning of a command? */
static bool is_accepted(struct talk *t, const char *line, struct err *e)
{
    match(t, line, e);
    return !e->code || strstr(e->text, " is missing after ");
}

/* Check that every word that completion offers after `line` is accepted. If depth > 0, check the offers after each of
   these words, too. */
static int check_offers(struct talk *t, const char *line, int depth)
{
    static const char *const plain[] = {"1", "Z"};
    struct offers *all = calloc(1, sizeof *all);
    char longer[400];
    int n = 0;
    assert_non_null(all);
    snprintf(longer, sizeof longer, "%s ", line);
    complete(&t->s, longer, strlen(longer), note, all);
    for (int i = 0; i < COUNT(plain) && !all->n; i++) {
        struct err e = {0};
        snprintf(longer, sizeof longer, "%s %s", line, plain[i]);
        if (is_accepted(t, longer, &e)) note(all, plain[i]);
    }
    for (int i = 0; i < all->n; i++) {
        struct err e = {0};
        snprintf(longer, sizeof longer, "%s %s", line, all->word[i]);
        if (!is_accepted(t, longer, &e)) fail_msg("`%s` was offered, but: %s", longer, e.text);
        n += 1 + (depth ? check_offers(t, longer, depth - 1) : 0);
    }
    free(all);
    return n;
}

TEST(what_completion_offers_is_accepted)
{
    struct talk t;
    char folder[] = "/tmp/warpspy-test-XXXXXX";
    int n = 0;
    with_matrix(&t);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; commands[i]; i++) n += check_offers(&t, commands[i]->name, 1);
    assert_int_equal(rmdir(folder), 0);
    assert_true(n > 10000);
    talk_close_screen(&t);
}

static const struct {
    const char *line, *offered, *not_offered; /* one word each; NULL: none */
} fitting[] = {
    {"trace ", "csr-vector", "csr-serial"},
    {"trace csr-vector ", "A", "emu"},
    {"trace lu", "lu-paper", "lu-serial"},
    {"trace lu-paper A ", "column", "emu"},
    {"count ", "csr-scalar", "csr-openmp"},
    {"explain ", "csr-vector", "csr-serial"},
    {"solve ", "cg", "csr"},
    {"solve cg precond ", "ilu0", "cg"},
    {"solve cg orth ", "classical", "A"},
    {"solve jacobi form ", "matrix", "A"},
    {"race jacobi wjacobi form ", "matrix", "A"},
    {"solve cg b ", "random", "A"},
    {"convert ", "sell", "csr-vector"},
    {"lesson ", "looks", "A"},
    {"let B = ", "A", "cg"},
    {"set ", "colours", "A"},
    {"set colours ", "256", "colours"},
    {"set color ", "256", "auto_"},
    {"spmv A on ", "emu", "A"},
    {"bench ", "ell", "cg"},
    {"bench ell ", "csr-vector", "cg"},
    {"scale by ", "rows", "A"},
    {"check only ", "fill", "A"},
    {"export spy a.svg as ", "png", "gif"},
    {"view ", "spy", "csr"},
    {"help ", "ilu0", "A_"},
    {"sp", "spmv", "stats"},
    {"conv h", "hyb", "sell"},
    {"spmv o", "on", "of"},
    {"gen ", "poisson2d", "A"},
    {"eigs ", "smallest", "csr-vector"},
    {"eigs ", "A", "ell"},
    {"eigs ", "using", "sell"},
    {"eigs csr-v", "csr-vector", "ell"},
    {"eigs using ", "ell", "A"},
    {"eigs kernel ", "csr-vector", "A"},
    {"whatif ", "ell", "csr-vector"},
    {"why ", "stagnates", "csr-vector"},
    {"why ", "not", "ell"},
    {"why not ", "ell", "stagnates"},
    {"help refi", "refine", "cg"},
    {"help advise ", "solver", "cg"},
};

static bool is_among(const struct offers *all, const char *word)
{
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->word[i], word)) return true;
    return false;
}

TEST(completion_offers_what_fits)
{
    struct talk t;
    static struct offers all;
    with_matrix(&t);
    for (int i = 0; i < COUNT(fitting); i++) {
        all.n = 0;
        complete(&t.s, fitting[i].line, strlen(fitting[i].line), note, &all);
        if (!is_among(&all, fitting[i].offered)) fail_msg("%s: %s is not offered", fitting[i].line, fitting[i].offered);
        if (is_among(&all, fitting[i].not_offered))
            fail_msg("%s: %s is offered", fitting[i].line, fitting[i].not_offered);
    }
    talk_close_screen(&t);
}
