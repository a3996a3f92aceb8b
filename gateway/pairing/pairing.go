// Package pairing manages the devices that may connect to the gateway: pairings, invitations,
// requests and their approval. An invitation can be used once, and the device that used it waits
// until the person has confirmed which device it is.
//
// A device is identified by its key. It may be paired as a node and as a client: each pairing has
// its own ID, token, permissions and expiry, and a change affects only that pairing. Both show the
// same words of the device.
package pairing

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Times of a pairing.
const (
	inviteLife = 10 * time.Minute
	// confirmLife is the time in which the person must confirm a device that used an invitation,
	// askLife one that came without an invitation.
	confirmLife = time.Minute
	askLife     = 5 * time.Minute
)

const (
	maxInvites  = 8
	maxRequests = 16
	maxName     = 60 // characters of a device's name
	// maxGuesses is the number of wrong guesses that invalidates an invitation.
	maxGuesses = 3
)

// Store stores devices durably before it returns.
type Store interface {
	List(ctx context.Context) ([]store.PairedDevice, error)
	Put(ctx context.Context, d store.PairedDevice, lines ...protocol.AuditEntry) error
	Delete(ctx context.Context, id protocol.DeviceID, lines ...protocol.AuditEntry) error
}

// AuditLog is the log of security-relevant events.
type AuditLog interface {
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

// Nodes are the connected machines.
type Nodes interface {
	// Release makes a node's held tools available.
	Release(id protocol.NodeID)
	// Own reports whether a name is that of the gateway's own node.
	Own(id protocol.NodeID) bool
}

// Options configure a manager. All fields except Bus, HasPrograms, Unpaired and CloseDevice are
// required.
type Options struct {
	Store Store
	Audit AuditLog
	Bus   *event.Bus
	Nodes Nodes
	// Network returns the state of the listener for other machines.
	Network func() protocol.NetworkStatus
	// HasPrograms reports whether the gateway has node programs to install, for Windows and for
	// other systems. It may be nil, which means none.
	HasPrograms func() (windows, others bool)
	// Unpaired is called after the end of a pairing was stored. It may be nil.
	Unpaired func(protocol.Device)
	// CloseDevice closes every connection of a device with a close code of the WebSocket. It may be
	// nil.
	CloseDevice func(id protocol.DeviceID, code int, reason string)
	// Name is the gateway's name as devices display it.
	Name string
}

// Manager manages pairings. It is safe for concurrent use.
type Manager struct {
	o Options

	// changeLock is held while a device or a request changes, including the write to the store:
	// changes are stored in the order in which they are made, and an invitation or a request ends
	// once. Readers do not wait for the disk. It is acquired before mu.
	changeLock chan struct{}

	mu       sync.Mutex // guards the fields below; never held during a write to the store
	devices  map[protocol.DeviceID]*store.PairedDevice
	online   map[protocol.DeviceID]int // number of connections
	invites  map[string]*invite
	requests map[string]*request
	refused  map[protocol.DeviceID]string // fingerprint of what a node offered and the person refused
}

// request is a pending request.
type request struct {
	protocol.DeviceRequest
	end    deadline
	key    []byte
	reach  *protocol.Reach
	invite *invite
	answer chan answer // capacity one
}

// deadline is an expiry by the wall clock and by the monotonic clock, whichever comes first:
// setting back the machine's clock, or sleep, must not extend the life of a code.
type deadline struct {
	wall int64     // Unix milliseconds
	at   time.Time // used for its monotonic reading
}

func after(now time.Time, life time.Duration) deadline {
	at := now.Add(life)
	return deadline{at.UnixMilli(), at}
}

func (d deadline) passed(now time.Time) bool { return !now.Before(d.at) || now.UnixMilli() >= d.wall }

type answer struct {
	done identity.Pairing
	err  error
}

// Open loads the devices and returns a manager.
func Open(ctx context.Context, o Options) (*Manager, error) {
	if o.CloseDevice == nil {
		o.CloseDevice = func(protocol.DeviceID, int, string) {}
	}
	m := &Manager{
		o: o, changeLock: make(chan struct{}, 1), devices: make(map[protocol.DeviceID]*store.PairedDevice),
		online: make(map[protocol.DeviceID]int), invites: make(map[string]*invite), requests: make(map[string]*request), refused: make(map[protocol.DeviceID]string),
	}
	list, err := o.Store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("load devices: %w", err)
	}
	for _, d := range list {
		m.devices[d.ID] = &d
	}
	return m, nil
}

