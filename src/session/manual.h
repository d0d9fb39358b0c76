/* --help, the manual page and shell completions; implemented in ui/manual.c. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stdbool.h>
#include <stdio.h>

void manual_usage(FILE *f);
/* The manual page in the format of man. */
void manual_page(FILE *f);
/* The completion script for bash or zsh; false: no script for this shell. */
bool manual_completion(FILE *f, const char *shell);

#endif
