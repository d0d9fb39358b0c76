/* COO: the table entry and the arrays. */
#ifndef FMT_COO_H
#define FMT_COO_H

#ifdef __cplusplus
extern "C" {
#endif

struct format;

extern const struct format format_coo;

enum { COO_ROW, COO_COL, COO_VAL };

#ifdef __cplusplus
}
#endif
#endif
