/* CSC: the table entry and the arrays. */
#ifndef FMT_CSC_H
#define FMT_CSC_H

#ifdef __cplusplus
extern "C" {
#endif

struct format;

extern const struct format format_csc;

enum { CSC_PTR, CSC_ROW, CSC_VAL };

#ifdef __cplusplus
}
#endif
#endif
