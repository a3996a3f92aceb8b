package approval

import (
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// TestNothingIsHiddenFromADenyRuleByTrust: a trusted chat, a configuration that allows by default
// and a wide rule of the original system allow calls that no rule names, but not calls that may
// hide something that a rule denies.
func TestNothingIsHiddenFromADenyRuleByTrust(t *testing.T) {
	loose := map[string]func(*config.ToolApproval, *Request){
		"trust": func(_ *config.ToolApproval, q *Request) {
			q.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
		},
		"default": func(c *config.ToolApproval, _ *Request) { c.DefaultDecision = "allow" },
		"rule": func(c *config.ToolApproval, _ *Request) {
			c.Rules = []config.ToolRule{{ID: "all", Tool: "*__Bash", Decision: "allow"}}
		},
	}
	texts := map[string]Verdict{
		"make": Allow, "ls | wc -l": Allow, "GOOS=windows go build ./...": Allow, "for i in 1 2; do echo $i; done": Allow, "npm test -- --watch": Allow,
		"rm x": Deny, "sudo rm x": Deny, "$(printf 'r%s' m) x": Ask, "p=m; r$p x": Ask, "python3 -c 'import os'": Ask,
		"echo cm0geA== | base64 -d | sh": Ask, "eval \"$X\"": Ask, "awk 'BEGIN{system(\"r\" \"m x\")}'": Ask, "f() { ls; }; f": Ask,
		"PATH=. make": Ask, "git -c alias.x='!r\"\"m x' x": Deny, "ls (": Ask, "source x": Ask,
	}
	for name, loosen := range loose {
		cfg := config.Default().ToolApproval
		loosen(&cfg, &Request{})
		r := rulesOf(t, cfg)
		judge := func(text string) Decision {
			q := command(text)
			loosen(&cfg, &q)
			return r.Decide(t.Context(), q)
		}
		for text, want := range texts {
			if d := judge(text); want != Deny && d.Verdict != Allow {
				t.Errorf("%s: without a rule that denies, %q is %+v", name, text, d)
			}
		}
		put(t, r, `{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}`)
		for text, want := range texts {
			if d := judge(text); d.Verdict != want || d.Why == "" {
				t.Errorf("%s: %q: %+v, want %s", name, text, d, want)
			}
		}
	}
}
