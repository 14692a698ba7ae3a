#!/bin/bash
# Kills captures (SIGKILL) at random points, goes on with --resume, and counts what was lost or torn on the way. Both must be 0.
#
#   tools/kill_test.sh [KILLS] [SEED]      200 kills by default; SEED repeats the choice of points, though not the machine's timing
#
# A file is torn if it has a frame's name and other pixels than the same file of an undisturbed run; lost if it was there before a kill, or
# should be there at the end, and is not. What is left over under other names at the end counts as left over. Exit code 1 if anything counts.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$root/build/tandem
kills=${1:-200}
seed=${2:-$RANDOM}
case $kills$seed in *[!0-9]*) echo "kill_test: KILLS and SEED are whole numbers" >&2; exit 2 ;; esac
[ -x "$program" ] || { echo "kill_test: $program is not built; tools/setup.sh builds it" >&2; exit 2; }
RANDOM=$seed
frames=24
folder=$(mktemp -d)
child=
trap '[ -z "$child" ] || kill -9 "$child" 2> /dev/null || true; rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache

cp "$program" "$folder/tandem" # a build meanwhile does not matter

capture() { exec "$folder/tandem" capture builtin:spinners -q --size 32x18 --samples 1 --frames 1-$frames "$@"; }
into() { echo -o "$1/a.####.exr" -o "$1/a.####.png"; }

# sums FOLDER: "SUM NAME" of each frame's file, by name; EXR files without the time of day in their headers.
sums() {
  local file
  for file in "$1"/*.exr "$1"/*.png; do
    [ -f "$file" ] || continue
    echo "$(LC_ALL=C sed -E 's/[0-9]{4}(:[0-9]{2}){2} ([0-9]{2}:){2}[0-9]{2}/then/' "$file" | sha256sum | cut -c 1-32) ${file##*/}"
  done | sort -k 2
}

# shellcheck disable=SC2046 # words
(capture $(into "$folder/whole"))
sums "$folder/whole" > "$folder/whole.sums"
total=$(wc -l < "$folder/whole.sums")
[ "$total" -eq $((2 * frames)) ] || { echo "kill_test: the undisturbed run has $total files, not $((2 * frames))" >&2; exit 1; }

torn=0 lost=0 left=0 failed=0 done_kills=0 early=0 ended=0 sequences=0
shot=$folder/shot
: > "$folder/before.sums"
while [ "$done_kills" -lt "$kills" ]; do
  # shellcheck disable=SC2046
  (capture $(into "$shot") --resume) &
  child=$!
  if [ $((RANDOM % 4)) -eq 0 ]; then
    sleep "0.$(printf %03d $((RANDOM % 600)))" # while it loads, more often than not
    early=$((early + 1))
  else
    wanted=$((1 + RANDOM % total))
    while [ -n "$(jobs -rp)" ] && [ "$(find "$shot" -name 'a.*.???' 2> /dev/null | wc -l)" -lt "$wanted" ]; do :; done
    sleep "0.0$(printf %02d $((RANDOM % 20)))"
  fi
  kill -9 "$child" 2> /dev/null || true
  code=0
  wait "$child" 2> /dev/null || code=$?
  child=
  done_kills=$((done_kills + 1))
  case $code in 137) ;; 0) ended=$((ended + 1)) ;; *) failed=$((failed + 1)) ;; esac

  sums "$shot" > "$folder/after.sums"
  torn=$((torn + $(comm -13 <(sort "$folder/whole.sums") <(sort "$folder/after.sums") | wc -l)))
  lost=$((lost + $(comm -23 <(cut -d ' ' -f 2 "$folder/before.sums") <(cut -d ' ' -f 2 "$folder/after.sums") | wc -l)))
  cp "$folder/after.sums" "$folder/before.sums"
  if [ $((RANDOM % 3)) -ne 0 ] || [ "$done_kills" -ge "$kills" ]; then
    # shellcheck disable=SC2046
    (capture $(into "$shot") --resume) || failed=$((failed + 1))
    sums "$shot" > "$folder/end.sums"
    torn=$((torn + $(comm -13 <(sort "$folder/whole.sums") <(sort "$folder/end.sums") | wc -l)))
    lost=$((lost + $(comm -23 <(cut -d ' ' -f 2 "$folder/whole.sums") <(cut -d ' ' -f 2 "$folder/end.sums") | wc -l)))
    left=$((left + $(find "$shot" -type f ! -name '*.exr' ! -name '*.png' ! -name '.a.#.*.tandem.jsonl' | wc -l)))
    sequences=$((sequences + 1))
    rm -rf "$shot"
    : > "$folder/before.sums"
  fi
done

echo "$done_kills kills ($early at a random time, the others at a random number of files; $ended runs had ended by then)," \
  "$sequences sequences of $total files, seed $seed: $lost lost, $torn torn, $left left over, $failed runs failed"
[ $((lost + torn + left + failed)) -eq 0 ]
