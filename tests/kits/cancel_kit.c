/* Command lines that Ctrl-C must be able to end: lines for every command of the registry, on a matrix of a chosen
   size. */
#include "cancel_kit.h"
#include "base/base.h"
#include "direct/direct.h"
#include "formats/format.h"
#include "lu/lu.h"
#include "machine/symmetrize.h"
#include "matrix/reorder.h"
#include "parts/partition.h"
#include "session/command.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number of iterations that would take hours. */
#define ENDLESS " tol 1e-100 maxit 100000000 force"

const struct cancel_case cancel_cases[] = {
    {"load", "", "load a.mtx as B", NULL},
    {"load", "", "load a.mtx.gz as B", NULL},
    {"load", "", "load a.wsb as B", NULL},
    {"load", "", "load a.npz as B", NULL},
    {"gen", "", "gen GRID as B", NULL},
    {"gen", "", "gen SQUARE as B", NULL},
    {"gen", "", "gen random ROWS 10 as B", NULL},
    {"gen", "", "gen band ROWS 4 100 as B", NULL},
    {"gen", "", "gen brokendiag 2147483647 5 as B", NULL},
    {"gen", "", "gen walk SIDE as B", NULL},
    {"gen", "", "gen GRID on emu*2 as B", NULL},
    {"gen", "", "gen random ROWS 10 on emu*3 as B", NULL},
    {"spmv", "gen GRID on emu*2 as B", "spmv B", NULL},
    {"solve", "gen GRID on emu*2 as B", "solve cg B" ENDLESS, NULL},
    {"list", "", "list", NULL},
    {"use", "", "use A", NULL},
    {"drop", "gen GRID as B", "drop A", NULL},
    {"undo", "drop A", "undo", NULL},
    {"save", "", "save b.mtx", NULL},
    {"save", "", "save b.mtx.gz", NULL},
    {"save", "", "save b.wsb", NULL},
    {"save", "", "save b.npz", NULL},
    {"symmetrize", "gen random ROWS 10 as B", "symmetrize B on cpu", NULL},
    {"symmetrize", "", "symmetrize A mode average on cpu", NULL},
    {"symmetrize", "gen random ROWS 10 as B", "symmetrize B method sym-paper on cpu", NULL},
    {"symmetrize", "gen random ROWS 10 as B", "symmetrize B on emu", NULL},
    {"transpose", "", "transpose A on cpu", NULL},
    {"transpose", "", "transpose A on emu", NULL},
    {"reorder", "", "reorder EACH A", &ordering_registry},
    {"scale", "", "scale A", NULL},
    {"scale", "", "scale A by rows", NULL},
    {"scale", "", "scale A by matching", NULL},
    {"scale", "", "scale A powers", NULL},
    {"extract", "", "extract 10 HALF A", NULL},
    {"prune", "", "prune A below 2", NULL},
    {"partition", "", "partition A 100 EACH", &way_registry},
    {"partition", "", "partition A 100000 rows as P", NULL},
    {"diff", "gen GRID as B", "diff A B as D", NULL},
    {"let", "", "let B = A*A'", NULL},
    {"let", "gen random ROWS 10 as B", "let C = B*B*B - B' + 2*I", NULL},
    {"stats", "", "stats A", NULL},
    {"check", "", "check A", NULL},
    {"check", "", "check A all", NULL},
    {"check", "gen random ROWS 10 as B", "check B all", NULL},
    {"spy", "", "spy", NULL},
    {"coarsen", "", "coarsen A", NULL},
    {"coarsen", "", "coarsen A level 1", NULL},
    {"rows", "", "rows", NULL},
    {"layout", "", "layout ell of A", NULL},
    {"print", "", "print col 5 A", NULL},
    {"print", "", "print rows 0: A all", NULL},
    {"print", "", "print 0: 0: A all", NULL},
    {"print", "solve cg A on cpu step" ENDLESS, "print r all", NULL},
    {"find", "", "find rows sum < 100 sort max limit 1000000 of A", NULL},
    {"find", "", "find entries > 0 sort max of A", NULL},
    {"view", "", "view spy plain", NULL},
    {"keys", "", "keys j j view spy", NULL},
    {"keys", "", "keys j ? view rows", NULL},
    {"keys", "", "keys ':solve cg on cpu" ENDLESS "' Enter Wait", NULL},
    {"last", "spy", "last", NULL},
    {"screendump", "spy", "screendump b.svg force", NULL},
    {"export", "", "export spy b.png A force", NULL},
    {"export", "", "export rows b.csv A force", NULL},
    {"export", "", "export spy b.json A force", NULL},
    {"report", "", "report b.html A force", NULL},
    {"formats", "", "formats A", NULL},
    {"convert", "", "convert EACH of A on cpu force", &format_registry},
    {"convert", "", "convert EACH of A on emu force", &format_registry},
    {"convert", "gen random ROWS 10 as B", "convert csc of B", NULL},
    {"convert", "gen random ROWS 10 as B", "convert bsr 4 of B on emu", NULL},
    {"kernels", "", "kernels A", NULL},
    {"trace", "", "trace csr-vector of A", NULL},
    {"count", "", "count csr-scalar of A all", NULL},
    {"count", "", "count of A", NULL},
    {"predict", "", "predict csr-vector of A", NULL},
    {"explain", "", "explain csr-scalar of A", NULL},
    {"advise", "", "advise A", NULL},
    {"advise", "", "advise solver A within 60", NULL},
    {"why", "", "why not ell of A", NULL},
    {"why", "solve cg A on cpu maxit 3", "why stagnates", NULL},
    {"whatif", "", "whatif format ell of A reorder rcm", NULL},
    {"whatif", "", "whatif parts 1 2 4 8 of A link nccl", NULL},
    {"roofline", "", "roofline A", NULL},
    {"sm", "", "sm csr-vector of A", NULL},
    {"memories", "", "memories", NULL},
    {"sass", "", "sass csr-vector", NULL},
    {"sweep", "", "sweep N 8..64 times 2 of convert A drm N", NULL},
    {"wrong", "", "wrong", NULL},
    {"devices", "", "devices", NULL},
    {"device", "", "device emu", NULL},
    {"ceilings", "", "ceilings on cpu", NULL},
    {"ceilings", "", "ceilings on emu", NULL},
    {"transfer", "", "transfer A on emu", NULL},
    {"spmv", "", "spmv A using EACH on cpu reps 100 force", &format_registry},
    {"spmv", "", "spmv A using EACH on emu force", &format_registry},
    {"spmv", "", "spmv A using csr kernel csr-vector on emu f32", NULL},
    {"spmv", "", "spmv A transposed on cpu reps 100", NULL},
    {"spmm", "", "spmm A k 16 on cpu reps 100", NULL},
    {"spmm", "", "spmm A k 16 on emu", NULL},
    {"bench", "", "bench A on cpu", NULL},
    {"bench", "", "bench A transposed on cpu", NULL},
    {"bench", "", "bench A on emu", NULL},
    {"bench", "", "bench A csr sell on emu*2", NULL},
    {"timeline", "", "timeline A on emu*2", NULL},
    {"solve", "", "solve EACH A on cpu" ENDLESS, &solver_registry},
    {"solve", "", "solve cg A on emu*2" ENDLESS, NULL},
    {"batch", "", "batch cg A b random k 8 on cpu" ENDLESS, NULL},
    {"batch", "", "batch bicgstab A b random k 5 precond jacobi on emu" ENDLESS, NULL},
    {"solve", "", "solve direct EACH A on cpu", &direct_registry},
    {"solve", "", "solve direct A b random", NULL},
    {"solve", "", "solve A" ENDLESS, NULL},
    {"solve", "", "solve cg A on emu" ENDLESS, NULL},
    {"solve", "", "solve gmres A on emu" ENDLESS, NULL},
    {"solve", "", "solve bicgstab A precond ilu0 on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond ic0 on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond bjacobi on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond amg on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond amg on emu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond ic0 order colours on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond ic0 sweeps 3 on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A refine fp32 on cpu" ENDLESS, NULL},
    {"solve", "", "solve cg A precond ilu0 on emu" ENDLESS, NULL},
    {"solve", "gen random ROWS 10 as B", "solve gs B on cpu" ENDLESS, NULL},
    {"solve", "", "solve jacobi A form matrix on cpu" ENDLESS, NULL},
    {"solve", "", "solve gmres A m 20 sums host on cpu" ENDLESS, NULL},
    {"solve", "", "solve gmres A m 20 least host on cpu" ENDLESS, NULL},
    {"solve", "", "solve gmres A precond ilu0 on cpu" ENDLESS, NULL},
    {"step", "solve cg A on cpu step" ENDLESS, "step 1000", NULL},
    {"back", "solve cg A on cpu step" ENDLESS, "step 30; back 20", NULL},
    {"change", "solve cg A on cpu step" ENDLESS, "change precond ilu0", NULL},
    {"change", "solve gmres A on cpu step" ENDLESS, "change precond jacobi", NULL},
    {"continue", "solve cg A on cpu step" ENDLESS, "continue", NULL},
    {"stop", "solve cg A on cpu step" ENDLESS, "stop", NULL},
    {"solvers", "", "solvers", NULL},
    {"race", "", "race cg bicgstab gmres of A on cpu" ENDLESS, NULL},
    {"race", "", "race csr-vector ell-scalar of A on emu reps 100", NULL},
    {"race", "", "race csr-serial csr-rows of A on cpu reps 1000", NULL},
    {"lu", "gen SQUARE as S", "lu EACH S force", &lu_registry},
    {"eigs", "", "eigs 8 smallest A tol 1e-15 maxit 100000000 on cpu", NULL},
    {"eigs", "", "eigs 8 A tol 1e-15 maxit 100000000 m 300 on emu", NULL},
    {"eigs", "", "eigs 20 near 3.3 A on cpu", NULL},
    {"eigs", "gen random ROWS 10 as R", "eigs 8 R tol 1e-15 maxit 100000000 on cpu", NULL},
    {"help", "", "help", NULL},
    {"lesson", "", "lesson thesis-4-1.txt", NULL},
    {"lesson", "device emu", "lesson drm.txt", NULL},
    {"source", "", "source script.txt", NULL},
    {"record", "", "record b.txt", NULL},
    {"try", "", "try new csr-scalar force", NULL},
    {"try", "try new csr-scalar force", "try csr-scalar.cu of A", NULL},
    {"puzzle", "", "puzzle", NULL},
    {"ranks", "", "ranks", NULL},
    {"replay", "", "replay script.txt", NULL},
    {"set", "", "set", NULL},
    {"allow", "", "allow", NULL},
    {"alias", "", "alias", NULL},
    {"history", "", "history", NULL},
    {"edit", NULL, NULL, NULL},
    {"copy", NULL, NULL, NULL},
    {"clear", NULL, NULL, NULL},
    {"version", "", "version", NULL},
    {"quit", NULL, NULL, NULL},
    {"exit", NULL, NULL, NULL},
    {0},
};

