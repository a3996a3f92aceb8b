package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// TestProgramsOfOneFolderLoseNoPairing changes the file through several Peers at once, as windows,
// the node and the command line do.
func TestProgramsOfOneFolderLoseNoPairing(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	secrets := keychain.Open(dir)
	pin := func(i int) Pin { return Pin(fmt.Sprintf("sha256:%064x", i)) }
	const programs = 6
	first := OpenPeers(dir, secrets)
	for i := range programs {
		if _, err := first.Put(Done{Gateway: Gateway{Name: fmt.Sprint(i), Pin: pin(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range programs {
		wg.Go(func() {
			p := OpenPeers(dir, secrets)
			for n := range 10 {
				if err := p.Moved(Tie{Pin: pin(i)}, []string{fmt.Sprintf("10.0.0.%d:8788", n)}); err != nil {
					t.Error(err)
				}
			}
			if err := p.Ended(Tie{Pin: pin(i)}, protocol.DeviceRefused{Reason: protocol.RefusedRotated}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := first.List()
	if err != nil || len(list) != programs {
		t.Fatalf("%d pairings, %v", len(list), err)
	}
	for _, p := range list {
		if p.Ended == nil || p.Addresses[0] != "10.0.0.9:8788" {
			t.Errorf("a change was lost: %+v", p)
		}
	}
}

func TestALockOfADeadProgramIsTaken(t *testing.T) {
	for _, age := range []time.Duration{time.Minute, -10 * 365 * 24 * time.Hour} { // also if the clock was set back since
		takesLock(t, age)
	}
}

func takesLock(t *testing.T, age time.Duration) {
	lock := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-age)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	ran := false
	if err := alone(lock, func() error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("one of %s ago: it ran: %t, %v", age, ran, err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is still there")
	}
}
