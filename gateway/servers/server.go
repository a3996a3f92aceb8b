package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

const (
	// connectLimit is how long a server may take to answer; npx and uvx may download it first. A
	// sign-in of the person does not count.
	connectLimit = 3 * time.Minute
	// startLimit is how long its machine may take to start a command, and to fetch its package first.
	startLimit = 10 * time.Minute
	// listLimit is how long a server may take for one list.
	listLimit = 30 * time.Second
	// retryMin and retryMax are the pauses after a failure; they grow with each. A server that was
	// ready for stableAfter begins again with the shortest.
	retryMin    = time.Second
	retryMax    = 5 * time.Minute
	stableAfter = time.Minute
	maxProblem  = 300 // characters
)

// server is one MCP server. Its goroutine run connects to it again and again.
type server struct {
	m         *Manager
	name      protocol.ServerName
	log       ring
	calls     calls
	wake      wake.Signal     // ends a pause
	stopped   context.Context // ends with stop
	stop      func()          // ends the server; it does not wait
	stale     stale
	review    review
	isStarted bool // guarded by the manager's lock

	mu       sync.Mutex // guards the fields below
	spec     protocol.ServerSpec
	state    string
	problem  string
	since    time.Time
	changed  chan struct{}      // closed and replaced when the state changes
	session  *mcp.ClientSession // nil unless ready
	drop     context.CancelCauseFunc
	info     mcp.Implementation
	tools    []remoteTool
	counts   [2]int // resources and prompts
	pending  string // the address of a sign-in that waits for the person
	isLegacy bool   // the server did not answer the first request of the newer protocol
}

func newServer(m *Manager, name protocol.ServerName, spec protocol.ServerSpec) *server {
	s := &server{m: m, name: name, spec: spec, state: protocol.ServerStarting, since: time.Now(), wake: wake.New(), stale: stale{wake: wake.New()}, changed: make(chan struct{})}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.review = review{name: name, m: m, wake: wake.New(), present: func() ([]remoteTool, []string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.tools, s.spec.DisabledTools
	}}
	if spec.Disabled {
		s.state = protocol.ServerDisabled
	}
	return s
}

func (s *server) settings() protocol.ServerSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spec
}

// change applies settings that need no new connection.
func (s *server) change(spec protocol.ServerSpec) {
	s.mu.Lock()
	s.spec = spec
	s.mu.Unlock()
	s.review.wake.Send()
}

var errRestart = errors.New("restarted")

// restart drops the connection, and connects again at once.
func (s *server) restart() {
	s.mu.Lock()
	drop := s.drop
	s.mu.Unlock()
	if drop != nil {
		drop(errRestart)
	}
	s.wake.Send()
}

// machineChanged connects again when the machine of an offline server is back.
func (s *server) machineChanged() {
	s.mu.Lock()
	isWaiting := s.state == protocol.ServerOffline
	s.mu.Unlock()
	if !isWaiting {
		return
	}
	if _, err := s.machine(); err == nil {
		s.wake.Send()
	}
}

// run keeps the server connected until ctx ends or it is stopped. Its command is started by calls.
func (s *server) run(ctx context.Context, calls Calls) {
	ctx, cancel := context.WithCancel(ctx)
	defer crash.WhenDone(s.stopped, cancel)()
	var asking crash.Group
	defer asking.Wait()
	defer cancel()
	asking.Go(func() { crash.Forever(ctx, func() { s.review.run(ctx, s.stopped) }) })
	pause := retryMin
	for ctx.Err() == nil {
		if s.settings().Disabled {
			s.setState(protocol.ServerDisabled, nil)
			<-ctx.Done()
			return
		}
		began := time.Now()
		err := s.connectOnce(ctx, calls)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > stableAfter {
			pause = retryMin
		}
		switch {
		case errors.Is(err, errRestart):
			s.log.addf("Restarting")
			pause = retryMin
		case (errors.Is(err, errSessionLost) || errors.Is(err, mcp.ErrSessionMissing)) && time.Since(began) > retryMin:
			s.log.addf("The server ended the session: connecting again")
			pause = retryMin
		case errors.Is(err, errOffline):
			s.setState(protocol.ServerOffline, err)
			if _, err := s.machine(); err != nil { // it may have come back just now
				waitFor(ctx, retryMax, s.wake)
			}
			pause = retryMin
		default:
			s.setState(protocol.ServerFailed, err)
			waitFor(ctx, pause, s.wake)
			pause = min(pause*2, retryMax)
		}
	}
}

