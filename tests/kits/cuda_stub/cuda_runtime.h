/* The few calls of the CUDA runtime, cuBLAS and cuSPARSE that a saved program makes, on the host: "device memory" is
   malloc's. For tests without a GPU. */
#pragma once
#include <stdlib.h>
#include <string.h>
enum { cudaMemcpyHostToDevice = 1 };
static inline int cudaMalloc(void **to, size_t bytes)
{
    return !(*to = malloc(bytes));
}
static inline int cudaMemcpy(void *to, const void *from, size_t bytes, int)
{
    return memcpy(to, from, bytes) != to;
}
static inline int cudaMemset(void *to, int value, size_t bytes)
{
    return memset(to, value, bytes) != to;
}
