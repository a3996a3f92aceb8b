//go:build unix

package servers_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestServerNetworkFollowsTheSetting lets a server dial an address of this machine.
func TestServerNetworkFollowsTheSetting(t *testing.T) {
	h := startGateway(t)
	if e := ask(h, protocol.NodesList, protocol.Empty{}).Nodes[0].Host.Enforcement; e == nil || e.Network != "blocked" {
		t.Skip("this system cannot keep commands off the network")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for network, reaches := range map[string]bool{"": true, protocol.ServerNetworkYes: true, protocol.ServerNetworkNo: false} {
		h.add("srv", protocol.ServerSpec{Command: exe, Args: []string{"-test.run=^$"}, Env: map[string]string{asServer: h.work}, Network: network})
		got := h.invoke("srv__dial", `{"text": `+jsonString(l.Addr().String())+`}`)
		if (got == "reached") != reaches {
			t.Errorf("network %q: got %q, reached %v wanted", network, got, reaches)
		}
		ask(h, protocol.ServerRemove, protocol.ServerParams{Name: "srv"})
	}
}

// TestAPackageIsFetchedWithTheNetworkAlone uses a program called npx that says what it is called
// with, and whether it reaches an address.
func TestAPackageIsFetchedWithTheNetworkAlone(t *testing.T) {
	h := startGateway(t)
	npx := h.work + "/npx"
	script := "#!/bin/sh\necho \"npx $*\" >&2\nexit 3\n"
	if err := os.WriteFile(npx, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: "srv", Spec: protocol.ServerSpec{Command: npx, Args: []string{"-y", "pkg"}, Network: protocol.ServerNetworkFetch}})
	h.untilState("srv", protocol.ServerFailed)
	log := h.log("srv")
	for _, want := range []string{"npx -y --ignore-scripts -y --package=pkg -- node -e 0", "could not be fetched", "npx --offline -y pkg"} {
		if !strings.Contains(log, want) {
			t.Errorf("got the log:\n%s\nwant %q in it", log, want)
		}
	}
}
