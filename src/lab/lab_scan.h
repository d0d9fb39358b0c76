/* Scanning the text of a kernel's file. Unless a comment says otherwise, the text is one of source_blank: without
   comments, strings and directives. */
#ifndef LAB_SCAN_H
#define LAB_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct err;

bool scan_is_letter(char c);                     /* of an identifier */
int scan_line(const char *text, const char *at); /* the line of `at`, counted from 1 */
const char *scan_skip(const char *p);            /* past blanks */
/* The next place of this identifier at or after `from`; NULL: none. */
const char *scan_word(const char *text, const char *from, const char *word);
const char *scan_close(const char *p);                  /* the bracket that closes the one at p; NULL: none */
const char *scan_comma(const char *p, const char *end); /* the next comma outside of brackets, or end */
const char *
scan_parameters(const char *p); /* the ( of the parameters of the function declared at p; NULL: no function */
void scan_copy(const char *from, const char *to, char *out, size_t size); /* without blanks at the ends */
bool scan_fail(const char *file, int line, struct err *e, const char *fmt, ...) PRINTF(4, 5);

#endif
