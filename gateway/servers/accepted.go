package servers

import (
	"context"
	"log/slog"
	"maps"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// accepted is what the person accepted of the tools of servers. It is safe for concurrent use.
type accepted struct {
	store Store

	mu  sync.Mutex // guards all
	all map[protocol.ServerName]store.AcceptedTools
}

// of returns the accepted tools of a server, which must not be changed; nil for a new server.
func (a *accepted) of(name protocol.ServerName) store.AcceptedTools {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[name]
}

// first accepts the tools of a server that the person has just added, also if it has none yet: what
// comes later is a change.
func (a *accepted) first(ctx context.Context, name protocol.ServerName, list []remoteTool) {
	if a.of(name) != nil {
		return
	}
	if err := a.add(ctx, name, list); err != nil {
		slog.Error("The tools of an MCP server could not be stored", "server", name, "err", err)
	}
}

// add stores the present form of tools as accepted.
func (a *accepted) add(ctx context.Context, name protocol.ServerName, list []remoteTool) error {
	next := maps.Clone(a.of(name))
	if next == nil {
		next = make(store.AcceptedTools)
	}
	for _, t := range list {
		next[t.name] = store.AcceptedTool{Hash: t.hash, Description: t.description, Definition: t.definition}
	}
	return a.put(ctx, name, next)
}

func (a *accepted) put(ctx context.Context, name protocol.ServerName, tools store.AcceptedTools) error {
	if err := a.store.Put(context.WithoutCancel(ctx), name, tools); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all[name] = tools
	return nil
}

// forget forgets a server.
func (a *accepted) forget(ctx context.Context, name protocol.ServerName) error {
	if err := a.store.Delete(ctx, name); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, name)
	return nil
}
