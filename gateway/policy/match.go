package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

func base(name string) string { return shell.Base(name) }

// grade is the certainty with which a strict rule matches a command.
type grade int

const (
	none grade = iota
	possible
	certain
)

// against returns the rule of a strict verdict that matches a command with the highest certainty.
func (j *judging) against(c shell.Command, v Verdict) (best grade, found *rule) {
	try := func(list []*rule, g func(*rule) grade) {
		for _, r := range list {
			if best == certain || r.Verdict != v || r.path != nil || !j.applies(r, "Bash") {
				continue
			}
			if got := g(r); got > best {
				best, found = got, r
			}
		}
	}
	whole := func(r *rule) grade {
		if r.argv == nil {
			return certain
		}
		return strictly(r.argv, c.Words)
	}
	if !c.Words[0].Dynamic {
		name := base(c.Words[0].Text)
		try(j.strict[name], whole)
		if plain := otherName(name); plain != "" {
			as := slices.Clone(c.Words)
			as[0].Text = plain
			try(j.strict[plain], func(r *rule) grade { return strictly(r.argv, as) })
		}
	}
	try(j.wide, whole)
	if best == certain {
		return best, found
	}
	if copiers[base(c.Words[0].Text)] { // a program under another name is still that program
		for _, w := range c.Words[1:] {
			if system(w.Text) {
				try(j.strict[base(w.Text)], func(*rule) grade { return possible })
			}
		}
	}
	if harmlessWords(c) {
		return best, found
	}
	// The denied words as arguments of an unknown program: it may start them.
	for i := 1; i < len(c.Words); i++ {
		rest := c.Words[i:]
		try(j.strict[base(rest[0].Text)], func(r *rule) grade { return min(possible, strictly(r.argv, rest)) })
		if plain := otherName(base(rest[0].Text)); plain != "" {
			as := slices.Clone(rest)
			as[0].Text = plain
			try(j.strict[plain], func(r *rule) grade { return min(possible, strictly(r.argv, as)) })
		}
		if strings.ContainsAny(rest[0].Text, " ;|&=:,!") {
			var list []shell.Word
			for _, f := range strings.FieldsFunc(rest[0].Text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&=()`$\"':,!", r) }) {
				list = append(list, shell.Word{Text: f})
			}
			for k := range list {
				try(j.strict[base(list[k].Text)], func(r *rule) grade { return min(possible, strictly(r.argv, list[k:])) })
			}
		}
	}
	return best, found
}

func harmlessWords(c shell.Command) bool {
	n := base(c.Words[0].Text)
	return !c.Words[0].Dynamic && (dataPrograms[n] || shell.Launches(n) && !complexLaunchers[n])
}

// strictly compares a strict rule with a command: the program by its base name, options in any
// position, and git's global options skipped. A word that only the running shell knows makes the
// match possible, not certain.
func strictly(pattern []glob, words []shell.Word) grade {
	if len(words) == 0 {
		return none
	}
	best := certain
	name := words[0]
	if !pattern[0].rest {
		text := name.Text
		if pattern[0].literal() && !strings.EqualFold(text, pattern[0].parts[0]) && base(text) != base(pattern[0].parts[0]) {
			return none
		}
		if !pattern[0].literal() && !pattern[0].match(text) && !pattern[0].match(base(text)) {
			return none
		}
		if strings.ContainsAny(pattern[0].parts[0], `/\`) && text != pattern[0].parts[0] {
			best = possible // the rule is about one file of that name
		}
	} else {
		return certain
	}
	rest := words[1:]
	if base(name.Text) == "git" {
		if i := shell.GitSub(words); i <= len(words) && len(pattern) > 1 && !strings.HasPrefix(pattern[1].parts1(), "-") {
			rest = words[i:]
		}
	}
	program := base(name.Text)
	got := max(strictRest(program, pattern[1:], rest), renamed(program, pattern[1:], rest))
	if shorter := withoutGroup(program, rest); got < certain && shorter != nil {
		got = max(got, strictRest(program, pattern[1:], shorter), renamed(program, pattern[1:], shorter))
	}
	return min(best, got)
}

func (g glob) parts1() string {
	if g.rest || len(g.parts) == 0 {
		return ""
	}
	return g.parts[0]
}

// strictRest compares the words after the program: by position, and with the options in any
// position.
func strictRest(name string, pattern []glob, words []shell.Word) grade {
	open := len(pattern) > 0 && pattern[len(pattern)-1].rest
	if open {
		pattern = pattern[:len(pattern)-1]
	}
	g := inPlace(pattern, words, open)
	if g == certain {
		return g
	}
	return max(g, anyPlace(name, pattern, words, open))
}

func inPlace(pattern []glob, words []shell.Word, open bool) grade {
	best := certain
	for i, g := range pattern {
		switch {
		case i >= len(words):
			if best == possible {
				return possible // an earlier word may expand to several
			}
			return none
		case words[i].Dynamic:
			if !g.any() {
				best = possible
			}
		case g.meets(words[i].Text):
		case words[i].Glob || words[i].Odd:
			best = possible
		default:
			return none
		}
	}
	for _, w := range words[min(len(pattern), len(words)):] {
		if open {
			break
		}
		if !w.Dynamic {
			return none
		}
		best = possible
	}
	return best
}

func anyPlace(name string, pattern []glob, words []shell.Word, open bool) grade {
	var flags, plain []glob
	for _, g := range pattern {
		if isFlag(g.parts1()) {
			flags = append(flags, g)
		} else {
			plain = append(plain, g)
		}
	}
	if !open && len(flags) == 0 {
		return none // the rule wants exactly these words, and they differ
	}
	dynamic := false
	for _, w := range words {
		dynamic = dynamic || w.Dynamic
	}
	best := certain
	for _, f := range flags {
		if givenTo(name, f, words) {
			continue
		}
		if !dynamic {
			return none
		}
		best = possible
	}
	k, after, ended, loose := 0, false, false, false
	for _, w := range words {
		flag := !ended && isFlag(w.Text) && !w.Dynamic
		ended = ended || w.Text == "--" && !w.Dynamic
		switch {
		case flag || w.Text == "--" && !w.Dynamic:
		case k == len(plain):
			if !open && !after {
				return none
			}
		case w.Dynamic:
			best, loose = possible, true
			if plain[k].any() {
				k++
			}
		case plain[k].meets(w.Text):
			k++
		case after || loose:
			best = possible // it may be the value of the option before it
		default:
			return none
		}
		after = flag && !strings.Contains(w.Text, "=")
	}
	if k < len(plain) {
		if dynamic {
			return possible
		}
		return none
	}
	return best
}
