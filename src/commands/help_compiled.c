/* What nvcc made of a kernel's functions, for `help KERNEL`. A function template has several instances: the text shows
   the range of their numbers. */
#include "help_compiled.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text.h"
#include "machine/compiled.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"
#include "report/output.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The GPU of `set gpu`, otherwise the reference. */
static struct machine machine_shown(const struct session *s)
{
    return s->gpu ? *s->gpu : machine_reference();
}

/* Function n of the column, or NULL after the last one or without a column. */
static const struct compiled *function_at(const struct compiled_column *column, int n)
{
    return column && n < column->n ? &column->functions[n] : NULL;
}

/* The blocks of an instance that a multiprocessor of g holds; false: the launch decides it. */
static bool resident_of(const struct machine *g, const struct kernel_function *f, const struct compiled *c,
                        struct residency *out)
{
    const struct work w = {.threads = f->threads, .shared_bytes = c->shared_bytes, .registers = c->registers};
    if (!f->threads || f->given) return false;
    *out = model_residency(g, &w);
    return true;
}

static bool is_instance(const struct kernel_function *f, const struct compiled *c)
{
    return f->name && compiled_matches(c, f->name);
}

/* ---- in JSON ---- */

static void out_instance(struct out *o, const struct machine *g, const struct kernel_function *f,
                         const struct compiled *c)
{
    struct residency r = {.blocks = NAN, .share = NAN};
    bool known = resident_of(g, f, c, &r);
    out_str(o, "name", NULL, c->name);
    out_int(o, "registers", NULL, c->registers);
    out_int(o, "shared_bytes", NULL, c->shared_bytes);
    out_int(o, "local_bytes", NULL, c->local_bytes);
    out_int_if(o, "threads_per_block", NULL, f->threads > 0, f->threads);
    out_num(o, "blocks_per_sm", NULL, r.blocks, "%.0f");
    out_num(o, "occupancy_percent", NULL, 100 * r.share, "%.1f");
    out_str(o, "limited_by", NULL, known ? residency_limit_names[r.by] : NULL);
    out_int(o, "instructions", NULL, compiled_instructions(c));
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) out_int(o, instruction_words[k].key, NULL, c->instructions[k]);
}

static void out_functions(struct out *o, const struct machine *g, const struct compiled_column *column,
                          const struct kernel *k)
{
    const struct compiled *c;
    out_list(o, "functions");
    for (int i = 0; i < KERNEL_FUNCTIONS; i++)
        for (int n = 0; (c = function_at(column, n)); n++) {
            if (!is_instance(&k->functions[i], c) || !out_within(o, "functions")) continue;
            out_instance(o, g, &k->functions[i], c);
            out_without(o);
        }
}

/* ---- in text ---- */

struct range {
    double least, most;
};

static void widen(struct range *r, double v, bool first)
{
    if (first || v < r->least) r->least = v;
    if (first || v > r->most) r->most = v;
}

/* The ranges of a function's instances. */
struct family {
    int n;
    bool resident; /* blocks and share are known */
    struct range registers, shared, local, blocks, share, total, of[INSTRUCTION_CLASSES];
    bool by[RESIDENCY_LIMITS]; /* what limits some instance */
};

static void add_instance(struct family *all, const struct machine *g, const struct kernel_function *f,
                         const struct compiled *c)
{
    struct residency r;
    bool first = all->n++ == 0;
    widen(&all->registers, c->registers, first);
    widen(&all->shared, c->shared_bytes, first);
    widen(&all->local, c->local_bytes, first);
    widen(&all->total, compiled_instructions(c), first);
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) widen(&all->of[k], c->instructions[k], first);
    all->resident = resident_of(g, f, c, &r);
    if (!all->resident) return;
    widen(&all->blocks, r.blocks, first);
    widen(&all->share, 100 * r.share, first);
    all->by[r.by] |= r.share < 1;
}

/* "32", or "32 to 40". */
static struct counted range_text(struct range r)
{
    struct counted out;
    char most[16] = "";
    if (r.most > r.least) snprintf(most, sizeof most, " to %.0f", r.most);
    snprintf(out.text, sizeof out.text, "%.0f%s", r.least, most);
    return out;
}

/* "1 load", "2 to 3 loads", "5 fp64". */
static struct counted range_of(struct range r, const char *word, bool counted)
{
    struct counted out, noun = how_many((int64_t)r.most, word);
    snprintf(out.text, sizeof out.text, "%.20s %.40s", range_text(r).text, counted ? strchr(noun.text, ' ') + 1 : word);
    return out;
}

