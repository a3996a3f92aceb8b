package feed

import (
	"context"

	"fairlead/gateway/protocol"
)

func (to follower) loadAccessRequests() {
	f := to.feed
	f.Tasks.StartRequest(func(ctx context.Context) {
		if r, err := Call(ctx, f, protocol.PairList, protocol.Empty{}); err == nil {
			f.AccessRequests.Update(func(n *int) { *n = len(r.Pairs) })
		}
	})
}
