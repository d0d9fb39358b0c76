/* Write gzip on several threads: one stream of pieces. Any thread can compress a piece independently of all other
   pieces. */
#ifndef GZIP_H
#define GZIP_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Compresses pieces one after another. Each thread has its own struct gzip. */
struct gzip;
struct gzip *gzip_new(int64_t most, struct err *e); /* most: the largest number of bytes in a piece */
void gzip_free(struct gzip *g);                     /* g may be NULL */
/* Begin a piece of n bytes. The caller keeps `data` unchanged until the piece is complete. */
void gzip_begin(struct gzip *g, const void *data, int64_t n);
/* Compress part of the piece, for about a millisecond. Returns false when the piece is complete. */
bool gzip_goes_on(struct gzip *g);
/* The compressed piece; valid until the next gzip_begin. */
const void *gzip_packed(const struct gzip *g, int64_t *n);

/* The checksum and the length of all pieces written so far; both are 0 at the beginning. */
struct gzip_sum {
    uint32_t crc, bytes;
};
enum { GZIP_ENDS = 10 };             /* number of bytes before the first piece, and also after the last piece */
void gzip_head(char out[GZIP_ENDS]); /* the bytes before the first piece */
void gzip_add(struct gzip_sum *s, const struct gzip *g);       /* add the piece of g, which is the next in order */
void gzip_tail(const struct gzip_sum *s, char out[GZIP_ENDS]); /* the bytes after the last piece */

#endif
