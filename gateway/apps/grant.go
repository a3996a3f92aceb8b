package apps

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Validity of the tokens of apps that signed in.
const (
	// AccessTime is how long an access token is valid.
	AccessTime = time.Hour
	// refreshTime is how long a refresh token is valid; each exchange starts it again.
	refreshTime = 90 * 24 * time.Hour
)

// SignIn is what an app gets when it signs in or refreshes its tokens.
type SignIn struct {
	Access  string
	Refresh string
	Scopes  []protocol.Scope
}

func auditOnly(e protocol.AuditEntry) store.AppChange {
	return store.AppChange{Audit: []protocol.AuditEntry{e}}
}

// grant connects an app. An app that is connected already gets the scopes in addition, so that
// another installation of the same program keeps its own; its name and machines are replaced. line
// returns the line of the audit log about it.
func (a *Apps) grant(
	ctx context.Context, c protocol.AppSubject, scopes []protocol.Scope, nodes []protocol.NodeID, line func(protocol.App) protocol.AuditEntry,
) (protocol.App, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	app, ok := a.signedIn(c.ClientID)
	if !ok {
		app = protocol.App{
			ID: protocol.AppID("app_" + protocol.NewID()), Kind: protocol.AppOAuth, ClientID: c.ClientID, CreatedAt: time.Now().UnixMilli(),
		}
	}
	change := a.limitTokens(app)
	app.Name, app.ClientHost, app.Scopes, app.Nodes = c.Name, c.ClientHost, distinct(slices.Concat(app.Scopes, scopes)), nodes
	change.Put, change.Audit = []protocol.App{app}, []protocol.AuditEntry{line(app)}
	err := a.apply(ctx, change)
	a.o.limit(app, err)
	return app, err
}

// signedIn returns the connected app of a client.
func (a *Apps) signedIn(clientID string) (protocol.App, bool) {
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
func (a *Apps) tokensOf(id protocol.AppID) []store.AppToken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(a.tokens)), func(t store.AppToken) bool { return t.App != id || t.UsedAt > 0 })
}

// limitTokens limits the tokens of an app to the scopes that they have now, so that they do not get
// those that the app gets next. A token that has none left is revoked: an empty list means all.
func (a *Apps) limitTokens(app protocol.App) (c store.AppChange) {
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
func (a *Apps) extendTokens(was, app protocol.App) (changed []store.AppToken) {
	added := slices.DeleteFunc(slices.Clone(app.Scopes), func(s protocol.Scope) bool { return slices.Contains(was.Scopes, s) })
	for _, t := range a.tokensOf(app.ID) {
		if len(added) > 0 && len(t.Scopes) > 0 {
			t.Scopes = distinct(slices.Concat(t.Scopes, added))
			changed = append(changed, t)
		}
	}
	return changed
}

// Issue makes tokens for an app that signed in, for use at resource. They have the scopes that the
// person allowed at this sign-in, those of the app if empty.
func (a *Apps) Issue(ctx context.Context, id protocol.AppID, resource string, scopes []protocol.Scope) (SignIn, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	return a.issue(ctx, id, resource, scopes, store.AppChange{})
}

// issue is Issue with another change that is stored together with it. The caller must hold changing.
func (a *Apps) issue(ctx context.Context, id protocol.AppID, resource string, scopes []protocol.Scope, c store.AppChange) (SignIn, error) {
	app, err := a.app(id)
	if err != nil {
		return SignIn{}, err
	}
	if app.RevokedAt > 0 {
		return SignIn{}, protocol.ErrUnauthorized.With("the app's access was revoked")
	}
	now := time.Now()
	out := SignIn{Access: newSecret("fla_"), Refresh: newSecret("flr_"), Scopes: narrow(app.Scopes, scopes)}
	c.Tokens = append(c.Tokens,
		store.AppToken{Hash: hashOf(out.Access), App: id, Kind: store.TokenAccess, Scopes: scopes, Resource: resource, ExpiresAt: now.Add(AccessTime).UnixMilli()},
		store.AppToken{Hash: hashOf(out.Refresh), App: id, Kind: store.TokenRefresh, Scopes: scopes, Resource: resource, ExpiresAt: now.Add(refreshTime).UnixMilli()})
	a.mu.Lock()
	for hash, t := range a.tokens { // expired ones are of no use
		if t.App == id && t.Kind != store.TokenPersonal && isExpired(t.ExpiresAt) {
			c.Revoke = append(c.Revoke, hash)
		}
	}
	a.mu.Unlock()
	return out, a.apply(ctx, c)
}

// Refresh exchanges a refresh token for new tokens; the old one is used up. A token that was used
// already was stolen from the app or by it, so the app's access is revoked. scopes, if set, must be
// among those of the old token. The error is protocol.ErrUnauthorized, or ErrForbidden for scopes.
func (a *Apps) Refresh(ctx context.Context, token, clientID, resource string, scopes []protocol.Scope) (SignIn, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	a.mu.Lock()
	t, ok := a.tokens[hashOf(token)]
	app := a.apps[t.App]
	a.mu.Unlock()
	switch {
	case !ok || t.Kind != store.TokenRefresh || app.ClientID != clientID || isExpired(t.ExpiresAt) || app.RevokedAt > 0:
		return SignIn{}, protocol.ErrUnauthorized.With("the refresh token is not valid")
	case resource != "" && resource != t.Resource:
		return SignIn{}, protocol.ErrUnauthorized.With("the refresh token is for another address")
	case t.UsedAt > 0:
		if err := a.revoke(ctx, "a refresh token that was used twice", app.ID); err != nil {
			return SignIn{}, err
		}
		return SignIn{}, protocol.ErrUnauthorized.With("the refresh token was used before, so the access was revoked: connect the app again")
	}
	for _, s := range scopes {
		if !slices.Contains(narrow(app.Scopes, t.Scopes), s) {
			return SignIn{}, protocol.ErrForbidden.With("the scope " + string(s) + " was not granted")
		}
	}
	if len(scopes) == 0 {
		scopes = t.Scopes
	}
	t.UsedAt = time.Now().UnixMilli()
	return a.issue(ctx, app.ID, t.Resource, scopes, store.AppChange{Tokens: []store.AppToken{t}})
}

// RevokeToken ends the access of the app that a token of clientID belongs to. An unknown token is
// no error.
func (a *Apps) RevokeToken(ctx context.Context, token, clientID string) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	a.mu.Lock()
	t, ok := a.tokens[hashOf(token)]
	app := a.apps[t.App]
	a.mu.Unlock()
	switch {
	case !ok || app.ClientID != clientID || app.Kind != protocol.AppOAuth:
		return nil
	case t.Kind == store.TokenAccess:
		return a.apply(ctx, store.AppChange{Revoke: []string{t.Hash}})
	}
	return a.revoke(ctx, "app "+strings.TrimSpace(app.Name), app.ID)
}
