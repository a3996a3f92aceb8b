package policy

import (
	"fmt"

	"fairlead/gateway/protocol"
)

// examples tests a rule against its own examples; it returns the failure, or "".
func (p *rule) examples() string {
	if len(p.Match) == 0 && len(p.NotMatch) == 0 {
		return ""
	}
	alone := *p
	alone.When = nil // an example has no other arguments
	s := &Set{fallback: Ask, allow: map[string][]*rule{}, strict: map[string][]*rule{}}
	s.add(&alone)
	for _, e := range p.Match {
		if !s.decides(&alone, e) {
			return fmt.Sprintf("its example %q does not match", e)
		}
	}
	for _, e := range p.NotMatch {
		if s.decides(&alone, e) {
			return fmt.Sprintf("its counter-example %q matches", e)
		}
	}
	return ""
}

// decides reports whether the rule alone decides an example.
func (s *Set) decides(r *rule, example string) bool {
	c := Call{Tool: "Bash", Cwd: "/srv/app", Command: example}
	if r.cwd != "" {
		c.Cwd = r.cwd
	}
	for _, set := range []struct {
		to   *string
		from string
	}{{(*string)(&c.Node), r.Rule.Node}, {(*string)(&c.Agent), r.Agent}, {(*string)(&c.Session), r.Session}} {
		if set.from != "*" {
			*set.to = set.from
		}
	}
	if c.Node == "" && r.node.literal() {
		c.Node = protocol.NodeID(r.node.parts[0])
	}
	if r.argv == nil && (r.path != nil || !r.tool.match("Bash")) {
		c.Tool, c.Command, c.Paths = "Write", "", []string{example}
		if r.tool.literal() {
			c.Tool = r.tool.parts[0]
		}
		if r.path != nil && r.path.home {
			c.Home = "/home/me"
		}
	}
	c.Now = r.Expires.Add(-1)
	j := s.Decide(c)
	if r.Verdict == Allow {
		return j.Verdict == Allow
	}
	for _, p := range j.Parts {
		if p.Rule == r.ID && p.Verdict == r.Verdict {
			return true
		}
	}
	return false
}
