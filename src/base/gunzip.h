/* A gzip stream, unpacked and held to its CRC and length (which libarchive skips). */
#ifndef GUNZIP_H
#define GUNZIP_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct gunzip;
typedef int64_t gunzip_source(void *user, char *to, int64_t n, struct err *e);
struct gunzip *gunzip_new(gunzip_source *source, void *user, struct err *e);
void gunzip_free(struct gunzip *g);
void gunzip_rewind(struct gunzip *g); /* the source is at its beginning again */
/* Up to n bytes, 0 at the end, -1 on failure; what precedes a fault is delivered before it is reported. */
int64_t gunzip_read(struct gunzip *g, char *to, int64_t n, struct err *e);
bool gunzip_garbage(const struct gunzip *g);

#endif
