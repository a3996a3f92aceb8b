package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"fairlead/gateway/peer/shell"
	"fairlead/gateway/protocol"
)

// The machine may have another operating system: paths are handled as text, with slashes.

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || drive(p) && len(p) > 2 && (p[2] == '/' || p[2] == '\\')
}

func clean(p string) string {
	if drive(p) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return path.Clean(p)
}

// relativeTo returns p relative to dir.
func relativeTo(p, dir string) (string, bool) {
	switch dir {
	case "":
		return "", false
	case p:
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// isIn reports whether p is dir or below it.
func isIn(p, dir string) bool {
	_, in := relativeTo(p, dir)
	return in
}

// maybeFolder reports whether a path may be a folder, going by its name.
func maybeFolder(text string) bool {
	return strings.HasSuffix(text, "/") || !fileExtensions[strings.ToLower(path.Ext(text))] || path.Base(text) == path.Ext(text)
}

// fold maps paths that a file system may treat as equal to the same text: it ignores letter case
// and all forms of accents (APFS, HFS+), and the parts that Windows drops at the end of a name:
// dots, blanks and the name of a stream. Only ask and deny rules use it.
func fold(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		s = norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
	}
	parts := strings.Split(strings.ToLower(s), "/")
	for i, p := range parts {
		p = strings.TrimSuffix(p, "::$data")
		if plain := strings.TrimRight(p, ". "); plain != "" {
			parts[i] = plain
		}
	}
	return strings.Join(parts, "/")
}

// shortName matches a short file name of Windows, such as PROGRA~1, with its separators.
var shortName = regexp.MustCompile(`(^|[/\\])[^/\\~. ]{1,7}~[0-9]{1,6}(\.[^/\\. ]{0,3})?([/\\]|$)`)

// expandShortNames replaces short names on Windows by wildcards: only the machine knows the files.
func (p *pathResolver) expandShortNames(w shell.Word) shell.Word {
	if !drive(p.call.Cwd) || w.Dynamic {
		return w
	}
	for range maxFolders { // two adjacent ones share a separator
		wide := shortName.ReplaceAllString(w.Text, "${1}*${3}")
		if wide == w.Text {
			break
		}
		w.Text, w.Glob = wide, true
	}
	return w
}

// processFolder matches Linux's paths of the folders of a process, which may be this one.
var processFolder = regexp.MustCompile(`^/proc/(self|thread-self|[0-9]+)(/task/[0-9]+)?/(cwd|root)(/|$)`)

// withoutProcess resolves a path through such a folder of a process.
func withoutProcess(text string) string {
	full := text
	if rest, ok := strings.CutPrefix(text, "/dev/fd/"); ok {
		full = "/proc/self/fd/" + rest
	}
	if !strings.HasPrefix(full, "/") {
		return text
	}
	full = clean(full)
	m := processFolder.FindStringSubmatch(full)
	switch {
	case m == nil:
		return text
	case m[3] == "cwd":
		return "./" + full[len(m[0]):]
	}
	return "/" + full[len(m[0]):]
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
func (p *pathResolver) realPath(f string) string {
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
func (p *pathResolver) allNames(f string) []string {
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
func (p *pathResolver) match(g *pathGlob, f string, strict bool) bool {
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
func (p *pathResolver) resolvePattern(g *pathGlob) (real pathGlob, ok bool) {
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
func (p *pathResolver) within(g *pathGlob, dir string, open bool) (best certainty) {
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
func (p *pathResolver) mayMeet(g *pathGlob, pattern string) bool {
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
func (p *pathResolver) isExcluded(g *pathGlob, f string) bool {
	return g.outside && isIn(p.realPath(f), p.root)
}

// Folders returns the absolute folders that the rules name, each up to its first wildcard.
func (s *Set) Folders() (list []string) {
	for _, r := range s.rules {
		dir := r.cwd
		if r.path != nil && (r.path.abs || r.path.outside) {
			if dir = strings.Join(r.path.parts[:r.path.fixedParts()], "/"); !drive(dir) {
				dir = "/" + dir
			}
		}
		if dir != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}
