package policy

import (
	"path"
	"strings"

	"fairlead/gateway/policy/shell"
)

func isFlag(s string) bool { return len(s) > 1 && s[0] == '-' }

// hasFlag reports whether the words contain option f: exactly, with a value, abbreviated, or as
// letters of combined options.
func hasFlag(f glob, words []shell.Word) bool { return hasFlagOf("", f, words) }

// hasFlagOf is hasFlag for a program whose short options also match their long names.
func hasFlagOf(name string, f glob, words []shell.Word) bool {
	var letters strings.Builder
	want, own := f.first(), programForms[name]
	for _, w := range words {
		if w.Text == "--" && !w.Dynamic {
			break
		}
		if !isFlag(w.Text) || w.Dynamic {
			continue
		}
		if f.match(w.Text) {
			return true
		}
		if !strings.HasPrefix(w.Text, "--") {
			letters.WriteString(w.Text[1:])
			continue
		}
		opt, value, _ := strings.Cut(w.Text, "=")
		for _, t := range []map[byte]string{commonForms, own} {
			for c, long := range t {
				if len(opt) > 3 && strings.HasPrefix(long, opt) {
					letters.WriteByte(c)
				}
			}
		}
		if wantName, wantValue, valued := strings.Cut(want, "="); f.literal() && len(opt) > 3 && strings.HasPrefix(wantName, opt) &&
			(!valued || value == wantValue) {
			return true
		}
	}
	if !f.literal() || isLongDash(want) {
		return false
	}
	have := letters.String()
	if strings.HasPrefix(want, "--") {
		for _, t := range []map[byte]string{commonForms, own} {
			for c, long := range t {
				if long == want && strings.IndexByte(have, c) >= 0 {
					return true
				}
			}
		}
		return false
	}
	for i := 1; i < len(want); i++ {
		c := want[i]
		if strings.IndexByte(have, c) < 0 && !(c == 'r' && strings.Contains(have, "R")) && !(c == 'R' && strings.Contains(have, "r")) {
			return false
		}
	}
	return true
}

// isLongDash reports whether an option with one dash is a word, such as find's -delete, and not a
// group of letters.
func isLongDash(s string) bool { return len(s) > 4 && s[0] == '-' && s[1] != '-' }

// operands returns the words that are not options; values are the short options whose value is the
// next word.
func operands(words []shell.Word, values string) (list []shell.Word) {
	ended := false
	for i := 0; i < len(words); i++ {
		t := words[i].Text
		switch {
		case ended || !isFlag(t) || words[i].Dynamic:
			list = append(list, words[i])
		case t == "--":
			ended = true
		case len(t) == 2 && strings.Contains(values, t[1:]):
			i++
		}
	}
	return list
}

func hasOption(words []shell.Word, letter byte, long string) bool {
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && w.Text[1] != '-' && strings.IndexByte(w.Text, letter) > 0 || len(name) > 3 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return false
}

// hasLetter is hasOption for options of which some have their value in the same word.
func hasLetter(words []shell.Word, values string, letter byte, long string) bool {
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && w.Text[1] != '-' && strings.IndexByte(leadingLetters(w.Text[1:], values), letter) >= 0 || long != "" && len(name) > 3 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return false
}

// hasWord reports whether one of the options is among the words.
func hasWord(words []shell.Word, list []string) bool {
	for _, w := range words {
		opt, _, _ := strings.Cut(w.Text, "=")
		for _, o := range list {
			if w.Text == o || opt == o {
				return true
			}
		}
	}
	return false
}

func hasLong(words []shell.Word, long string) bool {
	for _, w := range words {
		if w.Text == long {
			return true
		}
	}
	return false
}

func hasBeginning(words []shell.Word, start string) bool {
	for _, w := range words {
		if strings.HasPrefix(w.Text, start) {
			return true
		}
	}
	return false
}

// isPrefixOf reports whether word is an unambiguous prefix of a long option.
func isPrefixOf(long, word string, least int) bool {
	return len(word) >= least && strings.HasPrefix(long, word)
}

// leadingLetters returns the short options in a word, up to the first one with a value.
func leadingLetters(s, values string) string {
	if i := strings.IndexAny(s, values); i >= 0 {
		return s[:i]
	}
	return s
}

// valueOf returns the last value of an option, in any spelling.
func valueOf(words []shell.Word, letter byte, long string) (shell.Word, bool) {
	list := values(words, letter, long)
	if len(list) == 0 {
		return shell.Word{}, false
	}
	return list[len(list)-1], true
}

// values returns all values of an option.
func values(words []shell.Word, letter byte, long string) (list []shell.Word) {
	for i, w := range words {
		t := w.Text
		name, v, cut := strings.Cut(t, "=")
		switch {
		case long != "" && len(name) > 3 && strings.HasPrefix(long, name) && cut:
			list = append(list, shell.Word{Text: v, Dynamic: w.Dynamic, Ambiguous: w.Ambiguous, Tilde: strings.HasPrefix(v, "~")})
		case long != "" && len(name) > 3 && strings.HasPrefix(long, name), letter != 0 && isFlag(t) && t[1] != '-' && t[len(t)-1] == letter:
			if i+1 < len(words) {
				list = append(list, words[i+1])
			}
		case letter != 0 && len(t) > 2 && t[0] == '-' && t[1] == letter:
			list = append(list, shell.Word{Text: t[2:], Dynamic: w.Dynamic, Ambiguous: w.Ambiguous, Tilde: strings.HasPrefix(t[2:], "~")})
		}
	}
	return list
}

// part returns a piece of a word as a word.
func part(w shell.Word, text string) shell.Word {
	return shell.Word{Text: text, Dynamic: w.Dynamic, Ambiguous: w.Ambiguous, Glob: w.Glob, Tilde: strings.HasPrefix(text, "~")}
}

// under joins a path to a folder.
func under(dir, w shell.Word) shell.Word {
	if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") || dir.Text == "." {
		return w
	}
	w.Text = path.Join(dir.Text, w.Text)
	w.Dynamic, w.Ambiguous, w.Tilde = w.Dynamic || dir.Dynamic, w.Ambiguous || dir.Ambiguous, dir.Tilde
	return w
}

// optionNames splits the names of an option, such as "-C,--directory".
func optionNames(option string) (letter byte, long string) {
	for name := range strings.SplitSeq(option, ",") {
		if len(name) == 2 {
			letter = name[1]
		} else {
			long = name
		}
	}
	return letter, long
}
