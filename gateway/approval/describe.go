package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// describe returns Words with the person's name of the machine.
func (r *Rules) describe(p policy.Rule) string {
	p.Node = cmp.Or(r.machineName(protocol.NodeID(p.Node)), p.Node)
	return Describe(p)
}

// updateDescription updates the description of a rule for one machine, whose name may have changed.
func (r *Rules) updateDescription(rule *protocol.Rule) {
	var p policy.Rule
	if bytes.Contains(rule.Policy, []byte(`"node":`)) && json.Unmarshal(rule.Policy, &p) == nil {
		rule.Words = r.describe(p)
	}
}

// Describe returns a description of a rule for people.
func Describe(p policy.Rule) string {
	var b strings.Builder
	switch p.Verdict {
	case policy.Allow:
		b.WriteString("Allow ")
	case policy.Deny:
		b.WriteString("Deny ")
	default:
		b.WriteString("Ask about ")
	}
	switch {
	case len(p.Argv) > 0:
		words := p.Argv
		rest := words[len(words)-1] == "**"
		if rest {
			words = words[:len(words)-1]
		}
		b.WriteString(strings.Join(words, " "))
		if rest {
			b.WriteString(" with anything after it")
		}
	case p.Path != "":
		fmt.Fprintf(&b, "%s of %s", p.Tool, p.Path)
	default:
		b.WriteString(p.Tool)
	}
	if n := len(p.When); n == 1 {
		b.WriteString(" under a condition")
	} else if n > 1 {
		fmt.Fprintf(&b, " under %d conditions", n)
	}
	if p.Cwd != "" {
		if dir, below := strings.CutSuffix(p.Cwd, "/**"); below {
			fmt.Fprintf(&b, " in %s and below", dir)
		} else {
			fmt.Fprintf(&b, " in %s", p.Cwd)
		}
	}
	if p.Node != "" && p.Node != "*" {
		fmt.Fprintf(&b, " on %s", p.Node)
	}
	if p.Session != "" && p.Session != "*" {
		b.WriteString(" in this chat")
	}
	if !p.Expires.IsZero() {
		fmt.Fprintf(&b, " until %s", p.Expires.Local().Format("2 January 2006 15:04"))
	}
	return b.String()
}
