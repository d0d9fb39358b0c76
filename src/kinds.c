/* The kinds of values that grammars name: how one is checked and which there are to choose from. */
#include "card.h"
#include "grammar.h"
#include "lu.h"
#include "options.h"
#include "precond.h"
#include "reorder.h"
#include "symmetrize.h"
#include "wrong.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_integer(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || errno || *text == ' ') return false;
    if (value) *value = v;
    return true;
}

bool is_real(const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    if (value) *value = v;
    return true;
}

bool like_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return strchr("0123456789.", *text) && *text;
}

static bool any(const struct session *s, const char *text)
{
    (void)s;
    return *text != 0;
}

static bool check_integer(const struct session *s, const char *text)
{
    (void)s;
    return is_integer(text, NULL);
}

static bool check_real(const struct session *s, const char *text)
{
    (void)s;
    return is_real(text, NULL);
}

/* A name can be typed as a word: safe to print, not too long, nothing in it that quoting is for. */
static bool check_name(const struct session *s, const char *text)
{
    char safe[sizeof((struct matrix *)0)->name * 4];
    (void)s;
    size_t n = strlen(text);
    return n && n < sizeof((struct matrix *)0)->name && !text[strcspn(text, " \"'\\;#!/")] &&
           !strcmp(print_safe(text, n, n, safe, sizeof safe), text);
}

static bool check_matrix(const struct session *s, const char *text)
{
    for (const struct matrix *m = s->matrices; m; m = m->next)
        if (!strcmp(m->name, text)) return true;
    return false;
}

static void list_matrices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)a;
    for (const struct matrix *m = s->matrices; m; m = m->next) give(user, m->name);
}

static void list_formats(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; formats[i]; i++) give(user, formats[i]->name);
}

static bool check_format(const struct session *s, const char *text)
{
    (void)s;
    return format_find(text) != NULL;
}

/* May k come after `using FORMAT` and `on DEVICE`, where these were given? */
static bool kernel_suits(const struct kernel *k, const struct args *a)
{
    const char *format = a ? arg(a, "using") : NULL, *on = a ? arg(a, "on") : NULL;
    if (format && strcmp(k->format, format)) return false;
    if (!on) return true;
    return !strcmp(on, "cpu") ? k->host : !k->host && (strcmp(on, "emu") || !k->vendor);
}

static void list_kernels(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s;
    for (int i = 0; kernels[i]; i++)
        if (kernel_suits(kernels[i], a)) give(user, kernels[i]->name);
}

static bool check_kernel(const struct session *s, const char *text)
{
    (void)s;
    return kernel_find(text) != NULL;
}

static void list_devices(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    give(user, "cpu");
    give(user, "emu");
    for (int i = 0; i < device_count(DEV_CUDA); i++) {
        char name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        give(user, name);
    }
}

/* A name that begins as a GPU's does is left to device_open, which says what is wrong with that GPU. */
static bool check_device(const struct session *s, const char *text)
{
    (void)s;
    return !strcmp(text, "cuda") || !strncmp(text, "cuda:", 5) || device_open(text, NULL);
}

static void list_solvers(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; solvers[i]; i++) give(user, solvers[i]->name);
}

static bool check_solver(const struct session *s, const char *text)
{
    (void)s;
    return solver_find(text) != NULL;
}

static void list_preconds(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; preconds[i]; i++) give(user, preconds[i]->name);
    give(user, "none");
}

static bool check_precond(const struct session *s, const char *text)
{
    (void)s;
    return precond_find(text) || !strcmp(text, "none");
}

/* For a race: once one was named, the others are of its sort. */
static void list_racers(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *first = a ? arg(a, "racer") : NULL;
    if (!first || solver_find(first)) list_solvers(s, a, give, user);
    if (!first || kernel_find(first)) list_kernels(s, a, give, user);
}

static bool check_racer(const struct session *s, const char *text)
{
    return check_solver(s, text) || check_kernel(s, text) || is_real(text, NULL);
}

static void list_methods(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *on = a ? arg(a, "on") : NULL;
    const struct device *d = on ? device_open(on, NULL) : NULL;
    (void)s;
    for (int i = 0; lu_methods[i]; i++)
        if (!d || lu_runs_on(lu_methods[i], d)) give(user, lu_methods[i]->name);
}

static bool check_method(const struct session *s, const char *text)
{
    (void)s;
    return lu_find(text) != NULL;
}

