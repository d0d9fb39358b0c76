/* The kinds of values in grammars: how a value is checked, and the values to choose from. */
#include "kinds.h"
#include "advice/peer_options.h"
#include "advice/recipe.h"
#include "advice/stagnation.h"
#include "args.h"
#include "base/numeral.h"
#include "base/precision.h"
#include "base/suggest.h"
#include "base/text.h"
#include "card/card.h"
#include "direct/direct.h"
#include "formats/format.h"
#include "interval.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "machine/device_sorts.h"
#include "machine/kernel.h"
#include "machine/spmm.h"
#include "machine/symmetrize.h"
#include "machine/wrong.h"
#include "matrix/find.h"
#include "matrix/gen.h"
#include "matrix/reorder.h"
#include "microscope/link.h"
#include "option_words.h"
#include "options.h"
#include "parts/partition.h"
#include "ranks/ranks.h"
#include "session/alias.h"
#include "session/allow.h"
#include "session/command.h"
#include "session/front.h"
#include "session/lesson_files.h"
#include "session/matrix.h"
#include "session/matrix_name.h"
#include "session/right_side.h"
#include "session/session.h"
#include "solve_request.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <string.h>

static const char *value_any(const struct session *s, const char *text)
{
    return *text ? text : NULL;
}

static const char *value_integer(const struct session *s, const char *text)
{
    return is_integer(text, NULL) ? text : NULL;
}

static const char *value_interval(const struct session *s, const char *text)
{
    return is_interval(text) ? text : NULL;
}

static const char *value_real(const struct session *s, const char *text)
{
    return is_real(text, NULL) ? text : NULL;
}

/* Can the name be typed as a word? The name must be safe to print, not too long, and need no quotes. */
static const char *value_name(const struct session *s, const char *text)
{
    char safe[sizeof((struct matrix *)0)->name * 4];
    size_t n = strlen(text);
    bool ok = n && n < sizeof((struct matrix *)0)->name && name_is_plain(text) &&
              !strcmp(print_safe(text, n, n, safe, sizeof safe), text) && !name_refuses(text);
    return ok ? text : NULL;
}

static const char *value_matrix(const struct session *s, const char *text)
{
    for (const struct matrix *m = s->matrices; m; m = m->next)
        if (!strcmp(m->name, text)) return m->name;
    return NULL;
}

static void list_matrices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (const struct matrix *m = s->matrices; m; m = m->next) give(user, m->name);
}

static const char *value_link(const struct session *s, const char *text)
{
    const struct link *l = link_find(text);
    return l ? l->name : strcmp(text, link_measured) ? NULL : link_measured;
}

static void list_links(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&link_registry, give, user);
    give(user, link_measured);
}

/* First offer what to search for, then the conditions. */
static void list_conditions(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    static const char *const first[] = {"rows", "entries"};
    if (a && arg(a, "condition")) {
        registry_list(&row_measure_registry, give, user);
        give(user, "and");
    } else {
        for (int i = 0; i < COUNT(first); i++) give(user, first[i]);
    }
}

/* In a formula, matrices follow the `=`; the first word is never an existing matrix. */
static void list_operands(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    if (a && arg(a, "formula")) list_matrices(s, a, give, user);
}

/* Does k work on the format after `using` and run on the device after `on`, if the line names them? */
static bool kernel_suits(const struct kernel *k, const struct args *a)
{
    const char *format = a ? arg(a, "using") : NULL, *on = a ? arg(a, "on") : NULL;
    if (format && strcmp(k->format->name, format)) return false;
    if (!on) return true;
    return !strcmp(on, "cpu") ? k->host : !k->host && (strcmp(on, "emu") || !k->vendor);
}

static void list_kernels(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (int i = 0; kernels[i]; i++)
        if (kernel_suits(kernels[i], a)) give(user, kernels[i]->name);
}

/* A kernel that the emulator can run, for traces and counts. */
static bool is_emulated(const struct kernel *k)
{
    return !k->host && !k->vendor;
}

static void list_gpu_kernels(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (int i = 0; kernels[i]; i++)
        if (is_emulated(kernels[i])) give(user, kernels[i]->name);
}

