/* help: lists the commands by group, or explains a command or another name, such as a format or a solver. */
#include "base/precision.h"
#include "base/shared.h"
#include "base/text.h"
#include "card/card.h"
#include "direct/direct.h"
#include "formats/format.h"
#include "help_compiled.h"
#include "help_keys.h"
#include "help_rows.h"
#include "help_words.h"
#include "lab/lab.h"
#include "language/args.h"
#include "language/kinds.h"
#include "language/options.h"
#include "language/protocol.h"
#include "lu/lu.h"
#include "machine/device_sorts.h"
#include "machine/kernel.h"
#include "machine/symmetrize.h"
#include "matrix/gen.h"
#include "matrix/reorder.h"
#include "microscope/gpu_profile.h"
#include "microscope/link.h"
#include "parts/partition.h"
#include "ranks/ranks.h"
#include "session/allow.h"
#include "session/command.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

static const char kind_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

static void out_command(struct out *o, const struct command *c)
{
    char help[HELP_ROOM];
    out_row(o);
    out_str(o, "kind", NULL, "command");
    out_str(o, "name", "command", c->name);
    out_str(o, "group", NULL, command_group(c));
    out_str(o, "grammar", NULL, c->grammar);
    out_str(o, "about", "what it does", c->about);
    if (out_mode(o) != OUT_TEXT) out_str(o, "help", NULL, command_text(c, help));
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
    out_prose(o,
              "`help COMMAND` explains a command, format, kernel, solver, preconditioner or generator; `help sources`\n"
              "lists the publications that describe them, and `help dialect` explains the language of the kernels.\n"
              "Any unambiguous beginning of a command or keyword is enough;\n"
              "Tab completes it; Alt-x or F1 opens a palette, which finds all by a few letters.\n"
              "Separate commands with `;`. # begins a comment. !COMMAND\n"
              "passes the rest of the line to the shell; scripts and lessons need permission for it (`help allow`).\n"
              "`COMMAND > FILE` writes the output to a new file (`force` overwrites an existing file),\n"
              "`COMMAND >> FILE` appends it, and `COMMAND | SHELL COMMAND` passes it to the shell: `stats > a.txt`,\n"
              "`kernels | less`. A FILE that ends in .csv, .json or .jsonl receives CSV, JSON or JSON lines.\n"
              "Quote names that contain spaces or look like keywords. A line or a script stops at its first failure;\n"
              "when input is a pipe, execution continues with the next line and the exit status is 1.");
}

/* The sources that formats, kernels and solvers cite by short names. */
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
    {"textbook", "known from textbooks; no single work is cited"},
    {"another name and year", "a publication; the works above cite some of these"},
};

static void help_sources(struct out *o)
{
    for (int i = 0; i < COUNT(sources); i++) {
        out_row(o);
        out_str(o, "kind", NULL, "source");
        out_str(o, "name", NULL, sources[i].name);
        out_str(o, "work", NULL, sources[i].work);
        out_text(o, "%-22s  %s", sources[i].name, sources[i].work);
    }
}

/* The parameters of a format or generator, with their defaults. */
static void out_params(struct out *o, const struct param *p)
{
    for (; p->name; p++)
        out_text(o, "  %-8s %s (default %lld%s)", p->name, p->about, (long long)p->default_value,
                 p->default_value ? "" : ", chosen automatically");
}

/* The first parameter as a GPU gets it: that of the session's predictions, or the reference. */
static void out_rule(struct out *o, const struct session *s, const struct format *f)
{
    int64_t param[PARAMS_MAX] = {0};
    char value[32];
    if (!f->rule) return;
    struct machine g = s->gpu ? *s->gpu : machine_of(NULL);
    f->suit(NULL, P_F64, g.sms, param);
    out_text(o, "  on a GPU, %s is %s: %s on an %s", f->params[0].name, f->rule,
             show_count(param[0], value, sizeof value), g.name);
}

/* ---- the kinds of values in a command's grammar ---- */

static void say_choices(struct out *o, const struct registry *r)
{
    const struct named *entry;
    for (int i = 0; (entry = registry_at(r, i)); i++)
        out_text(o, "  %-*s %s", strlen(entry->name) > 12 ? 30 : 12, entry->name, entry->about);
}

