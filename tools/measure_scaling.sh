#!/bin/bash
# Measures how the time of tracing grows with triangles and with pixels: `tandem bench` on terrains of 10 thousand to 100 million triangles
# at one size, and on one of a million at five sizes. One JSON file a case; a case whose file is there is not measured again, so that it can
# go on after an interruption. tools/plot_scaling draws the result.
#
#   tools/measure_scaling.sh TANDEM OUT          TANDEM: the program; OUT: a folder for results
#
# Environment, all optional: TRIANGLES="10000 ..." SIZE=4k SIZES="1280x720 ..." PIXELS_AT=1000000 BOUNCES=0 SECONDS_EACH=2, and GPUS as for --gpus.
# 100 million triangles take 8 GiB on the GPU and some 14 GiB of the host's memory; a case that does not fit is named and left out.
set -euo pipefail

[ $# -eq 2 ] || { echo "usage: tools/measure_scaling.sh TANDEM OUT" >&2; exit 2; }
tandem=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
triangles=${TRIANGLES:-10000 100000 1000000 10000000 100000000}
size=${SIZE:-4k}
sizes=${SIZES:-1280x720 1080p 1440p 4k 8k}
bounces=${BOUNCES:-0}
failed=0

measure() {   # measure TRIANGLES SIZE
  local file=$out/terrain-$1-$2-b$bounces.json
  [ -e "$file" ] && { echo "$file is there"; return; }
  echo "terrain of $1 triangles at $2"
  # Beside its place and then moved: what is there is whole.
  if "$tandem" bench "builtin:terrain?triangles=$1" --modes single --size "$2" --samples 1 --bounces "$bounces" --repeat 1 \
      --seconds "${SECONDS_EACH:-2}" --gpus "${GPUS:-auto}" --json "$file.new" --quiet; then
    mv "$file.new" "$file"
  else
    echo "terrain of $1 triangles at $2 was not measured" >&2
    rm -f "$file.new"
    failed=1
  fi
}

for count in $triangles; do measure "$count" "$size"; done
for pixels in $sizes; do measure "${PIXELS_AT:-1000000}" "$pixels"; done
exit $failed