/* What `trace` takes: a kernel, or an LU method that works column by column, which is lu-paper. */
static void list_traced(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    list_gpu_kernels(s, a, give, user);
    for (int i = 0; lu_methods[i]; i++)
        if (lu_methods[i]->step) give(user, lu_methods[i]->name);
}

static const char *value_traced(const struct session *s, const char *text)
{
    const struct named *k = registry_find(&kernel_registry, text);
    const struct lu_method *lu = lu_find(text);
    return k ? k->name : lu && lu->step ? lu->name : NULL;
}

static void list_modeled_kernels(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (int i = 0; kernels[i]; i++)
        if (is_emulated(kernels[i]) && !kernels[i]->host_part) give(user, kernels[i]->name);
}

/* If a format and a kernel have the same name, the name means the format, so offer the name only once. */
static void list_choices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&format_registry, give, user);
    for (int i = 0; kernels[i]; i++)
        if (kernel_suits(kernels[i], a) && !format_find(kernels[i]->name)) give(user, kernels[i]->name);
}

static const char *value_choice(const struct session *s, const char *text)
{
    const struct format *f = format_find(text);
    return f ? f->name : kernel_find(text) ? text : NULL;
}

/* What `why` explains: the word `stagnates` or, after `not`, a choice. Without `not`, that keyword is offered, because
   the value is required and keywords before it are optional. */
static void list_reasons(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    bool negated = a && arg_flag(a, "not");
    if (!negated) registry_list(&stagnates_registry, give, user);
    if (a && !negated) give(user, "not");
    if (negated || !a) list_choices(s, a, give, user);
}

static const char *value_reason(const struct session *s, const char *text)
{
    const struct named *word = registry_find(&stagnates_registry, text);
    return word ? word->name : value_choice(s, text);
}

/* Ranks are offered where a line names a device: they are no device of their own. */
static void list_devices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    if (a && s->ranks) give(user, device_ranks);
    give(user, "cpu");
    give(user, "emu");
    int gpus = device_count(DEV_CUDA);
    for (int i = 0; i < gpus; i++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        give(user, name);
    }
    give(user, "emu*2");
    if (gpus > 0) give(user, "cpu+cuda:0");
    if (gpus > 1) give(user, "cuda:0+1");
    if (gpus > 2) give(user, "cuda:all");
}

/* If the device has too little memory or the GPU is missing, device_open reports it later. */
static const char *value_device(const struct session *s, const char *text)
{
    const struct named *sort = registry_find(&device_sort_registry, text);
    return sort ? sort->name : device_is_name(text) ? text : NULL;
}

static void list_preconds(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&precond_registry, give, user);
    give(user, precond_none);
}

static const char *value_precond(const struct session *s, const char *text)
{
    const struct precond *found;
    return !precond_typed(text, &found) ? NULL : found ? found->name : precond_none;
}

/* Those of `solve`: on ranks, the preconditioners of PETSc. */
static void list_solve_preconds(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *on = a ? arg(a, "on") : NULL;
    if (on && !strcmp(on, device_ranks))
        registry_list(&rank_precond_registry, give, user);
    else
        list_preconds(s, a, give, user);
}

static const char *value_solve_precond(const struct session *s, const char *text)
{
    const struct rank_method *found = rank_precond_find(text);
    const char *own = value_precond(s, text);
    return own ? own : found ? found->name : NULL;
}

static void list_directs(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&direct_registry, give, user);
    registry_list(&rank_direct_registry, give, user);
}

static const char *value_direct(const struct session *s, const char *text)
{
    const struct named *found = registry_find(&direct_registry, text);
    if (!found) found = registry_find(&rank_direct_registry, text);
    return found ? found->name : NULL;
}

/* The order in which a product is predicted to be the fastest; ordering_find does not know it (advice/orders.h). */
static const char locality[] = "locality";

static void list_orderings(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&ordering_registry, give, user);
    give(user, locality);
}

static const char *value_ordering(const struct session *s, const char *text)
{
    const struct named *o = registry_find(&ordering_registry, text);
    return o ? o->name : !strcmp(text, locality) ? locality : NULL;
}

static const char natural[] = "natural"; /* the order of the rows in the matrix */

/* An order of the rows of a preconditioner: those that move rows and columns differently do not suit. */

