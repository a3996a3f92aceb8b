package identity

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Peer is a gateway with which this device is paired.
type Peer struct {
	Gateway
	Role     string            `json:"role"`
	NodeID   protocol.NodeID   `json:"nodeId,omitempty"`
	Device   protocol.DeviceID `json:"deviceId"`
	PairedAt int64             `json:"pairedAt"`
	// Refusal is the reason why the gateway refuses this device; nil if it does not.
	Refusal *protocol.DeviceRefused `json:"ended,omitempty"`
	// EndedAt is the time in Unix milliseconds at which this device ended the pairing, until the
	// gateway knows it.
	EndedAt int64 `json:"leftAt,omitempty"`
}

// PeerID identifies a pairing. A device can have several roles at one gateway, each with its own
// token and lifetime.
type PeerID struct {
	Pin  Pin
	Role string
}

// ID returns the identity of the pairing.
func (p Peer) ID() PeerID { return PeerID{p.Pin, p.Role} }

// HasEnded reports whether a pairing has ended finally. An expired one may be extended, which the
// device learns at the next contact.
func (p Peer) HasEnded() bool {
	return p.EndedAt > 0 || p.Refusal != nil && p.Refusal.Reason != protocol.RefusedExpired
}

// Gateway describes a paired gateway to the device.
type Gateway struct {
	Name      string   `json:"name"`
	Pin       Pin      `json:"pin"`
	Addresses []string `json:"addresses"`
}

// MaxAddresses is the maximum number of addresses of a gateway.
const MaxAddresses = 8

// Pairing is what a device gets when the gateway accepts it.
type Pairing struct {
	Device  protocol.Device `json:"device"`
	Token   string          `json:"token"`
	Gateway Gateway         `json:"gateway"`
}

// Peers stores the gateways with which this device is paired: the public part in gateways.json of
// the data folder, the tokens with the other secrets. It is safe for concurrent use. Every method
// may block on disk and keychain.
type Peers struct {
	path    string
	secrets keychain.Store
	mu      sync.Mutex // guards the file
}

// OpenPeers uses the data folder dir. Nothing is read before the first use.
func OpenPeers(dir string, secrets keychain.Store) *Peers {
	return &Peers{path: filepath.Join(dir, "gateways.json"), secrets: secrets}
}

// tokenName returns the name of a token in the secret store. Clients that were paired before
// clients had tokens of their own have none under this name, and fetch a new one with their key.
func tokenName(t PeerID) string {
	name := "device-token-" + hex.EncodeToString(t.Pin.Sum()[:min(8, len(t.Pin.Sum()))])
	if t.Role == protocol.RoleClient {
		name += "-client"
	}
	return name
}

// List returns every pairing, in the order in which they were made.
func (p *Peers) List() ([]Peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.read()
}

func (p *Peers) read() ([]Peer, error) {
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the paired gateways: %w", err)
	}
	var list []Peer
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the paired gateways in %s: %w", p.path, err)
	}
	return list, nil
}

// Get returns a pairing, or protocol.ErrNotFound.
func (p *Peers) Get(t PeerID) (Peer, error) {
	list, err := p.List()
	if err != nil {
		return Peer{}, err
	}
	if i := slices.IndexFunc(list, func(q Peer) bool { return q.ID() == t }); i >= 0 {
		return list[i], nil
	}
	return Peer{}, protocol.ErrNotFound.With("this device is no longer paired with the gateway")
}

// Find returns a pairing by the gateway's name or by one of its addresses; an empty name means the
// only gateway. role "" means any role. With several pairings to one gateway, it returns the first.
// A pairing that this device has ended is not found.
func (p *Peers) Find(name, role string) (Peer, error) {
	list, err := p.List()
	if err != nil {
		return Peer{}, err
	}
	list = slices.DeleteFunc(list, func(q Peer) bool {
		return q.EndedAt > 0 || role != "" && q.Role != role || name != "" && !strings.EqualFold(q.Name, name) && !slices.Contains(q.Addresses, name)
	})
	switch {
	case len(list) > 0 && !slices.ContainsFunc(list, func(q Peer) bool { return q.Pin != list[0].Pin }):
		return list[0], nil
	case len(list) == 0 && name != "":
		return Peer{}, protocol.ErrNotFound.With(fmt.Sprintf("this device is not paired with a gateway called %s", name))
	case len(list) == 0:
		return Peer{}, protocol.ErrNotFound.With("this device is not paired with a gateway")
	}
	var names []string
	for _, q := range list {
		if slices.ContainsFunc(list, func(o Peer) bool { return o.Pin != q.Pin && strings.EqualFold(o.Name, q.Name) }) && len(q.Addresses) > 0 {
			q.Name = q.Addresses[0] // the name alone is ambiguous
		}
		names = append(names, q.Name)
	}
	return Peer{}, protocol.ErrConflict.With("this device is paired with several gateways; choose one: " + strings.Join(names, ", "))
}

