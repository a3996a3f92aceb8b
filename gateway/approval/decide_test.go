package approval

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestDefaultsAllowReadingInsideAndAskForTheRest(t *testing.T) {
	rules := config.Default().ToolApproval
	in, out := &protocol.CallPreview{Path: "/w/a"}, &protocol.CallPreview{Path: "/etc/x", Outside: true}
	for _, c := range []struct {
		name string
		r    Request
		want Verdict
	}{
		{"read inside", Request{Effect: protocol.EffectRead, Preview: in}, Allow},
		{"read outside", Request{Effect: protocol.EffectRead, Preview: out}, Ask},
		{"read of what is the person's alone", Request{Effect: protocol.EffectRead, Preview: &protocol.CallPreview{Personal: true}}, Ask},
		{"read of an unknown place", Request{Effect: protocol.EffectRead}, Ask},
		{"write inside", Request{Effect: protocol.EffectWrite, Preview: in}, Ask},
		{"command", Request{Effect: protocol.EffectExec, Preview: in}, Ask},
		{"network", Request{Effect: protocol.EffectNetwork, Preview: in}, Ask},
		{"unknown tool", Request{Preview: in}, Ask},
		{"own command", Request{Effect: protocol.EffectExec, Preview: in, Direct: true}, Allow},
	} {
		if d := rulesOf(t, rules).Decide(t.Context(), c.r); d.Verdict != c.want || d.Why == "" {
			t.Errorf("%s: %+v, want %s", c.name, d, c.want)
		}
	}
}

func TestKeysInTheWorkspaceAreAskedAboutLikeWhatLiesOutside(t *testing.T) {
	key := &protocol.CallPreview{Path: "/home/ann/.ssh/id_ed25519", Secret: "~/.ssh"}
	host := &protocol.HostInfo{Workspace: "/home/ann", Home: "/home/ann"}
	read := Request{Tool: "laptop__Read", Node: "laptop", Bare: "Read", Effect: protocol.EffectRead, Host: host, Preview: key, Args: json.RawMessage(`{"path":".ssh/id_ed25519"}`)}
	pass := read
	pass.Tool, pass.Bare, pass.Effect = "laptop__Write", "Write", protocol.EffectWrite
	pass.Preview, pass.Args = &protocol.CallPreview{Path: "/home/ann/.password-store/x.gpg", Secret: "~/.password-store"}, json.RawMessage(`{"path":".password-store/x.gpg"}`)
	with := func(r Request, edit func(*Request)) Request {
		edit(&r)
		return r
	}
	trusted := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	const floor = "x.gpg holds passwords, tokens or private data (pass, gopass, LastPass and rbw)"
	byRule := config.Default().ToolApproval
	byRule.Rules = []config.ToolRule{{ID: "key", Tool: "laptop__Read", Decision: "allow", When: []config.ToolWhen{{Path: "path", Op: "equals", Value: ".ssh/id_ed25519"}}}}
	for _, c := range []struct {
		name  string
		rules config.ToolApproval
		r     Request
		want  Verdict
		why   string
	}{
		{"read", config.Default().ToolApproval, read, Ask, "it reads what holds keys and tokens: ~/.ssh"},
		{"write", config.Default().ToolApproval, pass, Ask, floor},
		{"accepted edit", config.Default().ToolApproval, with(pass, func(r *Request) { r.Mode.Mode = protocol.ModeAcceptEdits }), Ask, floor},
		{"accepted edit beside it", config.Default().ToolApproval, with(pass, func(r *Request) {
			r.Mode.Mode, r.Preview, r.Args = protocol.ModeAcceptEdits, &protocol.CallPreview{Path: "/home/ann/a"}, json.RawMessage(`{"path":"a"}`)
		}), Allow, ""},
		{"read in a chat that is trusted", config.Default().ToolApproval, with(read, func(r *Request) { r.Mode = trusted }), Allow, ""},
		{"own read", config.Default().ToolApproval, with(read, func(r *Request) { r.Direct = true }), Allow, ""},
		{"read that a rule names", byRule, read, Allow, ""},
		{"read that the chat may", config.Default().ToolApproval, with(read, func(r *Request) {
			match, _, _ := SessionGrant(read)
			r.Grants = []store.Grant{{Node: "laptop", Tool: "Read", Match: match}}
		}), Allow, ""},
	} {
		if d := rulesOf(t, c.rules).Decide(t.Context(), c.r); d.Verdict != c.want || c.why != "" && d.Why != c.why {
			t.Errorf("%s: %+v, want %s, %q", c.name, d, c.want, c.why)
		}
	}
}

// TestStartUpFileIsKnownByTheNameThatTheCallGives: the file may be a symbolic link to another one,
// and the machine may not report its target.
func TestStartUpFileIsKnownByTheNameThatTheCallGives(t *testing.T) {
	rules := config.Default().ToolApproval
	rules.Rules = []config.ToolRule{{ID: "all", Tool: "*", Decision: "allow"}}
	r := Request{
		Tool: "laptop__Write", Node: "laptop", Bare: "Write", Effect: protocol.EffectWrite,
		Host: &protocol.HostInfo{Workspace: "/home/ann", Home: "/home/ann"},
	}
	for args, want := range map[string]Verdict{`{"path":".bashrc"}`: Ask, `{"path":"~/.bashrc"}`: Ask, `{"path":"notes"}`: Allow} {
		r.Args = json.RawMessage(args)
		for name, preview := range map[string]*protocol.CallPreview{"link": {Path: "/home/ann/dotfiles/bash"}, "no preview": nil} {
			r.Preview = preview
			if d := rulesOf(t, rules).Decide(t.Context(), r); d.Verdict != want || d.Floor != (want == Ask) {
				t.Errorf("%s, %s: got %s, floor %v (%s), want %s", name, args, d.Verdict, d.Floor, d.Why, want)
			}
		}
	}
}

