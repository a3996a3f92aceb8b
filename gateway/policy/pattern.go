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

// leavesFolder reports whether a word that the pattern matches leaves the pattern's folder: docs/*
// does not mean docs/../x, and *.tmp does not mean /etc/x.tmp. A star alone matches any word.
func (g glob) leavesFolder(s string) bool {
	if len(g.parts) == 1 || g.any() {
		return false
	}
	if g.parts[0] == "" && s != "" && (isAbs(s) || s[0] == '~') {
		return true
	}
	return parentCount(s) > parentCount(strings.Join(g.parts, "*"))
}

// parentCount returns how many levels a path goes up.
func parentCount(s string) (n int) {
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

// matchesPath compares a strict pattern with a word; a path is compared as written and in clean
// form.
func (g glob) matchesPath(s string) bool {
	return g.match(s) || strings.Contains(s, "/") && g.match(path.Clean(s))
}
