// Package terminal has the terminals of all machines: which there are, who views them, and who types.
// A machine holds the process and its screen; each viewer gets a stream to it. So a terminal outlives
// its viewers, and also the gateway, which learns of it when the machine connects.
package terminal

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

const (
	// maxTerminals limits the terminals of a machine; it has a limit of its own, which is lower.
	maxTerminals = 1000
	// maxText limits the texts that a machine reports about a terminal, in characters.
	maxText = 500
	// unreported is how long a new terminal stays without a report of its machine: one that was on its
	// way does not name it.
	unreported = 10 * time.Second
)

// Machines are the machines, connected or not.
type Machines interface {
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
}

// AuditLog is the log of security-relevant events.
type AuditLog interface {
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

// Options configure the terminals. All fields are required.
type Options struct {
	Machines Machines
	Dialer   Dialer
	Audit    AuditLog
	Bus      *event.Bus
	// ChatOf returns the chat of a call of a machine; empty if it has none.
	ChatOf func(ctx context.Context, node protocol.NodeID, call protocol.CallID) protocol.SessionKey
}

// Terminals are the terminals of all machines. They are safe for concurrent use.
type Terminals struct {
	o       Options
	streams streams
	opening wire.TicketLocks // by service: its visitors get one terminal

	mu  sync.Mutex // guards all, and each terminal
	all map[protocol.TerminalParams]*terminal
}

// New returns no terminals yet: machines report theirs.
func New(o Options) *Terminals {
	return &Terminals{o: o, streams: streams{o.Dialer}, all: make(map[protocol.TerminalParams]*terminal)}
}

// Opening is a terminal to open.
type Opening struct {
	protocol.TerminalOpen
	By      string             // the principal, for the audit log
	Service protocol.ServiceID // the service that shows it; empty for the owner's own
}

// Open opens a terminal. That of a service that runs already is returned instead of a second one.
func (t *Terminals) Open(ctx context.Context, node protocol.NodeID, o Opening) (protocol.Terminal, error) {
	if o.Service != "" {
		ticket := t.opening.Take(string(o.Service))
		ticket.Wait()
		defer ticket.Release()
		if has, ok := t.OfService(node, o.Service); ok {
			return has, nil
		}
	}
	if err := t.check(node, o); err != nil {
		return protocol.Terminal{}, err
	}
	p := protocol.TerminalParams{Node: node, ID: protocol.TerminalID(protocol.NewID())}
	info := protocol.Terminal{
		ID: p.ID, Node: node, Command: o.Command, Username: o.Username, Workdir: o.Workdir, Cols: o.Cols, Rows: o.Rows,
		StartedAt: time.Now().UnixMilli(), By: o.By, Service: o.Service,
	}
	// The line comes first: what cannot be recorded does not happen.
	if err := t.o.Audit.Append(ctx, line(info, o.By, "opened a terminal"+ofCommand(info))); err != nil {
		return info, err
	}
	err := t.streams.request(ctx, node, protocol.TerminalRequest{Do: protocol.TerminalDoOpen, ID: p.ID, Open: &o.TerminalOpen, By: o.By, Service: o.Service})
	if err != nil {
		t.record(ctx, line(info, "gateway", "could not open the terminal: "+err.Error()))
		return info, err
	}
	t.mu.Lock()
	if t.all[p] == nil { // the report may have been faster
		t.all[p] = &terminal{info: info, unreported: time.Now()}
	}
	info = t.all[p].info
	t.mu.Unlock()
	t.publish()
	return info, nil
}

func (t *Terminals) check(node protocol.NodeID, o Opening) error {
	info, ok := t.o.Machines.Node(node)
	switch {
	case !ok:
		return protocol.ErrNotFound.With(fmt.Sprintf("No machine is called %.60q", node))
	case !info.Online:
		return protocol.ErrUnavailable.With(fmt.Sprintf("%s is offline", node))
	case !info.Terminals:
		return protocol.ErrUnavailable.With(fmt.Sprintf("the program on %s is too old for terminals: update it", node))
	case strings.ContainsRune(o.Command+o.Username+o.Workdir, 0):
		return protocol.ErrBadRequest.With("the command, the user and the folder must not contain a zero byte")
	}
	return nil
}

// Close ends the program of a terminal, and everything that it started.
func (t *Terminals) Close(ctx context.Context, by string, p protocol.TerminalParams) error {
	info, err := t.Get(p)
	switch {
	case err != nil:
		return err
	case info.CommandID != "":
		return protocol.ErrConflict.With("this is a command of the agent or of an app: stop it where it was started")
	}
	if err := t.streams.request(ctx, p.Node, protocol.TerminalRequest{Do: protocol.TerminalDoClose, ID: p.ID}); err != nil {
		return err
	}
	t.remove(ctx, p, by)
	return nil
}

func errNone(p protocol.TerminalParams) error {
	return protocol.ErrNotFound.With(fmt.Sprintf("No terminal of %.60s has the ID %.60q", p.Node, p.ID))
}

// Get returns a terminal.
func (t *Terminals) Get(p protocol.TerminalParams) (protocol.Terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.all[p]
	if x == nil {
		return protocol.Terminal{}, errNone(p)
	}
	return x.now(), nil
}

// remove removes a terminal that was closed or that its machine does not have any more.
func (t *Terminals) remove(ctx context.Context, p protocol.TerminalParams, by string) {
	t.mu.Lock()
	x := t.all[p]
	delete(t.all, p)
	t.mu.Unlock()
	if x != nil && x.info.EndedAt == 0 {
		t.recordEnd(ctx, x.info, by)
	}
	t.publish()
}

// Report takes all terminals of a machine.
func (t *Terminals) Report(ctx context.Context, node protocol.NodeID, list []protocol.Terminal) {
	if len(list) > maxTerminals {
		list = list[:maxTerminals]
	}
	for i := range list {
		list[i] = t.clean(ctx, node, list[i])
	}
	var ended []protocol.Terminal
	t.mu.Lock()
	reported := make(map[protocol.TerminalParams]bool, len(list))
	for _, info := range list {
		p := protocol.TerminalParams{Node: node, ID: info.ID}
		reported[p] = true
		x := t.all[p]
		if x == nil {
			x = &terminal{}
			t.all[p] = x
		} else if x.info.EndedAt == 0 && info.EndedAt != 0 {
			ended = append(ended, info)
		}
		x.info, x.unreported = info, time.Time{}
	}
	for p, x := range t.all {
		if p.Node == node && !reported[p] && time.Since(x.unreported) > unreported {
			delete(t.all, p)
			if x.info.EndedAt == 0 {
				ended = append(ended, x.info)
			}
		}
	}
	t.mu.Unlock()
	for _, info := range ended {
		t.recordEnd(ctx, info, "gateway")
	}
	t.publish()
}

// clean returns what a machine reports without what only the gateway says, in texts of bounded
// length.
func (t *Terminals) clean(ctx context.Context, node protocol.NodeID, info protocol.Terminal) protocol.Terminal {
	info.Node, info.Viewers, info.Typist, info.SessionKey = node, 0, "", ""
	if info.CallID != "" {
		info.SessionKey = t.o.ChatOf(ctx, node, info.CallID)
	}
	for _, s := range []*string{&info.Title, &info.Command, &info.Username, &info.Workdir, &info.By} {
		*s = cut(*s)
	}
	return info
}

func cut(s string) string { return format.Line(s, maxText) }

// OfService returns the running terminal of a service of a machine.
func (t *Terminals) OfService(node protocol.NodeID, id protocol.ServiceID) (protocol.Terminal, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.all {
		if x.info.Node == node && x.info.Service == id && x.info.EndedAt == 0 {
			return x.info, true
		}
	}
	return protocol.Terminal{}, false
}

// List lists the terminals of a machine, or of all that are online, oldest first.
func (t *Terminals) List(_ context.Context, p protocol.TerminalListParams) (protocol.TerminalListResult, error) {
	t.mu.Lock()
	list := []protocol.Terminal{}
	for at, x := range t.all {
		if p.Node == "" || p.Node == at.Node {
			list = append(list, x.now())
		}
	}
	t.mu.Unlock()
	list = slices.DeleteFunc(list, func(x protocol.Terminal) bool {
		node, ok := t.o.Machines.Node(x.Node)
		return !ok || !node.Online
	})
	slices.SortFunc(list, func(a, b protocol.Terminal) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
	return protocol.TerminalListResult{Terminals: list}, nil
}

func (t *Terminals) publish() { t.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeTerminals}) }

