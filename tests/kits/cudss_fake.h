/* cuDSS and the CUDA runtime in host memory, with the checks that the libraries make. */
#ifndef CUDSS_FAKE_H
#define CUDSS_FAKE_H

#include <stdint.h>

/* `solve direct cudss` calls the fake instead of the libraries, until another file is set for them. */
void cudss_fake(void);
/* The n-th call from now on of the function whose name begins so fails with `status`; NULL: none fails. */
void cudss_fake_fail(const char *call, int n, int status);
/* The number of GPUs, at first 1. */
void cudss_fake_gpus(int n);
/* The memory of the GPU in bytes, and that of the arrays and objects that were not freed. */
void cudss_fake_room(int64_t bytes);
int64_t cudss_fake_used(void);

#endif