static void list_orderings(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; orderings[i]; i++) give(user, orderings[i]->name);
}

static bool check_ordering(const struct session *s, const char *text)
{
    (void)s;
    return ordering_find(text) != NULL;
}

static void list_commands(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; commands[i]; i++) give(user, commands[i]->name);
}

static bool check_command(const struct session *s, const char *text)
{
    (void)s;
    return command_find(text) != NULL;
}

static void list_generators(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; generators[i]; i++) give(user, generators[i]->name);
}

static bool check_generator(const struct session *s, const char *text)
{
    (void)s;
    return generator_find(text) != NULL;
}

static void list_views(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)a;
    const char *const *names = s->front ? s->front->views : NULL;
    for (; names && *names; names++) give(user, *names);
}

static bool check_view(const struct session *s, const char *text)
{
    const char *const *names = s->front ? s->front->views : NULL;
    if (!names) return *text != 0;
    while (*names && strcmp(*names, text)) names++;
    return *names != NULL;
}

static bool check_symmethod(const struct session *s, const char *text)
{
    return (void)s, sym_find(text) != NULL;
}

static void list_symmethods(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; sym_methods[i]; i++) give(user, sym_methods[i]->name);
}

static bool check_symmode(const struct session *s, const char *text)
{
    return (void)s, sym_mode_find(text) >= 0;
}

static void list_symmodes(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; i < SYM_MODES; i++) give(user, sym_modes[i].name);
}

static void list_options(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (const struct setting *o = options; o->name; o++) give(user, o->name);
}

static bool check_option(const struct session *s, const char *text)
{
    return (void)s, option_find(text) != NULL;
}

/* Those of the option that was named; `set` itself checks one. */
static void list_values(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    const char *name = a ? arg(a, "option") : NULL;
    if (name && option_find(name)) option_list(s, option_find(name), give, user);
}

static bool check_listed_view(const struct session *s, const char *text)
{
    return s->front && s->front->views && check_view(s, text);
}

static bool check_named_precond(const struct session *s, const char *text)
{
    return (void)s, precond_find(text) != NULL;
}

static void list_card_lines(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; card_lines[i]; i++) give(user, card_lines[i]->name);
}

static bool check_card_line(const struct session *s, const char *text)
{
    return (void)s, card_find(text) != NULL;
}

static void list_sorts(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (int i = 0; device_sorts[i].name; i++) give(user, device_sorts[i].name);
}

static bool check_sort(const struct session *s, const char *text)
{
    return (void)s, device_sort_find(text) != NULL;
}

static void list_sources(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    give(user, "sources");
}

static bool check_sources(const struct session *s, const char *text)
{
    return (void)s, !strcmp(text, "sources");
}

/* All that `help` knows: whatever the grammar of a command can name. */
static const struct {
    bool (*check)(const struct session *s, const char *text);
    void (*list)(const struct session *s, const struct args *a, give_fn *give, void *user);
} topics[] = {{check_command, list_commands}, {check_listed_view, list_views},    {check_format, list_formats},
              {check_kernel, list_kernels},   {check_solver, list_solvers},       {check_named_precond, list_preconds},
              {check_method, list_methods},   {check_ordering, list_orderings},   {check_symmethod, list_symmethods},
              {check_symmode, list_symmodes}, {check_generator, list_generators}, {check_option, list_options},
              {check_sort, list_sorts},       {check_card_line, list_card_lines}, {check_sources, list_sources}};

/* Where a list of topics goes, without those that an earlier kind of topic has as well. */
struct anew {
    const struct session *session;
    int before;
    give_fn *give;
    void *user;
};

static void give_anew(void *user, const char *word)
{
    const struct anew *n = user;
    for (int i = 0; i < n->before; i++)
        if (topics[i].check(n->session, word)) return;
    if (topics[n->before].check(n->session, word)) n->give(n->user, word);
}

static void list_topics(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)a;
    for (int i = 0; i < COUNT(topics); i++) topics[i].list(s, NULL, give_anew, &(struct anew){s, i, give, user});
}

static bool check_topic(const struct session *s, const char *text)
{
    for (int i = 0; i < COUNT(topics); i++)
        if (topics[i].check(s, text)) return true;
    return false;
}

static void list_rules(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s, (void)a;
    for (const struct wrong_rule *r = wrong_rules; r->name; r++) give(user, r->name);
}

