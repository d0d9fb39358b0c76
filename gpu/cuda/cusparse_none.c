/* cuSPARSE in a build without CUDA: there is none. */
#include <stddef.h>

#include "machine/peer_library.h"

#ifndef HAVE_CUDA
const char *cusparse_version(void)
{
    return NULL;
}

const char *cusparse_path(void)
{
    return NULL;
}

void cusparse_choose(const char *path) {}
#endif
