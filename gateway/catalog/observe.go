package catalog

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Observe returns text that differs after a file was changed, removed or created. It repeats an
// fs_stat that was allowed ([Catalog.Call]), also outside the workspace: nobody is asked, and the
// journal gets no entry. Its error is a *protocol.Fault.
func (c *Catalog) Observe(ctx context.Context, p auth.Principal, machine, file string) (state string, err error) {
	if err := checkScopes(p, []protocol.Scope{protocol.ScopeFilesRead}); err != nil {
		return "", err
	}
	node, err := c.resolve(p, &Target{NodeName: machine})
	if err != nil {
		return "", err
	}
	x, args := &call{catalog: c, principal: p}, encode(map[string]string{"path": file})
	raw, err := x.resumeRaw(ctx, node, fsStat, args)
	if isFault(err, protocol.FaultPermissionDenied) {
		raw, err = x.statOutside(ctx, node, args)
	}
	if isFault(err, protocol.FaultNotFound) {
		return "", nil
	}
	var stat struct{ Entry json.RawMessage }
	if err == nil && json.Unmarshal(raw, &stat) == nil && stat.Entry != nil {
		raw = stat.Entry // without the time that the call took
	}
	return string(raw), err
}

func isFault(err error, code protocol.FaultCode) bool {
	f, ok := errors.AsType[*protocol.Fault](err)
	return ok && f.Code == code
}

// statOutside repeats an fs_stat for which the person has opened a folder. A path that leads to keys
// or tokens by now is refused.
func (c *call) statOutside(ctx context.Context, node protocol.NodeID, args json.RawMessage) (json.RawMessage, error) {
	raw, err := c.repeat(ctx, node, protocol.ToolInvoke{Tool: fsStat, Args: args, Preview: true})
	if err != nil {
		return nil, err
	}
	var p protocol.CallPreview
	if err := protocol.Unmarshal(raw, &p); err != nil {
		return nil, FaultOf(err)
	}
	if len(p.Folders) == 0 || p.Secret != "" || p.Folders[0].Warning != "" {
		return nil, protocol.NewFault(protocol.FaultPermissionDenied, "the file cannot be watched: it is outside the workspace")
	}
	approved, err := protocol.CallHash(protocol.AskCall, node, fsStat, args, &p, "", p.Folders...)
	if err != nil {
		return nil, FaultOf(err)
	}
	return c.repeat(ctx, node, protocol.ToolInvoke{Tool: fsStat, Args: args, Folders: p.Folders, Approved: approved})
}
