package apps

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

const ownerToken = "fl_owner"

// open opens apps on a real database in dir.
func open(t *testing.T, dir string) *Apps {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(dir, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	access, err := Open(t.Context(), db.Apps, new(event.Bus), func(_ context.Context, token string) error {
		if token != ownerToken {
			return protocol.ErrUnauthorized
		}
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return New(Options{Access: access, Questions: question.New(db.Questions, nil, new(event.Bus)), Machines: machines{"box", "nas"}})
}

func start(t *testing.T) *Apps { return open(t, t.TempDir()) }

// machines are the known machines.
type machines []protocol.NodeID

func (m machines) NetworkList() []protocol.Network {
	return []protocol.Network{{ID: "net_lab", Name: "lab"}}
}

func (m machines) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	return protocol.NodeInfo{ID: id}, slices.Contains(m, id)
}

// memory is a store that keeps nothing, for tests of time, in whose bubble SQLite cannot run.
type memory struct{ fail error }

func (memory) List(context.Context) ([]protocol.App, []store.AppToken, error) { return nil, nil, nil }
func (m *memory) Apply(context.Context, store.AppChange) error                { return m.fail }

func inMemory(t *testing.T) (*Apps, *memory) {
	m := &memory{}
	access, err := Open(t.Context(), m, new(event.Bus), func(context.Context, string) error { return protocol.ErrUnauthorized }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Access: access, Questions: question.New(questiontest.NewStore(), nil, new(event.Bus)), Machines: machines{}}), m
}

var read = []protocol.Scope{protocol.ScopeFilesRead}

func token(t *testing.T, a *Apps, p protocol.TokenCreateParams) protocol.TokenCreateResult {
	t.Helper()
	r, err := a.CreateToken(t.Context(), "owner cli", p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkRevoked(t *testing.T, a *Apps, bearer string) {
	t.Helper()
	if p, err := a.access.Verify(t.Context(), bearer, ""); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("the token is taken: %v, %v", p, err)
	}
}

func TestTokenSurvivesARestartWithoutItsSecret(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	r := token(t, a, protocol.TokenCreateParams{Name: " Backup ", Scopes: []protocol.Scope{protocol.ScopeShell, protocol.ScopeFilesRead, protocol.ScopeShell}, Nodes: []protocol.NodeID{"nas"}})
	if r.App.Name != "Backup" || r.App.Kind != protocol.AppToken || len(r.App.Scopes) != 2 || r.App.ExpiresAt != 0 || r.App.CreatedAt == 0 || !strings.HasPrefix(r.Token, "flt_") || len(r.Token) < 40 {
		t.Errorf("got %+v, want the app Backup with two scopes", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	a.access.Used(r.App.ID, "fs_read")
	cancel()
	running.Wait()
	a = open(t, dir)
	p, err := a.access.Verify(t.Context(), r.Token, "http://127.0.0.1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != auth.KindApp || p.App != r.App.ID || p.Name != "Backup" || !p.Has(protocol.ScopeShell) || p.Has(protocol.ScopeFilesWrite) || tool.CheckAccess(p, "nas") != nil || tool.CheckAccess(p, "laptop") == nil {
		t.Errorf("got %+v, want the shell on nas alone", p)
	}
	list, _ := a.List(t.Context())
	if got := list.Apps[0]; got.Calls != 1 || got.LastTool != "fs_read" || got.LastUsedAt == 0 {
		t.Errorf("got %+v, want one call of fs_read", got)
	}
	_, tokens, err := a.access.store.List(t.Context())
	if err != nil || len(tokens) != 1 || strings.Contains(tokens[0].Hash, r.Token) || tokens[0].Hash != auth.HashToken(r.Token) {
		t.Errorf("got %+v, error %v, want the hash of the token", tokens, err)
	}
	checkRevoked(t, a, r.Token+"x")
	checkRevoked(t, a, tokens[0].Hash)
	checkRevoked(t, a, "")
}

func TestOwnersTokenActsAsTheOwner(t *testing.T) {
	a := start(t)
	p, err := a.access.Verify(t.Context(), ownerToken, "")
	if err != nil || p.Kind != auth.KindOwner || p.App != "" || !p.Has(protocol.ScopeAdmin) {
		t.Errorf("got %+v, error %v, want the owner", p, err)
	}
}

func TestTokenEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := inMemory(t)
		r := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read, ExpiresIn: 60})
		if _, err := a.access.Verify(t.Context(), r.Token, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		checkRevoked(t, a, r.Token)
	})
}

