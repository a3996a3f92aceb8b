package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

func baseName(name string) string { return shell.BaseName(name) }

// certainty is the certainty with which a strict rule matches a command.
type certainty int

const (
	none certainty = iota
	possible
	certain
)

// strictest returns the rule of a strict verdict that matches a command with the highest certainty.
func (ma *matcher) strictest(c shell.Command, v Verdict) (best certainty, match *rule) {
	try := func(list []*rule, g func(*rule) certainty) {
		for _, r := range list {
			if best == certain || r.Verdict != v || r.path != nil || !ma.applies(r, "Bash") {
				continue
			}
			if got := g(r); got > best {
				best, match = got, r
			}
		}
	}
	// tryProgram tries the rules about the program that the words start with.
	tryProgram := func(words []shell.Word, most certainty) {
		if best >= most {
			return
		}
		name := baseName(words[0].Text)
		try(ma.set.strict[name], func(r *rule) certainty { return min(most, strictMatch(r.argv, words)) })
		if plain := unversionedName(name); plain != name && len(ma.set.strict[plain]) > 0 {
			as := slices.Clone(words)
			as[0].Text = plain
			try(ma.set.strict[plain], func(r *rule) certainty { return min(most, strictMatch(r.argv, as)) })
		}
	}
	if !c.Words[0].Dynamic {
		tryProgram(c.Words, certain)
	}
	try(ma.set.anyProgram, func(r *rule) certainty {
		if r.argv == nil {
			return certain
		}
		return strictMatch(r.argv, c.Words)
	})
	if copiers[baseName(c.Words[0].Text)] { // a program under another name is still that program
		for _, w := range c.Words[1:] {
			if system(w.Text) {
				try(ma.set.strict[baseName(w.Text)], func(*rule) certainty { return possible })
			}
		}
	}
	if harmlessWords(c) {
		return best, match
	}
	// The denied words as arguments of an unknown program: it may start them.
	for i := 1; i < len(c.Words); i++ {
		tryProgram(c.Words[i:], possible)
		if text := c.Words[i].Text; strings.ContainsAny(text, " ;|&=:,!") {
			var list []shell.Word
			for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&=()`$\"':,!", r) }) {
				list = append(list, shell.Word{Text: f})
			}
			for k := range list {
				tryProgram(list[k:], possible)
			}
		}
	}
	return best, match
}

func harmlessWords(c shell.Command) bool {
	n := baseName(c.Words[0].Text)
	return !c.Words[0].Dynamic && (dataPrograms[n] || shell.IsLauncher(n) && !complexLaunchers[n])
}

// strictMatch compares a strict rule with a command: the program by its base name, options in any
// position. An unknown word makes the match possible, not certain.
func strictMatch(pattern []wordGlob, words []shell.Word) certainty {
	if pattern[0].rest {
		return certain
	}
	best := certain
	text := words[0].Text
	program, want := baseName(text), pattern[0].first()
	if pattern[0].literal() && !strings.EqualFold(text, want) && program != baseName(want) ||
		!pattern[0].literal() && !pattern[0].match(text) && !pattern[0].match(program) {
		return none
	}
	if strings.ContainsAny(want, `/\`) && text != want {
		best = possible // the rule is about one file of that name
	}
	rest := words[1:]
	if program == "git" && len(pattern) > 1 && !strings.HasPrefix(pattern[1].first(), "-") {
		rest = words[shell.GitSubcommand(words):]
	}
	got := max(strictRest(program, pattern[1:], rest), matchAlias(program, pattern[1:], rest))
	if shorter := withoutCommandGroup(program, rest); got < certain && shorter != nil {
		got = max(got, strictRest(program, pattern[1:], shorter), matchAlias(program, pattern[1:], shorter))
	}
	return min(best, got)
}

// strictRest compares the words after the program by position, and with options anywhere.
func strictRest(name string, pattern []wordGlob, words []shell.Word) certainty {
	open := len(pattern) > 0 && pattern[len(pattern)-1].rest
	if open {
		pattern = pattern[:len(pattern)-1]
	}
	return max(matchInOrder(pattern, words, open), matchAnyOrder(name, pattern, words, open))
}

func matchInOrder(pattern []wordGlob, words []shell.Word, open bool) certainty {
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
		case g.matchesPath(words[i].Text):
		case words[i].Glob || words[i].Ambiguous:
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

func matchAnyOrder(name string, pattern []wordGlob, words []shell.Word, open bool) certainty {
	var flags, plain []wordGlob
	for _, g := range pattern {
		if isFlag(g.first()) {
			flags = append(flags, g)
		} else {
			plain = append(plain, g)
		}
	}
	if !open && len(flags) == 0 {
		return none // the rule wants exactly these words, and they differ
	}
	dynamic := hasDynamic(words)
	best := certain
	for _, f := range flags {
		if hasFlagLike(name, f, words) {
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
		case plain[k].matchesPath(w.Text):
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
