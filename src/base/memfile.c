/* A stream that writes to memory. stdio calls `keep`, which appends to the text. */
#include "memfile.h"
#include "err.h"
#include "mem.h"

#include <errno.h>
#include <string.h>

enum { ROOM_FIRST = 1024 };

static bool no_memory(struct err *e)
{
    return fail(e, E_MEMORY, "out of memory for the output; drop a matrix and try again");
}

/* Make room for n more bytes and a NUL. */
static bool grow(struct memfile *m, size_t n)
{
    size_t room = m->room ? m->room : ROOM_FIRST;
    while (room - m->n <= n) room *= 2;
    if (room == m->room) return true;
    char *text = mem_resize(m->text, (int64_t)room, 1, "the output", NULL);
    if (!text) return false;
    m->text = text;
    m->room = room;
    return true;
}

/* Returns 0 on failure, as fopencookie requires. */
static ssize_t keep(void *user, const char *bytes, size_t n)
{
    struct memfile *m = user;
    if (m->lost || !grow(m, n)) {
        m->lost = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(m->text + m->n, bytes, n);
    m->n += n;
    m->text[m->n] = 0;
    return (ssize_t)n;
}

bool memfile_open(struct memfile *m, struct err *e)
{
    *m = (struct memfile){0};
    if (grow(m, 0)) m->file = fopencookie(m, "w", (cookie_io_functions_t){.write = keep});
    if (!m->file) return no_memory(e);
    m->text[0] = 0;
    return true;
}

bool memfile_sync(struct memfile *m, struct err *e)
{
    if (fflush(m->file) || ferror(m->file)) m->lost = true;
    return !m->lost || no_memory(e);
}

bool memfile_close(struct memfile *m, bool ok, struct err *e)
{
    if (m->file && (ferror(m->file) | fclose(m->file))) m->lost = true;
    m->file = NULL;
    if (!ok) return false;
    return !m->lost || no_memory(e);
}

void memfile_free(struct memfile *m)
{
    if (m->file) fclose(m->file);
    mem_free(m->text);
    *m = (struct memfile){0};
}
