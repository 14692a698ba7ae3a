#!/bin/bash
# Builds the portable bundle dist/tandem-linux-x86_64.tar.gz: the program, its assets, and the shared libraries that a bare server lacks.
# It runs after unpacking on any Linux with glibc 2.36 or later; the GPU's own driver comes from the machine.
#
#   tools/package.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh" packages configure build:tandem

name=tandem-linux-$(uname -m)
stage=$root/build/bundle/$name
rm -rf "$root/build/bundle"
mkdir -p "$stage/lib" "$stage/licenses" "$root/dist"

strip -o "$stage/tandem" "$root/build/tandem"
cp -r "$root/assets" "$root/README.md" "$stage/"
rm -rf "$stage/assets/pictures" "$stage/assets/bench/results"

# All but libc's family and the C++ runtime: those belong to the machine, and its driver is linked with them. The Vulkan loader is opened at
# run time and so is named here: a server often has the driver without it.
loader=$(ldconfig -p | sed -n 's/.*libvulkan\.so\.1 .*=> //p' | head -n 1)
ldd "$root/build/tandem" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' |
  grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s))\.so' | cat - <(echo "$loader") |
  while read -r library; do
    cp -L "$library" "$stage/lib/"
    package=$(dpkg-query -S "$(realpath "$library")" 2> /dev/null | head -n 1 | cut -d: -f1) || true
    [ -n "${package:-}" ] && cp "/usr/share/doc/$package/copyright" "$stage/licenses/$package.txt" 2> /dev/null || true
  done
strip --strip-unneeded "$stage"/lib/*

archive=$root/dist/$name.tar.gz
tar -C "$root/build/bundle" --sort=name --owner=0 --group=0 -cf - "$name" | gzip -9 > "$archive.part"
mv "$archive.part" "$archive"
echo "$archive: $(($(stat -c %s "$archive") / 1024)) KiB"
