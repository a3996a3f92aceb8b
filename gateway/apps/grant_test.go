package apps

import (
	"errors"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

// signIn connects the app with some of its scopes, and returns the tokens of this sign-in.
func signIn(t *testing.T, a *Apps, scopes ...protocol.Scope) (protocol.AppID, SignIn) {
	t.Helper()
	c, decision, err := a.Ask(t.Context(), protocol.AppSubject{Name: "Editor", ClientID: site, Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	allow(t, a, c, protocol.QuestionAnswerParams{})
	d := <-decision
	s, err := a.Issue(t.Context(), d.App.ID, "", d.Scopes)
	if err != nil || !slices.Equal(s.Scopes, distinct(scopes)) {
		t.Fatalf("got scopes %q, %v, want %q", s.Scopes, err, scopes)
	}
	return d.App.ID, s
}

// checkScopes checks the scopes that a token gives now.
func checkScopes(t *testing.T, a *Apps, what, bearer string, want ...protocol.Scope) {
	t.Helper()
	p, err := a.access.Verify(t.Context(), bearer, "")
	if err != nil {
		t.Errorf("%s: got %v, want the scopes %q", what, err, want)
		return
	}
	for _, s := range protocol.AppScopes {
		if p.Has(s) != slices.Contains(want, s) {
			t.Errorf("%s: got %s %t, want %t", what, s, p.Has(s), !p.Has(s))
		}
	}
}

func update(t *testing.T, a *Apps, id protocol.AppID, scopes ...protocol.Scope) {
	t.Helper()
	if _, err := a.Update(t.Context(), "owner", protocol.AppUpdateParams{ID: id, Scopes: &scopes}); err != nil {
		t.Fatal(err)
	}
}

const (
	files  = protocol.ScopeFilesRead
	writes = protocol.ScopeFilesWrite
	shell  = protocol.ScopeShell
)

func TestTokensHaveOnlyTheScopesOfTheirSignIn(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	id, first := signIn(t, a, files)
	again, second := signIn(t, a, files, shell)
	if again != id {
		t.Errorf("got two apps %s and %s, want one", id, again)
	}
	_, third := signIn(t, a, writes)
	a = open(t, dir) // the limits survive a restart
	checkScopes(t, a, "first sign-in", first.Access, files)
	checkScopes(t, a, "second sign-in", second.Access, files, shell)
	checkScopes(t, a, "third sign-in", third.Access, writes)
	if list, _ := a.List(t.Context()); !slices.Equal(list.Apps[0].Scopes, distinct([]protocol.Scope{files, shell, writes})) {
		t.Errorf("got the app's scopes %q, want those of all sign-ins", list.Apps[0].Scopes)
	}
	if _, err := a.Refresh(t.Context(), first.Refresh, site, "", []protocol.Scope{shell}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("refresh with the scope of another sign-in: got %v, want ErrForbidden", err)
	}
	next, err := a.Refresh(t.Context(), first.Refresh, site, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkScopes(t, a, "refreshed first sign-in", next.Access, files)
}

func TestScopesThatThePersonChangesApplyToEverySignIn(t *testing.T) {
	a := start(t)
	id, first := signIn(t, a, files, shell)
	_, second := signIn(t, a, files)
	update(t, a, id, files)
	checkScopes(t, a, "shell removed, first", first.Access, files)
	next, err := a.Refresh(t.Context(), first.Refresh, site, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	checkScopes(t, a, "shell removed, refreshed", next.Access, files)
	update(t, a, id, files, writes)
	checkScopes(t, a, "writes added, first", first.Access, files, writes)
	checkScopes(t, a, "writes added, refreshed", next.Access, files, writes)
	checkScopes(t, a, "writes added, second", second.Access, files, writes)
}

func TestSignInDoesNotGiveOthersAScopeBack(t *testing.T) {
	a := start(t)
	id, first := signIn(t, a, files, shell)
	_, only := signIn(t, a, shell)
	update(t, a, id, files) // takes shell away
	_, later := signIn(t, a, shell)
	checkScopes(t, a, "first sign-in", first.Access, files)
	checkScopes(t, a, "later sign-in", later.Access, shell)
	checkRevoked(t, a, only.Access)
	if _, err := a.Refresh(t.Context(), only.Refresh, site, "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("sign-in without scopes: got %v, want ErrUnauthorized", err)
	}
}

func TestQuestionNamesTheMachinesOfAConnectedApp(t *testing.T) {
	a := start(t)
	ask := func() protocol.Question {
		c, _, err := a.Ask(t.Context(), protocol.AppSubject{Name: "Editor", ClientID: site, Scopes: []protocol.Scope{files}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := ask()
	if first.App.Connected || first.App.Nodes != nil {
		t.Errorf("a new app: got %+v, want no machines", first.App)
	}
	allow(t, a, first, protocol.QuestionAnswerParams{Nodes: []protocol.NodeID{"nas"}})
	if c := ask().App; !c.Connected || !slices.Equal(c.Nodes, []protocol.NodeID{"nas"}) {
		t.Errorf("a connected app: got %+v, want nas", c)
	}
}

// Tokens of earlier versions have no scopes of their own.
func TestSignInDoesNotWidenTokensWithoutScopes(t *testing.T) {
	a := start(t)
	id, _ := signIn(t, a, files)
	old, err := a.Issue(t.Context(), id, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	signIn(t, a, shell)
	checkScopes(t, a, "old token", old.Access, files)
}
