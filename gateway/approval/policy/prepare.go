package policy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

func prepare(r Rule) (*rule, error) {
	if r.Verdict == "" {
		return nil, errors.New(`verdict is missing: it must be "allow", "ask" or "deny"`)
	}
	if r.Verdict != Allow && r.Verdict != Ask && r.Verdict != Deny {
		return nil, fmt.Errorf("verdict %q %w", r.Verdict, errUnknownVerdict)
	}
	if r.Tool == "" {
		return nil, errors.New(`tool is missing: name one, such as "Bash" or "Write"`)
	}
	if r.Source == SourceProject && r.Verdict == Allow {
		return nil, errors.New("a project's rules may ask and deny, not allow")
	}
	p := &rule{Rule: r}
	node, tool := "*", r.Tool
	if n, t, ok := strings.Cut(r.Tool, "__"); ok && t != "" {
		node, tool = n, t
	}
	var err, err2 error
	p.node, err = parseGlob(node)
	p.tool, err2 = parseGlob(tool)
	if err != nil || err2 != nil {
		return nil, fmt.Errorf("tool %q is no pattern", r.Tool)
	}
	if r.Argv != nil {
		if p.argv, err = parseArgv(r.Argv, r.Verdict); err != nil {
			return nil, err
		}
		if r.Path != "" {
			return nil, errors.New("argv and path exclude each other")
		}
		if !p.tool.match("Bash") && strings.EqualFold(tool, "Bash") {
			return nil, fmt.Errorf("tool %q: the tool that runs commands is called \"Bash\"", r.Tool)
		}
		if !p.tool.match("Bash") {
			return nil, fmt.Errorf("argv is about commands, and %q runs none", r.Tool)
		}
	} else if r.Verdict == Allow && p.tool.match("Bash") && r.Path == "" {
		return nil, errors.New("an allow for commands needs argv")
	}
	if r.Path != "" {
		if p.tool.literal() && tool == "Bash" {
			return nil, errors.New(`path is about files: name the tool "Write" or "Read", which also covers what a command redirects to`)
		}
		g, err := parsePath(r.Path)
		if err != nil {
			return nil, err
		}
		p.path = &g
	}
	if r.Cwd != "" {
		p.cwd = clean(strings.TrimSuffix(strings.TrimSuffix(r.Cwd, "**"), "/"))
		p.tree = strings.HasSuffix(r.Cwd, "/**")
		if !isAbs(r.Cwd) || strings.ContainsAny(strings.TrimSuffix(r.Cwd, "/**"), "*?") {
			return nil, fmt.Errorf("cwd %q must be an absolute folder, or one with /** at the end", r.Cwd)
		}
	}
	for _, c := range r.When {
		if c.Op == "regex" {
			s, ok := c.Value.(string)
			if _, err := regexp.Compile(s); err != nil || !ok {
				return nil, fmt.Errorf("when %s: %v is no regular expression", c.Path, c.Value)
			}
		} else if !slices.Contains([]string{"equals", "contains", "startsWith"}, c.Op) {
			return nil, fmt.Errorf("when %s: operator %q is not known", c.Path, c.Op)
		}
	}
	p.why = p.says()
	return p, nil
}

func (g *Grant) check() error {
	if g.Tool == "" {
		g.Tool = "Bash"
	}
	if g.Scope != "" && g.Scope != ScopeOnce && g.Scope != ScopeSession {
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

// covers reports whether a grant is for all of a command, with all that is beside it in the call.
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

func expired(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }
