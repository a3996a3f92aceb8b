package transfer

import (
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

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
	call, err := callOf(who, t)
	if err != nil {
		return "", err
	}
	call.Resumed, call.Of = resumed, of
	may, err := g.authorizer.Authorize(ctx, call)
	if err != nil {
		return "", err
	}
	return may.ID(), may.Finish(ctx, resultOf(t), nil)
}

// callOf returns a call of gsv__Transfer that would start a transfer again.
func callOf(who auth.Principal, t protocol.Transfer) (tool.Call, error) {
	call, err := transferCall(protocol.TransferStartParams{
		Sources: t.Sources, Destination: t.Destination, Into: t.Into, Conflict: t.Conflict, Links: t.Links, Later: t.Later,
	})
	call.Principal, call.Session, call.Direct, call.AskedBy = who, t.Session, who.Kind == auth.KindOwner, t.AskedBy
	return call, err
}

// principalOf returns whose calls decide about a transfer: those of the person, a chat's agent or
// an app.
func principalOf(t protocol.Transfer) auth.Principal {
	switch {
	case t.Session != "":
		return auth.Agent(t.Session, "")
	case t.App != "":
		// CancelOf ends its transfers when it loses this scope.
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
