/* The source text of the kernels, embedded in the program so that trace and other views can show it. */
#include "base/base.h"
#include "machine/microscope.h"

#include <string.h>

#define SOURCE(id, name, path)       \
    __asm__(".section .rodata\n"     \
            ".balign 16\n"           \
            "source_" #id ":\n"      \
            ".incbin \"" path "\"\n" \
            ".byte 0\n"              \
            ".previous\n");          \
    extern const char source_##id[];
#include "sources.def"
#undef SOURCE

static const struct {
    const char *file, *text;
} sources[] = {
#define SOURCE(id, name, path) {name, source_##id},
#include "sources.def"
#undef SOURCE
};

static const char *text_of(const char *file)
{
    for (int k = 0; k < COUNT(sources); k++)
        if (!strcmp(sources[k].file, file)) return sources[k].text;
    return NULL;
}

const char *kernel_source_line(const char *file, int n, int *length)
{
    const char *line = text_of(file);
    for (int k = 1; line && k < n; k++) {
        line = strchr(line, '\n');
        if (line && *++line == 0) line = NULL;
    }
    if (line) *length = (int)strcspn(line, "\n");
    return line;
}