const char *cancel_missing(void)
{
    for (int i = 0; commands[i]; i++) {
        const struct cancel_case *c = cancel_cases;
        while (c->command && strcmp(c->command, commands[i]->name)) c++;
        if (!c->command) return commands[i]->name;
    }
    return NULL;
}

/* Find the text that a word of a case stands for. Returns false if the word stands for itself. */
static bool stands_for(const char *word, double nonzeros, const char *each, char out[64])
{
    const struct {
        const char *word, *fmt;
        double value;
    } table[] = {{"GRID", "poisson2d %.0f", sqrt(nonzeros / 5)},
                 {"SIDE", "%.0f", sqrt(nonzeros / 2)},
                 {"SQUARE", "dense %.0f %.0f", sqrt(nonzeros)},
                 {"ROWS", "%.0f", nonzeros / 10},
                 {"HALF", "%.0f", nonzeros / 10}};
    if (!strcmp(word, "EACH") && each) return snprintf(out, 64, "%s", each), true;
    for (int i = 0; i < COUNT(table); i++)
        if (!strcmp(word, table[i].word)) return snprintf(out, 64, table[i].fmt, table[i].value, table[i].value), true;
    return false;
}

static void fill_in(const char *text, double nonzeros, const char *each, char out[CANCEL_LINE])
{
    size_t n = 0;
    for (out[0] = 0; *text && n < CANCEL_LINE - 64; n = strlen(out)) {
        char word[64], value[64];
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length && stands_for(word, nonzeros, each, value))
            snprintf(out + n, CANCEL_LINE - n, "%s", value);
        else
            snprintf(out + n, CANCEL_LINE - n, "%.*s", length ? (int)length : 1, text);
        text += length ? length : 1;
    }
}

