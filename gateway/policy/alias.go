package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// maxNames limits the names of one file that are compared, and maxAliases the folders that may have
// another name.
const (
	maxNames   = 16
	maxAliases = 64
)

// aliased returns the usable aliases of a call.
func aliased(list []protocol.Alias) (use []protocol.Alias) {
	for _, a := range list[:min(len(list), maxAliases)] {
		if a = (protocol.Alias{Path: clean(a.Path), Folder: clean(a.Folder)}); isAbs(a.Path) && isAbs(a.Folder) && a.Path != a.Folder && a.Path != "/" {
			use = append(use, a)
		}
	}
	return use
}

// Real returns an absolute path with its machine's reported links resolved.
func Real(aliases []protocol.Alias, file string) string {
	return (&pathResolver{aliases: aliased(aliases)}).realPath(clean(file))
}

// realPath is Real for a clean path.
func (p *pathResolver) realPath(f string) string {
	for range min(len(p.aliases), maxFolders) {
		was := f
		for _, a := range p.aliases {
			if rest, in := relativeTo(f, a.Path); in {
				f = join(a.Folder, rest)
			}
		}
		if f == was {
			break
		}
	}
	return f
}

// allNames returns all names of a file that the machine reported, f first. Names that fold makes
// equal count as the same.
func (p *pathResolver) allNames(f string) []string {
	if list, ok := p.nameCache[f]; ok {
		return list
	}
	list := []string{f}
	for i := 0; i < len(list) && len(list) < maxNames; i++ {
		for _, a := range p.aliases {
			rest, in := relativeToFolded(list[i], a.Path)
			to := a.Folder
			if !in {
				rest, in = relativeToFolded(list[i], a.Folder)
				to = a.Path
			}
			if !in {
				continue
			}
			if name := join(to, rest); !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	if p.nameCache == nil {
		p.nameCache = map[string][]string{}
	}
	p.nameCache[f] = list
	return list
}

// relativeToFolded is relativeTo for paths that are equal after fold.
func relativeToFolded(f, dir string) (rest string, in bool) {
	if rest, in = relativeTo(f, dir); in {
		return rest, true
	}
	if _, in = relativeTo(fold(f), fold(dir)); !in {
		return "", false
	}
	if parts := strings.Split(f, "/")[strings.Count(dir, "/")+1:]; len(parts) > 0 {
		return strings.Join(parts, "/"), true
	}
	return ".", true
}

// match reports whether a rule's pattern matches a file. A strict rule matches if any name of the
// file does. An allow rule is resolved first and matches the file's real location, so a link in a
// folder does not extend the rule to files elsewhere.
func (p *pathResolver) match(g *pathGlob, f string, strict bool) bool {
	switch {
	case len(p.aliases) == 0:
		return g.match(f, p.root, p.home, strict)
	case p.isExcluded(g, f):
		return false
	case strict:
		return slices.ContainsFunc(p.allNames(f), func(n string) bool { return g.match(n, p.root, p.home, true) })
	}
	real, ok := p.resolved(g)
	return ok && real.match(p.realPath(f), "", "", false)
}

// resolved returns a pattern whose leading folder is absolute and without links; ok is false if
// that folder is unknown.
func (p *pathResolver) resolved(g *pathGlob) (real pathGlob, ok bool) {
	if real, ok = p.patternCache[g]; ok {
		return real, true
	}
	fixed := g.fixed()
	dir := strings.Join(g.parts[:fixed], "/")
	switch start := p.root; {
	case g.abs && drive(dir):
	case g.abs, g.outside:
		dir = "/" + dir
	default:
		if g.home {
			start = p.home
		}
		if start == "" {
			return real, false
		}
		dir = start + "/" + dir
	}
	full := split(p.realPath(clean(dir)))
	for i, part := range full {
		full[i] = literal.Replace(part)
	}
	real = pathGlob{abs: true, parts: append(full, g.parts[fixed:]...)}
	real.low = strings.Split(fold(strings.Join(real.parts, "/")), "/")
	if p.patternCache == nil {
		p.patternCache = map[*pathGlob]pathGlob{}
	}
	p.patternCache[g] = real
	return real, true
}

// fixed returns the number of a pattern's parts before the first wildcard.
func (g *pathGlob) fixed() int {
	if i := slices.IndexFunc(g.parts, func(part string) bool { return strings.ContainsAny(part, `*?[\`) }); i >= 0 {
		return i
	}
	return len(g.parts)
}

// within is [pathGlob.within] for any name of a folder.
func (p *pathResolver) within(g *pathGlob, dir string, open bool) (best certainty) {
	if len(p.aliases) == 0 {
		return g.within(dir, p.root, p.home, open)
	}
	if p.isExcluded(g, dir) {
		return none
	}
	if real, ok := p.resolved(g); ok {
		best = real.within(p.realPath(dir), "", "", open)
	}
	for _, n := range p.allNames(dir) {
		best = max(best, g.within(n, p.root, p.home, open))
	}
	for _, a := range p.aliases { // a link in the folder may be followed
		if _, in := relativeToFolded(a.Path, dir); in && best == none && (g.match(a.Folder, p.root, p.home, true) || g.within(a.Folder, p.root, p.home, false) != none) {
			best = possible
		}
	}
	return best
}

// mayMeet is [pathGlob.mayMeet] for any name of a shell's pattern.
func (p *pathResolver) mayMeet(g *pathGlob, pattern string) bool {
	if len(p.aliases) == 0 {
		return g.mayMeet(pattern, p.root, p.home)
	}
	if p.isExcluded(g, pattern) {
		return false
	}
	if real, ok := p.resolved(g); ok && real.mayMeet(p.realPath(pattern), "", "") {
		return true
	}
	return slices.ContainsFunc(p.allNames(pattern), func(n string) bool { return g.mayMeet(n, p.root, p.home) })
}

// isExcluded reports whether a pattern for files outside the workspace does not match a file
// because it is inside.
func (p *pathResolver) isExcluded(g *pathGlob, f string) bool {
	if !g.outside {
		return false
	}
	_, in := relativeTo(p.realPath(f), p.root)
	return in
}

// areOnly reports whether all paths are names of one file.
func (p *pathResolver) areOnly(paths []string, file string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return p.realPath(f) != p.realPath(file) })
}

// Folders returns the absolute folders that the rules name, with all their names, each up to its
// first wildcard.
func (s *Set) Folders() (list []string) {
	for _, r := range s.rules {
		dir := r.cwd
		if r.path != nil && (r.path.abs || r.path.outside) {
			if dir = strings.Join(r.path.parts[:r.path.fixed()], "/"); !drive(dir) {
				dir = "/" + dir
			}
		}
		if dir != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}
