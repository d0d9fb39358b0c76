/* Bytes as base64 (RFC 4648). */
#include "base64.h"

#include <stdint.h>

void base64(const unsigned char *in, size_t n, char *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
        for (int k = 0; k < 4; k++) *out++ = i + (size_t)k > n ? '=' : digit[v >> (18 - 6 * k) & 63];
    }
    *out = 0;
}
