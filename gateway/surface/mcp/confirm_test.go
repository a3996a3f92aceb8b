package mcp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// waiting makes calls wait for the owner, who answers when allowed is set.
func (b *bench) waiting(allowed *atomic.Bool) (calls *atomic.Int32) {
	calls = new(atomic.Int32)
	b.answer(func(context.Context, auth.Principal, catalog.Request) (job.Result, error) {
		calls.Add(1)
		if allowed.Load() {
			return job.Result{Data: []byte(`{"done":true}`)}, nil
		}
		return job.Result{}, protocol.NewFault(protocol.FaultApprovalRequired, "not answered yet").With(map[string]string{"call_id": "call_1"})
	})
	return calls
}

func command(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	params := &sdk.CallToolParams{Name: "command", Arguments: map[string]any{}}
	params.SetProgressToken("p")
	r, err := s.CallTool(t.Context(), params)
	if err != nil || len(r.Content) != 1 {
		t.Fatalf("got %+v, error %v, want one content", r, err)
	}
	return r.Content[0].(*sdk.TextContent).Text
}

// person are the options of a client whose person answers every question.
func person(answer func(*sdk.ElicitRequest) string) *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: answer(r), Content: map[string]any{}}, nil
	}}
}

func TestClientAsksThePersonWhetherToWait(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		var allowed atomic.Bool
		calls := b.waiting(&allowed)
		asked := ""
		s := b.connect(t, "all", person(func(r *sdk.ElicitRequest) string {
			asked = r.Params.Message
			allowed.Store(true) // the owner answers in Fairlead
			return "accept"
		}), legacy)
		if got := command(t, s); got != `{"done":true}` || calls.Load() != 2 || !strings.Contains(asked, "command") || !strings.Contains(asked, "in Fairlead") {
			t.Errorf("got %s after %d calls, asked %q, want it done after 2, with a question about the command", got, calls.Load(), asked)
		}
	})
}

func TestAnAppCannotAllowItsOwnCall(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		waits := 0
		b.answer(func(context.Context, auth.Principal, catalog.Request) (job.Result, error) {
			if waits++; waits > 5 { // the question expires
				return job.Result{}, protocol.NewFault(protocol.FaultPermissionDenied, "the owner did not answer")
			}
			return job.Result{}, protocol.NewFault(protocol.FaultApprovalRequired, "not answered yet").With(map[string]string{"call_id": "call_1"})
		})
		asked := 0
		var reports atomic.Int32
		o := person(func(*sdk.ElicitRequest) string { asked++; return "accept" })
		o.ProgressNotificationHandler = func(context.Context, *sdk.ProgressNotificationClientRequest) { reports.Add(1) }
		s := b.connect(t, "all", o, legacy)
		if got := command(t, s); !strings.Contains(got, `"code":"permission_denied"`) || asked != 1 || waits != 6 {
			t.Errorf("got %s, asked %d times, waited %d times, want permission_denied, 1, 6", got, asked, waits)
		}
		polltest.Until(t, "progress for each wait", func() bool { return reports.Load() == 4 })
	})
}

func TestOnlyDeclineGivesTheCallUp(t *testing.T) {
	surfaces(t, func(t *testing.T, b *bench, connect func(o *sdk.ClientOptions) *sdk.ClientSession) {
		var withdrawn []string
		b.withdraw = func(p auth.Principal, id protocol.CallID) (job.Result, error) {
			withdrawn = append(withdrawn, p.Caller()+" "+string(id))
			return job.Result{}, protocol.NewFault(protocol.FaultCanceled, "the call was cancelled")
		}
		for action, want := range map[string]string{"decline": `"code":"canceled"`, "cancel": `"details":{"call_id":"call_1"}`, "": `"details":{"call_id":"call_1"}`} {
			var allowed atomic.Bool
			calls := b.waiting(&allowed)
			withdrawn = nil
			s := connect(person(func(*sdk.ElicitRequest) string { return action }))
			if got := command(t, s); !strings.Contains(got, want) || calls.Load() != 1 {
				t.Errorf("%q: got %s after %d calls, want %s", action, got, calls.Load(), want)
			}
			if gaveUp := len(withdrawn) == 1 && withdrawn[0] == "app_all call_1"; gaveUp != (action == "decline") {
				t.Errorf("%q: got withdrawn %v, want it for decline alone", action, withdrawn)
			}
		}
	})
}

func TestQuestionWithoutAnAnswerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, ask := range map[string]sdk.MethodHandler{
			"never": func(ctx context.Context, _ string, _ sdk.Request) (sdk.Result, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			"an error": func(context.Context, string, sdk.Request) (sdk.Result, error) { return nil, errors.New("no form here") },
		} {
			out, err := askBriefly(ask)(t.Context(), "elicitation/create", nil)
			if r, ok := out.(*sdk.ElicitResult); err != nil || !ok || r.Action != "cancel" {
				t.Errorf("%s: got %+v, %v, want cancel", name, out, err)
			}
		}
	})
}

func TestClientThatCannotAskGetsTheFailure(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		var allowed atomic.Bool
		b.waiting(&allowed)
		for name, o := range map[string]*sdk.ClientOptions{
			"no questions": nil,
			"only addresses": {
				Capabilities:       &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { panic("asked") },
			},
		} {
			if got := command(t, b.connect(t, "all", o, legacy)); !strings.Contains(got, `"code":"approval_required"`) {
				t.Errorf("%s: got %s, want approval_required", name, got)
			}
		}
	})
}

// An app can have tokens with different scopes, whose requests run at the same time.
func TestCallHasTheScopesOfItsToken(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		b.scopes.Store(&map[string][]protocol.Scope{"all": {protocol.ScopeShell}})
		var callers []auth.Principal
		b.answer(func(_ context.Context, p auth.Principal, _ catalog.Request) (job.Result, error) {
			callers = append(callers, p)
			b.mcp.client(auth.App(protocol.App{ID: "app_all", Name: "all", Scopes: protocol.AppScopes})) // a request with the other token
			if len(callers) == 3 {
				return job.Result{Data: []byte(`{}`)}, nil
			}
			return job.Result{}, protocol.NewFault(protocol.FaultApprovalRequired, "not answered yet").With(map[string]string{"call_id": "call_1"})
		})
		s := b.connect(t, "all", person(func(*sdk.ElicitRequest) string { return "accept" }), legacy)
		if got := command(t, s); got != `{}` {
			t.Fatalf("got %s, want {}", got)
		}
		for i, p := range callers {
			if !p.Has(protocol.ScopeShell) || p.Has(protocol.ScopeFilesWrite) {
				t.Errorf("call %d: got the rights %v, want the shell without writing", i+1, p.Scopes)
			}
		}
	})
}
