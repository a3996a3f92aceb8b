// Package servers connects to the MCP servers that the person set up, and gives their tools to the
// agent. A server is a command that runs on a machine, in that machine's sandbox, or an address.
//
// Nothing that a server says about its tools removes a question: the policy asks about each tool
// until a rule of the person allows it, and a tool whose description or schema has changed is not
// offered until the person accepts it. What the person accepted is in the store, secrets are in the
// keychain, everything else is in the configuration.
package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// Config is the configuration ([config.Store]).
type Config interface {
	Get() config.Config
	Set(ctx context.Context, path string, value json.RawMessage) error
	// Server returns the settings of a server with its secrets.
	Server(name protocol.ServerName) (protocol.ServerSpec, bool)
}

// Store stores what the person accepted ([store.Servers]).
type Store interface {
	List(ctx context.Context) (map[protocol.ServerName]store.AcceptedTools, error)
	Put(ctx context.Context, name protocol.ServerName, tools store.AcceptedTools) error
	Delete(ctx context.Context, name protocol.ServerName) error
}

// Machines are those that can run the commands ([nodes.Hub]).
type Machines interface {
	Nodes() []protocol.NodeInfo
}

// Options are the parts that a [Manager] uses.
type Options struct {
	Config   Config
	Store    Store
	Secrets  keychain.Store // of sign-ins
	Machines Machines
	Bus      *event.Bus
	// Questions asks the person what a server wants to know.
	Questions *question.Queue
	Audit     AuditLog
	Version   string
	// ClientDocument is the public https address of [login.ClientDocument]; empty: the one at the
	// gateway's own address ([login.DocumentAddress]).
	ClientDocument string
}

// Calls start the commands of servers ([tool.Pipeline]).
type Calls interface {
	// Authorize takes the start of a command through the pipeline.
	Authorize(ctx context.Context, c tool.Call) (tool.Authorization, error)
	// Continue runs the command, and carries its messages.
	Continue(ctx context.Context, s tool.Step) (json.RawMessage, error)
}

// AuditLog is the log of security-relevant events.
type AuditLog interface {
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

// Manager manages the MCP servers. It is safe for concurrent use.
type Manager struct {
	o        Options
	accepted accepted
	found    finds

	reload wake.Signal // holds a token when the settings have changed

	mu      sync.Mutex // guards the fields below; never held during I/O
	servers map[protocol.ServerName]*server
}

// Open reads what the person accepted. Run starts the servers.
func Open(ctx context.Context, o Options) (*Manager, error) {
	all, err := o.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	m := &Manager{o: o, reload: wake.New(), servers: make(map[protocol.ServerName]*server)}
	m.accepted.store, m.accepted.all = o.Store, all
	m.reconcile(nil) // so that lists are complete before Run
	return m, nil
}

// ConfigChanged applies a changed setting. It does not wait.
func (m *Manager) ConfigChanged(path string) {
	if path == "mcp" || strings.HasPrefix(path, "mcp.") {
		m.Reload()
	}
}

// Reload applies changed settings. It does not wait.
func (m *Manager) Reload() {
	m.reload.Send()
}

// Run keeps the servers connected until ctx ends, and stops them. Commands are started by calls.
func (m *Manager) Run(ctx context.Context, calls Calls) {
	var wg crash.Group
	defer wg.Wait()
	sub := m.o.Bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeNode || c.Kind == protocol.ChangeNodeForgotten
	})
	defer sub.Close()
	wg.Go(func() {
		for range sub.All(ctx) {
			for _, s := range m.list() {
				s.machineChanged()
			}
		}
	})
	for {
		m.reconcile(func(s *server) { wg.Go(func() { crash.Forever(ctx, func() { s.run(ctx, calls) }) }) })
		select {
		case <-m.reload:
		case <-ctx.Done():
			for _, s := range m.list() {
				s.stop()
			}
			return
		}
	}
}

// reconcile makes the servers those of the settings. start starts a server that does not run yet; nil
// starts none.
func (m *Manager) reconcile(start func(*server)) {
	specs := m.o.Config.Get().MCP.Servers
	m.mu.Lock()
	var stopped []*server
	for name, s := range m.servers {
		spec, ok := m.o.Config.Server(name)
		if !ok || !reflect.DeepEqual(essential(spec), essential(s.settings())) {
			stopped = append(stopped, s)
			delete(m.servers, name)
		} else {
			s.change(spec)
		}
	}
	for text := range specs {
		name := protocol.ServerName(text)
		s := m.servers[name]
		if s == nil {
			spec, ok := m.o.Config.Server(name)
			if !ok {
				continue
			}
			s = newServer(m, name, spec)
			m.servers[name] = s
		}
		if start != nil && !s.isStarted {
			s.isStarted = true
			start(s)
		}
	}
	m.mu.Unlock()
	for _, s := range stopped {
		s.stop()
	}
	if start != nil {
		m.publish()
	}
}

