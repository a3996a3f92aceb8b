package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// commandRules returns the deny rules that the machine enforces against everything that a command
// runs. Not included are rules that hold in one folder only, and paths that contain the workspace: a
// command could not run there.
func (fm *fileMatcher) commandRules() *protocol.CommandRules {
	var c protocol.CommandRules
	for _, r := range fm.set.rules {
		if r.Verdict != Deny || r.cwd != "" {
			continue
		}
		if r.path != nil && fm.appliesToAny(r, reading) {
			c.Hidden = append(c.Hidden, fm.absolute(r)...)
		}
		if r.path != nil && fm.appliesToAny(r, writing) {
			c.ReadOnly = append(c.ReadOnly, fm.absolute(r)...)
		}
		if r.path == nil && len(r.Argv) > 0 && !r.argv[0].rest && fm.rules.applies(r, "Bash") {
			c.Programs = append(c.Programs, r.Argv)
		}
	}
	if len(c.Hidden)+len(c.ReadOnly)+len(c.Programs) == 0 {
		return nil
	}
	return &c
}

// absolute returns the pattern of a rule with the folder to which it is relative. A folder with
// everything in it is the folder.
func (fm *fileMatcher) absolute(r *rule) []string {
	start := r.path.start(fm.resolver.places.root, fm.resolver.places.home)
	parts := r.path.parts
	if n := len(parts) - 1; n > 0 && parts[n] == "**" {
		parts = parts[:n]
	}
	fixed := path.Join(append([]string{start}, parts[:min(r.path.fixedParts(), len(parts))]...)...)
	whole := fixed == path.Join(append([]string{start}, parts...)...)
	if start == "" || whole && isIn(fm.resolver.places.root, fm.resolver.places.realPath(fixed)) || slices.Contains(parts[:1], "**") && len(parts) == 1 {
		return nil
	}
	if start != "/" {
		start = literal.Replace(start)
	}
	return []string{strings.TrimSuffix(start, "/") + "/" + strings.Join(parts, "/")}
}
