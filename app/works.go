package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"fairlead/app/state"
	"fairlead/gateway"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// works manages the remote gateways for which this computer is a machine: their agents use its
// tools, with the same workspace and confinement as the local agent. Each gateway has a node of its
// own with separate state.
type works struct {
	home  string
	log   *slog.Logger
	peers *identity.Peers
	key   func() (identity.Key, error) // blocks: the keychain may ask the person
	// options of this computer's nodes; nil while it has none
	options func() (node.Options, error)
	changed *state.Value[int] // counts changes of the connections' state
	// interval of checks whether another program is still the gateway's machine
	look time.Duration

	turn   sync.Mutex // held while nodes stop and start; guards closed and options
	closed bool

	mu  sync.Mutex // guards now
	now map[identity.Pin]*worker
}

// worker is the node of one gateway.
type worker struct {
	end  context.CancelFunc
	done chan struct{}

	mu   sync.Mutex // guards down
	down string     // reason why it is not connected; empty while connected
}

func (w *worker) state() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

func newWorks(home string, log *slog.Logger, peers *identity.Peers, key func() (identity.Key, error)) *works {
	return &works{home: home, log: log, peers: peers, key: key, changed: state.NewValue(0), look: heldAgain, now: map[identity.Pin]*worker{}}
}

// serve starts a node for each gateway that has none yet. All nodes use the same options. It blocks
// on the keychain.
func (s *works) serve(options func() (node.Options, error)) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.closed {
		return
	}
	s.options = options
	s.startLocked()
}

func (s *works) startLocked() {
	peers, err := s.peers.List()
	if err != nil {
		s.log.Error("Reading the list of gateways failed", "err", err)
		return
	}
	for _, p := range peers {
		if p.Role != protocol.RoleNode || p.HasEnded() || s.worker(p.Pin) != nil {
			continue
		}
		if err := s.start(p); err != nil {
			s.log.Error("The node for a remote gateway did not start", "gateway", p.Name, "err", err)
		}
	}
}

func (s *works) worker(pin identity.Pin) *worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now[pin]
}

func (s *works) start(p identity.Peer) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	id, err := s.key()
	if err != nil {
		return err
	}
	dir := windowDir(s.home, string(p.Pin))
	w := &worker{done: make(chan struct{}), down: "not connected yet"}
	opts.ID, opts.Keep, opts.LogDir = p.NodeID, dir, gateway.LogDir(dir)
	opts.Through = func(o client.Options) client.Options {
		up, down := o.OnUp, o.OnDown
		o.OnUp = func(ctx context.Context, r protocol.ConnectResult) { s.tell(w, ""); up(ctx, r) }
		o.OnDown = func(err error) { s.tell(w, err.Error()); down(err) }
		return client.Through(o, s.peers, p.ID(), id, discovery.Find)
	}
	n, err := node.New(opts)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	w.end = end
	s.mu.Lock()
	s.now[p.Pin] = w
	s.mu.Unlock()
	go func() {
		defer close(w.done)
		release, ok := s.alone(ctx, w, p)
		if !ok {
			n.Close()
			return
		}
		defer release()
		if err := n.Run(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("The node for a remote gateway stopped", "gateway", p.Name, "err", err)
			s.tell(w, err.Error())
		}
	}()
	return nil
}

// heldAgain is the default interval of these checks.
const heldAgain = 5 * time.Second

// alone waits until no other program of this data folder, such as fairlead node, is connected as
// the gateway's machine. While it waits, the worker's state names that program. ok is false if ctx
// ended first.
func (s *works) alone(ctx context.Context, w *worker, p identity.Peer) (release func(), ok bool) {
	told := ""
	tick := time.NewTicker(s.look)
	defer tick.Stop()
	for {
		release, err := node.Hold(s.home, p, "the Fairlead desktop app")
		if err == nil {
			return release, true
		}
		if text := err.Error(); text != told {
			told = text
			s.log.Warn("Another program already serves this gateway", "gateway", p.Name, "err", err)
			s.tell(w, text)
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-tick.C:
		}
	}
}

func (s *works) tell(w *worker, down string) {
	w.mu.Lock()
	w.down = down
	w.mu.Unlock()
	s.changed.Update(func(n int) int { return n + 1 })
}

// again restarts every node, after the workspace or the confinement changed.
func (s *works) again() {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.options == nil || s.closed {
		return
	}
	s.endLocked("")
	s.startLocked()
}

// stop stops the node of a gateway and waits until its calls have ended.
func (s *works) stop(pin identity.Pin) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.endLocked(pin)
}

// close stops every node permanently.
func (s *works) close() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.closed = true
	s.endLocked("")
}

// endLocked stops the node of one gateway, or all nodes if the pin is empty.
func (s *works) endLocked(pin identity.Pin) {
	s.mu.Lock()
	var ending []*worker
	for p, w := range s.now {
		if pin == "" || p == pin {
			delete(s.now, p)
			w.end()
			ending = append(ending, w)
		}
	}
	s.mu.Unlock()
	for _, w := range ending {
		<-w.done
	}
}

// applicant returns the description of this computer that it sends when pairing as a machine. name
// is the name to use; empty for the computer's own.
func (s *works) applicant(name string) (pake.Applicant, error) {
	s.turn.Lock()
	options := s.options
	s.turn.Unlock()
	if options == nil {
		return pake.Applicant{}, errors.New("this computer's gateway is not running, so its tools cannot be offered")
	}
	opts, err := options()
	if err != nil {
		return pake.Applicant{}, err
	}
	if opts.ID = protocol.NodeID(name); name == "" {
		host, _ := os.Hostname()
		opts.ID = protocol.CleanNodeID(host)
	}
	opts.URL = "ws://not.used/ws"
	n, err := node.New(opts)
	if err != nil {
		return pake.Applicant{}, fmt.Errorf("list this computer's tools: %w", err)
	}
	defer n.Close()
	return n.Applicant(), nil
}
