/* From which parameter of the kernel the address of each access comes: pointers are followed from the constant bank
   through the arithmetic on registers. What is loaded elsewhere is no pointer of the kernel. */
#include "base/mem.h"
#include "sass_private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A parameter is its place in the constant bank. */
enum { UNIFORMS = 64, NO_PARAMETER = 0, SEVERAL = 0xffff };
struct origins {
    uint16_t of[SASS_REGISTERS], uniform[UNIFORMS];
};

static uint16_t join(uint16_t a, uint16_t b)
{
    return !a || a == b ? b : b ? SEVERAL : a;
}

/* Where parameters begin. */
static int first_parameter(const struct sass *s)
{
    int capability = strncmp(s->architecture, "sm_", 3) ? 0 : atoi(s->architecture + 3);
    return capability >= 100 ? 0x380 : capability >= 90 ? 0x210 : 0x160;
}

/* The origins of the uniform registers and constants among the operands from p on. */
static uint16_t of_words(const struct origins *o, const char *p, int first)
{
    uint16_t origin = NO_PARAMETER;
    for (const char *c = p; (c = strstr(c, "c[0x0][0x")); c += 7) {
        long at = strtol(c + 9, NULL, 16);
        if (at >= first && at < SEVERAL) origin = join(origin, (uint16_t)(at & ~7));
    }
    for (const char *c = p; (c = strstr(c, "UR")); c += 2) {
        int r = isdigit((unsigned char)c[2]) ? atoi(c + 2) : UNIFORMS;
        if (r < UNIFORMS) origin = join(origin, o->uniform[r]);
    }
    return origin;
}

static uint16_t of_sources(const struct origins *o, const struct sass_instruction *i, const char *words, int first)
{
    uint16_t origin = of_words(o, words, first);
    for (int r = 0; r < SASS_REGISTERS; r++)
        if (sass_has(&i->used, r)) origin = join(origin, o->of[r]);
    return origin;
}

static void set(uint16_t *to, uint16_t origin, bool always)
{
    *to = always ? origin : join(*to, origin);
}

/* ULDC, UIADD3, R2UR: the destination is the first operand that is no predicate. */
static bool sets_uniform(const struct sass_instruction *i, int *r, const char **sources)
{
    const char *p = i->operands;
    while (!strncmp(p, "UP", 2) || *p == 'P') p += strcspn(p, ","), p += strspn(p, ", ");
    bool uniform = (*i->opcode == 'U' || sass_is(i, "R2UR S2UR LDCU")) && !strncmp(p, "UR", 2);
    *r = uniform && isdigit((unsigned char)p[2]) ? atoi(p + 2) : UNIFORMS;
    if (*r < UNIFORMS) *sources = p + strcspn(p, ",");
    return *r < UNIFORMS;
}

static void pass(struct origins *o, struct sass_instruction *i, int first)
{
    bool constant = i->space == SASS_CONSTANT, wide = strstr(i->modifiers, ".64") || strstr(i->modifiers, ".WIDE");
    bool always = !*i->predicate;
    const char *sources = i->operands;
    int uniform;
    bool is_uniform = sets_uniform(i, &uniform, &sources);
    uint16_t origin = of_sources(o, i, sources, first);
    if (i->space == SASS_GLOBAL) i->parameter = origin && origin != SEVERAL ? origin - first : -1;
    if ((i->reads && !constant) || (constant && !wide)) origin = NO_PARAMETER;
    for (int k = 0; is_uniform && k < (wide ? 2 : 1) && uniform + k < UNIFORMS; k++)
        set(&o->uniform[uniform + k], origin, always);
    for (int r = 0; r < SASS_REGISTERS; r++)
        if (sass_has(&i->set, r)) set(&o->of[r], origin, always);
}

static bool add_to(struct origins *to, const struct origins *from)
{
    struct origins was = *to;
    for (int r = 0; r < SASS_REGISTERS; r++) to->of[r] = join(to->of[r], from->of[r]);
    for (int r = 0; r < UNIFORMS; r++) to->uniform[r] = join(to->uniform[r], from->uniform[r]);
    return memcmp(&was, to, sizeof was) != 0;
}

bool sass_find_parameters(struct sass *s, const struct sass_targets *t, struct err *e)
{
    struct sass_flow f = {0};
    struct origins *begin = mem_zero(s->nblocks + 1, sizeof *begin, "the registers of machine code", e);
    bool ok = begin && sass_all_edges(s, t, &f, e);
    int first = first_parameter(s);
    for (int i = 0; i < s->n; i++) s->at[i].parameter = -1;
    for (bool changed = ok; changed;) {
        changed = false;
        for (int b = 0; b < s->nblocks; b++) {
            struct origins o = begin[b];
            for (int i = s->block[b].first; i <= s->block[b].last; i++) pass(&o, &s->at[i], first);
            for (int i = f.first[b]; i < f.first[b + 1]; i++) changed |= add_to(&begin[f.to[i]], &o);
        }
    }
    mem_free(begin);
    mem_free(f.first);
    return ok;
}
