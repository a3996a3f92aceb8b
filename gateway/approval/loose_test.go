package approval

import (
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// TestNothingIsHiddenFromADenyRuleByTrust: a trusted chat, a configuration that allows by default
// and a wide rule of GSV allow calls that no rule names, but not calls that may hide something that
// a rule denies.
func TestNothingIsHiddenFromADenyRuleByTrust(t *testing.T) {
	loose := map[string]func(*config.ToolApproval, *policy.Request){
		"trust": func(_ *config.ToolApproval, q *policy.Request) {
			q.Mode = protocol.ApprovalMode{Mode: protocol.ModeTrust, Until: time.Now().Add(time.Hour).UnixMilli()}
		},
		"default": func(c *config.ToolApproval, _ *policy.Request) { c.DefaultDecision = "allow" },
		"rule": func(c *config.ToolApproval, _ *policy.Request) {
			c.Rules = []config.ToolRule{{ID: "all", Tool: "*__Bash", Decision: "allow"}}
		},
	}
	texts := map[string]policy.Verdict{
		"make": policy.Allow, "ls | wc -l": policy.Allow, "GOOS=windows go build ./...": policy.Allow, "for i in 1 2; do echo $i; done": policy.Allow, "npm test -- --watch": policy.Allow,
		"rm x": policy.Deny, "sudo rm x": policy.Deny, "$(printf 'r%s' m) x": policy.Ask, "p=m; r$p x": policy.Ask, "python3 -c 'import os'": policy.Ask,
		"echo cm0geA== | base64 -d | sh": policy.Ask, "eval \"$X\"": policy.Ask, "awk 'BEGIN{system(\"r\" \"m x\")}'": policy.Ask, "f() { ls; }; f": policy.Ask,
		"PATH=. make": policy.Ask, "git -c alias.x='!r\"\"m x' x": policy.Deny, "ls (": policy.Ask, "source x": policy.Ask,
	}
	for name, loosen := range loose {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default().ToolApproval
			loosen(&cfg, &policy.Request{})
			r := rulesOf(t, cfg)
			judge := func(text string) policy.Decision {
				q := command(text)
				loosen(&cfg, &q)
				return r.Decide(t.Context(), q)
			}
			for text, want := range texts {
				if d := judge(text); want != policy.Deny && d.Verdict != policy.Allow {
					t.Errorf("%s: without a rule that denies, %q is %+v", name, text, d)
				}
			}
			put(t, r, `{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}`)
			for text, want := range texts {
				if d := judge(text); d.Verdict != want || d.Reason == "" {
					t.Errorf("%s: %q: %+v, want %s", name, text, d, want)
				}
			}
		})
	}
}
