package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

// confined are programs that may be offered with any arguments: builders, test runners, linters and
// formatters. An open rule for them covers only paths in the workspace: with others they would run
// other code, or write to or clear other folders.
var confined = func() map[string]bool {
	m := set("gofumpt bun deno tox rspec rubocop phpunit flake8")
	for _, u := range openOffers {
		m[u[0]] = true
	}
	return m
}()

func guardConfined(c shell.Command, p *place, add func(int, bool, string)) {
	for i, w := range c.Words[1:] {
		if w.Dynamic || strings.Contains(w.Text, "://") {
			continue
		}
		for _, s := range pathsIn(w) {
			if leads(s.Text) && !p.inside(s) {
				add(i+1, false, c.Words[0].Text+" "+short(w.Text)+" is outside the workspace")
				break
			}
		}
	}
}

// pathsIn returns the parts of a word that may be paths: the word itself, the text after an = or a
// colon, and the value of a short option in the same word.
func pathsIn(w shell.Word) []shell.Word {
	list := []shell.Word{w}
	for i := 0; i < len(w.Text); i++ {
		if c := w.Text[i]; c == '=' || c == ':' || c == ',' || c == '@' {
			list = append(list, part(w, w.Text[i+1:]))
		}
	}
	if g := glued(w.Text); g != "" {
		list = append(list, part(w, g))
	}
	return list
}

// leads reports whether a text may be a path that leaves its folder.
func leads(s string) bool {
	switch s {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return false
	}
	return isAbs(s) || strings.HasPrefix(s, "~") || s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/..")
}