// begin acquires the turn for a change; end releases it.
func (m *Manager) begin(ctx context.Context) (end func(), err error) {
	select {
	case m.changeLock <- struct{}{}:
		return func() { <-m.changeLock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// wait is begin for callers that cannot be cancelled. It blocks at most for one write to the store.
func (m *Manager) wait() (end func()) {
	m.changeLock <- struct{}{}
	return func() { <-m.changeLock }
}

// put stores a device, makes it the current one, and returns it for display. The caller must hold
// the turn.
func (m *Manager) put(ctx context.Context, d store.PairedDevice, lines ...protocol.AuditEntry) (protocol.Device, error) {
	if err := m.o.Store.Put(ctx, d, lines...); err != nil {
		return protocol.Device{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if was := m.devices[d.ID]; was != nil {
		// The device may have connected or disconnected meanwhile.
		d.LastSeenAt, d.Address = was.LastSeenAt, was.Address
	}
	m.devices[d.ID] = &d
	return m.displayLocked(&d), nil
}

// device returns a copy of a device.
func (m *Manager) device(id protocol.DeviceID) (d store.PairedDevice, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.devices[id]
	if p == nil {
		return d, false
	}
	return *p, true
}

// List returns devices, requests and invitations for display, without the secrets of invitations.
func (m *Manager) List(context.Context) (protocol.DeviceListResult, error) {
	out := protocol.DeviceListResult{Devices: []protocol.Device{}, Requests: []protocol.DeviceRequest{}, Invites: []protocol.DeviceInvite{}, Network: m.o.Network()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expireLocked(time.Now())
	for _, d := range m.devices {
		out.Devices = append(out.Devices, m.displayLocked(d))
	}
	for _, r := range m.requests {
		out.Requests = append(out.Requests, r.DeviceRequest)
	}
	for _, i := range m.invites {
		shown := i.DeviceInvite
		shown.Link, shown.Code, shown.Install, shown.InstallWindows = "", "", "", ""
		out.Invites = append(out.Invites, shown)
	}
	slices.SortFunc(out.Devices, func(a, b protocol.Device) int {
		if c := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); c != 0 {
			return c
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	slices.SortFunc(out.Requests, func(a, b protocol.DeviceRequest) int { return int(a.CreatedAt - b.CreatedAt) })
	slices.SortFunc(out.Invites, func(a, b protocol.DeviceInvite) int { return int(a.CreatedAt - b.CreatedAt) })
	return out, nil
}

func (m *Manager) displayLocked(d *store.PairedDevice) protocol.Device {
	out := d.Device
	out.Online = m.online[d.ID] > 0 && d.RevokedAt == 0
	return out
}

// publishChange publishes that devices or requests have changed.
func (m *Manager) publishChange() {
	if m.o.Bus != nil {
		m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeDevices})
	}
}

// notifyEnded reports the end of a pairing to Options.Ended if now is set.
func (m *Manager) notifyEnded(d protocol.Device, now bool) {
	if now && m.o.Unpaired != nil {
		m.o.Unpaired(d)
	}
}

// notice publishes a notice for the person.
func (m *Manager) notice(level, text string) {
	slog.Warn("Pairing", "notice", text)
	if m.o.Bus != nil {
		m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Level: level, Text: text, At: time.Now().UnixMilli()}})
	}
}

// expireLocked deletes expired invitations.
func (m *Manager) expireLocked(now time.Time) {
	for id, i := range m.invites {
		if i.end.passed(now) {
			delete(m.invites, id)
		}
	}
}

func auditEntry(by, what, verdict string, d protocol.Device) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditDevice, By: by, Node: d.NodeID, What: what + " " + d.Name + " (" + string(d.ID) + ")", Verdict: verdict}
}
