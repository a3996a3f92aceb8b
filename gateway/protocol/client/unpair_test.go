package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// A running node must not reconnect to a gateway whose pairing its owner has ended, even while the
// gateway cannot be notified.
func TestNodeDoesNotReconnectAfterItsPairingEnded(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	peers, id := identity.OpenPeers(dir, keychain.Open(dir)), identity.NewKey()
	pin := identity.Pin("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	pairing := identity.PeerID{Pin: pin, Role: protocol.RoleNode}
	if _, err := peers.Put(identity.Pairing{Device: protocol.Device{ID: id.ID(), Role: protocol.RoleNode}, Token: "fd_x", Gateway: identity.Gateway{Name: "tower", Pin: pin, Addresses: []string{porttest.Free(t)}}}); err != nil {
		t.Fatal(err)
	}
	if err := client.EndPairing(t.Context(), peers, pairing, id); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("leaving a gateway that is away: %v", err)
	}
	if _, err := peers.Find("tower", ""); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a gateway that was left is offered: %v", err)
	}
	if token, err := peers.Token(pairing); err != nil || token != "none" {
		t.Errorf("the token is still there: %v", err)
	}
	run := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		return client.New(client.Through(client.Options{Connect: func() protocol.ConnectParams { return protocol.ConnectParams{} }}, peers, pairing, id, nil)).Run(ctx)
	}
	var final *client.FinalError
	if err := run(); !errors.As(err, &final) || err.Error() == "" {
		t.Errorf("it goes on after %v", err)
	}
	if list, err := peers.List(); err != nil || len(list) != 1 || list[0].EndedAt == 0 {
		t.Errorf("it was forgotten before the gateway knew: %+v, %v", list, err)
	}
	if err := client.NotifyEndedPairings(t.Context(), peers, id); !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("telling it: %v", err)
	}
	if err := peers.Forget(pairing); err != nil {
		t.Fatal(err)
	}
	if err := run(); !errors.As(err, &final) {
		t.Errorf("without the pairing it goes on after %v", err)
	}
}