// essential returns the settings that need a new connection when they change.
func essential(s protocol.ServerSpec) protocol.ServerSpec {
	s.DisabledTools = nil
	return s
}

func (m *Manager) publish() { m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeServers}) }

// list returns the servers by name.
func (m *Manager) list() []*server {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := slices.Collect(maps.Values(m.servers))
	slices.SortFunc(list, func(a, b *server) int { return strings.Compare(string(a.name), string(b.name)) })
	return list
}

// find returns a server, or protocol.ErrNotFound.
func (m *Manager) find(name protocol.ServerName) (*server, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.servers[name]
	if s == nil {
		return nil, protocol.ErrNotFound.With(fmt.Sprintf("no MCP server is called %.60q", string(name)))
	}
	return s, nil
}

// List describes the servers, by name.
func (m *Manager) List(context.Context) (protocol.ServersListResult, error) {
	out := protocol.ServersListResult{Servers: []protocol.ServerStatus{}}
	for _, s := range m.list() {
		out.Servers = append(out.Servers, m.status(s))
	}
	return out, nil
}

func (m *Manager) status(s *server) protocol.ServerStatus {
	out := s.status()
	out.Spec = m.o.Config.Get().MCP.Servers[string(s.name)] // with masked secrets
	return out
}

// Set adds a server or replaces its settings.
func (m *Manager) Set(ctx context.Context, p protocol.ServerSetParams) (protocol.ServerStatus, error) {
	if err := config.CheckServerName(p.Name); err != nil {
		return protocol.ServerStatus{}, err
	}
	if id, ok := m.machineNamed(p.Name); ok {
		return protocol.ServerStatus{}, protocol.ErrConflict.With(fmt.Sprintf("a machine is called %s: choose another name for the server", id))
	}
	raw, err := protocol.Marshal(p.Spec)
	if err != nil {
		return protocol.ServerStatus{}, err
	}
	if err := m.o.Config.Set(ctx, settingOf(p.Name), raw); err != nil {
		return protocol.ServerStatus{}, err
	}
	m.Reload()
	s, err := m.find(p.Name)
	if err != nil { // Run has not read the settings yet
		spec, _ := m.o.Config.Server(p.Name)
		s = newServer(m, p.Name, spec)
	}
	return m.status(s), nil
}

func settingOf(name protocol.ServerName) string { return "mcp.servers." + string(name) }

// machineNamed returns the machine whose tools would have the same names.
func (m *Manager) machineNamed(name protocol.ServerName) (protocol.NodeID, bool) {
	for _, n := range m.o.Machines.Nodes() {
		if strings.EqualFold(string(n.ID), string(name)) || strings.EqualFold(string(n.ID.ToolPrefix()), string(name)) {
			return n.ID, true
		}
	}
	return "", false
}

// Remove removes a server with its secrets, its sign-in and what the person accepted of it.
func (m *Manager) Remove(ctx context.Context, p protocol.ServerParams) (protocol.OK, error) {
	if _, ok := m.o.Config.Server(p.Name); !ok {
		return protocol.OK{}, protocol.ErrNotFound.With(fmt.Sprintf("no MCP server is called %.60q", string(p.Name)))
	}
	undo, err := keychain.Replace(m.o.Secrets, map[string]keychain.Secret{signInName(p.Name): ""})
	if err != nil {
		return protocol.OK{}, fmt.Errorf("remove the sign-in: %w", err)
	}
	tools := m.accepted.of(p.Name)
	if err := m.accepted.forget(ctx, p.Name); err != nil {
		return protocol.OK{}, errors.Join(err, undo())
	}
	if err := m.o.Config.Set(ctx, settingOf(p.Name), nil); err != nil {
		if tools != nil {
			err = errors.Join(err, m.accepted.put(ctx, p.Name, tools))
		}
		return protocol.OK{}, errors.Join(err, undo())
	}
	m.mu.Lock()
	s := m.servers[p.Name]
	delete(m.servers, p.Name)
	m.mu.Unlock()
	if s != nil {
		s.stop()
	}
	m.Reload()
	m.publish()
	return protocol.OK{OK: true}, nil
}

// Restart connects to a server again.
func (m *Manager) Restart(_ context.Context, p protocol.ServerParams) (protocol.OK, error) {
	s, err := m.find(p.Name)
	if err != nil {
		return protocol.OK{}, err
	}
	s.restart()
	return protocol.OK{OK: true}, nil
}
