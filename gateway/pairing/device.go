package pairing

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/trust"
	"fairlead/gateway/store"
)

// Close codes for connections of devices.
const closeRotated = 1012 // service restart (RFC 6455 registry): come again

func noDevice(id protocol.DeviceID) error {
	return protocol.ErrNotFound.With(fmt.Sprintf("no device is called %.40s", id))
}

// person is a principal as people read it: a command line's id is made up each time.
func person(by string) string {
	if strings.HasPrefix(by, "owner cli-") {
		return "owner (command line)"
	}
	return by
}

// newToken makes a device's token and its hash.
func newToken(id protocol.DeviceID) (token, hash string) {
	var b [32]byte
	rand.Read(b[:])
	token = tokenPrefix + string(id) + "_" + base64.RawURLEncoding.EncodeToString(b[:])
	return token, hashed(token)
}

const tokenPrefix = "fd_"

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Approve lets in who asks, or gives a machine what it offers beyond what was allowed. It is bound to the request that was seen: what asks for
// something else has another id.
func (m *Manager) Approve(ctx context.Context, by string, p protocol.DeviceRequestParams) (protocol.Device, error) {
	m.mu.Lock()
	r := m.requests[p.ID]
	if r == nil || r.ExpiresAt > 0 && time.Now().UnixMilli() >= r.ExpiresAt {
		m.mu.Unlock()
		return protocol.Device{}, protocol.ErrNotFound.With("this request is not waiting any more")
	}
	if r.Kind == protocol.RequestWiden {
		return m.widen(ctx, by, r)
	}
	d := store.PairedDevice{Device: r.Device, Key: r.key}
	if p.Name != "" {
		d.Name = line(p.Name, 60)
	}
	d.PairedBy, d.PairedAt = person(by), time.Now().UnixMilli()
	token, hash := newToken(d.ID)
	d.TokenHash = hash
	if err := m.o.Store.PutDevice(ctx, d, audited(by, "paired", "allowed", d.Device)); err != nil {
		m.mu.Unlock()
		return protocol.Device{}, err
	}
	m.devices[d.ID] = &d
	delete(m.invites, r.Invite)
	out := m.shownLocked(&d)
	m.settleLocked(r, answer{done: trust.Done{Device: d.Device, Token: token, Gateway: m.gateway(m.o.Network())}})
	m.mu.Unlock()
	m.changed()
	return out, nil
}

func (m *Manager) gateway(n protocol.NetworkStatus) trust.Gateway {
	return trust.Gateway{Name: m.o.Name, Pin: trust.Pin(n.Pin), Addresses: n.Addresses}
}

// widen is Approve for a machine that offers more. It unlocks m.mu.
func (m *Manager) widen(ctx context.Context, by string, r *request) (protocol.Device, error) {
	defer m.changed()
	defer m.mu.Unlock()
	d := m.devices[r.Device.ID]
	if d == nil || d.RevokedAt > 0 {
		delete(m.requests, r.ID)
		return protocol.Device{}, noDevice(r.Device.ID)
	}
	now := *d
	now.Reach = r.reach
	if err := m.o.Store.PutDevice(ctx, now, audited(by, "allowed more to", "allowed", now.Device)); err != nil {
		return protocol.Device{}, err
	}
	*d = now
	m.settleLocked(r, answer{})
	m.o.Nodes.Release(d.NodeID)
	return m.shownLocked(d), nil
}

// Deny refuses a request. A machine that offered more goes on with what was allowed.
func (m *Manager) Deny(ctx context.Context, by, id string) error {
	m.mu.Lock()
	r := m.requests[id]
	if r == nil {
		m.mu.Unlock()
		return protocol.ErrNotFound.With("this request is not waiting any more")
	}
	if r.Kind == protocol.RequestWiden {
		m.refused[r.Device.ID] = fingerprint(r.reach)
	}
	delete(m.invites, r.Invite)
	m.settleLocked(r, answer{err: errDenied})
	device := r.Device
	m.mu.Unlock()
	m.changed()
	return m.o.Store.Audit(ctx, audited(by, "refused", "denied", device))
}

