package pairing

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// registry has the paired devices: their stored records, and the number of connections of each.
type registry struct {
	store Store

	mu      sync.Mutex // guards the fields below; never held during a write to the store
	devices map[protocol.DeviceID]*store.PairedDevice
	online  map[protocol.DeviceID]int
}

// put stores a device and returns it for display. The caller must hold Manager.changing.
func (r *registry) put(ctx context.Context, d store.PairedDevice, lines ...protocol.AuditEntry) (protocol.Device, error) {
	if err := r.store.Put(ctx, d, lines...); err != nil {
		return protocol.Device{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.devices[d.ID]; was != nil {
		// The device may have connected or disconnected meanwhile.
		d.LastSeenAt, d.Address = was.LastSeenAt, was.Address
	}
	r.devices[d.ID] = &d
	return r.displayLocked(&d), nil
}

// delete deletes a device's record. The caller must hold Manager.changing.
func (r *registry) delete(ctx context.Context, id protocol.DeviceID, line protocol.AuditEntry) error {
	if err := r.store.Delete(ctx, id, line); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.devices, id)
	return nil
}

// get returns a copy of a device, or nil.
func (r *registry) get(id protocol.DeviceID) *store.PairedDevice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return clone(r.devices[id])
}

func clone(d *store.PairedDevice) *store.PairedDevice {
	if d == nil {
		return nil
	}
	c := *d
	return &c
}

// pairing returns a copy of the pairing in a role of the device with this key, or nil. Without a
// role it returns the latest pairing, for older devices that could have only one.
func (r *registry) pairing(key protocol.DeviceID, role string) *store.PairedDevice {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found *store.PairedDevice
	for _, d := range r.devices {
		if identity.DeviceID(d.Key) == key && (role == "" || d.Role == role) && (found == nil || d.PairedAt > found.PairedAt) {
			found = d
		}
	}
	return clone(found)
}

// newID returns the ID for a device's pairing in a role: the ID of its existing pairing, otherwise
// the ID of its key, or a variant of that if its pairing in the other role uses it. The caller must
// hold Manager.changing.
func (r *registry) newID(key []byte, role string) protocol.DeviceID {
	id := identity.DeviceID(key)
	if d := r.pairing(id, role); d != nil {
		return d.ID
	}
	if r.get(id) == nil {
		return id
	}
	return id + "-" + protocol.DeviceID(role)
}

// hasOtherNode reports whether another machine is paired with the node ID of d.
func (r *registry) hasOtherNode(d protocol.Device) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.devices {
		if d.NodeID != "" && other.NodeID == d.NodeID && other.ID != d.ID && other.RevokedAt == 0 {
			return true
		}
	}
	return false
}

// freeName returns the name of d, with a number if the gateway has that name, or a paired device with
// another key.
func (r *registry) freeName(d protocol.Device, key []byte, gateway string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	isTaken := func(name string) bool {
		if strings.EqualFold(name, gateway) {
			return true
		}
		for _, other := range r.devices {
			if strings.EqualFold(other.Name, name) && !bytes.Equal(other.Key, key) && other.RevokedAt == 0 {
				return true
			}
		}
		return false
	}
	name := d.Name
	for n := 2; isTaken(name); n++ {
		name = fmt.Sprintf("%s (%d)", d.Name, n)
	}
	return name
}

// list returns all devices for display, sorted by name.
func (r *registry) list() []protocol.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]protocol.Device, 0, len(r.devices))
	for _, d := range r.devices {
		out = append(out, r.displayLocked(d))
	}
	slices.SortFunc(out, func(a, b protocol.Device) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// display returns a device for display.
func (r *registry) display(d *store.PairedDevice) protocol.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.displayLocked(d)
}

func (r *registry) displayLocked(d *store.PairedDevice) protocol.Device {
	out := d.Device
	out.Online = r.online[d.ID] > 0 && d.RevokedAt == 0
	return out
}

// seenEvery is the interval at which a device's last contact is stored.
const seenEvery = 5 * time.Minute

// minContact is the length of a connection whose end is stored as the last contact.
const minContact = time.Minute

// connect registers a device's connection; disconnect ends it, and is nil if the device's pairing
// has ended. expired is called when the pairing expires during the connection. stale, and the
// result of disconnect, report that the last contact should be stored.
func (r *registry) connect(id protocol.DeviceID, address string, expired func()) (disconnect func() (stale bool), stale bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.devices[id]
	if d == nil || d.RevokedAt > 0 {
		return nil, false
	}
	now := time.Now()
	stale = now.Sub(time.UnixMilli(d.LastSeenAt)) > seenEvery || d.Address != address
	d.LastSeenAt, d.Address = now.UnixMilli(), address
	r.online[id]++
	unwatch := r.watchLocked(id, expired)
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		unwatch()
		if r.online[id]--; r.online[id] == 0 {
			delete(r.online, id)
		}
		if d := r.devices[id]; d != nil {
			d.LastSeenAt = time.Now().UnixMilli()
		}
		return time.Since(now) >= minContact
	}, stale
}

// checkExpiryEvery is the interval at which the expiry of a connected device is checked, because
// the expiry and the machine's clock may change.
const checkExpiryEvery = time.Minute

// watchLocked calls expired when a device's pairing expires, until unwatch is called. Both require
// r.mu; expired is called without it.
func (r *registry) watchLocked(id protocol.DeviceID, expired func()) (unwatch func()) {
	stopped := false
	var timer *time.Timer
	timer = crash.AfterFunc(checkExpiryEvery, func() {
		r.mu.Lock()
		d := r.devices[id]
		ends := d != nil && isExpired(d.Device, time.Now())
		if !ends && !stopped {
			timer.Reset(checkExpiryEvery)
		}
		r.mu.Unlock()
		if ends {
			expired()
		}
	})
	return func() { stopped = true; timer.Stop() }
}

// isExpired reports whether a device's pairing has expired.
func isExpired(d protocol.Device, now time.Time) bool {
	return d.ExpiresAt > 0 && now.UnixMilli() >= d.ExpiresAt
}
