package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

func prepare(r Rule) (*rule, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	p := &rule{Rule: r}
	for _, part := range []func() error{p.prepareTool, p.prepareSubject, p.prepareCwd, p.checkWhen} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	p.reason = p.describe()
	return p, nil
}

// validate refuses a rule without a condition, or with one that is not allowed.
func (r Rule) validate() error {
	switch {
	case r.Verdict == "":
		return errors.New(`verdict is missing: it must be "allow", "ask" or "deny"`)
	case r.Verdict != Allow && r.Verdict != Ask && r.Verdict != Deny:
		return fmt.Errorf("verdict %q %w", r.Verdict, errUnknownVerdict)
	case r.Tool == "":
		return errors.New(`tool is missing: name one, such as "Bash" or "Write"`)
	case r.Source == SourceProject && r.Verdict == Allow:
		return errors.New("a project's rules may ask and deny, not allow")
	}
	return nil
}

// splitTool splits a rule's tool into the machine and the tool.
func (r Rule) splitTool() (node, tool string) {
	if n, t, ok := strings.Cut(r.Tool, "__"); ok && t != "" {
		return n, t
	}
	return "*", r.Tool
}

func (p *rule) prepareTool() (err error) {
	node, tool := p.splitTool()
	var err2 error
	p.node, err = parseGlob(node)
	p.tool, err2 = parseGlob(tool)
	if err != nil || err2 != nil {
		return fmt.Errorf("tool %q is no pattern", p.Tool)
	}
	return nil
}

// prepareSubject prepares the subject of a rule: a command's words or files.
func (p *rule) prepareSubject() (err error) {
	_, tool := p.splitTool()
	if p.Argv != nil {
		if p.argv, err = parseArgv(p.Argv, p.Verdict); err != nil {
			return err
		}
	}
	switch isBash := p.tool.match("Bash"); {
	case p.Argv == nil && p.Path == "":
		if p.Verdict == Allow && isBash {
			return errors.New("an allow for commands needs argv")
		}
		return nil
	case p.Argv != nil && p.Path != "":
		return errors.New("argv and path exclude each other")
	case p.Argv != nil && isBash:
		return nil
	case p.Argv != nil && strings.EqualFold(tool, "Bash"):
		return fmt.Errorf("tool %q: the tool that runs commands is called \"Bash\"", p.Tool)
	case p.Argv != nil:
		return fmt.Errorf("argv is about commands, and %q runs none", p.Tool)
	case p.tool.literal() && tool == "Bash":
		return errors.New(`path is about files: name the tool "Write" or "Read", which also covers what a command redirects to`)
	}
	g, err := parsePath(p.Path)
	p.path = &g
	return err
}

func (p *rule) prepareCwd() error {
	if p.Cwd == "" {
		return nil
	}
	p.cwd = clean(cmp.Or(strings.TrimSuffix(strings.TrimSuffix(p.Cwd, "**"), "/"), "/"))
	p.tree = strings.HasSuffix(p.Cwd, "/**")
	if !isAbs(p.Cwd) || strings.ContainsAny(strings.TrimSuffix(p.Cwd, "/**"), "*?") {
		return fmt.Errorf("cwd %q must be an absolute folder, or one with /** at the end", p.Cwd)
	}
	return nil
}

func (p *rule) checkWhen() error {
	for _, c := range p.When {
		switch c.Op {
		case "equals", "contains", "startsWith":
		case "regex":
			s, ok := c.Value.(string)
			if _, err := regexp.Compile(s); err != nil || !ok {
				return fmt.Errorf("when %s: %v is no regular expression", c.Path, c.Value)
			}
		default:
			return fmt.Errorf("when %s: operator %q is not known", c.Path, c.Op)
		}
	}
	return nil
}

func (g *Grant) check() error {
	g.Tool = cmp.Or(g.Tool, "Bash")
	if g.Scope != "" && g.Scope != protocol.ScopeOnce && g.Scope != protocol.ScopeSession {
		return fmt.Errorf("scope %q is neither once nor session", g.Scope)
	}
	if g.Verdict != "" && g.Verdict != Allow {
		return fmt.Errorf("verdict %q: a grant only allows", g.Verdict)
	}
	n := 0
	for _, set := range []bool{len(g.Argv) > 0, g.Command != "" || len(g.Args) > 0, g.Path != ""} {
		if set {
			n++
		}
	}
	if n != 1 || len(g.Argv) > 0 && g.Argv[0] == "" {
		return errors.New("a grant needs exactly one of argv, command (or args) and path")
	}
	if g.Path == "" && !isAbs(g.Cwd) {
		return fmt.Errorf("cwd %q must be the absolute folder that the grant was given for", g.Cwd)
	}
	if g.Path != "" && !isAbs(g.Path) {
		return fmt.Errorf("path %q must be absolute", g.Path)
	}
	return nil
}

// covers reports whether a grant is for the complete command text and arguments of the call.
func (g Grant) covers(c *Call) bool {
	if g.Command == "" || g.Command != c.Command {
		return false
	}
	if len(g.Args) == 0 {
		return true
	}
	want, err := protocol.Canonical(g.Args)
	have, err2 := protocol.Canonical(c.Args)
	return err == nil && err2 == nil && bytes.Equal(want, have)
}

func isExpired(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

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
	c := Call{
		Tool: "Bash", Cwd: cmp.Or(r.cwd, "/srv/app"), Command: example,
		Node: protocol.NodeID(r.Rule.Node), Agent: protocol.AgentID(r.Agent), Session: protocol.SessionKey(r.Session),
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
