package catalog

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Observe returns text that differs after a file was changed, removed or created. It repeats a call
// of fs_stat that p has made ([Result.Call]): nobody is asked, but the rules and permissions of now
// must still allow it. Its error is a *protocol.Fault.
func (c *Catalog) Observe(ctx context.Context, p auth.Principal, call protocol.CallID) (state string, err error) {
	raw, err := c.o.Pipeline.Continue(ctx, tool.Step{Call: call, Principal: p})
	if err = tool.FaultOf(err); !errors.Is(err, tool.ErrNoCall) && isNotFound(err) {
		return "", nil
	}
	var stat struct{ Entry json.RawMessage }
	if err == nil && json.Unmarshal(raw, &stat) == nil && stat.Entry != nil {
		raw = stat.Entry // without the time that the call took
	}
	return string(raw), err
}

func isNotFound(err error) bool {
	f, ok := errors.AsType[*protocol.Fault](err)
	return ok && f.Code == protocol.FaultNotFound
}
