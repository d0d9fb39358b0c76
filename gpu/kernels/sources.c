/* The source text of the kernels, embedded in the program so that trace and other views can show it. */
#include "base/base.h"
#include "base/err.h"
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

const char *kernel_source(int i, const char **file)
{
    if (i < 0 || i >= COUNT(sources)) return NULL;
    *file = sources[i].file;
    return sources[i].text;
}

enum { ADDED_MAX = 64 };
static struct {
    const char *file, *text;
} added[ADDED_MAX];

bool kernel_source_put(const char *file, const char *text, struct err *e)
{
    int at = -1;
    for (int k = 0; k < ADDED_MAX; k++)
        if (added[k].file && !strcmp(added[k].file, file)) at = k;
    for (int k = 0; at < 0 && k < ADDED_MAX; k++)
        if (!added[k].file) at = k;
    if (at < 0) return !text || fail(e, E_LIMIT, "there are %d files of yours already", +ADDED_MAX);
    added[at].file = text ? file : NULL;
    added[at].text = text;
    return true;
}

static const char *text_of(const char *file)
{
    for (int k = 0; k < ADDED_MAX; k++)
        if (added[k].file && !strcmp(added[k].file, file)) return added[k].text;
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