static int entries_of(const struct cancel_case *c)
{
    return c->each ? registry_count(c->each) : c->line != NULL;
}

struct cancel_line *cancel_lines(double nonzeros, int *n)
{
    *n = 0;
    for (const struct cancel_case *c = cancel_cases; c->command; c++) *n += entries_of(c);
    struct cancel_line *lines = calloc((size_t)*n, sizeof *lines), *l = lines;
    for (const struct cancel_case *c = cancel_cases; lines && c->command; c++)
        for (int i = 0; i < entries_of(c); i++, l++) {
            const char *each = c->each ? registry_at(c->each, i)->name : NULL;
            l->command = c->command;
            fill_in(c->before, nonzeros, each, l->before);
            fill_in(c->line, nonzeros, each, l->line);
        }
    return lines;
}

void cancel_matrix(double nonzeros, char out[CANCEL_LINE])
{
    fill_in("gen GRID as A", nonzeros, NULL, out);
}

/* Make links to the lessons and their matrices in the samples folder. */
static bool link_samples(const char *samples)
{
    static const char *const names[] = {"thesis-4-1.txt", "drm.txt"};
    char path[2000];
    for (int i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/lessons/%s", samples, names[i]);
        if (symlink(path, names[i])) return false;
    }
    return true;
}

bool cancel_files(const char *program, const char *samples, double nonzeros)
{
    char matrix[CANCEL_LINE], run[4 * CANCEL_LINE + 2000];
    FILE *script = fopen("script.txt", "w");
    if (!script || fprintf(script, "spmv A on emu\nspmv A on emu f32\n") < 0 || fclose(script)) return false;
    cancel_matrix(nonzeros, matrix);
    snprintf(run, sizeof run,
             "'%s' --device cpu -c '%s; save a.mtx; save a.mtx.gz; save a.wsb; save a.npz' > /dev/null", program,
             matrix);
    return !system(run) && link_samples(samples);
}
