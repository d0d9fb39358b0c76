/* The names of matrices in expressions: their characters, and the names that no matrix may have. */
#ifndef MATRIX_NAME_H
#define MATRIX_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Does the character go on a name, so that no operator begins there? */
bool name_character(char c);
/* The length in bytes of the number at `at`, with its point and exponent. The result is 0 if there is no number, or if
   the text is a name such as 1138_bus. */
size_t name_number(const char *at);
/* May the name of a matrix hold this byte? Names hold letters, digits, _ . + - and characters that are not ASCII: none
   means something to a shell, so that a recording or a list of names runs nothing if a shell reads it. */
bool name_may_hold(char c);
bool name_is_plain(const char *name);
/* Why no matrix may have this plain name: it begins with a sign, or an expression would read it as the identity or as a
   number. "is a number in expressions; choose another name", or NULL if the name is allowed. */
const char *name_refuses(const char *name);
/* Make a name of at most `most` bytes from the name of a file: thesis4.mtx.gz -> thesis4. A name that an expression
   would read as a number or as the identity gets an m at its beginning: 3.mtx -> m3. The caller has room for
   `most` + 6 bytes. */
void name_of_file(const char *file, char *out, size_t most);

#endif
