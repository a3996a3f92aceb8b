package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// Servers reads and changes the MCP servers. Its methods block; they are safe for concurrent use.
type Servers struct{ feed *feed.Feed }

// NewServers returns the MCP servers of a gateway.
func NewServers(f *feed.Feed) Servers { return Servers{f} }

// Load loads the servers again.
func (s Servers) Load() { s.feed.LoadServers() }

// Set adds a server or replaces its settings.
func (s Servers) Set(ctx context.Context, name protocol.ServerName, spec protocol.ServerSpec) error {
	return feed.Send(ctx, s.feed, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
}

// Add adds servers one after the other until one fails. It returns the number of those added.
func (s Servers) Add(ctx context.Context, list []protocol.FoundServer) (n int, err error) {
	for _, f := range list {
		if err := s.Set(ctx, f.Name, f.Spec); err != nil {
			return n, fmt.Errorf("“%s” was not added: %w", f.Name, err)
		}
		n++
	}
	return n, nil
}

// SetTools sets the tools of a server that the agent does not get.
func (s Servers) SetTools(ctx context.Context, of protocol.ServerStatus, disabled []string) error {
	spec := of.Spec
	spec.DisabledTools = disabled
	return s.Set(ctx, of.Name, spec)
}

// SetOn connects to a server or not.
func (s Servers) SetOn(ctx context.Context, of protocol.ServerStatus, on bool) error {
	spec := of.Spec
	spec.Disabled = !on
	return s.Set(ctx, of.Name, spec)
}

// Restart connects to a server again.
func (s Servers) Restart(ctx context.Context, name protocol.ServerName) error {
	return feed.Send(ctx, s.feed, protocol.ServerRestart, protocol.ServerParams{Name: name})
}

// Remove removes a server with its secrets.
func (s Servers) Remove(ctx context.Context, name protocol.ServerName) error {
	return feed.Send(ctx, s.feed, protocol.ServerRemove, protocol.ServerParams{Name: name})
}

// Accept accepts changed tools in the form in which the open question shows them; without tools, all
// that it shows.
func (s Servers) Accept(ctx context.Context, name protocol.ServerName, tools ...string) error {
	q, ok := lists.Find(s.feed.Questions.Get().Pending, func(q protocol.Question) bool { return q.Tools != nil && q.Tools.Server == name })
	if !ok {
		return protocol.ErrNotFound.With("The tools have just changed again. Check them once more.")
	}
	r, err := feed.Call(ctx, s.feed, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Tools: tools})
	if err == nil && !r.Won {
		s.feed.Notify("info", "This question was already answered: "+question.OutcomeText(r.Question)+".")
	}
	return err
}

// SignIn returns the address where the person signs in.
func (s Servers) SignIn(ctx context.Context, name protocol.ServerName) (string, error) {
	r, err := feed.Call(ctx, s.feed, protocol.ServerSignInURL, protocol.ServerParams{Name: name})
	return r.URL, err
}

// Logs returns the last lines of a server's log, oldest first.
func (s Servers) Logs(ctx context.Context, name protocol.ServerName) ([]string, error) {
	r, err := feed.Call(ctx, s.feed, protocol.ServerLogs, protocol.ServerParams{Name: name})
	return r.Lines, err
}

// Parse reads the servers of a pasted text.
func (s Servers) Parse(ctx context.Context, text string) ([]protocol.FoundServer, error) {
	r, err := feed.Call(ctx, s.feed, protocol.ServersParse, protocol.ServerParseParams{Text: text})
	return r.Servers, err
}

// FoundGroup has the servers that one program uses.
type FoundGroup struct {
	Source, Path string
	Servers      []protocol.FoundServer
}

// Find returns the servers of other programs, by program.
func (s Servers) Find(ctx context.Context) ([]FoundGroup, error) {
	r, err := feed.Call(ctx, s.feed, protocol.ServersFind, protocol.Empty{})
	return groupFound(r.Servers), err
}

func groupFound(list []protocol.FoundServer) (groups []FoundGroup) {
	for _, f := range list {
		i := slices.IndexFunc(groups, func(g FoundGroup) bool { return g.Source == f.Source && g.Path == f.Path })
		if i < 0 {
			i = len(groups)
			groups = append(groups, FoundGroup{Source: cmp.Or(f.Source, "Other programs"), Path: f.Path})
		}
		groups[i].Servers = append(groups[i].Servers, f)
	}
	return groups
}
