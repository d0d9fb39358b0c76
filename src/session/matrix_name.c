/* The names of matrices in expressions. */
#include "matrix_name.h"

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