func TestInvalidAppsAreRefused(t *testing.T) {
	a := start(t)
	for _, c := range []struct {
		name, want string
		in         protocol.TokenCreateParams
	}{
		{"no name", "needs a name", protocol.TokenCreateParams{Name: " ", Scopes: read}},
		{"long name", "at most 100", protocol.TokenCreateParams{Name: strings.Repeat("ä", 101), Scopes: read}},
		{"no scope", "at least one scope", protocol.TokenCreateParams{Name: "x"}},
		{"unknown scope", `unknown scope "admin"`, protocol.TokenCreateParams{Name: "x", Scopes: []protocol.Scope{protocol.ScopeAdmin}}},
		{"negative time", "0 for no end", protocol.TokenCreateParams{Name: "x", Scopes: read, ExpiresIn: -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := a.CreateToken(t.Context(), "owner", c.in); !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	token(t, a, protocol.TokenCreateParams{Name: strings.Repeat("ä", 100), Scopes: protocol.AppScopes})
}

func TestChangesTakeEffectWithTheNextCall(t *testing.T) {
	a := start(t)
	r := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read})
	name, scopes, nodes := "y", []protocol.Scope{protocol.ScopeShell}, []protocol.NodeID{"nas"}
	if _, err := a.Update(t.Context(), "owner", protocol.AppUpdateParams{ID: r.App.ID, Name: &name, Scopes: &scopes, Nodes: &nodes}); err != nil {
		t.Fatal(err)
	}
	p, err := a.access.Verify(t.Context(), r.Token, "")
	if err != nil || p.Name != "y" || p.Has(protocol.ScopeFilesRead) || !p.Has(protocol.ScopeShell) || tool.CheckAccess(p, "laptop") == nil {
		t.Errorf("got %+v, error %v, want y with the shell alone", p, err)
	}
	empty := []protocol.Scope{}
	if _, err := a.Update(t.Context(), "owner", protocol.AppUpdateParams{ID: r.App.ID, Scopes: &empty}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("an app without scopes: %v", err)
	}
	if _, err := a.Update(t.Context(), "owner", protocol.AppUpdateParams{ID: "app_none"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("unknown app: %v", err)
	}
	if err := a.Revoke(t.Context(), "owner", r.App.ID); err != nil {
		t.Fatal(err)
	}
	checkRevoked(t, a, r.Token)
	if _, err := a.Update(t.Context(), "owner", protocol.AppUpdateParams{ID: r.App.ID, Name: &name}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("a revoked app is changed: %v", err)
	}
	list, _ := a.List(t.Context())
	if len(list.Apps) != 1 || list.Apps[0].RevokedAt == 0 {
		t.Errorf("got %+v, want one revoked app", list.Apps)
	}
	if err := a.Revoke(t.Context(), "owner", r.App.ID); err != nil {
		t.Errorf("revoked again: %v", err)
	}
}

func TestChangeThatIsNotStoredHasNoEffect(t *testing.T) {
	a, m := inMemory(t)
	r := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read})
	m.fail = protocol.ErrStorage
	if err := a.Revoke(t.Context(), "owner", r.App.ID); !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("got error %v, want %v", err, protocol.ErrStorage)
	}
	if _, err := a.access.Verify(t.Context(), r.Token, ""); err != nil {
		t.Errorf("the token is gone although that was not stored: %v", err)
	}
	if _, err := a.CreateToken(t.Context(), "owner", protocol.TokenCreateParams{Name: "z", Scopes: read}); !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("got error %v, want %v", err, protocol.ErrStorage)
	}
	if list, _ := a.List(t.Context()); len(list.Apps) != 1 {
		t.Errorf("got %d apps, want 1", len(list.Apps))
	}
}

