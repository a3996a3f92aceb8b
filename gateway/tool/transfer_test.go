package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"fairlead/gateway/native"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

// transferTool is gsv__Transfer without the transfer.
func transferTool(start func()) tool.Own {
	for _, own := range native.Tools(native.Services{Transfer: func(context.Context, tool.Call, native.TransferIn) (native.TransferOut, error) {
		start()
		return native.TransferOut{}, nil
	}}) {
		if own.Spec.Name == "Transfer" {
			return own
		}
	}
	panic("no Transfer")
}

// TestATransferIsNoWayRoundARuleAboutFiles: in a trusted chat, everything is allowed that no rule
// denies or asks about; rules about files apply to transfers, too.
func TestATransferIsNoWayRoundARuleAboutFiles(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	moved := 0
	g.Registry.Register(transferTool(func() { moved++ }))
	for _, policy := range []string{
		`{"tool":"Read","path":"/srv/secret/**","verdict":"deny"}`,
		`{"tool":"Write","path":"/srv/app/prod.conf","verdict":"deny"}`,
		`{"tool":"Read","path":"/srv/papers/**","verdict":"ask"}`,
		`{"tool":"gsv__ReadFile","verdict":"deny"}`,
	} {
		if _, err := g.rules.Put(t.Context(), "ann", protocol.RulePutParams{Policy: json.RawMessage(policy)}); err != nil {
			t.Fatal(policy, err)
		}
	}
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) {
		s.Prefs.Approvals = &protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	})
	if err != nil {
		t.Fatal(err)
	}
	sub := g.bus.Subscribe()
	defer sub.Close()
	for i, c := range []struct {
		args   string
		want   policy.Verdict
		person policy.Verdict // for the same transfer as the person's direct action
	}{
		{`{"source":"tower:/srv/app/a","destination":"gsv:a"}`, policy.Allow, policy.Allow},
		{`{"source":"tower:/srv/secret/key","destination":"gsv:key"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/app/../secret/key","destination":"gsv:key"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/x","sources":["tower:/srv/app/a","tower:/srv/secret/key"],"destination":"gsv:all/"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv","destination":"gsv:all"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/app/a","destination":"tower:/srv/app/prod.conf"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/prod.conf","destination":"tower:/srv/app/"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/prod.conf","destination":"tower:/srv/app","into":true}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/b","destination":"tower:/srv/app/","into":true}`, policy.Allow, policy.Allow},
		{`{"source":"gsv:MEMORY.md","destination":"tower:/srv/app/m"}`, policy.Deny, policy.Deny},
		{`{"source":"tower:/srv/papers/a","destination":"gsv:a"}`, policy.Ask, policy.Allow},
		{`{"source":"tower:/srv/app/a","destination":"tower:/srv/app/.git/hooks/pre-commit"}`, policy.Ask, policy.Allow}, // the floor
	} {
		for _, direct := range []bool{false, true} {
			want := c.want
			if direct {
				want = c.person
			}
			call := tool.Call{ID: protocol.CallID(fmt.Sprint(i, direct)), Tool: "gsv__Transfer", Args: json.RawMessage(c.args), Session: chat, Direct: direct}
			before := moved
			end := g.do(t.Context(), call)
			if want == policy.Ask {
				q := g.question(sub)
				if len(q.Offers) != 0 || q.Why == "" {
					t.Errorf("%s: asked %q, with %d rules", c.args, q.Why, len(q.Offers))
				}
				g.answer(q, protocol.DecisionDeny, "", "")
			}
			e := within(t, end)
			if e.err != nil || (e.Info.State == protocol.CallDone) != (want == policy.Allow) || (moved > before) != (want == policy.Allow) {
				t.Errorf("%s, direct %v: %s %q %v, want %s", c.args, direct, e.Info.State, e.Content.Text(), e.err, want)
			}
		}
	}
}

func TestATransferOfKeysIsAskedAboutAlsoWhereEditsAreAccepted(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	g.Registry.Register(transferTool(func() {}))
	if _, err := g.store.Sessions.Ensure(t.Context(), chat, 1); err != nil {
		t.Fatal(err)
	}
	_, err := g.store.Sessions.Update(t.Context(), chat, func(s *store.Session) {
		s.Prefs.Approvals = &protocol.ApprovalMode{Mode: protocol.ModeAcceptEdits}
	})
	if err != nil {
		t.Fatal(err)
	}
	args := json.RawMessage(`{"source":"tower:/home/ann/.ssh/id_rsa","destination":"gsv:key"}`)
	if res := g.ask(tool.Call{ID: "a", Tool: "gsv__Transfer", Args: args, Session: chat}, protocol.DecisionDeny, "", ""); res.Info.State != protocol.CallDenied {
		t.Errorf("%+v", res)
	}
}
