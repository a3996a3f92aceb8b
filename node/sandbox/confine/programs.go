package confine

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Program is a rule for a program and its arguments, as in the person's rules: a word may have a
// star for any characters, ** at the end stands for any further words, and options may stand
// anywhere. A backslash before a star takes away its meaning.
type Program []string

// Matches reports whether a command line is one of the rule. The program counts by any of its names
// and by the base of its path; argv[0] is ignored.
func (p Program) Matches(names, argv []string) bool {
	if len(p) == 0 || p[0] == "**" || !slices.ContainsFunc(names, p.names) {
		return false
	}
	pattern, words := p[1:], argv[min(1, len(argv)):]
	open := len(pattern) > 0 && pattern[len(pattern)-1] == "**"
	if open {
		pattern = pattern[:len(pattern)-1]
	}
	if slices.ContainsFunc(names, func(n string) bool { return path.Base(n) == "git" }) && len(pattern) > 0 && !strings.HasPrefix(pattern[0], "-") {
		words = gitWords(words)
	}
	return inOrder(pattern, words, open) || inAnyOrder(pattern, words, open)
}

func (p Program) names(name string) bool {
	return matchWord(p[0], name) || matchWord(path.Base(p[0]), path.Base(name)) || strings.EqualFold(path.Base(p[0]), path.Base(name))
}

// gitWords returns the words from the subcommand on.
func gitWords(words []string) []string {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C", w == "-c", w == "--git-dir", w == "--work-tree", w == "--namespace", w == "--exec-path", w == "--config-env":
			i++
		case !strings.HasPrefix(w, "-"):
			return words[i:]
		}
	}
	return nil
}

func inOrder(pattern, words []string, open bool) bool {
	if len(words) < len(pattern) || !open && len(words) > len(pattern) {
		return false
	}
	for i, p := range pattern {
		if !matchWord(p, words[i]) {
			return false
		}
	}
	return true
}

// inAnyOrder compares options in any position. A word after an option may be its value.
func inAnyOrder(pattern, words []string, open bool) bool {
	var plain []string
	for _, p := range pattern {
		if !isOption(p) {
			plain = append(plain, p)
		} else if !slices.ContainsFunc(words, func(w string) bool { return hasOption(p, w) }) {
			return false
		}
	}
	if !open && len(plain) == len(pattern) {
		return false // exactly these words, which inOrder compares
	}
	afterOption := false
	for _, w := range words {
		switch {
		case isOption(w):
		case len(plain) > 0 && matchWord(plain[0], w):
			plain = plain[1:]
		case !afterOption && (len(plain) > 0 || !open):
			return false
		}
		afterOption = isOption(w) && !strings.Contains(w, "=")
	}
	return len(plain) == 0
}

func isOption(w string) bool { return len(w) > 1 && w[0] == '-' }

// hasOption reports whether a word is an option, has it as one letter of several, or gives it a
// value.
func hasOption(option, word string) bool {
	if matchWord(option, word) || strings.HasPrefix(word, option+"=") {
		return true
	}
	isLetter := func(o string) bool { return len(o) > 1 && o[0] == '-' && o[1] != '-' }
	if !isLetter(option) || !isLetter(word) {
		return false
	}
	for _, letter := range option[1:] {
		if !strings.ContainsRune(word[1:], letter) {
			return false
		}
	}
	return true
}

func matchWord(pattern, word string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == word
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && pattern[i+1] == '*':
			i++
			b.WriteString(`\*`)
		case pattern[i] == '*':
			b.WriteString(`.*`)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	return err != nil || re.MatchString(word) // a pattern with invalid bytes refuses
}
