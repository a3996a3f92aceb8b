package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// State has the published apps.
type State struct {
	protocol.ServicesListResult
	Loaded  bool
	Problem string // reason why loading failed
}

// Service finds a published app.
func (s State) Service(id protocol.ServiceID) (protocol.Service, bool) {
	return lists.Find(s.Services, func(v protocol.Service) bool { return v.ID == id })
}

// Model reads and changes the published apps. It is safe for concurrent use. Its methods block;
// those that change something use the same tools as programs, and last until the person has
// answered the question about that.
type Model struct {
	*feed.Loader[State]
	Shown  *feed.Value[protocol.ServiceID] // the app whose visitors are loaded; empty: none
	Visits *feed.Loader[VisitList]
}

// VisitList has who is signed in to an app, and who visits it now.
type VisitList struct {
	protocol.ServiceVisitsResult
	Service protocol.ServiceID // empty until it is loaded
	Problem string             // reason why loading failed
}

// useInterval is the interval at which the numbers of visitors and requests are loaded again.
const useInterval = 10 * time.Second

func newModel(f *feed.Feed) Model {
	shown := feed.NewValue(protocol.ServiceID(""))
	return Model{Shown: shown, Visits: newVisitLoader(f, shown), Loader: &feed.Loader[State]{
		Value: feed.NewValue(State{}), Feed: f, Interval: useInterval,
		Fetch: func(ctx context.Context) (func(*State), error) {
			r, err := feed.Call(ctx, f, protocol.ServicesList, protocol.Empty{})
			return func(s *State) { *s = State{ServicesListResult: r, Loaded: true} }, err
		},
		Problem: func(s *State) *string { return &s.Problem },
		Key:     func(v feed.View) string { return fmt.Sprint(v.Changed.Services) },
		Facts:   []feed.Fact{f.Changed},
	}}
}

func newVisitLoader(f *feed.Feed, shown *feed.Value[protocol.ServiceID]) *feed.Loader[VisitList] {
	return &feed.Loader[VisitList]{
		Value: feed.NewValue(VisitList{}), Feed: f, Interval: useInterval,
		Fetch: func(ctx context.Context) (func(*VisitList), error) {
			id := shown.Get()
			if id == "" {
				return func(l *VisitList) { *l = VisitList{} }, nil
			}
			r, err := feed.Call(ctx, f, protocol.ServiceVisits, protocol.ServiceParams{ID: id})
			return func(l *VisitList) {
				if shown.Get() == id { // otherwise the list of another app comes
					*l = VisitList{ServiceVisitsResult: r, Service: id}
				}
			}, err
		},
		Problem: func(l *VisitList) *string { return &l.Problem },
		Key:     func(v feed.View) string { return fmt.Sprint(v.Changed.Services) },
		Facts:   []feed.Fact{f.Changed},
	}
}

// SignOut ends a sign-in with its open pages.
func (m Model) SignOut(ctx context.Context, id protocol.ServiceID, visitor string) error {
	return feed.Send(ctx, m.Feed, protocol.ServiceSignOut, protocol.ServiceSignOutParams{ID: id, Visitor: visitor})
}

// publication is what the tool service_publish takes.
type publication struct {
	Node     protocol.NodeID `json:"node_id"`
	Target   string          `json:"proxy_target_url,omitempty"`
	Command  string          `json:"terminal_command,omitempty"`
	Username string          `json:"username,omitempty"`
	Workdir  string          `json:"workdir,omitempty"`
	Title    string          `json:"title,omitempty"`
	SignIn   bool            `json:"auth_required"`
	Visitors []string        `json:"authorized_emails,omitempty"`
}

// Publish publishes an app.
func (m Model) Publish(ctx context.Context, p publication) (protocol.ServiceID, error) {
	var out struct {
		ID protocol.ServiceID `json:"service_id"`
	}
	err := m.call(ctx, "service_publish", p, &out)
	m.Load(ctx)
	return out.ID, err
}

// change is what the tool service_update takes; nil leaves a field as it is.
type change struct {
	ID       protocol.ServiceID `json:"service_id"`
	Title    *string            `json:"title,omitempty"`
	Target   *string            `json:"proxy_target_url,omitempty"`
	Command  *string            `json:"terminal_command,omitempty"`
	Username *string            `json:"username,omitempty"`
	Workdir  *string            `json:"workdir,omitempty"`
	Enabled  *bool              `json:"enabled,omitempty"`
	SignIn   *bool              `json:"auth_required,omitempty"`
}

// changeTo returns the change that lets a service show something else.
func changeTo(id protocol.ServiceID, c content) change {
	if c.isTerminal() {
		return change{ID: id, Command: &c.command, Username: &c.username, Workdir: &c.workdir}
	}
	return change{ID: id, Target: &c.target}
}

// Update changes a published app.
func (m Model) Update(ctx context.Context, c change) error {
	return m.call(ctx, "service_update", c, nil)
}

// TurnOff closes a published app at once, without a question.
func (m Model) TurnOff(ctx context.Context, id protocol.ServiceID) error {
	return feed.Send(ctx, m.Feed, protocol.ServiceClose, protocol.ServiceParams{ID: id})
}

// Share adds visitors, or removes them.
func (m Model) Share(ctx context.Context, id protocol.ServiceID, add bool, emails ...string) error {
	action := "remove"
	if add {
		action = "add"
	}
	return m.call(ctx, "service_share", map[string]any{"service_id": id, "action": action, "emails": emails}, nil)
}

// Delete deletes a published app with its address.
func (m Model) Delete(ctx context.Context, id protocol.ServiceID) error {
	return m.call(ctx, "service_delete", map[string]any{"service_id": id}, nil)
}

// Link makes a link that lets a visitor in, or the owner if email is empty. It is a secret.
func (m Model) Link(ctx context.Context, id protocol.ServiceID, email string) (string, error) {
	r, err := feed.Call(ctx, m.Feed, protocol.ServiceLink, protocol.ServiceLinkParams{ID: id, Email: email})
	return r.URL, err
}

// ReadTarget returns the whole address of an app from what a person wrote.
func (m Model) ReadTarget(ctx context.Context, text string) (string, error) {
	r, err := feed.Call(ctx, m.Feed, protocol.ServiceTarget, protocol.ServiceTargetParams{Text: text})
	return r.Target, err
}

// errDenied is the end of a change that the person did not allow.
var errDenied = errors.New("you did not allow it")

// repeatAfter is the pause before a call that waits for the person is repeated.
const repeatAfter = time.Second

// call calls a tool, and waits as long as the person has not answered. out may be nil.
func (m Model) call(ctx context.Context, tool string, args, out any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	for p := (protocol.CatalogCallParams{Tool: tool, Args: raw, IdempotencyKey: protocol.NewID()}); ; {
		r, err := feed.Call(ctx, m.Feed, protocol.CatalogCall, p)
		switch {
		case err != nil:
			return err
		case r.Fault == nil && out != nil:
			return protocol.Unmarshal(r.Data, out)
		case r.Fault == nil:
			return nil
		case r.Fault.Code == protocol.FaultPermissionDenied:
			return errDenied
		case r.Fault.Code != protocol.FaultApprovalRequired:
			return r.Fault
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(repeatAfter):
		}
	}
}
