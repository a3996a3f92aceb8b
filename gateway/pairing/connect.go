package pairing

import (
	"bytes"
	"context"
	"crypto/subtle"
	"fmt"
	"log/slog"
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
	d := m.devices.pairing(a.Device.ID, role)
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
	if subtle.ConstantTimeCompare([]byte(auth.HashToken(a.Token)), []byte(d.TokenHash)) != 1 {
		return auth.Principal{}, protocol.ErrUnauthorized.With("the token was replaced: fetch the new one").WithDetails(protocol.DeviceRefused{Reason: protocol.RefusedRotated, At: d.RotatedAt})
	}
	return auth.Device(d.Device), nil
}

// Connected registers a device's connection. The caller must call disconnected when the connection
// closes. It refuses a device whose pairing has ended since its handshake.
func (m *Manager) Connected(ctx context.Context, id protocol.DeviceID, address string) (disconnected func(), err error) {
	disconnect, stale := m.devices.connect(id, address, func() { m.o.Connections.CloseDevice(id, protocol.CloseUnauthorized, pairingExpired) })
	if disconnect == nil {
		return nil, protocol.ErrUnauthorized
	}
	if stale {
		err = m.recordContact(ctx, id)
	}
	publishChange(m.o.Bus)
	return func() {
		if disconnect() {
			if err := m.recordContact(context.WithoutCancel(ctx), id); err != nil {
				slog.Warn("The end of a device's connection could not be stored", "device", id, "err", err)
			}
		}
		publishChange(m.o.Bus)
	}, err
}

const pairingExpired = "The pairing was for a limited time"

// recordContact stores the time of a device's last contact, unless it was deleted.
func (m *Manager) recordContact(ctx context.Context, id protocol.DeviceID) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	d := m.devices.get(id)
	if d == nil {
		return nil
	}
	_, err := m.devices.put(ctx, *d)
	return err
}

// Leave ends the caller's own pairing, at its request.
func (m *Manager) Leave(ctx context.Context, p auth.Principal) error {
	if p.Device == "" {
		return protocol.ErrBadRequest.With("this connection is not a paired device's")
	}
	_, err := m.end(ctx, p.Device, p.String(), "left:", byDevice)
	return err
}

// byDevice is displayed as the one who ended a pairing that its device has left.
const byDevice = "the device itself"

// leaveByKey is Leave for a device that has only proved its key: it may have lost its token, and
// its node may be connected at the same time.
func (m *Manager) leaveByKey(ctx context.Context, key []byte, role string, w pake.Transport) error {
	d := m.devices.pairing(identity.DeviceID(key), role)
	if err := refusal(d, key, time.Now()); err != nil {
		return err
	}
	out, err := m.end(ctx, d.ID, auth.Device(d.Device).String(), "left:", byDevice)
	if err != nil {
		return err
	}
	m.CloseDevice(d.ID)
	return w.Send(pake.Message{Done: &identity.Pairing{Device: out}})
}

// CloseDevice closes a device's connections; after Leave, once the response was sent.
func (m *Manager) CloseDevice(id protocol.DeviceID) {
	m.o.Connections.CloseDevice(id, protocol.CloseUnauthorized, "Revoked")
}
