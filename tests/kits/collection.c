/* Find the collection of real matrices. */
#include "collection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

const char *collection_folder(const char *what)
{
    const char *folder = getenv("WARPSPY_MATRICES");
    if (folder && *folder) return folder;
    printf("skip %s: WARPSPY_MATRICES does not name a folder of matrices\n", what);
    return NULL;
}

FILE *collection_index(const char *what, const char **folder)
{
    char path[1024];
    *folder = collection_folder(what);
    if (!*folder) return NULL;
    snprintf(path, sizeof path, "%s/INDEX.tsv", *folder);
    FILE *index = fopen(path, "r");
    if (!index) fail_msg("WARPSPY_MATRICES: cannot read %s", path);
    return index;
}
