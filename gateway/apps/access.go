package apps

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Store stores the apps ([store.Apps]).
type Store interface {
	List(ctx context.Context) ([]protocol.App, []store.AppToken, error)
	Apply(ctx context.Context, c store.AppChange) error
}

// Access holds the connected apps and their tokens: who may call, with which rights. It is safe for
// concurrent use.
type Access struct {
	store Store
	bus   *event.Bus
	owner func(ctx context.Context, token string) error
	// networkOf returns the network of a machine.
	networkOf func(protocol.NodeID) protocol.NetworkID

	changing sync.Mutex // held during a change of apps or tokens, with its write to the store

	mu     sync.Mutex // guards the fields below; never held during a write to the store
	apps   map[protocol.AppID]protocol.App
	tokens map[string]store.AppToken // by hash
	used   map[protocol.AppID]bool   // apps with calls that are not stored yet
	lost   map[protocol.AppID]bool   // apps without access whose work was ended
}

// Open reads the apps. owner checks the gateway's own token, which belongs to the person; networkOf
// returns the network of a machine.
func Open(
	ctx context.Context, s Store, bus *event.Bus, owner func(ctx context.Context, token string) error, networkOf func(protocol.NodeID) protocol.NetworkID,
) (*Access, error) {
	a := &Access{
		store: s, bus: bus, owner: owner, networkOf: networkOf,
		apps: make(map[protocol.AppID]protocol.App), tokens: make(map[string]store.AppToken), used: make(map[protocol.AppID]bool), lost: make(map[protocol.AppID]bool),
	}
	list, tokens, err := s.List(ctx)
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
		if err := s.Apply(ctx, gone); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func isExpired(at int64) bool { return at > 0 && at <= time.Now().UnixMilli() }

func (a *Access) publish() { a.bus.Publish(protocol.Change{Kind: protocol.ChangeApps}) }

// Verify returns who a bearer token belongs to: an app, or the person for the gateway's own token.
// resource is the address that the caller uses; a token for another address is refused. The error
// is protocol.ErrUnauthorized.
func (a *Access) Verify(ctx context.Context, bearer, resource string) (auth.Principal, error) {
	t, app, ok := a.find(bearer)
	switch {
	case !ok:
		if err := a.owner(ctx, bearer); err != nil {
			return auth.Principal{}, protocol.ErrUnauthorized.With("this token is not valid: it was revoked, or belongs to another gateway")
		}
		return auth.Owner("API"), nil
	case app.ID == "" || t.Kind == store.TokenRefresh || app.RevokedAt > 0 || t.Resource != "" && resource != "" && t.Resource != resource:
		return auth.Principal{}, protocol.ErrUnauthorized.With("this token is not valid here")
	case isExpired(t.ExpiresAt) || isExpired(app.ExpiresAt):
		return auth.Principal{}, protocol.ErrUnauthorized.With("this token has expired")
	}
	app.Scopes = narrow(app.Scopes, t.Scopes)
	return a.principal(app), nil
}

// principal returns the caller that an app is.
func (a *Access) principal(app protocol.App) auth.Principal {
	return auth.App(app).WithNetworks(a.networkOf)
}

// find returns a token with its app, by its secret.
func (a *Access) find(secret string) (t store.AppToken, app protocol.App, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok = a.tokens[auth.HashToken(secret)]
	return t, a.apps[t.App], ok
}

// narrow returns those of an app's scopes that a token has; an empty list means all.
func narrow(app, token []protocol.Scope) []protocol.Scope {
	if len(token) == 0 {
		return app
	}
	return slices.DeleteFunc(slices.Clone(app), func(s protocol.Scope) bool { return !slices.Contains(token, s) })
}

// Used records a call of an app. It does not block.
func (a *Access) Used(id protocol.AppID, tool string) {
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

// saveUsed stores the times of the last calls.
func (a *Access) saveUsed() error {
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
	if err := a.store.Apply(context.Background(), c); err != nil {
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

// all returns the apps, in no order.
func (a *Access) all() []protocol.App {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.AppendSeq([]protocol.App{}, maps.Values(a.apps))
}

// HasAccess reports whether an app has a token with which it can make calls, or get another one.
func (a *Access) HasAccess(id protocol.AppID) bool {
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

// apply stores a change and makes it visible. The caller must hold changing.
func (a *Access) apply(ctx context.Context, c store.AppChange) error {
	if err := a.store.Apply(ctx, c); err != nil {
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

func (a *Access) app(id protocol.AppID) (protocol.App, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	app, ok := a.apps[id]
	if !ok {
		return app, protocol.ErrNotFound.With("no app has the ID " + string(id))
	}
	return app, nil
}

// signedIn returns the connected app of a client.
func (a *Access) signedIn(clientID string) (protocol.App, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, app := range a.apps {
		if app.Kind == protocol.AppOAuth && app.ClientID == clientID && app.RevokedAt == 0 {
			return app, true
		}
	}
	return protocol.App{}, false
}

// tokensOf returns the tokens of an app, without the refresh tokens that were exchanged.
func (a *Access) tokensOf(id protocol.AppID) []store.AppToken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(a.tokens)), func(t store.AppToken) bool { return t.App != id || t.UsedAt > 0 })
}

// limitTokens limits the tokens of an app to the scopes that they have now, so that they do not get
// those that the app gets next. A token that has none left is revoked: an empty list means all.
func (a *Access) limitTokens(app protocol.App) (c store.AppChange) {
	for _, t := range a.tokensOf(app.ID) {
		switch scopes := narrow(app.Scopes, t.Scopes); len(scopes) {
		case 0:
			c.Revoke = append(c.Revoke, t.Hash)
		case len(t.Scopes):
		default:
			t.Scopes = scopes
			c.Tokens = append(c.Tokens, t)
		}
	}
	return c
}

// extendTokens returns the tokens of an app with the scopes that the person adds to it by hand,
// which apply to every sign-in.
func (a *Access) extendTokens(was, app protocol.App) (changed []store.AppToken) {
	added := slices.DeleteFunc(slices.Clone(app.Scopes), func(s protocol.Scope) bool { return slices.Contains(was.Scopes, s) })
	for _, t := range a.tokensOf(app.ID) {
		if len(added) > 0 && len(t.Scopes) > 0 {
			t.Scopes = distinct(slices.Concat(t.Scopes, added))
			changed = append(changed, t)
		}
	}
	return changed
}

// expiredTokens returns the hashes of an app's expired tokens from sign-ins, which are of no use.
func (a *Access) expiredTokens(id protocol.AppID) (hashes []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for hash, t := range a.tokens {
		if t.App == id && t.Kind != store.TokenPersonal && isExpired(t.ExpiresAt) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// newlyLost returns the apps that have lost their access since the last time.
func (a *Access) newlyLost() (lost []protocol.AppID) {
	for _, app := range a.all() {
		has := a.HasAccess(app.ID)
		a.mu.Lock()
		if !has && !a.lost[app.ID] {
			lost = append(lost, app.ID)
		}
		a.lost[app.ID] = !has
		a.mu.Unlock()
	}
	return lost
}