func TestEveryChangeIsInTheAuditLog(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	access, err := Open(t.Context(), db.Apps, new(event.Bus), func(context.Context, string) error { return protocol.ErrUnauthorized }, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := New(Options{Access: access, Questions: question.New(db.Questions, nil, new(event.Bus)), Machines: machines{}})
	r := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read})
	a.Update(t.Context(), "owner window", protocol.AppUpdateParams{ID: r.App.ID})
	a.Revoke(t.Context(), "owner window", r.App.ID)
	c, _ := ask(t, a, "c")
	deny(t, a, c)
	list, _, err := db.Audit.List(t.Context(), protocol.AuditListParams{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		what, _, _ := strings.Cut(e.What, " app ")
		got = append(got, e.Kind+" "+what+" "+e.Verdict+" by "+e.By)
	}
	if got := list[0].Approval; got != c.ID {
		t.Errorf("the line about the answer is about the question %q, want %q", got, c.ID)
	}
	slices.Reverse(got)
	want := []string{"app made a token for allowed by owner cli", "app changed allowed by owner window", "app revoked denied by owner window", "app refused denied by owner x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARevokedAppIsForgottenAfter30Days(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	r := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read})
	old := r.App
	old.RevokedAt = time.Now().Add(-keepRevoked - time.Hour).UnixMilli()
	if err := a.access.store.Apply(t.Context(), store.AppChange{Put: []protocol.App{old}}); err != nil {
		t.Fatal(err)
	}
	a = open(t, dir)
	if list, _ := a.List(t.Context()); len(list.Apps) != 0 {
		t.Errorf("got %+v, want no apps", list.Apps)
	}
	if apps, tokens, _ := a.access.store.List(t.Context()); len(apps)+len(tokens) != 0 {
		t.Errorf("got stored %v, %v, want none", apps, tokens)
	}
}

func TestUnknownMachineIsRefused(t *testing.T) {
	a, _ := inMemory(t)
	a.machines = machines{"box"}
	none := []protocol.NodeID{"box", "nosuch"}
	if _, err := a.CreateToken(t.Context(), "ann", protocol.TokenCreateParams{Name: "x", Scopes: read, Nodes: none}); !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("token: got %v, want a refusal that names the machine", err)
	}
	made, err := a.CreateToken(t.Context(), "ann", protocol.TokenCreateParams{Name: "x", Scopes: read, Nodes: none[:1]})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Update(t.Context(), "ann", protocol.AppUpdateParams{ID: made.App.ID, Nodes: &none}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("change: got %v, want a refusal", err)
	}
	c, _, err := a.Ask(t.Context(), protocol.AppSubject{ClientID: "c", Name: "Editor", Scopes: read})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer(t, a, c, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Nodes: none}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("consent: got %v, want a refusal", err)
	}
	a.machines = machines{} // it was forgotten
	name := "y"
	if _, err := a.Update(t.Context(), "ann", protocol.AppUpdateParams{ID: made.App.ID, Name: &name}); err != nil {
		t.Errorf("a change of an app with a forgotten machine: %v", err)
	}
}

func TestExposureNamesTheNetworksOfAnApp(t *testing.T) {
	a := start(t)
	for networks, want := range map[protocol.NetworkID]string{"net_lab": "on the network lab.", "net_gone": "on a deleted network."} {
		if got := a.reach(protocol.App{Scopes: []protocol.Scope{protocol.ScopeShell}, Networks: []protocol.NetworkID{networks}}); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", networks, got, want)
		}
	}
	if _, err := a.CreateToken(t.Context(), "owner", protocol.TokenCreateParams{Name: "x", Scopes: []protocol.Scope{protocol.ScopeShell}, Networks: []protocol.NetworkID{"net_gone"}}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("a token for an unknown network: got %v, want ErrBadRequest", err)
	}
}
