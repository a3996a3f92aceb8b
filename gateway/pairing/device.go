package pairing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Close codes for connections of devices.
const closeRotated = 1012 // service restart (IANA registry of RFC 6455): connect again

func noDevice(id protocol.DeviceID) error {
	return protocol.ErrNotFound.With(fmt.Sprintf("no device is called %.40s", id))
}

// displayName returns a principal for display, without the random ID of a command line.
func displayName(by string) string {
	if strings.HasPrefix(by, "owner cli-") {
		return "owner (command line)"
	}
	return by
}

// newToken generates a device's token and its hash.
func newToken(id protocol.DeviceID) (token, hash string) {
	token = auth.NewToken(tokenPrefix + string(id) + "_")
	return token, auth.HashToken(token)
}

const tokenPrefix = "fd_"

func gateway(name string, n protocol.NetworkStatus) identity.Gateway {
	return identity.Gateway{Name: name, Pin: identity.Pin(n.Pin), Addresses: n.Addresses}
}

// change edits a device and stores it.
func (m *Manager) change(ctx context.Context, id protocol.DeviceID, by, what string, edit func(*store.PairedDevice) error) (protocol.Device, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	d := m.devices.get(id)
	if d == nil {
		return protocol.Device{}, noDevice(id)
	}
	if err := edit(d); err != nil {
		return protocol.Device{}, err
	}
	out, err := m.devices.put(ctx, *d, auditEntry(by, what, "", d.Device))
	if err == nil {
		publishChange(m.o.Bus)
	}
	return out, err
}

// Update changes a device's name, permissions or expiry. It closes the device's connections if the
// permissions changed or the pairing has expired; new permissions apply to the next connection.
func (m *Manager) Update(ctx context.Context, by string, p protocol.DeviceUpdateParams) (protocol.Device, error) {
	out, err := m.change(ctx, p.ID, by, "changed", func(d *store.PairedDevice) error {
		if p.Name != nil {
			if d.Name = format.Line(*p.Name, maxName); d.Name == "" {
				return protocol.ErrBadRequest.With("a device needs a name")
			}
		}
		if p.Scopes != nil {
			if d.Role != protocol.RoleClient {
				return protocol.ErrBadRequest.With("only the permissions of a client can be changed")
			}
			if len(*p.Scopes) == 0 {
				return protocol.ErrBadRequest.With("a client needs at least one permission; to remove all, revoke it")
			}
			if err := checkScopes(*p.Scopes); err != nil {
				return err
			}
			d.Scopes = *p.Scopes
		}
		if p.ExpiresAt != nil {
			if *p.ExpiresAt < 0 {
				return protocol.ErrBadRequest.With("expiresAt is a time in milliseconds, or 0")
			}
			d.ExpiresAt = *p.ExpiresAt
		}
		return nil
	})
	if err == nil && p.Scopes != nil {
		m.o.Connections.CloseDevice(p.ID, closeRotated, "Rights changed")
	}
	if err == nil && isExpired(out, time.Now()) {
		m.o.Connections.CloseDevice(p.ID, protocol.CloseUnauthorized, pairingExpired)
	}
	return out, err
}

// Rotate invalidates a device's token. The device fetches a new one at its next contact.
func (m *Manager) Rotate(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error) {
	out, err := m.change(ctx, id, by, "rotated the token of", func(d *store.PairedDevice) error {
		if d.RevokedAt > 0 {
			return protocol.ErrConflict.With("this device is revoked")
		}
		d.TokenHash, d.RotatedAt = "", time.Now().UnixMilli()
		return nil
	})
	if err == nil {
		m.o.Connections.CloseDevice(id, closeRotated, "Token rotated")
	}
	return out, err
}

// Revoke ends a pairing and closes the device's connections. At its next contact the device is told
// who revoked the pairing and when.
func (m *Manager) Revoke(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error) {
	out, err := m.end(ctx, id, by, "revoked", displayName(by))
	if err == nil {
		m.CloseDevice(id)
	}
	return out, err
}

// end ends a pairing, whose device shows revokedBy as the one who did it.
func (m *Manager) end(ctx context.Context, id protocol.DeviceID, by, what, revokedBy string) (protocol.Device, error) {
	now := false
	out, err := m.change(ctx, id, by, what, func(d *store.PairedDevice) error {
		if now = d.RevokedAt == 0; now {
			d.RevokedAt, d.RevokedBy, d.TokenHash = time.Now().UnixMilli(), revokedBy, ""
		}
		return nil
	})
	if err == nil {
		err = m.requests.withdraw(ctx, m.requests.forgetDevice(id))
		if now {
			m.o.endTransfers(out)
		}
	}
	return out, err
}

// endTransfers ends the transfers of a device whose pairing has ended, unless another machine has its
// name by now.
func (o *Options) endTransfers(d protocol.Device) {
	if n, known := o.Nodes.Node(d.NodeID); !known || n.Device == d.ID {
		o.Transfers.EndDevice(d)
	}
}

// Forget ends a pairing and deletes its record.
func (m *Manager) Forget(ctx context.Context, by string, id protocol.DeviceID) error {
	m.changing.Lock()
	d, err := m.devices.get(id), noDevice(id)
	if d != nil {
		err = m.devices.delete(ctx, id, auditEntry(by, "forgot", "", d.Device))
	}
	m.changing.Unlock() // before the callbacks
	if err == nil {
		err = m.requests.withdraw(ctx, m.requests.forgetDevice(id))
	}
	if err != nil {
		return err
	}
	m.CloseDevice(id)
	if d.RevokedAt == 0 {
		m.o.endTransfers(d.Device)
	}
	publishChange(m.o.Bus)
	return nil
}

// renew issues a new token to a paired device that proved its key. The old token becomes invalid.
func (m *Manager) renew(ctx context.Context, key []byte, role string, network protocol.NetworkStatus) (identity.Pairing, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	d := m.devices.pairing(identity.DeviceID(key), role)
	if err := refusal(d, key, time.Now()); err != nil {
		return identity.Pairing{}, err
	}
	token, hash := newToken(d.ID)
	d.TokenHash, d.RotatedAt = hash, 0
	if _, err := m.devices.put(ctx, *d); err != nil {
		return identity.Pairing{}, err
	}
	return identity.Pairing{Device: d.Device, Token: token, Gateway: gateway(m.o.Name, network)}, nil
}
