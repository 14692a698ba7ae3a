#!/bin/bash
# Sets up whatever is missing, builds everything and runs all tests. They need no display; without a GPU they use the software device.
#
#   tools/test.sh [--filter REGEX] [CTEST OPTION...]     for example: tools/test.sh --filter 'unit\.' --repeat until-fail:3
#   tools/test.sh --sanitize     builds anew with sanitizers, in folders of their own, and runs what they can watch: address and undefined
#                                over the unit tests, links, executor and modes; thread over the bridge
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
options=()
sanitize=
while [ $# -gt 0 ]; do
  case $1 in
    --filter)
      [ $# -ge 2 ] || { echo "test: --filter needs a regular expression, for example --filter 'unit\\.'" >&2; exit 2; }
      options+=(--tests-regex "$2")
      shift 2
      ;;
    --sanitize)
      sanitize=yes
      shift
      ;;
    *)
      options+=("$1")
      shift
      ;;
  esac
done
if [ -n "$sanitize" ]; then "$root/tools/setup.sh" packages configure; else "$root/tools/setup.sh"; fi

# Nothing of this desk may decide a result: no display, no layers or drivers' switches, pipeline caches of the tests' own.
unset DISPLAY WAYLAND_DISPLAY VK_INSTANCE_LAYERS VK_LOADER_LAYERS_ENABLE
export XDG_CACHE_HOME=$root/build/test-cache
mkdir -p "$XDG_CACHE_HOME"

# sanitized NAME SANITIZERS TESTS: a build with sanitizers and the tests whose names match. The driver's own leaks are not ours: leak checking
# stops at the edge of the unit tests, which load no driver.
sanitized() {
  local build=$root/build/$1 launcher=()
  command -v ccache > /dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTANDEM_SANITIZE="$2" \
    -DTANDEM_VMA_INCLUDE="$(sed -n 's/^TANDEM_VMA_INCLUDE:PATH=//p' "$root/build/CMakeCache.txt")" "${launcher[@]}" > /dev/null
  # shellcheck disable=SC2086 # a list of targets
  cmake --build "$build" --target $4
  ctest --test-dir "$build" --output-on-failure --no-tests=error --no-label-summary -R "$3"
}
if [ -n "$sanitize" ]; then
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  units=$(cd "$root/tests/unit" && for f in *_test.cpp; do echo "unit_${f%.cpp}"; done)
  sanitized asan address,undefined '^unit\.' "$units"
  ASAN_OPTIONS=detect_leaks=0 sanitized asan address,undefined '^(gpu\..*(Device|Link|Stream|PingPong|Executor)|image\.)' \
    'gpu_device_test gpu_link_test gpu_executor_test image_modes_test'
  sanitized tsan thread '^unit\.(Bridge|FrameTicket)' unit_bridge_test
  exit 0
fi
# Two at a time: most tests keep every core busy by themselves.
exec ctest --test-dir "$root/build" --output-on-failure --no-tests=error --no-label-summary -j2 "${options[@]}"
