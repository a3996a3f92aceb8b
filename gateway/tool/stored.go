package tool

import (
	"context"

	"fairlead/gateway/protocol"
)

// maxUnstored is the number of ended calls that are kept in memory because they could not be stored.
// The end of a further one is lost if the gateway stops.
const maxUnstored = 64

// errNotStored makes a node report a result again.
var errNotStored = protocol.ErrUnavailable.With("the end of the call could not be stored; report it again")

// AwaitStored returns a function that waits until the end of a call in progress is stored. Its error
// makes the node report again. AwaitStored must be called before the call gets its result; there is
// nothing to wait for if the call is not in progress.
func (p *Pipeline) AwaitStored(id protocol.CallID) func(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	call := p.open[id]
	if call == nil {
		return nil
	}
	return func(ctx context.Context) error {
		select {
		case <-call.ended:
			return call.failure
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// keepUnstored keeps the end of a call that a node ran until the node reports it again.
func (a *activeCall) keepUnstored() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.open[a.call.ID]; o != nil {
		o.failure = errNotStored
	}
	if a.target.own == nil && a.target.Spec.Server == "" && len(a.unstored) < maxUnstored {
		a.unstored[a.call.ID] = a.record
	}
}

// storeLater stores the end of a call that could not be stored before. It returns false if there is
// no such call of the node.
func (p *Pipeline) storeLater(ctx context.Context, node protocol.NodeID, id protocol.CallID) (bool, error) {
	p.mu.Lock()
	r, ok := p.unstored[id]
	p.mu.Unlock()
	if !ok || r.Info.Node != node {
		return false, nil
	}
	isFirst, err := p.Journal.Finish(context.WithoutCancel(ctx), &r)
	if err != nil {
		return false, errNotStored
	}
	p.mu.Lock()
	delete(p.unstored, id)
	p.mu.Unlock()
	if isFirst { // otherwise its run has been resumed, and has recorded an unknown outcome
		p.publish(r.Info)
	}
	return isFirst, nil
}
