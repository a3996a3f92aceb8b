package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

type browseMethods struct {
	nodes   *nodes.Hub
	tools   Tools
	watches *watches
}

func (m browseMethods) register(all methods) {
	handle(all, protocol.FilesList, m.list)
	handleFiles(all, m, protocol.FilesFind, protocol.ActFind, func(p protocol.FilesFindParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{""}, require("query required", p.Query)
	})
	handleFiles(all, m, protocol.FilesChanges, protocol.ActChanges, func(p protocol.FilesChangesParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{""}, nil
	})
	change := func(p protocol.FilesChangeParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path}, require("id or callId, and path required", cmp.Or(p.ID, string(p.CallID)), p.Path)
	}
	handleFiles(all, m, protocol.FilesDiff, protocol.ActDiff, change)
	handleFiles(all, m, protocol.FilesRevert, protocol.ActRevert, change)
	handle(all, protocol.FilesUnwatch, func(_ context.Context, r *request, p protocol.FilesUnwatchParams) (protocol.Ack, error) {
		return protocol.Ack{OK: true, Dropped: !m.watches.remove(p.WatchID, r.conn)}, nil
	})
	handle(all, protocol.FilesReport, func(ctx context.Context, r *request, p protocol.FilesChange) (protocol.Ack, error) {
		m.watches.forward(ctx, r.conn.peer().node(), p)
		return protocol.Ack{OK: true}, nil
	})
	handleFiles(all, m, protocol.FilesMake, protocol.ActMake, func(p protocol.FilesPathParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path}, require("path required", p.Path)
	})
	handleFiles(all, m, protocol.FilesRead, protocol.ActRead, func(p protocol.FilesPathParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path}, require("path required", p.Path)
	})
	handleFiles(all, m, protocol.FilesWrite, protocol.ActWrite, func(p protocol.FilesWriteParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path}, require("path and sum required", p.Path, p.Sum)
	})
	handleFiles(all, m, protocol.FilesMove, protocol.ActMove, func(p protocol.FilesMoveParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path, p.To}, require("path and to required", p.Path, p.To)
	})
	handleFiles(all, m, protocol.FilesTrash, protocol.ActTrash, func(p protocol.FilesTrashParams) (protocol.NodeID, []string, error) {
		if len(p.Paths) == 0 || len(p.Paths) > maxTrash {
			return "", nil, protocol.ErrBadRequest.With(fmt.Sprintf("paths required, at most %d", maxTrash))
		}
		return p.Node, p.Paths, nil
	})
	handleFiles(all, m, protocol.FilesRestore, protocol.ActRestore, func(p protocol.FilesRestoreParams) (protocol.NodeID, []string, error) {
		return p.Node, []string{p.Path}, require("id and path required", p.ID, p.Path)
	})
}

// handleFiles registers a method that runs a file operation on a node; target returns the node and
// the paths that rules judge.
func handleFiles[P, R any](all methods, b browseMethods, m protocol.Method[P, R], name string, target func(P) (protocol.NodeID, []string, error)) {
	handle(all, m, func(ctx context.Context, r *request, p P) (out R, err error) {
		node, paths, err := target(p)
		if err != nil {
			return out, err
		}
		return fileOperation[R](ctx, b, r, name, node, p, paths...)
	})
}

const maxTrash = 10_000

