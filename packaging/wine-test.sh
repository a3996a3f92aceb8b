#!/usr/bin/env bash
# packaging/wine-test.sh
#
# Runs the Windows code of the node's tools under Wine: commands (shells, pseudo console, job object, restricted
# token, ending process trees), files (Read, Write, Edit, Glob, Grep, fs_*), the network, watching folders, and the
# access of others to a protected process. Needs Debian's wine and mingw binutils, which packaging/deps.sh installs.
# Where they are unavailable it says so and exits successfully: the code is only compiled then. A failed test is a
# failure.
#
# Wine is not Windows: it has no PowerShell (only a stub), so cmd.exe runs the commands, and it does not follow
# symbolic links that Windows programs create. Tests that compare or repeat for a long time run on the other
# systems only, so that everything takes less than a minute on an idle machine; the timeouts are for hanging tests.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8 # without it, Wine cannot make files whose names are not ASCII

if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ] || ! packaging/deps.sh wine; then
  echo "NOTE: Wine cannot be had here; the Windows code is compiled and not run"
  exit 0
fi

# run runs a Windows program and its children with a timeout in seconds, and without a growing heap (brk). Wine 8
# is linked at an address below 0x7ffe0000, where each of its processes must map a page that Windows programs
# read, and Linux 6.18 places the heap anywhere in the GiB above the program. Once in some thousand starts the heap
# covers that page, and CreateProcess fails with "Internal error". With a soft limit of 0 brk fails, and malloc
# uses mmap instead, which is not limited.
run() (
  ulimit -S -d 0
  exec timeout "$@"
)

export WINEPREFIX=${FAIRLEAD_WINE_PREFIX:-${XDG_CACHE_HOME:-$HOME/.cache}/fairlead/wine} WINEDEBUG=-all DISPLAY= WAYLAND_DISPLAY=
mkdir -p "$WINEPREFIX"
# Another run in the same folder would end together with this one.
[ -n "${FAIRLEAD_WINE_LOCKED:-}" ] || FAIRLEAD_WINE_LOCKED=1 exec flock -o "$WINEPREFIX.lock" packaging/wine-test.sh "$@"
work=$(mktemp -d)
trap 'timeout 20 wineserver -k 2>/dev/null || true; rm -rf "$work"' EXIT
[ -f "$WINEPREFIX/system.reg" ] || run 600 wine wineboot -i >/dev/null 2>&1 || { echo "Wine cannot make its folder $WINEPREFIX" >&2; exit 1; }

# Go programs need ProcessPrng, which exists since Wine 9. An older Windows function does the same.
prng=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
if [ ! -f "$prng" ]; then
  printf 'LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng=advapi32.SystemFunction036\n' >"$work/prng.def"
  x86_64-w64-mingw32-dlltool -d "$work/prng.def" -e "$work/prng.o"
  x86_64-w64-mingw32-ld -shared --entry 0 -o "$prng" "$work/prng.o"
fi

for name in shell file search; do
  GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/$name.exe" "./node/$name"
  cd "node/$name"
  run 900 wine "$work/$name.exe" -test.timeout 850s -test.run '^Test(Windows|Read|Write|Edit|Glob|Grep)' \
    -test.skip 'Agree|FollowsLinks|NewestOfTooMany|OfAChangingFile|EachLineOfALargeFile' "$@"
  cd ../..
done
# Wine 8 can neither remove a file by the handle of its folder, as os.Root does, nor an open one; it does not follow links,
# and lists a folder of 1,000 files in 40 seconds.
for name in fs netinfo; do
  GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/$name.exe" "./node/$name"
  cd "node/$name"
  run 900 wine "$work/$name.exe" -test.timeout 850s \
    -test.skip 'Link|Trash|Outside|LeavesTheOldFile|LeaveTheOldFile|OpenFiles|DefaultLimit|OnlyTheShownContent|CollectedInTheWorkspace|CollectedBytes' "$@"
  cd ../..
done
for name in workspace workspace/watch; do
  GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/test.exe" "./node/$name"
  cd "node/$name"
  run 900 wine "$work/test.exe" -test.timeout 850s -test.run 'Windows|AClosedWatcher' "$@"
  cd - >/dev/null
done
GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/secret.exe" ./gateway/peer/keychain
run 900 wine "$work/secret.exe" -test.timeout 850s -test.run 'Protected' "$@"
GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/notify.exe" ./app/notify
run 900 wine "$work/notify.exe" -test.timeout 850s "$@"
GOOS=windows GOARCH=amd64 CGO_ENABLED=0 ${GO:-go} test -c -trimpath -o "$work/launch.exe" ./app/launch
run 900 wine "$work/launch.exe" -test.timeout 850s "$@"
