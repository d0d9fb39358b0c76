/* Machine code as text and as rows: a summary of each function, what differs between two, and the instructions below
   their source lines. */
#include "sass_rows.h"
#include "base/base.h"
#include "base/precision.h"
#include "base/text.h"
#include "lab/machine_code.h"
#include "machine/microscope.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct sass_loop *hot_of(const struct machine_code *c)
{
    return c->sass.hot < 0 ? NULL : &c->sass.loop[c->sass.hot];
}

static int predicated_in(const struct machine_code *c)
{
    const struct sass_loop *l = hot_of(c);
    int n = 0;
    for (int i = l ? l->first : 0; l && i <= l->last; i++)
        n += c->sass.at[i].loop == c->sass.hot && *c->sass.at[i].predicate && c->sass.at[i].kind != INSTRUCTION_BRANCH;
    return n;
}

/* The line from which most loads of the hot loop come. */
static const struct sass_source *hot_line(const struct machine_code *c)
{
    const struct sass_source *best = NULL;
    for (int i = 0; i < c->sass.nsources; i++) {
        const struct sass_source *p = &c->sass.source[i];
        if (p->loads_hot > (best ? best->loads_hot : 0)) best = p;
    }
    return best;
}

static const struct sass_source *hoisted_line(const struct machine_code *c)
{
    for (int i = 0; i < c->sass.nsources; i++)
        if (c->sass.source[i].hoisted) return &c->sass.source[i];
    return NULL;
}

/* ---- the summary ---- */

static void show_registers(const struct machine_code *c, char *out, size_t size)
{
    snprintf(out, size, "%d, %d live", c->registers, c->sass.live_max);
}

static void show_shared(const struct machine_code *c, char *out, size_t size)
{
    snprintf(out, size, "%d B", c->shared_bytes);
}

static void show_local(const struct machine_code *c, char *out, size_t size)
{
    const struct sass *s = &c->sass;
    if (s->spill_loads + s->spill_stores)
        snprintf(out, size, "%d B: %s, %s", c->local_bytes, how_many(s->spill_loads, "load").text,
                 how_many(s->spill_stores, "store").text);
    else
        snprintf(out, size, "%d B", c->local_bytes);
}

static void show_instructions(const struct machine_code *c, char *out, size_t size)
{
    snprintf(out, size, "%d", sass_instructions(&c->sass));
}

static void show_hot(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_source *p = hot_line(c);
    if (p)
        snprintf(out, size, "%s:%d", p->file, p->line);
    else
        snprintf(out, size, "none");
}

static void show_round(const struct machine_code *c, char *out, size_t size)
{
    if (hot_of(c))
        snprintf(out, size, "%.3g", sass_per_round(&c->sass));
    else
        snprintf(out, size, "-");
}

static void show_unrolled(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_loop *l = hot_of(c);
    if (l && l->unrolled > 1)
        snprintf(out, size, "by %d", l->unrolled);
    else
        snprintf(out, size, l ? "no" : "-");
}

static void show_loads(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_loop *l = hot_of(c);
    if (l)
        snprintf(out, size, "%d, %d B per lane", l->loads, l->load_bytes);
    else
        snprintf(out, size, "-");
}

static void show_flight(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_loop *l = hot_of(c);
    if (l)
        snprintf(out, size, "%d", l->in_flight);
    else
        snprintf(out, size, "-");
}

static void show_depth(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_loop *l = hot_of(c);
    if (l)
        snprintf(out, size, "%d", l->depth);
    else
        snprintf(out, size, "-");
}

static void show_predicated(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_loop *l = hot_of(c);
    if (l)
        snprintf(out, size, "%d of %d", predicated_in(c), l->instructions);
    else
        snprintf(out, size, "-");
}

static void show_hoisted(const struct machine_code *c, char *out, size_t size)
{
    const struct sass_source *p = hoisted_line(c);
    if (p)
        snprintf(out, size, "%s of line %d", how_many(p->loads_before, "load").text, p->line);
    else
        snprintf(out, size, "none");
}

static void show_outside(const struct machine_code *c, char *out, size_t size)
{
    if (c->sass.diverged)
        snprintf(out, size, "%d (+%d diverged)", c->sass.outside, c->sass.diverged);
    else
        snprintf(out, size, "%d", c->sass.outside);
}

static void show_chain(const struct machine_code *c, char *out, size_t size)
{
    snprintf(out, size, "%d", c->sass.chain);
}

