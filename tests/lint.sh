#!/bin/sh
# lint.sh: check that clang-format would change no source, that cppcheck reports nothing, and that READMEs name files
# that exist.
cd "$(dirname "$0")/.." || exit 1
status=0
git ls-files '*.c' '*.h' '*.cu' '*.cc' ':!tests/files' | xargs -P "$(nproc)" -n 20 clang-format --dry-run -Werror || status=1
cppcheck --enable=warning,performance,portability --std=c11 --language=c --inline-suppr --quiet -j "$(nproc)" \
    --suppress=missingInclude --error-exitcode=1 --template='{file}:{line}: {severity}: {message} [{id}]' \
    -D__linux__ -D_GNU_SOURCE -Isrc -I. $(git ls-files 'src/*.c' 'gpu/*.c' 'ui/*.c') || status=1
tests/readmes.py || status=1
[ $status = 0 ] && echo "lint: clang-format and cppcheck report nothing"
exit $status
