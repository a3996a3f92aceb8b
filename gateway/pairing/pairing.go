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
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
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
	maxInvites = 8
	// maxRegistered is the number of open invitations of one program, so that others remain.
	maxRegistered = 4
	maxName       = 60 // characters of a device's name
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
	// Node returns the machine that has a name now.
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
}

// Transfers are what devices send and receive.
type Transfers interface {
	// EndDevice ends the transfers of a device whose pairing has ended.
	EndDevice(d protocol.Device)
}

// Connections are the open connections of devices.
type Connections interface {
	// CloseDevice closes every connection of a device with a close code of the WebSocket.
	CloseDevice(id protocol.DeviceID, code int, reason string)
}

// Options configure a manager. All fields except HasPrograms are required.
type Options struct {
	Store Store
	Audit AuditLog
	Bus   *event.Bus
	Nodes Nodes
	// Questions asks the person whether a device may be paired, or a machine offer more.
	Questions *question.Queue
	// Network returns the state of the listener for other machines.
	Network func() protocol.NetworkStatus
	// HasPrograms reports whether the gateway has node programs to install, for Windows and for
	// other systems. It may be nil, which means none.
	HasPrograms func() (windows, others bool)
	Transfers   Transfers
	Connections Connections
	// Name is the gateway's name as devices display it.
	Name string
}

// Manager manages pairings. It is safe for concurrent use.
type Manager struct {
	o Options

	// changing is held while a device or a request changes, including the write to the store:
	// changes are stored in the order in which they are made, and an invitation or a request ends
	// once. Readers do not wait for the disk. It is locked before the locks of devices and requests,
	// neither of which is locked while the other is held.
	changing sync.Mutex

	devices  registry
	requests requests
}

// Open loads the devices and returns a manager.
func Open(ctx context.Context, o Options) (*Manager, error) {
	m := &Manager{
		o:        o,
		devices:  registry{store: o.Store, devices: make(map[protocol.DeviceID]*store.PairedDevice), online: make(map[protocol.DeviceID]int)},
		requests: requests{bus: o.Bus, questions: o.Questions, pending: make(map[protocol.QuestionID]*request), invites: make(map[string]*invite), widened: make(map[protocol.DeviceID]protocol.QuestionID), refused: make(map[protocol.DeviceID]string)},
	}
	list, err := o.Store.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("load devices: %w", err)
	}
	for _, d := range list {
		m.devices.devices[d.ID] = &d
	}
	return m, nil
}

// List returns devices and invitations for display, without the secrets of invitations.
func (m *Manager) List(context.Context) (protocol.DeviceListResult, error) {
	out := protocol.DeviceListResult{Network: m.o.Network(), Invites: m.requests.listInvites()}
	out.Devices = m.devices.list() // after the invitations: one that is used meanwhile is a device
	return out, nil
}

// publishChange publishes that devices or invitations have changed.
func publishChange(b *event.Bus) { b.Publish(protocol.Change{Kind: protocol.ChangeDevices}) }

func auditEntry(by, what, verdict string, d protocol.Device) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditDevice, By: by, Node: d.NodeID, What: what + " " + nameOf(d), Verdict: verdict}
}

// auditAnswer is auditEntry for the answer to a question.
func auditAnswer(who auth.Principal, q *protocol.Question, what string, d protocol.Device) protocol.AuditEntry {
	return question.AuditLine(who, *q, protocol.AuditDevice, what+" "+nameOf(d))
}

// nameOf identifies a device in the audit log.
func nameOf(d protocol.Device) string { return d.Name + " (" + string(d.ID) + ")" }
