/* Load any bytes as a file, in several ways whose results must agree. */
#ifndef FUZZ_LOAD_H
#define FUZZ_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns false, with the difference in `how`, if two ways of loading n bytes differ, if text is read differently from
   slow_mtx.c, or if the entries of a loaded matrix are out of order. */
bool fuzz_load(const uint8_t *data, size_t n, char *how, size_t room);
/* The entry point for libFuzzer: aborts the program on a difference. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
