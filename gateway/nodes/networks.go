package nodes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Limits of networks.
const (
	maxNetworks    = 200
	maxNetworkName = 63 // bytes, as of a DNS label
)

// NetworkStore stores the networks ([store.Networks]).
type NetworkStore interface {
	List(ctx context.Context) ([]protocol.Network, error)
	Put(ctx context.Context, n protocol.Network, lines ...protocol.AuditEntry) (protocol.Network, error)
	Delete(ctx context.Context, id protocol.NetworkID, lines ...protocol.AuditEntry) error
}

// Networks are the groups of a hub's machines. There is always a default network. It is safe for
// concurrent use.
type Networks struct {
	hub   *Hub
	store NetworkStore

	changing sync.Mutex // held during a change, with its write to the store

	// The fields below are guarded by the hub's lock.
	list        []protocol.Network // the default one first, then by index
	provisioned func(protocol.NetworkID) []string
	moved       func()
}

// newNetworks returns the default network alone, which is not stored.
func newNetworks(h *Hub) *Networks {
	return &Networks{hub: h, list: []protocol.Network{{ID: "net_default", Name: "default", Index: 1, Default: true}}, moved: func() {}}
}

// Open reads the networks, before the hub loads its machines. The first start creates the default
// network, which gets its name from that of the gateway's computer.
func (w *Networks) Open(ctx context.Context, s NetworkStore, computer string) error {
	list, err := s.List(ctx)
	if err == nil && len(list) == 0 {
		// The ID is the one that earlier versions gave to their only network.
		sum := sha256.Sum256([]byte(computer))
		n := protocol.Network{ID: protocol.NetworkID("net_" + hex.EncodeToString(sum[:8])), Name: networkNameOf(computer), CreatedAt: time.Now().UnixMilli()}
		n, err = s.Put(ctx, n)
		list = []protocol.Network{n}
	}
	if err != nil {
		return fmt.Errorf("load networks: %w", err)
	}
	list[0].Default = true
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	w.store, w.list = s, list
	return nil
}

// networkNameOf makes a valid name of any text.
func networkNameOf(text string) string {
	name := strings.Map(func(r rune) rune {
		if isNameRune(r) {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	name = strings.Trim(name[:min(len(name), maxNetworkName)], "-")
	if name == "" {
		return "default"
	}
	return name
}

func isNameRune(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' }

// CheckNetworkName returns a valid name of a network in lower case, or protocol.ErrBadRequest.
func CheckNetworkName(name string) (string, error) {
	lower := strings.ToLower(name)
	invalid := strings.ContainsFunc(lower, func(r rune) bool { return !isNameRune(r) })
	if lower == "" || len(lower) > maxNetworkName || invalid || lower[0] == '-' || lower[len(lower)-1] == '-' {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("%.80q is not a name of a network: use up to %d letters, digits and hyphens, with a letter or digit at both ends", name, maxNetworkName))
	}
	return lower, nil
}

// OnMove sets what runs after a machine was moved to another network, when what its callers may do
// has changed.
func (w *Networks) OnMove(f func()) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	w.moved = f
}

// SetProvisioned sets what lists the active provisioned machines of a network by name, connected or
// not. A network with some is not deleted. f must not block.
func (w *Networks) SetProvisioned(f func(protocol.NetworkID) []string) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	w.provisioned = f
}

// List lists the networks, the default one first.
func (w *Networks) List() []protocol.Network {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	return slices.Clone(w.list)
}

// NetworkList is [Networks.List].
func (h *Hub) NetworkList() []protocol.Network { return h.Networks.List() }

// Default returns the default network.
func (w *Networks) Default() protocol.Network { return w.List()[0] }

// Find returns the network with an ID or a name. An empty text is the default network. The error is
// protocol.ErrNotFound.
func (w *Networks) Find(network string) (protocol.Network, error) {
	list := w.List()
	if network == "" {
		return list[0], nil
	}
	i := slices.IndexFunc(list, func(n protocol.Network) bool {
		return string(n.ID) == network || strings.EqualFold(n.Name, network)
	})
	if i < 0 {
		return protocol.Network{}, protocol.ErrNotFound.With(fmt.Sprintf("there is no network named %.80q", network))
	}
	return list[i], nil
}

// Of returns the network of a machine. A machine that is not known is in none: the ID is empty.
func (w *Networks) Of(id protocol.NodeID) protocol.NetworkID {
	n, _ := w.hub.Node(id)
	return n.Network
}

// CheckCreate returns why a network with this name cannot be created: protocol.ErrBadRequest,
// protocol.ErrConflict if another one has the name, or protocol.ErrTooLarge if there are too many.
func (w *Networks) CheckCreate(name string) error {
	name, err := CheckNetworkName(name)
	if err != nil {
		return err
	}
	if len(w.List()) >= maxNetworks {
		return protocol.ErrTooLarge.With(fmt.Sprintf("there can be %d networks: delete one first", maxNetworks))
	}
	return w.checkUnique(name, "")
}

func (w *Networks) checkUnique(name string, except protocol.NetworkID) error {
	if n, err := w.Find(name); err == nil && n.ID != except {
		return protocol.ErrConflict.With(fmt.Sprintf("there is a network named %q already", n.Name))
	}
	return nil
}

// Create creates a network.
func (w *Networks) Create(ctx context.Context, by string, p protocol.NetworkCreateParams) (protocol.Network, error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	if err := w.CheckCreate(p.Name); err != nil {
		return protocol.Network{}, err
	}
	n := protocol.Network{ID: protocol.NetworkID("net_" + protocol.NewID()), Name: strings.ToLower(p.Name), CreatedAt: time.Now().UnixMilli()}
	n, err := w.store.Put(ctx, n, networkAudit(by, "created the network "+n.Name))
	if err != nil {
		return protocol.Network{}, err
	}
	w.set(func(list []protocol.Network) []protocol.Network { return append(list, n) })
	return n, nil
}

// Rename gives a network another name.
func (w *Networks) Rename(ctx context.Context, by string, p protocol.NetworkRenameParams) (protocol.Network, error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	n, err := w.findNamed(p.Network)
	if err != nil {
		return n, err
	}
	name, err := CheckNetworkName(p.Name)
	if err == nil {
		err = w.checkUnique(name, n.ID)
	}
	if err != nil || name == n.Name {
		return n, err
	}
	line := networkAudit(by, fmt.Sprintf("renamed the network %s to %s", n.Name, name))
	n.Name = name
	if _, err = w.store.Put(ctx, n, line); err != nil {
		return n, err
	}
	w.set(func(list []protocol.Network) []protocol.Network {
		list[slices.IndexFunc(list, func(o protocol.Network) bool { return o.ID == n.ID })] = n
		return list
	})
	return n, nil
}

// findNamed is Find for a caller that must name a network.
func (w *Networks) findNamed(network string) (protocol.Network, error) {
	if network == "" {
		return protocol.Network{}, protocol.ErrBadRequest.With("network required")
	}
	return w.Find(network)
}

// CheckDelete returns why a network cannot be deleted: protocol.ErrConflict if it is the default one
// or has machines.
func (w *Networks) CheckDelete(id protocol.NetworkID) error {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	return w.checkDeleteLocked(id)
}

func (w *Networks) checkDeleteLocked(id protocol.NetworkID) error {
	i := slices.IndexFunc(w.list, func(n protocol.Network) bool { return n.ID == id })
	if i < 0 {
		return protocol.ErrNotFound.With("the network does not exist any more")
	}
	n := w.list[i]
	if n.Default {
		return protocol.ErrConflict.With(fmt.Sprintf("%s is the default network, which cannot be deleted", n.Name))
	}
	if w.provisioned != nil {
		if active := w.provisioned(id); len(active) > 0 {
			return protocol.ErrConflict.With(fmt.Sprintf("%s has active provisioned machines (%s): deprovision them first", n.Name, firstNames(active)))
		}
	}
	var names []string
	for _, m := range w.hub.nodes {
		if m.info.Network == id {
			names = append(names, m.info.DisplayName())
		}
	}
	if slices.Sort(names); len(names) > 0 {
		return protocol.ErrConflict.With(fmt.Sprintf("%s has %s (%s): move or remove them first", n.Name, format.Plural(len(names), "machine"), firstNames(names)))
	}
	return nil
}

// firstNames lists names, at most three.
func firstNames(names []string) string {
	const most = 3
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(names)-most))
	}
	return format.Enumerate(names)
}

