/* Text files of numbers without a banner: graphs and lists of triplets. Their kinds are told apart here, and only here,
   by the first FILE_BEGIN bytes:

   - A graph of Scotch begins with a line that is 0 alone and two lines of two numbers.
   - A graph of METIS begins with a line `vertices edges [fmt [ncon]]`, and its other lines differ in length, or each
     edge stands in the lines of both its ends.
   - All other text whose first line has 2 to 4 numbers is a list of triplets. Its first line is a size line if the
     lines that follow fit it: `rows columns entries [stype]` as in CHOLMOD, or `rows entries` as in SuperLU. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdbool.h>
#include <stdint.h>

enum plain_kind { PLAIN_NONE, PLAIN_SCOTCH, PLAIN_METIS, PLAIN_TRIPLETS, PLAIN_OCTAVE };
struct plain {
    enum plain_kind kind;
    int64_t start;   /* the byte at which the first line with a number begins; of triplets, the first entry */
    int64_t lines;   /* number of lines before it */
    int numbers;     /* triplets: numbers per line, 2 to 4; 0: there is no entry */
    bool sized;      /* triplets: `size` is given by a size line, or by Octave's comments */
    int64_t size[4]; /* rows, columns, entries, stype: 1 or -1 if only the upper or lower triangle is stored, else 0 */

    struct {
        int64_t at, line;
        int numbers;
    } first;           /* of the first line with a number: `start`, `lines` and `numbers` */
    bool header;       /* triplets: a line of words precedes the entries */
    char variable[64]; /* Octave: the type of the first variable of the file, empty if it is a sparse matrix */
};
/* Look at the first n bytes of a file; `whole`: these are all bytes of the file. */
void plain_look(const char *begin, int64_t n, bool whole, struct plain *t);
/* The user gives the size, so the first line of a list is an entry even if it looks like a size line. */
void plain_unsize(struct plain *t);
/* Is the byte between two numbers of a line: a blank, a comma, a semicolon, or a parenthesis of Octave? */
static inline bool plain_separates(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '(' || c == ')';
}
/* Make blanks of the bytes between numbers in s[0 .. n-1], and percent signs of #. The second of two commas without a
   number between them stays, so that the line is refused. */
void plain_blanks(char *s, int64_t n);

#endif
