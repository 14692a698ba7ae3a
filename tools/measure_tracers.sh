#!/bin/bash
# Our own traversal against the driver's ray-tracing pipelines: `tandem bench` by `--tracer compute` and `--tracer rt` on one GPU, and what
# `--tracer auto` takes. Prints one table of the trace pass in milliseconds; JSON stays in OUT, and a case that is there is not measured again.
#
#   tools/measure_tracers.sh TANDEM OUT [BENCH OPTION...]     TANDEM: the program, in its unpacked bundle or in build/; OUT: a folder for results
#
# Environment, optional: SIZE=4k SECONDS_EACH=3, and GPUS as for --gpus.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/measure_tracers.sh TANDEM OUT [BENCH OPTION...]" >&2; exit 2; }
tandem=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
assets=$(cd "$(dirname "$0")/.." && pwd)/assets
[ -d "$assets" ] || assets=$(dirname "$tandem")/assets
failed=0

measure() {   # measure NAME SCENE BOUNCES TRACER
  local file=$out/$1-$4.json
  [ -e "$file" ] && return
  # Beside its place and then moved: what is there is whole.
  if "$tandem" bench "$2" --modes single --size "${SIZE:-4k}" --samples 1 --bounces "$3" --repeat 2 --tracer "$4" \
      --seconds "${SECONDS_EACH:-3}" --gpus "${GPUS:-auto}" --json "$file.new" "${options[@]}" > "$out/$1-$4.txt"; then
    mv "$file.new" "$file"
  else
    echo "$1 by $4 was not measured" >&2
    rm -f "$file.new"
    failed=1
  fi
}

options=("$@")
for tracer in compute rt auto; do
  measure terrain-b0 builtin:terrain 0 "$tracer"
  measure terrain-b1 builtin:terrain 1 "$tracer"
  measure courtyard-b2 "$assets/scenes/courtyard.glb" 2 "$tracer"
  measure skinned-b1 builtin:skinned 1 "$tracer"
done

python3 - "$out" <<'TABLE'
import json, pathlib, sys

def trace(path):
    """Milliseconds of the trace pass and who traced; nothing where the case was not measured."""
    if not path.exists():
        return None, None
    mode = json.loads(path.read_text())["scenes"][0]["modes"][0]
    ms = [row["ms"] for row in mode["summary"]["passes"] if row["name"] == "path_trace"]
    return ms[0], mode["nodes"][0]["tracer"]

out = pathlib.Path(sys.argv[1])
print(f"{'scene':<16}{'compute ms':>12}{'rt ms':>10}{'compute / rt':>14}   auto takes")
for name in ("terrain-b0", "terrain-b1", "courtyard-b2", "skinned-b1"):
    compute, _ = trace(out / f"{name}-compute.json")
    rt, _ = trace(out / f"{name}-rt.json")
    _, auto = trace(out / f"{name}-auto.json")
    shown = lambda value, digits: "N/A" if value is None else f"{value:.{digits}f}"
    ratio = compute / rt if compute and rt else None
    print(f"{name:<16}{shown(compute, 2):>12}{shown(rt, 2):>10}{shown(ratio, 3):>14}   {auto or 'N/A'}")
TABLE
exit $failed
