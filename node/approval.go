package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// checkApproval compares the call with what the person saw and allowed: machine, tool, arguments,
// folder, programs, the file and its change. It returns the path that the path of a file tool leads
// to, which the call must not leave. target is empty when nothing was compared, or when the call
// fails anyway.
func (n *Node) checkApproval(ctx context.Context, t toolkit.Tool[access.Call], inv protocol.ToolInvoke) (target string, err error) {
	if inv.Approved == "" && len(inv.Folders) == 0 {
		return "", nil
	}
	p, _, err := t.Preview(ctx, access.Call{}, inv.Args)
	if err != nil {
		return "", err
	}
	if p.Problem == "" {
		target = p.Path
	}
	now, err := protocol.CallHash(protocol.AskCall, n.opts.ID, inv.Tool, inv.Args, &p, inv.Policy, inv.Folders...)
	switch {
	case err != nil:
		return "", err
	case now == inv.Approved && allNeeded(inv.Folders, p.Folders):
		return target, nil
	case inv.Expect != "" && p.FileSHA256 != inv.Expect:
		return "", workspace.ErrChanged
	}
	//lint:ignore ST1005 the text goes to the model as it is
	return "", errors.New("APPROVAL_DRIFT: this call differs from the one that was approved. Nothing was run; ask again.")
}

// allNeeded reports whether the call needs each of the opened folders, with the same rights.
func allNeeded(opened, needed []protocol.FolderAccess) bool {
	return !slices.ContainsFunc(opened, func(f protocol.FolderAccess) bool { return !slices.Contains(needed, f) })
}

// preview returns null for a tool that has no preview.
func preview(ctx context.Context, t toolkit.Tool[access.Call], args json.RawMessage) (json.RawMessage, error) {
	p, ok, err := t.Preview(ctx, access.Call{}, args)
	if err != nil {
		return nil, err
	}
	if !ok {
		return json.RawMessage("null"), nil
	}
	return protocol.Marshal(p)
}
