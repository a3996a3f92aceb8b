package tools

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

// Model reads and changes the MCP servers. Its methods are safe for concurrent use. Except for Load,
// they block.
type Model struct{ feed *feed.Feed }

// newModel returns the model of a gateway's servers.
func newModel(f *feed.Feed) Model { return Model{f} }

// Load starts to load the servers again.
func (m Model) Load() { m.feed.LoadServers() }

// Set adds a server or replaces its settings.
func (m Model) Set(ctx context.Context, name protocol.ServerName, spec protocol.ServerSpec) error {
	return feed.Send(ctx, m.feed, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
}

// Add adds servers one after the other until one fails. It returns the number of those added.
func (m Model) Add(ctx context.Context, list []protocol.FoundServer) (n int, err error) {
	for _, f := range list {
		if err := m.Set(ctx, f.Name, f.Spec); err != nil {
			return n, fmt.Errorf("“%s” was not added: %w", f.Name, err)
		}
		n++
	}
	return n, nil
}

// SetTools sets the tools of a server that the agent does not get.
func (m Model) SetTools(ctx context.Context, of protocol.ServerStatus, disabled []string) error {
	spec := of.Spec
	spec.DisabledTools = disabled
	return m.Set(ctx, of.Name, spec)
}

// SetOn connects to a server or not.
func (m Model) SetOn(ctx context.Context, of protocol.ServerStatus, on bool) error {
	spec := of.Spec
	spec.Disabled = !on
	return m.Set(ctx, of.Name, spec)
}

// Restart connects to a server again.
func (m Model) Restart(ctx context.Context, name protocol.ServerName) error {
	return feed.Send(ctx, m.feed, protocol.ServerRestart, protocol.ServerParams{Name: name})
}

// Remove removes a server with its secrets.
func (m Model) Remove(ctx context.Context, name protocol.ServerName) error {
	return feed.Send(ctx, m.feed, protocol.ServerRemove, protocol.ServerParams{Name: name})
}

// Accept accepts changed tools in the form in which the open question shows them; without tools, all
// that it shows.
func (m Model) Accept(ctx context.Context, name protocol.ServerName, tools ...string) error {
	q, ok := lists.Find(m.feed.Questions.Get().Pending, func(q protocol.Question) bool { return q.Tools != nil && q.Tools.Server == name })
	if !ok {
		return protocol.ErrNotFound.With("The tools have just changed again. Check them once more.")
	}
	r, err := feed.Call(ctx, m.feed, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Tools: tools})
	if err == nil && !r.Won {
		m.feed.Notify("info", "This question was already answered: "+question.OutcomeText(r.Question)+".")
	}
	return err
}

// SignIn returns the address where the person signs in.
func (m Model) SignIn(ctx context.Context, name protocol.ServerName) (string, error) {
	r, err := feed.Call(ctx, m.feed, protocol.ServerSignInURL, protocol.ServerParams{Name: name})
	return r.URL, err
}

// Logs returns the last lines of a server's log, oldest first.
func (m Model) Logs(ctx context.Context, name protocol.ServerName) ([]string, error) {
	r, err := feed.Call(ctx, m.feed, protocol.ServerLogs, protocol.ServerParams{Name: name})
	return r.Lines, err
}

// Parse reads the servers of a pasted text.
func (m Model) Parse(ctx context.Context, text string) ([]protocol.FoundServer, error) {
	r, err := feed.Call(ctx, m.feed, protocol.ServersParse, protocol.ServerParseParams{Text: text})
	return r.Servers, err
}

// foundGroup has the servers that one program uses.
type foundGroup struct {
	Source, Path string
	Servers      []protocol.FoundServer
}

// Find returns the servers of other programs, by program.
func (m Model) Find(ctx context.Context) ([]foundGroup, error) {
	r, err := feed.Call(ctx, m.feed, protocol.ServersFind, protocol.Empty{})
	return groupFound(r.Servers), err
}

func groupFound(list []protocol.FoundServer) (groups []foundGroup) {
	for _, f := range list {
		i := slices.IndexFunc(groups, func(g foundGroup) bool { return g.Source == f.Source && g.Path == f.Path })
		if i < 0 {
			i = len(groups)
			groups = append(groups, foundGroup{Source: cmp.Or(f.Source, "Other programs"), Path: f.Path})
		}
		groups[i].Servers = append(groups[i].Servers, f)
	}
	return groups
}
