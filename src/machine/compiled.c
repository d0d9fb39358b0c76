/* What nvcc made of a kernel's function: the classes of its instructions, and its name. */
#include "compiled.h"
#include "base/base.h"

#include <fnmatch.h>
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
