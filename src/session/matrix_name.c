/* The names of matrices in expressions, and the names that matrices get from their files. */
#include "matrix_name.h"
#include "base/base.h"
#include "base/text.h"
#include "files/file.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

bool name_character(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

size_t name_number(const char *at)
{
    static const char digits[] = "0123456789";
    size_t n = strspn(at, digits), whole = n;
    if (at[n] == '.') n += 1 + strspn(at + n + 1, digits);
    if (n == 0 || (whole == 0 && n == 1)) return 0;
    if (at[n] == 'e' || at[n] == 'E') {
        size_t sign = at[n + 1] == '+' || at[n + 1] == '-', more = strspn(at + n + 1 + sign, digits);
        if (more) n += 1 + sign + more;
    }
    return name_character(at[n]) ? 0 : n;
}

bool name_may_hold(char c)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    return (unsigned char)c >= 0x80 || (c && strchr(plain, c));
}

bool name_is_plain(const char *name)
{
    while (name_may_hold(*name)) name++;
    return !*name;
}

const char *name_refuses(const char *name)
{
    const char *unsigned_name = name + strspn(name, "+-");
    size_t n = name_number(unsigned_name);
    if (n && !unsigned_name[n]) return "is a number in expressions; choose another name";
    if (!strcmp(unsigned_name, "I")) return "is the identity in expressions; choose another name";
    return unsigned_name > name ? "begins with a sign; choose another name" : NULL;
}

/* ---- names of files ---- */

/* The length of name[n], without `ending` if the name has that ending. */
static size_t without(const char *name, size_t n, const char *ending)
{
    size_t k = strlen(ending);
    return n > k && !strncasecmp(name + n - k, ending, k) ? n - k : n;
}

/* Copy one character of a file name to a name: characters that a name may not hold become _, and so do characters
   that are not safe to print. Returns the length of the character in the file name. */
static size_t copy_character(const char *from, size_t n, char *out, size_t *at)
{
    char safe[32];
    uint32_t point;
    int length = utf8_decode(from, n, &point);
    size_t used = length > 0 ? (size_t)length : 1;
    bool kept = used == 1 ? !(*from & 0x80) && name_may_hold(*from)
                          : !strncmp(print_safe(from, used, used, safe, sizeof safe), from, used);
    memcpy(out + *at, kept ? from : "_", kept ? used : 1);
    *at += kept ? used : 1;
    return used;
}

void name_of_file(const char *file, char *out, size_t most)
{
    static const char *const endings[] = {".gz",    ".xz",  ".zst", ".bz2", ".tgz", ".tar", ".bin",  ".00000",
                                          ".ij",    ".mtx", ".wsb", ".npz", ".npy", ".mat", ".h5ad", ".h5",
                                          ".petsc", ".rb",  ".hb",  ".rsa", ".rua", ".rra", ".psa",  ".pua",
                                          ".pra",   ".csa", ".cua", ".cha", ".rse", ".rue", ".pse"};
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t n = strlen(base);
    for (int i = 0; i < COUNT(endings); i++) n = without(base, n, endings[i]);
    n = file_stem(base, n);
    size_t length = 0;
    for (size_t i = 0, whole = 0; i < n && length <= most; whole = length) {
        i += copy_character(base + i, n - i, out, &length);
        if (length > most) length = whole; /* the name is full; do not cut a character */
        if (length == whole) break;
    }
    out[length] = 0;
    if (!n) strcpy(out, "matrix");
    if (!name_refuses(out)) return;
    memmove(out + 1, out, length + 1);
    *out = 'm';
}
