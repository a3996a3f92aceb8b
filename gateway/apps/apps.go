// Package apps manages the connected apps: programs that call tools over MCP or REST with a token
// of their own. The person makes a token by hand, or allows an app that asks to connect.
//
// Secrets are stored as hashes. A change takes effect with the app's next call: nothing about an app
// is cached elsewhere.
package apps

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// Store stores the apps ([store.Apps]).
type Store interface {
	List(ctx context.Context) ([]protocol.App, []store.AppToken, error)
	Apply(ctx context.Context, c store.AppChange) error
}

// Options are the parts that [Apps] uses.
type Options struct {
	Store Store
	Bus   *event.Bus
	// Questions asks the person whether an app may connect.
	Questions *question.Queue
	// Owner checks the gateway's own token, which belongs to the person.
	Owner func(ctx context.Context, token string) error
	// KnowsMachine reports whether a machine with this ID is known; nil: every one is.
	KnowsMachine func(id protocol.NodeID) bool
	// Lost, if set, ends the calls and commands of an app that has just lost its access: it was
	// revoked, or its last token has expired. It must not block.
	Lost func(id protocol.AppID)
	// Changed, if set, ends what an app may not do any more after a change of its rights. It must not
	// block.
	Changed func(app protocol.App)
}

// Apps are the connected apps. It is safe for concurrent use.
type Apps struct {
	o Options

	changing sync.Mutex // held during a change of apps or tokens, with its write to the store

	mu     sync.Mutex // guards the fields below; never held during a write to the store
	apps   map[protocol.AppID]protocol.App
	tokens map[string]store.AppToken // by hash
	used   map[protocol.AppID]bool   // apps with calls that are not stored yet
	lost   map[protocol.AppID]bool   // apps without access for which Lost was called
}

// Limits of apps.
const (
	// keepRevoked is how long a revoked app is listed.
	keepRevoked = 30 * 24 * time.Hour
	// saveEvery is how often the times of the last calls are stored; a crash loses those since.
	saveEvery = 10 * time.Second
	maxName   = 100 // characters
)

// Open reads the apps.
func Open(ctx context.Context, o Options) (*Apps, error) {
	a := &Apps{
		o: o, apps: make(map[protocol.AppID]protocol.App), tokens: make(map[string]store.AppToken), used: make(map[protocol.AppID]bool), lost: make(map[protocol.AppID]bool),
	}
	list, tokens, err := o.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	var gone store.AppChange
	for _, app := range list {
		if app.RevokedAt > 0 && time.Since(time.UnixMilli(app.RevokedAt)) > keepRevoked {
			gone.Delete = append(gone.Delete, app.ID)
			continue
		}
		a.apps[app.ID] = app
	}
	for _, t := range tokens {
		if isExpired(t.ExpiresAt) && t.Kind != store.TokenPersonal {
			gone.Revoke = append(gone.Revoke, t.Hash)
			continue
		}
		a.tokens[t.Hash] = t
	}
	if len(gone.Delete)+len(gone.Revoke) > 0 {
		if err := o.Store.Apply(ctx, gone); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func isExpired(at int64) bool { return at > 0 && at <= time.Now().UnixMilli() }

// newSecret returns a token with 256 random bits.
func newSecret(prefix string) string {
	var b [32]byte
	rand.Read(b[:])
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (a *Apps) publish() { a.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeApps}) }

// Verify returns who a bearer token belongs to: an app, or the person for the gateway's own token.
// resource is the address that the caller uses; a token for another address is refused. The error
// is protocol.ErrUnauthorized.
func (a *Apps) Verify(ctx context.Context, bearer, resource string) (auth.Principal, error) {
	a.mu.Lock()
	t, ok := a.tokens[hashOf(bearer)]
	app, known := a.apps[t.App]
	a.mu.Unlock()
	switch {
	case !ok:
		if err := a.o.Owner(ctx, bearer); err != nil {
			return auth.Principal{}, protocol.ErrUnauthorized.With("this token is not valid: it was revoked, or belongs to another gateway")
		}
		return auth.Owner("API"), nil
	case !known || t.Kind == store.TokenRefresh || app.RevokedAt > 0 || t.Resource != "" && resource != "" && t.Resource != resource:
		return auth.Principal{}, protocol.ErrUnauthorized.With("this token is not valid here")
	case isExpired(t.ExpiresAt) || isExpired(app.ExpiresAt):
		return auth.Principal{}, protocol.ErrUnauthorized.With("this token has expired")
	}
	app.Scopes = narrow(app.Scopes, t.Scopes)
	return auth.App(app), nil
}

// narrow returns those of an app's scopes that a token has; an empty list means all.
func narrow(app, token []protocol.Scope) []protocol.Scope {
	if len(token) == 0 {
		return app
	}
	return slices.DeleteFunc(slices.Clone(app), func(s protocol.Scope) bool { return !slices.Contains(token, s) })
}

// Used records a call of an app. It does not block.
func (a *Apps) Used(id protocol.AppID, tool string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	app, ok := a.apps[id]
	if !ok {
		return
	}
	app.LastUsedAt, app.LastTool = time.Now().UnixMilli(), tool
	app.Calls++
	a.apps[id], a.used[id] = app, true
}

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
		if err := crash.Call("apps", a.saveUsed); err != nil {
			slog.Warn("Calls of apps cannot be stored", "err", err)
		}
	}
}