static void list_orders(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    give(user, natural);
    for (int i = 0; orderings[i]; i++)
        if (orderings[i]->order) give(user, orderings[i]->name);
}

static const char *value_order(const struct session *s, const char *text)
{
    const struct ordering *o = ordering_find(text);
    return o && o->order ? o->name : !strcmp(text, natural) ? natural : NULL;
}

/* A solver, or the word `direct`. */
static const char *value_solver(const struct session *s, const char *text)
{
    const struct named *solver = registry_find(&solver_registry, text);
    if (!solver) solver = registry_find(&direct_word_registry, text);
    return solver ? solver->name : NULL;
}

static void list_solvers(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    registry_list(&solver_registry, give, user);
    registry_list(&direct_word_registry, give, user);
}

/* The racers are either all solvers or all kernels, so after the first racer, offer only racers of the same kind. */
static void list_racers(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *first = a ? arg(a, "racer") : NULL;
    if (!first || solver_find(first)) registry_list(&solver_registry, give, user);
    if (!first || kernel_find(first)) list_kernels(s, a, give, user);
}

static const char *value_racer(const struct session *s, const char *text)
{
    const struct solver *solver = solver_find(text);
    return solver ? solver->name : kernel_find(text) || is_real(text, NULL) ? text : NULL;
}

static void list_methods(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *on = a ? arg(a, "on") : NULL;
    const struct device *d = on ? device_open(on, NULL) : NULL;
    for (int i = 0; lu_methods[i]; i++)
        if (!d || lu_runs_on(lu_methods[i], d)) give(user, lu_methods[i]->name);
}

/* List the values of the option that the previous word names; `set` checks the value. */
static void list_values(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *name = a ? arg(a, "option") : NULL;
    if (name && option_find(name)) option_list(s, option_find(name), give, user);
}

static void list_aliases(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    alias_list(s, give, user);
}

static void list_lessons(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    library_list(LIBRARY_LESSONS, give, user);
}

static void list_puzzles(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    library_list(LIBRARY_PUZZLES, give, user);
}

static const struct registry *views_of(const struct session *s)
{
    return s->front ? s->front->views : NULL;
}

static void list_views(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    if (views_of(s)) registry_list(views_of(s), give, user);
}

static const char *value_view(const struct session *s, const char *text)
{
    const struct named *view = views_of(s) ? registry_find(views_of(s), text) : NULL;
    return view ? view->name : views_of(s) ? NULL : value_any(s, text);
}

static void list_several_views(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    give(user, "all");
    list_views(s, a, give, user);
}

/* A view, `all`, or several views with commas between them. */
static const char *value_views(const struct session *s, const char *text)
{
    if (!strcmp(text, "all")) return text;
    if (!strchr(text, ',')) return value_view(s, text);
    for (const char *at = text; *at; at += *at == ',') {
        char name[32];
        int n = (int)strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", n, at);
        if (n >= (int)sizeof name || !value_view(s, name)) return NULL;
        at += n;
    }
    return text;
}

static void list_right_sides(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    right_sides_list(give, user);
}

static void list_starts(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    start_vectors_list(give, user);
}

static void list_guesses(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    guesses_list(give, user);
}

static void list_null_words(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    null_words_list(give, user);
}

/* `help` explains everything that a grammar can name, and also the words `sources`, `serve` and `dialect`. */
static const struct named sources[] = {{"sources", NULL}, {0}}, serve[] = {{"serve", NULL}, {0}},
                          dialect[] = {{"dialect", NULL}, {0}};
static const struct registry source_registry = {.entries = sources, .size = sizeof *sources},
                             serve_registry = {.entries = serve, .size = sizeof *serve},
                             dialect_registry = {.entries = dialect, .size = sizeof *dialect};
#define TOPIC(registry, explain) registry,
static const struct registry *const topics[] = {
#include "topics.def"
};
#undef TOPIC

/* The first entry with this name or alias. Sets *i to the index of the entry's topic, or to COUNT(topics) if there is
   no such entry. */
static const struct named *topic_find(const struct session *s, const char *name, int *i)
{
    for (*i = 0; *i < COUNT(topics); ++*i) {
        const struct registry *r = topics[*i] ? topics[*i] : views_of(s);
        const struct named *entry = r ? registry_find(r, name) : NULL;
        if (entry) return entry;
    }
    return NULL;
}

