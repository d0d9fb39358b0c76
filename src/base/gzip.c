/* Write gzip on several threads. A piece is raw deflate data that refers to no earlier piece. A piece ends with an
   empty stored block (a sync flush) and therefore at a byte boundary. The pieces of all threads, joined in order,
   therefore form one stream. */
#include "gzip.h"
#include "err.h"
#include "mem.h"

#include <string.h>
#include <zlib.h>

enum { RAW = -15, LEVEL_OF_MEMORY = 8, SLICE = 1 << 15, FLUSH_ROOM = 16 };

struct gzip {
    z_stream z;
    int64_t room; /* size of `packed` */
    int64_t n;    /* size of the piece */
    int64_t done; /* size of the part of the piece that is already compressed */
    const unsigned char *data;
    unsigned char *packed;
    uint32_t crc; /* of the piece */
};

struct gzip *gzip_new(int64_t most, struct err *e)
{
    struct gzip *g = mem_zero(1, sizeof *g, "a gzip writer", e);
    if (!g) return NULL;
    if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, LEVEL_OF_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        fail(e, E_MEMORY, "out of memory: the gzip writer could not be started");
        mem_free(g);
        return NULL;
    }
    g->room = (int64_t)deflateBound(&g->z, (uLong)most) + FLUSH_ROOM;
    if ((g->packed = mem_new(g->room, 1, "compressed text", e))) return g;
    gzip_free(g);
    return NULL;
}

void gzip_free(struct gzip *g)
{
    if (!g) return;
    deflateEnd(&g->z);
    mem_free(g->packed);
    mem_free(g);
}

void gzip_begin(struct gzip *g, const void *data, int64_t n)
{
    deflateReset(&g->z);
    g->z.next_out = g->packed;
    g->z.avail_out = (uInt)g->room;
    g->data = data;
    g->n = n;
    g->done = 0;
    g->crc = (uint32_t)crc32(0, NULL, 0);
}

bool gzip_goes_on(struct gzip *g)
{
    int64_t left = g->n - g->done, part = left < SLICE ? left : SLICE;
    if (!part) return false;
    g->z.next_in = (unsigned char *)g->data + g->done;
    g->z.avail_in = (uInt)part;
    g->crc = (uint32_t)crc32(g->crc, g->data + g->done, (uInt)part);
    g->done += part;
    /* cannot fail: `packed` is large enough for the whole piece */
    deflate(&g->z, g->done < g->n ? Z_NO_FLUSH : Z_SYNC_FLUSH);
    return g->done < g->n;
}

const void *gzip_packed(const struct gzip *g, int64_t *n)
{
    *n = g->room - g->z.avail_out;
    return g->packed;
}

/* ---- the stream: RFC 1952 ---- */

void gzip_head(char out[GZIP_ENDS])
{
    /* no file name, no time stamp, written on Unix */
    static const char head[GZIP_ENDS] = {0x1f, (char)0x8b, Z_DEFLATED, [9] = 3};
    memcpy(out, head, sizeof head);
}

void gzip_add(struct gzip_sum *s, const struct gzip *g)
{
    s->crc = (uint32_t)crc32_combine(s->crc, g->crc, (z_off_t)g->n);
    s->bytes += (uint32_t)g->n;
}

static void put_32(char *out, uint32_t v)
{
    for (int i = 0; i < 4; i++) out[i] = (char)(v >> 8 * i);
}

/* The end of the stream: an empty last block, the checksum and the length. */
void gzip_tail(const struct gzip_sum *s, char out[GZIP_ENDS])
{
    out[0] = 3;
    out[1] = 0;
    put_32(out + 2, s->crc);
    put_32(out + 6, s->bytes);
}
