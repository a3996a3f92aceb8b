package rpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// caller is a connection of a peer, without a socket.
type caller struct{ conn *Conn }

func (c caller) dispatch(ctx context.Context, r protocol.Request) (any, error) {
	return (&request{Request: r, conn: c.conn}).dispatch(ctx)
}

func callerAs(s *Server, p auth.Principal, mode protocol.Mode) caller {
	c := &Conn{server: s, socket: new(socket), feed: &feed{canonical: s.services.Sessions.Canonical, spelling: map[protocol.SessionKey]protocol.SessionKey{}}}
	if mode != "" {
		c.socket.login.Store(&login{protocol.ClientInfo{ID: "x", Mode: mode}, p})
	}
	return caller{c}
}

// TestMethodsNeedTheirMode tries every method with every role of the method table.
func TestMethodsNeedTheirMode(t *testing.T) {
	const params = `"not an object"` // a permitted caller gets this error, and nothing happens
	roles := map[string]struct {
		who  auth.Principal
		mode protocol.Mode
	}{
		"stranger":          {},
		"owner":             {auth.Owner("x"), protocol.ModeClient},
		"node":              {auth.Node("x"), protocol.ModeNode},
		"channel":           {auth.Principal{Kind: "channel"}, protocol.ModeChannel},
		"node as client":    {auth.Node("x"), protocol.ModeClient},
		"owner as node":     {auth.Owner("x"), protocol.ModeNode},
		"paired client":     {auth.Device(protocol.Device{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeInvoke}}), protocol.ModeClient},
		"reader":            {auth.Principal{Kind: "token", Scopes: map[protocol.Scope]bool{protocol.ScopeRead: true}}, protocol.ModeClient},
		"nobody in clothes": {auth.Principal{}, protocol.ModeClient},
	}
	srv := New(newFakes().services())
	defer srv.Close()
	for _, m := range protocol.Methods {
		if m.Name == protocol.Connect.Name {
			continue
		}
		for name, r := range roles {
			t.Run(name, func(t *testing.T) {
				_, err := callerAs(srv, r.who, r.mode).dispatch(t.Context(), protocol.Request{ID: "1", Method: m.Name, Params: []byte(params)})
				allowed := slices.Contains(m.Modes, r.mode) && r.who.Has(m.Right(r.mode))
				switch {
				case r.mode == "":
					if !errors.Is(err, protocol.ErrNotConnected) {
						t.Errorf("%s of a %s: got error %v, want %v", m.Name, name, err, protocol.ErrNotConnected)
					}
				case allowed == errors.Is(err, protocol.ErrForbidden):
					t.Errorf("%s of a %s: got error %v, want allowed %v", m.Name, name, err, allowed)
				}
			})
		}
	}
}

// TestOwnerMethodsAreForTheOwnerOnly checks the table itself: a node or a channel
// may call only the methods for its own work, and tools.list.
func TestOwnerMethodsAreForTheOwnerOnly(t *testing.T) {
	for _, m := range protocol.Methods {
		owners := m.Scope != protocol.ScopeNone && m.Scope != protocol.ScopeNode && m.Scope != "channel"
		if m.Name == protocol.ToolsList.Name {
			if !slices.Equal(m.Modes, []protocol.Mode{protocol.ModeClient, protocol.ModeNode}) {
				t.Errorf("%s: got modes %v, want client and node", m.Name, m.Modes)
			}
			continue
		}
		if owners && !slices.Equal(m.Modes, []protocol.Mode{protocol.ModeClient}) {
			t.Errorf("%s, which needs %s: got modes %v, want client", m.Name, m.Scope, m.Modes)
		}
		end := strings.HasPrefix(m.Name, "transfer.") // a window may also be an end of a transfer
		if m.Scope == protocol.ScopeNode && !slices.Equal(m.Modes, []protocol.Mode{protocol.ModeNode}) && !end {
			t.Errorf("%s, which is a node's: got modes %v, want node", m.Name, m.Modes)
		}
		own := []string{protocol.Connect.Name, "device.leave"} // these affect the caller only
		if m.Scope == protocol.ScopeNone && !slices.Contains(own, m.Name) {
			t.Errorf("%s: got no scope, want one", m.Name)
		}
	}
}

