package transfer

import (
	"context"
	"encoding/json"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
)

// local is the end in this process: the agent's workspace. It implements both the connection and
// the end behind it.
type local struct {
	e    *Engine
	ends *stream.Ends
	gone chan struct{}
}

func newLocal(e *Engine, agent protocol.AgentID) *local {
	l := &local{e: e, gone: make(chan struct{})}
	l.ends = stream.NewEnds(stream.Options{Files: e.workspaces.folders(agent), Peer: localPeer{l}, Unfinished: e.workspaces.unfinishedFiles(agent)})
	return l
}

func (l *local) close() { l.ends.Close() }

func (l *local) SendEvent(_ context.Context, name string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	l.ends.Event(name, raw)
	return nil
}

func (l *local) SendEventBehind(ctx context.Context, name string, payload any) error {
	return l.SendEvent(ctx, name, payload)
}

func (l *local) SendFrame(_ context.Context, f *stream.Frame) error {
	l.ends.Binary(f)
	return nil
}

func (l *local) Gone() <-chan struct{} { return l.gone }

// localPeer is the engine as the local end sees it.
type localPeer struct{ l *local }

func (p localPeer) Report(_ context.Context, _ string, params any, _ bool) error {
	proceed, err := func() {}, error(nil)
	switch v := params.(type) {
	case protocol.TransferMetaParams:
		proceed, err = p.l.e.Meta(p.l, v)
	case protocol.TransferAcceptParams:
		proceed, err = p.l.e.Accept(p.l, v)
	case protocol.TransferCompleteParams:
		proceed, err = p.l.e.Complete(p.l, v)
	case protocol.TransferDoneParams:
		proceed, err = p.l.e.Done(p.l, v)
	}
	proceed()
	return err
}

func (p localPeer) SendFrame(ctx context.Context, f *stream.Frame) error {
	r := p.l.e.relay(f.ID())
	if r == nil {
		f.Free()
		return context.Canceled
	}
	if !r.stream {
		r.touch()
		if !r.src.in.PutWait(ctx, f) {
			return context.Canceled
		}
		return nil
	}
	p.l.e.Frame(p.l, f)
	return nil
}
