#!/usr/bin/env bash
# packaging/measure.sh
#
# Measures what a Go benchmark cannot, in one run inside a desktop session: the time from start to the first
# window; memory and idle processor time of the desktop program, of an empty window of the same toolkit, and of
# the gateway with a node; and frame times while scrolling through a chat of 20,000 messages. Run
# `make app headless` first. With "frames" it measures frames only.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${FAIRLEAD_IN_BUS:-}" ]; then
  mkdir -p build
  go build -trimpath -tags migrated_fynedo,no_animations,desktop -ldflags "-s -w" -o build/empty ./app/desktoptest/empty
  go build -trimpath -tags migrated_fynedo,no_animations,desktop -ldflags "-s -w" -o build/frames ./app/desktoptest/frames
  exec packaging/desktop-session.sh --panel -- "$0" "$@"
fi
if [ "${1:-}" = frames ]; then exec build/frames; fi
home=$(mktemp -d)
export FAIRLEAD_HOME=$home FAIRLEAD_SECRETS=file
trap 'rm -rf "$home"' EXIT

rest() { # PID NAME: prints memory and processor time over 30 idle seconds
  sleep 18 # until the start has finished and freed memory was returned
  local before after private
  before=$(awk '{print $14+$15}' "/proc/$1/stat")
  sleep 30
  after=$(awk '{print $14+$15}' "/proc/$1/stat")
  private=$(awk '/^Private_/ {sum += $2} END {print sum}' "/proc/$1/smaps_rollup")
  awk -v name="$2" -v ticks=$((after - before)) -v private="$private" '/VmRSS/ {rss=$2}
    END {printf "%-28s %6.1f MB private, %6.1f MB resident, %.2f %% of a core at rest\n", name, private/1024, rss/1024, ticks/30}' "/proc/$1/status"
}

window() { # NAME PATTERN COMMAND...: starts a program and waits for its window
  local name=$1 pattern=$2 began now
  shift 2
  began=$(date +%s%N)
  "$@" >/dev/null 2>&1 &
  pid=$!
  until xdotool search --onlyvisible --name "$pattern" >/dev/null 2>&1; do sleep 0.01; done
  now=$(date +%s%N)
  printf '%-28s %6d ms to its window\n' "$name" $(((now - began) / 1000000))
}

window "empty window" '^Empty$' build/empty
rest "$pid" "empty window"
kill "$pid"; wait "$pid" 2>/dev/null || true
window "desktop program, first" '^Fairlead$' ./fairlead-desktop --listen 127.0.0.1:18788
kill "$pid"; wait "$pid" 2>/dev/null || true
window "desktop program, warm" '^Fairlead$' ./fairlead-desktop --listen 127.0.0.1:18788
rest "$pid" "desktop program"
xdotool search --onlyvisible --name '^Fairlead$' windowfocus --sync key alt+F4
rest "$pid" "desktop program, in the tray"
kill "$pid"; wait "$pid" 2>/dev/null || true
./fairlead gateway --node --listen 127.0.0.1:18789 >/dev/null 2>&1 &
pid=$!
rest "$pid" "fairlead gateway --node"
kill "$pid"; wait "$pid" 2>/dev/null || true
build/frames