// fileOperation runs a file operation on a node as a direct action of the person: it is journaled,
// and a rule that denies it stops it.
func fileOperation[R any](ctx context.Context, m browseMethods, r *request, name string, node protocol.NodeID, args any, paths ...string) (out R, err error) {
	if err := cmp.Or(require("nodeId required", string(node)), m.checkBrowsable(node)); err != nil {
		return out, err
	}
	raw, err := protocol.Marshal(args)
	if err != nil {
		return out, err
	}
	op := &tool.FileOperation{Node: node, Effect: protocol.EffectWrite}
	access := tool.FileAccess{Tool: "Write"}
	switch name {
	case protocol.ActList, protocol.ActFind, protocol.ActChanges:
		access.Tool, op.Effect = "Glob", protocol.EffectRead
	case protocol.ActDiff, protocol.ActRead:
		access.Tool, op.Effect = "Read", protocol.EffectRead
	case protocol.ActMove, protocol.ActTrash, protocol.ActRestore:
		access.IsWhole = true
	}
	access.Node, access.Effect = node, op.Effect
	for _, p := range paths {
		access.Path = cmp.Or(p, ".") // an empty path means the workspace
		op.Files = append(op.Files, access)
	}
	res, err := runDirect(ctx, m.tools, r, tool.Call{Tool: protocol.NewToolName(node, name), Args: raw, FileOperation: op})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(res, &out)
}

func (m browseMethods) list(ctx context.Context, r *request, p protocol.FilesListParams) (out protocol.FilesListResult, err error) {
	p.WatchID = ""
	if p.Watch && m.checkBrowsable(p.Node) == nil {
		if p.WatchID, err = m.watches.add(r.conn, p.Node); err != nil {
			return out, err
		}
	}
	out, err = fileOperation[protocol.FilesListResult](ctx, m, r, protocol.ActList, p.Node, p, p.Path)
	if p.WatchID != "" && (err != nil || out.WatchID != p.WatchID || ctx.Err() != nil) {
		m.watches.remove(p.WatchID, r.conn)
		out.WatchID = ""
	}
	return out, err
}

func (m browseMethods) checkBrowsable(node protocol.NodeID) error {
	n, known := m.nodes.Node(node)
	switch {
	case !known:
		return protocol.ErrNotFound.With(fmt.Sprintf("Unknown node: %s", node))
	case !n.Online:
		return protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", node))
	case !n.Files:
		return protocol.ErrNotFound.With(fmt.Sprintf("%s does not serve its files to a browser", node))
	}
	return nil
}

// maxWatches is the number of folders that one connection may watch.
const maxWatches = 16

type watches struct {
	nodes *nodes.Hub

	mu   sync.Mutex // guards open
	open map[string]watch
}

type watch struct {
	client *Conn
	node   protocol.NodeID
}

func (w *watches) add(c *Conn, node protocol.NodeID) (id string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, o := range w.open {
		if o.client == c {
			n++
		}
	}
	if n >= maxWatches {
		return "", protocol.ErrConflict.With(fmt.Sprintf("this connection watches %d folders already", maxWatches))
	}
	id = protocol.NewID()
	w.open[id] = watch{c, node}
	return id, nil
}

// remove removes a watch of c and notifies its node. It returns false when there was none.
func (w *watches) remove(id string, c *Conn) bool {
	w.mu.Lock()
	o, ok := w.open[id]
	if ok = ok && o.client == c; ok {
		delete(w.open, id)
	}
	w.mu.Unlock()
	if !ok {
		return false
	}
	if link, _, online := w.nodes.Link(o.node); online {
		link.SendEvent(context.Background(), protocol.EventFilesUnwatch, protocol.FilesUnwatchParams{WatchID: id})
	}
	return true
}

func (w *watches) removeAll(c *Conn) {
	w.mu.Lock()
	var ids []string
	for id, o := range w.open {
		if o.client == c {
			ids = append(ids, id)
		}
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.remove(id, c)
	}
}

func (w *watches) forward(ctx context.Context, node protocol.NodeID, change protocol.FilesChange) {
	ids := change.WatchIDs
	change.Node = node
	for _, id := range ids {
		w.mu.Lock()
		o, ok := w.open[id]
		if ok = ok && o.node == node; ok && change.Again {
			delete(w.open, id)
		}
		w.mu.Unlock()
		if ok {
			change.WatchIDs = []string{id}
			o.client.socket.SendEvent(ctx, protocol.EventFiles, change)
		}
	}
}
