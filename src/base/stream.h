/* The bytes of a file, unpacked on the way where its content says that it is packed. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Plain, gzip, xz, zstd, bzip2, and tar in any of them: then the archive's one .mtx or .rb file, or the one named like
   the archive. Told apart by content, never by name. One thread at a time. */
struct stream;
struct stream *stream_open(const char *path, struct err *e);
void stream_close(struct stream *s); /* NULL is fine */
/* Up to n bytes; fewer only shortly before the end or a fault, 0 at the end, -1 on failure. What precedes a fault
   is delivered before it is reported. */
int64_t stream_read(struct stream *s, char *to, int64_t n, struct err *e);
int64_t stream_size(const struct stream *s); /* bytes of a plain file, -1 when unpacked on the way */
void stream_progress(const struct stream *s, int64_t *done, int64_t *total); /* bytes of the file itself */
bool stream_garbage(const struct stream *s); /* bytes that are not gzip follow the gzip stream */

#endif
