package computer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// Remote manages the remote gateways for which this computer is a machine: their agents use its
// tools, with the same workspace and confinement as the local agent. Each gateway has a node of its
// own with separate state. It is safe for concurrent use.
type Remote struct {
	// Changed counts changes of the connections' state.
	Changed *feed.Value[int]
	// RetryInterval is the interval of checks whether another program is still the gateway's machine.
	RetryInterval time.Duration
	// Targets asks the person about what the nodes of this computer may reach, also the local one.
	Targets *Targets

	home   string
	log    *slog.Logger
	peers  *identity.Peers
	key    func() (identity.Key, error)
	folder func(identity.Pin) string
	// options of this computer's nodes; nil while it has none
	options func() (node.Options, error)

	lifecycle sync.Mutex // held while nodes stop and start; guards closed and options
	closed    bool

	mu      sync.Mutex // guards running
	running map[identity.Pin]*remoteNode
}

// remoteNode is the node of one gateway.
type remoteNode struct {
	cancel  context.CancelFunc
	done    chan struct{}
	problem *feed.Value[string] // reason why it is not connected; empty while connected
}

// NewRemote returns the nodes for the gateways among peers; Start starts them. key returns this
// computer's key, and blocks: the keychain may ask the person. folder is that of a gateway's node.
func NewRemote(home string, log *slog.Logger, peers *identity.Peers, key func() (identity.Key, error), folder func(identity.Pin) string) *Remote {
	return &Remote{
		home: home, log: log, peers: peers, key: key, folder: folder,
		Changed: feed.NewValue(0), RetryInterval: lockRetryInterval, running: map[identity.Pin]*remoteNode{}, Targets: newTargets(),
	}
}

// Start starts a node for each gateway that has none yet. It blocks on the keychain.
func (s *Remote) Start(options func() (node.Options, error)) {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	if s.closed {
		return
	}
	s.options = options
	s.startLocked()
}

func (s *Remote) startLocked() {
	peers, err := s.peers.List()
	if err != nil {
		s.log.Error("Reading the list of gateways failed", "err", err)
		return
	}
	for _, p := range peers {
		if p.Role != protocol.RoleNode || p.HasEnded() || s.node(p.Pin) != nil {
			continue
		}
		if err := s.startNode(p); err != nil {
			s.log.Error("The node for a remote gateway did not start", "gateway", p.Name, "err", err)
		}
	}
}

func (s *Remote) node(pin identity.Pin) *remoteNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[pin]
}

// Problem says why the node of a gateway is not connected, or is empty; ok is false if it has none.
func (s *Remote) Problem(pin identity.Pin) (problem string, ok bool) {
	n := s.node(pin)
	if n == nil {
		return "", false
	}
	return n.problem.Get(), true
}

func (s *Remote) startNode(p identity.Peer) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	id, err := s.key()
	if err != nil {
		return err
	}
	dir := s.folder(p.Pin)
	w := &remoteNode{done: make(chan struct{}), problem: feed.NewValue("not connected yet")}
	opts.ID, opts.Keep, opts.LogDir = p.NodeID, dir, filepath.Join(dir, "logs")
	opts.AskTarget = s.Targets.For(p.Name)
	opts.Through = func(o client.Options) client.Options {
		up, down := o.OnUp, o.OnDown
		o.OnUp = func(ctx context.Context, r protocol.ConnectResult) { s.setProblem(w, ""); up(ctx, r) }
		o.OnDown = func(err error) { s.setProblem(w, err.Error()); down(err) }
		return client.Through(o, s.peers, p.ID(), id, discovery.Find)
	}
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	w.cancel = end
	s.mu.Lock()
	s.running[p.Pin] = w
	s.mu.Unlock()
	crash.Go(func() {
		defer close(w.done)
		release, ok := s.waitForLock(ctx, w, p)
		if !ok {
			n.Close()
			return
		}
		defer release()
		if err := n.Run(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("The node for a remote gateway stopped", "gateway", p.Name, "err", err)
			s.setProblem(w, err.Error())
		}
	})
	return nil
}

// lockRetryInterval is the default interval of these checks.
const lockRetryInterval = 5 * time.Second

// waitForLock waits until no other program of this data folder, such as fairlead node, is connected
// as the gateway's machine. While it waits, the worker's state names that program. ok is false if
// ctx ended first.
func (s *Remote) waitForLock(ctx context.Context, w *remoteNode, p identity.Peer) (release func(), ok bool) {
	logged := ""
	tick := time.NewTicker(s.RetryInterval)
	defer tick.Stop()
	for {
		release, err := node.Hold(s.home, p, "the Fairlead desktop app")
		if err == nil {
			return release, true
		}
		if text := err.Error(); text != logged {
			logged = text
			s.log.Warn("Another program already serves this gateway", "gateway", p.Name, "err", err)
			s.setProblem(w, text)
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-tick.C:
		}
	}
}

func (s *Remote) setProblem(w *remoteNode, problem string) {
	w.problem.Update(func(p *string) { *p = problem })
	s.Changed.Update(func(n *int) { *n++ })
}

// Restart restarts every node, after the workspace or the confinement changed.
func (s *Remote) Restart() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	if s.options == nil || s.closed {
		return
	}
	s.stopLocked("")
	s.startLocked()
}

// Stop stops the node of a gateway and waits until its calls have ended.
func (s *Remote) Stop(pin identity.Pin) {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.stopLocked(pin)
}

// Close stops every node permanently.
func (s *Remote) Close() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.closed = true
	s.stopLocked("")
}

// stopLocked stops the node of one gateway, or all nodes if the pin is empty.
func (s *Remote) stopLocked(pin identity.Pin) {
	s.mu.Lock()
	var ending []*remoteNode
	for p, w := range s.running {
		if pin == "" || p == pin {
			delete(s.running, p)
			w.cancel()
			ending = append(ending, w)
		}
	}
	s.mu.Unlock()
	for _, w := range ending {
		<-w.done
	}
}

// Applicant describes this computer for pairing as a machine; an empty name is the computer's own.
func (s *Remote) Applicant(name string) (pake.Applicant, error) {
	s.lifecycle.Lock()
	options := s.options
	s.lifecycle.Unlock()
	if options == nil {
		return pake.Applicant{}, errors.New("this computer's gateway is not running, so its tools cannot be offered")
	}
	opts, err := options()
	if err != nil {
		return pake.Applicant{}, err
	}
	if name == "" {
		name, _ = os.Hostname()
	}
	opts.ID = protocol.CleanNodeID(name)
	opts.URL = "ws://not.used/ws"
	n, err := node.New(opts)
	if err != nil {
		return pake.Applicant{}, fmt.Errorf("listing this computer's tools: %w", err)
	}
	defer n.Close()
	a := n.Applicant()
	a.Name = name
	return a, nil
}
