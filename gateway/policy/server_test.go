package policy

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

// TestAServersClaimRemovesNoQuestion lets an evil server call its tools as the harmless tools of
// machines are called.
func TestAServersClaimRemovesNoQuestion(t *testing.T) {
	set, problems, err := Parse([]byte(`{"rules": [
		{"tool": "Read", "verdict": "allow"}, {"tool": "*", "verdict": "allow", "path": "**"}, {"tool": "*__Write", "verdict": "allow"},
		{"tool": "Bash", "argv": ["ls", "**"], "verdict": "allow"}, {"tool": "good__read_*", "verdict": "allow"}, {"tool": "danger*", "verdict": "deny"}
	]}`))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	p := Policy{Rules: set, Settings: Settings{Default: Ask, Rules: []SettingsRule{{ID: "1", Tool: "*__Glob", Verdict: Allow}, {ID: "2", Tool: "good__list", Verdict: Allow}}}}
	for _, c := range []struct {
		tool    protocol.ToolName
		effect  protocol.Effect
		args    string
		mode    string
		verdict Verdict
	}{
		{"evil__Read", protocol.EffectRead, `{"path": "a.txt"}`, "", Ask},
		{"evil__Write", protocol.EffectWrite, `{"path": "a.txt"}`, protocol.ModeAcceptEdits, Ask},
		{"evil__Bash", protocol.EffectExec, `{"command": "ls"}`, "", Ask},
		{"evil__Glob", protocol.EffectRead, `{}`, "", Ask},
		{"evil__anything", protocol.EffectRead, `{}`, protocol.ModeReadOnly, Deny},
		{"evil__dangerous", protocol.EffectRead, `{}`, "", Deny},
		{"good__read_file", protocol.EffectUnknown, `{}`, "", Allow},
		{"good__write_file", protocol.EffectUnknown, `{}`, "", Ask},
		{"good__list", protocol.EffectUnknown, `{}`, "", Allow},
	} {
		node, bare, _ := c.tool.Split()
		q := Request{
			Tool: c.tool, Node: node, Bare: bare, Effect: c.effect, Args: json.RawMessage(c.args), Preview: &protocol.CallPreview{}, Session: protocol.MainSession,
			Mode: protocol.ApprovalMode{Mode: c.mode}, Server: protocol.ServerName(node),
		}
		d := p.Decide(q)
		if d.Verdict != c.verdict {
			t.Errorf("%s %s in mode %q: %s (%s), want %s", c.tool, c.args, c.mode, d.Verdict, d.Reason, c.verdict)
		}
		if d.Verdict != Ask || bare == "Bash" {
			continue
		}
		// Exactly one rule is offered, which allows exactly this tool.
		if len(d.Offers) != 1 || d.Offers[0].Rule.Tool != string(c.tool) || d.Offers[0].Rule.Argv != nil {
			t.Errorf("%s: offers %+v; want d.Offers of length 1, d.Offers[0].Rule.Tool %v and no d.Offers[0].Rule.Argv", c.tool, d.Offers, string(c.tool))
			continue
		}
		raw, _ := json.Marshal(File{Rules: []Rule{d.Offers[0].Rule}})
		with, problems, err := Parse(raw)
		if err != nil || len(problems) > 0 {
			t.Fatalf("got %v, %v; want no problems and no error", err, problems)
		}
		if d := (Policy{Rules: with}).Decide(q); d.Verdict != Allow {
			t.Errorf("%s is still asked about: %s", c.tool, d.Reason)
		}
		other := q
		other.Tool, other.Node = protocol.NewToolName("other", bare), "other"
		if d := (Policy{Rules: with}).Decide(other); d.Verdict == Allow {
			t.Errorf("the rule for %s allows %s", c.tool, other.Tool)
		}
	}
}