// change edits a device under the lock and stores it.
func (m *Manager) change(ctx context.Context, id protocol.DeviceID, by, what string, edit func(*store.PairedDevice) error) (protocol.Device, error) {
	m.mu.Lock()
	d := m.devices[id]
	if d == nil {
		m.mu.Unlock()
		return protocol.Device{}, noDevice(id)
	}
	now := *d
	err := edit(&now)
	if err == nil {
		err = m.o.Store.PutDevice(ctx, now, audited(by, what, "", now.Device))
	}
	if err != nil {
		m.mu.Unlock()
		return protocol.Device{}, err
	}
	*d = now
	out := m.shownLocked(d)
	m.mu.Unlock()
	m.changed()
	return out, nil
}

// Update changes a device's name, rights or end. New rights hold for its next connection: the present one is ended.
func (m *Manager) Update(ctx context.Context, by string, p protocol.DeviceUpdateParams) (protocol.Device, error) {
	out, err := m.change(ctx, p.ID, by, "changed", func(d *store.PairedDevice) error {
		if p.Name != nil {
			if d.Name = line(*p.Name, 60); d.Name == "" {
				return protocol.ErrBadRequest.With("a device needs a name")
			}
		}
		if p.Scopes != nil {
			if d.Role != protocol.RoleClient {
				return protocol.ErrBadRequest.With("only a client has rights to choose; a machine may do what a machine does")
			}
			if len(*p.Scopes) == 0 {
				return protocol.ErrBadRequest.With("a client without any right is of no use: revoke it instead")
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
		m.close(p.ID, closeRotated, "Rights changed")
	}
	return out, err
}

// Rotate makes a device's token worthless. The device fetches a new one with its key at its next contact.
func (m *Manager) Rotate(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error) {
	out, err := m.change(ctx, id, by, "rotated the token of", func(d *store.PairedDevice) error {
		if d.RevokedAt > 0 {
			return protocol.ErrConflict.With("this device is revoked")
		}
		d.TokenHash, d.RotatedAt = "", time.Now().UnixMilli()
		return nil
	})
	if err == nil {
		m.close(id, closeRotated, "Token rotated")
	}
	return out, err
}

// Revoke ends a pairing. The device's connections end at once, and at its next contact it hears who did it and when.
func (m *Manager) Revoke(ctx context.Context, by string, id protocol.DeviceID) (protocol.Device, error) {
	out, err := m.change(ctx, id, by, "revoked", func(d *store.PairedDevice) error {
		if d.RevokedAt == 0 {
			d.RevokedAt, d.RevokedBy, d.TokenHash = time.Now().UnixMilli(), person(by), ""
		}
		return nil
	})
	if err == nil {
		m.close(id, protocol.CloseUnauthorized, "Revoked")
		m.forgetRequests(id)
	}
	return out, err
}

// Forget ends a pairing and forgets that there was one.
func (m *Manager) Forget(ctx context.Context, by string, id protocol.DeviceID) error {
	m.mu.Lock()
	d := m.devices[id]
	if d == nil {
		m.mu.Unlock()
		return noDevice(id)
	}
	if err := m.o.Store.DeleteDevice(ctx, id, audited(by, "forgot", "", d.Device)); err != nil {
		m.mu.Unlock()
		return err
	}
	delete(m.devices, id)
	delete(m.refused, id)
	m.mu.Unlock()
	m.close(id, protocol.CloseUnauthorized, "Revoked")
	m.forgetRequests(id)
	m.changed()
	return nil
}

// forgetRequests drops what a device that is gone still asks for.
func (m *Manager) forgetRequests(id protocol.DeviceID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if r.Device.ID == id && r.Kind == protocol.RequestWiden {
			delete(m.requests, r.ID)
		}
	}
}

// renew gives a paired device that proved its key a new token; the old one is worth nothing from then on.
func (m *Manager) renew(ctx context.Context, key []byte, network protocol.NetworkStatus) (trust.Done, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.devices[trust.DeviceID(key)]
	if err := refusal(d, key, time.Now()); err != nil {
		return trust.Done{}, err
	}
	now := *d
	token, hash := newToken(d.ID)
	now.TokenHash, now.RotatedAt = hash, 0
	if err := m.o.Store.PutDevice(ctx, now); err != nil {
		return trust.Done{}, err
	}
	*d = now
	return trust.Done{Device: now.Device, Token: token, Gateway: m.gateway(network)}, nil
}
