package identity

import (
	"fmt"
	"sync"
	"testing"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// TestConcurrentProgramsLoseNoPairing changes the file through several Peers at once, as windows,
// the node and the command line do.
func TestConcurrentProgramsLoseNoPairing(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	secrets := keychain.Open(dir)
	pin := func(i int) Pin { return Pin(fmt.Sprintf("sha256:%064x", i)) }
	const programs = 6
	first := OpenPeers(dir, secrets)
	for i := range programs {
		if _, err := first.Put(Pairing{Gateway: Gateway{Name: fmt.Sprint(i), Pin: pin(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range programs {
		wg.Go(func() {
			p := OpenPeers(dir, secrets)
			for n := range 10 {
				if err := p.AddAddresses(PeerID{Pin: pin(i)}, []string{fmt.Sprintf("10.0.0.%d:8788", n)}); err != nil {
					t.Error(err)
				}
			}
			if err := p.SetRefusal(PeerID{Pin: pin(i)}, protocol.DeviceRefused{Reason: protocol.RefusedRotated}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := first.List()
	if err != nil || len(list) != programs {
		t.Fatalf("got %d pairings, %v; want no error and length %v", len(list), err, programs)
	}
	for _, p := range list {
		if p.Refusal == nil || p.Addresses[0] != "10.0.0.9:8788" {
			t.Errorf("a change was lost: %+v", p)
		}
	}
}
