/* Transcripts: files of lines that a user types, each after "> ", and of all output that follows each line. */
#ifndef TRANSCRIPT_KIT_H
#define TRANSCRIPT_KIT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Work in a temporary folder, which has links to samples and tests, until transcript_end removes it. */
int transcript_begin(void **state);
int transcript_end(void **state);
/* Run the lines of the file in a new session, and compare all output. If it differs, print the lines with the expected
   and the printed output, and return false. If WARPSPY_GOLDEN is `write`, write the file instead. A file whose name
   ends in .json.txt or .csv.txt has its output in that form. The line `cat FILE` shows a file of the folder. */
bool transcript_same(const char *path);
/* Replace what differs from machine to machine: the name of the processor, its threads and memory, the temporary
   folder, versions of libraries, rounding errors, and digits that rounding changes. The caller frees the result. */
char *transcript_mask(const char *text);

#endif
