package approval

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestDefaultsAllowReadingInsideAndAskForTheRest(t *testing.T) {
	rules := config.Default().ToolApproval
	in, out := &protocol.CallPreview{Path: "/w/a"}, &protocol.CallPreview{Path: "/etc/x", Outside: true}
	for _, c := range []struct {
		name string
		r    policy.Request
		want policy.Verdict
	}{
		{"read inside", policy.Request{Effect: protocol.EffectRead, Preview: in}, policy.Allow},
		{"read outside", policy.Request{Effect: protocol.EffectRead, Preview: out}, policy.Ask},
		{"read of what is the person's alone", policy.Request{Effect: protocol.EffectRead, Preview: &protocol.CallPreview{Personal: true}}, policy.Ask},
		{"read of an unknown place", policy.Request{Effect: protocol.EffectRead}, policy.Ask},
		{"write inside", policy.Request{Effect: protocol.EffectWrite, Preview: in}, policy.Ask},
		{"command", policy.Request{Effect: protocol.EffectExec, Preview: in}, policy.Ask},
		{"network", policy.Request{Effect: protocol.EffectNetwork, Preview: in}, policy.Ask},
		{"unknown tool", policy.Request{Preview: in}, policy.Ask},
		{"facts about the machine", policy.Request{Bare: "net_dns", Effect: protocol.EffectRead}, policy.Allow},
		{"facts, but with an effect", policy.Request{Bare: "net_dns", Effect: protocol.EffectExec}, policy.Ask},
		{"a server's tool of that name", policy.Request{Bare: "x__net_dns", Own: "net_dns", Server: "x", Effect: protocol.EffectRead}, policy.Ask},
		{"own command", policy.Request{Effect: protocol.EffectExec, Preview: in, Direct: true}, policy.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := rulesOf(t, rules).Decide(t.Context(), c.r); d.Verdict != c.want || d.Reason == "" {
				t.Errorf("%s: %+v, want %s", c.name, d, c.want)
			}
		})
	}
}

// TestARuleForAnAgentConcernsOnlyThatAgent reads the agent from the key of the chat.
func TestARuleForAnAgentConcernsOnlyThatAgent(t *testing.T) {
	t.Parallel()
	set, _, err := policy.New(policy.File{Default: policy.Ask, Rules: []policy.Rule{
		{Tool: "Bash", Agent: "builder", Argv: []string{"make"}, Verdict: policy.Allow},
		{Tool: "Bash", Agent: "guest", Argv: []string{"ls"}, Verdict: policy.Deny},
		{Tool: "Bash", Argv: []string{"ls"}, Verdict: policy.Allow},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		session protocol.SessionKey
		command string
		want    policy.Verdict
	}{
		{"allowed agent", "agent:builder:main", "make", policy.Allow},
		{"another agent", "agent:guest:main", "make", policy.Ask},
		{"default agent", protocol.MainSession, "make", policy.Ask},
		{"denied agent", "agent:guest:main", "ls", policy.Deny},
		{"agent that no deny rule names", "agent:builder:main", "ls", policy.Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"command": c.command})
			if err != nil {
				t.Fatal(err)
			}
			q := policy.Request{Bare: "Bash", Node: "n", Effect: protocol.EffectExec, Session: c.session, Args: args, Preview: &protocol.CallPreview{Folder: "/w", Shell: "bash"}}
			if got := set.Decide(q.Call()); got.Verdict != c.want {
				t.Errorf("got %s (%s), want %s", got.Verdict, got.Reason, c.want)
			}
		})
	}
}

