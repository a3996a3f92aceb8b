package trust

import (
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

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Peer is a gateway that this device is paired with.
type Peer struct {
	Gateway
	Role     string            `json:"role"`
	NodeID   protocol.NodeID   `json:"nodeId,omitempty"`
	Device   protocol.DeviceID `json:"deviceId"`
	PairedAt int64             `json:"pairedAt"`
	// Ended says why the gateway does not let this device in any more; nil while it does.
	Ended *protocol.DeviceRefused `json:"ended,omitempty"`
	// LeftAt is when this device ended the pairing, while the gateway does not know it yet; Unix milliseconds.
	LeftAt int64 `json:"leftAt,omitempty"`
}

// Tie names a pairing. A device may be several things to one gateway, each with a token and an end of its own.
type Tie struct {
	Pin  Pin
	Role string
}

// Tie names the pairing.
func (p Peer) Tie() Tie { return Tie{p.Pin, p.Role} }

// Over reports whether a pairing has ended for good. One whose time is over may be given more, of which only the next contact tells.
func (p Peer) Over() bool {
	return p.LeftAt > 0 || p.Ended != nil && p.Ended.Reason != protocol.RefusedExpired
}

// Peers are the gateways this device is paired with. What is public of them lies in gateways.json of the data folder, their tokens with the
// other secrets. It is safe for use by many goroutines; every method may block on disk and keychain.
type Peers struct {
	path    string
	secrets keychain.Store
	mu      sync.Mutex // guards the file
}

// OpenPeers uses the data folder dir; nothing is read before the first use.
func OpenPeers(dir string, secrets keychain.Store) *Peers {
	return &Peers{path: filepath.Join(dir, "gateways.json"), secrets: secrets}
}

// tokenName is a token's name in the secret store. Of a client that was paired before it had one of its own none is found: it fetches a new one with its key.
func tokenName(t Tie) string {
	name := "device-token-" + hex.EncodeToString(t.Pin.sum()[:min(8, len(t.Pin.sum()))])
	if t.Role == protocol.RoleClient {
		name += "-client"
	}
	return name
}

// List gives every gateway, in the order they were paired.
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

// Get finds a pairing; protocol.ErrNotFound when this device is not paired so.
func (p *Peers) Get(t Tie) (Peer, error) {
	list, err := p.List()
	if err != nil {
		return Peer{}, err
	}
	for _, peer := range list {
		if peer.Tie() == t {
			return peer, nil
		}
	}
	return Peer{}, protocol.ErrNotFound.With("this device is not paired with the gateway any more")
}

// Find gives the gateway called name, or met at that address, or the only one when name is empty, for a role; "" is any role, and of several pairings with
// one gateway the first. One that this device has left is not found.
func (p *Peers) Find(name, role string) (Peer, error) {
	list, err := p.List()
	if err != nil {
		return Peer{}, err
	}
	list = slices.DeleteFunc(list, func(q Peer) bool {
		return q.LeftAt > 0 || role != "" && q.Role != role || name != "" && !strings.EqualFold(q.Name, name) && !slices.Contains(q.Addresses, name)
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
			q.Name = q.Addresses[0] // the name alone says nothing
		}
		names = append(names, q.Name)
	}
	return Peer{}, protocol.ErrConflict.With("this device is paired with several gateways, say which: " + strings.Join(names, ", "))
}

// Lookup finds a gateway that this device is a client of by its pin or its name, as [Peers.Find] does.
func (p *Peers) Lookup(text string) (Peer, error) {
	if pin, err := ParsePin(text); err == nil {
		return p.Get(Tie{pin, protocol.RoleClient})
	}
	return p.Find(text, protocol.RoleClient)
}

// Token is what the gateway gave this device.
func (p *Peers) Token(t Tie) (string, error) {
	token, err := p.secrets.Get(tokenName(t))
	if errors.Is(err, keychain.ErrNotFound) {
		return "none", nil // the gateway says how to get one
	}
	if err != nil {
		return "", fmt.Errorf("read the device's token: %w", err)
	}
	return token.Reveal(), nil
}

// Put keeps a new pairing, in place of one with the same gateway in the same role.
func (p *Peers) Put(d Done) (Peer, error) {
	peer := Peer{Gateway: d.Gateway, Role: d.Device.Role, NodeID: d.Device.NodeID, Device: d.Device.ID, PairedAt: time.Now().UnixMilli()}
	if err := p.secrets.Set(tokenName(peer.Tie()), keychain.Secret(d.Token)); err != nil {
		return peer, fmt.Errorf("store the device's token: %w", err)
	}
	return peer, p.change(func(list []Peer) []Peer {
		return append(slices.DeleteFunc(list, func(q Peer) bool { return q.Tie() == peer.Tie() }), peer)
	})
}

// Renewed keeps a new token and where the gateway is now.
func (p *Peers) Renewed(t Tie, d Done) error {
	if err := p.secrets.Set(tokenName(t), keychain.Secret(d.Token)); err != nil {
		return fmt.Errorf("store the device's token: %w", err)
	}
	return p.edit(t, func(q *Peer) {
		q.Ended = nil
		if len(d.Gateway.Addresses) > 0 {
			q.Addresses = d.Gateway.Addresses
		}
	})
}

// Moved notes other addresses of a gateway, before those that were known.
func (p *Peers) Moved(t Tie, addresses []string) error {
	return p.edit(t, func(q *Peer) {
		all := append(slices.Clone(addresses), q.Addresses...)
		var once []string
		for _, a := range all {
			if !slices.Contains(once, a) {
				once = append(once, a)
			}
		}
		q.Addresses = once[:min(len(once), maxAddresses)]
	})
}

// Ended notes that the gateway refuses this device for good.
func (p *Peers) Ended(t Tie, why protocol.DeviceRefused) error {
	return p.edit(t, func(q *Peer) { q.Ended = &why })
}

// LetIn notes that the gateway lets this device in, if it did not.
func (p *Peers) LetIn(t Tie) error {
	if peer, err := p.Get(t); err != nil || peer.Ended == nil {
		return err
	}
	return p.edit(t, func(q *Peer) { q.Ended = nil })
}

// Leave ends a pairing on this side until the gateway was told and it is forgotten. Its token is deleted at once.
func (p *Peers) Leave(t Tie) error {
	if err := p.secrets.Delete(tokenName(t)); err != nil {
		return fmt.Errorf("delete the device's token: %w", err)
	}
	return p.edit(t, func(q *Peer) { q.LeftAt = time.Now().UnixMilli() })
}

// Forget ends a pairing on this side.
func (p *Peers) Forget(t Tie) error {
	if err := p.secrets.Delete(tokenName(t)); err != nil {
		return fmt.Errorf("delete the device's token: %w", err)
	}
	return p.change(func(list []Peer) []Peer { return slices.DeleteFunc(list, func(q Peer) bool { return q.Tie() == t }) })
}

func (p *Peers) edit(t Tie, f func(*Peer)) error {
	return p.change(func(list []Peer) []Peer {
		for i := range list {
			if list[i].Tie() == t {
				f(&list[i])
			}
		}
		return list
	})
}

// change rewrites the file in one step, alone among all programs of this data folder.
func (p *Peers) change(f func([]Peer) []Peer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return fmt.Errorf("store the paired gateways: %w", err)
	}
	return alone(p.path+".lock", func() error { return p.rewrite(f) })
}

func (p *Peers) rewrite(f func([]Peer) []Peer) error {
	list, err := p.read()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(f(list), "", "  ")
	if err != nil {
		return fmt.Errorf("encode the paired gateways: %w", err)
	}
	tmp := p.path + ".new"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("store the paired gateways: %w", err)
	}
	if err := os.Rename(tmp, p.path); err != nil {
		return fmt.Errorf("store the paired gateways: %w", err)
	}
	return nil
}
