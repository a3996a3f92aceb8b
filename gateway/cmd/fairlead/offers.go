package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// extensionWords are what the methods are for that the specification does not have, by the
// beginnings of their names.
var extensionWords = []struct{ prefix, words string }{
	{"approval.", "approvals from the command line"},
	{"audit.", "an audit log"},
	{"chat.", "stopping runs"},
	{"config.", "descriptions of its settings"},
	{"device.", "pairing of devices"},
	{"feed.", "live updates"},
	{"journal.", "a journal of calls"},
	{"models.", "lists of models"},
	{"nodes.", "a list of all machines"},
	{"rule", "rules"},
	{"session.archive", "earlier conversations"},
	{"sessions.search", "a search"},
	{"skills.", "switches for skills"},
	{"status.", "its status"},
	{"transfer.", "file transfers"},
	{"agent.", "pausing the agent"},
}

// offers reports whether the gateway has a method: all of the specification, and of the others
// those that it listed at login.
func (c *connection) offers(method string) bool {
	info, known := protocol.MethodByName(method)
	return known && !info.Extension || slices.Contains(c.hello.Features.Methods, method)
}

// need is an error in plain words for a method that the gateway does not have.
func (c *connection) need(method string) error {
	if c.offers(method) {
		return nil
	}
	words := "this"
	for _, e := range extensionWords {
		if strings.HasPrefix(method, e.prefix) {
			words = e.words
			break
		}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("this gateway does not offer %s (%s); Fairlead's own gateway, in its present version, does", words, method)}
}

// call is [client.Call] where the gateway may know the methods of the specification alone.
func call[P, R any](ctx context.Context, c *connection, m protocol.Method[P, R], p P) (R, error) {
	if err := c.need(m.Name); err != nil {
		var none R
		return none, err
	}
	return client.Call(ctx, c.Client, m, p)
}

// nodes lists the machines. A gateway without a list of them shows those that are connected by
// their tools.
func (c *connection) nodes(ctx context.Context) ([]protocol.NodeInfo, error) {
	if c.offers(protocol.NodesList.Name) {
		r, err := call(ctx, c, protocol.NodesList, protocol.Empty{})
		return r.Nodes, err
	}
	r, err := call(ctx, c, protocol.ToolsList, protocol.Empty{})
	var list []protocol.NodeInfo
	for _, t := range r.Tools {
		id, tool, ok := protocol.ToolName(t.Name).Split()
		if !ok || id == protocol.NativePrefix {
			continue
		}
		i := slices.IndexFunc(list, func(n protocol.NodeInfo) bool { return n.ID == id })
		if i < 0 {
			i, list = len(list), append(list, protocol.NodeInfo{ID: id, Online: true})
		}
		list[i].Tools = append(list[i].Tools, tool)
	}
	return list, err
}

// status is the gateway's state, or what of it can be found out without a method for it.
func (c *connection) status(ctx context.Context) (protocol.Status, error) {
	if c.offers(protocol.StatusGet.Name) {
		return call(ctx, c, protocol.StatusGet, protocol.Empty{})
	}
	s := protocol.Status{Version: c.hello.Server.Version, MainSession: protocol.MainSession}
	r, err := call(ctx, c, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model"})
	if err == nil && len(r.Value) > 0 {
		err = json.Unmarshal(r.Value, &s.Model)
	}
	return s, err
}

// specificationOnly says why less is shown than of Fairlead's own gateway; empty for one of those.
func (c *connection) specificationOnly() string {
	if c.offers(protocol.StatusGet.Name) {
		return ""
	}
	return fmt.Sprintf("version %s knows the methods of the specification only: nothing is shown of approvals and offline machines", cmp.Or(c.hello.Server.Version, "unknown"))
}
