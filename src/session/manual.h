/* What tells of the program outside of it: --help, its manual page, and completions for shells; ui/manual.c. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stdbool.h>
#include <stdio.h>

void manual_usage(FILE *f);
/* The page as man reads it. */
void manual_page(FILE *f);
/* The completion of the command line for bash or zsh; false: for another shell there is none. */
bool manual_completion(FILE *f, const char *shell);

#endif