static void say_generators(struct out *o)
{
    for (int i = 0; generators[i]; i++) out_text(o, "  %-36s %s", generators[i]->usage, generators[i]->about);
}

/* Other commands list the formats, kernels and devices. */
static const struct {
    const char *kind, *title;
    const struct registry *of; /* NULL: the views of the front end */
} choices[] = {
    {"VIEW", "Views:", NULL},
    {"ORDERING", "Orderings:", &ordering_registry},
    {"LINK", "Links between GPUs:", &link_registry},
    {"WAY", "Ways to divide a matrix:", &way_registry},
    {"SYMMETHOD", "Methods:", &sym_registry},
    {"SYMMODE", "Modes:", &sym_mode_registry},
    {"GENERATOR", "Generators:", &generator_registry},
    {"SOLVER", "Solvers:", &solver_registry},
    {"DIRECT", "Methods of `solve direct`:", &direct_registry},
    {"DIRECT", "Methods of `solve direct` on ranks:", &rank_direct_registry},
    {"PRECOND", "Preconditioners:", &precond_registry},
    {"SOLVE_PRECOND", "Preconditioners:", &precond_registry},
    {"SOLVE_PRECOND", "Preconditioners on ranks:", &rank_precond_registry},
    {"METHOD", "Methods:", &lu_registry},
    {"OPTION", "Options:", &option_registry},
    {"PRECISION", "Precisions:", &precision_registry},
    {"PERMISSION", "Permissions:", &permission_registry},
};

/* Is `kind` a whole word of the grammar? */
static bool names(const char *grammar, const char *kind)
{
    size_t n = strlen(kind);
    for (const char *at = grammar; (at = strstr(at, kind)); at += n)
        if ((at == grammar || !strchr(kind_letters, at[-1])) && !(at[n] && strchr(kind_letters, at[n]))) return true;
    return false;
}

static void help_command(struct session *s, const struct command *c)
{
    char help[HELP_ROOM];
    struct out *o = s->out;
    out_text(o, "%s %s", c->name, c->grammar);
    out_text(o, "%s", c->about);
    if (c->aliases) out_text(o, "other names: %s", c->aliases);
    out_prose(o, command_text(c, help));
    for (int i = 0; i < COUNT(choices); i++) {
        bool listed = i > 0 && choices[i].of == choices[i - 1].of && names(c->grammar, choices[i - 1].kind);
        if (listed || !names(c->grammar, choices[i].kind)) continue;
        out_text(o, "%s", choices[i].title);
        const struct registry *r = choices[i].of ? choices[i].of : s->front ? s->front->views : NULL;
        if (r == &generator_registry)
            say_generators(o);
        else if (r)
            say_choices(o, r);
    }
    if (out_mode(o) != OUT_TEXT) out_command(o, c);
}

/* ---- one topic ---- */

static void out_topic(struct out *o, const char *kind, const char *heading, const char *name, const char *about)
{
    out_record(o);
    out_str(o, "kind", NULL, kind);
    out_str(o, "name", heading, name);
    out_str(o, "about", "about", about);
}

static void out_kernels_of(struct out *o, const struct format *f)
{
    const char *name[64];
    char line[512] = "";
    int n = 0;
    for (int i = 0; kernels[i] && n < COUNT(name); i++) {
        if (kernels[i]->format != f) continue;
        size_t at = strlen(line);
        snprintf(line + at, sizeof line - at, "%s%s", n ? " " : "", kernels[i]->name);
        name[n++] = kernels[i]->name;
    }
    out_strs(o, "kernels", n, name);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "kernels", line);
}

static bool help_format(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct format *f = format_find(name);
    if (!f) return false;
    out_topic(o, "format", "format", f->name, f->about);
    out_str(o, "source", "source", f->source);
    out_kernels_of(o, f);
    out_params(o, f->params);
    out_rule(o, s, f);
    return true;
}

static bool help_kernel(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct kernel *k = kernel_find(name);
    if (!k) return false;
    out_topic(o, "kernel", "kernel", k->name, k->about);
    out_str(o, "format", "format", k->format->name);
    out_str(o, "work", "one thread", k->work);
    out_str(o, "source", "source", k->source);
    out_bool(o, "deterministic", "deterministic", k->deterministic);
    out_str(o, "lesson", NULL, k->lesson);
    out_compiled(s, k);
    out_prose(o, k->lesson);
    say_compiled(s, k);
    return true;
}

