package catalog

import (
	"context"
	"errors"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Observe returns text that differs after a file was changed, removed or created. It repeats an
// fs_stat that was allowed ([Catalog.Call]): nobody is asked, and the journal gets no entry. Its
// error is a *protocol.Fault.
func (c *Catalog) Observe(ctx context.Context, p auth.Principal, machine, file string) (state string, err error) {
	if err := checkScopes(p, []protocol.Scope{protocol.ScopeFilesRead}); err != nil {
		return "", err
	}
	node, err := c.resolve(p, &Target{NodeName: machine})
	if err != nil {
		return "", err
	}
	raw, err := (&call{catalog: c, principal: p}).resumeRaw(ctx, node, fsStat, encode(map[string]string{"path": file}))
	if f, ok := errors.AsType[*protocol.Fault](err); ok && f.Code == protocol.FaultNotFound {
		return "", nil
	}
	return string(raw), err
}