const char *topic_about(const struct session *s, const char *name)
{
    int i;
    const struct named *entry = topic_find(s, name, &i);
    return entry ? entry->about : NULL;
}

static void list_topics(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (int i = 0; i < COUNT(topics); i++) {
        const struct registry *r = topics[i] ? topics[i] : views_of(s);
        const struct named *entry;
        int of;
        for (int k = 0; r && (entry = registry_at(r, k)); k++)
            if (topic_find(s, entry->name, &of) && of == i) give(user, entry->name);
    }
}

struct unexplained {
    const struct session *session;
    give_fn *give;
    void *user;
};

static void give_unexplained(void *user, const char *word)
{
    const struct unexplained *u = user;
    int of;
    if (!topic_find(u->session, word, &of)) u->give(u->user, word);
}

/* The entries of registries, then the keywords of commands that name nothing else. */
static void list_topics_and_words(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    struct unexplained u = {s, give, user};
    list_topics(s, a, give, user);
    option_words_list(NULL, give_unexplained, &u);
}

static void list_parts(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *topic = a ? arg(a, "topic") : NULL;
    const struct command *c = topic ? command_find(topic) : NULL;
    if (c) option_words_list(c, give, user);
    if (!c && (!topic || !views_of(s) || !registry_find(views_of(s), topic))) return;
    give(user, "keys");
    give(user, "schema");
}

static const char *value_topic(const struct session *s, const char *text)
{
    int of;
    const struct named *entry = topic_find(s, text, &of);
    return entry ? entry->name : is_option_word(text) ? text : NULL;
}

/* The format of the word, the name of a format or kernel; NULL: it is neither. */
static const struct format *format_of(const char *word)
{
    const struct format *f = format_find(word);
    const struct kernel *k = f ? NULL : kernel_find(word);
    return k ? k->format : f;
}

/* The format that the line names, directly or by its kernels; NULL if it names none, or more than one as CHOICE. */
static const struct format *format_named(const struct args *a)
{
    static const char *const keys[] = {"format", "using", "kernel"};
    const struct format *f = NULL;
    for (int i = 0; i < COUNT(keys) && !f; i++)
        if (arg(a, keys[i])) f = format_of(arg(a, keys[i]));
    for (int i = 0; i < arg_count(a, "choice"); i++) {
        const struct format *other = format_of(arg_at(a, "choice", i));
        if (f && other != f) return NULL;
        f = other;
    }
    return f;
}

const struct param *params_of(const struct args *a)
{
    const char *generator = arg(a, "generator");
    const struct generator *g = generator ? generator_find(generator) : NULL;
    const struct format *f = format_named(a);
    return f ? f->params : g ? g->params : NULL;
}

static void list_params(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    for (const struct param *p = params_of(a); p && p->name; p++) give(user, p->name);
}

/* Accept numbers only; match.c decides whether a word is the name of a parameter. */
static const char *value_param(const struct session *s, const char *text)
{
    return value_integer(s, text);
}

