/* Untrusted text made safe to print; numbers and byte counts as text. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copy text to out[size], escaping C0, C1, DEL, bidi controls and invalid UTF-8; at most `most` bytes of
   input are quoted, then "..." follows. Returns out. Everything foreign passes here before it is printed. */
char *print_safe(const char *text, size_t n, size_t most, char *out, size_t size);
/* The same for whole lines: line ends are kept. */
char *print_lines(const char *text, char *out, size_t size);
/* Safe text for HTML, SVG or XML: marks and quotes become entities. */
void text_html(FILE *f, const char *text);
/* Length of the valid UTF-8 sequence at text (n > 0 bytes left) and its code point; 0 if it is not one. */
int utf8_decode(const char *text, size_t n, uint32_t *point);
/* Width of text in columns of a terminal. */
int text_width(const char *text);
/* The number of bytes of text that fit in `columns` columns; *taken is the number of columns that they fill. */
size_t text_fit(const char *text, int columns, int *taken);
/* "1.23 MB", "417 B": SI bytes. Returns out. */
char *show_bytes(double bytes, char *out, size_t size);
/* "4.21 us", "27.7 ms": three digits, in the unit that suits. us is not NaN. Returns out. */
char *show_us(double us, char *out, size_t size);
/* 12345678 -> "12,345,678". Returns out. */
char *show_count(int64_t n, char *out, size_t size);
/* "1 row", "1,234 rows", "2 entries", "3 matrices": the form of every count in a sentence. noun: singular. */
struct counted {
    char text[80];
};
struct counted how_many(int64_t n, const char *noun);

#ifdef __cplusplus
}
#endif
#endif
