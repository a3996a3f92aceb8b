package servicestest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// networks makes three network namespaces: that of the gateway, and that of a machine behind a
// router, which translates its addresses and lets it reach the gateway only.
func networks(t testing.TB) (gateway, machine string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	needs(t, "ip", "nft")
	id := fmt.Sprintf("fs%d", os.Getpid())
	gateway, machine = id+"g", id+"m"
	router := id + "r"
	t.Cleanup(func() {
		for _, n := range []string{gateway, router, machine} {
			exec.Command("ip", "netns", "delete", n).Run()
		}
	})
	script := strings.NewReplacer("G", gateway, "R", router, "M", machine).Replace(`
ip netns add G; ip netns add R; ip netns add M
ip link add gate netns G type veth peer name outer netns R
ip link add inner netns R type veth peer name gate netns M
for n in G R M; do ip -n $n link set lo up; done
ip -n G address add 10.78.1.1/24 dev gate; ip -n G link set gate up
ip -n R address add 10.78.1.254/24 dev outer; ip -n R link set outer up
ip -n R address add 10.78.2.254/24 dev inner; ip -n R link set inner up
ip -n M address add 10.78.2.1/24 dev gate; ip -n M link set gate up
ip -n M route add default via 10.78.2.254
ip netns exec R sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec R nft -f - <<'END'
table ip nat {
  chain post { type nat hook postrouting priority 100; oifname "outer" masquerade; }
  chain pass { type filter hook forward priority 0; policy drop; ct state established,related accept; iifname "inner" ip daddr 10.78.1.1 accept; }
}
END`)
	if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("network namespaces: %v: %s", err, out)
	}
	return gateway, machine
}

// newStackBehindNAT starts a gateway, and a machine in another network that is paired with it.
func newStackBehindNAT(t testing.TB) *stack {
	t.Helper()
	s := &stack{t: t, dir: t.TempDir(), listen: "127.0.0.1:8787"}
	s.gatewaySpace, s.machineSpace = networks(t)
	s.startGateway()
	s.run("network", "on", "--listen", "10.78.1.1:8788")
	home := filepath.Join(s.dir, "machine")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	pair := inside(s.machineSpace, filepath.Join(programs, "fairlead-node"), "--ask", "--only-pair", "--gateway", "10.78.1.1:8788", "--id", "tower", "--workspace", home)
	pair.Env = append(os.Environ(), "FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME="+home)
	pair.Stdin = strings.NewReader("y\n")
	var out strings.Builder
	pair.Stdout, pair.Stderr = &out, &out
	if err := pair.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			t.Logf("pairing: %s", out.String())
		}
	}()
	var open []struct{ ID string }
	until(t, "the machine asks to be paired", func() bool {
		return json.Unmarshal([]byte(s.run("questions", "--json")), &open) == nil && len(open) > 0
	})
	s.run("questions", "allow", open[0].ID)
	if err := pair.Wait(); err != nil {
		t.Fatalf("pair: %v: %s", err, out.String())
	}
	s.startMachine()
	return s
}

func TestMachineBehindNATIsReachedAlsoAfterKills(t *testing.T) {
	t.Parallel()
	s := newStackBehindNAT(t)
	b := newBrowser(t, s.gatewaySpace)
	if err := inside(s.gatewaySpace, "ping", "-c", "1", "-W", "1", "10.78.2.1").Run(); err == nil {
		t.Fatal("the gateway reaches the machine's network, want no way to it")
	}
	app := newLiveReloadIn(t, s.machineSpace, "Workshop")
	v := s.publish("Workshop", app.address, nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	_, local := s.forward(app.address)
	works := func(after string) {
		t.Helper()
		owner.open(v.URL)
		owner.sees("Workshop")
		owner.waits("window.events && events.readyState == 1")
		until(t, "the forward works after "+after, func() bool {
			out, _ := inside(s.gatewaySpace, "curl", "-s", "--max-time", "20", "http://"+local).Output()
			return strings.Contains(string(out), "Workshop")
		})
	}
	works("the start")
	for range 2 {
		s.gateway.kill()
		s.startGateway()
		s.untilOnline(true)
		works("the kill of the gateway")
		s.machine.kill()
		s.startMachine()
		works("the kill of the machine")
	}
}
