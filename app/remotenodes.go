package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// remoteNodes manages the remote gateways for which this computer is a machine: their agents use
// its tools, with the same workspace and confinement as the local agent. Each gateway has a node of
// its own with separate state.
type remoteNodes struct {
	home  string
	log   *slog.Logger
	peers *identity.Peers
	key   func() (identity.Key, error) // blocks: the keychain may ask the person
	// options of this computer's nodes; nil while it has none
	options func() (node.Options, error)
	changed *feed.Value[int] // counts changes of the connections' state
	// interval of checks whether another program is still the gateway's machine
	retryInterval time.Duration

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

func newRemoteNodes(home string, log *slog.Logger, peers *identity.Peers, key func() (identity.Key, error)) *remoteNodes {
	return &remoteNodes{home: home, log: log, peers: peers, key: key, changed: feed.NewValue(0), retryInterval: lockRetryInterval, running: map[identity.Pin]*remoteNode{}}
}

// start starts a node for each gateway that has none yet. It blocks on the keychain.
func (s *remoteNodes) start(options func() (node.Options, error)) {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	if s.closed {
		return
	}
	s.options = options
	s.startLocked()
}

func (s *remoteNodes) startLocked() {
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

func (s *remoteNodes) node(pin identity.Pin) *remoteNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[pin]
}

func (s *remoteNodes) startNode(p identity.Peer) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	id, err := s.key()
	if err != nil {
		return err
	}
	dir := windowDir(s.home, string(p.Pin))
	w := &remoteNode{done: make(chan struct{}), problem: feed.NewValue("not connected yet")}
	opts.ID, opts.Keep, opts.LogDir = p.NodeID, dir, gateway.LogDir(dir)
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
func (s *remoteNodes) waitForLock(ctx context.Context, w *remoteNode, p identity.Peer) (release func(), ok bool) {
	logged := ""
	tick := time.NewTicker(s.retryInterval)
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

func (s *remoteNodes) setProblem(w *remoteNode, problem string) {
	w.problem.Update(func(p *string) { *p = problem })
	s.changed.Update(func(n *int) { *n++ })
}

// restart restarts every node, after the workspace or the confinement changed.
func (s *remoteNodes) restart() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	if s.options == nil || s.closed {
		return
	}
	s.stopLocked("")
	s.startLocked()
}

// stop stops the node of a gateway and waits until its calls have ended.
func (s *remoteNodes) stop(pin identity.Pin) {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.stopLocked(pin)
}

// close stops every node permanently.
func (s *remoteNodes) close() {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.closed = true
	s.stopLocked("")
}

// stopLocked stops the node of one gateway, or all nodes if the pin is empty.
func (s *remoteNodes) stopLocked(pin identity.Pin) {
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

// applicant describes this computer for pairing as a machine; an empty name is the computer's own.
func (s *remoteNodes) applicant(name string) (pake.Applicant, error) {
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
