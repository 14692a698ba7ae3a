#!/bin/bash
# Sets up whatever is missing, builds everything and runs all tests. They need no display; without a GPU they use the software device.
#
#   tools/test.sh [--filter REGEX] [CTEST OPTION...]     for example: tools/test.sh --filter 'unit\.' --repeat until-fail:3
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --filter)
      [ $# -ge 2 ] || { echo "test: --filter needs a regular expression, for example --filter 'unit\\.'" >&2; exit 2; }
      options+=(--tests-regex "$2")
      shift 2
      ;;
    *)
      options+=("$1")
      shift
      ;;
  esac
done
"$root/tools/setup.sh"

# Nothing of this desk may decide a result: no display, no layers or drivers' switches, pipeline caches of the tests' own.
unset DISPLAY WAYLAND_DISPLAY VK_INSTANCE_LAYERS VK_LOADER_LAYERS_ENABLE
export XDG_CACHE_HOME=$root/build/test-cache
mkdir -p "$XDG_CACHE_HOME"
# Two at a time: most tests keep every core busy by themselves.
exec ctest --test-dir "$root/build" --output-on-failure --no-tests=error --no-label-summary -j2 "${options[@]}"
