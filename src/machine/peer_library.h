/* The cuSPARSE with whose kernels the program compares its own. Implemented by gpu/cuda/cusparse_library.cu, and by
   gpu/cuda/cusparse_none.c in a build without CUDA. */
#ifndef PEER_LIBRARY_H
#define PEER_LIBRARY_H

#include "base/base.h"

C_BEGIN

/* The library in use, such as "cuSPARSE 12.9.4", and the file from which it was loaded. Both open the library if none
   is open. NULL: there is none, or this build has no CUDA. */
const char *cusparse_version(void);
const char *cusparse_path(void);
/* From the next use on, use the library at `path`, a file or a folder. NULL: the newest that is found, among the
   loader's search path, CUDA_HOME, /usr/local/cuda, and the nvidia folders of a Python environment. What another
   library has prepared for a matrix must be freed before. */
void cusparse_choose(const char *path);

C_END
#endif
