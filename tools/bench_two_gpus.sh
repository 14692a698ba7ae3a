#!/bin/bash
# What a second GPU gives: `tandem bench` on two scenes (at 4K on GPUs), in every mode, and again with every picture copied to the host. Prints one table of
# ratios; JSON with each frame's time and the tables of each run stay in OUT. For any machine; with one GPU it is opened twice, which shows
# that the pictures are equal and nothing about speed.
#
#   tools/bench_two_gpus.sh TANDEM OUT [BENCH OPTION...]     TANDEM: the program, in its unpacked bundle or in build/; OUT: a folder for results
#   tools/bench_two_gpus.sh build/tandem results --repeat 3 --gpus 0,1
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/bench_two_gpus.sh TANDEM OUT [BENCH OPTION...]" >&2; exit 2; }
tandem=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
assets=$(cd "$(dirname "$0")/.." && pwd)/assets
[ -d "$assets" ] || assets=$(dirname "$tandem")/assets

"$tandem" devices --json > "$out/devices.json"
gpus=$(python3 -c '
import json, sys
print(sum(a["usable"] and a["type"] != "cpu" for a in json.load(open(sys.argv[1]))["adapters"]))' "$out/devices.json")
dual=()
[ "$gpus" -ge 2 ] || dual=(--simulate-dual)

worst=0
bench() {   # bench NAME SCENE OPTIONS...: goes on after a failure, so that the rest is measured
  local name=$1 rc=0
  shift
  "$tandem" bench "$@" "${dual[@]}" --json "$out/$name.json" > "$out/$name.txt" || rc=$?
  cat "$out/$name.txt"
  [ "$rc" -lt 128 ] || exit "$rc"
  [ "$rc" -eq 0 ] || { echo "bench_two_gpus: $name ended with exit code $rc" >&2; worst=$rc; }
}

bench terrain builtin:terrain --bounces 1 --samples 4 "$@"
bench courtyard "$assets/scenes/courtyard.glb" --samples 4 "$@"
bench terrain-readback builtin:terrain --bounces 1 --samples 4 --modes single,afr --readback on "$@"
bench courtyard-readback "$assets/scenes/courtyard.glb" --samples 4 --modes single,afr --readback on "$@"

python3 - "$out" <<'TABLE'
import json, os, sys
print()
for name in ("terrain", "courtyard", "terrain-readback", "courtyard-readback"):
    path = f"{sys.argv[1]}/{name}.json"
    if not os.path.exists(path):
        continue
    scene = json.load(open(path))["scenes"][0]
    for mode in scene["modes"]:
        summary = mode["summary"]
        if not summary:
            print(f"{name:<20} {mode['label']:<20} {mode['failure']}")
            continue
        line = f"{name:<20} {mode['label']:<20} {summary['fps']:9.2f} fps {summary['frameMs']['p50']:9.3f} ms"
        if mode["speedup"]:
            line += f"  {mode['speedup']['value']:.3f} x single"
        if summary["bound"]:
            line += f"  frame / bound {summary['bound']['distance']:.3f}"
        print(line)
    print(f"{name:<20} {scene['pictures'] or 'no pictures to compare'}")
TABLE
exit "$worst"
