/* set: the options of the program, which are saved between sessions. */
#include "base/err.h"
#include "language/args.h"
#include "language/kinds.h"
#include "language/options.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/session.h"

#include <string.h>

struct joined {
    char text[256];
    size_t n;
};

static void join(void *user, const char *word)
{
    struct joined *j = user;
    if (j->n < sizeof j->text)
        j->n += (size_t)snprintf(j->text + j->n, sizeof j->text - j->n, "%s%s", j->n ? " " : "", word);
}

/* A list of all options shows a line per option as text, without the explanations. */
static void out_option(struct session *s, const struct setting *o, bool explained)
{
    struct joined j = {0};
    option_list(s, o, join, &j);
    out_row(s->out);
    out_str(s->out, "name", "option", o->name);
    out_str(s->out, "value", "value", option_value(s, (enum option_id)(o - options)));
    out_str(s->out, "usual", NULL, o->default_value);
    out_words(s->out, "values", "one of", j.text);
    out_str(s->out, "about", explained ? "which is" : NULL, o->about);
}

/* May the line change the settings of later sessions? If not, tell how long the value applies. */
static bool is_kept(struct session *s, const struct setting *o, const char *value)
{
    if (s->folder) {
        out_note(s->out, "%s is %s until the lesson ends", o->name, value);
        return false;
    }
    if (is_allowed(s, ALLOW_FILES)) return true;
    out_note(s->out, "%s is %s for this session only: %s may not change the saved settings without `allow files`",
             o->name, value, s->lines.from);
    return false;
}

/* The value applies to this session even if it cannot be saved. */
static bool set(struct session *s, const struct setting *o, const char *value, struct err *e)
{
    struct err why = {0};
    if (!option_set(s, o, value, e)) return false;
    if (!is_kept(s, o, value)) return true;
    if (options_keep(o, value, &why)) return true;
    return fail_at(e, E_IO, why.where, "%s; %s is %s for this session only", why.text, o->name, value);
}

static bool run_set(struct session *s, const struct args *a, struct err *e)
{
    char where[256];
    const char *name = arg(a, "option"), *value = arg(a, "value");
    const struct setting *o = name ? option_find(name) : NULL;
    /* In the grammar, a word that is not an option is a value. */
    if (value && !o) return kind_check("OPTION", s, "set", value, e);
    if (value) return set(s, o, value, e);
    for (const struct setting *each = options; each->name; each++)
        if (!o || each == o) out_option(s, each, o != NULL);
    if (!o) out_text(s->out, "saved in %s; `set OPTION` explains an option", options_place(where, sizeof where));
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field set_fields[] = {
    {"name", F_TEXT, "the option"},   {"value", F_TEXT, "its value"},
    {"usual", F_TEXT, "the default"}, {"values", F_LIST, "values to choose from", .item = F_TEXT},
    {"about", F_TEXT, "what it is"},  {0},
};
static const struct row_kind row_set = {"set", "an option", set_fields};

const struct command command_set = {
    .name = "set",
    .aliases = "option options",
    .grammar = "[OPTION] [VALUE]",
    .about = "persistent settings: device, precision, colours, ...",
    .help =
        "`set` lists the options with their values, `set OPTION` shows and explains one option, and `set OPTION\n"
        "VALUE` changes it and saves it in $XDG_CONFIG_HOME/warpspy/config (or ~/.config). A line of this file is,\n"
        "for example, `colours 256`; # begins a comment. Options on the command line take precedence, and the\n"
        "command `device` applies to one session only. In a lesson, `set` applies until the lesson ends; in a\n"
        "script, to this session only, unless you allow files (see `help allow`). --plain sets colours to none and\n"
        "ascii to on, whatever the file contains.\n"
        "`set prompt` accepts a template with the fields {matrix}, {device} and {time} (of the last command); quote "
        "it.\n"
        "A blank follows it. `set prompt default` is the first prompt again.\n"
        "`set gpu` chooses the GPU that predict, explain, advise, whatif and why predict times for: the name of a\n"
        "profile or a file. A line of a profile is, for example, `sms 108`. It needs name, sms, clock_ghz,\n"
        "threads_per_sm, blocks_per_sm, shared_kb_per_sm, l1_kb_per_sm, l2_mb, l2_copies (2 if each half of the\n"
        "cache keeps a copy), memory_gbs, fp64_gflops and fp32_gflops; it may state registers_per_sm (65536 if it\n"
        "does not), compute_capability (10 * major + minor, 90 if it does not; it decides the registers of a\n"
        "kernel), and the measured read_gbs, copy_gbs, cache_gbs, gather_gps, gather_cache_gps and launch_us,\n"
        "which are otherwise scaled from an H200. A link between such GPUs, for `whatif parts`, has link_copy_us,\n"
        "link_mb_gbs, link_gbs, link_gpus (the number of GPUs) and, if launches reach the memory of the others,\n"
        "link_flag_us; `pcie_only 1` says that such GPUs have no NVLink. `ceilings on cuda:0+1 save FILE` writes all "
        "of them.\n"
        "    set precision f32; set colours; set gpu a100; set gpu auto",
    .rows = (const struct row_kind *const[]){&row_set, &row_done, NULL},
    .run = run_set,
};
