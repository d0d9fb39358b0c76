/* Dense: the table entry and the array. */
#ifndef FMT_DENSE_H
#define FMT_DENSE_H

#ifdef __cplusplus
extern "C" {
#endif

struct format;

extern const struct format format_dense;

enum { DENSE_VAL };

#ifdef __cplusplus
}
#endif
#endif
