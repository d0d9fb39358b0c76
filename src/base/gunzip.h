/* Unpack a gzip stream and check its CRC and its length. (libarchive does not check them.) */
#ifndef GUNZIP_H
#define GUNZIP_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct gunzip;
/* Reads up to n packed bytes and returns their number: 0 at the end, -1 on failure. */
typedef int64_t gunzip_source(void *user, char *to, int64_t n, struct err *e);
struct gunzip *gunzip_new(gunzip_source *source, void *user, struct err *e);
void gunzip_free(struct gunzip *g);
void gunzip_rewind(struct gunzip *g); /* call this after moving the source back to its beginning */
/* Unpack up to n bytes and return their number: 0 at the end, -1 on failure. Bytes before a fault are delivered before
   it is reported. */
int64_t gunzip_read(struct gunzip *g, char *to, int64_t n, struct err *e);
bool gunzip_garbage(const struct gunzip *g); /* do bytes that are not gzip follow the last member? */

#endif
