package shell

import (
	"strings"
)

// readings lists other ways to read a text with characters on which shells and parser disagree.
func readings(text string) []string {
	var list []string
	if strings.Contains(text, "\\\n") {
		list = append(list, strings.ReplaceAll(text, "\\\n", "\n"), strings.ReplaceAll(text, "\\\n", ""))
	}
	if strings.Contains(text, "\r") {
		list = append(list, strings.ReplaceAll(text, "\r", "\n"))
	}
	visible := strings.Map(func(r rune) rune {
		if r != '\r' && unseen(r) != "" {
			return -1
		}
		return r
	}, text)
	if visible != text {
		list = append(list, visible)
	}
	return list
}

// guess adds what another reading of the text found, as a guess.
func (f *Facts) guess(g Facts) {
	base := len(f.Commands)
	for _, c := range g.Commands {
		c.Guess = true
		if c.Parent >= 0 {
			c.Parent += base
		}
		f.Commands = append(f.Commands, c)
	}
	for _, r := range g.Redirects {
		r.Guess, r.Command = true, -1
		f.Redirects = append(f.Redirects, r)
	}
	for _, s := range g.Assigns {
		s.Guess, s.Spelled = true, 0
		f.Assigns = append(f.Assigns, s)
	}
	f.Findings = append(f.Findings, g.Findings...)
}

// same reports whether two readings found the same words.
func (f Facts) same(g Facts) bool {
	if len(f.Commands) != len(g.Commands) || len(f.Redirects) != len(g.Redirects) || len(f.Assigns) != len(g.Assigns) ||
		len(f.Findings) != len(g.Findings) {
		return false
	}
	for i, c := range f.Commands {
		if len(c.Words) != len(g.Commands[i].Words) {
			return false
		}
		for j, w := range c.Words {
			o := g.Commands[i].Words[j]
			w.Odd, o.Odd, w.Glob, o.Glob = false, false, false, false // whoever judges sees those of the real shell
			if w != o {
				return false
			}
		}
	}
	for i, r := range f.Redirects {
		if r.Write != g.Redirects[i].Write || r.Path.Text != g.Redirects[i].Path.Text {
			return false
		}
	}
	return true
}