#define SHOW_CLASS(name, kind)                                                    \
    static void show_##name(const struct machine_code *c, char *out, size_t size) \
    {                                                                             \
        snprintf(out, size, "%d", c->sass.counts[kind]);                          \
    }
SHOW_CLASS(atomics, INSTRUCTION_ATOMIC)
SHOW_CLASS(collectives, INSTRUCTION_COLLECTIVE)
SHOW_CLASS(shared_accesses, INSTRUCTION_SHARED)
SHOW_CLASS(barriers, INSTRUCTION_BARRIER)
SHOW_CLASS(branches, INSTRUCTION_BRANCH)

const struct sass_quantity sass_quantities[] = {
    {"registers", show_registers, true},
    {"shared memory", show_shared, false},
    {"local memory", show_local, false},
    {"instructions", show_instructions, true},
    {"hot loop", show_hot, true},
    {"  per round", show_round, true},
    {"  unrolled", show_unrolled, true},
    {"  loads", show_loads, true},
    {"  loads in flight", show_flight, true},
    {"  one after another", show_depth, false},
    {"  predicated", show_predicated, false},
    {"  moved before it", show_hoisted, false},
    {"outside of it", show_outside, true},
    {"memory chain", show_chain, true},
    {"atomics", show_atomics, false},
    {"collectives", show_collectives, false},
    {"shared accesses", show_shared_accesses, false},
    {"barriers", show_barriers, false},
    {"branches", show_branches, false},
    {0},
};

char *sass_title(const struct machine_code *c, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s, %s, %s", c->sass.architecture, *c->compiler ? ", " : "", c->compiler,
             c->changed ? "stored listing of another source" : c->origin, c->function);
    return out;
}

/* ---- an instruction ---- */

char sass_mark(const struct machine_code *c, int instruction)
{
    const struct sass_instruction *i = &c->sass.at[instruction];
    if (i->diverged) return '!';
    if (i->loop < 0) return ' ';
    return i->loop == c->sass.hot ? '#' : '|';
}

char *sass_note(const struct machine_code *c, int instruction, bool brief, char *out, size_t size)
{
    const struct sass_instruction *i = &c->sass.at[instruction];
    bool global = i->space == SASS_GLOBAL || i->space == SASS_TEXTURE, load = global && i->reads && !i->writes;
    *out = 0;
    if (!global && i->space != SASS_SHARED && i->space != SASS_LOCAL) return out;
    bool plain = i->space == SASS_GLOBAL, cached = *i->cache && !brief;
    size_t n = (size_t)snprintf(out, size, "%s%s%d B%s%s", plain ? "" : sass_space_names[i->space], plain ? "" : " ",
                                i->bytes, cached ? " " : "", cached ? i->cache : "");
    if (load && i->outstanding && n < size) snprintf(out + n, size - n, ", %d in flight", i->outstanding);
    return out;
}

/* ---- text ---- */

enum { NAME = 20, VALUE = 24, CODE = 56 };

static void say_summary(struct out *o, const struct machine_codes *codes)
{
    char line[2 * SASS_VALUE + NAME + 8], a[SASS_VALUE], b[SASS_VALUE];
    if (codes->n > 1) {
        snprintf(line, sizeof line, "%-*s %-*s   %s\n", NAME, "", VALUE, codes->of[0].kernel, codes->of[1].kernel);
        out_verbatim(o, line);
    }
    for (const struct sass_quantity *q = sass_quantities; q->name; q++) {
        q->show(&codes->of[0], a, sizeof a);
        if (codes->n > 1) {
            q->show(&codes->of[1], b, sizeof b);
            snprintf(line, sizeof line, "%-*s %-*s %s %s\n", NAME, q->name, VALUE, a, strcmp(a, b) ? "*" : " ", b);
        } else {
            snprintf(line, sizeof line, "%-*s %s\n", NAME, q->name, a);
        }
        out_verbatim(o, line);
    }
}

static void say_title(struct out *o, const struct machine_code *c)
{
    char title[256], more[80] = "";
    if (c->instances > 1) snprintf(more, sizeof more, "; instance %d of %d", c->instance, c->instances);
    out_text(o, "%s: %s%s", c->kernel, sass_title(c, title, sizeof title), more);
}

static void say_difference(struct out *o, const struct machine_codes *codes, const char *what, double a, double b)
{
    if (a == b) return;
    out_text(o, "- %s: %.3g in %s, %.3g in %s", what, a, codes->of[0].kernel, b, codes->of[1].kernel);
}

