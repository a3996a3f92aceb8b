package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// glob is a prepared word pattern.
type glob struct {
	parts []string // the texts between the stars; one part means literal
	rest  bool     // ** at the end of argv
}

func (g glob) literal() bool { return !g.rest && len(g.parts) == 1 }
func (g glob) any() bool     { return !g.rest && len(g.parts) == 2 && g.parts[0] == "" && g.parts[1] == "" }

// open reports whether a pattern starts with a star but restricts the rest.
func (g glob) open() bool { return !g.rest && len(g.parts) > 1 && g.parts[0] == "" && !g.any() }

func parseGlob(s string) (g glob, err error) {
	if strings.Contains(s, "***") {
		return g, errors.New("has more than two stars in a row")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '*':
			b.WriteByte('*')
			i++
		case s[i] == '*':
			for i+1 < len(s) && s[i+1] == '*' {
				i++
			}
			g.parts = append(g.parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	g.parts = append(g.parts, b.String())
	if len(g.parts) > 9 {
		return g, errors.New("has more than 8 stars")
	}
	return g, nil
}

func (g glob) match(s string) bool {
	if len(g.parts) == 1 {
		return s == g.parts[0]
	}
	if !strings.HasPrefix(s, g.parts[0]) {
		return false
	}
	s = s[len(g.parts[0]):]
	last := len(g.parts) - 1
	for _, p := range g.parts[1:last] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, g.parts[last])
}

// strays reports whether a word that the pattern matches leaves the pattern's folder: docs/* does
// not mean docs/../x, and *.tmp does not mean /etc/x.tmp. A star alone matches any word.
func (g glob) strays(s string) bool {
	if len(g.parts) == 1 || g.any() {
		return false
	}
	if g.parts[0] == "" && s != "" && (isAbs(s) || s[0] == '~') {
		return true
	}
	return ups(s) > ups(strings.Join(g.parts, "*"))
}

// ups returns how many levels a path goes up.
func ups(s string) (n int) {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '/' || r == '\\' || r == '=' || r == ':' || r == ',' }) {
		if part == ".." {
			n++
		}
	}
	return n
}

func parseArgv(argv []string, v Verdict) ([]glob, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("argv is empty: it needs at least the program's name")
	}
	list := make([]glob, len(argv))
	for i, s := range argv {
		if s == "**" {
			if i != len(argv)-1 {
				return nil, fmt.Errorf("argv has ** at place %d: it may only stand at the end", i+1)
			}
			list[i].rest = true
			continue
		}
		g, err := parseGlob(s)
		if err != nil {
			return nil, fmt.Errorf("argv pattern %q %w", s, err)
		}
		list[i] = g
	}
	if v == Allow && !list[0].literal() {
		return nil, fmt.Errorf("argv starts with %q: an allow must name its program", argv[0])
	}
	return list, nil
}

// meets compares a strict pattern with a word; a path is compared as written and in clean form.
func (g glob) meets(s string) bool {
	return g.match(s) || strings.Contains(s, "/") && g.match(path.Clean(s))
}

// pathGlob is a prepared path pattern.
type pathGlob struct {
	outside bool // absolute, outside the workspace
	abs     bool // absolute, wherever the workspace is
	home    bool
	parts   []string
	low     []string // parts in lower case
}

func parsePath(s string) (pathGlob, error) {
	var g pathGlob
	rest := s
	switch {
	case strings.HasPrefix(s, "!/"):
		g.outside, rest = true, s[2:]
	case strings.HasPrefix(s, "~/"):
		g.home, rest = true, s[2:]
	case strings.HasPrefix(s, "/"):
		g.abs, rest = true, s[1:]
	case drive(s) && isAbs(s): // of Windows
		g.abs, rest = true, strings.ReplaceAll(s, `\`, "/")
	case s == "" || strings.HasPrefix(s, "!"):
		return g, fmt.Errorf("path %q is no path pattern", s)
	}
	g.parts = strings.Split(strings.TrimPrefix(rest, "./"), "/")
	g.low = strings.Split(fold(strings.Join(g.parts, "/")), "/")
	for _, p := range g.parts {
		if p == ".." || p == "" && len(g.parts) > 1 {
			return g, fmt.Errorf("path %q has an empty or .. part", s)
		}
		if p == "**" {
			continue
		}
		if _, err := path.Match(p, ""); err != nil || strings.Contains(p, "**") {
			return g, fmt.Errorf("path %q: %q is no pattern for one part (** must stand alone between slashes)", s, p)
		}
	}
	return g, nil
}

// match compares the pattern with an absolute, clean path with slashes. With strict, names that
// file systems may treat as equal are equal, see fold, and every folder may be the home folder if
// that is unknown; this is for ask and deny rules.
func (g pathGlob) match(abs, root, home string, strict bool) bool {
	if _, surely := below(abs, root); surely && g.outside {
		return false
	}
	if strict {
		abs, root, home = fold(abs), fold(root), fold(home)
	}
	rel, inside := below(abs, root)
	parts := g.parts
	if strict {
		parts = g.low
	}
	switch {
	case g.home && home == "" && strict: // it may be any folder
		rel, parts = strings.TrimPrefix(abs, "/"), append([]string{"**"}, parts...)
	case g.outside:
		rel = strings.TrimPrefix(abs, "/")
	case g.abs:
		rel = strings.TrimPrefix(abs, "/")
	case g.home:
		var ok bool
		if rel, ok = below(abs, home); !ok {
			return false
		}
	case !inside:
		return false
	}
	return mayMatch(parts, rel) && matchParts(parts, strings.Split(rel, "/"))
}

// below returns p relative to dir.
func below(p, dir string) (string, bool) {
	if dir == "" {
		return "", false
	}
	if p == dir {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// mayMatch quickly excludes paths for a pattern that starts with a plain name.
func mayMatch(pattern []string, rel string) bool {
	first := pattern[0]
	if strings.ContainsAny(first, `*?[\`) {
		return true
	}
	rest, ok := strings.CutPrefix(rel, first)
	return ok && (rest == "" || rest[0] == '/')
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return true
			}
			for i := range parts {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); !ok || err != nil {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
