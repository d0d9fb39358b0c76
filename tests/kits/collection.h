/* The collection of real matrices that some tests read: files NAME.mtx.gz, and INDEX.tsv with one line per matrix. */
#ifndef COLLECTION_H
#define COLLECTION_H

#include <stdio.h>

/* The folder named by WARPSPY_MATRICES. If the variable is not set, print that `what` is skipped and return NULL. */
const char *collection_folder(const char *what);
/* Open the collection's INDEX.tsv, positioned at its header line; NULL if WARPSPY_MATRICES is not set. If the folder
   has no INDEX.tsv, the test fails. */
FILE *collection_index(const char *what, const char **folder);

#endif