/* The chains begin with an atomic where rows are taken from a counter. */
static const struct sass_instruction *first_atomic(const struct machine_code *c)
{
    for (int i = 0; i < c->sass.n; i++)
        if (c->sass.at[i].kind == INSTRUCTION_ATOMIC && !c->sass.at[i].diverged) return &c->sass.at[i];
    return NULL;
}

static void say_atomic(struct out *o, const struct machine_code *c)
{
    const struct sass_instruction *i = first_atomic(c);
    const struct sass_loop *l = hot_of(c);
    bool waited = i && l && i->address < c->sass.at[l->first].address && i->opcode[0] == 'A';
    if (waited)
        out_text(o, "- %s waits for an atomic (%s:%d) before its hot loop%s", c->kernel, i->file ? i->file : "?",
                 i->line, i->loop >= 0 ? ", in every round of the loop around it" : "");
}

static void say_differences(struct out *o, const struct machine_codes *codes)
{
    const struct machine_code *a = &codes->of[0], *b = &codes->of[1];
    const struct sass_loop *p = hot_of(a), *q = hot_of(b);
    out_text(o, "%s", "");
    say_difference(o, codes, "loads and atomics that wait for one another", a->sass.chain, b->sass.chain);
    say_atomic(o, a);
    say_atomic(o, b);
    if (p && q) {
        say_difference(o, codes, "instructions per round of the hot loop", sass_per_round(&a->sass),
                       sass_per_round(&b->sass));
        say_difference(o, codes, "predicated instructions in the hot loop", predicated_in(a), predicated_in(b));
        say_difference(o, codes, "loads in flight in the hot loop", p->in_flight, q->in_flight);
        say_difference(o, codes, "rounds per pass of the hot loop", p->unrolled, q->unrolled);
    }
    say_difference(o, codes, "instructions outside of the hot loop", a->sass.outside, b->sass.outside);
    say_difference(o, codes, "registers", a->registers, b->registers);
    say_difference(o, codes, "bytes of local memory", a->local_bytes, b->local_bytes);
}

static void say_source(struct out *o, const struct sass_instruction *i)
{
    char text[512];
    int length = 0;
    const char *line = i->file ? kernel_source_line(i->file, i->line, &length) : NULL;
    while (length > 0 && (*line == ' ' || *line == '\t')) line++, length--;
    snprintf(text, sizeof text, "%s:%d  %.*s\n", i->file ? i->file : "?", i->line, length, line ? line : "");
    out_verbatim(o, text);
}

static void say_code(struct out *o, const struct machine_code *c)
{
    out_verbatim(o, "\naddress, registers live, # hot loop, | loop, ! only if diverged\n");
    for (int k = 0; k < c->sass.n; k++) {
        const struct sass_instruction *i = &c->sass.at[k];
        char line[320], note[SASS_VALUE];
        if (k == 0 || !sass_same_line(i, i - 1)) say_source(o, i);
        sass_note(c, k, false, note, sizeof note);
        snprintf(line, sizeof line, "  %04x %3d %c %-*s%s%s\n", (unsigned)i->address, i->live, sass_mark(c, k),
                 *note ? CODE : 0, i->text, *note ? " " : "", note);
        out_verbatim(o, line);
    }
}

/* ---- rows ---- */

static void out_hot(struct out *o, const struct machine_code *c)
{
    const struct sass_loop *l = hot_of(c);
    const struct sass_source *p = hot_line(c);
    out_str(o, "hot_file", NULL, p ? p->file : NULL);
    out_int_if(o, "hot_line", NULL, p != NULL, p ? p->line : 0);
    out_int_if(o, "hot_instructions", NULL, l != NULL, l ? l->instructions : 0);
    out_num(o, "hot_per_round", NULL, l ? sass_per_round(&c->sass) : NAN, NULL);
    out_int_if(o, "hot_unrolled", NULL, l != NULL, l ? l->unrolled : 0);
    out_int_if(o, "hot_loads", NULL, l != NULL, l ? l->loads : 0);
    out_int_if(o, "hot_load_bytes", NULL, l != NULL, l ? l->load_bytes : 0);
    out_int_if(o, "hot_in_flight", NULL, l != NULL, l ? l->in_flight : 0);
    out_int_if(o, "hot_depth", NULL, l != NULL, l ? l->depth : 0);
    out_int_if(o, "hot_predicated", NULL, l != NULL, predicated_in(c));
}

