package pairing

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// TestRepeatedPairingIsANewRequest: a connection of the earlier pairing must not continue with its
// permissions.
func TestRepeatedPairingIsANewRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, &memoryStore{})
		var closed []protocol.DeviceID
		m.o.Connections = closeFunc(func(id protocol.DeviceID) { closed = append(closed, id) })
		id := identity.NewKey()
		for _, scope := range []protocol.Scope{protocol.ScopeAdmin, protocol.ScopeRead} {
			invite, err := m.Invite(t.Context(), "owner window", protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{scope}})
			if err != nil {
				t.Fatal(err)
			}
			link, _ := pake.ParseLink(invite.Link)
			applicant := phone(id)
			applicant.Link = &link
			out, hangUp := startPairing(t, m, applicant)
			synctest.Wait()
			waiting := pendingRequests(t, m)
			closed = nil
			if err := answer(m, waiting[0], protocol.DecisionAllow); err != nil {
				t.Fatal(err)
			}
			if got := <-out; got.err != nil {
				t.Fatal(got.err)
			}
			hangUp()
		}
		if len(closed) != 1 || closed[0] != id.ID() {
			t.Errorf("got closed %v, want %s", closed, id.ID())
		}
	})
}

func TestAPairingForSomeDaysEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, &memoryStore{})
		id, got := pairPhone(t, m, 30)
		try := func() error {
			_, err := m.Authenticate(t.Context(), &protocol.Auth{Token: got.done.Token, Device: &protocol.DeviceProof{ID: id.ID(), Signature: id.Sign(identity.ForConnect, nil)}}, protocol.RoleClient, nil)
			return err
		}
		var closed atomic.Int32
		m.o.Connections = closeFunc(func(which protocol.DeviceID) {
			if which != id.ID() {
				t.Errorf("got %s closed, want %s", which, id.ID())
			}
			closed.Add(1)
		})
		for range 2 { // one of them closes earlier
			left, err := m.Connected(t.Context(), id.ID(), "10.0.0.7")
			if err != nil {
				t.Fatal(err)
			}
			defer left()
			if _, err := m.Connected(t.Context(), id.ID(), "10.0.0.7"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(29 * 24 * time.Hour)
		if err := try(); err != nil || closed.Load() > 0 {
			t.Errorf("on day 29: got error %v, closed %d times, want none", err, closed.Load())
		}
		synctest.Wait() // until the check of this minute has run
		l, _ := m.List(t.Context())
		ends := func(at int64) {
			if _, err := m.Update(t.Context(), "owner", protocol.DeviceUpdateParams{ID: id.ID(), ExpiresAt: &at}); err != nil {
				t.Fatal(err)
			}
		}
		ends(time.Now().UnixMilli())
		if closed.Load() != 1 {
			t.Errorf("after the end of its time: got it closed %d times, want 1", closed.Load())
		}
		ends(l.Devices[0].ExpiresAt)
		if closed.Load() != 1 {
			t.Error("it was closed when it was given more time")
		}
		closed.Store(0)
		time.Sleep(2 * 24 * time.Hour)
		if closed.Load() == 0 {
			t.Error("one that is connected stays connected")
		}
		if err := try(); !errors.Is(err, protocol.ErrUnauthorized) || !strings.Contains(string(protocol.AsError(err).Details), protocol.RefusedExpired) {
			t.Errorf("on day 31: %v", err)
		}
	})
}

