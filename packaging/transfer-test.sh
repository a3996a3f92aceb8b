#!/bin/sh
# Tests transfers under failures: a gateway and two machines run in separate network namespaces. Their links
# have a delay and are cut at random, while each of the three processes is killed with signal 9 again and again.
# Then it transfers 100,000 small files and a sparse file of 20 GiB. Needs root and ip. Where the kernel has
# netem, packets are delayed and lost; everywhere, a relay of the test delays, throttles and pauses the machines'
# traffic and closes connections.
#
# usage: packaging/transfer-test.sh [TRANSFERS]
# FAIRLEAD_KILLS=often kills as often on a busy machine as on an idle one. The sparse file needs disk space for
# its data only, a few MiB.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-200}
id=fl$$
test=$(mktemp -d)
wires=
cleanup() {
	[ -z "$wires" ] || kill "$wires" 2>/dev/null || true
	for n in g a b; do ip netns delete $id$n 2>/dev/null || true; done
	ip link delete $id 2>/dev/null || true
	rm -rf "$test"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

go test -c -o "$test/transfer.test" ./gateway/transfer
go test -c -o "$test/stream.test" ./gateway/peer/stream
ip link add $id type bridge
ip link set $id up
ip address add 10.77.0.254/24 dev $id
i=1
netem=yes
for n in g a b; do
	ip netns add $id$n
	ip link add $id$n type veth peer name eth0 netns $id$n
	ip link set $id$n master $id up
	ip -n $id$n address add 10.77.0.$i/24 dev eth0
	ip -n $id$n link set eth0 up
	ip -n $id$n link set lo up
	tc -n $id$n qdisc add dev eth0 root netem delay 10ms 2ms loss 0.5% 2>/dev/null || netem=no
	i=$((i + 1))
done
echo "netem: $netem"
# Cuts a link for a while now and then.
(
	while sleep 2; do
		for n in a b g; do
			ip link set $id$n down 2>/dev/null || exit 0
			sleep 1
			ip link set $id$n up 2>/dev/null || exit 0
			sleep 5
		done
	done
) &
wires=$!

cd gateway/transfer
FAIRLEAD_ROUNDS=$rounds FAIRLEAD_NETNS=${id}g,${id}a,${id}b,10.77.0.1:8787,10.77.0.254 "$test/transfer.test" -test.v -test.timeout 4h -test.run '^TestNoKillCorruptsAFile$'
kill $wires
wires=
(cd ../peer/stream && FAIRLEAD_MANY=1 "$test/stream.test" -test.v -test.timeout 20m -test.run '^TestManySmallFiles')
FAIRLEAD_SPARSE=$((20 << 30)) "$test/transfer.test" -test.v -test.timeout 20m -test.run '^TestAnEmptyFileAndOneWithHolesArrive$'
