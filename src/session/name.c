/* The names of matrices in expressions. */
#include "name.h"

#include <ctype.h>
#include <string.h>

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

const char *name_refuses(const char *name)
{
    name += strspn(name, "+-");
    size_t n = name_number(name);
    if (n && !name[n]) return "is a number in expressions; choose another name";
    return strcmp(name, "I") ? NULL : "is the identity in expressions; choose another name";
}
