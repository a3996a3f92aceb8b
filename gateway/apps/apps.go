// Package apps manages the connected apps: programs that call tools over MCP or REST with a token
// of their own. The person makes a token by hand, or allows an app that asks to connect.
//
// Secrets are stored as hashes. A change takes effect with the app's next call: nothing about an app
// is cached elsewhere.
package apps

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// Work is what apps have begun, such as their calls or transfers. Its methods do not block.
type Work interface {
	// CancelOf ends the work of an app that has just lost its access: it was revoked, or its last token
	// has expired.
	CancelOf(id protocol.AppID)
	// Limit ends what an app may not do any more, whose rights have changed.
	Limit(app auth.Principal)
}

// Machines are the machines that an app may be limited to.
type Machines interface {
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
	NetworkList() []protocol.Network
}

// Options are the parts that [Apps] uses.
type Options struct {
	Access *Access
	// Questions asks the person whether an app may connect.
	Questions *question.Queue
	Machines  Machines
	Work      []Work
}

// Apps manages the connected apps. It is safe for concurrent use.
type Apps struct {
	access    *Access
	questions *question.Queue
	machines  Machines
	work      []Work
}

// New returns the management of the apps.
func New(o Options) *Apps { return &Apps{o.Access, o.Questions, o.Machines, o.Work} }

// Limits of apps.
const (
	// keepRevoked is how long a revoked app is listed.
	keepRevoked = 30 * 24 * time.Hour
	// saveEvery is how often the times of the last calls are stored; a crash loses those since.
	saveEvery = 10 * time.Second
	maxName   = 100 // characters
)

// Run stores the times of the last calls from time to time, and ends what apps do whose tokens have
// expired, until ctx ends.
func (a *Apps) Run(ctx context.Context) {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			running = false
		}
		crash.Run("apps", a.endLost)
		if err := crash.Call("apps", a.access.saveUsed); err != nil {
			slog.Warn("Calls of apps cannot be stored", "err", err)
		}
	}
}

// List returns the apps, newest first.
func (a *Apps) List(context.Context) (protocol.AppsListResult, error) {
	apps := a.access.all()
	slices.SortFunc(apps, func(x, y protocol.App) int {
		if x.CreatedAt != y.CreatedAt {
			return int(min(max(y.CreatedAt-x.CreatedAt, -1), 1))
		}
		return strings.Compare(string(x.ID), string(y.ID))
	})
	return protocol.AppsListResult{Apps: apps}, nil
}

func audit(by, what, verdict string, app protocol.App) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditApp, By: by, What: what + " " + nameOf(app), Verdict: verdict}
}

// nameOf identifies an app in the audit log.
func nameOf(app protocol.App) string { return fmt.Sprintf("app %s (%s)", app.Name, app.ID) }

// CreateToken makes an app with a token that lasts until it is revoked or expires. The token is in
// the result only.
func (a *Apps) CreateToken(ctx context.Context, by string, p protocol.TokenCreateParams) (protocol.TokenCreateResult, error) {
	if err := checkApp(p.Name, p.Scopes); err != nil {
		return protocol.TokenCreateResult{}, err
	}
	if err := a.checkLimit(protocol.MachineLimit{Nodes: p.Nodes, Networks: p.Networks}, protocol.MachineLimit{}); err != nil {
		return protocol.TokenCreateResult{}, err
	}
	if p.ExpiresIn < 0 {
		return protocol.TokenCreateResult{}, protocol.ErrBadRequest.With("expiresIn must be a number of seconds from now, or 0 for no end")
	}
	now := time.Now()
	app := protocol.App{
		ID: protocol.AppID("app_" + protocol.NewID()), Kind: protocol.AppToken, Name: strings.TrimSpace(p.Name), Scopes: distinct(p.Scopes), Nodes: p.Nodes, Networks: p.Networks,
		CreatedAt: now.UnixMilli(),
	}
	if p.ExpiresIn > 0 {
		app.ExpiresAt = now.Add(time.Duration(p.ExpiresIn) * time.Second).UnixMilli()
	}
	secret := auth.NewToken("flt_")
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	err := a.access.apply(ctx, store.AppChange{
		Put: []protocol.App{app}, Tokens: []store.AppToken{{Hash: auth.HashToken(secret), App: app.ID, Kind: store.TokenPersonal, ExpiresAt: app.ExpiresAt}},
		Audit: []protocol.AuditEntry{audit(by, "made a token for", "allowed", app)},
	})
	return protocol.TokenCreateResult{App: app, Token: secret}, err
}