// Delete deletes an empty network, and returns it.
func (w *Networks) Delete(ctx context.Context, by string, p protocol.NetworkParams) (protocol.Network, error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	n, err := w.findNamed(p.Network)
	if err != nil {
		return n, err
	}
	w.hub.mu.Lock()
	before := w.list
	if err = w.checkDeleteLocked(n.ID); err == nil { // from now on no machine joins it
		w.list = slices.DeleteFunc(slices.Clone(before), func(o protocol.Network) bool { return o.ID == n.ID })
	}
	w.hub.mu.Unlock()
	if err != nil {
		return n, err
	}
	if err := w.store.Delete(ctx, n.ID, networkAudit(by, "deleted the network "+n.Name)); err != nil {
		w.set(func([]protocol.Network) []protocol.Network { return before })
		return n, err
	}
	w.set(func(list []protocol.Network) []protocol.Network { return list })
	return n, nil
}

// Move moves a machine to another network. What callers that are limited to networks may do follows
// at once.
func (w *Networks) Move(ctx context.Context, by string, p protocol.NetworkMoveParams) (protocol.NodeInfo, error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	n, err := w.findNamed(p.Network)
	if err != nil {
		return protocol.NodeInfo{}, err
	}
	info, known := w.hub.Node(p.NodeID)
	if known && info.Network == n.ID {
		return info, nil
	}
	line := networkAudit(by, fmt.Sprintf("moved %s to the network %s", info.DisplayName(), n.Name))
	line.Node = p.NodeID
	info, err = w.hub.change(ctx, p.NodeID, func(to *protocol.NodeInfo) { to.Network = n.ID }, line)
	if err == nil {
		w.hub.mu.Lock()
		moved := w.moved
		w.hub.mu.Unlock()
		moved()
	}
	return info, err
}

// set replaces the list by what change returns of a copy, and publishes that.
func (w *Networks) set(change func([]protocol.Network) []protocol.Network) {
	w.hub.mu.Lock()
	defer w.hub.mu.Unlock()
	w.list = change(slices.Clone(w.list))
	if w.hub.bus != nil {
		w.hub.bus.Publish(protocol.Change{Kind: protocol.ChangeNetworks})
	}
}

// placeLocked returns the network of a machine that wants to be in one: the default one if that does
// not exist.
func (w *Networks) placeLocked(id protocol.NetworkID) protocol.NetworkID {
	if slices.ContainsFunc(w.list, func(n protocol.Network) bool { return n.ID == id }) {
		return id
	}
	return w.list[0].ID
}

func networkAudit(by, what string) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditNetwork, By: by, What: what, Verdict: "allowed"}
}
