package pairing

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// slow is a store whose writes block until they are released.
type slow struct {
	*memoryStore
	mu      sync.Mutex
	writing chan struct{}
	let     chan struct{}
}

func (s *slow) Put(ctx context.Context, d store.PairedDevice, lines ...protocol.AuditEntry) error {
	s.writing <- struct{}{}
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memoryStore.Put(ctx, d, lines...)
}

// waiting returns a manager with a phone that waits for confirmation.
func waiting(t *testing.T) (*Manager, *slow, chan outcome, protocol.Question) {
	t.Helper()
	m := open(t, &memoryStore{})
	s := &slow{memoryStore: m.devices.store.(*memoryStore), writing: make(chan struct{}), let: make(chan struct{})}
	m.devices.store = s
	out, _ := startPairing(t, m, phone(identity.NewKey()))
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Millisecond) {
		if open := pendingRequests(t, m); len(open) == 1 {
			return m, s, out, open[0]
		}
		if time.Now().After(end) {
			t.Fatal("the phone does not wait")
		}
	}
}

func TestConcurrentApprovalsCountOnce(t *testing.T) {
	m, s, out, q := waiting(t)
	var yes, no atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch err := answer(m, q, protocol.DecisionAllow); {
			case err == nil:
				yes.Add(1)
			case errors.Is(err, protocol.ErrNotFound):
				no.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if err := answer(m, q, protocol.DecisionDeny); err == nil {
			no.Add(1)
		}
	})
	go func() {
		for range s.writing {
			s.let <- struct{}{}
		}
	}()
	wg.Wait()
	close(s.writing)
	end := <-out
	paired := len(s.devices)
	if yes.Load() > 1 || int(yes.Load()) != paired || (end.err == nil) != (paired == 1) || yes.Load()+no.Load() < 20 {
		t.Errorf("got %d allowed, %d late, %d devices, the phone's error %v, want one winner", yes.Load(), no.Load(), paired, end.err)
	}
}

func TestReadersDoNotWaitForTheDisk(t *testing.T) {
	m, s, out, q := waiting(t)
	done := make(chan error, 1)
	go func() {
		done <- answer(m, q, protocol.DecisionAllow)
	}()
	<-s.writing
	if l, err := m.List(t.Context()); err != nil || len(l.Devices) != 0 || len(pendingRequests(t, m)) != 1 {
		t.Errorf("during the write: got %+v, error %v, want no device, and the question", l, err)
	}
	if _, err := m.Authenticate(t.Context(), &protocol.Auth{Token: "x", Device: &protocol.DeviceProof{ID: "nobody"}}, protocol.RoleNode, nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("got %v; want the error protocol.ErrUnauthorized", err)
	}
	if _, err := m.Invite(t.Context(), "owner x", protocol.DeviceInviteParams{}); err != nil {
		t.Error(err)
	}
	s.let <- struct{}{}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if end := <-out; end.err != nil {
		t.Error(end.err)
	}
}
