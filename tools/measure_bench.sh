#!/bin/bash
# How far `tandem bench` can be trusted on this machine: the quick suite twice (do two runs agree?), with and without watching the GPUs (what
# does that cost?), and with faults planted on purpose (are they found and named?). Prints what was said; JSON and pages stay in OUT.
# With one GPU it is opened twice.
#
#   tools/measure_bench.sh TANDEM OUT [BENCH OPTION...]     TANDEM: the program, in its unpacked bundle or in build/; OUT: a folder for results
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: tools/measure_bench.sh TANDEM OUT [BENCH OPTION...]" >&2; exit 2; }
tandem=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2

gpus=$("$tandem" devices --json | python3 -c '
import json, sys
print(sum(a["usable"] and a["type"] != "cpu" for a in json.load(sys.stdin)["adapters"]))')
dual=()
[ "$gpus" -ge 2 ] || dual=(--simulate-dual)

bench() {   # bench NAME OPTIONS...: goes on after a failure, so that the rest is measured
  local name=$1 begin=$SECONDS rc=0
  shift
  "$tandem" bench "${dual[@]}" "$@" --json "$out/$name.json" --html "$out/$name.html" > "$out/$name.txt" 2> "$out/$name.err" || rc=$?
  echo "== $name: exit code $rc, $((SECONDS - begin)) s"
}
said() { grep -E "$1" "$out/$2.txt" || true; }
compare() { "$tandem" bench --compare "$out/$1.json" "$out/$2.json" || true; }

bench quick-1 --suite quick "$@"
cat "$out/quick-1.txt"
bench quick-2 --suite quick "$@"
compare quick-1 quick-2

one=(builtin:terrain --samples 1 --bounces 1 --modes single --frames 200 --repeat 5)
bench watched "${one[@]}" "$@"
bench unwatched "${one[@]}" --sampling off "$@"
compare unwatched watched

# 5 % of what the pass took.
slower=$(python3 -c '
import json, sys
passes = json.load(open(sys.argv[1]))["scenes"][0]["modes"][0]["summary"]["passes"]
print("%.4f" % (0.05 * next(p["ms"] for p in passes if p["name"] == "path_trace")))' "$out/watched.json")
bench slow-pass "${one[@]}" --slow-pass "path_trace=$slower" "$@"
compare watched slow-pass

two=(builtin:terrain --samples 1 --bounces 1 --frames 60 --repeat 3)
bench slow-link "${two[@]}" --modes single,pipelined --link-gbps 3.2 "$@"
said "pipelined" slow-link
bench few-rows "${two[@]}" --modes single,sfr --rows-share 75,25 "$@"
said "sfr" few-rows
