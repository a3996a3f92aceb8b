package pairing

import (
	"bytes"
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// refusal returns the reason why a device that proved its key is refused, or nil.
func refusal(d *store.PairedDevice, key []byte, now time.Time) error {
	say := func(message string, r protocol.DeviceRefused) error {
		return protocol.ErrUnauthorized.With(message).WithDetails(r)
	}
	switch {
	case d == nil || !bytes.Equal(d.Key, key):
		return say("this device is not paired with the gateway", protocol.DeviceRefused{Reason: protocol.RefusedUnknown})
	case d.RevokedAt > 0:
		return say(fmt.Sprintf("the pairing was ended by %s at %s", d.RevokedBy, time.UnixMilli(d.RevokedAt).UTC().Format("2006-01-02 15:04 UTC")),
			protocol.DeviceRefused{Reason: protocol.RefusedRevoked, By: d.RevokedBy, At: d.RevokedAt})
	case isExpired(d.Device, now):
		return say("the pairing has expired", protocol.DeviceRefused{Reason: protocol.RefusedExpired, At: d.ExpiresAt})
	}
	return nil
}

// Authenticate returns the principal of a peer on the network that connects in a role. binding is
// the binding of the TLS session ([identity.Binding]), which the device signed with its key. Only a
// device that proved its key gets the reason for a refusal.
func (m *Manager) Authenticate(_ context.Context, a *protocol.Auth, role string, binding []byte) (auth.Principal, error) {
	if a == nil || a.Device == nil || a.Token == "" {
		return auth.Principal{}, protocol.ErrUnauthorized
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.pairingLocked(a.Device.ID, role)
	if d == nil {
		// IDs are not secret, and the pairing may have been deleted.
		return auth.Principal{}, refusal(nil, nil, time.Now())
	}
	if !identity.Verify(d.Key, identity.ForConnect, binding, a.Device.Signature) {
		return auth.Principal{}, protocol.ErrUnauthorized
	}
	if err := refusal(d, d.Key, time.Now()); err != nil {
		return auth.Principal{}, err
	}
	if subtle.ConstantTimeCompare([]byte(hashToken(a.Token)), []byte(d.TokenHash)) != 1 {
		return auth.Principal{}, protocol.ErrUnauthorized.With("the token was replaced: fetch the new one").WithDetails(protocol.DeviceRefused{Reason: protocol.RefusedRotated, At: d.RotatedAt})
	}
	return auth.Device(d.Device), nil
}

// pairingLocked returns the pairing in a role of the device with this key, or nil. Without a role
// it returns the latest pairing, for older devices that could have only one.
func (m *Manager) pairingLocked(key protocol.DeviceID, role string) (found *store.PairedDevice) {
	for _, d := range m.devices {
		if identity.DeviceID(d.Key) == key && (role == "" || d.Role == role) && (found == nil || d.PairedAt > found.PairedAt) {
			found = d
		}
	}
	return found
}

// nameLocked returns the ID for a device's pairing in a role: the ID of its existing pairing,
// otherwise the ID of its key, or a variant of that if its pairing in the other role uses it.
func (m *Manager) nameLocked(key []byte, role string) protocol.DeviceID {
	id := identity.DeviceID(key)
	switch d := m.pairingLocked(id, role); {
	case d != nil:
		return d.ID
	case m.devices[id] == nil:
		return id
	}
	return id + "-" + protocol.DeviceID(role)
}

// seenEvery is the interval at which a device's last contact is stored.
const seenEvery = 5 * time.Minute

// Connected registers a device's connection. The caller must call left when the connection closes.
// It refuses a device whose pairing has ended since its handshake.
func (m *Manager) Connected(ctx context.Context, id protocol.DeviceID, address string) (left func(), err error) {
	m.mu.Lock()
	d := m.devices[id]
	if d == nil || d.RevokedAt > 0 {
		m.mu.Unlock()
		return nil, protocol.ErrUnauthorized
	}
	now := time.Now()
	stale := now.Sub(time.UnixMilli(d.LastSeenAt)) > seenEvery || d.Address != address
	d.LastSeenAt, d.Address = now.UnixMilli(), address
	m.online[id]++
	unwatch := m.watchLocked(id)
	m.mu.Unlock()
	if stale {
		err = m.recordContact(ctx, id)
	}
	m.publishChange()
	return func() {
		m.mu.Lock()
		unwatch()
		if m.online[id]--; m.online[id] == 0 {
			delete(m.online, id)
		}
		if d := m.devices[id]; d != nil {
			d.LastSeenAt = time.Now().UnixMilli()
		}
		m.mu.Unlock()
		m.publishChange()
	}, err
}

// lookEvery is the interval at which the expiry of a connected device is checked, because the
// expiry and the machine's clock may change.
const lookEvery = time.Minute

// watchLocked closes a device's connections when its pairing expires, until unwatch is called. Both
// require m.mu.
func (m *Manager) watchLocked(id protocol.DeviceID) (unwatch func()) {
	left := false
	var look *time.Timer
	look = time.AfterFunc(lookEvery, func() {
		m.mu.Lock()
		d := m.devices[id]
		ends := d != nil && isExpired(d.Device, time.Now())
		if !ends && !left {
			look.Reset(lookEvery)
		}
		m.mu.Unlock()
		if ends {
			m.o.CloseDevice(id, protocol.CloseUnauthorized, timeOver)
		}
	})
	return func() { left = true; look.Stop() }
}

// isExpired reports whether a device's pairing has expired.
func isExpired(d protocol.Device, now time.Time) bool {
	return d.ExpiresAt > 0 && now.UnixMilli() >= d.ExpiresAt
}

const timeOver = "The pairing was for a limited time"

// recordContact stores the time of a device's last contact, unless the pairing was deleted
// meanwhile.
func (m *Manager) recordContact(ctx context.Context, id protocol.DeviceID) error {
	end, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	d, ok := m.device(id)
	if !ok {
		return nil
	}
	return m.o.Store.Put(ctx, d)
}

// Leave ends the caller's own pairing, at its request.
func (m *Manager) Leave(ctx context.Context, p auth.Principal) error {
	if p.Device == "" {
		return protocol.ErrBadRequest.With("this connection is not a paired device's")
	}
	_, err := m.leave(ctx, p.Device, p.String())
	return err
}

func (m *Manager) leave(ctx context.Context, id protocol.DeviceID, by string) (protocol.Device, error) {
	now := false
	out, err := m.change(ctx, id, by, "left:", func(d *store.PairedDevice) error {
		if now = d.RevokedAt == 0; now {
			d.RevokedAt, d.RevokedBy, d.TokenHash = time.Now().UnixMilli(), "the device itself", ""
		}
		return nil
	})
	m.forgetRequests(id)
	if err == nil {
		m.notifyEnded(out, now)
	}
	return out, err
}

// leaveByKey is Leave for a device that has only proved its key: it may have lost its token, and
// its node may be connected at the same time.
func (m *Manager) leaveByKey(ctx context.Context, key []byte, role string, w pake.Transport) error {
	m.mu.Lock()
	d := m.pairingLocked(identity.DeviceID(key), role)
	err := refusal(d, key, time.Now())
	var was protocol.Device
	if err == nil {
		was = d.Device
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	out, err := m.leave(ctx, was.ID, auth.Device(was).String())
	if err != nil {
		return err
	}
	m.CloseDevice(was.ID)
	return w.Send(pake.Message{Done: &identity.Pairing{Device: out}})
}

// CloseDevice closes the connections of a device. The caller of Leave calls it after sending the
// response.
func (m *Manager) CloseDevice(id protocol.DeviceID) {
	m.o.CloseDevice(id, protocol.CloseUnauthorized, "Revoked")
}
