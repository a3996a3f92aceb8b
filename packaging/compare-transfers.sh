#!/usr/bin/env bash
# packaging/compare-transfers.sh [ROUNDS [CROC]]
#
# Compares transfers from a machine through a gateway to another machine, over loopback and TLS, with three
# references: a bare relay over two TCP hops that writes and syncs the file, scp over two hops, and croc through
# its own relay. They take turns in one run.
#
# The data is one file of 1 GiB (SIZE, in MiB), for croc with and without its compression, and 10,000 files of
# 4 KiB, without croc, whose version 9.6.4 aborts after some thousand files (FILES selects x.bin or many). Then it
# times tool calls during ten transfers. Gateway and machines are the built programs, each in a process of its
# own, with paired keys. The references' sshd and relay run with their own keys, ports and folders, and stop with
# the script. Run `make headless` first. Needs openssh-server; without it, and without croc (the program CROC),
# that part is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3}
croc=${2:-${CROC:-}}
size=${SIZE:-1024}
test=$(mktemp -d)
pids=()
cleanup() {
  [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$test"
}
trap cleanup EXIT
trap 'exit 1' INT TERM
mkdir "$test"/{gateway,a,b,hop,sent,config}
cp fairlead fairlead-node "$test"

port() { # prints a free port
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# The gateway and its machines.
export FAIRLEAD_SECRETS=file FAIRLEAD_HOME=$test/gateway/home FAIRLEAD_URL
local=127.0.0.1:$(port) net=127.0.0.1:$(port)
FAIRLEAD_URL=ws://$local/ws
"$test/fairlead" gateway --listen "$local" >"$test/gateway/log" 2>&1 &
pids+=($!)
ours=("$!")
until "$test/fairlead" status >/dev/null 2>&1; do sleep 0.1; done
"$test/fairlead" network on --listen "$net" >/dev/null
for m in a b; do
  (echo y | FAIRLEAD_HOME=$test/$m.home "$test/fairlead" pair --ask --gateway "$net" --id $m --workspace "$test/$m" >"$test/$m.pair" 2>&1) &
  pair=$!
  until id=$("$test/fairlead" pair list --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["questions"][0]["id"])' 2>/dev/null); do sleep 0.1; done
  "$test/fairlead" pair approve "$id" >/dev/null
  wait $pair
  FAIRLEAD_URL='' FAIRLEAD_HOME=$test/$m.home "$test/fairlead" node --workspace "$test/$m" >"$test/$m.log" 2>&1 &
  pids+=($!)
  ours+=("$!")
done
for m in a b; do until "$test/fairlead" tools call ${m}__Glob '{"pattern":"*.none"}' >/dev/null 2>&1; do sleep 0.1; done; done

# The references.
ssh=
if sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null); then
  ssh=$(port)
  mkdir -p /run/sshd "$test/ssh"
  ssh-keygen -q -t ed25519 -N '' -f "$test/ssh/host"
  ssh-keygen -q -t ed25519 -N '' -f "$test/ssh/key"
  cp "$test/ssh/key.pub" "$test/ssh/authorized"
  chmod 700 "$test" "$test/ssh"
  printf 'Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n' \
    "$ssh" "$test/ssh/host" "$test/ssh/authorized" >"$test/ssh/config"
  "$sshd" -D -f "$test/ssh/config" -E "$test/ssh/log" &
  pids+=($!)
  sshdpid=$!
  scp=(scp -q -P "$ssh" -i "$test/ssh/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile="$test/ssh/known" -o IdentitiesOnly=yes)
fi
if [ -n "$croc" ]; then
  export CROC_CONFIG_DIR=$test/config
  base=$(port)
  ports=$base,$(port),$(port),$(port),$(port)
  "$croc" --pass between-us relay --host 127.0.0.1 --ports "$ports" >"$test/relay.log" 2>&1 &
  pids+=($!)
  relaypid=$!
fi

echo "making files"
head -c "${size}M" /dev/urandom >"$test/a/x.bin"
python3 - "$test/a/many" <<'P'
import os, sys
for i in range(10000):
    d = f"{sys.argv[1]}/{i % 50:02}"
    os.makedirs(d, exist_ok=True)
    with open(f"{d}/{i:04}", "wb") as f:
        f.write(os.urandom(4096))
P
sync

fairlead() { "$test/fairlead" send --from a --conflict overwrite "$1" "b:$into" >/dev/null; }
cat >"$test/bare.py" <<'P'
import os, socket, sys

def copy(read, write):
    buf = bytearray(256 << 10)
    view = memoryview(buf)
    while n := read(buf):
        write(view[:n])

def whole(f):
    def write(part):
        while part:
            part = part[f.write(part):]
    return write

relay, sink = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
children = []
for end in ("relay", "sink"):
    child = os.fork()
    if child:
        children.append(child)
    elif end == "relay":
        source, to = relay.accept()[0], socket.create_connection(sink.getsockname())
        copy(source.recv_into, to.sendall)
        os._exit(0)
    else:
        with open(sys.argv[2], "wb", 0) as f:
            copy(sink.accept()[0].recv_into, whole(f))
            os.fsync(f.fileno())
        os._exit(0)
with open(sys.argv[1], "rb", 0) as f, socket.create_connection(relay.getsockname()) as to:
    copy(f.readinto, to.sendall)
sys.exit(any([os.waitpid(c, 0)[1] for c in children]))
P
bare() { python3 "$test/bare.py" "$test/a/$1" "$test/b/$into/$1"; }
scp_through() { "${scp[@]}" -3 -r "scp://127.0.0.1:$ssh/$test/a/$1" "scp://127.0.0.1:$ssh/$test/b/$into/"; }
scp_twice() {
  "${scp[@]}" -r "127.0.0.1:$test/a/$1" "$test/hop/$into/"
  "${scp[@]}" -r "$test/hop/$into/$1" "127.0.0.1:$test/b/$into/"
}
croc_through() { croc_relay "$1"; }
croc_plain() { croc_relay "$1" --no-compress; }
croc_relay() {
  local file=$1 code=code-$RANDOM-$RANDOM
  shift
  "$croc" --pass between-us --relay "127.0.0.1:$base" --relay6 '' "$@" --yes --ignore-stdin send --no-local --code $code "$test/a/$file" >"$test/croc.send" 2>&1 &
  local send=$!
  pids+=($send)
  until grep -q "$code" "$test/croc.send"; do sleep 0.05; done
  (cd "$test/b/$into" && "$croc" --pass between-us --relay "127.0.0.1:$base" --relay6 '' "$@" --yes --overwrite $code >"$test/croc.receive" 2>&1) || {
    tail -c 2000 "$test"/croc.send "$test"/croc.receive "$test"/relay.log >&2
    return 1
  }
  wait $send
}

ticks() { # processor ticks used by processes and their ended children
  local sum=0 p s
  for p in "$@"; do
    s=$(awk '{ sub(/.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$p/stat")
    sum=$((sum + s))
  done
  echo $sum
}

run() { # WHAT FILE PROCESS...: prints a line with seconds and processor seconds
  local what=$1 file=$2 began cpu
  shift 2
  runs=$((runs + 1))
  into=in$runs # old files are deleted at the end: ext4 creates files slowly after many were deleted
  mkdir -p "$test/b/$into" "$test/hop/$into"
  sync
  cpu=$(ticks $$ "$@")
  began=$(date +%s%N)
  $what "$file"
  local took=$(($(date +%s%N) - began))
  cpu=$(($(ticks $$ "$@") - cpu))
  if [ -d "$test/a/$file" ]; then
    diff -r "$test/a/$file" "$test/b/$into/$file"
  else
    cmp "$test/a/$file" "$test/b/$into/$file"
    rm -f "$test/b/$into/$file" "$test/hop/$into/$file"
  fi
  echo "$what $file $((took / 1000000)) $((cpu * 10))" | tee -a "$test/results"
}

runs=0
for _ in $(seq "$rounds"); do
  for file in ${FILES:-x.bin many}; do
    run fairlead $file "${ours[@]}"
    [ $file = many ] || run bare $file
    [ -z "$ssh" ] || run scp_through $file "$sshdpid"
    [ -z "$ssh" ] || run scp_twice $file "$sshdpid"
    [ -z "$croc" ] || [ $file = many ] || run croc_through $file "$relaypid"
    [ -z "$croc" ] || [ $file = many ] || run croc_plain $file "$relaypid"
  done
done

go test -c -o "$test/transfer.test" ./gateway/transfer
head -c 256M "$test/a/x.bin" >"$test/a/y.bin"
truncate -s 250M "$test/a/x.bin"
FAIRLEAD_BESIDE=$FAIRLEAD_URL FAIRLEAD_BESIDE_TOKEN=$("$test/fairlead" token) "$test/transfer.test" -test.run '^$' -test.bench CallsBesideTransfers -test.benchtime 10s -test.count "$rounds"

python3 - "$test/results" "$size" <<'P'
import collections, statistics, sys
took, cpu = collections.defaultdict(list), collections.defaultdict(list)
for line in open(sys.argv[1]):
    what, file, ms, c = line.split()
    took[file, what].append(int(ms) / 1000)
    cpu[file, what].append(int(c) / 1000)
for (file, what), t in sorted(took.items()):
    amount, unit = (int(sys.argv[2]) * 1.048576, "MB/s") if file == "x.bin" else (10000, "files/s")
    ours = took[file, "fairlead"]
    print(f"{file:6} {what:12} best {min(t):6.2f} s {amount / min(t):7.0f} {unit:8} median {statistics.median(t):6.2f} s {amount / statistics.median(t):7.0f} {unit:8}"
          f" processor {min(cpu[file, what]):5.2f} s; fairlead is {min(t) / min(ours):.2f} times as fast, of the medians {statistics.median(t) / statistics.median(ours):.2f}")
P