func TestKeysInTheWorkspaceAskLikeFilesOutside(t *testing.T) {
	key := &protocol.CallPreview{Path: "/home/ann/.ssh/id_ed25519", Secret: "~/.ssh"}
	host := &protocol.HostInfo{Workspace: "/home/ann", Home: "/home/ann"}
	read := policy.Request{Tool: "laptop__Read", Node: "laptop", Bare: "Read", Effect: protocol.EffectRead, Host: host, Preview: key, Args: json.RawMessage(`{"path":".ssh/id_ed25519"}`)}
	pass := read
	pass.Tool, pass.Bare, pass.Effect = "laptop__Write", "Write", protocol.EffectWrite
	pass.Preview, pass.Args = &protocol.CallPreview{Path: "/home/ann/.password-store/x.gpg", Secret: "~/.password-store"}, json.RawMessage(`{"path":".password-store/x.gpg"}`)
	with := func(r policy.Request, edit func(*policy.Request)) policy.Request {
		edit(&r)
		return r
	}
	trusted := protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
	const floor = "Changes x.gpg, which holds passwords, tokens or private data (pass, gopass, LastPass and rbw)"
	byRule := config.Default().ToolApproval
	byRule.Rules = []config.ToolRule{{ID: "key", Tool: "laptop__Read", Decision: "allow", When: []config.ToolWhen{{Path: "path", Op: "equals", Value: ".ssh/id_ed25519"}}}}
	for _, c := range []struct {
		name  string
		rules config.ToolApproval
		r     policy.Request
		want  policy.Verdict
		why   string
	}{
		{"read", config.Default().ToolApproval, read, policy.Ask, "Reads passwords, keys or tokens: ~/.ssh"},
		{"write", config.Default().ToolApproval, pass, policy.Ask, floor},
		{"accepted edit", config.Default().ToolApproval, with(pass, func(r *policy.Request) { r.Mode.Mode = protocol.ModeAcceptEdits }), policy.Ask, floor},
		{"accepted edit beside it", config.Default().ToolApproval, with(pass, func(r *policy.Request) {
			r.Mode.Mode, r.Preview, r.Args = protocol.ModeAcceptEdits, &protocol.CallPreview{Path: "/home/ann/a"}, json.RawMessage(`{"path":"a"}`)
		}), policy.Allow, ""},
		{"read in a chat that is trusted", config.Default().ToolApproval, with(read, func(r *policy.Request) { r.Mode = trusted }), policy.Allow, ""},
		{"own read", config.Default().ToolApproval, with(read, func(r *policy.Request) { r.Direct = true }), policy.Allow, ""},
		{"read that a rule names", byRule, read, policy.Allow, ""},
		{"read that the chat may", config.Default().ToolApproval, with(read, func(r *policy.Request) {
			match, _, _ := read.SessionMatch()
			r.Grants = []policy.SessionGrant{{Node: "laptop", Tool: "Read", Match: match}}
		}), policy.Allow, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := rulesOf(t, c.rules).Decide(t.Context(), c.r); d.Verdict != c.want || c.why != "" && d.Reason != c.why {
				t.Errorf("%s: %+v, want %s, %q", c.name, d, c.want, c.why)
			}
		})
	}
}

