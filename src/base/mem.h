/* Memory allocation. Tests can make any allocation fail. */
#ifndef MEM_H
#define MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"

C_BEGIN

struct err;

/* Allocate n items of `size` bytes, aligned to 256 bytes like memory from cudaMalloc. Returns NULL only on failure
   (E_MEMORY), even for n = 0. The error message names `what`. mem_zero clears the memory; mem_new does not. Free the
   memory with mem_free. */
void *mem_new(int64_t n, size_t size, const char *what, struct err *e);
void *mem_zero(int64_t n, size_t size, const char *what, struct err *e);
/* Grow or shrink a block. On failure, returns NULL, and the old block stays valid. The result may have a smaller
   alignment. */
void *mem_resize(void *p, int64_t n, size_t size, const char *what, struct err *e);
char *mem_str(const char *text, struct err *e); /* a copy of text */
void mem_free(void *p);
/* Freeing large blocks takes milliseconds. Between mem_lazy(true) and mem_lazy(false), mem_free only collects the large
   blocks of this thread; mem_lazy(false) starts another thread that frees them. In a thread with a watch (loop.h),
   mem_free calls mem_lazy(true) as soon as wanted() is true, also in the middle of a block. */
void mem_lazy(bool on);
void mem_lazy_if(bool (*wanted)(void));
int64_t mem_available(void); /* estimate of the bytes that this process can still allocate, see available.h */
/* Register a reserve of `bytes` bytes. give(user) must free the whole reserve. When memory runs short, any thread may
   call `give`. */
void mem_spare(int64_t bytes, void (*give)(void *user), void *user);
bool mem_take_spare(void);     /* free the reserve; returns false if there was no reserve */
void mem_fail_at(int64_t nth); /* tests: make the nth allocation from now fail; 0: none */
int64_t mem_count(void);       /* tests: number of allocations since the program started */

C_END
#endif
