/* `bench chain`: the times of products in a chain, beside those of single products. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include <stdbool.h>

struct args;
struct err;
struct out;
struct run;
struct session;
struct spmv_request;

/* Can the request be measured in a chain? A chain multiplies by a square A alone. */
bool chain_allowed(const struct args *a, const struct spmv_request *w, struct err *e);
/* Measure the chain of the kernel that `run` has just measured alone. If this kernel cannot run in a chain, store the
   reason in `run` and return true. Fails with E_NUMERIC if its result is wrong. */
bool chain_measure(struct session *s, const struct spmv_request *w, struct run *run, struct err *e);
/* Below the table of n runs, say in text how the chains ran, and which kernels could not run in one. */
void out_chains(struct out *o, const struct run *r, int n);

#endif