// Lookup finds a gateway that this device uses as a client, by its pin or as [Peers.Find] does.
func (p *Peers) Lookup(text string) (Peer, error) {
	if pin, err := ParsePin(text); err == nil {
		return p.Get(PeerID{pin, protocol.RoleClient})
	}
	return p.Find(text, protocol.RoleClient)
}

// Token returns the device's token for the gateway.
func (p *Peers) Token(t PeerID) (string, error) {
	token, err := p.secrets.Get(tokenName(t))
	if errors.Is(err, keychain.ErrNotFound) {
		return "none", nil // the gateway's refusal tells the device to fetch one
	}
	if err != nil {
		return "", fmt.Errorf("read the device's token: %w", err)
	}
	return token.Reveal(), nil
}

// Put stores a new pairing. It replaces one with the same gateway and role.
func (p *Peers) Put(d Pairing) (Peer, error) {
	peer := Peer{Gateway: d.Gateway, Role: d.Device.Role, NodeID: d.Device.NodeID, Device: d.Device.ID, PairedAt: time.Now().UnixMilli()}
	if err := p.secrets.Set(tokenName(peer.ID()), keychain.Secret(d.Token)); err != nil {
		return peer, fmt.Errorf("store the device's token: %w", err)
	}
	return peer, p.change(func(list []Peer) []Peer {
		return append(slices.DeleteFunc(list, func(q Peer) bool { return q.ID() == peer.ID() }), peer)
	})
}

// Renew stores a new token and the gateway's current addresses.
func (p *Peers) Renew(t PeerID, d Pairing) error {
	if err := p.secrets.Set(tokenName(t), keychain.Secret(d.Token)); err != nil {
		return fmt.Errorf("store the device's token: %w", err)
	}
	return p.edit(t, func(q *Peer) {
		q.Refusal = nil
		if len(d.Gateway.Addresses) > 0 {
			q.Addresses = d.Gateway.Addresses
		}
	})
}

// AddAddresses adds new addresses of a gateway before the known ones.
func (p *Peers) AddAddresses(t PeerID, addresses []string) error {
	return p.edit(t, func(q *Peer) {
		var all []string
		for _, a := range slices.Concat(addresses, q.Addresses) {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
		q.Addresses = all[:min(len(all), MaxAddresses)]
	})
}

// SetRefusal records why the gateway refuses this device.
func (p *Peers) SetRefusal(t PeerID, why protocol.DeviceRefused) error {
	return p.edit(t, func(q *Peer) { q.Refusal = &why })
}

// ClearRefusal records that the gateway accepts this device, if it was refused before.
func (p *Peers) ClearRefusal(t PeerID) error {
	if peer, err := p.Get(t); err != nil || peer.Refusal == nil {
		return err
	}
	return p.edit(t, func(q *Peer) { q.Refusal = nil })
}

// End deletes the token and marks the pairing as ended, until the gateway was notified and
// [Peers.Forget] is called.
func (p *Peers) End(t PeerID) error {
	if err := p.secrets.Delete(tokenName(t)); err != nil {
		return fmt.Errorf("delete the device's token: %w", err)
	}
	return p.edit(t, func(q *Peer) { q.EndedAt = time.Now().UnixMilli() })
}

// Forget deletes a pairing and its token.
func (p *Peers) Forget(t PeerID) error {
	if err := p.secrets.Delete(tokenName(t)); err != nil {
		return fmt.Errorf("delete the device's token: %w", err)
	}
	return p.change(func(list []Peer) []Peer { return slices.DeleteFunc(list, func(q Peer) bool { return q.ID() == t }) })
}

func (p *Peers) edit(t PeerID, f func(*Peer)) error {
	return p.change(func(list []Peer) []Peer {
		for i := range list {
			if list[i].ID() == t {
				f(&list[i])
			}
		}
		return list
	})
}

// lockLimit is the maximum wait for other programs of the data folder that change the same file.
const lockLimit = 5 * time.Second

// change replaces the file atomically, under a lock among all programs of this data folder.
func (p *Peers) change(f func([]Peer) []Peer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("store the paired gateways: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	lock := flock.New(p.path + ".lock")
	if locked, err := lock.TryLockContext(ctx, 5*time.Millisecond); !locked {
		return fmt.Errorf("wait for other programs that change the paired gateways: %w", err)
	}
	defer lock.Unlock()
	list, err := p.read()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(f(list), "", "  ")
	if err != nil {
		return fmt.Errorf("encode the paired gateways: %w", err)
	}
	if err := atomicfile.Write(p.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("store the paired gateways: %w", err)
	}
	return nil
}