// TestPairedClientReportsOnItsOwnTransfers: it reports on the files that it sends, so it may call
// these methods with the scope to start transfers.
func TestPairedClientReportsOnItsOwnTransfers(t *testing.T) {
	srv := New(newFakes().services())
	defer srv.Close()
	for scope, may := range map[protocol.Scope]bool{protocol.ScopeInvoke: true, protocol.ScopeRead: false} {
		phone := auth.Device(protocol.Device{Role: protocol.RoleClient, Name: "Phone", Scopes: []protocol.Scope{scope}})
		for _, m := range []string{protocol.TransferMeta.Name, protocol.TransferAccept.Name, protocol.TransferComplete.Name, protocol.TransferFinish.Name} {
			_, err := callerAs(srv, phone, protocol.ModeClient).dispatch(t.Context(), protocol.Request{ID: "1", Method: m, Params: []byte(`"x"`)})
			if may == errors.Is(err, protocol.ErrForbidden) {
				t.Errorf("%s with the scope %s: got error %v, want allowed %v", m, scope, err, may)
			}
		}
	}
}

func TestTurningQuestionsOffNeedsTheRightToAnswer(t *testing.T) {
	srv := New(newFakes().services())
	defer srv.Close()
	phone := auth.Device(protocol.Device{Role: protocol.RoleClient, Name: "Phone", Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}})
	for params, allowed := range map[string]bool{
		`{"sessionKey":"main","label":"x"}`:                                 true,
		`{"sessionKey":"main","settings":{"thinkingLevel":"low"}}`:          true,
		`{"sessionKey":"main","settings":{"approvals":{"mode":"trust"}}}`:   false,
		`{"sessionKey":"main","settings":{"approvals":{"mode":"paused"}}}`:  false,
		`{"sessionKey":"main","label":"x","settings":{"approvals":{}}}`:     false,
		`{"sessionKey":"main","settings":{"approvals":{"mode":"ask"}}}`:     false,
		`{"sessionKey":"main","settings":{"approvals":null,"maxTokens":1}}`: true,
	} {
		for who, may := range map[string]bool{"phone": allowed, "owner": true} {
			t.Run(who, func(t *testing.T) {
				p := phone
				if who == "owner" {
					p = auth.Owner("x")
				}
				_, err := callerAs(srv, p, protocol.ModeClient).dispatch(t.Context(), protocol.Request{ID: "1", Method: protocol.SessionPatch.Name, Params: []byte(params)})
				if may == errors.Is(err, protocol.ErrForbidden) {
					t.Errorf("%s by %s: got error %v, want allowed %v", params, who, err, may)
				}
			})
		}
	}
}

func TestResumingATransferNeedsTheRightToStartIt(t *testing.T) {
	f := newFakes()
	srv := New(f.services())
	defer srv.Close()
	tr, err := f.transfers.Start(t.Context(), transfer.Request{TransferStartParams: protocol.TransferStartParams{Sources: []string{"tower:/x"}, Destination: "gsv:SOUL.md", Later: true}})
	if err != nil {
		t.Fatal(err)
	}
	params, _ := protocol.Marshal(protocol.TransferParams{ID: tr.ID})
	for _, m := range []string{protocol.TransferResume.Name, protocol.TransferRetry.Name, protocol.TransferUndo.Name} {
		for scopes, refused := range map[protocol.Scope]bool{protocol.ScopeInvoke: true, protocol.ScopeAdmin: false} {
			phone := auth.Device(protocol.Device{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeInvoke, scopes}})
			_, err := callerAs(srv, phone, protocol.ModeClient).dispatch(t.Context(), protocol.Request{ID: "1", Method: m, Params: params})
			if errors.Is(err, protocol.ErrForbidden) != refused {
				t.Errorf("%s with the scope %s: got error %v, want refused %v", m, scopes, err, refused)
			}
		}
	}
}

