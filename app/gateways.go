package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/app/computer"
	"fairlead/app/feed"
	"fairlead/app/settings"
	"fairlead/app/state"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// gateways manages the remote gateways that this computer is paired with. Each remote gateway gets
// a window in a separate process, so that a slow or faulty gateway cannot disturb the windows of
// another. It implements settings.Gateways.
type gateways struct {
	home  string
	log   *slog.Logger
	peers *identity.Peers
	nodes *computer.Remote
	// for the tray; open windows report the number of pending approvals
	list *feed.Value[[]state.GatewayLine]
	ctx  context.Context // windows are closed when it is cancelled
	wg   crash.Group

	mu sync.Mutex // guards windows
	// cancel functions of the open windows, by the gateway's id
	windows map[string]context.CancelFunc
}

func newGateways(end context.Context, home string, log *slog.Logger) *gateways {
	g := &gateways{home: home, log: log, peers: identity.OpenPeers(home, keychain.Open(home)), list: feed.NewValue[[]state.GatewayLine](nil), ctx: end, windows: map[string]context.CancelFunc{}}
	g.nodes = computer.NewRemote(home, log, g.peers, g.identity, func(pin identity.Pin) string { return windowDir(home, string(pin)) })
	return g
}

// identity returns this computer's device key. It blocks: the keychain may ask the person.
func (g *gateways) identity() (identity.Key, error) { return identity.OpenKey(keychain.Open(g.home)) }

// List implements settings.Gateways.
func (g *gateways) List() ([]settings.Gateway, error) {
	peers, err := g.peers.List()
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
			if problem, ok := g.nodes.Problem(p.Pin); ok {
				item.OfflineReason = problem
			}
		}
		if p.Refusal != nil {
			item.RefusedReason, item.RefusalFinal = feed.RefusedText(p.Name, *p.Refusal, time.Now()), p.HasEnded()
		}
		list = append(list, item)
	}
	g.list.Update(func(list *[]state.GatewayLine) {
		lines := gatewayLines(peers)
		for i, l := range lines {
			if at := slices.IndexFunc(*list, func(w state.GatewayLine) bool { return w.ID == l.ID }); at >= 0 {
				lines[i].Needs = (*list)[at].Needs
			}
		}
		*list = lines
	})
	return list, nil
}

// nodePrefix begins the IDs of pairings as a machine. The IDs of windows are certificate pins.
const nodePrefix = "machine of "

func (g *gateways) setPending(id string, n int) {
	g.list.Update(func(list *[]state.GatewayLine) {
		lines := slices.Clone(*list)
		for i := range lines {
			if lines[i].ID == id {
				lines[i].Needs = n
			}
		}
		*list = lines
	})
}

// distinctName returns the name of a paired gateway, made distinct from others of the same name.
func distinctName(peers []identity.Peer, peer identity.Peer) string {
	lines := gatewayLines(peers)
	for i, name := range state.GatewayNames(lines) {
		if lines[i].ID == string(peer.Pin) {
			return name
		}
	}
	return peer.Name
}

// gatewayLines returns the gateways whose windows can be opened.
func gatewayLines(peers []identity.Peer) (lines []state.GatewayLine) {
	for _, p := range peers {
		if p.Role != protocol.RoleClient || p.HasEnded() {
			continue
		}
		line := state.GatewayLine{ID: string(p.Pin), Name: p.Name}
		if len(p.Addresses) > 0 {
			line.Address = p.Addresses[0]
		}
		lines = append(lines, line)
	}
	return lines
}

// Changes implements settings.Gateways.
func (g *gateways) Changes() *feed.Value[int] { return g.nodes.Changed }

// Pair implements settings.Gateways.
func (g *gateways) Pair(ctx context.Context, taken settings.Invitation, show func(words []string, seconds int)) (string, error) {
	id, err := g.identity()
	if err != nil {
		return "", err
	}
	host, _ := os.Hostname()
	j := client.Join{
		Key: id, Peers: g.peers, Invitation: taken.Text, Show: show,
		Find:      func(ctx context.Context) []string { return discovery.Find(ctx, "") },
		Applicant: pake.Applicant{Role: protocol.RoleClient, Name: host, Hostname: host, OS: runtime.GOOS, Platform: runtime.GOOS, Version: gateway.Version},
	}
	if taken.AsMachine {
		if j.Applicant, err = g.nodes.Applicant(taken.Name); err != nil {
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
		g.nodes.Stop(peer.Pin) // of an earlier pairing with the same gateway
		g.nodes.Restart()
	}
	_, err = g.List()
	return peer.Name, err
}

// Open implements settings.Gateways. An open window is brought to the front.
func (g *gateways) Open(id string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(program, "--home", g.home, "--join", id, "--with-parent")
	stdin, err := cmd.StdinPipe() // the window closes when this pipe does
	var counts io.Reader
	if err == nil {
		counts, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("opening a window: %w", err)
	}
	open, closeWindow := context.WithCancel(g.ctx)
	g.mu.Lock()
	first := g.windows[id] == nil // a second process only brings the first one to the front
	if first {
		g.windows[id] = closeWindow
	}
	g.mu.Unlock()
	crash.WhenDone(open, func() { stdin.Close() })
	g.wg.Go(func() {
		readCounts(counts, func(n int) { g.setPending(id, n) })
		if first {
			g.setPending(id, 0) // the number of approvals is unknown without the window
		}
		if err := cmd.Wait(); err != nil && open.Err() == nil {
			g.log.Warn("The window of a remote gateway exited", "err", err)
		}
		closeWindow()
		g.nodes.Changed.Update(func(n *int) { *n++ }) // it may have learned that the pairing has ended
		if first {
			g.mu.Lock()
			delete(g.windows, id)
			g.mu.Unlock()
		}
	})
	return nil
}

// Leave implements settings.Gateways. It notifies an unreachable gateway at a later start.
func (g *gateways) Leave(ctx context.Context, id string) (notified bool, err error) {
	pairing := identity.PeerID{Pin: identity.Pin(id), Role: protocol.RoleClient}
	if pin, ok := strings.CutPrefix(id, nodePrefix); ok {
		pairing = identity.PeerID{Pin: identity.Pin(pin), Role: protocol.RoleNode}
	}
	peer, err := g.peers.Get(pairing)
	if err != nil {
		return false, err
	}
	if peer.Role == protocol.RoleNode {
		g.nodes.Stop(peer.Pin)
	}
	key, err := g.identity()
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
	err = client.EndPairing(ctx, g.peers, pairing, key)
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

// start loads the gateways and notifies those that this computer left while they were offline.
func (g *gateways) start(ctx context.Context) error {
	if _, err := g.List(); err != nil {
		return err
	}
	peers, err := g.peers.List()
	if err != nil || !slices.ContainsFunc(peers, func(p identity.Peer) bool { return p.EndedAt > 0 }) {
		return err // do not open the keychain without need
	}
	id, err := g.identity()
	if err != nil {
		return err
	}
	return client.NotifyEndedPairings(ctx, g.peers, id)
}
