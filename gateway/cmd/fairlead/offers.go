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

// extensionWords say what the extension methods are for, by the prefixes of their names.
var extensionWords = []struct{ prefix, words string }{
	{"approval.", "approvals on the command line"},
	{"audit.", "an audit log"},
	{"chat.", "stopping runs"},
	{"config.", "setting descriptions"},
	{"device.", "device pairing"},
	{"feed.", "live updates"},
	{"journal.", "a call journal"},
	{"models.", "model lists"},
	{"nodes.", "a machine list"},
	{"rule", "rules"},
	{"session.archive", "earlier conversations"},
	{"sessions.search", "search"},
	{"skills.", "turning skills on and off"},
	{"status.", "status information"},
	{"transfer.", "file transfers"},
	{"agent.", "pausing the agent"},
}

// offers reports whether the gateway has a method: every gateway has those of the specification;
// extensions are listed at login.
func (c *connection) offers(method string) bool {
	info, known := protocol.MethodByName(method)
	return known && !info.Extension || slices.Contains(c.hello.Features.Methods, method)
}

// need returns an error in plain words if the gateway does not have a method.
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
	return &exitError{code: exitFailed, err: fmt.Errorf("this gateway does not support %s (%s); a Fairlead gateway of the current version does", words, method)}
}

// call is [client.Call] for a gateway that may have only the methods of the specification.
func call[P, R any](ctx context.Context, c *connection, m protocol.Method[P, R], p P) (R, error) {
	if err := c.need(m.Name); err != nil {
		var none R
		return none, err
	}
	return client.Call(ctx, c.Client, m, p)
}

// nodes lists the machines. For a gateway without such a list, it lists the connected machines by
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

// status returns the gateway's state, or the part of it that is known without a method for it.
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

// specificationOnly explains why less is shown than for a Fairlead gateway; it is empty for a
// Fairlead gateway.
func (c *connection) specificationOnly() string {
	if c.offers(protocol.StatusGet.Name) {
		return ""
	}
	return fmt.Sprintf("version %s supports only the basic protocol: approvals and offline machines are not shown", cmp.Or(c.hello.Server.Version, "unknown"))
}