/* The minimum number of bytes that an iteration moves for the current matrix, with m = 30 for restarted solvers. */
static void out_moved(struct session *s, const struct solver *v)
{
    enum { DEFAULT_M = 30 };
    char text[120], size[32];
    const struct matrix *m = s->current;
    bool fits = m && (m->csr.rows == m->csr.cols || v->least_squares);
    enum precision precision = precision_of_values(P_F64, fits && m->csr.imag);
    double bytes = fits ? v->bytes(&m->csr, type_size(precisions[precision].vector), DEFAULT_M) : NAN;
    snprintf(text, sizeof text, "at least %s per iteration, in %s%s", show_bytes(bytes, size, sizeof size),
             precisions[precision].name, v->restarts ? ", for an m of 30" : "");
    out_str(s->out, "matrix", NULL, fits ? m->name : NULL);
    out_num(s->out, "bytes_per_iteration", NULL, bytes, "%.0f");
    if (fits && out_mode(s->out) == OUT_TEXT) {
        out_str(s->out, NULL, "matrix", m->name);
        out_str(s->out, NULL, "bytes moved", text);
    }
}

static bool help_solver(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct solver *v = solver_find(name);
    if (!v) return false;
    out_topic(o, "solver", "solver", v->name, v->about);
    out_str(o, "needs", "needs", v->needs);
    out_str(o, "when", "when to use it", v->when);
    out_str(o, "cost", "per iteration", v->cost);
    out_moved(s, v);
    out_bool(o, "precond", "preconditioned", !v->no_precond);
    out_str(o, "source", "source", v->source);
    return true;
}

static void out_direct_topic(struct out *o, const char *name, const char *about, const char *needs, const char *when)
{
    out_topic(o, "direct", "direct solver", name, about);
    out_str(o, "needs", "needs", needs);
    out_str(o, "when", "when to use it", when);
}

static bool help_direct_word(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct named *word = registry_find(&direct_word_registry, name);
    if (!word) return false;
    out_direct_topic(o, word->name, word->about, "memory for the factors: `solve direct plan` predicts how much",
                     "for a solution to trust, and against which iterative solves are measured");
    out_str(o, "library", NULL, NULL);
    out_str(o, "package", NULL, NULL);
    out_str(o, "source", NULL, NULL);
    if (out_mode(o) != OUT_TEXT) return true;
    for (int i = 0; directs[i]; i++) out_str(o, NULL, directs[i]->name, directs[i]->about);
    return true;
}

static bool help_direct(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct direct_method *m = direct_find(name);
    if (!m) return false;
    out_direct_topic(o, m->name, m->about, m->needs, m->when);
    out_str(o, "library", "library", m->library->file);
    out_str(o, "package", "package", m->library->package);
    out_str(o, "source", "source", m->source);
    return true;
}

static bool help_precond(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct precond *p = precond_find(name);
    if (!p) return false;
    out_topic(o, "precond", "preconditioner", p->name, p->about);
    out_str(o, "needs", "needs", p->needs);
    out_bool(o, "cg", "works with cg", p->symmetric && !p->saddle);
    out_bool(o, "blocks", "has blocks", p->blocks);
    out_str(o, "source", "source", p->source);
    return true;
}

static bool help_on_ranks(struct session *s, const char *key, const char *heading, const struct rank_method *m)
{
    struct out *o = s->out;
    if (!m) return false;
    out_topic(o, key, heading, m->name, m->about);
    out_str(o, "options", "PETSc's options", m->options);
    out_str(o, "source", "source", m->source);
    return true;
}

static bool help_rank_precond(struct session *s, const char *name)
{
    return help_on_ranks(s, "rank_precond", "preconditioner on ranks", rank_precond_find(name));
}

static bool help_rank_direct(struct session *s, const char *name)
{
    return help_on_ranks(s, "rank_direct", "direct solver on ranks", rank_direct_find(name));
}

