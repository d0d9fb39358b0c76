/* help: the commands by group, and what is known of one command, format, kernel, solver or the like. */
#include "grammar.h"
#include "lu.h"
#include "precond.h"

#include <string.h>

static void out_command(struct out *o, const struct command *c)
{
    out_row(o);
    out_str(o, "name", "command", c->name);
    out_str(o, "group", NULL, command_group(c));
    out_str(o, "grammar", NULL, c->grammar);
    out_str(o, "about", "what it does", c->about);
    if (out_mode(o) != OUT_TEXT) out_str(o, "help", NULL, c->help);
}

static void help_all(struct out *o)
{
    const char *group = "";
    for (int i = 0; commands[i]; i++) {
        if (strcmp(group, command_group(commands[i]))) {
            group = command_group(commands[i]);
            if (i) out_text(o, "%s", "");
            out_text(o, "%s", group);
        }
        if (out_mode(o) == OUT_TEXT)
            out_text(o, "  %-10s %s", commands[i]->name, commands[i]->about);
        else
            out_command(o, commands[i]);
    }
    out_text(o, "%s", "");
    out_prose(
        o, "`help COMMAND` explains one, also a format, kernel, solver, preconditioner or generator; `help sources`\n"
           "names the works that they come from. Commands are separated by `;`, # begins a comment, !COMMAND goes\n"
           "to the shell with the rest of the line. Quotes and backslashes keep blanks and make a word a name\n"
           "rather than a keyword. A line or script stops at its first failure; of lines read from a pipe the next\n"
           "goes on, and the exit status tells.");
}

/* What the sources of formats, kernels and solvers stand for. */
static const struct {
    const char *name, *work;
} sources[] = {
    {"THESIS, Liang 2012", "T. Liang, The research on optimizing sparse matrix computation based on GPU, Huazhong "
                           "University of Science and Technology, 2012"},
    {"DRM, Wang et al. 2024",
     "Wang Yuhua, He Junfei, Zhang Yuqi, Xu Yuezhu, Cui Huanyu, DRM: a GPU-parallel SpMV storage "
     "format based on iterative merging, Computer Engineering & Science, 2024"},
    {"NOTES", "peakcrosser7/spmv-samples: SpMV CUDA implementation and optimisation, 2024"},
    {"LU", "CUDA parallel LU for dense linear systems, 2025"},
    {"SYM", "Wenzhou University, patent: symmetric matrix construction of a compressed sparse matrix on a GPU"},
    {"[ours]", "written for this program"},
    {"another name and year", "a work that those cite"},
};

static void help_sources(struct out *o)
{
    for (int i = 0; i < COUNT(sources); i++) {
        out_row(o);
        out_str(o, "source", NULL, sources[i].name);
        out_str(o, "work", NULL, sources[i].work);
        out_text(o, "%-22s  %s", sources[i].name, sources[i].work);
    }
}

static void out_params(struct out *o, const struct param *p)
{
    for (; p->name; p++)
        out_text(o, "  %-8s %s (usually %lld%s)", p->name, p->about, (long long)p->usual,
                 p->usual ? "" : ", that is, chosen to suit");
}

/* The generators by their usage, for a command that takes one. */
static void out_generators(struct out *o)
{
    out_text(o, "Generators:");
    for (int i = 0; generators[i]; i++) out_text(o, "  %-30s %s", generators[i]->usage, generators[i]->about);
}

static void help_command(struct out *o, const struct command *c)
{
    out_text(o, "%s %s", c->name, c->grammar);
    out_text(o, "%s", c->about);
    out_prose(o, c->help);
    if (strstr(c->grammar, "GENERATOR")) out_generators(o);
    if (out_mode(o) != OUT_TEXT) out_command(o, c);
}

static void out_kernels_of(struct out *o, const struct format *f)
{
    const char *name[64];
    char line[512] = "";
    int n = 0;
    for (int i = 0; kernels[i] && n < COUNT(name); i++) {
        if (strcmp(kernels[i]->format, f->name)) continue;
        size_t at = strlen(line);
        snprintf(line + at, sizeof line - at, "%s%s", n ? " " : "", kernels[i]->name);
        name[n++] = kernels[i]->name;
    }
    out_strs(o, "kernels", n, name);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "kernels", line);
}

static void help_format(struct out *o, const struct format *f)
{
    out_record(o);
    out_str(o, "name", "format", f->name);
    out_str(o, "about", "about", f->about);
    out_str(o, "source", "source", f->source);
    out_kernels_of(o, f);
    out_params(o, f->params);
}

static void help_kernel(struct out *o, const struct kernel *k)
{
    out_record(o);
    out_str(o, "name", "kernel", k->name);
    out_str(o, "format", "format", k->format);
    out_str(o, "about", "about", k->about);
    out_str(o, "work", "one thread", k->work);
    out_str(o, "source", "source", k->source);
    out_bool(o, "deterministic", "deterministic", k->deterministic);
    out_str(o, "lesson", NULL, k->lesson);
    out_prose(o, k->lesson);
}

static void help_solver(struct out *o, const struct solver *v)
{
    out_record(o);
    out_str(o, "name", "solver", v->name);
    out_str(o, "about", "about", v->about);
    out_str(o, "needs", "needs", v->needs);
    out_str(o, "source", "source", v->source);
}

static void help_precond(struct out *o, const struct precond *p)
{
    out_record(o);
    out_str(o, "name", "preconditioner", p->name);
    out_str(o, "about", "about", p->about);
    out_str(o, "needs", "needs", p->needs);
    out_str(o, "source", "source", p->source);
}

static void help_method(struct out *o, const struct lu_method *m)
{
    out_record(o);
    out_str(o, "name", "method of LU", m->name);
    out_str(o, "about", "about", m->about);
    out_str(o, "source", "source", m->source);
    out_str(o, "runs_on", "runs on", m->vendor ? "cuda" : m->host ? "cpu" : "cuda, emu");
    out_str(o, "lesson", NULL, m->lesson);
    out_prose(o, m->lesson);
}

static void help_generator(struct out *o, const struct generator *g)
{
    out_record(o);
    out_str(o, "name", "generator", g->name);
    out_str(o, "usage", "usage", g->usage);
    out_str(o, "about", "about", g->about);
    out_params(o, g->params);
}

/* A name may be that of several things, as ell is a format and a kernel: say all. */
static bool run_help(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "topic");
    (void)e;
    if (!name) {
        help_all(s->out);
        return true;
    }
    const struct command *c = command_find(name);
    const struct format *f = format_find(name);
    const struct kernel *k = kernel_find(name);
    const struct solver *v = solver_find(name);
    const struct precond *p = precond_find(name);
    const struct lu_method *l = lu_find(name);
    const struct generator *g = generator_find(name);
    if (!strcmp(name, "sources")) help_sources(s->out);
    if (c) help_command(s->out, c);
    if (f) help_format(s->out, f);
    if (k) help_kernel(s->out, k);
    if (v) help_solver(s->out, v);
    if (p) help_precond(s->out, p);
    if (l) help_method(s->out, l);
    if (g) help_generator(s->out, g);
    return true;
}

const struct command command_help = {
    .name = "help",
    .grammar = "[TOPIC]",
    .about = "the commands, or one command, format, kernel, solver or the like",
    .help = "In a usage, UPPER CASE is a value to fill in, [...] may be left out, | separates alternatives.\n"
            "    help spmv; help ell; help sources",
    .run = run_help,
};
