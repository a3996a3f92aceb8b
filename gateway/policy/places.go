package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// places are the folders of a machine that do not change while a call is decided about, and its
// links between folders.
type places struct {
	root    string // the workspace
	home    string
	aliases []protocol.Alias
}

// newPlaces returns the places of a call. The workspace is empty if the call does not name it.
func newPlaces(c *Call) *places {
	p := &places{aliases: usableAliases(c.Aliases)}
	if c.Home != "" {
		p.home = p.realPath(clean(c.Home))
	}
	if isAbs(c.Root) {
		p.root = p.realPath(clean(c.Root))
	}
	return p
}

// maxNames limits the compared names of one file, and maxAliases the folders with another name.
const (
	maxNames   = 16
	maxAliases = 64
)

// usableAliases returns the usable aliases of a call.
func usableAliases(list []protocol.Alias) (use []protocol.Alias) {
	for _, a := range list[:min(len(list), maxAliases)] {
		if a = (protocol.Alias{Path: clean(a.Path), Folder: clean(a.Folder)}); isAbs(a.Path) && isAbs(a.Folder) && a.Path != a.Folder && a.Path != "/" {
			use = append(use, a)
		}
	}
	return use
}

// realPath returns a clean absolute path with its machine's reported links resolved.
func (p *places) realPath(f string) string {
	for range min(len(p.aliases), maxFolders) {
		was := f
		for _, a := range p.aliases {
			if rest, in := relativeTo(f, a.Path); in {
				f = path.Join(a.Folder, rest)
			}
		}
		if f == was {
			break
		}
	}
	return f
}

// allNames returns all reported names of a file, f first, without those that fold makes equal.
func (p *places) allNames(f string) []string {
	list := []string{f}
	for i := 0; i < len(list) && len(list) < maxNames; i++ {
		for _, a := range p.aliases {
			rest, in := relativeToFolded(list[i], a.Path)
			to := a.Folder
			if !in {
				rest, in = relativeToFolded(list[i], a.Folder)
				to = a.Path
			}
			if name := path.Join(to, rest); in && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// relativeToFolded is relativeTo for paths that are equal after fold.
func relativeToFolded(f, dir string) (rest string, in bool) {
	if rest, in = relativeTo(f, dir); in || !isIn(fold(f), fold(dir)) {
		return rest, in
	}
	return path.Join(strings.Split(f, "/")[strings.Count(dir, "/")+1:]...), true
}

// match reports whether a rule's pattern matches a file. A strict rule matches if any name of the
// file does. An allow rule is resolved first and matches the file's real location, so a link in a
// folder does not extend the rule to files elsewhere.
func (p *places) match(g *pathGlob, f string, strict bool) bool {
	switch {
	case p.isExcluded(g, f):
		return false
	case strict:
		return slices.ContainsFunc(p.allNames(f), func(n string) bool { return g.match(n, p.root, p.home, true) })
	}
	real, ok := p.resolvePattern(g)
	return ok && real.match(p.realPath(f), "", "", false)
}

// resolvePattern returns a pattern with an absolute leading folder without links, if known.
func (p *places) resolvePattern(g *pathGlob) (real pathGlob, ok bool) {
	start := g.start(p.root, p.home)
	if start == "" {
		return real, false
	}
	fixed := g.fixedParts()
	dir := strings.Join(g.parts[:fixed], "/")
	if !g.abs || !drive(dir) {
		dir = start + "/" + dir
	}
	real = pathGlob{abs: true, parts: append(split(literal.Replace(p.realPath(clean(dir)))), g.parts[fixed:]...)}
	real.low = strings.Split(fold(strings.Join(real.parts, "/")), "/")
	return real, true
}

// within is [pathGlob.within] for any name of a folder.
func (p *places) within(g *pathGlob, dir string, open bool) (best certainty) {
	if p.isExcluded(g, dir) {
		return none
	}
	for _, n := range p.allNames(dir) {
		best = max(best, g.within(n, p.root, p.home, open))
	}
	if real, ok := p.resolvePattern(g); ok {
		best = max(best, real.within(p.realPath(dir), "", "", open))
	}
	for _, a := range p.aliases { // a link in the folder may be followed
		if _, in := relativeToFolded(a.Path, dir); in && best == none && (g.match(a.Folder, p.root, p.home, true) || g.within(a.Folder, p.root, p.home, false) != none) {
			best = possible
		}
	}
	return best
}

// mayMeet is [pathGlob.mayMeet] for any name of a shell's pattern.
func (p *places) mayMeet(g *pathGlob, pattern string) bool {
	if p.isExcluded(g, pattern) {
		return false
	}
	if slices.ContainsFunc(p.allNames(pattern), func(n string) bool { return g.mayMeet(n, p.root, p.home) }) {
		return true
	}
	real, ok := p.resolvePattern(g)
	return ok && real.mayMeet(p.realPath(pattern), "", "")
}

// isExcluded reports whether a pattern for files outside the workspace excludes a file inside.
func (p *places) isExcluded(g *pathGlob, f string) bool {
	return g.outside && isIn(p.realPath(f), p.root)
}

// sameAsRoot compares a folder with the workspace's, on Windows ignoring case.
func (p *places) sameAsRoot(dir string) bool {
	return dir == p.root || drive(dir) && strings.EqualFold(dir, p.root)
}

// repository adds the workspace to folders in it, because a repository's files start at its top.
func (p *places) repository(list []string) []string {
	if slices.ContainsFunc(list, func(f string) bool { return f != p.root && isIn(f, p.root) }) {
		return append(slices.Clone(list), p.root)
	}
	return list
}

// isInWorkspace reports whether all folders are in the workspace. Where the machine puts back
// protected files, an archive may be unpacked there, and a patch that the machine has read before.
// Another patch would be applied half-way.
func (p *places) isInWorkspace(list []string) bool {
	isOutside := func(f string) bool { return !isIn(f, p.root) }
	return len(list) > 0 && !slices.ContainsFunc(list, isOutside)
}
