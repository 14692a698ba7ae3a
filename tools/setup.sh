#!/bin/bash
# Everything that Tandem needs before it can run, as far as it is missing: packages, graphics driver, configuration, build.
#
#   tools/setup.sh [STEP...]    steps: packages  configure  build  build:TARGET    (default: packages configure build)
#
# What is there already is left alone, so a second start takes a second or two. Messages go to stderr: stdout belongs to the
# program that run.sh starts afterwards. /etc/apt is never changed: what comes from another suite of the same archive is
# fetched through package lists of our own in build/apt.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
state=$build/.setup

# The same names on Debian 12 and 13. embree is version 3 on the one and 4 on the other; the sources take both.
packages=(g++ cmake ninja-build ccache python3 glslc
  libvulkan-dev libvulkan1 libvulkan-volk-dev vulkan-validationlayers
  libglm-dev libstb-dev libtinygltf-dev libdraco-dev libmeshoptimizer-dev libopenexr-dev libembree-dev libxxhash-dev
  libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev)

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

# as_root LINE: runs a shell line as root, or prints the line that somebody else has to run, and stops.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    sh -c "$1" >&2
  elif command -v sudo > /dev/null && { sudo -n true 2> /dev/null || [ -t 0 ]; }; then
    sudo sh -c "$1" >&2
  else
    die "this step needs root, and sudo is not here or asks for a password. Run this line as root, then start again:

$1
"
  fi
}

installed_version() { dpkg-query -W -f='${db:Status-Status} ${Version}\n' "$1" 2> /dev/null | sed -n 's/^installed //p'; }

missing_packages() {
  local name
  for name in "$@"; do
    [ -n "$(installed_version "$name")" ] || echo "$name"
  done
}

readonly apt_options='-y --no-install-recommends -o DPkg::Lock::Timeout=300'

# apt_install NAME...: from the package lists of this machine, fetched anew; a broken source of others does not stop it.
apt_install() { as_root "apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install $apt_options $*"; }

# --- Package lists of our own -------------------------------------------------------------------------------------------
# One line for each apt source of this machine that is Debian's: "FILE URI SUITE CODENAME LABEL". apt itself reads the sources.
debian_sources() {
  apt-get indextargets --format '$(SOURCESENTRY) $(REPO_URI) $(RELEASE) $(CODENAME) $(LABEL)' \
    'Identifier: Packages' 'Origin: Debian' 'Component: main' | sed -E 's/^(\S+):[0-9]+ /\1 /' | sort -u
}

