package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// maxNames bounds how many names of one file are looked at, and maxAliases how many folders may have another name.
const (
	maxNames   = 16
	maxAliases = 64
)

// aliased are a call's aliases that can be used.
func aliased(list []protocol.Alias) (use []protocol.Alias) {
	for _, a := range list[:min(len(list), maxAliases)] {
		if a = (protocol.Alias{Path: clean(a.Path), Folder: clean(a.Folder)}); isAbs(a.Path) && isAbs(a.Folder) && a.Path != a.Folder && a.Path != "/" {
			use = append(use, a)
		}
	}
	return use
}

// Real is an absolute path without the links that its machine told of.
func Real(aliases []protocol.Alias, file string) string {
	return (&place{aliases: aliased(aliases)}).real(clean(file))
}

// real is Real for a clean path.
func (p *place) real(f string) string {
	for range min(len(p.aliases), maxFolders) {
		was := f
		for _, a := range p.aliases {
			if rest, in := below(f, a.Path); in {
				f = join(a.Folder, rest)
			}
		}
		if f == was {
			break
		}
	}
	return f
}

// names are all names of a file that the machine told of, f first. What fold takes for the same does not part a folder from its alias.
func (p *place) names(f string) []string {
	if list, ok := p.known[f]; ok {
		return list
	}
	list := []string{f}
	for i := 0; i < len(list) && len(list) < maxNames; i++ {
		for _, a := range p.aliases {
			rest, in := belowFolded(list[i], a.Path)
			to := a.Folder
			if !in {
				rest, in = belowFolded(list[i], a.Folder)
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
	if p.known == nil {
		p.known = map[string][]string{}
	}
	p.known[f] = list
	return list
}

// belowFolded is below for paths that fold takes for the same.
func belowFolded(f, dir string) (rest string, in bool) {
	if rest, in = below(f, dir); in {
		return rest, true
	}
	if _, in = below(fold(f), fold(dir)); !in {
		return "", false
	}
	if parts := strings.Split(f, "/")[strings.Count(dir, "/")+1:]; len(parts) > 0 {
		return strings.Join(parts, "/"), true
	}
	return ".", true
}

// match reports whether a rule's pattern is about a file. A strict one is when any name of the file fits. One that allows is resolved first, and about
// what truly lies there: a link in a folder takes nothing along that lies elsewhere.
func (p *place) match(g *pathGlob, f string, strict bool) bool {
	switch {
	case len(p.aliases) == 0:
		return g.match(f, p.root, p.home, strict)
	case p.spared(g, f):
		return false
	case strict:
		return slices.ContainsFunc(p.names(f), func(n string) bool { return g.match(n, p.root, p.home, true) })
	}
	real, ok := p.resolved(g)
	return ok && real.match(p.real(f), "", "", false)
}

// resolved is a pattern with the folder that it starts from in full and without links; ok is false where nobody knows that folder.
func (p *place) resolved(g *pathGlob) (real pathGlob, ok bool) {
	if real, ok = p.patterns[g]; ok {
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
	full := split(p.real(clean(dir)))
	for i, part := range full {
		full[i] = literal.Replace(part)
	}
	real = pathGlob{abs: true, parts: append(full, g.parts[fixed:]...)}
	real.low = strings.Split(fold(strings.Join(real.parts, "/")), "/")
	if p.patterns == nil {
		p.patterns = map[*pathGlob]pathGlob{}
	}
	p.patterns[g] = real
	return real, true
}

// fixed is how many of a pattern's parts come before the first that is a pattern.
func (g *pathGlob) fixed() int {
	if i := slices.IndexFunc(g.parts, func(part string) bool { return strings.ContainsAny(part, `*?[\`) }); i >= 0 {
		return i
	}
	return len(g.parts)
}

// within is [pathGlob.within] for a folder by whichever of its names.
func (p *place) within(g *pathGlob, dir string, open bool) (best grade) {
	if len(p.aliases) == 0 {
		return g.within(dir, p.root, p.home, open)
	}
	if p.spared(g, dir) {
		return none
	}
	if real, ok := p.resolved(g); ok {
		best = real.within(p.real(dir), "", "", open)
	}
	for _, n := range p.names(dir) {
		best = max(best, g.within(n, p.root, p.home, open))
	}
	for _, a := range p.aliases { // a link in it may be followed
		if _, in := belowFolded(a.Path, dir); in && best == none && (g.match(a.Folder, p.root, p.home, true) || g.within(a.Folder, p.root, p.home, false) != none) {
			best = possible
		}
	}
	return best
}

// mayMeet is [pathGlob.mayMeet] for a shell's pattern by whichever of its names.
func (p *place) mayMeet(g *pathGlob, pattern string) bool {
	if len(p.aliases) == 0 {
		return g.mayMeet(pattern, p.root, p.home)
	}
	if p.spared(g, pattern) {
		return false
	}
	if real, ok := p.resolved(g); ok && real.mayMeet(p.real(pattern), "", "") {
		return true
	}
	return slices.ContainsFunc(p.names(pattern), func(n string) bool { return g.mayMeet(n, p.root, p.home) })
}

// spared reports whether a pattern for what lies outside the workspace is not about a file, because that lies in it.
func (p *place) spared(g *pathGlob, f string) bool {
	if !g.outside {
		return false
	}
	_, in := below(p.real(f), p.root)
	return in
}

// only reports whether all paths are names of one file.
func (p *place) only(paths []string, file string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return p.real(f) != p.real(file) })
}

// Folders are the absolute folders that the rules name, by whichever name, up to what is a pattern in them.
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
