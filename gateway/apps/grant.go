package apps

import (
	"context"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
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
	ctx context.Context, c protocol.AppSubject, scopes []protocol.Scope, to protocol.MachineLimit, line func(protocol.App) protocol.AuditEntry,
) (protocol.App, error) {
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	app, ok := a.access.signedIn(c.ClientID)
	if !ok {
		app = protocol.App{
			ID: protocol.AppID("app_" + protocol.NewID()), Kind: protocol.AppOAuth, ClientID: c.ClientID, CreatedAt: time.Now().UnixMilli(),
		}
	}
	change := a.access.limitTokens(app)
	app.Name, app.ClientHost, app.Scopes = c.Name, c.ClientHost, distinct(slices.Concat(app.Scopes, scopes))
	app.Nodes, app.Networks = to.Nodes, to.Networks
	change.Put, change.Audit = []protocol.App{app}, []protocol.AuditEntry{line(app)}
	err := a.access.apply(ctx, change)
	a.limit(app, err)
	return app, err
}

// Issue makes tokens for an app that signed in, for use at resource. They have the scopes that the
// person allowed at this sign-in, those of the app if empty.
func (a *Apps) Issue(ctx context.Context, id protocol.AppID, resource string, scopes []protocol.Scope) (SignIn, error) {
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	return a.issue(ctx, id, resource, scopes, store.AppChange{})
}

// issue is Issue with another change that is stored together with it. The caller must hold changing.
func (a *Apps) issue(ctx context.Context, id protocol.AppID, resource string, scopes []protocol.Scope, c store.AppChange) (SignIn, error) {
	app, err := a.access.app(id)
	if err != nil {
		return SignIn{}, err
	}
	if app.RevokedAt > 0 {
		return SignIn{}, protocol.ErrUnauthorized.With("the app's access was revoked")
	}
	now := time.Now()
	out := SignIn{Access: auth.NewToken("fla_"), Refresh: auth.NewToken("flr_"), Scopes: narrow(app.Scopes, scopes)}
	c.Tokens = append(c.Tokens,
		store.AppToken{Hash: auth.HashToken(out.Access), App: id, Kind: store.TokenAccess, Scopes: scopes, Resource: resource, ExpiresAt: now.Add(AccessTime).UnixMilli()},
		store.AppToken{Hash: auth.HashToken(out.Refresh), App: id, Kind: store.TokenRefresh, Scopes: scopes, Resource: resource, ExpiresAt: now.Add(refreshTime).UnixMilli()})
	c.Revoke = append(c.Revoke, a.access.expiredTokens(id)...)
	return out, a.access.apply(ctx, c)
}

// Refresh exchanges a refresh token for new tokens; the old one is used up. A token that was used
// already was stolen from the app or by it, so the app's access is revoked. scopes, if set, must be
// among those of the old token. The error is protocol.ErrUnauthorized, or ErrForbidden for scopes.
func (a *Apps) Refresh(ctx context.Context, token, clientID, resource string, scopes []protocol.Scope) (SignIn, error) {
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	t, app, ok := a.access.find(token)
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
	a.access.changing.Lock()
	defer a.access.changing.Unlock()
	t, app, ok := a.access.find(token)
	switch {
	case !ok || app.ClientID != clientID || app.Kind != protocol.AppOAuth:
		return nil
	case t.Kind == store.TokenAccess:
		return a.access.apply(ctx, store.AppChange{Revoke: []string{t.Hash}})
	}
	return a.revoke(ctx, "app "+strings.TrimSpace(app.Name), app.ID)
}
