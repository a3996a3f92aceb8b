package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/tooltest"
)

// appPrincipal returns an app with every scope, and with some machines only if there are any.
func appPrincipal(id protocol.AppID, nodes ...protocol.NodeID) auth.Principal {
	return auth.App(protocol.App{ID: id, Scopes: protocol.AppScopes, Nodes: nodes})
}

// read makes a call of an app that reads a.txt, and returns its ID.
func (g *gateway) read(app auth.Principal) protocol.CallID {
	g.t.Helper()
	r, err := g.Run(g.t.Context(), tool.Call{Tool: "tower__Read", Args: json.RawMessage(`{"path":"a.txt"}`), Principal: app})
	if err != nil || r.IsError {
		g.t.Fatal(r, err)
	}
	return r.Info.CallID
}

func faultCode(err error) protocol.FaultCode {
	if f, ok := errors.AsType[*protocol.Fault](err); ok {
		return f.Code
	}
	return ""
}

func TestStepsAreRecorded(t *testing.T) {
	g := start(t, &tooltest.Machine{Run: func(inv protocol.ToolInvoke, _ <-chan struct{}) (any, error) {
		return map[string]any{"size": 3, "sha256": "sum" + string(inv.Args[6:7])}, nil
	}})
	app := appPrincipal("a")
	id := g.read(app)
	for _, part := range []string{"1", "2"} {
		if _, err := g.Continue(t.Context(), tool.Step{Call: id, Principal: app, Args: json.RawMessage(`{"id":` + part + `}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if c := g.storedCall(id).Continued; c.Steps != 2 || c.Bytes != 6 || c.SHA256 != "sum2" || c.At == 0 {
		t.Errorf("the journal has %+v, want two steps of 3 bytes and the last checksum", c)
	}
	calls := g.tower.Calls()
	if last := calls[len(calls)-1]; last.Tool != "Read" || last.CallID == id || last.Caller == nil || last.Caller.ID != "a" {
		t.Errorf("the machine got %+v, want a call of its own for the app", last)
	}
}

func TestStepNeedsWhatTheCallNeeded(t *testing.T) {
	noScope := appPrincipal("a")
	noScope.Scopes = nil
	app, limited := appPrincipal("a"), appPrincipal("a", "laptop")
	deny := `{"tool":"Read","path":"/home/ann/a.txt","verdict":"deny"}`
	for name, c := range map[string]struct {
		who  auth.Principal
		rule string
		want protocol.FaultCode
	}{
		"the same app":        {app, "", ""},
		"another app":         {appPrincipal("b"), "", protocol.FaultNotFound},
		"the owner":           {auth.Owner("API"), "", protocol.FaultNotFound},
		"without the scope":   {noScope, "", protocol.FaultForbidden},
		"limited to another":  {limited, "", protocol.FaultNotFound},
		"a deny rule":         {app, deny, protocol.FaultPermissionDenied},
		"a rule that asks":    {app, `{"tool":"Read","path":"/home/ann/a.txt","verdict":"ask"}`, protocol.FaultPermissionDenied},
		"a rule for the next": {app, `{"tool":"Read","path":"/home/ann/b.txt","verdict":"deny"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t, &tooltest.Machine{})
			id := g.read(app)
			if c.rule != "" {
				g.rule(c.rule)
			}
			_, err := g.Continue(t.Context(), tool.Step{Call: id, Principal: c.who, Args: json.RawMessage(`{"id":1}`)})
			if faultCode(err) != c.want || (err != nil) != (c.want != "") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			_, err = g.Continue(t.Context(), tool.Step{Call: id, Principal: c.who}) // another look
			if faultCode(err) != c.want {
				t.Errorf("the call again: got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLookFailsWhenThePathLeadsElsewhere(t *testing.T) {
	path := "/home/ann/a.txt"
	g := start(t, &tooltest.Machine{Preview: func(protocol.ToolInvoke) protocol.CallPreview { return protocol.CallPreview{Path: path} }})
	g.rule(`{"tool":"Read","path":"/home/ann/a.txt","verdict":"ask"}`)
	app := appPrincipal("a")
	sub := g.bus.Subscribe()
	defer sub.Close()
	id := make(chan protocol.CallID, 1)
	go func() { id <- g.read(app) }()
	g.answer(g.question(sub), protocol.DecisionAllow, protocol.ScopeOnce, "")
	s := tool.Step{Call: waitResult(t, id), Principal: app}
	if _, err := g.Continue(t.Context(), s); err != nil {
		t.Errorf("the file that the person allowed: %v", err)
	}
	g.rule(`{"tool":"Read","path":"/srv/**","verdict":"ask"}`)
	path = "/srv/other.txt"
	if _, err := g.Continue(t.Context(), s); faultCode(err) != protocol.FaultPermissionDenied {
		t.Errorf("another file: got %v, want permission_denied", err)
	}
}

func TestStepOfAnotherMachineIsRefused(t *testing.T) {
	g := start(t, &tooltest.Machine{})
	app := appPrincipal("a")
	_, err := g.Continue(t.Context(), tool.Step{Call: g.read(app), Principal: app, Node: "laptop", Tool: "Glob", Args: json.RawMessage(`{}`)})
	if !errors.Is(err, tool.ErrNoCall) {
		t.Errorf("got %v, want %v", err, tool.ErrNoCall)
	}
}
