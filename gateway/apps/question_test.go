package apps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const site = "https://app.example/client.json"

func ask(t *testing.T, a *Apps, name string) (protocol.Question, <-chan Decision) {
	t.Helper()
	q, decision, err := a.Ask(t.Context(), protocol.AppSubject{Name: name, ClientID: site, ClientHost: "app.example", Scopes: []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeShell}})
	if err != nil {
		t.Fatal(err)
	}
	return q, decision
}

func answer(t *testing.T, a *Apps, q protocol.Question, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
	t.Helper()
	p.ID, p.Hash = q.ID, q.Hash
	return a.questions.Answer(t.Context(), auth.Owner("x"), p)
}

func allow(t *testing.T, a *Apps, q protocol.Question, p protocol.QuestionAnswerParams) {
	t.Helper()
	p.Decision = protocol.DecisionAllow
	if r, err := answer(t, a, q, p); err != nil || !r.Won {
		t.Fatalf("got %+v, %v; want the answer to win", r, err)
	}
}

func deny(t *testing.T, a *Apps, q protocol.Question) {
	t.Helper()
	if _, err := answer(t, a, q, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}); err != nil {
		t.Fatal(err)
	}
}

func pending(t *testing.T, a *Apps) []protocol.Question {
	t.Helper()
	list, err := a.questions.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// connect connects an app with both scopes.
func connect(t *testing.T, a *Apps) protocol.App {
	t.Helper()
	c, decision := ask(t, a, "Editor")
	allow(t, a, c, protocol.QuestionAnswerParams{})
	d := <-decision
	if !d.Allowed {
		t.Fatal("not allowed")
	}
	return d.App
}

func TestThePersonAllowsLessThanTheAppAsks(t *testing.T) {
	a := start(t)
	c, decision := ask(t, a, "Editor")
	if len(c.App.Code) != 4 || c.ID == "" || c.ExpiresAt-c.CreatedAt != questionTime.Milliseconds() {
		t.Errorf("got %+v, want a code of 4 characters and a deadline", c)
	}
	if list := pending(t, a); len(list) != 1 || list[0].ID != c.ID {
		t.Errorf("got %+v, want the question", list)
	}
	if _, err := answer(t, a, c, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Scopes: []protocol.Scope{protocol.ScopeFilesWrite}}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("a scope that was not asked for: %v", err)
	}
	allow(t, a, c, protocol.QuestionAnswerParams{Scopes: read, Nodes: []protocol.NodeID{"nas"}})
	d := <-decision
	if !d.Allowed || len(d.App.Scopes) != 1 || d.App.Scopes[0] != protocol.ScopeFilesRead || d.App.Nodes[0] != "nas" || d.App.ClientHost != "app.example" || d.App.Kind != protocol.AppOAuth {
		t.Errorf("got %+v, want reading on nas allowed", d)
	}
	if r, err := answer(t, a, c, protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}); err != nil || r.Won || r.Question.AnsweredBy != "owner x" {
		t.Errorf("answered twice: got %+v, %v; want the first answer", r, err)
	}
}

func TestConnectingAgainChangesTheSameApp(t *testing.T) {
	a := start(t)
	first := connect(t, a)
	second := connect(t, a)
	if first.ID != second.ID {
		t.Errorf("got apps %s and %s, want one", first.ID, second.ID)
	}
	if err := a.Revoke(t.Context(), "owner", first.ID); err != nil {
		t.Fatal(err)
	}
	if third := connect(t, a); third.ID == first.ID {
		t.Error("a revoked app lives on")
	}
}

func TestQuestionOfAnAppExpiresAfterTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := inMemory(t)
		c, decision := ask(t, a, "Editor")
		if got, want := time.UnixMilli(c.ExpiresAt), time.Now().Add(2*time.Minute); !got.Equal(want) {
			t.Errorf("got the end %v, want %v", got, want)
		}
		time.Sleep(2*time.Minute - time.Second)
		if list := pending(t, a); len(list) != 1 {
			t.Errorf("a second before the end: got %d questions, want 1", len(list))
		}
		time.Sleep(time.Second)
		if _, ok := <-decision; ok {
			t.Error("decided by nobody")
		}
		if r, err := answer(t, a, c, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow}); err != nil || r.Won || r.Question.State != protocol.QuestionExpired {
			t.Errorf("answered too late: got %+v, %v; want an expired question", r, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, gone, err := a.Ask(ctx, protocol.AppSubject{Scopes: read})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, ok := <-gone; ok {
			t.Error("decided by nobody")
		}
		if list := pending(t, a); len(list) != 0 {
			t.Errorf("got %+v, want no questions", list)
		}
	})
}

func TestOnlyAFewAppsAskAtATime(t *testing.T) {
	a := start(t)
	for range maxQuestions {
		ask(t, a, "Editor")
	}
	_, _, err := a.Ask(t.Context(), protocol.AppSubject{Scopes: read})
	if !errors.Is(err, protocol.ErrTooMany) {
		t.Errorf("got %v, want %v", err, protocol.ErrTooMany)
	}
	deny(t, a, pending(t, a)[0])
	if _, _, err := a.Ask(t.Context(), protocol.AppSubject{Scopes: read}); err != nil {
		t.Errorf("after an answer: %v", err)
	}
	if _, _, err := a.Ask(t.Context(), protocol.AppSubject{Scopes: []protocol.Scope{"root"}}); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("unknown scope: %v", err)
	}
}

