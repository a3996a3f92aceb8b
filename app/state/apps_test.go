package state

import (
	"slices"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestEveryScopeOfAnAppHasWords(t *testing.T) {
	for _, s := range protocol.AppScopes {
		if !slices.ContainsFunc(Permissions, func(p Permission) bool { return p.Scope == s && p.Text != "" && p.About != "" }) {
			t.Errorf("the scope %s has no words", s)
		}
	}
	if len(Permissions) != len(protocol.AppScopes) {
		t.Errorf("%d permissions for %d scopes", len(Permissions), len(protocol.AppScopes))
	}
}

func TestAnAppIsDescribedInALine(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v := View{Nodes: []protocol.NodeInfo{{ID: "nas", Name: "NAS"}}}
	both := []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeShell}
	for _, c := range []struct {
		name          string
		app           protocol.App
		line, present string
		ended         bool
	}{
		{name: "all machines", app: protocol.App{Kind: protocol.AppToken, Scopes: both}, line: "Token · Read files and run commands", present: "never used"},
		{name: "one machine", app: protocol.App{Kind: protocol.AppOAuth, Scopes: both[:1], Nodes: []protocol.NodeID{"nas"}}, line: "Signed in · Read files · on NAS", present: "never used"},
		{name: "three machines", app: protocol.App{Kind: protocol.AppOAuth, Nodes: []protocol.NodeID{"a", "b", "c"}}, line: "Signed in · Nothing · on 3 machines", present: "never used"},
		{name: "used", app: protocol.App{Kind: protocol.AppToken, Scopes: both[:1], LastUsedAt: now.Add(-time.Minute).UnixMilli()}, line: "Token · Read files", present: "used " + When(now.Add(-time.Minute).UnixMilli(), now)},
		{name: "expired", app: protocol.App{Kind: protocol.AppToken, ExpiresAt: now.UnixMilli()}, line: "Token", present: "expired", ended: true},
		{name: "revoked", app: protocol.App{Kind: protocol.AppToken, RevokedAt: 1}, line: "Token", present: "revoked", ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := AppLine(v, c.app, now); got != c.line {
				t.Errorf("line: got %q, want %q", got, c.line)
			}
			if got := AppPresence(c.app, now); got != c.present {
				t.Errorf("presence: got %q, want %q", got, c.present)
			}
			if got := HasEnded(c.app, now); got != c.ended {
				t.Errorf("ended: got %v, want %v", got, c.ended)
			}
		})
	}
}

func TestTheQuestionOfAnAppSaysWhoAsks(t *testing.T) {
	for _, c := range []struct {
		name string
		in   protocol.Consent
		want string
	}{
		{"published", protocol.Consent{ClientHost: "claude.example", RedirectHost: "claude.example"}, "This app is published by claude.example. It wants to use your machines. Your answer goes to claude.example."},
		{"published, local", protocol.Consent{ClientHost: "claude.example", RedirectHost: "127.0.0.1", IsLocal: true}, "A program where your browser runs claims to be published by claude.example. Nobody has checked that."},
		{"again", protocol.Consent{Name: "MCP CLI Proxy", Connected: true, IsLocal: true}, "“MCP CLI Proxy” (unverified name) on this computer wants to use your machines. That app is connected already: what you allow is added to its permissions."},
		{"unproven", protocol.Consent{Name: "MCP CLI Proxy", IsLocal: true}, "“MCP CLI Proxy” (unverified name) on this computer wants to use your machines."},
	} {
		if got := ConsentText(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