// TestPairingsOfADeviceAreIndependent: fetching a token or leaving in one role does not affect the
// other.
func TestPairingsOfADeviceAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		id := identity.NewKey()
		pairAs := func(role string) identity.Pairing {
			t.Helper()
			applicant := phone(id)
			applicant.Applicant.Role = role
			if role == protocol.RoleNode {
				applicant.Applicant.NodeID = "laptop"
			}
			out, hangUp := startPairing(t, m, applicant)
			defer hangUp()
			synctest.Wait()
			waiting := pendingRequests(t, m)
			if err := answer(m, waiting[0], protocol.DecisionAllow); err != nil {
				t.Fatal(err)
			}
			return (<-out).done
		}
		enter := func(role string, d identity.Pairing) error {
			p, err := m.Authenticate(t.Context(), &protocol.Auth{Token: d.Token, Device: &protocol.DeviceProof{ID: id.ID(), Signature: id.Sign(identity.ForConnect, nil)}}, role, nil)
			if err == nil && (p.Role != role || p.Device != d.Device.ID) {
				t.Errorf("as a %s: got %+v, want the device %s", role, p, d.Device.ID)
			}
			return err
		}
		talk := func(role string, leave bool) (identity.Pairing, error) {
			out, hangUp := startPairing(t, m, pake.Device{Key: id, Renew: !leave, End: leave, Applicant: pake.Applicant{Role: role}})
			defer hangUp()
			got := <-out
			return got.done, got.err
		}
		window := pairAs(protocol.RoleClient)
		if err := enter(protocol.RoleNode, window); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("a window's pairing lets a machine in: %v", err)
		}
		machine := pairAs(protocol.RoleNode)
		m = open(t, k) // the gateway is restarted
		if err := errors.Join(enter(protocol.RoleClient, window), enter(protocol.RoleNode, machine)); err != nil {
			t.Fatal(err)
		}
		if enter(protocol.RoleClient, machine) == nil || enter(protocol.RoleNode, window) == nil {
			t.Error("the token of one is good for the other")
		}
		renewed, err := talk(protocol.RoleClient, false)
		if err != nil || renewed.Device.ID != window.Device.ID || enter(protocol.RoleClient, window) == nil {
			t.Errorf("got %+v, error %v, want the device %s with a new token", renewed, err, window.Device.ID)
		}
		if err := errors.Join(enter(protocol.RoleClient, renewed), enter(protocol.RoleNode, machine)); err != nil {
			t.Error(err)
		}
		if _, err := talk(protocol.RoleNode, true); err != nil {
			t.Fatal(err)
		}
		if err := enter(protocol.RoleNode, machine); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("it has left as a machine: %v", err)
		}
		if err := enter(protocol.RoleClient, renewed); err != nil {
			t.Errorf("it has not left as a window: %v", err)
		}
		if err := m.Forget(t.Context(), "owner", machine.Device.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := talk(protocol.RoleNode, false); !errors.Is(err, protocol.ErrUnauthorized) || enter(protocol.RoleClient, renewed) != nil {
			t.Errorf("a machine that was forgotten takes the window's token: %v", err)
		}
		if again := pairAs(protocol.RoleNode); again.Device.ID == window.Device.ID {
			t.Error("two pairings have one id")
		}
	})
}

// A device can leave with its key alone, because it may have lost its token, and its node may be
// connected at the same time. Nobody else can end its pairing.
func TestADeviceLeavesWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		id, _ := pairPhone(t, m, 0)
		leave := func(id identity.Key) error {
			out, hangUp := startPairing(t, m, pake.Device{Key: id, End: true})
			defer hangUp()
			return (<-out).err
		}
		reason := func(err error) (why protocol.DeviceRefused) {
			if !errors.Is(err, protocol.ErrUnauthorized) || json.Unmarshal(protocol.AsError(err).Details, &why) != nil {
				t.Errorf("got error %v, want a refusal with its reason", err)
			}
			return why
		}
		if why := reason(leave(identity.NewKey())); why.Reason != protocol.RefusedUnknown {
			t.Errorf("a stranger: got %+v, want %s", why, protocol.RefusedUnknown)
		}
		if l, _ := m.List(t.Context()); len(l.Devices) != 1 || l.Devices[0].RevokedAt != 0 || len(pendingRequests(t, m)) != 0 {
			t.Fatalf("a stranger: got %+v, want the device as before", l)
		}
		if err := leave(id); err != nil {
			t.Fatal(err)
		}
		l, _ := m.List(t.Context())
		if l.Devices[0].RevokedAt == 0 || l.Devices[0].RevokedBy != "the device itself" || k.devices[id.ID()].TokenHash != "" {
			t.Errorf("got %+v, want it revoked by itself", l.Devices[0])
		}
		if why := reason(leave(id)); why.Reason != protocol.RefusedRevoked || why.By != "the device itself" {
			t.Errorf("once more: got %+v, want %s by itself", why, protocol.RefusedRevoked)
		}
	})
}
