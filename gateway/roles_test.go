package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// TestADeviceIsAMachineAndAWindowOfOneGateway: a device has one key, and each of its pairings has
// its own token, end and connection.
func TestADeviceIsAMachineAndAWindowOfOneGateway(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "laptop")
	works := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	stop, ended := h.node(m, works.ID(), node.Confinement{})
	defer stop()
	h.until("the node is online", func() bool { return h.info("laptop").Online })
	looks := h.pairByLink(m, m.device(protocol.RoleClient))
	window, err := m.connect(t, looks.ID())
	if err != nil {
		t.Fatal(err)
	}
	call := func() error { return second(client.Call(t.Context(), window, protocol.StatusGet, protocol.Empty{})) }
	if err := call(); err != nil || !h.info("laptop").Online {
		t.Fatalf("the window: %v; the machine is online: %t; want no error and true", err, h.info("laptop").Online)
	}
	list, err := m.peers.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("the device knows %+v, %v", list, err)
	}
	devices := h.list().Devices
	if len(devices) != 2 || devices[0].ID == devices[1].ID || devices[0].Fingerprint != devices[1].Fingerprint || !devices[0].Online || !devices[1].Online {
		t.Fatalf("the gateway knows %+v, want two devices that are online, of one key", devices)
	}

	// A new token of one does not change the other's.
	before, _ := m.peers.Token(works.ID())
	ask(h, protocol.DeviceRotate, protocol.DeviceParams{ID: looks.Device})
	h.until("the window is back", func() bool { return call() == nil })
	if now, err := m.peers.Token(works.ID()); err != nil || now != before || !h.info("laptop").Online {
		t.Errorf("the machine's token was replaced too, or it is gone: %v; want no error", err)
	}

	// The end of one pairing does not end the other, and both sides know which one ended.
	ask(h, protocol.DeviceRevoke, protocol.DeviceParams{ID: works.Device})
	select {
	case err := <-ended:
		if !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("a revoked node goes on")
	}
	stop2, ended2 := h.node(m, works.ID(), node.Confinement{})
	defer stop2()
	if err := <-ended2; err == nil || !strings.Contains(err.Error(), "ended by owner") {
		t.Errorf(`got %v; want an error with "ended by owner"`, err)
	}
	h.until("the window goes on", func() bool { return call() == nil }) // its connection from before the new token may have ended only now
	if p, err := m.peers.Get(works.ID()); err != nil || p.Refusal == nil {
		t.Errorf("the device does not know the machine's end: %+v, %v", p, err)
	}
	if p, err := m.peers.Get(looks.ID()); err != nil || p.Refusal != nil {
		t.Errorf("the device takes the window's pairing for ended: %+v, %v", p, err)
	}

	// It unpairs as one role, and pairs again as the other.
	if err := client.EndPairing(t.Context(), m.peers, looks.ID(), m.id); err != nil {
		t.Fatal(err)
	}
	h.until("the gateway knows", func() bool {
		for _, d := range h.list().Devices {
			if d.ID == looks.Device {
				return d.RevokedAt > 0 && d.RevokedBy == "the device itself"
			}
		}
		return false
	})
	again := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	if again.Device != works.Device {
		t.Errorf("it is another device now: %s, was %s", again.Device, works.Device)
	}
	stop3, _ := h.node(m, again.ID(), node.Confinement{})
	defer stop3()
	h.until("the machine is back", func() bool { return h.info("laptop").Online })
	// A device of an earlier version sends no role when it fetches a token: the last one is meant.
	done, err := client.Pair(t.Context(), again.Addresses, pake.Device{Key: m.id, Pin: again.Pin, Renew: true})
	if err != nil || done.Device.Role != protocol.RoleNode {
		t.Errorf("a device of before: %+v, %v", done.Device, err)
	}
}

// TestExtendedPairingStaysValid: both sides agree after the next connection, even after the
// pairing had expired.
func TestExtendedPairingStaysValid(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "phone")
	peer := h.pairByLink(m, m.device(protocol.RoleClient))
	past, never := time.Now().Add(-time.Minute).UnixMilli(), int64(0)
	ask(h, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: peer.Device, ExpiresAt: &past})
	if _, err := m.connect(t, peer.ID()); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("after its time: %v", err)
	}
	if p, err := m.peers.Get(peer.ID()); err != nil || p.Refusal == nil || p.Refusal.Reason != protocol.RefusedExpired || p.HasEnded() {
		t.Errorf("after its time the device knows %+v, %v", p, err)
	}
	ask(h, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: peer.Device, ExpiresAt: &never})
	if _, err := m.connect(t, peer.ID()); err != nil {
		t.Fatal(err)
	}
	if p, err := m.peers.Get(peer.ID()); err != nil || p.Refusal != nil {
		t.Errorf("with more time the device knows %+v, %v", p, err)
	}
}
