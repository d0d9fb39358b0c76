#!/bin/sh
# run_all.sh BUILD [golden|gpu]: run the test programs of a build; the last line is "N passed, N failed".
build=$1
which=${2:-test}
cd "$(dirname "$0")/.." || exit 1
export WARPSPY_BIN="$build/warpspy" LC_ALL=C.UTF-8
# No test reads or writes the user's own state.
state=$(mktemp -d) || exit 1
trap 'rm -rf "$state"' EXIT
export XDG_STATE_HOME="$state" XDG_CONFIG_HOME="$state" HOME="$state"
# Threads that wait give their core away: on a busy machine spinning takes longer than the tests.
export OMP_WAIT_POLICY=passive
# A locale whose decimal point is a comma, for the tests that read numbers in it.
if localedef -i de_DE -f UTF-8 "$state/de_DE.UTF-8" 2>/dev/null; then export LOCPATH="$state"; fi
passed=0 failed=0 skipped=0
log="$state/log"

run() { # run NAME COMMAND...: count a program's tests by cmocka's own closing lines
    name=$1
    shift
    start=$(date +%s)
    "$@" >"$log" 2>&1
    status=$?
    p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    f=$(sed -n 's/^ \([0-9]*\) FAILED TEST.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    k=$(grep -c '^\[  SKIPPED \] ' "$log")
    [ $status -ne 0 ] && [ "$f" -eq 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + k))
    echo "$name: $p passed, $f failed, $(($(date +%s) - start)) s"
    grep '^skip' "$log" | sort -u
    [ "$f" -eq 0 ] || { grep -vE '^\[ (RUN|      OK)' "$log" | tail -60; echo "($name ended with status $status)"; }
}

case $which in
gpu) list="$build/tests/gpu_*" ;;
golden) list="$build/tests/test_golden $build/tests/test_screens $build/tests/test_export" ;;
*) list="$build/tests/test_*" ;;
esac
for t in $list; do
    case $t in *.o | *.d) continue ;; esac
    [ -x "$t" ] && run "$(basename "$t")" "$t"
done
if [ "$which" = test ]; then
    for t in tests/test_*.py; do
        [ -e "$t" ] && run "$(basename "$t")" "${PYTHON:-/usr/bin/python3}" "$t"
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
