/* The bytes of a file, unpacked while they are read if the file is compressed. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Reads plain files, gzip, xz, zstd, bzip2, and tar archives compressed in any of these formats. From an archive, a
   stream reads the only .mtx or .rb file, or else the .mtx or .rb file that has the archive's name. The packing is
   detected from the content, never from the name. The file may be a pipe. Only one thread at a time may use a stream.
   If that thread has a watch (see loop.h), Ctrl-C ends the wait for a pipe, with E_CANCELLED. */
struct stream;
struct stream *stream_open(const char *path, struct err *e);
void stream_close(struct stream *s); /* s may be NULL */
/* Read up to n bytes and return their number: 0 at the end, -1 on failure. The number is less than n only if the end or
   a fault follows. Bytes before a fault are delivered before it is reported. */
int64_t stream_read(struct stream *s, char *to, int64_t n, struct err *e);
int64_t stream_size(const struct stream *s); /* bytes of a plain file; -1 if it is packed or a pipe */
bool stream_is_pipe(const struct stream *s);
void stream_stop(struct stream *s); /* make a read in another thread end with E_CANCELLED */
/* The progress in packed bytes; *total is 0 for a pipe. Any thread may call this function. */
void stream_progress(const struct stream *s, int64_t *done, int64_t *total);
bool stream_garbage(const struct stream *s); /* do bytes that are not gzip follow the gzip stream? */

#endif