// Update changes an app's name, scopes or machines.
func (a *Apps) Update(ctx context.Context, by string, p protocol.AppUpdateParams) (protocol.App, error) {
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	app, err := a.access.app(p.ID)
	if err != nil {
		return app, err
	}
	if app.RevokedAt > 0 {
		return app, protocol.ErrBadRequest.With("this app's access was revoked: connect it again")
	}
	was := app
	if p.Name != nil {
		app.Name = strings.TrimSpace(*p.Name)
	}
	if p.Scopes != nil {
		app.Scopes = distinct(*p.Scopes)
	}
	if p.Nodes != nil {
		app.Nodes = *p.Nodes
	}
	if p.Networks != nil {
		app.Networks = *p.Networks
	}
	if err := a.checkLimit(app.MachineLimit(), was.MachineLimit()); err != nil {
		return app, err
	}
	if err := checkApp(app.Name, app.Scopes); err != nil {
		return app, err
	}
	err = a.access.apply(ctx, store.AppChange{
		Put: []protocol.App{app}, Tokens: a.access.extendTokens(was, app), Audit: []protocol.AuditEntry{audit(by, "changed", "allowed", app)},
	})
	a.limit(app, err)
	return app, err
}

// limit ends what an app may not do any more after a change of its rights that had the error err.
func (a *Apps) limit(app protocol.App, err error) {
	for _, w := range a.work {
		if err == nil {
			w.Limit(a.access.principal(app))
		}
	}
}

// MachinesMoved ends what apps that are limited to networks may not do any more, after a machine was
// moved to another network.
func (a *Apps) MachinesMoved() {
	for _, app := range a.access.all() {
		if len(app.Networks) > 0 {
			a.limit(app, nil)
		}
	}
	a.access.publish()
}

// Revoke ends an app's access at once.
func (a *Apps) Revoke(ctx context.Context, by string, id protocol.AppID) error {
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	return a.revoke(ctx, by, id)
}

// revoke is Revoke for a caller that holds changing.
func (a *Apps) revoke(ctx context.Context, by string, id protocol.AppID) error {
	app, err := a.access.app(id)
	if err != nil || app.RevokedAt > 0 {
		return err
	}
	app.RevokedAt = time.Now().UnixMilli()
	err = a.access.apply(ctx, store.AppChange{Put: []protocol.App{app}, RevokeOf: []protocol.AppID{id}, Audit: []protocol.AuditEntry{audit(by, "revoked", "denied", app)}})
	if err == nil {
		a.endLost()
	}
	return err
}

// endLost ends the work of the apps that have lost their access since the last time.
func (a *Apps) endLost() {
	for _, id := range a.access.newlyLost() {
		for _, w := range a.work {
			w.CancelOf(id)
		}
	}
}

func distinct(scopes []protocol.Scope) []protocol.Scope {
	list := slices.Clone(scopes)
	slices.Sort(list)
	return slices.Compact(list)
}

func checkApp(name string, scopes []protocol.Scope) error {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return protocol.ErrBadRequest.With("an app needs a name")
	case len([]rune(name)) > maxName:
		return protocol.ErrBadRequest.With(fmt.Sprintf("the name of an app can have at most %d characters", maxName))
	case len(scopes) == 0:
		return protocol.ErrBadRequest.With("an app needs at least one scope: " + scopeNames())
	}
	for _, s := range scopes {
		if !slices.Contains(protocol.AppScopes, s) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("unknown scope %q: the scopes are %s", s, scopeNames()))
		}
	}
	return nil
}

// checkLimit refuses IDs of machines and networks that nobody knows, unless the app had them before:
// one may have been forgotten or deleted since.
func (a *Apps) checkLimit(to, had protocol.MachineLimit) error {
	for _, id := range to.Nodes {
		if _, known := a.machines.Node(id); !known && !slices.Contains(had.Nodes, id) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("no machine has the ID %q", id))
		}
	}
	for _, id := range to.Networks {
		known := slices.ContainsFunc(a.machines.NetworkList(), func(n protocol.Network) bool { return n.ID == id })
		if !known && !slices.Contains(had.Networks, id) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("no network has the ID %q", id))
		}
	}
	return nil
}

func scopeNames() string { return strings.Join(protocol.ScopeNames(protocol.AppScopes), ", ") }
