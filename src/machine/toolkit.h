/* The programs of a CUDA toolkit on this computer: where nvcc and nvdisasm are. Implemented by toolkit.c. */
#ifndef TOOLKIT_H
#define TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

/* The nvcc that was chosen; if none was, the one that WARPSPY_NVCC names, or where shared_cuda_program looks.
   NULL: there is none, or none is to be used. */
const char *toolkit_nvcc(void);
/* Why there is none, as a sentence without its end. */
const char *toolkit_missing(void);
/* Choose another: a program, or a folder below which it is, such as that of a Python package; "off": none; NULL: none
   is chosen. */
void toolkit_choose(const char *path);
/* The nvcc that `path` means, as toolkit_choose takes it. */
bool toolkit_find(const char *path, char *out, size_t size);
/* The nvdisasm beside this nvcc (NULL: no nvcc), or where shared_cuda_program looks; NULL: there is none. */
const char *toolkit_nvdisasm(const char *nvcc);

#endif