static void out_function(struct out *o, const struct machine_code *c)
{
    out_row(o);
    out_str(o, "kind", NULL, "function");
    out_str(o, "kernel", NULL, c->kernel);
    out_str(o, "precision", NULL, precisions[c->real].name);
    out_str(o, "function", NULL, c->function);
    out_int(o, "instance", NULL, c->instance);
    out_int(o, "instances", NULL, c->instances);
    out_str(o, "architecture", NULL, c->sass.architecture);
    out_str(o, "compiler", NULL, *c->compiler ? c->compiler : NULL);
    out_str(o, "origin", NULL, c->origin);
    out_bool(o, "changed", NULL, c->changed);
    out_int(o, "registers", NULL, c->registers);
    out_int(o, "registers_live", NULL, c->sass.live_max);
    out_int(o, "shared_bytes", NULL, c->shared_bytes);
    out_int(o, "local_bytes", NULL, c->local_bytes);
    out_int(o, "spill_loads", NULL, c->sass.spill_loads);
    out_int(o, "spill_stores", NULL, c->sass.spill_stores);
    out_int(o, "instructions", NULL, sass_instructions(&c->sass));
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) out_int(o, instruction_words[k].key, NULL, c->sass.counts[k]);
    out_int(o, "outside", NULL, c->sass.outside);
    out_int(o, "diverged", NULL, c->sass.diverged);
    out_int(o, "chain", NULL, c->sass.chain);
    out_hot(o, c);
}

static void out_instruction(struct out *o, const struct machine_code *c, int k)
{
    const struct sass_instruction *i = &c->sass.at[k];
    out_row(o);
    out_str(o, "kind", NULL, "instruction");
    out_str(o, "kernel", NULL, c->kernel);
    out_int(o, "address", NULL, i->address);
    out_str(o, "text", NULL, i->text);
    out_str(o, "opcode", NULL, i->opcode);
    out_str(o, "predicate", NULL, *i->predicate ? i->predicate : NULL);
    out_str(o, "class", NULL, instruction_words[i->kind].key);
    out_str(o, "file", NULL, i->file);
    out_int_if(o, "line", NULL, i->file != NULL, i->line);
    out_str(o, "memory", NULL, i->space ? sass_space_names[i->space] : NULL);
    out_int_if(o, "bytes", NULL, i->space != SASS_NONE, i->bytes);
    out_str(o, "cache", NULL, *i->cache ? i->cache : NULL);
    out_int_if(o, "target", NULL, i->target >= 0, i->target >= 0 ? c->sass.at[i->target].address : 0);
    out_int_if(o, "loop", NULL, i->loop >= 0, i->loop);
    out_bool(o, "hot", NULL, i->loop >= 0 && i->loop == c->sass.hot);
    out_bool(o, "diverged", NULL, i->diverged);
    out_int(o, "live", NULL, i->live);
    out_int(o, "in_flight", NULL, i->outstanding);
}

void out_sass(struct session *s, const struct machine_codes *codes)
{
    struct out *o = s->out;
    if (out_mode(o) == OUT_TEXT) {
        for (int k = 0; k < codes->n; k++) say_title(o, &codes->of[k]);
        say_summary(o, codes);
        codes->n > 1 ? say_differences(o, codes) : say_code(o, &codes->of[0]);
        return;
    }
    for (int k = 0; k < codes->n; k++) {
        if (out_mode(o) == OUT_JSON) out_function(o, &codes->of[k]);
        for (int i = 0; i < codes->of[k].sass.n; i++) out_instruction(o, &codes->of[k], i);
    }
}

/* ---- the keys of the rows ---- */

static const char *class_at(int i)
{
    return i >= 0 && i < INSTRUCTION_CLASSES ? instruction_words[i].key : NULL;
}

