/* The names of kernels' functions, of the symbols that nvcc gives them. */
#include "machine/cubin.h"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>

static const char space[] = "cuda_::";

/* Copy the name up to its parameters, without the namespace of the kernels, and with ">>" in place of "> >". */
static bool shorten(const char *text, char *out, size_t size)
{
    size_t n = 0;
    int depth = 0;
    for (; *text && !(*text == '(' && depth == 0); text++) {
        while (!strncmp(text, space, sizeof space - 1)) text += sizeof space - 1;
        if (*text == ' ' && text[1] == '>') continue;
        depth += (*text == '<') - (*text == '>');
        if (n + 1 >= size) return false;
        out[n++] = *text;
    }
    out[n] = 0;
    return true;
}

bool symbol_instance(const char *symbol, char *out, size_t size)
{
    int status;
    char *text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const char *from = text ? strstr(text, space) : nullptr;
    bool ok = from && size > 0 && shorten(from, out, size);
    free(text);
    return ok;
}
