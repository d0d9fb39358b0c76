/* Bytes as base64 (RFC 4648). */
#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

#include "base.h"

C_BEGIN

/* Write n bytes to out, which has room for (n + 2) / 3 * 4 + 1 characters. */
void base64(const unsigned char *in, size_t n, char *out);

C_END
#endif