// TestStartUpFileIsKnownByTheNameThatTheCallGives: the file may be a symbolic link to another one,
// and the machine may not report its target.
func TestStartUpFileIsKnownByTheNameThatTheCallGives(t *testing.T) {
	rules := config.Default().ToolApproval
	rules.Rules = []config.ToolRule{{ID: "all", Tool: "*", Decision: "allow"}}
	r := policy.Request{
		Tool: "laptop__Write", Node: "laptop", Bare: "Write", Effect: protocol.EffectWrite,
		Host: &protocol.HostInfo{Workspace: "/home/ann", Home: "/home/ann"},
	}
	for args, want := range map[string]policy.Verdict{`{"path":".bashrc"}`: policy.Ask, `{"path":"~/.bashrc"}`: policy.Ask, `{"path":"notes"}`: policy.Allow} {
		t.Run(args, func(t *testing.T) {
			r.Args = json.RawMessage(args)
			for name, preview := range map[string]*protocol.CallPreview{"link": {Path: "/home/ann/dotfiles/bash"}, "no preview": nil} {
				r.Preview = preview
				if d := rulesOf(t, rules).Decide(t.Context(), r); d.Verdict != want || d.Floor != (want == policy.Ask) {
					t.Errorf("%s, %s: got %s, floor %v (%s), want %s", name, args, d.Verdict, d.Floor, d.Reason, want)
				}
			}
		})
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
		want       policy.Verdict
	}{
		{"laptop__Bash", `{"command":"rm -rf x"}`, false, policy.Deny},
		{"laptop__Bash", `{"command":"rm -rf x"}`, true, policy.Deny},
		{"laptop__Bash", `{"command":"git status"}`, false, policy.Allow},
		{"laptop__Bash", `{"command":"git push"}`, false, policy.Ask},
		{"laptop__Write", `{"path":"notes.md"}`, false, policy.Allow},
		{"tower__Write", `{"path":"notes.md"}`, false, policy.Ask},
		{"x__Y", `{"a":[0,{"b":"aZc"}],"n":1}`, false, policy.Allow},
		{"x__Y", `{"a":[0,{"b":"aZc"}],"n":2}`, false, policy.Ask},
		{"x__Y", `{"a":[0]}`, false, policy.Ask},
		{"laptop__Bash", `not json`, false, policy.Ask},
	} {
		d := rulesOf(t, rules).Decide(t.Context(), policy.Request{Tool: protocol.ToolName(c.tool), Effect: protocol.EffectExec, Args: json.RawMessage(c.args), Preview: &protocol.CallPreview{}, Direct: c.direct})
		if d.Verdict != c.want {
			t.Errorf("%s %s: %+v, want %s", c.tool, c.args, d, c.want)
		}
	}
}

func TestSessionGrantIsNarrow(t *testing.T) {
	r := policy.Request{Tool: "n__Bash", Node: "n", Bare: "Bash", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"make"}`), Preview: &protocol.CallPreview{Folder: "/w"}}
	match, words, ok := r.SessionMatch()
	if !ok || words == "" {
		t.Fatal("no grant for a command")
	}
	r.Grants = []policy.SessionGrant{{Node: "n", Tool: "Bash", Match: match}}
	if d := rulesOf(t, config.Default().ToolApproval).Decide(t.Context(), r); d.Verdict != policy.Allow {
		t.Errorf("the granted call: got %+v, want it allowed", d)
	}
	for name, edit := range map[string]func(*policy.Request){
		"another command": func(r *policy.Request) { r.Args = json.RawMessage(`{"command":"make; rm x"}`) },
		"another folder":  func(r *policy.Request) { r.Preview = &protocol.CallPreview{Folder: "/"} },
		"another machine": func(r *policy.Request) { r.Node = "m" },
		"another tool":    func(r *policy.Request) { r.Bare = "Process" },
		"more arguments":  func(r *policy.Request) { r.Args = json.RawMessage(`{"command":"make","background":true}`) },
		"no preview":      func(r *policy.Request) { r.Preview = nil },
	} {
		t.Run(name, func(t *testing.T) {
			c := r
			edit(&c)
			if d := rulesOf(t, config.Default().ToolApproval).Decide(t.Context(), c); d.Verdict != policy.Ask {
				t.Errorf("%s passes: %+v, want Verdict Ask", name, d)
			}
		})
	}
	r.Preview.Truncated = true
	if _, _, ok := r.SessionMatch(); ok {
		t.Error("a cut preview can be allowed for the session")
	}
	if !strings.Contains(words, "exactly") {
		t.Errorf(`words = %q, want "exactly" in it`, words)
	}
}

func openStore(t *testing.T) *store.DB {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// rulesOf returns rules from the configuration only.
func rulesOf(t *testing.T, cfg config.ToolApproval) *Rules {
	t.Helper()
	s := openStore(t)
	r, err := OpenRules(t.Context(), s.Rules, s.Grants, RulesOptions{Config: func() config.Config { return config.Config{ToolApproval: cfg} }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
