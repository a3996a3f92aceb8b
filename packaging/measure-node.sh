#!/usr/bin/env bash
# packaging/measure-node.sh [SECONDS]
#
# Measures an idle fairlead-node that is connected to a gateway on this machine: memory, thread wake-ups and
# processor time during SECONDS (60); first after the start, then after a command, whose helper process stays.
# Each keep-alive message of the connection, one each way in 20 seconds, counts as several wake-ups, because Go's
# threads look for work for 10 ms afterwards. Run `make headless` first.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
work=$(mktemp -d)
export FAIRLEAD_HOME=$work/gateway FAIRLEAD_SECRETS=file FAIRLEAD_URL=ws://127.0.0.1:18791/ws
mkdir -p "$work/gateway" "$work/node" "$work/ws"
gateway='' node=''
trap 'kill $node $gateway 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

./fairlead gateway --listen 127.0.0.1:18791 >"$work/gateway.log" 2>&1 &
gateway=$!
for _ in $(seq 600); do ./fairlead status >/dev/null 2>&1 && break; sleep 0.1; done
FAIRLEAD_TOKEN=$(./fairlead token) FAIRLEAD_HOME=$work/node ./fairlead-node --id measured --workspace "$work/ws" >"$work/node.log" 2>&1 &
node=$!
for _ in $(seq 600); do grep -qs Connected "$work/node.log" && break; sleep 0.1; done
grep -q Connected "$work/node.log" || { cat "$work/node.log" >&2; exit 1; }

switches() { cat /proc/"$1"/task/*/status | awk '/_ctxt_switches/ {n += $2} END {print n}'; }
ticks() { awk '{print $14+$15}' "/proc/$1/stat"; }

rest() { # PID NAME
  local woke=$(switches "$1") took=$(ticks "$1")
  sleep "$seconds"
  woke=$(($(switches "$1") - woke)) took=$(($(ticks "$1") - took))
  local private=$(awk '/^Private_/ {sum += $2} END {print sum}' "/proc/$1/smaps_rollup")
  awk -v name="$2" -v woke="$woke" -v took="$took" -v s="$seconds" -v private="$private" '/VmRSS/ {rss=$2} /Threads/ {threads=$2}
    END {printf "%-28s %5.1f MB private, %5.1f MB resident, %d threads, %d wake-ups and %d ms of a core in %d s\n",
      name, private/1024, rss/1024, threads, woke, took*10, s}' "/proc/$1/status"
}

sleep 5
rest "$node" "node, just started"
./fairlead tools call measured__Bash '{"command":"true"}' >/dev/null
sleep 5
rest "$node" "node, after a command"
for helper in $(pgrep -P "$node"); do rest "$helper" "its helper"; done