static bool help_method(struct session *s, const char *name)
{
    struct out *o = s->out;
    const struct lu_method *m = lu_find(name);
    if (!m) return false;
    out_topic(o, "method", "LU method", m->name, m->about);
    out_str(o, "source", "source", m->source);
    out_words(o, "devices", "runs on", m->vendor ? "cuda" : m->host ? "cpu" : "cuda emu");
    out_str(o, "lesson", NULL, m->lesson);
    out_prose(o, m->lesson);
    return true;
}

static bool help_ordering(struct session *s, const char *name)
{
    const struct ordering *r = ordering_find(name);
    if (!r) return false;
    out_topic(s->out, "ordering", "ordering", r->name, r->about);
    out_str(s->out, "source", "source", r->source);
    out_text(s->out, "`reorder %s` makes a new matrix in this ordering.", r->name);
    return true;
}

static bool help_way(struct session *s, const char *name)
{
    const struct way *way = way_find(name);
    if (!way) return false;
    out_topic(s->out, "way", "way", way->name, way->about);
    out_str(s->out, "source", "source", way->source);
    out_text(s->out, "`partition 8 %s` divides a matrix in this way.", way->name);
    return true;
}

static bool help_link(struct session *s, const char *name)
{
    const struct link *l = link_find(name);
    if (!l) return false;
    out_topic(s->out, "link", "link", l->name, l->about);
    out_time(s->out, "start_us", "to start", l->start_us);
    out_time(s->out, "hop_us", "one way", l->hop_us);
    out_num(s->out, "gbs", "GB/s", l->gbs, "%g");
    out_str(s->out, "known_by", "known by", link_origin(l));
    out_str(s->out, "source", "source", l->source);
    out_text(s->out, "`whatif parts link %s` predicts the time on several GPUs with this link.", l->name);
    return true;
}

static bool help_symmethod(struct session *s, const char *name)
{
    const struct sym_method *m = sym_find(name);
    if (!m) return false;
    out_topic(s->out, "symmetrize", "symmetrize method", m->name, m->about);
    out_str(s->out, "source", "source", m->source);
    return true;
}

static bool help_symmode(struct session *s, const char *name)
{
    int k = sym_mode_find(name);
    if (k < 0) return false;
    out_topic(s->out, "mode", "symmetrize mode", sym_modes[k].name, sym_modes[k].about);
    return true;
}

static bool help_generator(struct session *s, const char *name)
{
    const struct generator *g = generator_find(name);
    if (!g) return false;
    out_topic(s->out, "generator", "generator", g->name, g->about);
    out_str(s->out, "usage", "usage", g->usage);
    out_params(s->out, g->params);
    return true;
}

static bool help_view(struct session *s, const char *name)
{
    const struct view_entry *v = s->front ? registry_find(s->front->views, name) : NULL;
    if (!v) return false;
    out_topic(s->out, "view", "view", v->name, v->about);
    out_str(s->out, "keys", "keys", v->keys);
    return true;
}

static void join(void *user, const char *word)
{
    char *text = user;
    size_t n = strlen(text);
    snprintf(text + n, 256 - n, "%s%s", n ? " " : "", word);
}

static bool help_option(struct session *s, const char *name)
{
    char values[256] = "";
    const struct setting *o = option_find(name);
    if (!o) return false;
    option_list(s, o, join, values);
    out_topic(s->out, "option", "option", o->name, o->about);
    out_words(s->out, "values", "one of", values);
    out_str(s->out, "usual", "default", o->default_value);
    out_text(s->out, "`set %s` shows the value, `set %s VALUE` changes and saves it.", o->name, o->name);
    return true;
}

static bool help_precision(struct session *s, const char *name)
{
    const struct precision_entry *p = precision_find(name);
    if (!p) return false;
    out_topic(s->out, "precision", "precision", p->name, p->about);
    out_text(s->out, "`spmv csr %s` multiplies in this precision; `bench precisions` compares all precisions.",
             p->name);
    if (!p->narrow) return true;
    out_text(s->out, "A value beyond the largest number of the stored type is refused. Kernels that multiply so:");
    for (int i = 0; kernels[i]; i++)
        if (kernel_takes(kernels[i], p->index, NULL)) out_text(s->out, "  %s", kernels[i]->name);
    return true;
}

static bool help_permission(struct session *s, const char *name)
{
    const struct named *p = registry_find(&permission_registry, name);
    if (!p) return false;
    out_topic(s->out, "permission", "permission", p->name, p->about);
    out_text(s->out, "`allow %s` gives permission for this session; `help allow` explains when permission is needed.",
             p->name);
    return true;
}