static void append(char *text, size_t size, const char *more)
{
    size_t at = strlen(text);
    snprintf(text + at, size - at, "%s", more);
}

static void say_instructions(const struct family *all, char *text, size_t size)
{
    const char *before = ": ";
    append(text, size, range_of(all->total, "instruction", true).text);
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) {
        if (all->of[k].most == 0) continue;
        append(text, size, before);
        append(text, size, range_of(all->of[k], instruction_words[k].word, instruction_words[k].counted).text);
        before = ", ";
    }
}

static void say_memory(const struct family *all, char *text, size_t size)
{
    append(text, size, range_of(all->registers, "register", true).text);
    if (all->shared.most > 0) {
        append(text, size, ", ");
        append(text, size, range_text(all->shared).text);
        append(text, size, " B of shared memory");
    }
    if (all->local.most > 0) {
        append(text, size, ", ");
        append(text, size, range_text(all->local).text);
        append(text, size, " B of local memory per thread");
    }
}

static void say_resident(const struct family *all, const struct kernel_function *f, char *text, size_t size)
{
    const char *before = ", limited by ";
    char threads[64];
    if (!all->resident) {
        append(text, size,
               f->given ? "; the launch decides how much shared memory a block gets"
                        : "; the launch decides how many threads a block has");
        return;
    }
    snprintf(threads, sizeof threads, " of %d thread%s (", f->threads, f->threads == 1 ? "" : "s");
    append(text, size, "; ");
    append(text, size, range_of(all->blocks, "block", true).text);
    append(text, size, threads);
    append(text, size, range_text(all->share).text);
    append(text, size, "%");
    for (int k = 0; k < RESIDENCY_LIMITS; k++) {
        if (!all->by[k]) continue;
        append(text, size, before);
        append(text, size, residency_limit_names[k]);
        before = " or ";
    }
    append(text, size, ")");
}

static void say_function(struct out *o, const struct machine *g, const struct compiled_column *column,
                         const struct kernel_function *f)
{
    struct family all = {0};
    const struct compiled *c;
    char resources[256] = "", mix[512] = "", instances[40] = "";
    for (int n = 0; (c = function_at(column, n)); n++)
        if (is_instance(f, c) && compiled_in_fp64(c)) add_instance(&all, g, f, c);
    if (!all.n) return;
    say_memory(&all, resources, sizeof resources);
    say_resident(&all, f, resources, sizeof resources);
    say_instructions(&all, mix, sizeof mix);
    if (all.n > 1) snprintf(instances, sizeof instances, ", %d instances", all.n);
    out_text(o, "%.*s%s: %s.", (int)strcspn(f->name, "<"), f->name, instances, resources);
    out_text(o, "  %s.", mix);
}

static bool has_functions(const struct kernel *k)
{
    return k->functions[0].name != NULL;
}

void out_compiled(struct session *s, const struct kernel *k)
{
    struct out *o = s->out;
    struct err why = {0};
    char architecture[16] = "";
    const struct machine g = machine_shown(s);
    const struct compiled_column *column = has_functions(k) ? compiled_column(g.is.capability, &why) : NULL;
    if (column) snprintf(architecture, sizeof architecture, "sm_%d", column->architecture);
    out_str(o, "compiled_by", NULL, column ? compiled_by() : NULL);
    out_str(o, "compiled_for", NULL, column ? architecture : NULL);
    out_str(o, "machine", NULL, column ? g.name : NULL);
    out_functions(o, &g, column, k);
}

void say_compiled(struct session *s, const struct kernel *k)
{
    char remark[640];
    struct err why = {0};
    const struct machine g = machine_shown(s);
    if (!has_functions(k)) return;
    const struct compiled_column *column = compiled_column(g.is.capability, &why);
    compiled_remark(g.is.capability, remark, sizeof remark);
    if (*remark) out_text(s->out, "%s", remark);
    if (column)
        out_text(s->out, "Compiled for sm_%d by %s, in fp64; blocks per multiprocessor of an %s:", column->architecture,
                 compiled_by(), g.name);
    for (int i = 0; i < KERNEL_FUNCTIONS; i++)
        if (k->functions[i].name) say_function(s->out, &g, column, &k->functions[i]);
}
