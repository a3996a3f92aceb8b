package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// rest is the time for which gsv__Transfer waits for an offline node before it returns that the
// transfer continues later.
const rest = 60 * time.Second

// caller describes a client that calls gsv__Transfer through an RPC.
type caller struct {
	here  Window
	by    protocol.AskedBy
	again bool // only asks for permission; nothing is started
	// The result: the started transfer, or the error that prevented it.
	started protocol.Transfer
	err     error
}

type callerKey struct{}

// WithHere adds the window or command line that makes a call to ctx, for [protocol.Here].
func WithHere(ctx context.Context, w Window) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{here: w})
}

func callerOf(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{}
}

// Tool implements gsv__Transfer: it starts a transfer and waits for its end, unless Wait is false.
func (e *Engine) Tool(ctx context.Context, call tool.Call, in native.TransferIn) (native.TransferOut, error) {
	c := callerOf(ctx)
	if c.again {
		return native.TransferOut{Source: in.Source, Destination: in.Destination}, nil
	}
	req := Request{Session: call.Session, Agent: call.Agent(), AskedBy: c.by, Here: c.here, TransferStartParams: protocol.TransferStartParams{
		Sources: in.Sources, Destination: in.Destination, Into: in.Into, Conflict: in.Conflict, Links: in.Links, Later: in.Later, ExpiresIn: in.ExpiresIn,
	}}
	if len(req.Sources) == 0 {
		req.Sources = []string{in.Source}
	}
	if req.Conflict == "" {
		req.Conflict = protocol.ConflictOverwrite // as the original system does
	}
	if req.AskedBy.Kind == "" {
		req.AskedBy = call.AskedBy
	}
	if req.AskedBy.Kind == "" {
		req.AskedBy = protocol.AskedBy{Kind: "chat", Name: string(req.Session)}
	}
	out := native.TransferOut{Source: in.Source, Destination: in.Destination}
	if len(in.Sources) == 0 && !in.Into {
		if _, err := protocol.ParseEndpoint(in.Destination, false); err != nil {
			return out, err
		}
	}
	t, err := e.Start(ctx, req)
	if err != nil {
		c.err = err
		return out, err
	}
	c.started = t
	out.TransferID, out.State = t.ID, t.State
	if in.Wait != nil && !*in.Wait || t.State == protocol.TransferWaiting {
		return out, nil
	}
	t, err = e.Wait(ctx, t.ID, rest)
	if err != nil { // the call was cancelled, or the gateway is stopping
		if ctx.Err() != nil && e.ctx.Err() == nil {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopLimit)
			defer cancel()
			e.Cancel(late, protocol.TransferParams{ID: t.ID})
		}
		return out, err
	}
	out.State, out.BytesTransferred, out.Mime, out.Path, out.Skipped = t.State, t.BytesDone, t.Mime, t.Path, t.Skipped
	if name := lastPart(t.Path); !t.Into && name != "" && name != lastPart(pathOf(t.Destination)) {
		dir, _ := parts(pathOf(t.Destination))
		out.Destination = string(t.To) + ":" + dir + name
	}
	switch t.State {
	case protocol.TransferDone:
		return out, nil
	case protocol.TransferFailed:
		return out, protocol.ErrInternal.With(t.Error)
	case protocol.TransferCancelled:
		return out, protocol.ErrCancelled.With("The person cancelled the transfer.")
	case protocol.TransferPaused:
		return out, protocol.ErrUnavailable.With(fmt.Sprintf("The person paused the transfer; it continues when they resume it. Its id is %s.", t.ID))
	}
	return out, protocol.ErrUnavailable.With(fmt.Sprintf("%s. The transfer continues automatically when the machine is back online. Its id is %s.", t.Error, t.ID))
}

// Caller runs tools.
type Caller interface {
	Call(ctx context.Context, p auth.Principal, c tool.Call) (tool.Result, error)
}

// StartBy starts a transfer for a person. It goes through dispatch like every call, so rules may
// deny it and the journal records it.
func (e *Engine) StartBy(ctx context.Context, calls Caller, who auth.Principal, by protocol.AskedBy, p protocol.TransferStartParams) (protocol.Transfer, error) {
	if len(p.Sources) == 0 {
		return protocol.Transfer{}, protocol.ErrBadRequest.With("sources required")
	}
	c := &caller{here: callerOf(ctx).here, by: by}
	wait := false
	in := native.TransferIn{
		Source: p.Sources[0], Sources: p.Sources, Destination: p.Destination, Into: p.Into, Conflict: p.Conflict, Links: p.Links, Later: p.Later,
		ExpiresIn: p.ExpiresIn, Wait: &wait,
	}
	if in.Conflict == "" {
		in.Conflict = protocol.ConflictRename
	}
	args, err := protocol.Marshal(in)
	if err != nil {
		return protocol.Transfer{}, err
	}
	res, err := calls.Call(context.WithValue(ctx, callerKey{}, c), who, tool.Call{Tool: protocol.NewToolName(protocol.NativePrefix, "Transfer"), Args: args, Direct: true, AskedBy: by})
	switch {
	case c.err != nil:
		return protocol.Transfer{}, c.err
	case err != nil:
		return protocol.Transfer{}, err
	case res.Info.State == protocol.CallDenied:
		return protocol.Transfer{}, protocol.ErrForbidden.With(res.Info.Error)
	case res.IsError && res.Info.Error != "":
		return protocol.Transfer{}, protocol.ErrInternal.With(res.Info.Error)
	}
	if c.started.ID == "" {
		return protocol.Transfer{}, protocol.ErrInternal.With("The transfer could not be started: " + string(res.Raw))
	}
	return c.started, nil
}

// AskAgain sends a transfer through dispatch again, as the call that started it. It returns the
// reason why the transfer may not run now.
func AskAgain(ctx context.Context, calls Caller, t protocol.Transfer) error {
	who := auth.Owner(t.AskedBy.Name)
	if t.Session != "" {
		who = auth.Agent(t.Session, "")
	}
	return ask(ctx, calls, who, t)
}

func ask(ctx context.Context, calls Caller, who auth.Principal, t protocol.Transfer) error {
	args, err := protocol.Marshal(native.TransferIn{
		Source: t.Sources[0], Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links,
		Later: t.Later,
	})
	if err != nil {
		return err
	}
	res, err := calls.Call(context.WithValue(ctx, callerKey{}, &caller{by: t.AskedBy, again: true}), who, tool.Call{
		Tool: protocol.NewToolName(protocol.NativePrefix, "Transfer"), Args: args, Session: t.Session, Direct: t.Session == "", AskedBy: t.AskedBy,
	})
	switch {
	case err != nil:
		return err
	case res.Info.State == protocol.CallDone:
		return nil
	case res.Info.Error != "":
		return errors.New(res.Info.Error)
	}
	return errors.New("The rules changed while the transfer waited, and it is no longer allowed") //lint:ignore ST1005 for people
}