static bool check_rule(const struct session *s, const char *text)
{
    (void)s;
    return wrong_find(text) != NULL;
}

const struct param *params_of(const struct args *a)
{
    const char *generator = arg(a, "generator"), *kernel = arg(a, "kernel");
    const struct generator *g = generator ? generator_find(generator) : NULL;
    const struct kernel *k = kernel ? kernel_find(kernel) : NULL;
    const char *format = arg(a, "format") ? arg(a, "format") : arg(a, "using");
    if (!format && k) format = k->format;
    const struct format *f = format ? format_find(format) : NULL;
    return f ? f->params : g ? g->params : NULL;
}

static void list_params(const struct session *s, const struct args *a, give_fn *give, void *user)
{
    (void)s;
    for (const struct param *p = params_of(a); p && p->name; p++) give(user, p->name);
}

/* Clear cases only; what else may be meant as a parameter is for the grammar to decide. */
static bool check_param(const struct session *s, const char *text)
{
    return check_integer(s, text);
}

const struct kind kinds[] = {
    {"MATRIX", "matrix", "a matrix", "none is loaded: `load FILE` or `gen poisson2d 100` makes one", check_matrix,
     list_matrices},
    {"FORMAT", "format", "a format", NULL, check_format, list_formats},
    {"KERNEL", "kernel", "a kernel", NULL, check_kernel, list_kernels},
    {"DEVICE", "device", "a device", NULL, check_device, list_devices},
    {"SOLVER", "solver", "a solver", NULL, check_solver, list_solvers},
    {"PRECOND", "precond", "a preconditioner", NULL, check_precond, list_preconds},
    {"RACER", "racer", "a solver, a kernel or the number of a solver", NULL, check_racer, list_racers},
    {"METHOD", "method", "a method of LU", NULL, check_method, list_methods},
    {"ORDERING", "ordering", "an ordering", NULL, check_ordering, list_orderings},
    {"SYMMETHOD", "symmethod", "a method of symmetrize", NULL, check_symmethod, list_symmethods},
    {"SYMMODE", "symmode", "a mode of symmetrize", NULL, check_symmode, list_symmodes},
    {"OPTION", "option", "an option", NULL, check_option, list_options},
    {"VALUE", "value", "a value", NULL, any, list_values},
    {"COMMAND", "command", "a command", NULL, check_command, list_commands},
    {"VIEW", "view", "a view", NULL, check_view, list_views},
    {"GENERATOR", "generator", "a generator", NULL, check_generator, list_generators},
    {"TOPIC", "topic", "a command, or what a command can name: a view, format, kernel, solver and the like", NULL,
     check_topic, list_topics},
    {"RULE", "rule", "a rule", NULL, check_rule, list_rules},
    {"PARAMS", "params", "a parameter", NULL, check_param, list_params},
    {"FILE", "file", "a file", NULL, any, NULL},
    {"NAME", "name", "a name of at most 63 bytes without blanks, quotes or slashes", NULL, check_name, NULL},
    {"N", "n", "an integer", NULL, check_integer, NULL},
    {"R", "r", "a number", NULL, check_real, NULL},
    {"WORD", "word", "a word", NULL, any, NULL},
    {"TEXT", "text", "text", NULL, any, NULL},
    {0},
};

const struct kind *kind_find(const char *name, size_t n)
{
    for (const struct kind *k = kinds; k->name; k++)
        if (strlen(k->name) == n && !strncmp(k->name, name, n)) return k;
    return NULL;
}

void message_choices(struct message *t, const struct session *s, const struct args *a, const struct kind *k)
{
    struct message choices = {0};
    if (k->list) k->list(s, a, message_list, &choices);
    if (choices.items)
        message_add(t, "; one of %s", choices.text);
    else if (k->none)
        message_add(t, "; %s", k->none);
}

bool kind_check(const char *kind, const struct session *s, const char *after, const char *text, struct err *e)
{
    const struct kind *k = kind_find(kind, strlen(kind));
    struct suggest near = suggest_for(text);
    struct message t = {0};
    if (k->check(s, text)) return true;
    message_add(&t, "expected %s after `%s`, found ", k->what, after);
    message_quote(&t, text);
    if (k->list) k->list(s, NULL, suggest_offer, &near);
    message_near(&t, &near);
    message_choices(&t, s, NULL, k);
    return fail(e, E_USAGE, "%s", t.text);
}