func (a *Apps) saveUsed() error {
	a.changing.Lock()
	defer a.changing.Unlock()
	var c store.AppChange
	a.mu.Lock()
	for id := range a.used {
		c.Put = append(c.Put, a.apps[id])
	}
	clear(a.used)
	a.mu.Unlock()
	if len(c.Put) == 0 {
		return nil
	}
	if err := a.o.Store.Apply(context.Background(), c); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, app := range c.Put {
			a.used[app.ID] = true
		}
		return err
	}
	a.publish()
	return nil
}

// List returns the apps, newest first.
func (a *Apps) List(context.Context) (protocol.AppsListResult, error) {
	a.mu.Lock()
	apps := slices.Collect(maps.Values(a.apps))
	a.mu.Unlock()
	slices.SortFunc(apps, func(x, y protocol.App) int {
		if x.CreatedAt != y.CreatedAt {
			return int(min(max(y.CreatedAt-x.CreatedAt, -1), 1))
		}
		return strings.Compare(string(x.ID), string(y.ID))
	})
	if apps == nil {
		apps = []protocol.App{}
	}
	return protocol.AppsListResult{Apps: apps}, nil
}

// apply stores a change and makes it visible. The caller must hold changing.
func (a *Apps) apply(ctx context.Context, c store.AppChange) error {
	if err := a.o.Store.Apply(ctx, c); err != nil {
		return err
	}
	a.mu.Lock()
	for _, app := range c.Put {
		if was, ok := a.apps[app.ID]; ok && was.Calls > app.Calls { // it was used meanwhile
			app.LastUsedAt, app.LastTool, app.Calls = was.LastUsedAt, was.LastTool, was.Calls
		}
		a.apps[app.ID] = app
	}
	for _, hash := range c.Revoke {
		delete(a.tokens, hash)
	}
	for _, id := range c.RevokeOf {
		maps.DeleteFunc(a.tokens, func(_ string, t store.AppToken) bool { return t.App == id })
	}
	for _, t := range c.Tokens {
		a.tokens[t.Hash] = t
	}
	a.mu.Unlock()
	a.publish()
	return nil
}

