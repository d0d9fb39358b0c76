/* Untrusted text made safe to print; counts, byte counts and times as text. */
#ifndef TEXT_H
#define TEXT_H

#include "base.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

C_BEGIN

/* Copy n bytes of text to out[size] and escape C0, C1, DEL, bidi controls and invalid UTF-8. If more than `most` bytes
   are given, the copy is cut and ends with "...". Returns out. All foreign text must pass through here before it is
   printed. */
char *print_safe(const char *text, size_t n, size_t most, char *out, size_t size);
/* Like print_safe, but for text of several lines: keeps line ends. */
char *print_lines(const char *text, char *out, size_t size);
/* Print text, which must be safe, escaped for HTML, SVG or XML: & < > and quotes become entities. */
void text_html(FILE *f, const char *text);
/* The length of the UTF-8 sequence at `text`, or 0 if the sequence is invalid. The text has n > 0 bytes. *point
   receives the code point. */
int utf8_decode(const char *text, size_t n, uint32_t *point);
/* Width of text in terminal columns. */
int text_width(const char *text);
/* The number of bytes of text that fit in `columns` columns; *taken receives the number of columns that they fill. */
size_t text_fit(const char *text, int columns, int *taken);
/* Print after the text in out[size], which is cut if it becomes too long. */
void text_append(char *out, size_t size, const char *fmt, ...) PRINTF(3, 4);
void text_append_list(char *out, size_t size, const char *fmt, va_list list);
/* "1.23 MB", "417 B": bytes with SI prefixes. Returns out. */
char *show_bytes(double bytes, char *out, size_t size);
/* "4.21 us", "27.7 ms", "1.5 s": a time with three digits. us must not be NaN. Returns out. */
char *show_us(double us, char *out, size_t size);
/* 12345678 -> "12,345,678". Returns out. */
char *show_count(int64_t n, char *out, size_t size);
/* "1 row", "1,234 rows", "2 entries", "3 matrices": a count with its noun, for use in sentences. The noun is given in
   the singular. */
struct counted {
    char text[80];
};
struct counted how_many(int64_t n, const char *noun);

C_END
#endif