static const struct field function_fields[] = {
    {"kind", F_TEXT, "a function", .words = "function"},
    {"kernel", F_TEXT, "kernel that launches the function"},
    {.include = &row_precision},
    {"function", F_TEXT, "function, with its template arguments"},
    {"instance", F_COUNT, "its number among those that the kernel may launch in the precision", .min = 1},
    {"instances", F_COUNT, "how many there are", .min = 1},
    {"architecture", F_TEXT, "GPUs that run the code", .pattern = "^sm_[0-9]+$"},
    {"compiler", F_TEXT | OR_NULL, "compiler that made it; null: that of this program", .null_on = "nvdisasm"},
    {"origin", F_TEXT, "where the code comes from", .words = "stored listing, this program, compiled now"},
    {"changed", F_BOOLEAN, "the source has changed since the listing was stored: its lines may be wrong"},
    {"registers", F_COUNT, "registers per thread"},
    {"registers_live", F_COUNT, "the most registers whose values are needed at the same time"},
    {"shared_bytes", F_COUNT, "bytes of shared memory per block, without those that a launch gives"},
    {"local_bytes", F_COUNT, "bytes of local memory per thread"},
    {"spill_loads", F_COUNT, "loads from local memory"},
    {"spill_stores", F_COUNT, "stores to local memory"},
    {"instructions", F_COUNT, "instructions, of these:"},
    {"loads", F_COUNT, "loads from global memory"},
    {"texture_loads", F_COUNT, "loads through textures"},
    {"stores", F_COUNT, "stores to global memory"},
    {"atomics", F_COUNT, "atomics on global memory"},
    {"shared", F_COUNT, "accesses to shared memory"},
    {"local", F_COUNT, "accesses to local memory"},
    {"fp64", F_COUNT, "arithmetic in fp64"},
    {"fp32", F_COUNT, "arithmetic in fp32"},
    {"collectives", F_COUNT, "shuffles, votes and the like"},
    {"barriers", F_COUNT, "barriers"},
    {"conversions", F_COUNT, "conversions between types"},
    {"integer", F_COUNT, "integer arithmetic and comparisons"},
    {"branches", F_COUNT, "branches and their reconvergence"},
    {"other", F_COUNT, "moves, selections, constants"},
    {"outside", F_COUNT, "instructions outside of the hot loop, without `diverged`"},
    {"diverged", F_COUNT, "instructions that only diverged warps execute"},
    {"chain", F_COUNT, "the most loads and atomics of which each needs the result of the one before"},
    {"hot_file", F_TEXT | OR_NULL,
     "source of most loads of the hot loop, the innermost loop with most global loads; null: none"},
    {"hot_line", F_COUNT | OR_NULL, "its line", .min = 1},
    {"hot_instructions", F_COUNT | OR_NULL, "instructions of the hot loop", .min = 1},
    {"hot_per_round", F_AMOUNT | OR_NULL, "instructions per round of the loop in the source"},
    {"hot_unrolled", F_COUNT | OR_NULL, "rounds of the source in one round of the code", .min = 1},
    {"hot_loads", F_COUNT | OR_NULL, "its loads from global memory"},
    {"hot_load_bytes", F_COUNT | OR_NULL, "bytes that these loads read per lane"},
    {"hot_in_flight", F_COUNT | OR_NULL, "the most loads that are issued before one of their results is used"},
    {"hot_depth", F_COUNT | OR_NULL, "the most loads of a round of which each needs the result of the one before"},
    {"hot_predicated", F_COUNT | OR_NULL, "instructions of the hot loop under a predicate, without branches"},
    {0},
};
const struct row_kind row_sass_function = {"function", "the machine code of a function as a whole", function_fields};

static const struct field instruction_fields[] = {
    {"kind", F_TEXT, "an instruction", .words = "instruction"},
    {"kernel", F_TEXT, "kernel that launches the function"},
    {"address", F_COUNT, "bytes from the beginning of the function"},
    {"text", F_TEXT, "the instruction as nvdisasm prints it"},
    {"opcode", F_TEXT, "its first word, without modifiers"},
    {"predicate", F_TEXT | OR_NULL, "predicate under which it is executed; null: always", .pattern = "^@"},
    {"class", F_TEXT, "what it does, as the keys of `function`", .word_at = class_at},
    {"file", F_TEXT | OR_NULL, "source file from which it comes", .null_on = "nvdisasm"},
    {"line", F_COUNT | OR_NULL, "line of the source file", .null_on = "nvdisasm", .min = 1},
    {"memory", F_TEXT | OR_NULL, "memory that it accesses", .words = "global, texture, shared, local, constant"},
    {"bytes", F_COUNT | OR_NULL, "bytes that it accesses per lane"},
    {"cache", F_TEXT | OR_NULL, "policy of the caches that it asks for"},
    {"target", F_COUNT | OR_NULL, "address to which it may branch"},
    {"loop", F_COUNT | OR_NULL, "number of its innermost loop"},
    {"hot", F_BOOLEAN, "it is in the hot loop"},
    {"diverged", F_BOOLEAN, "only diverged warps execute it"},
    {"live", F_COUNT, "registers whose values are needed when it starts"},
    {"in_flight", F_COUNT, "global loads that were issued and not waited for, this one included"},
    {0},
};
const struct row_kind row_sass_instruction = {"instruction", "an instruction", instruction_fields};
