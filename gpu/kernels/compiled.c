/* The table of what nvcc made of the kernels' functions. */
#include "machine/compiled.h"
#include "base/base.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const struct instruction_word instruction_words[INSTRUCTION_CLASSES] = {
    [INSTRUCTION_LOAD] = {"loads", "load", true},
    [INSTRUCTION_TEXTURE] = {"texture_loads", "texture load", true},
    [INSTRUCTION_STORE] = {"stores", "store", true},
    [INSTRUCTION_ATOMIC] = {"atomics", "atomic", true},
    [INSTRUCTION_SHARED] = {"shared", "shared memory", false},
    [INSTRUCTION_LOCAL] = {"local", "local memory", false},
    [INSTRUCTION_FP64] = {"fp64", "fp64", false},
    [INSTRUCTION_FP32] = {"fp32", "fp32", false},
    [INSTRUCTION_COLLECTIVE] = {"collectives", "warp collective", true},
    [INSTRUCTION_BARRIER] = {"barriers", "barrier", true},
    [INSTRUCTION_CONVERSION] = {"conversions", "conversion", true},
    [INSTRUCTION_INTEGER] = {"integer", "integer", false},
    [INSTRUCTION_BRANCH] = {"branches", "branch", true},
    [INSTRUCTION_OTHER] = {"other", "other", false},
};

#define COMPILER(release, architecture)
#define COMPILED(name, registers, shared_bytes, local_bytes, ...) \
    {name, registers, shared_bytes, local_bytes, {__VA_ARGS__}},
static const struct compiled table[] = {
#include "compiled.def"
};
#undef COMPILER
#undef COMPILED

#define COMPILER(release, architecture) static const char compiler[] = "nvcc " release, target[] = architecture;
#define COMPILED(name, ...)
#include "compiled.def"

const struct compiled *compiled_at(int i)
{
    return i >= 0 && i < COUNT(table) ? &table[i] : NULL;
}

static int by_name(const void *name, const void *c)
{
    return strcmp(name, ((const struct compiled *)c)->name);
}

const struct compiled *compiled_find(const char *name)
{
    return bsearch(name, table, COUNT(table), sizeof *table, by_name);
}

bool compiled_matches(const struct compiled *c, const char *pattern)
{
    size_t n = strcspn(c->name, "<");
    if (!strchr(pattern, '<')) return strlen(pattern) == n && !strncmp(pattern, c->name, n);
    return fnmatch(pattern, c->name, FNM_NOESCAPE) == 0;
}

bool compiled_in_fp64(const struct compiled *c)
{
    static const char *const others[] = {"float", "fp16", "bf16", "cplx<"};
    for (int i = 0; i < COUNT(others); i++)
        if (strstr(c->name, others[i])) return false;
    return true;
}

int compiled_instructions(const struct compiled *c)
{
    int sum = 0;
    for (int k = 0; k < INSTRUCTION_CLASSES; k++) sum += c->instructions[k];
    return sum;
}

const char *compiled_by(void)
{
    return compiler;
}

const char *compiled_for(void)
{
    return target;
}