func (a *Apps) app(id protocol.AppID) (protocol.App, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	app, ok := a.apps[id]
	if !ok {
		return app, protocol.ErrNotFound.With("no app has the ID " + string(id))
	}
	return app, nil
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
	if err := a.o.checkMachines(p.Nodes, nil); err != nil {
		return protocol.TokenCreateResult{}, err
	}
	if p.ExpiresIn < 0 {
		return protocol.TokenCreateResult{}, protocol.ErrBadRequest.With("expiresIn must be a number of seconds from now, or 0 for no end")
	}
	now := time.Now()
	app := protocol.App{
		ID: protocol.AppID("app_" + protocol.NewID()), Kind: protocol.AppToken, Name: strings.TrimSpace(p.Name), Scopes: distinct(p.Scopes), Nodes: p.Nodes,
		CreatedAt: now.UnixMilli(),
	}
	if p.ExpiresIn > 0 {
		app.ExpiresAt = now.Add(time.Duration(p.ExpiresIn) * time.Second).UnixMilli()
	}
	secret := newSecret("flt_")
	a.changing.Lock()
	defer a.changing.Unlock()
	err := a.apply(ctx, store.AppChange{
		Put: []protocol.App{app}, Tokens: []store.AppToken{{Hash: hashOf(secret), App: app.ID, Kind: store.TokenPersonal, ExpiresAt: app.ExpiresAt}},
		Audit: []protocol.AuditEntry{audit(by, "made a token for", "allowed", app)},
	})
	return protocol.TokenCreateResult{App: app, Token: secret}, err
}

// Update changes an app's name, scopes or machines.
func (a *Apps) Update(ctx context.Context, by string, p protocol.AppUpdateParams) (protocol.App, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	app, err := a.app(p.ID)
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
	if err := a.o.checkMachines(app.Nodes, was.Nodes); err != nil {
		return app, err
	}
	if err := checkApp(app.Name, app.Scopes); err != nil {
		return app, err
	}
	err = a.apply(ctx, store.AppChange{
		Put: []protocol.App{app}, Tokens: a.extendTokens(was, app), Audit: []protocol.AuditEntry{audit(by, "changed", "allowed", app)},
	})
	a.o.limit(app, err)
	return app, err
}

// limit ends what an app may not do any more after a change of its rights that had the error err.
func (o Options) limit(app protocol.App, err error) {
	if err == nil && o.Changed != nil {
		o.Changed(app)
	}
}

// Revoke ends an app's access at once.
func (a *Apps) Revoke(ctx context.Context, by string, id protocol.AppID) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	return a.revoke(ctx, by, id)
}

// revoke is Revoke for a caller that holds changing.
func (a *Apps) revoke(ctx context.Context, by string, id protocol.AppID) error {
	app, err := a.app(id)
	if err != nil || app.RevokedAt > 0 {
		return err
	}
	app.RevokedAt = time.Now().UnixMilli()
	err = a.apply(ctx, store.AppChange{Put: []protocol.App{app}, RevokeOf: []protocol.AppID{id}, Audit: []protocol.AuditEntry{audit(by, "revoked", "denied", app)}})
	if err == nil {
		a.endLost()
	}
	return err
}

// HasAccess reports whether an app has a token with which it can make calls, or get another one.
func (a *Apps) HasAccess(id protocol.AppID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	app, ok := a.apps[id]
	if !ok || app.RevokedAt > 0 || isExpired(app.ExpiresAt) {
		return false
	}
	for _, t := range a.tokens {
		if t.App == id && t.UsedAt == 0 && !isExpired(t.ExpiresAt) {
			return true
		}
	}
	return false
}

// endLost ends the calls and commands of the apps that have lost their access since the last time.
func (a *Apps) endLost() {
	if a.o.Lost == nil {
		return
	}
	a.mu.Lock()
	ids := slices.Collect(maps.Keys(a.apps))
	a.mu.Unlock()
	var lost []protocol.AppID
	for _, id := range ids {
		has := a.HasAccess(id)
		a.mu.Lock()
		if !has && !a.lost[id] {
			lost = append(lost, id)
		}
		a.lost[id] = !has
		a.mu.Unlock()
	}
	for _, id := range lost {
		a.o.Lost(id)
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

// checkMachines refuses IDs of machines that nobody knows, unless the app had them before: a machine
// may have been forgotten since.
func (o Options) checkMachines(ids, had []protocol.NodeID) error {
	for _, id := range ids {
		if o.KnowsMachine != nil && !slices.Contains(had, id) && !o.KnowsMachine(id) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("no machine has the ID %q", id))
		}
	}
	return nil
}

func scopeNames() string {
	var names []string
	for _, s := range protocol.AppScopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