func TestRulesOfTheOriginalDecide(t *testing.T) {
	rules := config.ToolApproval{DefaultDecision: "ask", Rules: []config.ToolRule{
		{ID: "no-rm", Tool: "*__Bash", Decision: "deny", Reason: "never remove", When: []config.ToolWhen{{Path: "command", Op: "regex", Value: `\brm\b`}}},
		{ID: "git", Tool: "*__Bash", Decision: "allow", When: []config.ToolWhen{{Path: "command", Op: "startsWith", Value: "git status"}}},
		{ID: "notes", Tool: "laptop__Write", Decision: "allow", When: []config.ToolWhen{{Path: "path", Op: "equals", Value: "notes.md"}}},
		{ID: "list", Tool: "x__*", Decision: "allow", When: []config.ToolWhen{{Path: "a.1.b", Op: "contains", Value: "Z"}, {Path: "n", Op: "equals", Value: 1.0}}},
		{ID: "bad", Tool: "*", Decision: "allow", When: []config.ToolWhen{{Path: "command", Op: "regex", Value: "("}}},
	}}
	for _, c := range []struct {
		tool, args string
		direct     bool
		want       Verdict
	}{
		{"laptop__Bash", `{"command":"rm -rf x"}`, false, Deny},
		{"laptop__Bash", `{"command":"rm -rf x"}`, true, Deny},
		{"laptop__Bash", `{"command":"git status"}`, false, Allow},
		{"laptop__Bash", `{"command":"git push"}`, false, Ask},
		{"laptop__Write", `{"path":"notes.md"}`, false, Allow},
		{"tower__Write", `{"path":"notes.md"}`, false, Ask},
		{"x__Y", `{"a":[0,{"b":"aZc"}],"n":1}`, false, Allow},
		{"x__Y", `{"a":[0,{"b":"aZc"}],"n":2}`, false, Ask},
		{"x__Y", `{"a":[0]}`, false, Ask},
		{"laptop__Bash", `not json`, false, Ask},
	} {
		d := rulesOf(t, rules).Decide(t.Context(), Request{Tool: protocol.ToolName(c.tool), Effect: protocol.EffectExec, Args: json.RawMessage(c.args), Preview: &protocol.CallPreview{}, Direct: c.direct})
		if d.Verdict != c.want {
			t.Errorf("%s %s: %+v, want %s", c.tool, c.args, d, c.want)
		}
	}
	for pattern, s := range map[string]string{"a*b": "ab", "*": "", "a*b*c": "axxbyyc", "*__Bash": "n__Bash"} {
		if !wildcard(pattern, s) {
			t.Errorf("%q does not match %q", pattern, s)
		}
	}
	for pattern, s := range map[string]string{"a*b": "a", "Bash": "n__Bash", "a*a": "a", "*x": "xy"} {
		if wildcard(pattern, s) {
			t.Errorf("%q matches %q", pattern, s)
		}
	}
}

func TestSessionGrantIsNarrow(t *testing.T) {
	r := Request{Tool: "n__Bash", Node: "n", Bare: "Bash", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"make"}`), Preview: &protocol.CallPreview{Folder: "/w"}}
	match, words, ok := SessionGrant(r)
	if !ok || words == "" {
		t.Fatal("no grant for a command")
	}
	r.Grants = []store.Grant{{Node: "n", Tool: "Bash", Match: match}}
	if d := rulesOf(t, config.Default().ToolApproval).Decide(t.Context(), r); d.Verdict != Allow {
		t.Errorf("the granted call is %+v", d)
	}
	for name, edit := range map[string]func(*Request){
		"another command": func(r *Request) { r.Args = json.RawMessage(`{"command":"make; rm x"}`) },
		"another folder":  func(r *Request) { r.Preview = &protocol.CallPreview{Folder: "/"} },
		"another machine": func(r *Request) { r.Node = "m" },
		"another tool":    func(r *Request) { r.Bare = "Process" },
		"more arguments":  func(r *Request) { r.Args = json.RawMessage(`{"command":"make","background":true}`) },
		"no preview":      func(r *Request) { r.Preview = nil },
	} {
		c := r
		edit(&c)
		if d := rulesOf(t, config.Default().ToolApproval).Decide(t.Context(), c); d.Verdict != Ask {
			t.Errorf("%s passes: %+v", name, d)
		}
	}
	r.Preview.Truncated = true
	if _, _, ok := SessionGrant(r); ok {
		t.Error("a cut preview can be allowed for the session")
	}
	if !strings.Contains(words, "exactly") {
		t.Errorf("words = %q", words)
	}
}

// rulesOf returns rules from the configuration only.
func rulesOf(t *testing.T, cfg config.ToolApproval) *Rules {
	t.Helper()
	_, s := openGate(t)
	r, err := OpenRules(t.Context(), s, RulesOptions{Config: func() config.ToolApproval { return cfg }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
