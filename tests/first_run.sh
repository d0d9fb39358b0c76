#!/bin/sh
# first_run.sh BINARY: judge, draw, multiply and solve a real sample matrix; then stay at the prompt if there is a
# terminal.
cd "$(dirname "$0")/.." || exit 1
binary=$1
sample=samples/nos3.mtx.gz
say() { printf '\n> %s\n' "$1"; }
run() { "$binary" "$sample" -c "$1"; }

verdict=$(run check) && picture=$(run 'spy width 36 height 11') && product=$(run spmv) &&
    solve=$(run 'solve cg precond ic0 tol 1e-8') || exit 1
echo
echo "$verdict" | head -n 1
say check && echo "$verdict" | sed -n 3,6p
say spy && echo "$picture" | sed 1,2d
say spmv && echo "$product" | grep -E '^(kernel|device|time|GB/s|error) '
say 'solve cg precond ic0' && echo "$solve" | grep -E '^(converged|because|iterations|true residual|time) '
cat <<'END'

To try next:  view spy               zoom into the picture with +; q leaves
              solve cg view          a solver, while it runs
              trace csr-scalar view  one warp of a GPU kernel, step by step
END
[ -t 0 ] && [ -t 1 ] && exec "$binary" "$sample"
exit 0
