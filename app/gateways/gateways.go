// Package gateways are the remote gateways that this computer is paired with, and their windows.
package gateways

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/app/computer"
	"fairlead/app/feed"
	"fairlead/app/preferences"
	"fairlead/app/settings"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Gateways manages the remote gateways that this computer is paired with. Each remote gateway gets
// a window in a separate process, so that a slow or faulty gateway cannot disturb the windows of
// another. It implements settings.Gateways.
type Gateways struct {
	Peers *identity.Peers
	Nodes *computer.Remote // this computer as a machine of them
	// Lines are for the tray; open windows report the number of pending approvals.
	Lines *feed.Value[[]Line]

	home, version string
	log           *slog.Logger
	ctx           context.Context // windows are closed when it is cancelled
	wg            crash.Group

	mu sync.Mutex // guards windows
	// cancel functions of the open windows, by the gateway's id
	windows map[string]context.CancelFunc
}

// New returns the gateways of a data folder. Their windows close when ctx ends. version is this
// program's.
func New(ctx context.Context, home, version string, log *slog.Logger) *Gateways {
	g := &Gateways{
		Peers: identity.OpenPeers(home, keychain.Open(home)), Lines: feed.NewValue[[]Line](nil),
		home: home, version: version, log: log, ctx: ctx, windows: map[string]context.CancelFunc{},
	}
	g.Nodes = computer.NewRemote(home, log, g.Peers, g.Identity, func(pin identity.Pin) string { return preferences.Dir(home, string(pin)) })
	return g
}

// Wait waits until the windows have closed, which begins when the context ends.
func (g *Gateways) Wait() { g.wg.Wait() }

// Identity returns this computer's device key. It blocks: the keychain may ask the person.
func (g *Gateways) Identity() (identity.Key, error) { return identity.OpenKey(keychain.Open(g.home)) }

// List implements settings.Gateways.
func (g *Gateways) List() ([]settings.Gateway, error) {
	peers, err := g.Peers.List()
	if err != nil {
		return nil, err
	}
	var list []settings.Gateway
	for _, p := range peers {
		if p.EndedAt > 0 {
			continue // the person has left this gateway
		}
		item := settings.Gateway{ID: string(p.Pin), Name: p.Name, Addresses: p.Addresses, PairedAt: time.UnixMilli(p.PairedAt)}
		if p.Role == protocol.RoleNode {
			item.ID, item.IsMachine = nodePrefix+item.ID, true
			item.OfflineReason = "Fairlead does not offer this computer's tools at the moment"
			if problem, ok := g.Nodes.Problem(p.Pin); ok {
				item.OfflineReason = problem
			}
		}
		if p.Refusal != nil {
			item.RefusedReason, item.RefusalFinal = feed.RefusedText(p.Name, *p.Refusal, time.Now()), p.HasEnded()
		}
		list = append(list, item)
	}
	g.Lines.Update(func(list *[]Line) {
		lines := linesOf(peers)
		for i, l := range lines {
			if at := slices.IndexFunc(*list, func(w Line) bool { return w.ID == l.ID }); at >= 0 {
				lines[i].Needs = (*list)[at].Needs
			}
		}
		*list = lines
	})
	return list, nil
}

// nodePrefix begins the IDs of pairings as a machine. The IDs of windows are certificate pins.
const nodePrefix = "machine of "

func (g *Gateways) setPending(id string, n int) {
	g.Lines.Update(func(list *[]Line) {
		lines := slices.Clone(*list)
		for i := range lines {
			if lines[i].ID == id {
				lines[i].Needs = n
			}
		}
		*list = lines
	})
}

// Changes implements settings.Gateways.
func (g *Gateways) Changes() *feed.Value[int] { return g.Nodes.Changed }

// Pair implements settings.Gateways.
func (g *Gateways) Pair(ctx context.Context, taken settings.Invitation, show func(words []string, seconds int)) (string, error) {
	id, err := g.Identity()
	if err != nil {
		return "", err
	}
	host, _ := os.Hostname()
	j := client.Join{
		Key: id, Peers: g.Peers, Invitation: taken.Text, Show: show,
		Find:      func(ctx context.Context) []string { return discovery.Find(ctx, "") },
		Applicant: pake.Applicant{Role: protocol.RoleClient, Name: host, Hostname: host, OS: runtime.GOOS, Platform: runtime.GOOS, Version: g.version},
	}
	if taken.AsMachine {
		if j.Applicant, err = g.Nodes.Applicant(taken.Name); err != nil {
			return "", err
		}
	}
	if taken.Address != "" {
		j.Gateways = []string{taken.Address}
	}
	peer, err := j.Run(ctx)
	if err != nil {
		return "", err
	}
	if taken.AsMachine {
		g.Nodes.Stop(peer.Pin) // of an earlier pairing with the same gateway
		g.Nodes.Restart()
	}
	_, err = g.List()
	return peer.Name, err
}

// Leave implements settings.Gateways. It notifies an unreachable gateway at a later start.
func (g *Gateways) Leave(ctx context.Context, id string) (notified bool, err error) {
	pairing := identity.PeerID{Pin: identity.Pin(id), Role: protocol.RoleClient}
	if pin, ok := strings.CutPrefix(id, nodePrefix); ok {
		pairing = identity.PeerID{Pin: identity.Pin(pin), Role: protocol.RoleNode}
	}
	peer, err := g.Peers.Get(pairing)
	if err != nil {
		return false, err
	}
	if peer.Role == protocol.RoleNode {
		g.Nodes.Stop(peer.Pin)
	}
	key, err := g.Identity()
	if err != nil {
		return false, err
	}
	g.mu.Lock()
	if closeWindow := g.windows[id]; closeWindow != nil {
		closeWindow()
	}
	g.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	err = client.EndPairing(ctx, g.Peers, pairing, key)
	notified = err == nil
	if errors.Is(err, protocol.ErrUnavailable) {
		err = nil
	}
	if _, e := g.List(); err == nil {
		err = e
	}
	return notified, err
}

// leaveTimeout is the time limit for notifying a gateway that this computer left it.
const leaveTimeout = 5 * time.Second

// Start loads the gateways and notifies those that this computer left while they were offline.
func (g *Gateways) Start(ctx context.Context) error {
	if _, err := g.List(); err != nil {
		return err
	}
	peers, err := g.Peers.List()
	if err != nil || !slices.ContainsFunc(peers, func(p identity.Peer) bool { return p.EndedAt > 0 }) {
		return err // do not open the keychain without need
	}
	id, err := g.Identity()
	if err != nil {
		return err
	}
	return client.NotifyEndedPairings(ctx, g.Peers, id)
}
