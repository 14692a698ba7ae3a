#!/bin/bash
# Renders the courtyard and the terrain at 4K in every mode over every link and prints one table: ms per pass, bytes and GB/s over the link,
# and whether the pixels are equal. For any machine with one or two GPUs (one is opened twice).
#
#   tools/measure_modes.sh TANDEM OUT [FRAMES]     TANDEM: the program, in its unpacked bundle or in build/; OUT: a folder for results
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/measure_modes.sh TANDEM OUT [FRAMES]" >&2; exit 2; }
tandem=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
frames=${3:-8}
assets=$(cd "$(dirname "$0")/.." && pwd)/assets
[ -d "$assets" ] || assets=$(dirname "$tandem")/assets

"$tandem" devices --json > "$out/devices.json"
gpus=$(python3 -c '
import json, sys
print(sum(a["usable"] and a["type"] != "cpu" for a in json.load(open(sys.argv[1]))["adapters"]))' "$out/devices.json")
dual=()
[ "$gpus" -ge 2 ] || dual=(--simulate-dual)

run() {   # run NAME SCENE OPTIONS...
  local name=$1 scene=$2
  shift 2
  mkdir -p "$out/pictures"
  "$tandem" capture "$scene" -o "$out/pictures/$name.####.png" --frames "1-$frames" --size 4k --overwrite --json "$out/$name.json" "$@" > "$out/$name.txt"
}

for scene in courtyard terrain; do
  case $scene in
    courtyard) file=$assets/scenes/courtyard.glb; settings=(--samples 4 --bounces 4) ;;
    terrain) file=builtin:terrain; settings=(--samples 1 --bounces 1) ;;
  esac
  run "$scene-single" "$file" "${settings[@]}" --mode single
  for link in host-import host-copy; do
    run "$scene-pipelined-$link" "$file" "${settings[@]}" --mode pipelined "${dual[@]}" --link "$link"
  done
done

python3 - "$out" <<'TABLE'
import glob, json, os, sys
out = sys.argv[1]
for scene in ("courtyard", "terrain"):
    runs = {os.path.basename(p)[:-5]: json.load(open(p)) for p in sorted(glob.glob(f"{out}/{scene}-*.json"))}
    hashes = {name: [frame["hash"] for frame in run["frames"]] for name, run in runs.items()}
    for name, run in sorted(runs.items(), key=lambda item: item[0].count("pipelined")):
        same = hashes[name] == hashes[f"{scene}-single"]
        print(f"{name}: mode {run['mode']}, {len(run['frames'])} frames, pixels {'equal to' if same else 'DIFFER from'} single")
        for node in run["nodes"]:
            print(f"  node {node['node']}: {node['adapter']}, {node['driver']}, traces {node['rows']} rows by {node['tracer']}")
        for item in run["passes"]:
            print(f"  node {item['node']}  {item['name']:<20} {item['ms']:9.3f} ms")
        for link in run["links"]:
            print(f"  link {link['from']} -> {link['to']}: {link['kind']}, {link['plannedBytesPerFrame']} B a frame, {link['gbps']:.1f} GB/s "
                  f"(send {link['sendMs'] / link['transfers']:.2f} + host {link['hostMs'] / link['transfers']:.2f} "
                  f"+ receive {link['receiveMs'] / link['transfers']:.2f} ms)")
TABLE
