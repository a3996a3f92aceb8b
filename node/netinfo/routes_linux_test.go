package netinfo

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"fairlead/node/tooltest"
)

// network makes interfaces and routes with ip(8), in the network name space of whoever runs it.
const network = `
ip link add d0 type veth peer name d1
ip link set d0 up
ip link set d1 up
ip addr add 192.0.2.2/24 dev d0
ip route add default via 192.0.2.1 dev d0 proto dhcp src 192.0.2.2 metric 100
ip route add 198.51.100.0/24 proto static nexthop via 192.0.2.3 dev d0 nexthop via 192.0.2.4 dev d0
ip route add 203.0.113.0/24 via inet6 fe80::1 dev d0
ip route add blackhole 10.9.0.0/16
ip route add 10.8.0.0/16 dev d0 table 99
ip -6 route add 2001:db8::/64 dev d0 proto ra metric 5
ip -6 route add default via fe80::2 dev d0 metric 6`

func TestRoutesAreThoseThatIPShows(t *testing.T) {
	if os.Getenv("FAIRLEAD_TEST_ROUTES") != "" {
		_ = json.NewEncoder(os.Stdout).Encode(tooltest.Must[Routes](newBench(t), "net_routes", tooltest.Args{}).Routes)
		return
	}
	unshare := []string{"--map-root-user", "--net"}
	if out, err := exec.Command("unshare", append(unshare, "ip", "link")...).CombinedOutput(); err != nil {
		t.Skipf("This machine has no ip, or no network name spaces: %v\n%s", err, out)
	}
	cmd := exec.Command("unshare", append(unshare, "sh", "-ec", network+"\nexec \"$0\" -test.run \"^$1$\"", os.Args[0], t.Name())...)
	cmd.Env = append(os.Environ(), "FAIRLEAD_TEST_ROUTES=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("got error %v, want none\n%s", err, out)
	}
	text, _, _ := bytes.Cut(out, []byte("\n"))
	var got []Route
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("got %s, want JSON: %v", out, err)
	}
	got = slices.DeleteFunc(got, func(r Route) bool { return strings.HasPrefix(r.Destination, "fe80:") })
	want := []Route{
		{Family: ip4, Destination: "default", Gateway: "192.0.2.1", Source: "192.0.2.2", Interface: "d0", Metric: 100, Scope: "global", Protocol: "dhcp"},
		{Family: ip4, Destination: "192.0.2.0/24", Source: "192.0.2.2", Interface: "d0", Scope: "link", Protocol: "kernel"},
		{Family: ip4, Destination: "198.51.100.0/24", Gateway: "192.0.2.3", Interface: "d0", Scope: "global", Protocol: "static"},
		{Family: ip4, Destination: "198.51.100.0/24", Gateway: "192.0.2.4", Interface: "d0", Scope: "global", Protocol: "static"},
		{Family: ip4, Destination: "203.0.113.0/24", Gateway: "fe80::1", Interface: "d0", Scope: "global", Protocol: "boot"},
		{Family: ip6, Destination: "2001:db8::/64", Interface: "d0", Metric: 5, Scope: "global", Protocol: "ra"},
		{Family: ip6, Destination: "default", Gateway: "fe80::2", Interface: "d0", Metric: 6, Scope: "global", Protocol: "boot"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