const struct kind kinds[] = {
    {"MATRIX", "matrix", "a matrix", "no matrix is loaded: use `load FILE` or `gen poisson2d 100`", NULL, value_matrix,
     list_matrices, KIND_PLAIN, NULL, NULL},
    {"FORMAT", "format", "a format", NULL, &format_registry, NULL, NULL, KIND_PLAIN, "formats", NULL},
    {"KERNEL", "kernel", "a kernel", NULL, &kernel_registry, NULL, list_kernels, KIND_PLAIN, "kernels", NULL},
    {"GPU_KERNEL", "kernel", "a kernel", NULL, &kernel_registry, NULL, list_gpu_kernels, KIND_PLAIN, "kernels", NULL},
    {"SPMM_KERNEL", "kernel", "a kernel of spmm", NULL, &spmm_registry, NULL, NULL, KIND_PLAIN, "kernels spmm", NULL},
    {"KERNEL_OR_METHOD", "kernel", "a kernel or lu-paper", NULL, NULL, value_traced, list_traced, KIND_PLAIN, "kernels",
     NULL},
    {"MODEL_KERNEL", "kernel", "a kernel", NULL, &kernel_registry, NULL, list_modeled_kernels, KIND_PLAIN, "kernels",
     NULL},
    {"CHOICE", "choice", "a format or a kernel", NULL, NULL, value_choice, list_choices, KIND_PLAIN, "kernels", NULL},
    {"REASON", "choice", "a format, a kernel or `stagnates`", NULL, NULL, value_reason, list_reasons, KIND_PLAIN,
     "kernels", NULL},
    {"DEVICE", "device", "a device", NULL, NULL, value_device, list_devices, KIND_PLAIN, NULL, NULL},
    {"SOLVER", "solver", "a solver", NULL, NULL, value_solver, list_solvers, KIND_LEAD, NULL, NULL},
    {"DIRECT", "library", "a direct solver", NULL, NULL, value_direct, list_directs, KIND_DIRECT, "solvers", NULL},
    {"PRECOND", "precond", "a preconditioner", NULL, NULL, value_precond, list_preconds, KIND_PLAIN, NULL, NULL},
    {"SOLVE_PRECOND", "precond", "a preconditioner", NULL, NULL, value_solve_precond, list_solve_preconds, KIND_PLAIN,
     "solvers", NULL},
    {"RACER", "racer", "a solver, a kernel or the number of a solver", NULL, NULL, value_racer, list_racers, KIND_PLAIN,
     "kernels", NULL},
    {"PEER", "peer", "a library", NULL, &peer_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"RECIPE", "recipe", "a kind of program", NULL, &recipe_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"METHOD", "method", "an LU method", NULL, &lu_registry, NULL, list_methods, KIND_PLAIN, NULL, NULL},
    {"ORDERING", "ordering", "an ordering or locality", NULL, &ordering_registry, value_ordering, list_orderings,
     KIND_PLAIN, NULL, NULL},
    {"ORDER", "order", "natural or an ordering", NULL, NULL, value_order, list_orders, KIND_PLAIN, NULL, NULL},
    {"WAY", "way", "a way to divide a matrix", NULL, &way_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"LINK", "link", "a link between GPUs", NULL, NULL, value_link, list_links, KIND_PLAIN, NULL, NULL},
    {"SYMMETHOD", "symmethod", "a symmetrize method", NULL, &sym_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"SYMMODE", "symmode", "a symmetrize mode", NULL, &sym_mode_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"OPTION", "option", "an option", NULL, &option_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"VALUE", "value", "a value", NULL, NULL, value_any, list_values, KIND_PLAIN, NULL, NULL},
    {"PERMISSION", "permission", "a permission", NULL, &permission_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"ALIAS", "alias", "an alias", NULL, NULL, value_any, list_aliases, KIND_PLAIN, "alias", NULL},
    {"COMMAND", "command", "a command", NULL, &command_registry, NULL, NULL, KIND_PLAIN, "help", NULL},
    {"VIEW", "view", "a view", NULL, NULL, value_view, list_views, KIND_PLAIN, NULL, NULL},
    {"VIEWS", "views", "a view, `all`, or views such as spy,trace", NULL, NULL, value_views, list_several_views,
     KIND_PLAIN, NULL, NULL},
    {"GENERATOR", "generator", "a generator", NULL, &generator_registry, NULL, NULL, KIND_PLAIN, "help gen", NULL},
    {"TOPIC", "topic", "a command, or something that a command names: a view, format, kernel, solver, ...", NULL, NULL,
     value_topic, list_topics_and_words, KIND_PLAIN, "help", NULL},
    {"PART", "part", "a word of the command, or keys or schema", NULL, NULL, value_any, list_parts, KIND_PLAIN, NULL,
     NULL},
    {"PRECISION", "precision", "a precision", NULL, &precision_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"RULE", "rule", "a rule", NULL, &wrong_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"PARAMS", "params", "a parameter", NULL, NULL, value_param, list_params, KIND_PARAMS, NULL, NULL},
    {"FILE", "file", "a file", NULL, NULL, value_any, NULL, KIND_FILE, NULL, NULL},
    {"LESSON", "lesson", "a lesson or its file", NULL, NULL, value_any, list_lessons, KIND_FILE, NULL, NULL},
    {"PUZZLE", "puzzle", "a puzzle, its number or its file", NULL, NULL, value_any, list_puzzles, KIND_FILE, NULL,
     NULL},
    {"RIGHT_SIDE", "b", "a right-hand side or a file", NULL, NULL, value_any, list_right_sides, KIND_FILE, NULL, NULL},
    {"START", "x0", "a start vector or a file", NULL, NULL, value_any, list_starts, KIND_FILE, NULL, NULL},
    {"GUESS", "x0", "a start vector, `given` or a file", NULL, NULL, value_any, list_guesses, KIND_FILE, NULL, NULL},
    {"NULLSPACE", "nullspace", "`constant`, `none` or a file", NULL, NULL, value_any, list_null_words, KIND_FILE, NULL,
     NULL},
    {"LINE", "line", "a line of the report card", NULL, &card_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"CONDITION", "condition", "something to find, such as rows > 100", NULL, NULL, value_any, list_conditions,
     KIND_PLAIN, NULL, NULL},
    {"MEASURE", "measure", "a measure of rows", NULL, &row_measure_registry, NULL, NULL, KIND_PLAIN, NULL, NULL},
    {"FORMULA", "formula", "NAME = EXPRESSION", NULL, NULL, value_any, list_operands, KIND_PLAIN, NULL, NULL},
    {"NAME", "name", "a name of at most 63 bytes, of letters, digits and _ . + -", NULL, NULL, value_name, NULL,
     KIND_PLAIN, NULL, name_refuses},
    {"N", "n", "an integer", NULL, NULL, value_integer, NULL, KIND_PLAIN, NULL, NULL},
    {"RANGE", "range", "an index or a range, such as 5 or 3:7", NULL, NULL, value_interval, NULL, KIND_PLAIN, NULL,
     NULL},
    {"R", "r", "a number", NULL, NULL, value_real, NULL, KIND_PLAIN, NULL, NULL},
    {"WORD", "word", "a word", NULL, NULL, value_any, NULL, KIND_PLAIN, NULL, NULL},
    {"SPAN", "span", "values, such as 1..64 or 8,16,32", NULL, NULL, value_any, NULL, KIND_PLAIN, NULL, NULL},
    {"TEXT", "text", "text", NULL, NULL, value_any, NULL, KIND_REST, NULL, NULL},
    {"COMMAND_LINE", "run", "a command", NULL, NULL, value_any, NULL, KIND_REST, NULL, NULL},
    {0},
};