static bool help_device(struct session *s, const char *name)
{
    const struct named *d = registry_find(&device_sort_registry, name);
    if (!d) return false;
    out_topic(s->out, "device", "device", d->name, d->about);
    out_text(s->out, "`devices` lists the devices of this machine.");
    return true;
}

static bool help_card_line(struct session *s, const char *name)
{
    const struct card_line *l = card_find(name);
    if (!l) return false;
    out_topic(s->out, "line", "line of `check`", l->name, l->about);
    out_bool(s->out, "costly", "costly", l->costly);
    out_bool(s->out, "square", "only square matrices", l->square);
    return true;
}

static bool help_name(struct session *s, const char *name)
{
    if (!command_find(name)) return false;
    help_command(s, command_find(name));
    return true;
}

static bool help_source_list(struct session *s, const char *name)
{
    if (strcmp(name, "sources")) return false;
    help_sources(s->out);
    return true;
}

static bool help_serve(struct session *s, const char *name)
{
    if (strcmp(name, "serve")) return false;
    out_topic(s->out, "protocol", "protocol", name, "drive a session from another program, by lines of JSON");
    out_prose(s->out, protocol_help);
    return true;
}

static bool help_dialect(struct session *s, const char *name)
{
    if (strcmp(name, "dialect")) return false;
    out_topic(s->out, "dialect", "dialect", name, "the CUDA C of the built-in kernels, for files of `try`");
    out_prose(s->out, lab_dialect_help);
    return true;
}

#define TOPIC(registry, explain) explain,
static bool (*const topics[])(struct session *s, const char *name) = {
#include "help_rows.h"
#include "language/topics.def"
};
#undef TOPIC

/* A name may mean several things (ell is a format and a kernel): explain each of them. A name that means nothing else
   is a keyword of commands. */
static bool explain(struct session *s, const char *name)
{
    bool known = false;
    for (int i = 0; i < COUNT(topics); i++) known |= topics[i](s, name);
    return known;
}

/* `help COMMAND PART`: `keys` or `schema`, also of a view, a keyword of the command, or something else that `help`
   explains, such as a solver. */
static bool explain_part(struct session *s, const char *name, const char *part, struct err *e)
{
    const struct command *c = command_find(name);
    struct keyed k;
    bool keyed = keyed_find(s, name, &k);
    if (keyed && !strcmp(part, "schema")) return help_schema(s->out, &k, e);
    if (keyed && !strcmp(part, "keys")) {
        help_keys(s->out, &k);
        return true;
    }
    if (c && help_word_of(s->out, c, part)) return true;
    if (explain(s, part)) return true;
    if (!c) return fail(e, E_USAGE, "`%s` is not a command, so it has no options; leave out `%s`", name, part);
    return fail(e, E_USAGE, "`%s` is not a word of `%s`; `help %s` shows all its words", part, name, name);
}

static bool run_help(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "topic"), *part = arg(a, "part");
    if (part && !name) return kind_check("TOPIC", s, "help", part, e); /* a word that is no topic became the part */
    if (part) return explain_part(s, name, part, e);
    if (!name)
        help_all(s->out);
    else if (!explain(s, name))
        help_word(s->out, name);
    return true;
}

const struct command command_help = {
    .name = "help",
    .aliases = "? h",
    .grammar = "[TOPIC] [PART]",
    .about = "list all commands, or explain one command, view, format, kernel, solver, ...",
    .help = "In a usage line, a word in UPPER CASE stands for a value to fill in, a part in [...] is optional, and |\n"
            "separates alternatives. A word of a command can follow the command: `help advise solver`.\n"
            "`help COMMAND keys` explains the keys of the rows that a command prints with --json, and `help COMMAND\n"
            "schema` prints a JSON Schema (2020-12) that these rows obey; `help VIEW keys` and `help VIEW schema` do\n"
            "so for the numbers that `export` writes.\n"
            "    help spmv; help ell; help rcm; help sources; help refine; help solve tol\n"
            "    help spmv keys; help spmv schema > spmv.schema",
    .rows = help_row_kinds,
    .run = run_help,
};
