package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// rest is the time for which gsv__Transfer waits for an offline node before it returns that the
// transfer continues later.
const rest = 60 * time.Second

// Authorizer decides whether a call may run, and asks the person if that is needed. Continue makes a
// step after one that was allowed. Check only returns why the caller may not make it. *tool.Pipeline
// implements it.
type Authorizer interface {
	Check(c tool.Call) error
	Authorize(ctx context.Context, c tool.Call) (tool.Authorization, error)
	Continue(ctx context.Context, s tool.Step) (json.RawMessage, error)
}

// Client is a program of a person that requests a transfer.
type Client struct {
	Principal auth.Principal
	AskedBy   protocol.AskedBy
	Window    Window // an end of a transfer from or to [protocol.Here]; may be nil
}

// Calls are the calls that start and undo transfers, as the journal records them. It is safe for
// concurrent use.
type Calls struct {
	engine *Engine
	judge  judge
}

// NewCalls returns the calls for an engine.
func NewCalls(e *Engine) *Calls { return &Calls{e, e.services.judge} }

// Tool implements gsv__Transfer: it starts a transfer and waits for its end, unless Wait is false.
func (c *Calls) Tool(ctx context.Context, call tool.Call, in native.TransferIn) (native.TransferOut, error) {
	waits := in.Wait == nil || *in.Wait
	req := Request{Call: call.ID, IsAwaited: waits, Session: call.Session, App: call.Principal.App, Agent: call.Session.Agent(), AskedBy: call.AskedBy}
	req.TransferStartParams = protocol.TransferStartParams{
		Sources: in.Sources, Destination: in.Destination, Into: in.Into, Conflict: in.Conflict, Links: in.Links,
		Later: in.Later, ExpiresIn: in.ExpiresIn,
	}
	if len(req.Sources) == 0 {
		req.Sources = []string{in.Source}
	}
	if req.Conflict == "" {
		req.Conflict = protocol.ConflictOverwrite // as GSV does
	}
	if req.AskedBy.Kind == "" {
		req.AskedBy = protocol.AskedBy{Kind: "chat", Name: string(req.Session)}
	}
	if len(in.Sources) == 0 && !in.Into {
		if _, err := protocol.ParseEndpoint(in.Destination, false); err != nil {
			return native.TransferOut{Source: in.Source, Destination: in.Destination}, err
		}
	}
	t, err := c.engine.Start(ctx, req)
	if err != nil {
		return native.TransferOut{Source: in.Source, Destination: in.Destination}, err
	}
	if !waits || t.State == protocol.TransferWaiting {
		return resultOf(c.detach(ctx, t)), nil
	}
	t, err = c.engine.Wait(ctx, t.ID, rest)
	if err != nil { // the call was cancelled, or the gateway is stopping
		if ctx.Err() != nil && !c.engine.services.queue.isClosed() {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopLimit)
			defer cancel()
			if _, failed := c.engine.Cancel(late, protocol.TransferParams{ID: t.ID}); failed != nil {
				slog.Error("Cannot cancel the transfer of a cancelled call", "transfer", t.ID, "err", failed)
			}
		}
		return resultOf(t), err
	}
	t = c.detach(ctx, t)
	return resultOf(t), failureOf(t)
}

// detach says that the call that has started a transfer does not wait for its end any more, so that
// the journal gets that end from the transfer. It returns the transfer as it is then.
func (c *Calls) detach(ctx context.Context, t protocol.Transfer) protocol.Transfer {
	if t.Over() {
		return t
	}
	now, _, err := c.engine.ask(ctx, t.ID, message{event: eventDetach})
	if err != nil { // it has ended meanwhile, or the gateway stops
		now, err = c.engine.Get(context.WithoutCancel(ctx), protocol.TransferParams{ID: t.ID})
	}
	if err != nil {
		return t
	}
	return now
}

// resultOf returns the result of gsv__Transfer for a transfer.
func resultOf(t protocol.Transfer) native.TransferOut {
	return native.TransferOut{
		Source: t.Sources[0], Destination: reportedDestination(t), BytesTransferred: t.BytesDone, SHA256: t.SHA256, Mime: t.Mime, Path: t.Path, Skipped: t.Skipped,
		TransferID: t.ID, State: t.State,
	}
}

// failureOf returns the error of gsv__Transfer for a transfer that it does not wait for any longer;
// nil if the files have arrived.
func failureOf(t protocol.Transfer) error {
	switch t.State {
	case protocol.TransferDone:
		return nil
	case protocol.TransferFailed:
		return protocol.ErrInternal.With(t.Error)
	case protocol.TransferCancelled:
		return protocol.ErrCancelled.With("The person cancelled the transfer.")
	case protocol.TransferPaused:
		return protocol.ErrUnavailable.With(fmt.Sprintf("The person paused the transfer; it continues when they resume it. Its id is %s.", t.ID))
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("%s. The transfer continues automatically when the machine is back online. Its id is %s.", t.Error, t.ID))
}