const struct kind *kind_find(const char *name, size_t n)
{
    for (const struct kind *k = kinds; k->name; k++)
        if (strlen(k->name) == n && !strncmp(k->name, name, n)) return k;
    return NULL;
}

const char *kind_value(const struct kind *k, const struct session *s, const char *text)
{
    if (k->value) return k->value(s, text);
    const struct named *entry = registry_find(k->of, text);
    return entry ? entry->name : NULL;
}

bool kind_has_list(const struct kind *k)
{
    return k->list || k->of;
}

void kind_list(const struct kind *k, const struct session *s, const struct args *a, give_fn *give, void *user)
{
    if (k->list)
        k->list(s, a, give, user);
    else if (k->of)
        registry_list(k->of, give, user);
}

void message_choices(struct message *t, const struct session *s, const struct args *a, const struct kind *k)
{
    struct message choices = {0};
    kind_list(k, s, a, message_list, &choices);
    if (choices.items)
        message_add(t, "; one of %s", choices.text);
    else if (k->none)
        message_add(t, "; %s", k->none);
    if (choices.items > LIST_MAX && k->lister) message_add(t, "; `%s` shows all", k->lister);
}

bool kind_check(const char *kind, const struct session *s, const char *after, const char *text, struct err *e)
{
    const struct kind *k = kind_find(kind, strlen(kind));
    struct suggest near = suggest_for(text);
    struct message t = {0};
    if (kind_value(k, s, text)) return true;
    const char *why = k->refuses ? k->refuses(text) : NULL;
    message_quote(&t, text);
    if (why) return fail(e, E_USAGE, "%s %s", t.text, why);
    message_add(&t, " after `%s` is not %s", after, k->what);
    kind_list(k, s, NULL, suggest_offer, &near);
    message_near(&t, &near);
    message_choices(&t, s, NULL, k);
    return fail(e, E_USAGE, "%s", t.text);
}
