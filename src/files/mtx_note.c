/* The notes of a load: remarks on the file that are counted while it is read and then shown once per kind. */
#include <stdio.h>

#include "load_info.h"
#include "mtx.h"

void note(struct notes *t, enum note kind, int64_t line)
{
    if (!t->n[kind]++) t->line[kind] = line;
}

/* The text of a note in the singular and in the plural; if `several` is NULL, the note is shown without a count. */
static const struct {
    const char *one, *several;
} note_text[NOTES] = {
    [NOTE_BOM] = {"byte order mark was skipped", NULL},
    [NOTE_LEADING] = {"blanks or blank lines before the banner were skipped", NULL},
    [NOTE_CASE] = {"banner keyword MatrixMarket is written in a different case", NULL},
    [NOTE_PERCENT] = {"banner begins with one percent sign instead of two", NULL},
    [NOTE_EXTRA] = {"words after the fifth word of the banner were ignored", NULL},
    [NOTE_VECTOR] = {"vector object was read as a matrix of one column", NULL},
    [NOTE_HERMITIAN] = {"hermitian file without imaginary parts was read as symmetric", NULL},
    [NOTE_CROWDED] = {"more entries are declared than the matrix has positions, so some are duplicates", NULL},
    [NOTE_COMMENT] = {"comment after the size line was skipped", "comments after the size line were skipped"},
    [NOTE_FORTRAN] = {"Fortran exponent (1.5D+03, 1.5+103) was read as e",
                      "Fortran exponents (1.5D+03, 1.5+103) were read as e"},
    [NOTE_SPECIAL] = {"value is inf or nan", "values are inf or nan"},
    [NOTE_OVERFLOW] = {"value beyond the largest double became inf", "values beyond the largest double became inf"},
    [NOTE_UNDERFLOW] = {"nonzero value below the smallest double became 0",
                        "nonzero values below the smallest double became 0"},
    [NOTE_ROUNDED] = {"integer beyond 2^53 was rounded", "integers beyond 2^53 were rounded"},
    [NOTE_FRACTION] = {"fraction was kept in an integer file", "fractions were kept in an integer file"},
    [NOTE_AS_REAL] = {"integer is written as a real number (3.0) in an integer file",
                      "integers are written as real numbers (3.0) in an integer file"},
    [NOTE_NEGATIVE] = {"negative number was kept in an unsigned-integer file",
                       "negative numbers were kept in an unsigned-integer file"},
    [NOTE_UPPER] = {"entry above the diagonal was mirrored", "entries above the diagonal were mirrored"},
    [NOTE_DIAGONAL] = {"zero was kept on a skew-symmetric diagonal", "zeros were kept on a skew-symmetric diagonal"},
    [NOTE_DUPLICATE] = {"duplicate entry was summed", "duplicate entries were summed"},
    [NOTE_EOF_BYTE] = {"DOS end-of-file byte at the end was skipped", NULL},
    [NOTE_GARBAGE] = {"bytes after the compressed data were ignored", NULL},
};

static void note_show(int kind, int64_t n, int64_t line, char *to, size_t size)
{
    char place[32] = "", count[32] = "";
    if (line) snprintf(place, sizeof place, "line %lld: ", (long long)line);
    if (note_text[kind].several) snprintf(count, sizeof count, "%lld ", (long long)n);
    snprintf(to, size, "%s%s%s", place, count,
             n > 1 && note_text[kind].several ? note_text[kind].several : note_text[kind].one);
}

void notes_show(const struct notes *t, struct load_info *info)
{
    for (int i = 0; i < NOTES; i++)
        if (t->n[i] && info->nwarnings < WARNINGS_MAX)
            note_show(i, t->n[i], t->line[i], info->warning[info->nwarnings++], sizeof info->warning[0]);
}
