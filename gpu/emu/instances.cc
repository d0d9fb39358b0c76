/* The name of the function that a launch runs, with its template arguments, as the table of compiled functions has it
   (machine/compiled.h): "csr_stream<double, float, stream_plain>". The symbol of the emulator's own instance states the
   arguments. */
#include "simt_runner.h"

#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>

namespace simt
{

/* Is this the name `word`? If so, skip it. */
static bool skip(const char **text, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*text, word, n)) return false;
    *text += n;
    return true;
}

/* Copy a symbol from the name of the function up to its parameters, as nvcc would write it: without the namespace of
   the kernels, and with a pointer in place of a checked array. */
static void shorten(const char *text, char *out, size_t size)
{
    static const char space[] = "emu_::";
    uint64_t arrays = 0; /* the arguments that are within an array, one bit for each depth */
    unsigned depth = 0;
    size_t n = 0;
    const char *from = strstr(text, space);
    for (text = from ? from : text; *text && n + 1 < size && !(*text == '(' && depth == 0);) {
        if (skip(&text, space)) continue;
        bool array = skip(&text, "simt::array<");
        if (array) arrays |= 1ull << ++depth % 64;
        if (array || (*text == ' ' && text[1] == '>' && text++)) continue;
        if (*text == '<') arrays &= ~(1ull << ++depth % 64);
        bool ends = *text == '>' && arrays >> depth % 64 & 1;
        if (*text == '>') depth--;
        out[n++] = ends ? '*' : *text;
        text++;
    }
    out[n] = 0;
}

void instance_of(const void *code, const char *function, char *out, size_t size)
{
    Dl_info of, own;
    *out = 0;
    /* A function of another file that was loaded is a user's kernel: the table does not have it. */
    if (!dladdr(code, &of) || !dladdr(reinterpret_cast<const void *>(&instance_of), &own) ||
        of.dli_fbase != own.dli_fbase)
        return;
    if (!strchr(function, '<') && (!of.dli_sname || of.dli_saddr != code)) { /* a static function has no symbol */
        snprintf(out, size, "%s", function);
        return;
    }
    int status;
    char *text = of.dli_saddr == code ? abi::__cxa_demangle(of.dli_sname, nullptr, nullptr, &status) : nullptr;
    if (text) shorten(text, out, size);
    free(text);
}

} // namespace simt
