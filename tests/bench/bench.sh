#!/bin/sh
# bench.sh BUILD: run all benchmarks of a build, one after another.
cd "$(dirname "$0")/../.." || exit 1
status=0
for b in "${1:-build}"/tests/bench/bench_*; do
    case $b in *.o | *.d) continue ;; esac
    [ -x "$b" ] || continue
    "$b" || status=1
done
exit $status
