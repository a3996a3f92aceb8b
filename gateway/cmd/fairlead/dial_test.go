package main

import (
	"testing"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// A file offered to one gateway must not be readable by another: for the same address and token,
// the name must be the same at every start, including the desktop's.
func TestGatewayNamesForFilesAreStableAndDistinct(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "")
	home := t.TempDir()
	pin := identity.Pin("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	for _, role := range []string{protocol.RoleNode, protocol.RoleClient} {
		if _, err := identity.OpenPeers(home, keychain.Open(home)).Put(identity.Pairing{Device: protocol.Device{ID: "d", Role: role}, Token: "x", Gateway: identity.Gateway{Name: "cellar", Pin: pin}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ url, tokenFile, env, want string }{
		{"ws://127.0.0.1:8787/ws", "", "", ""},
		{"ws://localhost:9999/ws", "", "", ""},
		{"ws://[::1]:8787/ws", "", "", ""},
		// such as a tunnel to it
		{"ws://127.0.0.1:8787/ws", "another's", "", "ws://127.0.0.1:8787/ws"},
		{"ws://127.0.0.1:8787/ws", "", "another's", "ws://127.0.0.1:8787/ws"},
		{"wss://attic.example/ws", "", "", "wss://attic.example/ws"},
		{"ws://127.0.0.1.example/ws", "", "", "ws://127.0.0.1.example/ws"},
		{"Cellar", "", "", string(pin)},
	} {
		t.Setenv("FAIRLEAD_TOKEN", c.env)
		o := options{url: c.url, tokenFile: c.tokenFile}
		if got, err := o.gatewayKey(home); err != nil || got != c.want {
			t.Errorf("%+v is %q, %v; want no error and %v", c, got, err, c.want)
		}
	}
	if _, err := (&options{url: "attic"}).gatewayKey(home); err == nil {
		t.Error("a gateway that this device is not paired with has a name")
	}
}
