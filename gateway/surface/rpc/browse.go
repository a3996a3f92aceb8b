package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// browseMethods are the methods of the file browser.
type browseMethods struct {
	nodes   *nodes.Hub
	tools   Tools
	watches *watches
}

func (m browseMethods) register(all methods) {
	handle(all, protocol.FilesList, m.list)
	handle(all, protocol.FilesChanges, func(ctx context.Context, r *request, p protocol.FilesChangesParams) (protocol.FilesChangesResult, error) {
		return fileOperation[protocol.FilesChangesResult](ctx, m, r, protocol.ActChanges, p.Node, p, "")
	})
	handle(all, protocol.FilesDiff, func(ctx context.Context, r *request, p protocol.FilesChangeParams) (protocol.FilesDiffResult, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDiffResult{}, errIDAndPath
		}
		return fileOperation[protocol.FilesDiffResult](ctx, m, r, protocol.ActDiff, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesRevert, func(ctx context.Context, r *request, p protocol.FilesChangeParams) (protocol.FilesDone, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDone{}, errIDAndPath
		}
		return fileOperation[protocol.FilesDone](ctx, m, r, protocol.ActRevert, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesUnwatch, func(_ context.Context, r *request, p protocol.FilesUnwatchParams) (protocol.Ack, error) {
		return protocol.Ack{OK: true, Dropped: !m.watches.remove(p.WatchID, r.conn)}, nil
	})
	handle(all, protocol.FilesReport, func(ctx context.Context, r *request, p protocol.FilesChange) (protocol.Ack, error) {
		m.watches.forward(ctx, r.conn.node(), p)
		return protocol.Ack{OK: true}, nil
	})
	handle(all, protocol.FilesMake, func(ctx context.Context, r *request, p protocol.FilesPathParams) (protocol.FilesDone, error) {
		if p.Path == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("path required")
		}
		return fileOperation[protocol.FilesDone](ctx, m, r, protocol.ActMake, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesMove, func(ctx context.Context, r *request, p protocol.FilesMoveParams) (protocol.FilesDone, error) {
		if p.Path == "" || p.To == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("path and to required")
		}
		return fileOperation[protocol.FilesDone](ctx, m, r, protocol.ActMove, p.Node, p, p.Path, p.To)
	})
	handle(all, protocol.FilesTrash, func(ctx context.Context, r *request, p protocol.FilesTrashParams) (protocol.FilesTrashResult, error) {
		if len(p.Paths) == 0 || len(p.Paths) > maxTrash {
			return protocol.FilesTrashResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("paths required, at most %d", maxTrash))
		}
		return fileOperation[protocol.FilesTrashResult](ctx, m, r, protocol.ActTrash, p.Node, p, p.Paths...)
	})
	handle(all, protocol.FilesRestore, func(ctx context.Context, r *request, p protocol.FilesRestoreParams) (protocol.FilesDone, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDone{}, errIDAndPath
		}
		return fileOperation[protocol.FilesDone](ctx, m, r, protocol.ActRestore, p.Node, p, p.Path)
	})
}

var errIDAndPath = protocol.ErrBadRequest.With("id and path required")

// maxTrash is the number of files and folders that one call may delete.
const maxTrash = 10_000

// fileOperation runs a file operation on a node as a direct action of the person: it is journaled,
// and a rule that denies it stops it.
func fileOperation[R any](ctx context.Context, m browseMethods, r *request, name string, node protocol.NodeID, args any, paths ...string) (out R, err error) {
	if node == "" {
		return out, protocol.ErrBadRequest.With("nodeId required")
	}
	if err := m.checkBrowsable(node); err != nil {
		return out, err
	}
	raw, err := protocol.Marshal(args)
	if err != nil {
		return out, err
	}
	op := &tool.FileOperation{Node: node, Effect: protocol.EffectWrite}
	access := tool.FileAccess{Tool: "Write"}
	switch name {
	case protocol.ActList, protocol.ActChanges:
		access.Tool, op.Effect = "Glob", protocol.EffectRead
	case protocol.ActDiff:
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

// list lists a folder of a node, and watches it on request.
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

// checkBrowsable returns an error with the reason when a node's files cannot be browsed.
func (m browseMethods) checkBrowsable(node protocol.NodeID) error {
	for _, n := range m.nodes.Nodes() {
		switch {
		case n.ID != node:
		case !n.Online:
			return protocol.ErrUnavailable.With(fmt.Sprintf("Node not connected: %s", node))
		case !n.Files:
			return protocol.ErrNotFound.With(fmt.Sprintf("%s does not serve its files to a browser", node))
		default:
			return nil
		}
	}
	return protocol.ErrNotFound.With(fmt.Sprintf("Unknown node: %s", node))
}
