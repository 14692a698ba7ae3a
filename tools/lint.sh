#!/bin/bash
# What the tests do not hold: formatting (clang-format) of all C++ sources, clang-tidy over some, and the rules of tools/check_layers.
#
#   tools/lint.sh [FILE.cpp...]    clang-tidy over these; without any, over what differs from the branch main, committed or not
#   tools/lint.sh --all            clang-tidy over every source: about ten seconds each
#
# Needs the packages clang-format and clang-tidy (Debian 12 or 13). Exit code 1 if anything was found; everything is run in any case.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for tool in clang-format clang-tidy; do
  command -v $tool > /dev/null || { echo "lint: $tool is missing: apt-get install clang-format clang-tidy" >&2; exit 1; }
done
files=()
for file in "$@"; do
  case $file in
    --all) mapfile -t files < <(cd "$root" && git ls-files -- '*.cpp') ;;
    *.cpp) files+=("$(realpath --relative-to="$root" "$file")") ;;
    *) echo "lint: '$file' is no .cpp file: name sources, or --all" >&2; exit 2 ;;
  esac
done
cd "$root"

existing() { while read -r file; do [ ! -e "$file" ] || echo "$file"; done; }

# A header is seen through the source of its name.
if [ $# -eq 0 ]; then
  mapfile -t files < <({ git diff --name-only main; git ls-files --others --exclude-standard; } | sed -nE 's/\.(cpp|h)$/.cpp/p' |
    sort -u | existing)
fi

failed=0
git ls-files --cached --others --exclude-standard -- '*.cpp' '*.h' ':!shaders' | existing | xargs -r clang-format --dry-run -Werror || failed=1
tools/check_layers . || failed=1
if [ ${#files[@]} -gt 0 ]; then
  tools/setup.sh packages configure
  cmake -S . -B build/lint -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -DTANDEM_VMA_INCLUDE="$(sed -n 's/^TANDEM_VMA_INCLUDE:PATH=//p' build/CMakeCache.txt)" > /dev/null
  printf '%s\0' "${files[@]}" | xargs -0 -n1 -P"$(nproc)" clang-tidy --quiet --warnings-as-errors='*' -p build/lint || failed=1
fi
exit $failed
