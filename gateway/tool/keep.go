package tool

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Keeper asks the person whether to keep what commands changed unasked in protected files. It is
// safe for concurrent use.
type Keeper struct {
	pipeline *Pipeline
	workers  *crash.Workers
}

// NewKeeper returns a Keeper. The caller closes it.
func NewKeeper(p *Pipeline) *Keeper { return &Keeper{pipeline: p, workers: crash.NewWorkers()} }

// Close stops waiting for answers: the questions stay pending for the next start.
func (k *Keeper) Close() { k.workers.Close(ErrSuspended) }

// Report takes the report of a node, which repeats it after each reconnection, and asks on behalf of
// whoever started the command. Dropped in the result means that the question is closed.
func (k *Keeper) Report(ctx context.Context, node protocol.NodeID, b protocol.PutBack) (protocol.Ack, error) {
	c := Call{
		ID: protocol.CallID("keep-" + string(node) + "-" + b.ID), Tool: protocol.NewToolName(node, protocol.KeepTool),
		AskedBy: protocol.AskedBy{Kind: protocol.AskedByAgent},
	}
	old, err := k.pipeline.Journal.Find(ctx, c.ID)
	switch {
	case err == nil && old.Info.Over():
		return protocol.Ack{OK: true, Dropped: true}, nil
	case err != nil && !errors.Is(err, protocol.ErrNotFound):
		return protocol.Ack{}, err
	}
	if origin, err := k.pipeline.Journal.Find(ctx, b.CallID); err == nil && origin.Info.Node == node {
		c.Session, c.AskedBy = origin.Info.SessionKey, origin.AskedBy
	}
	c.Principal = auth.Agent(c.Session, "")
	in := protocol.KeepArgs{ID: b.ID, Question: keepQuestion(b), More: b.More}
	for _, change := range b.Changes {
		in.Paths = append(in.Paths, change.Path)
	}
	if c.Args, err = protocol.Marshal(in); err != nil {
		return protocol.Ack{}, err
	}
	isStarted := k.workers.Start(func() {
		_, err := k.pipeline.Run(k.workers.Context(), c)
		if err != nil && !errors.Is(err, protocol.ErrConflict) && !errors.Is(err, ErrSuspended) {
			slog.Warn("Cannot ask whether to keep the changes of a command", "node", node, "err", err)
		}
	})
	if !isStarted {
		return protocol.Ack{}, protocol.ErrUnavailable.With("the gateway stops")
	}
	return protocol.Ack{OK: true}, nil
}
