package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// notMatched is the result of an allow rule for a different command.
const notMatched = "The rule is for another command"

// covers compares an allow rule with a command, word by word. no is "" if the rule covers the
// command, else the reason.
func (ma *matcher) covers(r *rule, c shell.Command) (cover coverage, no string) {
	// at: the indexes of the words that the pattern is compared with
	words, at := c.Words, make([]int, 0, len(c.Words))
	from := 0
	if r.argv[len(r.argv)-1].rest && !strings.HasPrefix(secondWord(r.argv), "-") {
		from = ma.leadingCount(c)
	}
	at = append(at, 0)
	for i := 1; i < len(words); i++ {
		if i > from {
			at = append(at, i)
		}
	}
	cover.named = make([]bool, len(words))
	cover.exact = true
	pattern := r.argv
	open := pattern[len(pattern)-1].rest
	if open {
		pattern = pattern[:len(pattern)-1]
		cover.exact = false
	}
	if len(at) < len(pattern) || !open && len(at) > len(pattern) {
		return cover, notMatched
	}
	for i, g := range pattern {
		w := words[at[i]]
		if w.Dynamic || w.Ambiguous {
			if g.any() {
				return cover, unknownValue(w)
			}
			return cover, notMatched
		}
		if !g.match(w.Text) || g.open() && isFlag(w.Text) && i > 0 && !isFlag(words[at[i]-1].Text) {
			return cover, notMatched // *.tmp means names, not the option -rf.tmp
		}
		if !w.Plain() {
			return cover, unknownValue(w)
		}
		if g.leavesFolder(w.Text) {
			return cover, shorten(w.Text) + " is outside the folder that the rule names"
		}
		cover.named[at[i]] = g.literal()
		cover.exact = cover.exact && g.literal()
	}
	name, ended := baseName(words[0].Text), false
	for _, i := range at[:len(pattern)] {
		ended = ended || i > 0 && words[i].Text == "--"
	}
	for _, i := range at[len(pattern):] {
		w := words[i]
		switch {
		case w.Dynamic || w.Ambiguous:
			return cover, unknownValue(w)
		case w.Glob && !ended && !readers[name] && strings.ContainsAny(w.Text[:1], "*?[-^#~"):
			return cover, shorten(w.Text) + " may match a file name that acts as an option; write ./" + shorten(w.Text)
		}
		ended = ended || w.Text == "--"
	}
	h, doubt := ma.missingWord(c, func(at int) bool { return cover.has(at) || at == exactOnly && cover.exact })
	if doubt {
		return cover, h.reason
	}
	return cover, ""
}

// missingWord returns a word that a rule must contain to cover a command, but does not.
func (ma *matcher) missingWord(c shell.Command, spelled func(at int) bool) (guard, bool) {
	hits := guardsOf(c, ma.resolver)
	named := slices.ContainsFunc(hits, func(h guard) bool { return h.goal && spelled(h.at) })
	for _, h := range hits {
		if !spelled(h.at) && (!h.goal || named) {
			return h, true
		}
	}
	return guard{}, false
}

func secondWord(pattern []glob) string {
	if len(pattern) < 2 {
		return ""
	}
	return pattern[1].first()
}

// leadingCount returns the number of words after the program that are harmless options.
func (ma *matcher) leadingCount(c shell.Command) int {
	if c.Name() == "git" {
		return ma.gitLeadingCount(c.Words)
	}
	return leadingOptions(c.Name(), c.Words, ma.resolver)
}

// gitLeadingCount returns the number of git's harmless global options after the program:
// --no-pager, and -C with a folder in the workspace.
func (ma *matcher) gitLeadingCount(words []shell.Word) int {
	i := 1
	for ; i < len(words); i++ {
		if !words[i].Plain() {
			break
		}
		if words[i].Text == "--no-pager" {
			continue
		}
		if words[i].Text == "-C" && i+1 < len(words) && words[i+1].Plain() && ma.resolver.isInside(words[i+1]) {
			i++
			continue
		}
		break
	}
	return i - 1
}

// isInside reports whether a path is certainly in the workspace.
func (p *pathResolver) isInside(w shell.Word) bool {
	list, ok := p.paths(w)
	for _, f := range list {
		_, in := relativeTo(p.realPath(f), p.root)
		ok = ok && in
	}
	return ok && len(list) > 0
}