// reportedDestination returns the endpoint of the file or folder that a transfer created: the
// requested one, with the name that it got. It can be the source of another transfer.
func reportedDestination(t protocol.Transfer) string {
	if t.Path == "" {
		return t.Destination
	}
	if t.To == protocol.NativePrefix {
		return t.Path // "gsv:" and the path in the workspace
	}
	seps := separatorsOf(t.Path)
	name := t.Path[strings.LastIndexAny(t.Path, seps)+1:]
	dir := pathOf(t.Destination)
	switch {
	case !t.Into:
		dir = dir[:strings.LastIndexAny(dir, seps)+1]
	case len(t.Sources) > 1:
		return t.Destination
	case dir != "" && !strings.ContainsAny(dir[len(dir)-1:], seps):
		dir += "/"
	}
	return string(t.To) + ":" + dir + name
}

// StartBy starts a transfer for a person. Rules may deny it, and the journal records it as a call
// of gsv__Transfer, which ends with the transfer.
func (c *Calls) StartBy(ctx context.Context, by Client, p protocol.TransferStartParams) (protocol.Transfer, error) {
	if len(p.Sources) == 0 {
		return protocol.Transfer{}, protocol.ErrBadRequest.With("sources required")
	}
	if p.Conflict == "" {
		p.Conflict = protocol.ConflictRename
	}
	call, err := transferCall(p)
	if err != nil {
		return protocol.Transfer{}, err
	}
	call.Principal, call.AskedBy, call.Direct = by.Principal, by.AskedBy, true
	may, err := c.judge.authorizer.Authorize(ctx, call)
	if err != nil {
		return protocol.Transfer{}, err
	}
	t, err := c.engine.Start(ctx, Request{Allowed: may.ID(), AskedBy: by.AskedBy, Agent: protocol.MainAgent, Here: by.Window, TransferStartParams: p})
	if err != nil {
		if stored := may.Finish(ctx, native.TransferOut{Source: p.Sources[0], Destination: p.Destination}, err); stored != nil {
			slog.Error("Cannot record that a transfer did not start", "err", stored)
		}
		return t, err
	}
	may.Leave()
	return t, nil
}

// check returns why a client may not continue a transfer: it could not have started it.
func (c Client) check(a Authorizer, t protocol.Transfer) error {
	call, err := transferCall(protocol.TransferStartParams{Sources: t.Sources, Destination: t.Destination, Into: t.Into})
	if err != nil {
		return err
	}
	call.Principal = c.Principal
	return a.Check(call)
}

// transferCall returns a call of gsv__Transfer that does not wait for the end.
func transferCall(p protocol.TransferStartParams) (tool.Call, error) {
	wait := false
	args, err := protocol.Marshal(native.TransferIn{
		Source: p.Sources[0], Sources: p.Sources, Destination: p.Destination, Into: p.Into, Conflict: p.Conflict, Links: p.Links, Later: p.Later,
		ExpiresIn: p.ExpiresIn, Wait: &wait,
	})
	return tool.Call{Tool: protocol.NewToolName(protocol.NativePrefix, "Transfer"), Args: args}, err
}

// requestedNames returns the names that the source of a transfer may send.
func requestedNames(t protocol.Transfer) []string {
	var paths []string
	for _, s := range t.Sources {
		paths = append(paths, pathOf(s))
	}
	return stream.RequestedNames(paths)
}

// UndoBy is [Engine.Undo] for a person. Where a person may not send files, they may not restore any
// either.
func (c *Calls) UndoBy(ctx context.Context, in protocol.TransferParams, by Client) (protocol.Transfer, error) {
	t, err := c.engine.Get(ctx, in)
	if err != nil {
		return t, err
	}
	t.Session, t.AskedBy = "", by.AskedBy
	call, err := callOf(by.Principal, t)
	if err != nil {
		return protocol.Transfer{}, err
	}
	call.Undo = true
	may, err := c.judge.authorizer.Authorize(ctx, call)
	if err != nil {
		return protocol.Transfer{}, err
	}
	undone, err := c.engine.Undo(ctx, in, by.Window)
	if stored := may.Finish(context.WithoutCancel(ctx), resultOf(t), err); stored != nil {
		slog.Error("Cannot record that replaced files were restored", "transfer", t.ID, "err", stored)
	}
	return undone, err
}
