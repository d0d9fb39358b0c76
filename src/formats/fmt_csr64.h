/* The arrays of CSR with 64-bit row pointers. */
#ifndef FMT_CSR64_H
#define FMT_CSR64_H

#ifdef __cplusplus
extern "C" {
#endif

struct format;

extern const struct format format_csr64;
enum { CSR64_PTR, CSR64_COL, CSR64_VAL };

#ifdef __cplusplus
}
#endif
#endif
