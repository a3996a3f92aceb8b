// Package tooltest simulates a node for tests: it is attached to a hub and does what the test
// sets.
package tooltest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
)

// Machine simulates a node with the tools Bash (exec), Read (read) and Write (write). It implements
// [nodes.Link].
type Machine struct {
	ID protocol.NodeID
	// Preview returns the preview of a call. If nil, it has the folder of a command, or the path
	// argument of a file tool.
	Preview func(protocol.ToolInvoke) protocol.CallPreview
	// Run runs a call; stop is closed when the gateway cancels it. If nil, the result is "ok". An
	// error is the tool's own.
	Run func(inv protocol.ToolInvoke, stop <-chan struct{}) (any, error)
	// Has lists calls from before the connection that the machine continues, see
	// [protocol.ExtKeep].
	Has []protocol.CallID

	hub    *nodes.Hub
	detach func()

	mu    sync.Mutex // guards the fields below
	calls []protocol.ToolInvoke
	stops map[protocol.CallID]chan struct{}
	wg    sync.WaitGroup
}

// Attach connects m to hub until the test ends or Detach is called. Set the fields of m before.
func Attach(t *testing.T, hub *nodes.Hub, m *Machine) *Machine {
	t.Helper()
	m.hub, m.stops = hub, make(map[protocol.CallID]chan struct{})
	schema := func(required string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{"` + required + `":{"type":"string"}},"required":["` + required + `"]}`)
	}
	detach, err := hub.Attach(context.WithoutCancel(t.Context()), protocol.ConnectParams{
		Client:     protocol.ClientInfo{ID: string(m.ID), Mode: protocol.ModeNode},
		Extensions: []string{protocol.ExtPreview, protocol.ExtCancel}, Calls: m.Has,
		Tools: []protocol.ToolSpec{
			{Name: "Bash", Effect: protocol.EffectExec, InputSchema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number"}},"required":["command"]}`)},
			{Name: "Read", Effect: protocol.EffectRead, InputSchema: schema("path")},
			{Name: "Write", Effect: protocol.EffectWrite, InputSchema: schema("path")},
			{Name: "Look", Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
		Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{
			Mode: "workspace-write", Checks: []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: true}},
		}},
		NodeRuntime: &protocol.NodeRuntime{
			HostCapabilities: []string{"shell.exec", "filesystem.read", "filesystem.write"},
			ToolCapabilities: map[string][]string{"Bash": {"shell.exec"}, "Read": {"filesystem.read"}, "Write": {"filesystem.write"}, "Look": {"filesystem.read"}},
		},
	}, nodes.Entry{Local: true}, m)
	if err != nil {
		t.Fatal(err)
	}
	m.detach = sync.OnceFunc(detach)
	t.Cleanup(func() {
		m.mu.Lock()
		for id, stop := range m.stops {
			close(stop)
			delete(m.stops, id)
		}
		m.mu.Unlock()
		m.detach()
		m.wg.Wait()
	})
	return m
}

// Detach disconnects the machine.
func (m *Machine) Detach() { m.detach() }

// Calls returns the calls that the machine received, without previews.
func (m *Machine) Calls() []protocol.ToolInvoke {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]protocol.ToolInvoke(nil), m.calls...)
}

// SendEvent implements [nodes.Link].
func (m *Machine) SendEvent(_ context.Context, _ string, payload any) error {
	switch p := payload.(type) {
	case protocol.ToolInvoke:
		m.mu.Lock()
		defer m.mu.Unlock()
		if p.Preview {
			m.wg.Go(func() { m.answer(p.CallID, m.preview(p), nil) })
			return nil
		}
		m.calls = append(m.calls, p)
		stop := make(chan struct{})
		m.stops[p.CallID] = stop
		m.wg.Go(func() {
			if m.Run == nil {
				m.answer(p.CallID, "ok", nil)
				return
			}
			v, err := m.Run(p, stop)
			m.answer(p.CallID, v, err)
		})
	case protocol.ToolCancel:
		m.mu.Lock()
		defer m.mu.Unlock()
		if stop := m.stops[p.CallID]; stop != nil {
			close(stop)
			delete(m.stops, p.CallID)
		}
	}
	return nil
}

// Close implements [nodes.Link].
func (m *Machine) Close(int, string) {}

func (m *Machine) preview(inv protocol.ToolInvoke) protocol.CallPreview {
	if m.Preview != nil {
		return m.Preview(inv)
	}
	var args struct{ Path string }
	json.Unmarshal(inv.Args, &args)
	if inv.Tool == "Bash" {
		return protocol.CallPreview{Folder: "/home/ann", Shell: "/bin/sh"}
	}
	return protocol.CallPreview{Path: "/home/ann/" + args.Path, FileSHA256: "sum of " + args.Path}
}

func (m *Machine) answer(id protocol.CallID, v any, err error) {
	p := protocol.ToolResultParams{CallID: id}
	if err != nil {
		p.Error = err.Error()
	} else {
		p.Result, _ = json.Marshal(v)
	}
	m.hub.Calls.Result(m.ID, p) // the gateway may have closed the connection meanwhile
}