# source_for FILE URI SUITE NEW: that entry of an apt source with another suite in its place; keys and options stay.
source_for() {
  local file=$1 uri=${2%/} suite=$3 new=$4
  if [[ $file == *.sources ]]; then
    awk -v uri="$uri" -v suite="$suite" -v new="$new" 'BEGIN { RS = ""; FS = "\n" }
      index($0, uri) && $0 ~ ("(^|\n)Suites:[^:]*[ \n]" suite "([ \n]|$)") {
        skip = 0
        for (i = 1; i <= NF; i++) {
          if ($i ~ /^#/ || (skip && $i ~ /^[ \t]/)) continue
          skip = $i ~ /^(Suites|Components|Types):/
          if (!skip) print $i
        }
        print "Types: deb\nSuites: " new "\nComponents: main\n"
        exit
      }' "$file"
  else
    sed -nE 's#^\s*deb\s+(\[[^]]*\]\s+)?('"$uri"'/?)\s+'"$suite"'\s.*#deb \1\2 '"$new"' main#p' "$file" | head -1
  fi
}

# add_source LIST FILE URI SUITE NEW: source_for's entry as a file of LIST's own sources.
add_source() {
  local list=$1 file=$2
  source_for "${@:2}" > "$build/apt/$list/sources/$5.${file##*.}"
}

# The options that make apt use list NAME and nothing of /etc/apt's sources and pins.
private_options() {
  local dir=$build/apt/$1
  printf '%s\n' -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$dir/sources" -o "Dir::State::Lists=$dir/lists" \
    -o "Dir::Etc::Preferences=$dir/pins" -o Dir::Etc::PreferencesParts=/dev/null -o Dir::Cache::pkgcache= \
    -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
}

# begin_list NAME: an empty private list. Sets `debian_main`: the words "FILE URI SUITE" of this machine's main archive.
begin_list() {
  local codename=$1 dir=$build/apt/$2
  if [ -z "$(debian_sources)" ]; then as_root "apt-get update"; fi
  read -r -a debian_main < <(debian_sources | awk -v name="$codename" '$4 == name && $5 == "Debian" { print $1, $2, $3 }') ||
    die "no apt source for Debian's main archive ($codename, component main) was found in /etc/apt: add one, then start again"
  rm -rf "$dir"
  mkdir -p "$dir/sources" "$dir/lists/partial"
  : > "$dir/pins"
}

update_list() {
  local options
  mapfile -t options < <(private_options "$1")
  apt-get "${options[@]}" -o APT::Update::Error-Mode=any -o Acquire::Languages=none update >&2 ||
    die "the archive ${debian_main[1]} did not answer for build/apt/$1/sources (see above): check the network or the mirror"
}

# --- Vulkan Memory Allocator: one header, from Debian 13's package, unpacked into build/deps ------------------------------
fetch_allocator() {
  local codename=$1 options name=libvulkan-memory-allocator-dev
  [ ! -e "$build/deps/usr/include/vk_mem_alloc.h" ] || return 0
  say "unpacking the header of $name (from trixie) into build/deps; the system stays as it is"
  begin_list "$codename" allocator
  add_source allocator "${debian_main[@]}" trixie
  printf '%s\n' 'Package: *' 'Pin: release n=trixie' 'Pin-Priority: -1' '' \
    "Package: $name" 'Pin: release n=trixie' 'Pin-Priority: 500' > "$build/apt/allocator/pins"
  update_list allocator
  mapfile -t options < <(private_options allocator)
  cd "$build/apt/allocator"
  apt-get "${options[@]}" download "$name" >&2
  dpkg -x "$name"_*.deb unpacked
  rm -rf "$build/deps"
  mv unpacked "$build/deps"
  cd "$root"
}

# --- Graphics driver ----------------------------------------------------------------------------------------------------
# Asks the Vulkan loader itself whether any device is not a CPU. True also for a GPU too old for Tandem: its driver works.
vulkan_sees_gpu() {
  python3 - << 'PYTHON' 2> /dev/null
import ctypes, sys
vk, count = ctypes.CDLL("libvulkan.so.1"), ctypes.c_uint32(0)
info = (ctypes.c_uint64 * 8)(1)  # VkInstanceCreateInfo: sType 1, the rest zero
instance = ctypes.c_void_p()
if vk.vkCreateInstance(info, None, ctypes.byref(instance)) != 0:
    sys.exit(1)
vk.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
devices = (ctypes.c_void_p * count.value)()
vk.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
properties = (ctypes.c_uint32 * 1024)()  # VkPhysicalDeviceProperties: word 4 is deviceType, and 4 means CPU
for device in devices:
    vk.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
    if properties[4] != 4:
        sys.exit(0)
sys.exit(1)
PYTHON
}

# Device files of a GPU that this user may not open: there may be a driver that works for others.
closed_gpu_files() {
  local file
  for file in /dev/dri/renderD* /dev/nvidiactl; do
    [ ! -e "$file" ] || { [ -r "$file" ] && [ -w "$file" ]; } || echo "$file"
  done
}

has_new_mesa() { dpkg --compare-versions "$(installed_version mesa-vulkan-drivers)" ge 25; }

mesa_from_backports() {
  local codename=$1 options file uri suite rest
  say "no usable GPU was found, and Tandem's software device needs Mesa 25: installing mesa-vulkan-drivers from $codename-backports"
  begin_list "$codename" mesa
  while read -r file uri suite rest; do
    add_source mesa "$file" "$uri" "$suite" "$suite"
  done < <(debian_sources)
  add_source mesa "${debian_main[@]}" "$codename-backports"
  update_list mesa
  mapfile -t options < <(private_options mesa)
  as_root "DEBIAN_FRONTEND=noninteractive apt-get install $apt_options $(printf '%q ' "${options[@]}")\
-t $codename-backports mesa-vulkan-drivers"
}

# Nobody's working driver is replaced: Mesa is touched only where Vulkan sees no GPU at all.
graphics_driver() {
  local codename=$1 closed
  if has_new_mesa || vulkan_sees_gpu; then return; fi
  mapfile -t closed < <(closed_gpu_files)
  if [ ${#closed[@]} -gt 0 ]; then
    say "a GPU is here, but you may not open ${closed[*]}: join its group, often render or video. The driver is left as it is"
    return
  fi
  if [ "$codename" != bookworm ] || { [ -e /dev/dri/renderD128 ] && [ -z "$(installed_version mesa-vulkan-drivers)" ]; }; then
    say "no Vulkan driver was found: installing mesa-vulkan-drivers from $codename"
    apt_install mesa-vulkan-drivers
    if has_new_mesa || vulkan_sees_gpu; then return; fi
  fi
  mesa_from_backports "$codename"
}

# What the answer about the driver depends on: while it stays the same, a start does not ask again.
graphics_key() {
  cat "${BASH_SOURCE[0]}" <(installed_version mesa-vulkan-drivers) <(ls /dev/dri /dev/nvidiactl 2> /dev/null) | sha256sum
}

# --- Steps --------------------------------------------------------------------------------------------------------------
step_packages() {
  local missing id codename
  id=$(. /etc/os-release 2> /dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || id=unknown
  case $id in
    'debian 12') codename=bookworm ;;
    'debian 13') codename=trixie packages+=(libvulkan-memory-allocator-dev) ;;
    *)
      say "this is not Debian 12 or 13 ($id), so nothing is installed. Tandem needs what these Debian packages hold, a Vulkan" \
        "1.3 driver and vk_mem_alloc.h: ${packages[*]}"
      return
      ;;
  esac
  mapfile -t missing < <(missing_packages "${packages[@]}")
  if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${#missing[@]} missing packages by apt: ${missing[*]}"
    apt_install "${missing[@]}"
  fi
  if [ $codename = bookworm ]; then fetch_allocator $codename; fi

  if [ "$(graphics_key)" != "$(cat "$state/graphics" 2> /dev/null)" ]; then
    graphics_driver $codename
    graphics_key > "$state/graphics"
  fi
}

step_configure() {
  local line=(cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release)
  if command -v ccache > /dev/null; then
    line+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  if [ -e "$build/build.ninja" ] && [ "${line[*]}" = "$(cat "$state/configure" 2> /dev/null)" ]; then return; fi
  rm -f "$state/configure"
  "${line[@]}" >&2
  echo "${line[*]}" > "$state/configure"
}

# A compiler takes up to 1 GB on the larger files, so a machine with many cores and little memory runs fewer of them.
step_build() {
  local memory_gb jobs
  memory_gb=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2> /dev/null || true)
  jobs=$(nproc)
  if [ -n "$memory_gb" ] && [ "$memory_gb" -lt "$jobs" ]; then jobs=$((memory_gb > 1 ? memory_gb : 1)); fi
  cmake --build "$build" -j "$jobs" --target "${1:-all}" >&2
}

mkdir -p "$state"
exec 9> "$state/lock"
if ! flock -n 9; then
  say "another start of these tools is setting up: waiting for it"
  flock 9
fi
[ $# -gt 0 ] || set -- packages configure build
for step in "$@"; do
  case $step in
    packages) step_packages 9>&- ;;
    configure) step_configure 9>&- ;;
    build) step_build all 9>&- ;;
    build:*) step_build "${step#build:}" 9>&- ;;
    *) die "unknown step '$step': packages, configure, build or build:TARGET" ;;
  esac
done
