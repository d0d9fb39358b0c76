/* The collection of real matrices that some tests read: files NAME.mtx.gz and INDEX.tsv, a line per matrix. */
#ifndef COLLECTION_H
#define COLLECTION_H

#include <stdio.h>

/* The folder that WARPSPY_MATRICES names; NULL, after a line that says that `what` is skipped, where it is not set. */
const char *collection_folder(const char *what);
/* Its INDEX.tsv, open at the line of headings; NULL where the collection is skipped. A folder without one fails the
 * test. */
FILE *collection_index(const char *what, const char **folder);

#endif