func issue(t *testing.T, a *Apps, app protocol.AppID) SignIn {
	t.Helper()
	s, err := a.Issue(t.Context(), app, "http://127.0.0.1/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAccessTokenIsForOneAddressAndOneHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := inMemory(t)
		s := issue(t, a, connect(t, a).ID)
		if _, err := a.access.Verify(t.Context(), s.Access, "http://127.0.0.1/mcp"); err != nil {
			t.Error(err)
		}
		if _, err := a.access.Verify(t.Context(), s.Access, "http://other/mcp"); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("taken elsewhere: %v", err)
		}
		checkRevoked(t, a, s.Refresh)
		time.Sleep(AccessTime)
		checkRevoked(t, a, s.Access)
	})
}

func TestRefreshTokenUsedTwiceRevokesTheApp(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	app := connect(t, a)
	first := issue(t, a, app.ID)
	second, err := a.Refresh(t.Context(), first.Refresh, site, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	a = open(t, dir) // the exchange survived
	if _, err := a.access.Verify(t.Context(), second.Access, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Refresh(t.Context(), first.Refresh, site, "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("used twice: %v", err)
	}
	checkRevoked(t, a, first.Access)
	checkRevoked(t, a, second.Access)
	if _, err := a.Refresh(t.Context(), second.Refresh, site, "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("the next one lives on: %v", err)
	}
	if _, err := a.Issue(t.Context(), app.ID, "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("a revoked app gets tokens: %v", err)
	}
}

func TestRefreshNeverWidens(t *testing.T) {
	a := start(t)
	app := connect(t, a)
	s := issue(t, a, app.ID)
	if _, err := a.Refresh(t.Context(), s.Refresh, "https://thief.example", "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("another client: %v", err)
	}
	if _, err := a.Refresh(t.Context(), s.Refresh, site, "http://other/mcp", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("another address: %v", err)
	}
	if _, err := a.Refresh(t.Context(), s.Refresh, site, "", []protocol.Scope{protocol.ScopeFilesWrite}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("another scope: %v", err)
	}
	if _, err := a.Refresh(t.Context(), s.Access, site, "", nil); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("an access token: %v", err)
	}
	narrower, err := a.Refresh(t.Context(), s.Refresh, site, "", read)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.access.Verify(t.Context(), narrower.Access, "")
	if err != nil || p.Has(protocol.ScopeShell) || !p.Has(protocol.ScopeFilesRead) {
		t.Errorf("got %+v, error %v, want reading alone", p, err)
	}
	if _, err := a.Refresh(t.Context(), narrower.Refresh, site, "", []protocol.Scope{protocol.ScopeShell}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("it widens again: %v", err)
	}
}

func TestAnAppRevokesOnlyItsOwnTokens(t *testing.T) {
	a := start(t)
	s := issue(t, a, connect(t, a).ID)
	personal := token(t, a, protocol.TokenCreateParams{Name: "x", Scopes: read})
	for _, c := range []struct{ token, client string }{{s.Refresh, "other"}, {personal.Token, ""}, {"unknown", site}} {
		if err := a.RevokeToken(t.Context(), c.token, c.client); err != nil {
			t.Error(err)
		}
	}
	for _, bearer := range []string{s.Access, personal.Token} {
		if _, err := a.access.Verify(t.Context(), bearer, ""); err != nil {
			t.Errorf("revoked by another one: %v", err)
		}
	}
	if err := a.RevokeToken(t.Context(), s.Access, site); err != nil {
		t.Fatal(err)
	}
	checkRevoked(t, a, s.Access)
	again, err := a.Refresh(t.Context(), s.Refresh, site, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.RevokeToken(t.Context(), again.Refresh, site); err != nil {
		t.Fatal(err)
	}
	checkRevoked(t, a, again.Access)
}

func TestExpiredTokensAreDeleted(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	app := connect(t, a)
	old := store.AppToken{Hash: "h", App: app.ID, Kind: store.TokenAccess, ExpiresAt: 1}
	if err := a.access.store.Apply(t.Context(), store.AppChange{Tokens: []store.AppToken{old}}); err != nil {
		t.Fatal(err)
	}
	a = open(t, dir)
	if _, tokens, _ := a.access.store.List(t.Context()); len(tokens) != 0 {
		t.Errorf("got stored %+v, want no tokens", tokens)
	}
}

func TestRefusedQuestionsDoNotGoOnWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := inMemory(t)
		refused := 0
		for ; refused < 100; refused++ {
			c, _, err := a.Ask(t.Context(), protocol.AppSubject{Scopes: read})
			if err != nil {
				break
			}
			deny(t, a, c)
		}
		if refused != questionBurst {
			t.Errorf("got %d questions in a row, want %d", refused, questionBurst)
		}
		time.Sleep(questionEvery)
		if _, _, err := a.Ask(t.Context(), protocol.AppSubject{Scopes: read}); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}
