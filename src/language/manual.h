/* Declares --help, the manual page and shell completions, which ui/manual.c implements. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stdbool.h>
#include <stdio.h>

void manual_usage(FILE *f);
/* Print the manual page in the format of man. */
void manual_page(FILE *f);
/* Print the completion script for bash or zsh. Returns false if there is no script for this shell. */
bool manual_completion(FILE *f, const char *shell);

#endif
