/* Any bytes as a file, loaded in several ways that must come to the same. */
#ifndef FUZZ_LOAD_H
#define FUZZ_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* false, with the difference in `how`, where two ways of loading n bytes differ, or text is not read as by slow_mtx.c,
   or a matrix out of order comes out. */
bool fuzz_load(const uint8_t *data, size_t n, char *how, size_t room);
/* The same for libFuzzer: it ends the program on a difference. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#endif
