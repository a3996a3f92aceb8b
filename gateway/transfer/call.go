package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
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

// Tool implements gsv__Transfer: it starts a transfer and waits for its end, unless Wait is false.
func (e *Engine) Tool(ctx context.Context, call tool.Call, in native.TransferIn) (native.TransferOut, error) {
	req := Request{Call: call.ID, Session: call.Session, App: call.Principal.App, Agent: call.Session.Agent(), AskedBy: call.AskedBy}
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
	out := native.TransferOut{Source: in.Source, Destination: in.Destination}
	if len(in.Sources) == 0 && !in.Into {
		if _, err := protocol.ParseEndpoint(in.Destination, false); err != nil {
			return out, err
		}
	}
	t, err := e.Start(ctx, req)
	if err != nil {
		return out, err
	}
	out.TransferID, out.State = t.ID, t.State
	if in.Wait != nil && !*in.Wait || t.State == protocol.TransferWaiting {
		return out, nil
	}
	t, err = e.Wait(ctx, t.ID, rest)
	if err != nil { // the call was cancelled, or the gateway is stopping
		if ctx.Err() != nil && e.services.queue.ctx.Err() == nil {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*stopLimit)
			defer cancel()
			if _, failed := e.Cancel(late, protocol.TransferParams{ID: t.ID}); failed != nil {
				slog.Error("Cannot cancel the transfer of a cancelled call", "transfer", t.ID, "err", failed)
			}
		}
		return out, err
	}
	out.State, out.BytesTransferred, out.Mime, out.Path, out.Skipped = t.State, t.BytesDone, t.Mime, t.Path, t.Skipped
	out.Destination = reportedDestination(t)
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
// of gsv__Transfer.
func (e *Engine) StartBy(ctx context.Context, c Client, p protocol.TransferStartParams) (protocol.Transfer, error) {
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
	call.Principal, call.AskedBy, call.Direct = c.Principal, c.AskedBy, true
	may, err := e.services.judge.authorizer.Authorize(ctx, call)
	if err != nil {
		return protocol.Transfer{}, err
	}
	t, err := e.Start(ctx, Request{Allowed: may.ID(), AskedBy: c.AskedBy, Agent: protocol.MainAgent, Here: c.Window, TransferStartParams: p})
	out := native.TransferOut{Source: p.Sources[0], Destination: p.Destination, TransferID: t.ID, State: t.State}
	if stored := may.Finish(ctx, out, err); stored != nil {
		slog.Error("Cannot record the start of a transfer", "transfer", t.ID, "err", stored)
	}
	return t, err
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

// principalOf returns whose calls decide about a transfer: those of the person, a chat's agent or
// an app.
func principalOf(t protocol.Transfer) auth.Principal {
	switch {
	case t.Session != "":
		return auth.Agent(t.Session, "")
	case t.App != "":
		// AppRevoked fails its transfers when it loses this scope.
		return auth.App(protocol.App{ID: t.App, Name: t.AskedBy.Name, Scopes: []protocol.Scope{protocol.ScopeAllTools}})
	}
	return auth.Owner(t.AskedBy.Name)
}

// isPersonal reports whether the person started a transfer.
func isPersonal(t protocol.Transfer) bool { return principalOf(t).Kind == auth.KindOwner }

// authorizeStartup asks about the start-up files in the folders of an agent's or app's transfer, as
// about transfers of their own: the rules have seen only the folders. A person's transfers need no
// answer.
func (m *mover) authorizeStartup(ctx context.Context, t protocol.Transfer, files []string) error {
	for _, name := range files {
		if isPersonal(t) || m.startup[name] {
			continue
		}
		top, below, _ := strings.Cut(name, "/")
		one := t
		one.Into, one.Destination = false, t.Destination+"/"+below
		if t.Into {
			one.Destination = string(t.To) + ":" + joinPath(pathOf(t.Destination), name)
		}
		one.Sources = []string{string(t.From) + ":" + joinPath(sourceNamed(t, top), below)}
		_, err := m.services.judge.again(ctx, principalOf(t), one, false, "")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return final("%s is a start-up file: %v", name, err)
		}
		m.startup[name] = true
	}
	return nil
}

// sourceNamed returns the path of the source that has a name at the destination.
func sourceNamed(t protocol.Transfer, name string) string {
	for _, s := range t.Sources {
		if slices.Contains(stream.RequestedNames([]string{pathOf(s)}), name) {
			return pathOf(s)
		}
	}
	return pathOf(t.Sources[0])
}

// judge decides about transfers by the rules of now.
type judge struct {
	authorizer Authorizer
	version    func() string // changes with the rules
	startedAt  int64         // Unix milliseconds
}

// newJudge returns a judge. version may be nil.
func newJudge(a Authorizer, version func() string) judge {
	if version == nil {
		version = func() string { return "" }
	}
	return judge{authorizer: a, version: version, startedAt: time.Now().UnixMilli()}
}

// again decides about a queued or ended transfer again, as about the call that started it. It
// returns the call that allows it, or the reason why the transfer may not run now. resumed means
// that the transfer is older than this start of the gateway. of is the call that has allowed it, to
// whose entry in the journal the decision is added; if it is empty, the decision gets an entry.
func (g judge) again(ctx context.Context, who auth.Principal, t protocol.Transfer, resumed bool, of protocol.CallID) (protocol.CallID, error) {
	call, err := transferCall(protocol.TransferStartParams{
		Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links, Later: t.Later,
	})
	if err != nil {
		return "", err
	}
	call.Principal, call.Session, call.Direct, call.AskedBy = who, t.Session, who.Kind == auth.KindOwner, t.AskedBy
	call.Resumed, call.Of = resumed, of
	may, err := g.authorizer.Authorize(ctx, call)
	if err != nil {
		return "", err
	}
	err = may.Finish(ctx, native.TransferOut{Source: t.Sources[0], Destination: t.Destination}, nil)
	return may.ID(), err
}

// UndoBy is [Engine.Undo] for a person. Where a person may not send files, they may not restore any
// either.
func (e *Engine) UndoBy(ctx context.Context, in protocol.TransferParams, c Client) (protocol.Transfer, error) {
	t, err := e.Get(ctx, in)
	if err != nil {
		return t, err
	}
	t.Session, t.AskedBy = "", c.AskedBy
	if _, err := e.services.judge.again(ctx, c.Principal, t, false, ""); err != nil {
		return protocol.Transfer{}, err
	}
	return e.Undo(ctx, in, c.Window)
}
