#!/bin/bash
# Sets up whatever is missing, builds Tandem and runs it.
#
#   tools/run.sh             the courtyard in 4K, ray traced on one GPU and post-processed on another, into out/
#   tools/run.sh ARGS...     tandem ARGS..., from the folder that you are in
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tandem=$root/build/tandem
"$root/tools/setup.sh" packages configure build:tandem
[ $# -eq 0 ] || exec "$tandem" "$@"

cd "$root"
# Fewer than two GPUs: the best device is opened twice. No GPU at all: a CPU renders, so fewer samples and bounces.
adapters=$("$tandem" devices --json)
gpus=$(python3 -c '
import json, sys
print(sum(a["usable"] and a["type"] != "cpu" for a in json.load(sys.stdin)["adapters"]))' <<< "$adapters")
options=(--size 4k --mode pipelined --samples 64)
[ "$gpus" -ge 1 ] || options=(--size 4k --mode pipelined --samples 4 --bounces 1)
[ "$gpus" -ge 2 ] || options+=(--simulate-dual)

mkdir -p out
set -- capture assets/scenes/courtyard.glb -o out/courtyard.exr -o out/courtyard.png --overwrite "${options[@]}"
echo "tandem $*"
exec "$tandem" "$@"
