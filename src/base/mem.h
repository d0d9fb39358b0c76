/* Allocation whose failure tests can provoke. */
#ifndef MEM_H
#define MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct err;

/* n items of `size` bytes, 256-byte aligned as cudaMalloc aligns, never NULL on success (n may be 0);
   NULL and E_MEMORY, naming `what`, on failure. mem_new does not clear, mem_zero does. Release with mem_free. */
void *mem_new(int64_t n, size_t size, const char *what, struct err *e);
void *mem_zero(int64_t n, size_t size, const char *what, struct err *e);
/* Grow or shrink; on failure the old block stays valid and NULL is returned. Alignment is not kept. */
void *mem_resize(void *p, int64_t n, size_t size, const char *what, struct err *e);
char *mem_str(const char *text, struct err *e);
void mem_free(void *p);
int64_t mem_available(void); /* estimate of the bytes that the system can still allocate */
/* `bytes` bytes are kept in reserve: give(user) frees all of them when memory runs short, from any thread. */
void mem_spare(int64_t bytes, void (*give)(void *user), void *user);
bool mem_take_spare(void);     /* free the reserve; false: there is none */
void mem_fail_at(int64_t nth); /* tests: the nth allocation from now fails, 0 = never */
int64_t mem_count(void);       /* tests: allocations made since start */

#ifdef __cplusplus
}
#endif
#endif
