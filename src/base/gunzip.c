/* Unpack gzip with zlib, member by member, and check the CRC and the length. (libarchive does not check them.) */
#include "gunzip.h"
#include "err.h"
#include "mem.h"

#include <string.h>
#include <zlib.h>

enum { INPUT = 1 << 16, GZIP_WRAPPER = 15 + 16 };

struct gunzip {
    gunzip_source *source;
    void *user;
    z_stream z;
    bool drained, ended, garbage, broken;
    int64_t unpacked;
    struct err fault; /* a fault, reported after the bytes that precede it */
    unsigned char in[INPUT];
};

struct gunzip *gunzip_new(gunzip_source *source, void *user, struct err *e)
{
    struct gunzip *g = mem_zero(1, sizeof *g, "a gzip reader", e);
    if (!g) return NULL;
    g->source = source;
    g->user = user;
    if (inflateInit2(&g->z, GZIP_WRAPPER) == Z_OK) return g;
    fail(e, E_MEMORY, "out of memory: the gzip reader could not be started");
    mem_free(g);
    return NULL;
}

void gunzip_free(struct gunzip *g)
{
    if (g) inflateEnd(&g->z);
    mem_free(g);
}

void gunzip_rewind(struct gunzip *g)
{
    inflateReset(&g->z);
    g->z.avail_in = 0;
    g->drained = g->ended = g->garbage = g->broken = false;
    g->unpacked = 0;
    err_clear(&g->fault);
}

bool gunzip_garbage(const struct gunzip *g)
{
    return g->garbage;
}

/* Read input until at least `least` bytes are buffered or the source ends. */
static bool fill(struct gunzip *g, unsigned least)
{
    while (g->z.avail_in < least && !g->drained) {
        memmove(g->in, g->z.next_in ? g->z.next_in : g->in, g->z.avail_in);
        g->z.next_in = g->in;
        int64_t got = g->source(g->user, (char *)g->in + g->z.avail_in, INPUT - g->z.avail_in, &g->fault);
        if (got < 0) return false;
        g->drained = got == 0;
        g->z.avail_in += (unsigned)got;
    }
    return true;
}

/* Called at the end of a member. The next bytes may be another member, the end of the input, or garbage. */
static bool next_member(struct gunzip *g)
{
    if (!fill(g, 2)) return false;
    bool more = g->z.avail_in >= 2 && g->z.next_in[0] == 0x1f && g->z.next_in[1] == 0x8b;
    g->ended = !more;
    g->garbage = !more && g->z.avail_in > 0;
    if (more) inflateReset(&g->z);
    return true;
}

static bool step(struct gunzip *g)
{
    if (!fill(g, 1)) return false;
    if (!g->z.avail_in)
        return fail(&g->fault, E_INPUT,
                    "the gzip stream breaks off after %lld unpacked bytes: the file is truncated; download it again",
                    (long long)(g->unpacked + (int64_t)g->z.total_out));
    int r = inflate(&g->z, Z_NO_FLUSH);
    if (r == Z_STREAM_END) {
        g->unpacked += (int64_t)g->z.total_out;
        return next_member(g);
    }
    return r == Z_OK || r == Z_BUF_ERROR ||
           fail(&g->fault, E_INPUT, "the gzip stream is damaged (%s): the file is corrupt; download it again",
                g->z.msg ? g->z.msg : "no details");
}

int64_t gunzip_read(struct gunzip *g, char *to, int64_t n, struct err *e)
{
    g->z.next_out = (unsigned char *)to;
    g->z.avail_out = (unsigned)n;
    while (g->z.avail_out && !g->ended && !g->broken) g->broken = !step(g);
    int64_t got = n - g->z.avail_out;
    if (got || !g->broken) return got;
    fail(e, g->fault.code, "%s", g->fault.text);
    return -1;
}
