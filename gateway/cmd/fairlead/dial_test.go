package main

import (
	"testing"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

// What was named to one gateway is not another's to read: by the same address and token it must be the same name at every start, the desktop's too.
func TestGatewaysAreToldApartInWhatIsNamedToThem(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "")
	home := t.TempDir()
	pin := trust.Pin("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	for _, role := range []string{protocol.RoleNode, protocol.RoleClient} {
		if _, err := trust.OpenPeers(home, keychain.Open(home)).Put(trust.Done{Device: protocol.Device{ID: "d", Role: role}, Token: "x", Gateway: trust.Gateway{Name: "cellar", Pin: pin}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ url, token, env, want string }{
		{"ws://127.0.0.1:8787/ws", "", "", ""},
		{"ws://localhost:9999/ws", "", "", ""},
		{"ws://[::1]:8787/ws", "", "", ""},
		{"ws://127.0.0.1:8787/ws", "another's", "", "ws://127.0.0.1:8787/ws"}, // a tunnel to it, say
		{"ws://127.0.0.1:8787/ws", "", "another's", "ws://127.0.0.1:8787/ws"},
		{"wss://attic.example/ws", "", "", "wss://attic.example/ws"},
		{"ws://127.0.0.1.example/ws", "", "", "ws://127.0.0.1.example/ws"},
		{"Cellar", "", "", string(pin)},
	} {
		t.Setenv("FAIRLEAD_TOKEN", c.env)
		o := options{url: c.url, token: c.token}
		if got, err := o.named(home); err != nil || got != c.want {
			t.Errorf("%+v is %q, %v", c, got, err)
		}
	}
	if _, err := (&options{url: "attic"}).named(home); err == nil {
		t.Error("a gateway that this device is not paired with has a name")
	}
}
