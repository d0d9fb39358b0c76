#!/bin/sh
# first_run.sh BINARY: analyse a real sample matrix, then stay at the prompt if there is a terminal.
cd "$(dirname "$0")/.." || exit 1
binary=$1
sample=samples/nos3.mtx.gz
"$binary" "$sample" -c 'stats; spy; rows; spmv; spmv kernel csr-vector on emu; solve cg tol 1e-8 maxit 2000' || exit 1
[ -t 0 ] && [ -t 1 ] && exec "$binary" "$sample"
exit 0