// waitFor waits for a pause, or until somebody wants the server to connect.
func waitFor(ctx context.Context, pause time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// setState publishes the state. err is the reason of a failure.
func (s *server) setState(state string, err error) {
	problem := ""
	if err != nil {
		problem = format.Line(err.Error(), maxProblem)
	}
	s.mu.Lock()
	isNew := s.state != state || s.problem != problem
	if s.state != state {
		s.since = time.Now()
	}
	s.state, s.problem = state, problem
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if !isNew {
		return
	}
	if problem != "" {
		s.log.addf("%s: %s", stateText[state], problem)
	} else {
		s.log.addf("%s", stateText[state])
	}
	slog.Info("MCP server changed", "server", s.name, "state", state)
	s.m.publish()
}

var stateText = map[string]string{
	protocol.ServerStarting: "Starting", protocol.ServerReady: "Ready", protocol.ServerFailed: "Failed", protocol.ServerDisabled: "Turned off",
	protocol.ServerSignIn: "Waiting for the sign-in", protocol.ServerOffline: "The machine is offline",
}

// connectOnce connects, and blocks until the connection ends. It always returns an error.
func (s *server) connectOnce(ctx context.Context, calls Calls) error {
	ctx, drop := context.WithCancelCause(ctx)
	defer drop(nil)
	s.mu.Lock()
	s.drop = drop
	isLegacy := s.isLegacy
	s.mu.Unlock()
	if id, ok := s.m.machineNamed(s.name); ok {
		return fmt.Errorf("the machine %s has the same name: rename the server", id)
	}
	s.setState(protocol.ServerStarting, nil)
	limit := crash.AfterFunc(startLimit, func() { drop(errNotStarted) })
	t, err := s.transport(ctx, calls)
	limit.Stop()
	if err != nil {
		return err
	}
	defer t.end()
	limit = crash.AfterFunc(connectLimit, func() { drop(errNoAnswer) })
	if t.paused != nil {
		t.paused.Store(limit)
	}
	o := &mcp.ClientSessionOptions{}
	if isLegacy {
		o.ProtocolVersion = legacyVersion
	}
	settled := t.noteSilence(ctx, func(why error) {
		if s.status().State == protocol.ServerStarting { // rather than waiting for a sign-in
			s.setState(protocol.ServerStarting, why)
		}
	})
	session, err := s.client().Connect(ctx, t.Transport, o)
	settled()
	limit.Stop()
	if err != nil {
		cause := context.Cause(ctx)
		s.mu.Lock()
		s.isLegacy = errors.Is(cause, errNoAnswer) && !isLegacy
		s.mu.Unlock()
		return t.reason(ctx, err)
	}
	defer closeWithin(session, t)
	return s.use(ctx, session, t)
}

// legacyVersion is the newest version of the protocol that begins with initialize.
const legacyVersion = "2025-11-25"

var errNotStarted = fmt.Errorf("the command was not started within %d minutes", int(startLimit/time.Minute))

var errNoAnswer = fmt.Errorf("the server did not answer within %d minutes", int(connectLimit/time.Minute))

// use serves a connection until it ends.
func (s *server) use(ctx context.Context, session *mcp.ClientSession, t *transport) error {
	s.mu.Lock()
	if r := session.InitializeResult(); r != nil && r.ServerInfo != nil {
		s.info = *r.ServerInfo
	}
	s.session = session
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.session = nil
	}()
	if err := s.refresh(ctx); err != nil {
		return t.reason(ctx, err)
	}
	if err := s.countItems(ctx); err != nil {
		s.log.addf("Reading a list failed: %v", err)
	}
	s.setState(protocol.ServerReady, nil)
	following, stop := context.WithCancel(ctx)
	var lists crash.Group
	lists.Go(func() { crash.Forever(following, func() { s.followLists(following) }) })
	defer lists.Wait()
	defer stop()
	over := crash.Result(session.Wait)
	var err error
	select {
	case err = <-over:
	case <-ctx.Done():
		closeWithin(session, t) // ends Wait
		<-over
	}
	return cmp.Or(t.reason(ctx, err), errors.New("the server closed the connection"))
}

// status describes the server, without its settings.
func (s *server) status() protocol.ServerStatus {
	accepted := s.m.accepted.of(s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := protocol.ServerStatus{
		Name: s.name, State: s.state, Error: s.problem, Since: s.since.UnixMilli(), Resources: s.counts[0], Prompts: s.counts[1], Tools: []protocol.ServerTool{},
		Title: format.Line(cmp.Or(s.info.Title, s.info.Name), maxTitle), Version: format.Line(s.info.Version, maxTitle),
	}
	for _, t := range s.tools {
		out.Tools = append(out.Tools, t.describe(s.spec, accepted))
	}
	return out
}

const maxTitle = 100 // characters