// TestGatewayToolsNeedTheRightsOfTheirMethods: a device may not do by a tool or a transfer what
// it may not do by a method.
func TestGatewayToolsNeedTheRightsOfTheirMethods(t *testing.T) {
	srv := New(newFakes().services())
	defer srv.Close()
	const read, chat, admin = protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeAdmin
	invoke := func(tool, args string) string { return fmt.Sprintf(`{"tool":%q,"args":%s}`, tool, args) }
	for _, c := range []struct {
		method, params string
		needs          []protocol.Scope
	}{
		{"tool.invoke", invoke("gsv__ReadFile", `{"path":"USER.md"}`), []protocol.Scope{read}},
		{"tool.invoke", invoke("gsv:ReadFile", `{"path":"USER.md"}`), []protocol.Scope{read}},
		{"tool.invoke", invoke("gsv__WriteFile", `{"path":"SOUL.md","content":"x"}`), []protocol.Scope{admin}},
		{"tool.invoke", invoke("gsv__SessionsList", `{"messageLimit":20}`), []protocol.Scope{read}},
		{"tool.invoke", invoke("gsv__SessionSend", `{"sessionKey":"main","message":"x"}`), []protocol.Scope{chat}},
		{"tool.invoke", invoke("gsv__Cron", `{"action":"list"}`), []protocol.Scope{chat}},
		{"tool.invoke", invoke("gsv__Transfer", `{"source":"gsv:USER.md","destination":"tower:/x"}`), []protocol.Scope{read}},
		{"tool.invoke", invoke("gsv__Transfer", `{"sources":["gsv:USER.md"],"destination":"tower:/x"}`), []protocol.Scope{read}},
		{"tool.invoke", invoke("gsv__Transfer", `{"source":"tower:/x","destination":"gsv:SOUL.md"}`), []protocol.Scope{admin}},
		{"tool.invoke", invoke("gsv__Transfer", `{"source":"tower:/x","destination":"lab:/x"}`), nil},
		{"tool.invoke", invoke("tower__Bash", `{"command":"id"}`), nil},
		{"tool.request", `{"callId":"c","tool":"tower__Bash","sessionKey":"main","args":{}}`, []protocol.Scope{chat}},
		{"tool.request", `{"callId":"c","tool":"gsv__ReadFile","sessionKey":"main","args":{}}`, []protocol.Scope{chat, read}},
		{"transfer.start", `{"sources":["gsv:USER.md"],"destination":"tower:/x"}`, []protocol.Scope{read}},
		{"transfer.start", `{"sources":["tower:/x"],"destination":"gsv:SOUL.md"}`, []protocol.Scope{admin}},
		{"transfer.start", `{"sources":["tower:/x"],"destination":"lab:/x"}`, nil},
	} {
		call := func(scopes ...protocol.Scope) bool {
			phone := auth.Device(protocol.Device{Role: protocol.RoleClient, Name: "Phone", Scopes: append(scopes, protocol.ScopeInvoke)})
			phone.Device = "d"
			_, err := callerAs(srv, phone, protocol.ModeClient).dispatch(t.Context(), protocol.Request{ID: "1", Method: c.method, Params: []byte(c.params)})
			return !errors.Is(err, protocol.ErrForbidden)
		}
		if !call(c.needs...) {
			t.Errorf("%s %s: got a refusal with all scopes, want none", c.method, c.params)
		}
		for i := range c.needs {
			if call(slices.Delete(slices.Clone(c.needs), i, i+1)...) {
				t.Errorf("%s %s: got no refusal without the scope %s, want one", c.method, c.params, c.needs[i])
			}
		}
	}
}

func TestRequestsAreCountedOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bucket{rateLimit: rateLimit{perSecond: 10, burst: 20}}
		take := func() (n int) {
			for b.take(time.Now()) == 0 {
				n++
			}
			return n
		}
		if n := take(); n != 20 {
			t.Errorf("got %d at once, want 20", n)
		}
		wait := b.take(time.Now())
		if wait <= 0 || wait > 100*time.Millisecond {
			t.Errorf("got wait %s, want at most 100ms", wait)
		}
		time.Sleep(wait)
		if n := take(); n != 1 {
			t.Errorf("after the wait: got %d, want 1", n)
		}
		time.Sleep(time.Second)
		if n := take(); n != 10 {
			t.Errorf("after a second: got %d, want 10", n)
		}
		time.Sleep(time.Hour)
		if n := take(); n != 20 {
			t.Errorf("after an hour: got %d, want 20", n)
		}
		none := bucket{}
		for range 100_000 {
			if none.take(time.Now()) != 0 {
				t.Fatal("no limit has one")
			}
		}
	})
}

// patchedChats records who changed a chat.
type patchedChats struct {
	Chats
	by chan string
}

func (p patchedChats) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	p.by <- in.By
	return protocol.OK{OK: true}, nil
}

func TestAuditNamesWhoChangedTheApprovalMode(t *testing.T) {
	got := make(chan string, 1)
	services := newFakes().services()
	services.Sessions.Chats = patchedChats{services.Sessions.Chats, got}
	srv := New(services)
	defer srv.Close()
	p := auth.Owner("desk")
	if _, err := callerAs(srv, p, protocol.ModeClient).dispatch(t.Context(), protocol.Request{
		ID: "1", Method: protocol.SessionPatch.Name,
		Params: []byte(`{"sessionKey":"agent:main:main","by":"somebody else","settings":{"approvals":{"mode":"ask"}}}`),
	}); err != nil {
		t.Fatal(err)
	}
	if by := <-got; by != p.String() {
		t.Errorf("by %q, want %q", by, p)
	}
}