// ofCommand names the command of a terminal for the audit log. It is what the owner asked for, not
// what was typed.
func ofCommand(info protocol.Terminal) string {
	if info.Command == "" {
		return ""
	}
	return " for the command " + cut(info.Command)
}

func line(info protocol.Terminal, by, what string) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditTerminal, By: by, Node: info.Node, What: what, Verdict: "allow"}
}

// recordEnd records the end of a person's terminal. Commands of the agent have their own record.
func (t *Terminals) recordEnd(ctx context.Context, info protocol.Terminal, by string) {
	if info.CommandID != "" {
		return
	}
	took := time.Since(time.UnixMilli(info.StartedAt))
	if info.EndedAt != 0 {
		took = time.Duration(info.EndedAt-info.StartedAt) * time.Millisecond
	}
	what := fmt.Sprintf("the terminal%s ended after %s", ofCommand(info), format.Duration(took))
	if by != "gateway" {
		what = fmt.Sprintf("closed the terminal%s after %s", ofCommand(info), format.Duration(took))
	}
	t.record(ctx, line(info, by, what))
}

func (t *Terminals) record(ctx context.Context, entry protocol.AuditEntry) {
	if err := t.o.Audit.Append(context.WithoutCancel(ctx), entry); err != nil {
		slog.Warn("A line about a terminal is missing from the audit log", "node", entry.Node, "err", err)
	}
}
