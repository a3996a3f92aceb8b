package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// browse registers the methods of the file browser.
func (s *Server) browse(all map[string]handler) {
	handle(all, protocol.FilesList, func(ctx context.Context, c *Conn, p protocol.FilesListParams) (protocol.FilesListResult, error) {
		return s.listFolder(ctx, c, p)
	})
	handle(all, protocol.FilesChanges, func(ctx context.Context, c *Conn, p protocol.FilesChangesParams) (protocol.FilesChangesResult, error) {
		return fileAct[protocol.FilesChangesResult](ctx, s, c, protocol.ActChanges, p.Node, p, "")
	})
	handle(all, protocol.FilesDiff, func(ctx context.Context, c *Conn, p protocol.FilesChangeParams) (protocol.FilesDiffResult, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDiffResult{}, protocol.ErrBadRequest.With("id and path required")
		}
		return fileAct[protocol.FilesDiffResult](ctx, s, c, protocol.ActDiff, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesRevert, func(ctx context.Context, c *Conn, p protocol.FilesChangeParams) (protocol.FilesDone, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("id and path required")
		}
		return fileAct[protocol.FilesDone](ctx, s, c, protocol.ActRevert, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesUnwatch, func(_ context.Context, c *Conn, p protocol.FilesUnwatchParams) (protocol.Ack, error) {
		return protocol.Ack{OK: true, Dropped: !s.watches.end(p.WatchID, c)}, nil
	})
	handle(all, protocol.FilesReport, func(ctx context.Context, c *Conn, p protocol.FilesChange) (protocol.Ack, error) {
		s.watches.tell(ctx, c, p)
		return protocol.Ack{OK: true}, nil
	})
	handle(all, protocol.FilesMake, func(ctx context.Context, c *Conn, p protocol.FilesPathParams) (protocol.FilesDone, error) {
		if p.Path == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("path required")
		}
		return fileAct[protocol.FilesDone](ctx, s, c, protocol.ActMake, p.Node, p, p.Path)
	})
	handle(all, protocol.FilesMove, func(ctx context.Context, c *Conn, p protocol.FilesMoveParams) (protocol.FilesDone, error) {
		if p.Path == "" || p.To == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("path and to required")
		}
		return fileAct[protocol.FilesDone](ctx, s, c, protocol.ActMove, p.Node, p, p.Path, p.To)
	})
	handle(all, protocol.FilesTrash, func(ctx context.Context, c *Conn, p protocol.FilesTrashParams) (protocol.FilesTrashResult, error) {
		if len(p.Paths) == 0 || len(p.Paths) > maxTrash {
			return protocol.FilesTrashResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("paths required, at most %d", maxTrash))
		}
		return fileAct[protocol.FilesTrashResult](ctx, s, c, protocol.ActTrash, p.Node, p, p.Paths...)
	})
	handle(all, protocol.FilesRestore, func(ctx context.Context, c *Conn, p protocol.FilesRestoreParams) (protocol.FilesDone, error) {
		if p.ID == "" || p.Path == "" {
			return protocol.FilesDone{}, protocol.ErrBadRequest.With("id and path required")
		}
		return fileAct[protocol.FilesDone](ctx, s, c, protocol.ActRestore, p.Node, p, p.Path)
	})
}

// maxTrash is the number of files and folders that one call may delete.
const maxTrash = 10_000

// fileAct runs a file operation on a node as a direct action of the person: it is journaled, and a
// rule that denies it stops it.
func fileAct[R any](ctx context.Context, s *Server, c *Conn, name string, node protocol.NodeID, args any, paths ...string) (out R, err error) {
	if node == "" {
		return out, protocol.ErrBadRequest.With("nodeId required")
	}
	if err := s.browsable(node); err != nil {
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
	res, err := s.direct(ctx, c, tool.Call{Tool: protocol.NewToolName(node, name), Args: raw, FileOperation: op})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(res, &out)
}

// browsable returns an error with the reason when a node's files cannot be browsed.
func (s *Server) browsable(node protocol.NodeID) error {
	for _, n := range s.s.Nodes.Nodes() {
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
