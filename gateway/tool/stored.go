package tool

import (
	"context"
	"sync"

	"fairlead/gateway/protocol"
)

// maxUnstored is the number of ended calls that are kept in memory because they could not be
// stored. The end of a further one is lost if the gateway stops.
const maxUnstored = 64

// errNotStored makes a node report a result again.
var errNotStored = protocol.ErrUnavailable.With("the end of the call could not be stored; report it again")

// AwaitStored returns a function that waits until the end of a call in progress is stored. Its
// error makes the node report again. AwaitStored must be called before the call gets its result;
// there is nothing to wait for if the call is not in progress.
func (p *Pipeline) AwaitStored(id protocol.CallID) func(context.Context) error {
	return p.calls.awaitStored(id)
}

// unstored holds the ends of calls that nodes ran and that could not be stored, until their nodes
// report them again. It is safe for concurrent use.
type unstored struct {
	mu    sync.Mutex // guards calls
	calls map[protocol.CallID]Record
}

func (u *unstored) add(r Record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[protocol.CallID]Record)
	}
	if len(u.calls) < maxUnstored {
		u.calls[r.Info.CallID] = r
	}
}

func (u *unstored) get(node protocol.NodeID, id protocol.CallID) (Record, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, ok := u.calls[id]
	return r, ok && r.Info.Node == node
}

func (u *unstored) remove(id protocol.CallID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, id)
}
